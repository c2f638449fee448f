/* SPDX-License-Identifier: Apache-2.0
 * Loaded before a program (LD_PRELOAD): makes one system call fail as on a broken disk, or be the program's last.
 * Programs with 64-bit file offsets call the names with 64. FAULT_CALL: the number of this call, from 1. FAULT_KILLS:
 * the call ends the program. FAULT_COUNT: a file that gets the number of calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long n_calls;

/* Returns whether this call must fail. */
static int fails(void) {
  const char* wanted = getenv("FAULT_CALL");
  const long call = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
  if (wanted == NULL || call != atol(wanted)) return 0;
  if (getenv("FAULT_KILLS") != NULL) raise(SIGKILL);
  errno = EIO;
  return 1;
}

static void* real(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((destructor)) static void tell_calls(void) {
  const char* path = getenv("FAULT_COUNT");
  if (path == NULL) return;
  FILE* (*open_file)(const char*, const char*) = real("fopen");
  FILE* file = open_file(path, "w");
  if (file == NULL) return;
  fprintf(file, "%ld", n_calls);
  fclose(file);
}

static mode_t mode_in(int flags, va_list more) { return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_in(flags, more);
  va_end(more);
  int (*call)(const char*, int, ...) = real("open");
  return fails() ? -1 : call(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_in(flags, more);
  va_end(more);
  int (*call)(const char*, int, ...) = real("open64");
  return fails() ? -1 : call(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_in(flags, more);
  va_end(more);
  int (*call)(int, const char*, int, ...) = real("openat");
  return fails() ? -1 : call(folder, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  FILE* (*call)(const char*, const char*) = real("fopen");
  return fails() ? NULL : call(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  FILE* (*call)(const char*, const char*) = real("fopen64");
  return fails() ? NULL : call(path, mode);
}

ssize_t read(int file, void* bytes, size_t n) {
  ssize_t (*call)(int, void*, size_t) = real("read");
  return fails() ? -1 : call(file, bytes, n);
}

ssize_t pread(int file, void* bytes, size_t n, off_t offset) {
  ssize_t (*call)(int, void*, size_t, off_t) = real("pread");
  return fails() ? -1 : call(file, bytes, n, offset);
}

ssize_t pread64(int file, void* bytes, size_t n, off64_t offset) {
  ssize_t (*call)(int, void*, size_t, off64_t) = real("pread64");
  return fails() ? -1 : call(file, bytes, n, offset);
}

ssize_t write(int file, const void* bytes, size_t n) {
  ssize_t (*call)(int, const void*, size_t) = real("write");
  return fails() ? -1 : call(file, bytes, n);
}

ssize_t writev(int file, const struct iovec* parts, int n) {
  ssize_t (*call)(int, const struct iovec*, int) = real("writev");
  return fails() ? -1 : call(file, parts, n);
}

void* mmap(void* address, size_t n, int protection, int flags, int file, off_t offset) {
  void* (*call)(void*, size_t, int, int, int, off_t) = real("mmap");
  return fails() ? MAP_FAILED : call(address, n, protection, flags, file, offset);
}

void* mmap64(void* address, size_t n, int protection, int flags, int file, off64_t offset) {
  void* (*call)(void*, size_t, int, int, int, off64_t) = real("mmap64");
  return fails() ? MAP_FAILED : call(address, n, protection, flags, file, offset);
}

int fstat(int file, struct stat* status) {
  int (*call)(int, struct stat*) = real("fstat");
  return fails() ? -1 : call(file, status);
}

int fstat64(int file, struct stat64* status) {
  int (*call)(int, struct stat64*) = real("fstat64");
  return fails() ? -1 : call(file, status);
}

int fchmod(int file, mode_t mode) {
  int (*call)(int, mode_t) = real("fchmod");
  return fails() ? -1 : call(file, mode);
}

int fsync(int file) {
  int (*call)(int) = real("fsync");
  return fails() ? -1 : call(file);
}

int dup(int file) {
  int (*call)(int) = real("dup");
  return fails() ? -1 : call(file);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  int (*call)(int, const char*, int, const char*) = real("renameat");
  return fails() ? -1 : call(from_folder, from, to_folder, to);
}
