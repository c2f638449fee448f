// SPDX-License-Identifier: Apache-2.0
// Compares tables with the reference by the contract's cases, with new sizes and contents again and again. Runs every
// table that this CPU runs, and those of x86 over emulated intrinsics. Usage: contract_runs SECONDS [FIRST_RUN]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include "contract_cases.h"
#include "emulated_tables.h"
#include "kernels/reference/reference.h"

namespace goldcrest { namespace {
using test::ContractCase;

struct NamedTable {
  const Kernels* table;
  const char* way;
};

std::vector<NamedTable> all_tables() {
  std::vector<NamedTable> tables;
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i)
    if (table != &kernels_reference) tables.push_back({table, "native"});
#if defined(__x86_64__)
  for (const Kernels* table : kEmulatedTables) tables.push_back({table, "emulated"});
#endif
  return tables;
}

// Compares one slot of one table; returns false if its bits differ.
bool is_same(const NamedTable& named, const ContractCase& slot, uint64_t run) {
  const test::Difference difference = slot.compare(*named.table, kernels_reference, run);
  if (!difference) return true;
  std::printf("run %llu: %s %s, %s: %s\n", static_cast<unsigned long long>(run), named.table->name, named.way,
      slot.slot, difference->c_str());
  return false;
}
}}  // namespace goldcrest

int main(int argc, char** argv) {
  using namespace goldcrest;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SECONDS [FIRST_RUN]\n", argv[0]);
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoll(argv[1]));
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  uint64_t n_cases = 0, n_different = 0, run = first;
  for (; std::chrono::steady_clock::now() < end && n_different == 0; ++run) {
    for (const NamedTable& named : all_tables()) {
      for (const ContractCase* c = test::kContractCases; c->slot != nullptr; ++c, ++n_cases)
        if (!is_same(named, *c, run)) ++n_different;
    }
  }
  std::printf("runs %llu to %llu: %llu slots of tables, %llu differ\n", static_cast<unsigned long long>(first),
      static_cast<unsigned long long>(run - 1), static_cast<unsigned long long>(n_cases),
      static_cast<unsigned long long>(n_different));
  return n_different == 0 ? 0 : 1;
}
