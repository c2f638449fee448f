// SPDX-License-Identifier: Apache-2.0
// GCC's unwinder asks _dl_find_object of glibc 2.35 where the tables of a function are. With this function instead, the
// wheel runs on glibc 2.34 (Red Hat Enterprise Linux 9, Amazon Linux 2023). It searches as older unwinders do.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35 or later

namespace {

struct FoundObject {
  uintptr_t address;
  dl_find_object* result;
};

// Fills the result if an object has the address. Returns 1 then, which ends the search.
int match_object(dl_phdr_info* info, size_t, void* context) {
  const auto* found = static_cast<FoundObject*>(context);
  uintptr_t begin = 0, end = 0, tables = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t address = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) tables = address;
    if (part.p_type != PT_LOAD || found->address - address >= part.p_memsz) continue;
    begin = address;
    end = address + part.p_memsz;
  }
  if (begin == end || tables == 0) return 0;
  found->result->dlfo_map_start = reinterpret_cast<void*>(begin);
  found->result->dlfo_map_end = reinterpret_cast<void*>(end);
  found->result->dlfo_eh_frame = reinterpret_cast<void*>(tables);
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
  FoundObject found = {reinterpret_cast<uintptr_t>(address), result};
  *result = {};
  return dl_iterate_phdr(match_object, &found) == 1 ? 0 : -1;
}

#endif
