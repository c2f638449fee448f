// SPDX-License-Identifier: Apache-2.0
// Times every kernel table that this CPU runs on the models' shapes, by rows. Weights are in cache (hot) or streamed
// from memory (cold). Not a test: run it by hand on a quiet machine with a pinned core.
//
//   kernel_benchmark --benchmark_filter='linear/x86_avx512vnni/512x2048/.*/hot'
#include <benchmark/benchmark.h>
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/kernels.h"
#include "linear_problem.h"

namespace goldcrest { namespace {
using test::AlignedBuffer;
using test::AttentionProblem;
using test::LinearProblem;
using test::LinearShape;

constexpr uint32_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 32, 64, 128};
constexpr size_t kColdBytes = size_t{128}
                              << 20;  // copies are used in turn; together larger than the last cache of usual machines

constexpr uint32_t kWidths[] = {128, 256, 512, 2048};

void fill_floats(AlignedBuffer<float>& buffer) {
  test::Rng rng(2);
  for (float& value : buffer) value = rng.uniform();
}

// items: multiply-accumulates; bytes: weights.
void bench_linear(benchmark::State& state, const Kernels* table, LinearShape shape, uint32_t rows, bool cold) {
  LinearProblem problem(shape, rows);
  LinearArgs<int8_t> args = problem.args();
  const size_t weights_bytes = size_t{shape.n} * shape.k;
  const size_t n_copies = cold ? kColdBytes / weights_bytes + 1 : 1;
  AlignedBuffer<int8_t> weights(n_copies * weights_bytes);
  for (size_t i = 0; i < n_copies; ++i)
    std::copy(problem.w.begin(), problem.w.end(), weights.begin() + i * weights_bytes);
  size_t copy = 0;
  for (auto _ : state) {
    args.w = weights.begin() + copy * weights_bytes;
    table->int8.linear(args);
    benchmark::ClobberMemory();
    copy = copy + 1 == n_copies ? 0 : copy + 1;
  }
  const auto iterations = static_cast<int64_t>(state.iterations());
  state.SetBytesProcessed(iterations * static_cast<int64_t>(weights_bytes));
  state.SetItemsProcessed(iterations * static_cast<int64_t>(weights_bytes * rows));
}

void bench_quantize(benchmark::State& state, const Kernels* table, uint32_t n, uint32_t rows) {
  AlignedBuffer<float> x(size_t{rows} * n), scale(rows);
  AlignedBuffer<int8_t> q(size_t{rows} * n);
  fill_floats(x);
  const QuantizeRowsArgs<int8_t> args = {x.begin(), q.begin(), scale.begin(), n, n, 1, rows, n};
  for (auto _ : state) {
    table->int8.quantize_rows(args);
    benchmark::ClobberMemory();
  }
}

void bench_layer_norm(benchmark::State& state, const Kernels* table, uint32_t n, uint32_t rows) {
  AlignedBuffer<float> x(size_t{rows} * n), y(size_t{rows} * n), gamma(n), beta(n);
  fill_floats(x);
  std::fill(gamma.begin(), gamma.end(), 1.0f);
  const LayerNormArgs args = {x.begin(), y.begin(), gamma.begin(), beta.begin(), n, rows, n, n, 1e-5f};
  for (auto _ : state) {
    table->layer_norm(args);
    benchmark::ClobberMemory();
  }
}

// items: multiply-accumulates.
void bench_attention(benchmark::State& state, const Kernels* table, uint32_t d_model, uint32_t rows, uint32_t n_keys) {
  AttentionProblem problem(d_model / AttentionProblem::kHead, n_keys, rows);
  const AttentionArgs<int8_t> args = problem.args();
  for (auto _ : state) {
    table->int8.attention(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * 2 * rows * n_keys * d_model);
}

void register_linear(const Kernels* table) {
  for (const LinearShape shape : test::kModelShapes) {
    for (const uint32_t rows : kRows) {
      for (const bool cold : {false, true}) {
        const std::string name = std::string("linear/") + table->name + "/" + std::to_string(shape.n) + "x" +
                                 std::to_string(shape.k) + "/rows:" + std::to_string(rows) + (cold ? "/cold" : "/hot");
        benchmark::RegisterBenchmark(name.c_str(), bench_linear, table, shape, rows, cold);
      }
    }
  }
}

void register_row_operations(const Kernels* table) {
  for (const uint32_t width : kWidths) {
    for (const uint32_t rows : kRows) {
      const std::string name = std::string("/") + table->name + "/" + std::to_string(width);
      const std::string rows_name = "/rows:" + std::to_string(rows);
      benchmark::RegisterBenchmark(("quantize_rows" + name + rows_name).c_str(), bench_quantize, table, width, rows);
      benchmark::RegisterBenchmark(("layer_norm" + name + rows_name).c_str(), bench_layer_norm, table, width, rows);
      if (width > 512) continue;  // attention's widths are d_model
      for (const uint32_t n_keys : {32u, 200u, 1500u}) {
        const std::string keys_name = "/keys:" + std::to_string(n_keys);
        benchmark::RegisterBenchmark(
            ("attention" + name + keys_name + rows_name).c_str(), bench_attention, table, width, rows, n_keys);
      }
    }
  }
}
}}  // namespace goldcrest

int main(int argc, char** argv) {
  for (uint32_t i = 0; goldcrest::kernels_at(i) != nullptr; ++i) {
    goldcrest::register_linear(goldcrest::kernels_at(i));
    goldcrest::register_row_operations(goldcrest::kernels_at(i));
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
