// SPDX-License-Identifier: Apache-2.0
// Calls linear layers between the markers of tracer.c, under QEMU; prints a line for each call: whose kernel, table, n,
// k, rows.
//
//   linear_trace TABLE [ROWS...]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "arm_cycles/traced.h"
#include "kernels/linear_problem.h"
#if defined(GOLDCREST_TRACE_XNNPACK)
#include "kernels/xnnpack_operator.h"
#endif

namespace goldcrest::test {
namespace {

constexpr uint32_t kOutputs = 64;
constexpr uint32_t kInputs[] = {128, 256, 512, 2048};

template <typename Call>
void trace(const char* who, const Kernels& table, const LinearArgs<int8_t>& args, Call call) {
  call();  // what is done once is done now
  begin_trace();
  call();
  end_trace();
  std::printf("%s %s %u %u %u\n", who, table.name, args.n, args.k, args.rows);
}

void trace_layer(const Kernels& table, LinearShape shape, uint32_t rows) {
  LinearProblem problem(shape, rows);
  const LinearArgs<int8_t> args = problem.args();
  trace("ours", table, args, [&] { table.int8.linear(args); });
#if defined(GOLDCREST_TRACE_XNNPACK)
  PeerOperator peer(problem, shape, rows);
  trace("xnnpack", table, args, [&] { peer.run(); });
#endif
}

}  // namespace
}  // namespace goldcrest::test

int main(int argc, char** argv) {
  using namespace goldcrest;
  const Kernels* table = argc > 1 ? select_kernels(argv[1]) : nullptr;
  if (table == nullptr) {
    std::fprintf(stderr, "linear_trace: this build or CPU has no kernel table of that name\n");
    return 2;
  }
#if defined(GOLDCREST_TRACE_XNNPACK)
  test::require(xnn_initialize(nullptr) == xnn_status_success, "xnn_initialize failed");
#endif
  std::vector<uint32_t> rows = {1, 2, 4, 6, 32};
  if (argc > 2) rows.clear();
  for (int i = 2; i < argc; ++i) rows.push_back(static_cast<uint32_t>(std::atoi(argv[i])));
  for (const uint32_t k : test::kInputs) {
    for (const uint32_t n_rows : rows) test::trace_layer(*table, {test::kOutputs, k}, n_rows);
  }
  return 0;
}
