// SPDX-License-Identifier: Apache-2.0
// Files with frontends, rotary positions and fine inputs: fields without their bits, wrong values, arrays that end one
// value after their section, damage.
#include "base/bounds.h"
#include "base/build_options.h"
#include "hostile_file.h"
#include "model/frontend_view.h"
#include "support/speech_model.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
const FileImage& moonshine() {
  static const FileImage file = speech_file(tiny_moonshine());
  return file;
}

const FileImage& whisper() {
  static const FileImage file = speech_file(tiny_whisper());
  return file;
}

format::ConvolutionT& convolution(ModelT& model, size_t i) { return *model.encoder->frontend->convolutions[i]; }
format::LogMelT& log_mel(ModelT& model) { return *model.encoder->frontend->log_mel; }

TEST(SpeechFile, Runs) {
  for (const FileImage* file : {&moonshine(), &whisper()}) expect_runs(*file);
  EXPECT_EQ(format::GetModel(moonshine().bytes())->features(), kFeatureFrontend | kFeatureRotary | kFeatureRefined);
  EXPECT_EQ(format::GetModel(whisper().bytes())->features(), kFeatureFrontend | kFeatureLogMel | kFeatureRefined);
}

// Older engines refuse the bits. An engine that knows them refuses a field whose bit is missing.
TEST(SpeechFile, FieldsWithoutTheirBits) {
  const char* const bits = "metadata: feature bits";
  expect_refused(moonshine(), {
                                  {bits, [](ModelT& m) { m.features &= ~kFeatureFrontend; }},
                                  {bits, [](ModelT& m) { m.features &= ~kFeatureRotary; }},
                                  {bits, [](ModelT& m) { m.features &= ~kFeatureRefined; }},
                              });
  expect_refused(whisper(), {{bits, [](ModelT& m) { m.features &= ~kFeatureLogMel; }}});
  expect_refused(smallest_file(), {
                                      {bits,
                                          [](ModelT& m) {
                                            m.self_test[0]->samples = {1, 2};
                                          }},
                                      {"encoder.frontend: missing", [](ModelT& m) { m.features = kFeatureFrontend; }},
                                  });
}

TEST(SpeechFile, BitsAloneChangeNothing) {
  expect_runs(
      remade(smallest_file(), [](ModelT& m) { m.features = kFeatureRotary | kFeatureRefined | kFeatureLogMel; }));
}

TEST(SpeechFile, EveryMatrixOfInt8HasFineInputs) {
  const auto refine = [](ModelT& m) {
    m.features |= kFeatureRefined;
    m.projection->fine_input = true;
  };
  EXPECT_EQ(try_file(remade(smallest_file(), refine)).status, GOLDCREST_OK);
  const char* const bits = "metadata: feature bits";
  expect_refused(smallest_file(), {{bits, [](ModelT& m) { m.projection->fine_input = true; }}});
  const ModelSpec spec = tiny_spec(odd_tiny_options());
  expect_refused(tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32), {{"projection", refine}});
}

// Integer weights of attention: without their bit, in float32 files, with fine attention, with too many keys.
TEST(RefinedFile, BadIntegerAttention) {
  const ModelSpec spec = tiny_spec(odd_tiny_options());
  const auto weigh = [](ModelT& m) {
    m.features |= kFeatureIntegerAttention;
    m.encoder->integer_attention = m.decoder->integer_attention = true;
  };
  const FileImage file = remade(tiny_file(spec), weigh);
  EXPECT_EQ(try_file(file).status, GOLDCREST_OK);
  const char *const encoder = "encoder: dimensions", *const decoder = "decoder: dimensions";
  expect_refused(file, {{"metadata: feature bits", [](ModelT& m) { m.features &= ~kFeatureIntegerAttention; }},
                           {encoder, [](ModelT& m) { m.encoder->max_positions = 131073; }},
                           {decoder, [](ModelT& m) { m.decoder->max_positions = 131073; }}});
  expect_refused(tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32), {{encoder, weigh}});
  expect_refused(fine_tiny_file(spec, {}, "none", "all"), {{encoder, weigh}});
}

// Second matrices and fine attention: without their bits, in float32 files, without room, with wrong values.
TEST(RefinedFile, BadSecondMatrices) {
  const char* const bits = "metadata: feature bits";
  const ModelSpec spec = tiny_spec(odd_tiny_options());
  const FileImage file = fine_tiny_file(spec, {}, "none", "all");
  EXPECT_EQ(try_file(file).status, GOLDCREST_OK);
  EXPECT_EQ(format::GetModel(file.bytes())->features(), kFeatureRefinedWeights | kFeatureFineAttention);
  expect_refused(file, {{bits, [](ModelT& m) { m.features &= ~kFeatureRefinedWeights; }},
                           {bits, [](ModelT& m) { m.features &= ~kFeatureFineAttention; }}});
  const auto refine = [](ModelT& m) {
    m.features |= kFeatureRefinedWeights;
    m.projection->refined = true;
  };
  const auto refine_table = [](ModelT& m) {
    m.features |= kFeatureRefinedWeights;
    m.encoder->embedding->refined = true;
  };
  const auto refine_attention = [](ModelT& m) {
    m.features |= kFeatureFineAttention;
    m.decoder->fine_attention = true;
  };
  expect_refused(tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32),
      {{"projection", refine}, {"encoder.embedding", refine_table}, {"decoder: dimensions", refine_attention}});
  expect_refused(tiny_file(spec), {{"projection", refine}});
  EXPECT_EQ(try_file(remade(tiny_file(spec), refine_attention)).status, GOLDCREST_OK);

  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto with_value = [&](format::SectionKind kind, uint32_t units, size_t offset, const auto& value) {
    return remade_with_contents(file, [&](ModelT&, Contents& contents) {
      std::memcpy(contents[static_cast<size_t>(kind)].data() + size_t{units} * 64 + offset, &value, sizeof value);
    });
  };
  const format::Linear& in = *format::GetModel(file.bytes())->encoder()->layers()->Get(0)->feed_forward()->in();
  const uint32_t n = pad16(in.n());
  const char* const linear = "layers.feed_forward.in";
  for (const float scale : {0.0f, -1.0f, 1e-40f, 1e30f, kInfinity, std::nanf("")})
    expect_corrupt(with_value(format::SectionKind::Parameters, in.scale(), n * sizeof(float), scale), linear);
  if (in.n() < n)
    expect_corrupt(with_value(format::SectionKind::Parameters, in.scale(), (2 * n - 1) * sizeof(float), 2.0f), linear);
  expect_corrupt(with_value(format::SectionKind::Parameters, in.weight_sum(), n * sizeof(int32_t), 1 << 20), linear);
  expect_corrupt(
      with_value(format::SectionKind::Weights, in.weights(), size_t{n} * pad16(in.k()), int8_t{-128}), linear);
}

TEST(SpeechFile, PartsThatAreMissingOrMisplaced) {
  const auto embedding = [] {
    return std::unique_ptr<format::EmbeddingT>(
        format::GetModel(smallest_file().bytes())->encoder()->embedding()->UnPack());
  };
  expect_refused(moonshine(),
      {
          {"encoder.frontend: missing", [](ModelT& m) { m.encoder->frontend.reset(); }},
          {"encoder.frontend: with an embedding or a tokenizer",
              [&](ModelT& m) { m.encoder->embedding = embedding(); }},
          {"decoder.frontend", [](ModelT& m) { m.decoder->frontend = std::make_unique<format::FrontendT>(); }},
          {"frontend.convolutions", [](ModelT& m) { m.encoder->frontend->convolutions.clear(); }},
          {"frontend.convolutions",
              [](ModelT& m) {
                for (int i = 0; i < 2; ++i)
                  m.encoder->frontend->convolutions.push_back(
                      std::make_unique<format::ConvolutionT>(convolution(m, 2)));
              }},
          {"convolutions.linear", [](ModelT& m) { convolution(m, 1).linear.reset(); }},
          {"encoder: dimensions", [](ModelT& m) { m.encoder->activation = format::Activation::Tanh; }},
          {"decoder: dimensions", [](ModelT& m) { m.decoder->activation = format::Activation::Tanh; }},
          {"generation.source_prefix", [](ModelT& m) { m.generation->source_prefix = {0}; }},
          {"limits.max_source_bytes", [](ModelT& m) { m.limits->max_source_bytes = 8; }},
      });
}

TEST(SpeechFile, ValuesOutOfBounds) {
  const char *const window = "convolutions: window", *const channels = "convolutions: channels";
  expect_refused(moonshine(),
      {
          {window, [](ModelT& m) { convolution(m, 1).kernel = 0; }},
          {window, [](ModelT& m) { convolution(m, 1).kernel = kMaxKernel + 1; }},
          {window, [](ModelT& m) { convolution(m, 1).stride = 0; }},
          {window, [](ModelT& m) { convolution(m, 1).stride = 8; }},
          {window, [](ModelT& m) { convolution(m, 1).padding = 4; }},
          {window, [](ModelT& m) { convolution(m, 1).padding = UINT32_MAX; }},
          {channels, [](ModelT& m) { convolution(m, 0).stride = 24; }},
          {channels, [](ModelT& m) { convolution(m, 1).channels = 21; }},
          {"convolutions.linear", [](ModelT& m) { convolution(m, 1).linear->k -= 1; }},
          {"convolutions.linear", [](ModelT& m) { convolution(m, 1).linear->n = 0; }},
          {"frontend: d_model", [](ModelT& m) { convolution(m, 2).linear->n = 23; }},
          {"convolutions.activation",
              [](ModelT& m) { convolution(m, 1).activation = static_cast<format::Activation>(5); }},
          {"convolutions.whole_norm", [](ModelT& m) { convolution(m, 0).activation = format::Activation::Gelu; }},
          {"convolutions.whole_norm",
              [](ModelT& m) {
                convolution(m, 1).activation = format::Activation::Tanh;
                convolution(m, 1).whole_norm = std::make_unique<format::NormT>(*convolution(m, 0).whole_norm);
              }},
          {"convolutions.whole_norm", [](ModelT& m) { convolution(m, 0).whole_norm->epsilon = 2; }},
          {"frontend.input", [](ModelT& m) { m.encoder->frontend->input = static_cast<format::FrontendInput>(2); }},
          {"frontend.sample_rate", [](ModelT& m) { m.encoder->frontend->sample_rate = 999; }},
          {"frontend.sample_rate", [](ModelT& m) { m.encoder->frontend->sample_rate = kMaxSampleRate + 1; }},
          {"frontend.sample_rate", [](ModelT& m) { m.encoder->frontend->input = format::FrontendInput::Frames; }},
          {"frontend.channels", [](ModelT& m) { m.encoder->frontend->channels = 2; }},
          {"encoder.positions", [](ModelT& m) { m.encoder->max_positions = kMaxPositions + 1; }},
          {"rotary.half", [](ModelT& m) { m.encoder->rotary->half = 0; }},
          {"rotary.half", [](ModelT& m) { m.encoder->rotary->half = 8; }},
          {"rotary.half", [](ModelT& m) { m.decoder->rotary->half = 32; }},
      });
}

// 112 * 7 * 2 samples a row: 2^20 rows are more than 2^30 samples.
TEST(SpeechFile, ClipsOutOfBounds) {
  expect_refused(speech_file(wide_moonshine()), {{"frontend: strides", [](ModelT& m) {
                                                    m.encoder->max_positions = kMaxPositions;
                                                    convolution(m, 0).stride = 112;
                                                    convolution(m, 1).stride = 7;
                                                  }}});
  // 4,096 windows of 1,024 rows, which have 32 values each, are 2^27 values.
  expect_refused(moonshine(), {{"frontend: strides", [](ModelT& m) {
                                  convolution(m, 1).kernel = kMaxKernel;
                                  convolution(m, 1).stride = 1;
                                  convolution(m, 2).kernel = convolution(m, 2).stride = kMaxKernel;
                                }}});
}

TEST(SpeechFile, LogMelsOutOfBounds) {
  std::vector<Lie> lies = {
      {"frontend.log_mel", [](ModelT& m) { m.encoder->frontend->fixed_window = false; }},
      {"log_mel.hop", [](ModelT& m) { log_mel(m).hop = 0; }},
      {"log_mel.hop", [](ModelT& m) { log_mel(m).hop = 81; }},
      {"frontend.log_mel", [](ModelT& m) { log_mel(m).hop = 20; }},  // the mirror is longer than a row
      {"log_mel.n_mels", [](ModelT& m) { log_mel(m).n_mels = 19; }},
      {"log_mel.n_mels", [](ModelT& m) { log_mel(m).n_mels = 0; }},
      {"convolutions: window", [](ModelT& m) { convolution(m, 0).padding = 0; }},
      {"log_mel: bands", [](ModelT& m) { log_mel(m).first = log_mel(m).window; }},
  };
  for (const uint32_t n_fft : {0u, 1u, 5u, 25u, 14u, 48u, 2048u, 1250u, UINT32_MAX})
    lies.push_back({"log_mel.n_fft", [n_fft](ModelT& m) { log_mel(m).n_fft = n_fft; }});
  expect_refused(whisper(), lies);
}

TEST(SpeechFile, ImagesOutOfBounds) {
  const FileImage file = speech_file(tiny_images());
  std::vector<Lie> lies = {
      {"metadata: feature bits", [](ModelT& m) { m.features &= ~kFeatureImage; }},
      {"frontend.image", [](ModelT& m) { m.encoder->frontend->image.clear(); }},
      {"frontend.image", [](ModelT& m) { m.encoder->frontend->image.pop_back(); }},
      {"frontend.image", [](ModelT& m) { m.encoder->frontend->fixed_window = false; }},
      {"frontend.image", [](ModelT& m) { m.encoder->max_positions = 5; }},
      {"convolutions.activation", [](ModelT& m) { convolution(m, 0).activation = static_cast<format::Activation>(6); }},
      {"encoder: dimensions", [](ModelT& m) { m.encoder->activation = format::Activation::None; }},
      {"head", [](ModelT& m) { m.decoder->head = std::make_unique<format::LinearT>(*m.projection); }},
      {"head", [](ModelT& m) { m.encoder->head = std::make_unique<format::LinearT>(*m.projection); }},
  };
  // height, width, resized height and width, patch height and width, cubic, scale
  constexpr std::pair<size_t, uint32_t> kNumbers[] = {{0, 0}, {0, 6}, {0, 16}, {1, 0}, {1, 15}, {1, UINT32_MAX}, {2, 7},
      {2, kMaxImageSide + 1}, {3, 17}, {3, UINT32_MAX}, {4, 0}, {4, 2}, {5, 0}, {5, 9}, {5, UINT32_MAX}, {6, 2},
      {7, 0x7f800000}, {12, 0x7fc00000}, {12, 1}};
  for (const auto& [place, number] : kNumbers)
    lies.push_back({"frontend.image", [=](ModelT& m) { m.encoder->frontend->image[place] = number; }});
  expect_refused(file, lies);
  expect_refused(moonshine(), {{"frontend.image", [](ModelT& m) { m.features |= kFeatureImage; }}});
}

// Moonshine with a detector of zeros.
const FileImage& hearing() {
  static const FileImage file = [] {
    OpenChoices options = tiny_moonshine();
    options.voice.resize(voice_floats());
    return speech_file(options);
  }();
  return file;
}

TEST(SpeechFile, Detectors) {
  EXPECT_EQ(try_file(hearing()).status, GOLDCREST_OK) << try_file(hearing()).detail;
  expect_refused(hearing(), {{"voice", [](ModelT& m) { m.voice = 0; }}, {"voice", [](ModelT& m) { m.voice += 1; }},
                                {"voice", [](ModelT& m) { m.voice = UINT32_MAX; }},
                                {"voice", [](ModelT& m) { m.encoder->frontend->sample_rate = 8000; }},
                                {"metadata: feature bits", [](ModelT& m) { m.features &= ~kFeatureVoice; }}});
  expect_refused(moonshine(), {{"voice", [](ModelT& m) { m.features |= kFeatureVoice; }}});
}

using Place = std::function<uint32_t*(ModelT&)>;
constexpr auto kParameters = format::SectionKind::Parameters, kPositions = format::SectionKind::Positions;

// An array that ends after its section, by as little as its place can say.
void expect_extent_refused(const FileImage& file, format::SectionKind kind, uint64_t bytes, const Place& place) {
  const FileImage moved = remade_with_contents(file, [&](ModelT& model, Contents& contents) {
    std::vector<uint8_t>& section = contents[static_cast<size_t>(kind)];
    const size_t from = size_t{*place(model)} * 64;
    std::vector<uint8_t> array(
        section.begin() + static_cast<ptrdiff_t>(from), section.begin() + static_cast<ptrdiff_t>(from + bytes));
    section.resize((section.size() + 63) / 64 * 64);
    *place(model) = static_cast<uint32_t>(section.size() / 64);
    section.insert(section.end(), array.begin(), array.end());
  });
  EXPECT_EQ(try_file(moved).status, GOLDCREST_OK) << try_file(moved).detail;
  const FileImage shorter =
      remade_with_contents(moved, [&](ModelT&, Contents& contents) { contents[static_cast<size_t>(kind)].pop_back(); });
  const Verdict verdict = try_file(shorter);
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << verdict.detail;
}

TEST(SpeechFile, ArraysThatEndBehindTheirSection) {
  const uint64_t n = pad16(tiny_moonshine().convolutions[0].n);
  expect_extent_refused(
      moonshine(), format::SectionKind::Weights, n * 32, [](ModelT& m) { return &convolution(m, 0).linear->weights; });
  expect_extent_refused(moonshine(), kParameters, 4 * n, [](ModelT& m) { return &convolution(m, 0).linear->bias; });
  expect_extent_refused(moonshine(), kParameters, 4 * n, [](ModelT& m) { return &convolution(m, 0).linear->scale; });
  expect_extent_refused(
      moonshine(), kParameters, 4 * n, [](ModelT& m) { return &convolution(m, 0).linear->weight_sum; });
  expect_extent_refused(
      moonshine(), kParameters, 4 * n, [](ModelT& m) { return &convolution(m, 0).whole_norm->gamma; });
  expect_extent_refused(moonshine(), kParameters, 4 * n, [](ModelT& m) { return &convolution(m, 0).whole_norm->beta; });
  expect_extent_refused(moonshine(), kPositions, 24 * 32 * 4, [](ModelT& m) { return &m.encoder->rotary->table; });
  expect_extent_refused(moonshine(), kPositions, 20 * 32 * 4, [](ModelT& m) { return &m.decoder->rotary->table; });
  expect_extent_refused(whisper(), kParameters, 80 * 4, [](ModelT& m) { return &log_mel(m).window; });
  expect_extent_refused(whisper(), kParameters, 160 * 4, [](ModelT& m) { return &log_mel(m).twiddle; });
  expect_extent_refused(whisper(), kParameters, 20 * 4, [](ModelT& m) { return &log_mel(m).first; });
  expect_extent_refused(whisper(), kParameters, 20 * 4, [](ModelT& m) { return &log_mel(m).count; });
  expect_extent_refused(hearing(), kParameters, 4 * uint64_t{voice_floats()}, [](ModelT& m) { return &m.voice; });
  uint64_t n_weights = 0;
  const format::Model& model = *format::GetModel(whisper().bytes());
  const size_t section = model.sections()->Get(static_cast<uint32_t>(kParameters))->offset();
  const uint8_t* const counts = whisper().bytes() + (section + model.encoder()->frontend()->log_mel()->count()) * 64;
  for (size_t i = 0; i < 20; ++i) n_weights += reinterpret_cast<const uint32_t*>(counts)[i];
  expect_extent_refused(whisper(), kParameters, n_weights * 4, [](ModelT& m) { return &log_mel(m).weight; });
}

// Changes the second value of an array.
template <typename T>
void expect_value_refused(
    const FileImage& file, format::SectionKind kind, T value, const char* detail, const Place& place) {
  const FileImage changed = remade_with_contents(file, [&](ModelT& model, Contents& contents) {
    uint8_t* const array = contents[static_cast<size_t>(kind)].data() + size_t{*place(model)} * 64;
    std::memcpy(array + sizeof value, &value, sizeof value);
  });
  expect_corrupt(changed, detail);
}

TEST(SpeechFile, ValuesInTablesThatAreNoNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_value_refused(
      moonshine(), kPositions, nan, "rotary.table", [](ModelT& m) { return &m.encoder->rotary->table; });
  expect_value_refused(moonshine(), kParameters, nan, "convolutions.whole_norm",
      [](ModelT& m) { return &convolution(m, 0).whole_norm->gamma; });
  expect_value_refused(
      moonshine(), kParameters, nan, "convolutions.linear", [](ModelT& m) { return &convolution(m, 1).linear->bias; });
  expect_value_refused(whisper(), kParameters, nan, "log_mel.window", [](ModelT& m) { return &log_mel(m).window; });
  expect_value_refused(hearing(), kParameters, nan, "voice", [](ModelT& m) { return &m.voice; });
  expect_value_refused(whisper(), kParameters, nan, "log_mel.twiddle", [](ModelT& m) { return &log_mel(m).twiddle; });
  expect_value_refused(whisper(), kParameters, nan, "log_mel.weight", [](ModelT& m) { return &log_mel(m).weight; });
  for (const uint32_t value : {41u, UINT32_MAX}) {
    expect_value_refused(whisper(), kParameters, value, "log_mel: bands", [](ModelT& m) { return &log_mel(m).first; });
    expect_value_refused(whisper(), kParameters, value, "log_mel: bands", [](ModelT& m) { return &log_mel(m).count; });
  }
  expect_value_refused(whisper(), kParameters, 0u, "log_mel: bands", [](ModelT& m) { return &log_mel(m).count; });
}

TEST(SpeechFile, SelfTestsWithWrongClips) {
  const auto with_line = [](std::vector<int16_t> samples, std::vector<uint32_t> source) {
    return [=](ModelT& m) {
      auto line = std::make_unique<format::SelfTestLineT>();
      line->samples = samples;
      line->source = source;
      line->target = {0};
      m.self_test.push_back(std::move(line));
    };
  };
  const std::vector<int16_t> clip = tiny_clip(1, 2000);
  EXPECT_EQ(try_file(remade(moonshine(), with_line(clip, {}))).status, GOLDCREST_OK);
  expect_refused(moonshine(), {
                                  {"self_test.samples", with_line({}, {})},
                                  {"self_test.source", with_line(clip, {1})},
                                  {"self_test.samples", with_line({1, 2, 3}, {})},
                                  {"self_test.samples", with_line(tiny_clip(1, 4000), {})},
                              });
}

TEST(SpeechFile, FlippedBitsAreRefusedOrRun) {
  expect_flips_refused_or_run(moonshine());
  expect_flips_refused_or_run(whisper());
}
}}  // namespace goldcrest::test
