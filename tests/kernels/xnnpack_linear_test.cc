// SPDX-License-Identifier: Apache-2.0
// The table `xnnpack` on single layers. Sums and bias are within the bound that kernels.h states. The later steps
// (activation, residual, log-sum-exp parts) have the exact tables' bits.
#include "backends/xnnpack/table.h"
#include "kernels/linear_problem.h"
#include "kernels/reference/reference.h"
#include "support/guarded_buffer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kMaxRows = 100;  // more than kResidualRows

// XNNPACK's operator for one layer in an engine of one lane.
class PreparedProblem {
 public:
  PreparedProblem(LinearProblem& problem, LinearShape shape, uint32_t y_stride, bool relu)
      : packed_(packed_bytes(problem, shape, y_stride, relu)),
        objects_(xnnpack::operator_bytes(false)),
        scales_(kMaxRows + xnnpack::kExtraRowScales),
        sums_(size_t{kResidualRows} * shape.n) {
    AlignedBuffer<int8_t> rows(size_t{shape.n} * shape.k);
    for (uint32_t output = 0; output < shape.n; ++output)
      for (uint32_t input = 0; input < shape.k; ++input)
        rows[size_t{output} * shape.k + input] = problem.weight(output, input);
    weights_ = {packed_.get(), packed_.size(), &offset_};
    provider_.resize(xnnpack::provider_bytes());
    xnnpack::make_provider(provider_.data(), &weights_);
    const xnnpack::Layer layer = layer_of(problem, shape, y_stride, relu, rows.begin());
    size_t used_bytes = 0;
    EXPECT_TRUE(xnnpack::pack(layer, 0, provider_.data(), weights_, &used_bytes));
    EXPECT_EQ(used_bytes, packed_.size());
    xnnpack::Region region = {objects_.get(), objects_.get() + objects_.size()};
    EXPECT_TRUE(xnnpack::make_operator(layer, 0, provider_.data(), weights_, &region, &operator_));
    EXPECT_EQ(region.next, region.end);
    lane_.taken = false;
    lane_.scales = scales_.get();
    lane_.sums = sums_.get();
    engine_.native = kernels_at(0);
    engine_.lanes = &lane_;
    engine_.n_lanes = 1;
    make_xnnpack_table("xnnpack", &engine_);
    layer_ = {problem.w.begin(), shape.n, kAllRowClasses, relu, &operator_};
    engine_.layers = &layer_;
    engine_.n_layers = 1;
  }

  const Kernels& table() const { return engine_.table; }
  void set_row_classes(uint32_t classes) { layer_.row_classes = classes; }

  // Calls the table as a layer does.
  void linear(LinearArgs<int8_t> args) const {
    args.backend = table().backend;
    table().int8.linear(args);
  }
  void output_block(OutputBlockArgs<int8_t> args) const {
    args.linear.backend = table().backend;
    table().int8.output_block(args);
  }
  bool parallelizes_itself(const LinearArgs<int8_t>& args) const {
    return table().parallelizes_itself(table().backend, args.w, args.n, args.rows);
  }
 private:
  static xnnpack::Layer layer_of(
      LinearProblem& problem, LinearShape shape, uint32_t y_stride, bool relu, const int8_t* rows) {
    return {shape.n, shape.k, y_stride, rows, nullptr, problem.w_scale.begin(), problem.bias.begin(), relu};
  }
  static size_t packed_bytes(LinearProblem& problem, LinearShape shape, uint32_t y_stride, bool relu) {
    goldcrest_detail detail = {"", -1};
    EXPECT_EQ(xnnpack::initialize(&detail), GOLDCREST_OK) << detail.message;
    return xnnpack::packed_bytes(layer_of(problem, shape, y_stride, relu, problem.w.begin()));
  }

  GuardedBuffer<uint8_t> packed_, objects_;
  GuardedBuffer<xnnpack::RowScale> scales_;
  GuardedBuffer<float> sums_;
  size_t offset_ = xnnpack::kNotPacked;
  xnnpack::PackedWeights weights_ = {};
  std::vector<uint8_t> provider_;
  xnnpack::Operator operator_ = {};
  XnnpackLane lane_ = {};
  XnnpackEngine engine_ = {};
  XnnpackLayer layer_ = {};
};

constexpr LinearShape kShapes[] = {{16, 16}, {48, 32}, {112, 240}, {512, 128}, {128, 512}, {1024, 256}, {512, 2048}};
constexpr uint32_t kRowCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 33, kMaxRows};

// Makes the sums of the largest magnitude. Beyond 2^24 the conversion to float rounds a sum.
void make_largest(LinearProblem& problem, LinearShape shape) {
  for (int8_t& x : problem.x) x = 127;
  for (int8_t& w : problem.w) w = -127;
  for (int32_t& sum : problem.weight_sum) sum = -127 * static_cast<int32_t>(shape.k);
}

// sum * x_scale * w_scale, exact enough for the bound.
double product(LinearProblem& problem, LinearShape shape, uint32_t row, uint32_t output) {
  int32_t sum = 0;
  for (uint32_t input = 0; input < shape.k; ++input)
    sum += problem.x[size_t{row} * shape.k + input] * problem.weight(output, input);
  return double{problem.x_scale[row]} * double{problem.w_scale[output]} * sum;
}

// Counts outputs of `close` that differ from the exact ones in problem.y by more than kernels.h allows.
size_t count_outside(LinearProblem& problem, LinearShape shape, uint32_t rows, AlignedBuffer<float>& close) {
  size_t n_outside = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t output = 0; output < shape.n; ++output) {
      const size_t at = size_t{row} * shape.n + output;
      const double magnitude = std::fabs(product(problem, shape, row, output)) + std::fabs(problem.bias[output]);
      const double bound = std::ldexp(magnitude, -21) + std::ldexp(1.0, -126);
      n_outside += !(std::fabs(double{close[at]} - double{problem.y[at]}) <= bound);
    }
  }
  return n_outside;
}

TEST(XnnpackLinear, SumsAndBiasAreWithinTheStatedBound) {
  for (const bool largest : {false, true}) {
    for (const LinearShape shape : kShapes) {
      LinearProblem problem(shape, kMaxRows);
      if (largest) make_largest(problem, shape);
      PreparedProblem prepared(problem, shape, shape.n, false);
      AlignedBuffer<float> close(problem.y.end() - problem.y.begin());
      for (const uint32_t rows : kRowCounts) {
        LinearArgs<int8_t> args = problem.args();
        args.rows = rows;
        reference_linear(args);
        args.y = close.begin();
        prepared.linear(args);
        EXPECT_EQ(count_outside(problem, shape, rows, close), 0u) << shape.n << " x " << shape.k << ", rows " << rows;
      }
    }
  }
}

TEST(XnnpackLinear, ALargerErrorIsSeen) {
  const LinearShape shape = {48, 32};
  LinearProblem problem(shape, 2);
  reference_linear(problem.args());
  const size_t n = size_t{2} * shape.n;
  AlignedBuffer<float> moved(n);
  std::copy(problem.y.begin(), problem.y.end(), moved.begin());
  EXPECT_EQ(count_outside(problem, shape, 2, moved), 0u);
  for (size_t i = 0; i < n; ++i) moved[i] += std::ldexp(1.0f, -20) * (10 + std::fabs(moved[i]));
  EXPECT_EQ(count_outside(problem, shape, 2, moved), n);
}

TEST(XnnpackLinear, ActivationAndResidualAreTheExactTables) {
  const LinearShape shape = {112, 240};
  LinearProblem problem(shape, kMaxRows);
  const size_t n = size_t{kMaxRows} * shape.n;
  for (const bool fused_relu : {false, true}) {
    PreparedProblem prepared(problem, shape, shape.n, fused_relu);
    PreparedProblem plain(problem, shape, shape.n, false);
    for (const Activation activation :
        {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSilu}) {
      if (fused_relu && activation != Activation::kRelu) continue;
      for (const bool residual : {false, true}) {
        AlignedBuffer<float> sums(n), y(n);
        Rng rng(3);
        LinearArgs<int8_t> args = problem.args();
        args.y = sums.begin();
        plain.linear(args);
        for (float& value : y) value = rng.uniform();
        std::vector<float> expected(n);
        for (size_t i = 0; i < n; ++i)
          expected[i] =
              residual ? reference_activate(activation, sums[i]) + y[i] : reference_activate(activation, sums[i]);
        args.y = y.begin();
        args.residual = residual ? y.begin() : nullptr;
        args.activation = activation;
        prepared.linear(args);
        EXPECT_EQ(std::memcmp(y.begin(), expected.data(), n * sizeof(float)), 0)
            << "activation " << static_cast<int>(activation) << ", residual " << residual << ", fused " << fused_relu;
      }
    }
  }
}

// The last block of a vocabulary has fewer outputs than the row stride.
TEST(XnnpackLinear, OutputBlocksHaveTheExactTablesSums) {
  const LinearShape shape = {112, 240};
  constexpr uint32_t kRows = 5, kCount = 109;
  LinearProblem problem(shape, kRows);
  PreparedProblem prepared(problem, shape, kOutputBlock, false);
  AlignedBuffer<float> logits(size_t{kRows} * kOutputBlock);
  float largest[kRows], sums[kRows];
  OutputBlockArgs<int8_t> args = {};
  args.linear = problem.args();
  args.linear.y = logits.begin();
  args.linear.y_stride = kOutputBlock;
  args.count = kCount;
  args.block_max = largest;
  args.block_sum = sums;
  args.stride = 1;
  prepared.output_block(args);
  for (uint32_t row = 0; row < kRows; ++row) {
    float* const of_row = logits.begin() + size_t{row} * kOutputBlock;
    float exact_max = 0, exact_sum = 0;
    std::vector<float> copy(of_row, of_row + shape.n);
    // The reference over no inputs, with the logits as bias.
    OutputBlockArgs<int8_t> exact = args;
    const float no_scale = 0;
    exact.linear.x_scale = &no_scale;
    exact.linear.bias = copy.data();
    exact.linear.y = of_row;
    exact.linear.rows = 1;
    exact.linear.k = 0;
    exact.block_max = &exact_max;
    exact.block_sum = &exact_sum;
    reference_output_block(exact);
    EXPECT_EQ(largest[row], *std::max_element(copy.begin(), copy.begin() + kCount));
    EXPECT_EQ(largest[row], exact_max);
    EXPECT_EQ(sums[row], exact_sum);
  }
}

// The table's output for `args` is the reference's, to the bit.
void expect_native(const PreparedProblem& prepared, LinearArgs<int8_t> args) {
  const size_t n = args.rows * args.y_stride;
  AlignedBuffer<float> expected(n), y(n);
  args.y = expected.begin();
  reference_linear(args);
  args.y = y.begin();
  EXPECT_FALSE(prepared.parallelizes_itself(args));
  prepared.linear(args);
  EXPECT_EQ(std::memcmp(y.begin(), expected.begin(), n * sizeof(float)), 0);
}

// If no class of rows is chosen, the native table computes.
TEST(XnnpackLinear, RowClassesThatAreNotChosenAreNative) {
  const LinearShape shape = {48, 32};
  LinearProblem problem(shape, 20);
  PreparedProblem prepared(problem, shape, shape.n, false);
  EXPECT_TRUE(prepared.parallelizes_itself(problem.args()));
  prepared.set_row_classes(0);
  expect_native(prepared, problem.args());
  prepared.set_row_classes(1u << row_class(4));
  expect_native(prepared, problem.args());
  LinearArgs<int8_t> args = problem.args();
  args.rows = 3;
  EXPECT_TRUE(prepared.parallelizes_itself(args));
}

// Layers that the backend does not know: other weights, or fewer of the outputs.
TEST(XnnpackLinear, LayersThatAreNotKnownAreNative) {
  const LinearShape shape = {48, 32};
  LinearProblem problem(shape, 5), other(shape, 5);
  PreparedProblem prepared(problem, shape, shape.n, false);
  expect_native(prepared, other.args());
  for (const uint32_t first : {0u, 16u}) {
    LinearArgs<int8_t> part = problem.args();
    part.w += size_t{first} * part.k;
    part.w_scale += first;
    part.bias += first;
    part.weight_sum += first;
    part.n = 16;
    expect_native(prepared, part);
  }

  OutputBlockArgs<int8_t> block = {};
  block.linear = other.args();
  block.count = shape.n - 3;
  block.stride = 1;
  float largest[5], sums[5], exact_largest[5], exact_sums[5];
  block.block_max = exact_largest;
  block.block_sum = exact_sums;
  reference_output_block(block);
  block.block_max = largest;
  block.block_sum = sums;
  prepared.output_block(block);
  EXPECT_EQ(std::memcmp(largest, exact_largest, sizeof largest), 0);
  EXPECT_EQ(std::memcmp(sums, exact_sums, sizeof sums), 0);
}

// Inputs end at the last byte that XNNPACK may read, outputs at the page's end, for any rows of a tile.
TEST(XnnpackLinear, NothingBeyondInputsAndOutputsIsTouched) {
  for (const LinearShape shape : kShapes) {
    LinearProblem problem(shape, kMaxRows);
    PreparedProblem prepared(problem, shape, shape.n, false);
    for (const uint32_t rows : kRowCounts) {
      const size_t n_inputs = size_t{rows} * shape.k;
      GuardedBuffer<int8_t> x(n_inputs + xnnpack::kExtraInputBytes);
      GuardedBuffer<float> y(size_t{rows} * shape.n);
      std::copy(problem.x.begin(), problem.x.begin() + n_inputs, x.begin());
      LinearArgs<int8_t> args = problem.args();
      args.rows = rows;
      args.x = x.get();
      AlignedBuffer<float> expected(y.size());
      args.y = expected.begin();
      prepared.linear(args);
      args.y = y.get();
      prepared.linear(args);
      EXPECT_TRUE(x.intact() && y.intact()) << shape.n << " x " << shape.k << ", rows " << rows;
      EXPECT_EQ(std::memcmp(y.get(), expected.begin(), y.size() * sizeof(float)), 0);
    }
  }
}
}}  // namespace goldcrest::test
