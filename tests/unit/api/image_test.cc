// SPDX-License-Identifier: Apache-2.0
// Images against a resize in doubles, and with the same bits on every machine (tests/peers/images.py compares with
// Pillow).
#include "goldcrest/image.h"

#include "base/crc32c.h"
#include "support/engine_fixture.h"
#include "support/rng.h"
#include "support/speech_model.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
using Plane = std::vector<std::vector<double>>;  // [rows][columns]

double curve(bool cubic, double x) {
  x = std::abs(x);
  if (!cubic) return std::max(0.0, 1 - x);
  if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
  return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
}

// Resizes the rows' lengths to n, with values of 8 bits, and turns rows and columns.
Plane resized(const Plane& in, size_t n, bool cubic) {
  Plane out(n, std::vector<double>(in.size()));
  const double scale = static_cast<double>(in[0].size()) / static_cast<double>(n), width = std::max(scale, 1.0);
  for (size_t x = 0; x < n; ++x) {
    for (size_t y = 0; y < in.size(); ++y) {
      double sum = 0, weights = 0;
      for (size_t i = 0; i < in[y].size(); ++i) {
        const double distance = static_cast<double>(i) + 0.5 - (static_cast<double>(x) + 0.5) * scale;
        const double weight = curve(cubic, distance / width);
        sum += weight * in[y][i];
        weights += weight;
      }
      out[x][y] = std::clamp(std::round(sum / weights), 0.0, 255.0);
    }
  }
  return out;
}

struct Picture {
  uint32_t width, height;
  goldcrest_pixels format;
  bool cubic;
  uint32_t colours;
};
constexpr Picture kPictures[] = {{19, 12, GOLDCREST_RGB, true, 3}, {1, 1, GOLDCREST_RGB, false, 3},
    {200, 7, GOLDCREST_BGR, true, 3}, {3, 150, GOLDCREST_RGBA, false, 3}, {61, 40, GOLDCREST_GREY, true, 3},
    {90, 33, GOLDCREST_RGBA, true, 1}, {23, 11, GOLDCREST_GREY, false, 1}};

std::vector<uint8_t> pixels_of(const Picture& picture) {
  const uint32_t values = picture.format == GOLDCREST_GREY ? 1 : picture.format == GOLDCREST_RGBA ? 4 : 3;
  Rng rng(picture.width);
  std::vector<uint8_t> pixels(size_t{picture.width} * picture.height * values);
  for (uint8_t& value : pixels) value = static_cast<uint8_t>(rng.below(2) * rng.below(256));
  return pixels;
}

// The value of a colour before the resize.
double colour_of(const Picture& picture, const uint8_t* pixel, uint32_t c) {
  if (picture.format == GOLDCREST_GREY) return pixel[0];
  const auto on_white = [&](uint32_t i) {
    const uint32_t place = picture.format == GOLDCREST_BGR ? 2 - i : i;
    if (picture.format != GOLDCREST_RGBA) return double{pixel[place] * 1.0};
    return std::round(255 - pixel[3] * (255 - pixel[place]) / 255.0);
  };
  if (picture.colours == 3) return on_white(c);
  return std::round(0.299 * on_white(0) + 0.587 * on_white(1) + 0.114 * on_white(2));
}

std::vector<float> features_of(const Picture& picture, const TestEngine& engine) {
  goldcrest_image image = {.width = picture.width, .height = picture.height, .format = picture.format};
  const uint64_t bytes = goldcrest_image_bytes(&image, engine.get());
  GuardedBuffer<float> memory((bytes + 3) / sizeof(float));
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.get(), bytes), GOLDCREST_OK);
  const std::vector<uint8_t> pixels = pixels_of(picture);
  const size_t stride = pixels.size() / picture.height;
  for (uint32_t y = 0; y < picture.height; ++y)
    EXPECT_EQ(goldcrest_image_row(&image, &pixels[y * stride]), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_image_row(&image, pixels.data()), GOLDCREST_ERROR_STATE);
  EXPECT_EQ(image.n, 10u);
  return {image.features, image.features + image.n * image.channels};
}

TEST(Image, EqualsAResizeInDoubles) {
  uint32_t crc = 0;
  for (const Picture& picture : kPictures) {
    const OpenChoices options = tiny_images(picture.cubic, picture.colours);
    const FileImage file = speech_file(options);
    const TestEngine engine(file.span(), {});
    const std::vector<float> found = features_of(picture, engine);
    crc = crc32c(crc, reinterpret_cast<const uint8_t*>(found.data()), found.size() * sizeof(float));
    const std::vector<uint8_t> pixels = pixels_of(picture);
    const size_t channels = 24 * picture.colours, values = pixels.size() / picture.width / picture.height;
    for (size_t i = 0; i < 4 * channels; ++i) ASSERT_EQ(found[i], 0) << "rows of tokens";
    for (uint32_t c = 0; c < picture.colours; ++c) {
      Plane plane(picture.height, std::vector<double>(picture.width));
      for (size_t i = 0; i < size_t{picture.width} * picture.height; ++i)
        plane[i / picture.width][i % picture.width] = colour_of(picture, &pixels[i * values], c);
      plane = resized(resized(plane, 19, picture.cubic), 12, picture.cubic);
      for (size_t y = 0; y < 8; ++y) {
        for (size_t x = 0; x < 18; ++x) {
          const size_t row = 4 + y / 4 * 3 + x / 6, column = c * 24 + y % 4 * 6 + x % 6;
          const double scale = std::bit_cast<float>(options.image[7 + c]),
                       offset = std::bit_cast<float>(options.image[10 + c]);
          ASSERT_NEAR((found[row * channels + column] - offset) / scale, plane[2 + y][x], 1.001) << y << ", " << x;
        }
      }
    }
  }
  EXPECT_EQ(crc, 724371643u) << "with the pixels of Pillow 12";
}

TEST(Image, RefusesWhatItCannotTake) {
  const FileImage file = speech_file(tiny_images()), other = speech_file(tiny_frames());
  const TestEngine engine(file.span(), {}), sound(other.span(), {});
  constexpr goldcrest_image kSizes[] = {{.width = 0, .height = 5}, {.width = 5, .height = 0},
      {.width = 65536, .height = 1}, {.width = 10000, .height = 10000}, {.width = 5, .height = 5, .format = 4}};
  std::vector<float> memory(20000);
  const size_t bytes = memory.size() * sizeof(float);
  for (goldcrest_image image : kSizes) {
    EXPECT_EQ(goldcrest_image_bytes(&image, engine.get()), 0u);
    EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.data(), bytes), GOLDCREST_ERROR_ARGUMENT);
  }
  goldcrest_image image = {.width = 30, .height = 20, .format = GOLDCREST_RGB};
  EXPECT_EQ(goldcrest_image_row(&image, reinterpret_cast<uint8_t*>(memory.data())), GOLDCREST_ERROR_STATE);
  EXPECT_EQ(goldcrest_image_bytes(&image, sound.get()), 0u);
  EXPECT_EQ(goldcrest_image_begin(&image, sound.get(), memory.data(), bytes), GOLDCREST_ERROR_UNSUPPORTED);
  const uint64_t needed = goldcrest_image_bytes(&image, engine.get());
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.data(), needed - 1), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), reinterpret_cast<uint8_t*>(memory.data()) + 1, bytes),
      GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_image_begin(&image, engine.get(), memory.data(), needed), GOLDCREST_OK);
  const TestEngine small(file.span(), {.limits = {.max_source_tokens = 9}});
  EXPECT_EQ(goldcrest_image_begin(&image, small.get(), memory.data(), bytes), GOLDCREST_ERROR_TOO_LONG);
}
}  // namespace
}  // namespace goldcrest::test
