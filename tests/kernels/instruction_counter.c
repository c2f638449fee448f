// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU's user emulation that counts the program's instructions. The program can read the count in the first
// eight bytes of the file that the argument `counter=` names. Counts whole blocks when they start; supports one thread.
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

// The functions of the plugin interface, version 1 (QEMU 7.2), that this file uses. No package of Debian 12 has the
// header.
typedef uint64_t qemu_plugin_id_t;
struct qemu_info_t;
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*call)(unsigned int cpu, void* context),
                                          int register_access, void* context);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments);

static volatile uint64_t* instructions;

static void count_block(unsigned int cpu, void* n_instructions) {
  (void)cpu;
  *instructions += (uintptr_t)n_instructions;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const uintptr_t n_instructions = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_cb(block, count_block, 0, (void*)n_instructions);
}

// If this is not 0, QEMU ends.
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments) {
  (void)qemu;
  if (n_arguments != 1 || strncmp(arguments[0], "counter=", 8) != 0) return 1;
  const int file = open(arguments[0] + 8, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, sizeof *instructions) != 0) return 1;
  void* const mapped = mmap(NULL, sizeof *instructions, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return 1;
  instructions = mapped;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
