/* SPDX-License-Identifier: Apache-2.0
 *
 * The system calls that newlib needs, only for tests: a heap in the rest of the board's memory, and output to the
 * console. Picolibc asks for a stream instead.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "board_api.h"
#include "common/linker_symbols.h"

void *_sbrk(ptrdiff_t bytes);
int _write(int file, const char *text, int n);
int _read(int file, char *text, int n);
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
off_t _lseek(int file, off_t offset, int origin);
int _kill(int process, int number);
int _getpid(void);
void _exit(int status);

void *_sbrk(ptrdiff_t bytes) {
  static uint8_t *end = board_heap_start;
  if (bytes > board_heap_end - end || bytes < board_heap_start - end) {
    errno = ENOMEM;
    return (void *)-1;
  }
  uint8_t *before = end;
  end += bytes;
  return before;
}

int _write(int file, const char *text, int n) {
  (void)file;
  board_write(text, (size_t)n);
  return n;
}

int _fstat(int file, struct stat *status) {
  (void)file;
  status->st_mode = S_IFCHR;
  return 0;
}

int _isatty(int file) {
  (void)file;
  return 1;
}

int _read(int file, char *text, int n) {
  (void)file, (void)text, (void)n;
  return 0;
}

int _close(int file) {
  (void)file;
  return -1;
}

off_t _lseek(int file, off_t offset, int origin) {
  (void)file, (void)offset, (void)origin;
  return -1;
}

int _kill(int process, int number) {
  (void)process;
  board_exit(128 + number);
}

int _getpid(void) { return 1; }

void _exit(int status) { board_exit(status); }

#ifdef __PICOLIBC__
void *sbrk(ptrdiff_t bytes);
void *sbrk(ptrdiff_t bytes) { return _sbrk(bytes); }

static int put(char byte, FILE *file) {
  (void)file;
  board_write(&byte, 1);
  return (unsigned char)byte;
}
static FILE console = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &console;
#endif
