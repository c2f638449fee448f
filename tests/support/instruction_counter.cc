// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU's user mode that counts instructions from kBeginCounting to kEndCounting and writes their number to
// the file of its argument, `counts=PATH`. It supports one thread.
#include "support/instructions.h"
#include "support/standard.h"

namespace {
std::string path;
uint64_t n_executed, n_at_begin;

// The functions of the plugin interface that this file uses. No package of Debian 12 has the header. They are the same
// since version 1, of QEMU 7.2; QEMU 9 refuses plugins of that version.
using PluginId = uint64_t;
using Execution = void (*)(unsigned int cpu, void* context);
using Translation = void (*)(PluginId id, void* block);
using SystemCall = void (*)(PluginId id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
}  // namespace

extern "C" {

size_t qemu_plugin_tb_n_insns(const void* block);
void qemu_plugin_register_vcpu_tb_exec_cb(void* block, Execution call, int register_access, void* context);
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, Translation call);
void qemu_plugin_register_vcpu_syscall_cb(PluginId id, SystemCall call);

extern int qemu_plugin_version;
int qemu_plugin_version = QEMU_PLUGIN_VERSION;
int qemu_plugin_install(PluginId id, const void* qemu, int n_arguments, char** arguments);
}

namespace {
void count(unsigned int, void* n_instructions) { n_executed += reinterpret_cast<uintptr_t>(n_instructions); }

void see_block(PluginId, void* block) {
  qemu_plugin_register_vcpu_tb_exec_cb(block, count, 0, reinterpret_cast<void*>(qemu_plugin_tb_n_insns(block)));
}

// NOLINTNEXTLINE(readability-function-size): the parameters of QEMU's
void hear(PluginId, unsigned int, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
    uint64_t) {
  if (number == goldcrest::test::kBeginCounting) n_at_begin = n_executed;
  if (number == goldcrest::test::kEndCounting) std::ofstream(path) << n_executed - n_at_begin << '\n';
}
}  // namespace

int qemu_plugin_install(PluginId id, const void*, int n_arguments, char** arguments) {
  const std::string argument = n_arguments == 1 ? arguments[0] : "";
  if (!argument.starts_with("counts=")) return 1;
  path = argument.substr(argument.find('=') + 1);
  qemu_plugin_register_vcpu_tb_trans_cb(id, see_block);
  qemu_plugin_register_vcpu_syscall_cb(id, hear);
  return 0;
}
