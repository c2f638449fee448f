// SPDX-License-Identifier: Apache-2.0
// On the board: runs linear layers of this build's best table between the markers of tracer.c. If the build has
// CMSIS-NN (GOLDCREST_CMSIS_NN), also runs its functions for the same products. Prints a line for each call: whose,
// table, n, k, rows.
#include <cstdio>
#include <cstring>

#include "arm_cycles/traced.h"
#include "board_api.h"
#include "kernels/linear_problem.h"
#if defined(GOLDCREST_CMSIS_NN)
#include "arm_nnsupportfunctions.h"
#endif

namespace goldcrest::test {
namespace {

constexpr uint32_t kOutputs = 64;
constexpr uint32_t kInputs[] = {64, 128, 256, 512};
constexpr uint32_t kRows[] = {1, 2, 3, 4, 32};

template <typename Call>
void trace(const char* who, const Kernels& table, const LinearArgs<int8_t>& args, Call call) {
  begin_trace();
  call();
  end_trace();
  std::printf("%s %s %u %u %u\n", who, table.name, static_cast<unsigned>(args.n), static_cast<unsigned>(args.k),
              static_cast<unsigned>(args.rows));
}

#if defined(GOLDCREST_CMSIS_NN)
// CMSIS-NN's functions give int8, scaled for each output or, one row at a time, for all; the products are the same.
void trace_cmsis_nn(LinearProblem& problem, const Kernels& table, const LinearArgs<int8_t>& args) {
  const auto n = static_cast<int32_t>(args.n), k = static_cast<int32_t>(args.k), rows = static_cast<int32_t>(args.rows);
  AlignedBuffer<int32_t> bias(args.n), multipliers(args.n), shifts(args.n);
  AlignedBuffer<int8_t> y(size_t{args.rows} * args.n);
  for (int32_t& multiplier : multipliers) multiplier = 1 << 30;
  for (int32_t& shift : shifts) shift = -8;
  trace("mat_mult_nt_t", table, args, [&] {
    arm_nn_mat_mult_nt_t_s8(args.x, args.w, bias.begin(), y.begin(), multipliers.begin(), shifts.begin(), rows, n, k, 0,
                            0, -128, 127, n, k);
  });
  if (rows != 1) return;
  trace("vec_mat_mult_t", table, args, [&] {
    arm_nn_vec_mat_mult_t_s8(args.x, args.w, problem.weight_sum.begin(), bias.begin(), y.begin(), 0, 0, 1 << 30, -8, k,
                             n, -128, 127, 1, 0);
  });
}
#endif

void trace_layer(const Kernels& table, LinearShape shape, uint32_t rows) {
  LinearProblem problem(shape, rows);
  LinearArgs<int8_t> args = problem.args();
  if (std::strcmp(table.name, "cortexm_helium") == 0) args.layout = Layout::kN4K16;
  trace("ours", table, args, [&] { table.int8.linear(args); });
#if defined(GOLDCREST_CMSIS_NN)
  trace_cmsis_nn(problem, table, args);
#endif
}

}  // namespace
}  // namespace goldcrest::test

int main() {
  using namespace goldcrest;
  board_init();
  for (const uint32_t k : test::kInputs) {
    for (const uint32_t rows : test::kRows) test::trace_layer(*kernels_at(0), {test::kOutputs, k}, rows);
  }
  return 0;
}
