// SPDX-License-Identifier: Apache-2.0
#include "support/speech_model.h"
#include <bit>
#include <numbers>
#include "base/build_options.h"
#include "converter/quantize/quantize.h"
#include "goldcrest/speech.h"
#include "support/random_spec.h"
#include "unit/model/hostile_file.h"

namespace goldcrest::test {
namespace {
using converter::Placement;

// Adds the frontend's arrays to the sections of a file.
class FrontendWriter {
 public:
  FrontendWriter(const OpenChoices& options, ModelT& model, Contents& contents)
      : options_(options), model_(model), contents_(contents), random_(options.seed + 100) {}

  void write() {
    model_.encoder->embedding.reset();
    model_.features |= kFeatureFrontend;
    auto frontend = std::make_unique<format::FrontendT>();
    frontend->input = options_.input;
    frontend->sample_rate = options_.input == format::FrontendInput::Samples ? 16000 : 0;
    frontend->channels = options_.channels;
    frontend->fixed_window = options_.fixed_window;
    uint32_t channels = options_.channels;
    uint32_t width = options_.input == format::FrontendInput::Samples && options_.n_fft == 0 ? 1 : pad16(channels);
    for (const TinyConvolution& wanted : options_.convolutions) {
      frontend->convolutions.push_back(convolution(wanted, channels, width));
      channels = wanted.n;
      width = pad16(channels);
    }
    if (options_.n_fft != 0) frontend->log_mel = log_mel();
    frontend->image = options_.image;
    if (!options_.image.empty()) model_.features |= kFeatureImage;
    model_.encoder->frontend = std::move(frontend);
    if (options_.half != 0) {
      model_.features |= kFeatureRotary;
      model_.encoder->rotary = rotary(model_.encoder->max_positions);
      model_.decoder->rotary = rotary(model_.decoder->max_positions);
    }
    if (!options_.voice.empty()) {
      model_.features |= kFeatureVoice;
      model_.voice = parameters(options_.voice);
    }
    if (!options_.fine_layers) return;
    model_.features |= kFeatureRefined;
    const auto refine = [](const MatrixEntry&, format::LinearT& linear) { linear.fine_input = true; };
    for_each_linear(*model_.encoder, refine);
    for_each_linear(*model_.decoder, refine);
  }
 private:
  template <typename T> uint32_t append(format::SectionKind kind, const std::vector<T>& values) {
    std::vector<uint8_t>& section = contents_[static_cast<size_t>(kind)];
    section.resize(align_bytes(section.size()));
    const auto units = static_cast<uint32_t>(section.size() / kAlignment);
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    section.insert(section.end(), bytes, bytes + values.size() * sizeof(T));
    return units;
  }
  uint32_t parameters(const std::vector<float>& values) { return append(format::SectionKind::Parameters, values); }

  std::vector<float> padded(uint32_t n, float scale, float offset) {
    std::vector<float> values(pad16(n), 0.0f);
    for (uint32_t i = 0; i < n; ++i) values[i] = random_.next() * scale + offset;
    return values;
  }

  // Weights of rows that are `width` wide; those of columns after `channels` are 0.
  std::unique_ptr<format::LinearT> linear(const TinyConvolution& wanted, uint32_t channels, uint32_t width) {
    auto made = std::make_unique<format::LinearT>();
    const uint32_t n = wanted.n, k = wanted.kernel * width;
    converter::Matrix matrix = random_.matrix("convolution", n, k);
    const float scale = std::sqrt(3.0f / static_cast<float>(wanted.kernel * channels)) *
                        (options_.input == format::FrontendInput::Samples && width == 1 ? 8.0f : 1.0f);
    for (size_t i = 0; i < matrix.values.size(); ++i)
      matrix.values.edit()[i] *= i % k % width < channels ? scale : 0.0f;
    made->n = n;
    made->k = k;
    made->bias = parameters(padded(n, 0.1f, 0.0f));
    if (options_.weights == converter::Weights::kFloat32) {
      converter::FloatMatrix copied(n, k);
      copy_rows(matrix, Placement::in_order(n), Placement::in_order(k), 0, copied);
      made->layout = format::Layout::RowMajor;
      made->weights = append(format::SectionKind::Weights, copied.weights);
      return made;
    }
    converter::QuantizedMatrix quantized(n, k);
    quantize_rows(matrix, Placement::in_order(n), Placement::in_order(k), 0, quantized);
    made->layout = static_cast<format::Layout>(options_.layout);
    made->weights = append(format::SectionKind::Weights,
        converter::pack(quantized.weights, quantized.rows, quantized.columns, options_.layout));
    made->scale = parameters(quantized.scale);
    made->weight_sum = append(format::SectionKind::Parameters, quantized.weight_sum);
    made->fine_input = wanted.fine_input;
    if (wanted.fine_input) model_.features |= kFeatureRefined;
    return made;
  }

  std::unique_ptr<format::ConvolutionT> convolution(const TinyConvolution& wanted, uint32_t channels, uint32_t width) {
    auto made = std::make_unique<format::ConvolutionT>();
    made->linear = linear(wanted, channels, width);
    made->channels = channels;
    made->kernel = wanted.kernel;
    made->stride = wanted.stride;
    made->padding = wanted.padding;
    made->activation = wanted.activation;
    if (!wanted.whole_norm) return made;
    made->whole_norm = std::make_unique<format::NormT>();
    made->whole_norm->gamma = parameters(padded(wanted.n, 0.3f, 1.0f));
    made->whole_norm->beta = parameters(padded(wanted.n, 0.2f, 0.0f));
    made->whole_norm->epsilon = 1e-5f;
    return made;
  }

  std::unique_ptr<format::LogMelT> log_mel() {
    model_.features |= kFeatureLogMel;
    auto made = std::make_unique<format::LogMelT>();
    const uint32_t n = options_.n_fft;
    std::vector<float> window, twiddle(2 * size_t{n}), weight;
    for (uint32_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * i / n;
      window.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
      const auto whole = [](double x) { return std::abs(x) < 1e-15 ? 0.0f : static_cast<float>(x); };
      twiddle[i] = whole(std::cos(angle));
      twiddle[n + i] = whole(std::sin(angle));
    }
    std::vector<uint32_t> first, count;
    for (const std::vector<double>& band : slaney_bands(options_.channels, n, 16000)) {
      const auto is_set = [](double x) { return x > 0; };
      const auto begin = std::find_if(band.begin(), band.end(), is_set);
      const auto end = std::find_if(band.rbegin(), band.rend(), is_set).base();
      first.push_back(begin == band.end() ? 0 : static_cast<uint32_t>(begin - band.begin()));
      count.push_back(begin == band.end() ? 1 : static_cast<uint32_t>(end - begin));
      for (uint32_t i = 0; i < count.back(); ++i) weight.push_back(static_cast<float>(band[first.back() + i]));
    }
    made->n_fft = n;
    made->hop = options_.hop;
    made->n_mels = options_.channels;
    made->window = parameters(window);
    made->twiddle = parameters(twiddle);
    made->first = append(format::SectionKind::Parameters, first);
    made->count = append(format::SectionKind::Parameters, count);
    made->weight = parameters(weight);
    return made;
  }

  std::unique_ptr<format::RotaryT> rotary(uint32_t positions) {
    auto made = std::make_unique<format::RotaryT>();
    const uint32_t half = options_.half;
    std::vector<float> table;
    for (uint32_t position = 0; position < positions; ++position) {
      for (const bool is_sine : {false, true}) {
        for (uint32_t i = 0; i < half; ++i) {
          const double angle = position * std::pow(100.0, -static_cast<double>(i) / half);
          const double value = i < half / 2 ? (is_sine ? std::sin(angle) : std::cos(angle)) : (is_sine ? 0 : 1);
          table.push_back(static_cast<float>(value));
        }
      }
    }
    made->table = append(format::SectionKind::Positions, table);
    made->half = half;
    return made;
  }

  const OpenChoices& options_;
  ModelT& model_;
  Contents& contents_;
  RandomFloats random_;
};

// Slaney's scale: linear below 1,000 Hz, logarithmic above. transformers, audio_utils.py, hertz_to_mel
double mel_of(double hertz) {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + std::log(hertz / 1000) * 27 / std::log(6.4);
}
double hertz_of(double mel) { return mel < 15 ? 200 * mel / 3 : 1000 * std::exp(std::log(6.4) / 27 * (mel - 15)); }
}  // namespace

std::vector<std::vector<double>> slaney_bands(uint32_t n_mels, uint32_t n_fft, double sample_rate) {
  const uint32_t n_bins = n_fft / 2 + 1;
  std::vector<double> edges;
  for (uint32_t i = 0; i < n_mels + 2; ++i) edges.push_back(hertz_of(mel_of(sample_rate / 2) * i / (n_mels + 1)));
  std::vector<std::vector<double>> bands(n_mels, std::vector<double>(n_bins));
  for (uint32_t band = 0; band < n_mels; ++band) {
    const double low = edges[band], middle = edges[band + 1], high = edges[band + 2];
    for (uint32_t bin = 0; bin < n_bins; ++bin) {
      const double hertz = sample_rate / n_fft * bin;
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      bands[band][bin] = std::max(0.0, height) * 2 / (high - low);
    }
  }
  return bands;
}

OpenChoices tiny_moonshine() {
  OpenChoices options;
  options.seed = 31;
  options.convolutions = {{20, 31, 16, 0, format::Activation::Tanh, true, false},
      {36, 7, 3, 0, format::Activation::Gelu, false, false}, {24, 3, 2, 0, format::Activation::Gelu, false, true}};
  options.half = 16;
  return options;
}

OpenChoices wide_moonshine() {
  OpenChoices options = tiny_moonshine();
  options.convolutions = {{288, 127, 64, 0, format::Activation::Tanh, true, false},
      {70, 7, 3, 0, format::Activation::Gelu, false, false}, {24, 3, 2, 0, format::Activation::Gelu, false, true}};
  options.fine_layers = true;
  return options;
}

OpenChoices tiny_whisper() {
  OpenChoices options;
  options.seed = 32;
  options.convolutions = {
      {24, 3, 1, 1, format::Activation::Gelu, false, false}, {24, 3, 2, 1, format::Activation::Gelu, false, true}};
  options.channels = 20;
  options.fixed_window = true;
  options.n_fft = 80;
  options.hop = 32;
  options.fine_layers = true;
  return options;
}

OpenChoices tiny_frames() {
  OpenChoices options;
  options.seed = 33;
  options.convolutions = {
      {17, 5, 2, 2, format::Activation::Relu, false, false}, {24, 4, 3, 1, format::Activation::Silu, false, false}};
  options.input = format::FrontendInput::Frames;
  options.channels = 11;
  return options;
}

OpenChoices tiny_images(bool cubic, uint32_t colours) {
  OpenChoices options;
  options.seed = 34;
  options.convolutions = {{24, 1, 1, 0, format::Activation::None, false, true}};
  options.input = format::FrontendInput::Frames;
  options.fixed_window = true;
  options.encoder_positions = 10;  // 4 tokens, 2 x 3 patches
  options.channels = 4 * 6 * colours;
  options.image = {8, 18, 12, 19, 4, 6, cubic ? 1u : 0u};
  for (const float number : {1 / 128.0f, 1 / 120.0f, 1 / 140.0f, -1.0f, -0.9f, 0.0f})
    options.image.push_back(std::bit_cast<uint32_t>(number));
  return options;
}

std::vector<OpenChoices> tiny_speech_options() {
  return {tiny_moonshine(), tiny_whisper(), tiny_frames(), tiny_images()};
}

FileImage speech_file(const OpenChoices& options) {
  TinyOptions tiny = {.seed = options.seed,
      .encoder = {24, 40, 2, 36, 2, options.encoder_positions, converter::Activation::kGelu, true, false, true},
      .decoder = {32, 40, 2, 36, 2, 20, converter::Activation::kSilu, true, false, true}};
  ModelSpec spec = tiny_spec(tiny);
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);  // for the target's letters
  spec.generation.source_suffix.clear();
  spec.source_tokenizer.reset();
  const FileImage text = tiny_file(spec, options.layout, {}, options.weights);
  return remade_with_contents(
      text, [&](ModelT& model, Contents& contents) { FrontendWriter(options, model, contents).write(); });
}

Sound sound_of(const goldcrest_info& info, uint64_t seed, uint32_t rows) {
  Sound sound = {.n = info.first_row_samples + (rows - 1) * info.row_samples + info.row_samples / 3};
  if (info.sample_rate != 0) {
    sound.samples = tiny_clip(seed, sound.n);
  } else {
    Rng rng(seed);
    for (size_t i = 0; i < sound.n * info.feature_channels; ++i) sound.features.push_back(rng.uniform());
  }
  return sound;
}

int give(goldcrest_engine* engine, const Sound& sound, bool fresh) {
  if (!sound.samples.empty())
    return fresh ? goldcrest_begin_audio(engine, sound.samples.data(), sound.n)
                 : goldcrest_add_audio(engine, sound.samples.data(), sound.n);
  return fresh ? goldcrest_begin_features(engine, sound.features.data(), sound.n)
               : goldcrest_add_features(engine, sound.features.data(), sound.n);
}

std::vector<int16_t> tiny_clip(uint64_t seed, size_t n) {
  Rng rng(seed);
  std::vector<int16_t> samples;
  const double low = 0.02 + 0.05 * (rng.uniform() + 1), high = 0.3 + 0.2 * (rng.uniform() + 1);
  for (size_t i = 0; i < n; ++i) {
    const double at = static_cast<double>(i), fade = 1 - at / static_cast<double>(2 * n);
    const double value = fade * (9000 * std::sin(low * at) + 4000 * std::sin(high * at)) + 500 * rng.uniform();
    samples.push_back(static_cast<int16_t>(std::lround(value)));
  }
  return samples;
}
}  // namespace goldcrest::test
