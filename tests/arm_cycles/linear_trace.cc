// SPDX-License-Identifier: Apache-2.0
// Calls linear layers, and attention of one head to 1,504 keys, between the markers of tracer.c, under QEMU. Prints a
// line for each call: whose kernel, table, n, k, rows. Attention has the multiply-accumulates of a linear layer with n
// = twice the keys and k = the width of the head.
//
//   linear_trace TABLE [ROWS...]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "arm_cycles/traced.h"
#include "kernels/cpu_features.h"
#include "kernels/linear_problem.h"
#include "support/rng.h"
#if defined(GOLDCREST_TRACE_KLEIDIAI)
#include "kleidiai_operator.h"
#endif
#if defined(GOLDCREST_TRACE_XNNPACK)
#include "kernels/xnnpack_operator.h"
#endif

namespace goldcrest::test {
namespace {

struct CallShape {
  CallShape(const LinearArgs<int8_t>& args) : n(args.n), k(args.k), rows(args.rows) {}
  CallShape(const AttentionArgs<int8_t>& args) : n(2 * args.n_keys), k(args.d_head), rows(args.rows) {}
  uint32_t n, k, rows;
};

constexpr uint32_t kOutputs = 64;
constexpr uint32_t kInputs[] = {128, 256, 512, 2048};

#if defined(__aarch64__)
constexpr uint32_t kKeys = 1504, kMostQueries = 8;
#endif

template <typename Call>
void trace(const char* who, const std::string& what, const CallShape& args, Call call) {
  call();  // runs one-time work before the trace
  begin_trace();
  call();
  end_trace();
  std::printf("%s %s %u %u %u\n", who, what.c_str(), args.n, args.k, args.rows);
}

#if defined(GOLDCREST_TRACE_KLEIDIAI)
// Traces the products only, then the products with the quantization of the inputs, which KleidiAI joins with packing.
void trace_kleidiai(const Kernels& table, LinearProblem& problem, const LinearArgs<int8_t>& args) {
  if ((table.cpu_features & kCpuDotProduct) == 0) return;
  KleidiOperator peer(problem, {args.n, args.k}, args.rows, (table.cpu_features & kCpuMatrixInt8) != 0);
  trace("kleidiai", table.name, args, [&] { peer.multiply(); });
  if (!peer.agrees_with(problem.y)) {
    std::fprintf(stderr, "linear_trace: KleidiAI computes something else\n");
    std::exit(1);
  }
  const std::string what = std::string(table.name) + "+quantize";
  trace("kleidiai", what, args, [&] {
    peer.quantize();
    peer.multiply();
  });
  trace("ours", what, args, [&] {
    table.int8.quantize_rows(
        {peer.x().begin(), problem.x.begin(), problem.x_scale.begin(), args.k, args.k, 1, args.rows, args.k});
    table.int8.linear(args);
  });
}
#endif

// Sets the inputs to quantized rows of normally distributed numbers, because tables can be faster with small inputs.
void set_normal_inputs(const Kernels& table, LinearShape shape, uint32_t rows, LinearProblem& problem) {
  Rng rng(3);
  std::vector<float> x(size_t{rows} * shape.k);
  for (float& value : x) {
    for (int i = 0; i < 12; ++i) value += rng.uniform();  // of a sum's variance each adds 1/3
  }
  table.int8.quantize_rows({x.data(), problem.x.begin(), problem.x_scale.begin(), shape.k, shape.k, 1, rows, shape.k});
}

void trace_layer(const Kernels& table, LinearShape shape, uint32_t rows) {
  LinearProblem problem(shape, rows);
  set_normal_inputs(table, shape, rows, problem);
  const LinearArgs<int8_t> args = problem.args();
  trace("ours", table.name, args, [&] { table.int8.linear(args); });
#if defined(GOLDCREST_TRACE_XNNPACK)
  PeerOperator peer(problem, shape, rows);
  trace("xnnpack", table.name, args, [&] { peer.run(); });
#endif
#if defined(GOLDCREST_TRACE_KLEIDIAI)
  trace_kleidiai(table, problem, args);
#endif
}

#if defined(__aarch64__)
void trace_attention(const Kernels& table, uint32_t rows) {
  AttentionProblem problem(1, kKeys, rows);
  const AttentionArgs<int8_t> args = problem.args();
  trace("ours", std::string(table.name) + "+attention", args, [&] { table.int8.attention(args); });
}
#endif

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
#if defined(__aarch64__)  // of ARMv7 the model decodes only the linear layers
  for (const uint32_t n_rows : rows) {
    if (n_rows <= test::kMostQueries) test::trace_attention(*table, n_rows);
  }
#endif
  return 0;
}
