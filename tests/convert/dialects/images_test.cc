// SPDX-License-Identifier: Apache-2.0
// Images: small random checkpoints with what transformers 5.24 computed from them and from the pixels of Pillow 12
// (tests/peers/images.py --record); the same bits on every machine.
#include "base/crc32c.h"
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "evaluate/check.h"
#include "evaluate/check_samples.h"
#include "goldcrest/image.h"
#include "goldcrest/speech.h"
#include "sources/containers/numpy_array.h"
#include "sources/files/input_file.h"
#include "support/engine_fixture.h"
#include "support/expect_error.h"
#include "support/speech_model.h"
#include "support/tiny_model.h"

namespace goldcrest::converter { namespace {
constexpr const char* kModels[] = {"20003", "20025", "20042", "20059"};
constexpr size_t kImages = 4, kMostBytes = 1 << 20;

const std::filesystem::path& image_folders() {
  static const test::PackedFolders unpacked(test::recorded("images.json"));
  return unpacked.path();
}

TEST(Images, LayersAndResultsAreThoseOfTransformers) {
  for (const char* model : kModels) {
    const ModelSpec spec = load_checkpoint(image_folders() / model, {});
    const CheckReport report = check(Reference(spec), image_folders() / model, {});
    EXPECT_TRUE(report.passed()) << model << "\n" << to_text(report);
    EXPECT_GE(report.tensors.size(), 6u) << model;
    EXPECT_GE(report.searches.size(), 2u) << model;
    const ModelSpec shape = load_shape(image_folders() / model / "config.json", 1 << 20);
    EXPECT_EQ(shape.encoder.positions.rows, spec.encoder.positions.rows);
  }
}

std::vector<float> features_of(const test::TestEngine& engine, const std::string& file) {
  const NumpyHeader header = parse_numpy_header(file, "image");
  goldcrest_image image = {.width = static_cast<uint32_t>(header.shape[1]),
      .height = static_cast<uint32_t>(header.shape[0]),
      .format = header.shape[2] == 1 ? GOLDCREST_GREY : GOLDCREST_RGB};
  const uint64_t bytes = goldcrest_image_bytes(&image, engine.get());
  test::GuardedBuffer<float> memory((bytes + 3) / sizeof(float));
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.get(), bytes), GOLDCREST_OK);
  const auto* const pixels = reinterpret_cast<const uint8_t*>(file.data()) + header.bytes;
  for (size_t y = 0; y < image.height; ++y)
    EXPECT_EQ(goldcrest_image_row(&image, pixels + y * image.width * header.shape[2]), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_image_row(&image, pixels), GOLDCREST_ERROR_STATE);
  return {image.features, image.features + image.n * image.channels};
}

TEST(Images, PixelsAreThoseOfPillowAndIdsThoseOfTransformers) {
  uint32_t crc = 0;
  for (const std::string model : kModels) {
    const std::filesystem::path folder = image_folders() / model;
    const ModelSpec spec = load_checkpoint(folder, {});
    const FileImage file = test::tiny_file(spec, Layout::kN16K4, {}, Weights::kFloat32);
    test::TestEngine engine(file.span(), {});
    engine.change_search([](goldcrest_search& search) { search.beam_size = 1; });
    const Samples expected_ids = read_samples(folder, spec);
    const std::string samples = read_small_file(folder / "samples.npy", kMostBytes);
    size_t place = parse_numpy_header(samples, "samples").bytes;
    for (size_t i = 0; i < kImages; ++i) {
      const std::string pixels = read_small_file(folder / (std::to_string(i) + ".npy"), kMostBytes);
      const std::vector<float> found = features_of(engine, pixels);
      ASSERT_EQ(goldcrest_begin_features(engine.get(), found.data(), spec.encoder.positions.rows), 0);
      ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
      EXPECT_EQ(engine.results(0)[0].tokens, expected_ids.lines[i].find("greedy")->tokens) << model << ", image " << i;
      crc = crc32c(crc, found.data(), found.size() * sizeof(float));
      for (const float value : found) {
        float expected = 0;
        std::memcpy(&expected, &samples.at(place), sizeof expected);
        place += sizeof expected;
        ASSERT_NEAR(value, expected, 1e-5) << model << ", image " << i;  // a pixel is 1/255 / deviation apart
      }
    }
    EXPECT_EQ(place, samples.size());
  }
  EXPECT_EQ(crc, 2616589742u);
}

TEST(Images, TransparentPixelsAreWhiteAndGreyIsLuma) {
  const FileImage colour = test::speech_file(test::tiny_images()), grey = test::speech_file(test::tiny_images(true, 1));
  const auto first = [](const FileImage& file, uint32_t format, std::vector<uint8_t> pixel) {
    const test::TestEngine engine(file.span(), {});
    std::vector<float> memory(5000);
    goldcrest_image image = {.width = 1, .height = 1, .format = format};
    EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.data(), memory.size() * sizeof(float)), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_image_row(&image, pixel.data()), GOLDCREST_OK);
    return (image.features[4 * image.channels] + 1) * 128;  // after four tokens, with scale 1 / 128 and offset -1
  };
  EXPECT_EQ(first(colour, GOLDCREST_RGBA, {9, 9, 9, 0}), 255);
  EXPECT_EQ(first(colour, GOLDCREST_RGBA, {51, 9, 9, 128}), 153);  // (51 * 128 + 255 * 127) / 255 = 152.6
  EXPECT_EQ(first(colour, GOLDCREST_RGBA, {51, 9, 9, 255}), 51);
  EXPECT_EQ(first(colour, GOLDCREST_BGR, {9, 8, 51}), 51);
  EXPECT_EQ(first(colour, GOLDCREST_GREY, {51}), 51);
  EXPECT_EQ(first(grey, GOLDCREST_GREY, {51}), 51);
  EXPECT_EQ(first(grey, GOLDCREST_RGB, {200, 100, 50}), 124);  // 59.8 + 58.7 + 5.7
  EXPECT_EQ(first(grey, GOLDCREST_BGR, {50, 100, 200}), 124);
}

TEST(Images, MemoryAndSizesAreChecked) {
  const FileImage file = test::speech_file(test::tiny_images()), other = test::speech_file(test::tiny_frames());
  const test::TestEngine engine(file.span(), {}), sound(other.span(), {}),
      small(file.span(), {.limits = {.max_source_tokens = 9}});
  std::vector<float> memory(20000);
  const size_t bytes = memory.size() * sizeof(float);
  auto* const pixels = reinterpret_cast<uint8_t*>(memory.data());
  constexpr goldcrest_image kSizes[] = {{.width = 0, .height = 5}, {.width = 5, .height = 0},
      {.width = 65536, .height = 1}, {.width = 10000, .height = 10000}, {.width = 5, .height = 5, .format = 4}};
  for (goldcrest_image image : kSizes) {
    EXPECT_EQ(goldcrest_image_bytes(&image, engine.get()), 0u);
    EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.data(), bytes), GOLDCREST_ERROR_UNSUPPORTED);
  }
  goldcrest_image image = {.width = 30, .height = 20, .format = GOLDCREST_RGB};
  EXPECT_EQ(goldcrest_image_row(&image, pixels), GOLDCREST_ERROR_STATE);
  const uint64_t needed = goldcrest_image_bytes(&image, engine.get());
  EXPECT_EQ(goldcrest_image_bytes(&image, sound.get()), 0u);
  EXPECT_EQ(goldcrest_image_begin(&image, sound.get(), pixels, bytes), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_image_begin(&image, small.get(), pixels, bytes), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), pixels, needed - 1), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), pixels + 1, bytes), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), pixels, needed), GOLDCREST_OK);
}

TEST(Images, SettingsThatWouldChangeResultsAreRefused) {
  const Value null;
  struct Case {
    const char *file, *key;
    Value value;
    const char* message;
  };
  const Case cases[] = {{"preprocessor_config.json", "do_pad", true, "\"do_pad\" is true, expected no such setting"},
      {"preprocessor_config.json", "resample", 1, "expected 2 (bilinear) or 3"},
      {"preprocessor_config.json", "do_resize", false, "expected true"},
      {"preprocessor_config.json", "size", {{"shortest_edge", 30}}, "expected \"height\" and \"width\""},
      {"preprocessor_config.json", "crop_size", 9, "is 9, expected 24 x"},
      {"preprocessor_config.json", "size", 5, "is 5, expected 24 x"},
      {"preprocessor_config.json", "image_mean", Value::list({0.5}), "is [0.5], expected 3 numbers"},
      {"preprocessor_config.json", "image_processor_type", "DonutImageProcessor", "expected \"ViTImageProcessor\""},
      {"config.json", "encoder", {{"model_type", "swin"}}, "\"swin\", expected \"vit\" or \"deit\""},
      {"config.json", "decoder", {{"model_type", "gpt2"}, {"vocab_size", 9}, {"eos_token_id", 2}},
          "expected \"trocr\""}};
  for (const Case& c : cases) {
    const test::FolderCopy copy(image_folders() / "20025");
    copy.set(c.file, c.key, c.value);
    test::expect_error([&] { load_checkpoint(copy.path(), {}); }, {c.file, c.message});
  }
  const test::FolderCopy copy(image_folders() / "20025");
  std::filesystem::remove(copy.path() / "preprocessor_config.json");
  test::expect_error([&] { load_checkpoint(copy.path(), {}); }, {"preprocessor_config.json: is missing"});
}
}}  // namespace goldcrest::converter
