// SPDX-License-Identifier: Apache-2.0
// Frontends, log-mel features, rotary positions and fine inputs, each compared with its formula in doubles.
#include "layers/inputs/frontend.h"
#include <numbers>
#include "api/engine.h"
#include "goldcrest/speech.h"
#include "kernels/reference/math.h"
#include "layers/inputs/log_mel.h"
#include "layers/linear.h"
#include "layers/rotary.h"
#include "support/log_mel_features.h"
#include "support/speech_model.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Rows = std::vector<std::vector<double>>;

double activate(format::Activation activation, double x) {
  switch (activation) {
    case format::Activation::Relu: return std::max(x, 0.0);
    case format::Activation::Gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case format::Activation::Silu: return x / (1 + std::exp(-x));
    case format::Activation::Tanh: return std::tanh(x);
    case format::Activation::None: return x;
    default: ADD_FAILURE(); return x;
  }
}

// Mean and variance over all rows and channels.
void normalize(const float* gamma, const float* beta, Rows& rows) {
  double sum = 0, squares = 0, n = 0;
  for (const auto& row : rows)
    for (const double x : row) sum += x, squares += x * x, ++n;
  const double mean = sum / n, deviation = std::sqrt(squares / n - mean * mean + 1e-5);
  for (auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) row[i] = (row[i] - mean) / deviation * gamma[i] + beta[i];
}

// The convolutions of a file with float32 weights.
class NaiveStem {
 public:
  explicit NaiveStem(const FileImage& file) : model_(*format::GetModel(file.bytes())), file_(file.bytes()) {}

  Rows run(Rows rows) const {
    for (const format::Convolution* convolution : *model_.encoder()->frontend()->convolutions())
      rows = convolve(*convolution, rows);
    const uint32_t padded = pad16(model_.encoder()->d_model());
    const float* positions = at(format::SectionKind::Positions, model_.encoder()->positions());
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < rows[i].size(); ++j) rows[i][j] += positions[i * padded + j];
    return rows;
  }
 private:
  const float* at(format::SectionKind kind, uint32_t units) const {
    const format::Section& section = *model_.sections()->Get(static_cast<uint32_t>(kind));
    return reinterpret_cast<const float*>(file_ + (size_t{section.offset()} + units) * 64);
  }

  Rows convolve(const format::Convolution& convolution, const Rows& rows) const {
    const format::Linear& linear = *convolution.linear();
    const float* weights = at(format::SectionKind::Weights, linear.weights());
    const float* bias = at(format::SectionKind::Parameters, linear.bias());
    const size_t width = linear.k() / convolution.kernel(), n = rows.size() + 2 * size_t{convolution.padding()};
    Rows out;
    for (size_t start = 0; start + convolution.kernel() <= n; start += convolution.stride()) {
      std::vector<double> row;
      for (uint32_t output = 0; output < linear.n(); ++output) {
        double sum = bias[output];
        for (size_t i = 0; i < convolution.kernel(); ++i) {
          const size_t from = start + i - convolution.padding();  // wraps around in front of the first row
          for (size_t c = 0; from < rows.size() && c < rows[from].size(); ++c)
            sum += weights[output * size_t{pad16(linear.k())} + i * width + c] * rows[from][c];
        }
        row.push_back(activate(convolution.activation(), sum));
      }
      out.push_back(std::move(row));
    }
    if (convolution.whole_norm() != nullptr) {
      normalize(at(format::SectionKind::Parameters, convolution.whole_norm()->gamma()),
          at(format::SectionKind::Parameters, convolution.whole_norm()->beta()), out);
    }
    return out;
  }

  const format::Model& model_;
  const uint8_t* file_;
};

// log10 of the bands' powers: a discrete Fourier transform by its definition.
Rows naive_log_mel(const OpenChoices& options, const std::vector<int16_t>& samples, size_t n_frames) {
  const auto bands = slaney_bands(options.channels, options.n_fft, 16000);
  const auto window = static_cast<int64_t>(n_frames * options.hop);
  Rows rows;
  double largest = -10;
  for (size_t frame = 0; frame < n_frames; ++frame) {
    std::vector<double> power;
    for (uint32_t k = 0; k <= options.n_fft / 2; ++k) {
      double re = 0, im = 0;
      for (uint32_t i = 0; i < options.n_fft; ++i) {
        int64_t at = static_cast<int64_t>(frame * options.hop + i) - options.n_fft / 2;
        if (at < 0) at = -at;
        if (at >= window) at = 2 * (window - 1) - at;
        const double sample = at < std::ssize(samples) ? samples[static_cast<size_t>(at)] / 32768.0 : 0;
        const double turn = 2 * std::numbers::pi / options.n_fft;
        const double value = sample * (0.5 - 0.5 * std::cos(turn * i));
        re += value * std::cos(turn * static_cast<double>(uint64_t{k} * i % options.n_fft));
        im += value * std::sin(turn * static_cast<double>(uint64_t{k} * i % options.n_fft));
      }
      power.push_back(re * re + im * im);
    }
    std::vector<double> row;
    for (const auto& band : bands) {
      double sum = 0;
      for (size_t k = 0; k < power.size(); ++k) sum += band[k] * power[k];
      row.push_back(std::log10(std::max(sum, 1e-10)));
      largest = std::max(largest, row.back());
    }
    rows.push_back(row);
  }
  for (auto& row : rows)
    for (double& x : row) x = (std::max(x, largest - 8) + 4) / 4;
  return rows;
}

struct Traced {
  std::map<uint32_t, std::vector<float>> rows;
  static void trace(void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t n) {
    if (std::string(name) == "encoder.embed") static_cast<Traced*>(context)->rows[row].assign(values, values + n);
  }
};

void expect_near(const Traced& found, const Rows& expected, double tolerance) {
  ASSERT_EQ(found.rows.size(), expected.size());
  double worst = 0;
  for (const auto& [row, values] : found.rows) {
    ASSERT_EQ(values.size(), expected[row].size());
    for (size_t i = 0; i < values.size(); ++i) worst = std::max(worst, std::abs(values[i] - expected[row][i]));
  }
  EXPECT_LT(worst, tolerance);
}

OpenChoices float_options(OpenChoices options) {
  options.weights = converter::Weights::kFloat32;
  options.fine_layers = false;
  for (TinyConvolution& convolution : options.convolutions) convolution.fine_input = false;
  return options;
}

TEST(Frontend, EqualsConvolutionsInDoubles) {
  for (OpenChoices options : tiny_speech_options()) {
    options = float_options(options);
    const FileImage file = speech_file(options);
    Traced traced;
    TestEngine engine(file.span(), {.limits = {.encoder_rows = 5}, .trace = Traced::trace, .trace_context = &traced});
    const goldcrest_info& info = engine.info();
    const size_t n = info.first_row_samples + 9 * info.row_samples;
    Rows rows;
    if (options.input == format::FrontendInput::Frames) {
      Rng rng(3);
      std::vector<float> features;
      for (size_t i = 0; i < n * options.channels; ++i) features.push_back(rng.uniform());
      for (size_t i = 0; i < n; ++i) {
        const float* row = features.data() + i * options.channels;
        rows.emplace_back(row, row + options.channels);
      }
      ASSERT_EQ(goldcrest_begin_features(engine.get(), features.data(), n), 0);
      ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    } else {
      const std::vector<int16_t> samples = tiny_clip(3, n);
      for (const int16_t sample : samples) rows.push_back({sample / 32768.0});
      if (options.n_fft != 0)
        rows = naive_log_mel(options, samples, size_t{info.limits.max_source_tokens} * info.row_samples / options.hop);
      ASSERT_EQ(goldcrest_begin_audio(engine.get(), samples.data(), n), 0);
      ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    }
    expect_near(traced, NaiveStem(file).run(rows), 1e-4);
  }
}

// A clip that is a hundred times too quiet: the norm's sums have 15 bits after the point.
TEST(Frontend, NormsOfQuietClips) {
  const FileImage file = speech_file(float_options(tiny_moonshine()));
  Traced traced;
  TestEngine engine(file.span(), {.trace = Traced::trace, .trace_context = &traced});
  std::vector<int16_t> samples = tiny_clip(8, 1500);
  Rows rows;
  for (int16_t& sample : samples) {
    sample = static_cast<int16_t>(sample / 100);
    rows.push_back({sample / 32768.0});
  }
  ASSERT_EQ(goldcrest_begin_audio(engine.get(), samples.data(), samples.size()), 0);
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  expect_near(traced, NaiveStem(file).run(rows), 1e-3);
}

Rows features_of(const OpenChoices& options, const Samples& samples, size_t n_frames) {
  const FileImage file = speech_file(options);
  Rows rows;
  for (const std::vector<float>& frame : log_mel_features(TestEngine(file.span(), {}), samples, n_frames))
    rows.emplace_back(frame.begin(), frame.end());
  return rows;
}

OpenChoices whisper_features() {
  OpenChoices options = tiny_whisper();
  options.n_fft = 400;
  options.hop = 160;
  options.channels = 80;
  return options;
}

// tests/data/speech/log_mel.txt
TEST(LogMelFeatures, EqualTransformers) {
  std::ifstream file(GOLDCREST_SOURCE_DIR "/tests/data/speech/log_mel.txt");
  std::string line;
  std::getline(file, line);
  std::getline(file, line);
  std::istringstream numbers(line);
  std::vector<int16_t> samples;
  for (int sample = 0; numbers >> sample;) samples.push_back(static_cast<int16_t>(sample));
  ASSERT_EQ(samples.size(), 2400u);
  const Rows found =
      features_of(whisper_features(), {samples.data(), static_cast<uint32_t>(samples.size()), 480000}, 18);
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t j = 0; j < 80; ++j) {
      double expected = 0;
      ASSERT_TRUE(file >> expected);
      ASSERT_NEAR(found[i][j], expected, 1e-4) << "frame " << i << ", band " << j;
    }
  }
}

// Whisper's own transform, and other products of 2 and 5.
TEST(LogMelFeatures, EqualATransformInDoubles) {
  for (const uint32_t n_fft : {400u, 2u * 5, 1000u, 1024u, 2u}) {
    OpenChoices options = whisper_features();
    options.n_fft = n_fft;
    options.hop = std::max(n_fft * 2 / 5, 1u);
    options.channels = n_fft < 400 ? 3 : 80;
    options.convolutions[0].stride = n_fft < 400 ? 3 : 1;
    const std::vector<int16_t> samples = tiny_clip(5, size_t{options.hop} * 9);
    const Rows expected = naive_log_mel(options, samples, 12);
    const Rows found =
        features_of(options, {samples.data(), static_cast<uint32_t>(samples.size()), options.hop * 12}, 12);
    for (size_t i = 0; i < 12; ++i)
      for (size_t j = 0; j < options.channels; ++j)
        ASSERT_NEAR(found[i][j], expected[i][j], 1e-4) << n_fft << ", frame " << i << ", band " << j;
  }
}

TEST(Rotary, TurnsPairsOfColumns) {
  const FileImage file = speech_file(tiny_moonshine());
  const TestEngine engine(file.span(), {});
  const Runtime& runtime = engine.get()->runtime;
  const StackView& stack = runtime.model.encoder;
  const float* table = runtime.tensor<float>(stack.rotary.table);
  Rng rng(6);
  std::vector<float> heads(stack.attention_width());
  for (float& x : heads) x = rng.uniform();
  const std::vector<float> before = heads;
  turn_heads(runtime, stack, 7, stack.n_heads, heads.data());
  for (uint32_t i = 0; i < heads.size(); ++i) {
    const uint32_t column = i % stack.d_head, half = stack.rotary.half, c = column % half;
    if (column >= 2 * half) {
      EXPECT_EQ(heads[i], before[i]);
      continue;
    }
    const double cosine = table[7 * 2 * half + c], sine = table[7 * 2 * half + half + c];
    const double expected =
        column < half ? before[i] * cosine - before[i + half] * sine : before[i] * cosine + before[i - half] * sine;
    EXPECT_NEAR(heads[i], expected, 1e-6);
  }
}

constexpr uint32_t kRows = 3;
// The int8 product of kRows rows, without an activation.
std::vector<float> product(
    const Runtime& runtime, const LinearView& view, const int8_t* x, const float* x_scale, const float* bias) {
  std::vector<float> y(kRows * view.n);
  const LinearTensors tensors = tensors_of(runtime, view);
  runtime.kernels->int8.linear({.x = x,
      .x_scale = x_scale,
      .w = static_cast<const int8_t*>(tensors.weights),
      .w_scale = tensors.scale,
      .bias = bias,
      .weight_sum = tensors.weight_sum,
      .y = y.data(),
      .y_stride = view.n,
      .rows = kRows,
      .n = view.n,
      .k = view.k,
      .layout = tensors.layout,
      .activation = Activation::kNone});
  return y;
}

// y = activation((p + bias) + p') + residual, with a residual that is apart, that is y, and with none; in one slice and
// in several.
void expect_two_products(const Runtime& runtime) {
  const LinearView view = view_encoder_layer(runtime.model.file, 0).feed_forward.in;
  ASSERT_TRUE(view.fine_input);
  const uint32_t k = view.k, n = view.n;
  ASSERT_GT(n, 16u);
  Rng rng(7);
  std::vector<float> x(kRows * k), residual(kRows * n), scales(2 * kRows), remainder(k);
  for (float& value : x) value = rng.uniform();
  for (float& value : residual) value = rng.uniform();
  std::vector<int8_t> q(2 * x.size());  // the rows, then their remainders
  quantize_one_by_one(runtime, {x.data(), k, kRows, k}, {q.data(), scales.data()}, remainder.data());
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t i = 0; i < k; ++i) {
      const uint32_t at = row * k + i;
      const float value =
          static_cast<float>(q[at]) * scales[row] + static_cast<float>(q[x.size() + at]) * scales[kRows + row];
      EXPECT_NEAR(value, x[at], 2e-5);
    }
  }
  const std::vector<float> none(n, 0.0f),
      p = product(runtime, view, q.data(), scales.data(), tensors_of(runtime, view).bias),
      p_fine = product(runtime, view, q.data() + kRows * k, scales.data() + kRows, none.data());
  for (const uint32_t outputs : {16u, n}) {  // outputs of a slice
    std::vector<float> scratch(size_t{outputs} * (2 * kRows + 1));
    for (const bool has_residual : {false, true}) {
      for (const bool in_place : {false, true}) {
        std::vector<float> y(kRows * n), expected(kRows * n);
        if (in_place) y = residual;
        const float* from = !has_residual ? nullptr : in_place ? y.data() : residual.data();
        const LinearCall call = {&view, {q.data(), scales.data()}, kRows, Activation::kGelu, from, y.data(), n, true};
        kInt8Operations.linear(runtime, call, {scratch.data(), scratch.size()}, 0);
        for (size_t i = 0; i < y.size(); ++i) {
          const float sum = p[i] + p_fine[i];
          const float value = (0.5f * sum) * (1.0f + erf_float(sum * 0.707106781f));
          expected[i] = has_residual ? value + residual[i] : value;
        }
        EXPECT_EQ(y, expected) << runtime.kernels->name << outputs << has_residual << in_place;
      }
    }
  }
}

TEST(FineInputs, AreTwoProductsWithEveryTable) {
  const FileImage file = speech_file(tiny_whisper());
  const TestEngine engine(file.span(), {});
  Runtime runtime = engine.get()->runtime;
  for (uint32_t i = 0; (runtime.kernels = kernels_at(i)) != nullptr; ++i) expect_two_products(runtime);
}
}}  // namespace goldcrest::test
