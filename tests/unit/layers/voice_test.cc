// SPDX-License-Identifier: Apache-2.0
// The voice detector against the graph of its checkpoint: convolutions in double precision. The
// weights are random; tests/peers/voice.py compares Silero's own weights with ONNX Runtime.
#include "goldcrest/voice.h"
#include "dialects/dialect.h"
#include "model/frontend_view.h"
#include "support/engine_fixture.h"
#include "support/expect_error.h"
#include "support/speech_model.h"
#include "support/voice_tensors.h"

namespace goldcrest::test { namespace {
using Values = std::vector<double>;
using Rows = std::vector<Values>;  // [channels, frames]

constexpr size_t kStep = GOLDCREST_VOICE_SAMPLES;

// The graph of silero_vad_16k_op15.onnx.
class Graph {
 public:
  explicit Graph(const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) tensors_[tensor.name.substr(6)] = &tensor;
  }

  double run(const int16_t* samples) {
    Values sound = past_;
    for (size_t i = 0; i < kStep; ++i) sound.push_back(samples[i] / 32768.0);
    past_.assign(sound.end() - 64, sound.end());
    for (size_t i = 0; i < 64; ++i) sound.push_back(sound[kStep + 64 - 2 - i]);
    Rows rows = magnitudes(sound);
    for (const auto& [name, stride] : {std::pair{"0", 1}, {"1", 2}, {"2", 2}, {"3", 1}})
      rows = convolve(rows, std::string("encoder.") + name + ".reparam_conv.", static_cast<size_t>(stride));
    Values frame;
    for (const Values& channel : rows) frame.push_back(channel[0]);
    run_cell(frame);
    double sum = at("decoder.decoder.2.bias", 0);
    for (size_t i = 0; i < 128; ++i) sum += at("decoder.decoder.2.weight", i) * std::max(0.0, hidden_[i]);
    return sigmoid(sum);
  }
 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  double at(const std::string& name, size_t i) const { return static_cast<double>(tensors_.at(name)->values[i]); }

  Rows magnitudes(const Values& sound) const {
    Rows rows(129, Values(4));
    for (size_t k = 0; k < 129; ++k) {
      for (size_t t = 0; t < 4; ++t) {
        double re = 0, im = 0;
        for (size_t i = 0; i < 256; ++i) {
          re += at("stft.forward_basis_buffer", k * 256 + i) * sound[t * 128 + i];
          im += at("stft.forward_basis_buffer", (129 + k) * 256 + i) * sound[t * 128 + i];
        }
        rows[k][t] = std::sqrt(re * re + im * im);
      }
    }
    return rows;
  }

  Rows convolve(const Rows& in, const std::string& name, size_t stride) const {
    const size_t n = tensors_.at(name + "bias")->values.size(), frames = in[0].size();
    Rows out(n);
    for (size_t output = 0; output < n; ++output) {
      for (size_t t = 0; t < frames; t += stride) {
        double sum = at(name + "bias", output);
        for (size_t channel = 0; channel < in.size(); ++channel) {
          for (size_t tap = 0; tap < 3; ++tap) {
            if (t + tap == 0 || t + tap > frames) continue;
            sum += at(name + "weight", (output * in.size() + channel) * 3 + tap) * in[channel][t + tap - 1];
          }
        }
        out[output].push_back(std::max(0.0, sum));
      }
    }
    return out;
  }

  void run_cell(const Values& frame) {
    Values gates(512);
    for (size_t i = 0; i < 512; ++i) {
      gates[i] = at("decoder.rnn.bias_ih", i) + at("decoder.rnn.bias_hh", i);
      for (size_t j = 0; j < 128; ++j)
        gates[i] +=
            at("decoder.rnn.weight_ih", i * 128 + j) * frame[j] + at("decoder.rnn.weight_hh", i * 128 + j) * hidden_[j];
    }
    for (size_t i = 0; i < 128; ++i) {
      cell_[i] = sigmoid(gates[128 + i]) * cell_[i] + sigmoid(gates[i]) * std::tanh(gates[256 + i]);
      hidden_[i] = sigmoid(gates[384 + i]) * std::tanh(cell_[i]);
    }
  }

  std::map<std::string, const NamedTensor*> tensors_;
  Values past_ = Values(64), cell_ = Values(128), hidden_ = Values(128);
};

class Voice : public testing::Test {
 protected:
  // Writes the checkpoint and reads it as `goldcrest-convert --voice` does.
  std::vector<float> read(const std::vector<NamedTensor>& tensors) {
    const std::filesystem::path path = folder_.path() / "voice.safetensors";
    std::ofstream stream(path, std::ios::binary);
    write_safetensors(stream, tensors, converter::ElementType::kF32);
    stream.close();
    converter::ModelSpec spec;
    spec.encoder.frontend.emplace().sample_rate = 16000;
    converter::add_voice(path, spec);
    return spec.voice;
  }

  TemporaryFolder folder_;
};

// Returns the probabilities of a clip, step by step.
std::vector<float> hear(const FileImage& file, const char* kernels, const std::vector<int16_t>& clip) {
  const TestEngine engine(file.span(), {.kernels = kernels});
  goldcrest_voice voice;
  EXPECT_EQ(goldcrest_voice_begin(&voice, engine.get()), GOLDCREST_OK);
  std::vector<float> found;
  for (size_t i = 0; i + kStep <= clip.size(); i += kStep)
    found.push_back(goldcrest_voice_probability(&voice, &clip[i]));
  return found;
}

TEST_F(Voice, ComputesItsGraphWithTheSameBitsOnAllTables) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const std::vector<NamedTensor> tensors = random_detector(seed);
    OpenChoices options = tiny_moonshine();
    options.voice = read(tensors);
    const FileImage file = speech_file(options);
    std::vector<int16_t> clip = tiny_clip(seed, 12 * kStep);
    std::fill_n(clip.begin() + 4 * kStep, 2 * kStep, int16_t{0});
    std::fill_n(clip.begin() + 8 * kStep, kStep / 2, int16_t{-32768});
    const std::vector<float> found = hear(file, "reference", clip);
    Graph graph(tensors);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(static_cast<double>(found[i]), graph.run(&clip[i * kStep]), 2e-5) << seed << ", step " << i;
    EXPECT_GT(*std::ranges::max_element(found) - *std::ranges::min_element(found), 0.01f) << "it hears nothing";
    for (uint32_t table = 0; const char* kernels = goldcrest_kernels_at(table); ++table)
      EXPECT_EQ(hear(file, kernels, clip), found) << kernels;
  }
}

TEST_F(Voice, SamplesThatAreAlmostNothingHaveOneResult) {
  std::vector<NamedTensor> tensors = random_detector(4);
  for (float& value : tensors[1].values) value *= 1e-17f;  // close to the least of a file
  OpenChoices options = tiny_moonshine();
  options.voice = read(tensors);
  for (float& value : options.voice) value = std::fabs(value) < 0x1p-60f ? 0.0f : value;  // as the converter stores it
  const FileImage file = speech_file(options);
  std::vector<int16_t> clip(6 * kStep);
  for (size_t i = 0; i < clip.size(); i += 97) clip[i] = static_cast<int16_t>(i % 2);
  const std::vector<float> found = hear(file, "reference", clip);
  for (uint32_t table = 0; const char* kernels = goldcrest_kernels_at(table); ++table)
    EXPECT_EQ(hear(file, kernels, clip), found) << kernels;
}

TEST_F(Voice, IsRefusedByName) {
  const auto refuses = [&](const std::vector<NamedTensor>& tensors, const std::string& expected) {
    expect_error([&] { read(tensors); }, {"--voice", expected});
  };
  const std::vector<NamedTensor> good = random_detector(1);
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<NamedTensor> lacking = good, other = good;
    lacking.erase(lacking.begin() + static_cast<std::ptrdiff_t>(i));
    refuses(lacking, good[i].name + "' is missing");
    other[i].shape.push_back(1);
    refuses(other, good[i].name + "' has another shape");
  }
  std::vector<NamedTensor> transform = good;
  transform[0].values[1000] += 1e-3f;
  refuses(transform, "is not Fourier's");
  converter::ModelSpec text;
  expect_error([&] { converter::add_voice("none", text); }, {"16000 samples a second"});
  text.encoder.frontend.emplace().sample_rate = 8000;
  expect_error([&] { converter::add_voice("none", text); }, {"16000 samples a second"});
}

TEST_F(Voice, AFileWithoutDetectorSaysSo) {
  const FileImage file = speech_file(tiny_moonshine());
  const TestEngine engine(file.span(), {});
  goldcrest_voice voice;
  EXPECT_EQ(goldcrest_voice_begin(&voice, engine.get()), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_voice_begin(&voice, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_voice_begin(nullptr, engine.get()), GOLDCREST_ERROR_ARGUMENT);
}
}}  // namespace goldcrest::test
