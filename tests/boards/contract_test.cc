// SPDX-License-Identifier: Apache-2.0
// On the board: every kernel table of the build equals the reference bit for bit (tests/kernels/contract_cases.h).
#include <cstdio>
#include "board_api.h"
#include "kernels/contract_cases.h"
#include "kernels/reference/reference.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
namespace {
// Here no unmapped page stops a write just outside of a buffer, so the buffer itself must find it.
int count_missed_writes() {
  int n_missed = 0;
  for (const ptrdiff_t at : {-1, 100}) {
    GuardedBuffer<int8_t> buffer(100);
    volatile int8_t* element = buffer.get() + at;
    const int8_t before = *element;
    *element = 1;
    if (buffer.intact()) ++n_missed;
    *element = before;  // the heap keeps its own records there
  }
  return n_missed;
}
}  // namespace

bool passes() {
  int n_failures = count_missed_writes();
  if (n_failures > 0) std::printf("%d writes outside of a buffer were missed\n", n_failures);
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    for (const ContractCase* c = kContractCases; c->slot != nullptr; ++c) {
      const uint64_t start = board_ticks();
      const Difference difference = c->compare(*table, kernels_reference, 0);
      const double seconds = static_cast<double>(board_ticks() - start) / board_ticks_per_second();
      std::printf(
          "%-16s %-14s %5.1f s  %s\n", table->name, c->slot, seconds, difference ? difference->c_str() : "same");
      if (difference) ++n_failures;
    }
  }
  return n_failures == 0;
}
}  // namespace goldcrest::test
