// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU that records the code that runs between two markers, which are instructions without an effect
// (traced.h). PREFIX.code has the code of all blocks one after another, PREFIX.blocks one record a block, PREFIX.runs
// the blocks in the order in which they ran. Its argument is `prefix=PREFIX`. It supports one thread.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// The functions of the plugin interface, version 1 (QEMU 7.2), that this file uses. No package of Debian 12 has the
// header.
typedef uint64_t qemu_plugin_id_t;
struct qemu_info_t {
  const char* target_name;  // more fields follow, which are not used
};
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*Callback)(unsigned int cpu, void* context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(
    struct qemu_plugin_insn* instruction, Callback call, int register_access, void* context);
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct qemu_plugin_tb* block, Callback call, int register_access, void* context);
void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_atexit_cb(
    qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t id, void* context), void* context);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments);

static const uint32_t kBegin = 0xaa1b03fb, kEnd = 0xaa1c03fc;    // mov x27, x27; mov x28, x28
static const uint32_t kBeginThumb = 0x46d2, kEndThumb = 0x46db;  // mov r10, r10; mov r11, r11
static const uint32_t kSection = 0xffffffff;                     // in PREFIX.runs, before a section's blocks

static FILE *code, *blocks, *runs;
static uint32_t n_blocks, code_bytes;
static int tracing, thumb;

static void mark(unsigned int cpu, void* begins) {
  (void)cpu;
  tracing = begins != NULL;
  if (tracing) fwrite(&kSection, sizeof kSection, 1, runs);
}

static void run_block(unsigned int cpu, void* block) {
  (void)cpu;
  const uint32_t index = (uint32_t)(uintptr_t)block;
  if (tracing) fwrite(&index, sizeof index, 1, runs);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t n = qemu_plugin_tb_n_insns(block);
  const uint64_t record[3] = {qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)), code_bytes, n};
  fwrite(record, sizeof record, 1, blocks);
  qemu_plugin_register_vcpu_tb_exec_cb(block, run_block, 0, (void*)(uintptr_t)n_blocks++);
  for (size_t i = 0; i < n; ++i) {
    struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    uint32_t word = 0;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    // In Thumb code QEMU 7.2 counts two bytes too many if the next instruction straddles two pages.
    const size_t bytes = !thumb ? 4 : (word & 0xffff) >> 11 >= 0x1d ? 4 : 2;
    if (bytes == 2) word &= 0xffff;
    const int begins = word == kBegin || word == kBeginThumb;
    if (begins || word == kEnd || word == kEndThumb)
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, mark, 0, begins ? (void*)&kSection : NULL);
    fwrite(&word, bytes, 1, code);
    code_bytes += (uint32_t)bytes;
  }
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void* context) {
  (void)id, (void)context;
  fclose(code);
  fclose(blocks);
  fclose(runs);
}

static FILE* open_output(const char* prefix, const char* ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", prefix, ending);
  return fopen(path, "wb");
}

// If this is not 0, QEMU ends.
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* qemu, int n_arguments, char** arguments) {
  thumb = strcmp(qemu->target_name, "arm") == 0;
  if (n_arguments != 1 || strncmp(arguments[0], "prefix=", 7) != 0) return 1;
  code = open_output(arguments[0] + 7, "code");
  blocks = open_output(arguments[0] + 7, "blocks");
  runs = open_output(arguments[0] + 7, "runs");
  if (code == NULL || blocks == NULL || runs == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
  return 0;
}
