// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU's user mode that counts instructions from kBeginCounting to kEndCounting and writes their number to
// the file of its argument, `counts=PATH`. One thread.
#include "support/instruction_counter.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// What this uses of the plugin interface, whose header no package of Debian 12 brings: the same since version 1, of
// QEMU 7.2; QEMU 9 takes no plugin that says so.
typedef uint64_t qemu_plugin_id_t;
struct qemu_info_t {
  const char* target_name;  // and more
};
struct qemu_plugin_tb;
typedef void (*Execution)(unsigned int cpu, void* context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, Execution call, int register_access,
                                          void* context);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
typedef void (*SystemCall)(qemu_plugin_id_t id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                           uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, SystemCall call);

EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments);

static char path[4096];
static uint64_t n_executed, n_at_begin;

static void count(unsigned int cpu, void* n_instructions) {
  (void)cpu;
  n_executed += (uintptr_t)n_instructions;
}

static void see_block(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, count, 0, (void*)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void hear(qemu_plugin_id_t id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                 uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == kBeginCounting) n_at_begin = n_executed;
  if (number != kEndCounting) return;
  FILE* const file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%" PRIu64 "\n", n_executed - n_at_begin);
  fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments) {
  (void)qemu;
  if (n_arguments != 1 || strncmp(arguments[0], "counts=", 7) != 0 || strlen(arguments[0] + 7) >= sizeof path) return 1;
  strcpy(path, arguments[0] + 7);
  qemu_plugin_register_vcpu_tb_trans_cb(id, see_block);
  qemu_plugin_register_vcpu_syscall_cb(id, hear);
  return 0;
}
