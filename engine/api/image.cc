// SPDX-License-Identifier: Apache-2.0
// Images become rows of patches. They are resized as Pillow 12 does (src/libImaging/Resample.c): columns first, then
// rows, with weights of 22 bits, and 8 bits between the two.
#include "base/exact_floats.h"
#include "goldcrest/image.h"
#include <string.h>
#include "api/engine.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "model/frontend_view.h"

using namespace goldcrest;

namespace {
constexpr int kWeightBits = 22;

// Inputs that follow one another.
struct Window {
  uint32_t first, n;
};

// One direction of a resize, in doubles of which every machine rounds each operation alike.
struct Axis {
  uint32_t in, out;
  bool cubic;

  double scale() const { return static_cast<double>(in) / out; }
  double width() const { return larger(scale(), 1.0); }  // the curve's, in inputs
  double reach() const { return cubic ? 2.0 * width() : width(); }
  double middle(uint32_t at) const { return (at + 0.5) * scale(); }

  // Returns the most inputs of an output.
  uint32_t most() const {
    const auto whole = static_cast<uint32_t>(reach());
    return 2 * (whole + (whole < reach() ? 1 : 0)) + 1;
  }

  Window window(uint32_t at) const {
    const auto first = static_cast<uint32_t>(larger(middle(at) - reach() + 0.5, 0.0));
    const auto end = static_cast<uint32_t>(smaller(middle(at) + reach() + 0.5, static_cast<double>(in)));
    return {first, end - first};
  }

  // Keys' cubic with a = -1/2 (1981), or a triangle.
  double curve(uint32_t input, uint32_t at) const {
    const double distance = (input - middle(at) + 0.5) * (1.0 / width()), x = distance < 0 ? -distance : distance;
    if (!cubic) return x < 1 ? 1 - x : 0;
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
  }

  // weights [most()] <- those of an output's inputs.
  Window weigh(uint32_t at, int32_t* weights) const {
    const Window inputs = window(at);
    double sum = 0;
    for (uint32_t i = 0; i < inputs.n; ++i) sum += curve(inputs.first + i, at);
    for (uint32_t i = 0; i < inputs.n; ++i) {
      const double weight = curve(inputs.first + i, at) / sum * (1 << kWeightBits);
      weights[i] = static_cast<int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    return inputs;
  }
};

uint8_t rounded(int32_t sum) {
  return static_cast<uint8_t>(smaller<int32_t>(larger<int32_t>((sum >> (kWeightBits - 1)) + 1, 0) >> 1, 255));
}

// An image that is being read, and the places of the parts of its memory, in bytes.
struct Resize {
  Resize(const goldcrest_image& of, const ImageView& settings)
      : image(of),
        view(settings),
        columns{of.width, settings.resized_width, settings.cubic != 0},
        rows{of.height, settings.resized_height, settings.cubic != 0},
        top((settings.resized_height - settings.height) / 2),
        values(settings.width * of.colours) {
    windows = sizeof(float) * of.n * of.channels;
    weights = windows + sizeof(Window) * view.width;
    row_weights = weights + uint64_t{sizeof(int32_t)} * columns.most() * view.width;
    ring = row_weights + uint64_t{sizeof(int32_t)} * rows.most();
    line = ring + uint64_t{rows.most()} * values;
    end = line + uint64_t{of.width} * of.colours;
  }

  template <typename T> T* at(uint64_t place) const {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(image.features) + place);
  }

  void weigh_columns() const {
    const uint32_t left = (view.resized_width - view.width) / 2, most = columns.most();
    for (uint32_t x = 0; x < view.width; ++x)
      at<Window>(windows)[x] = columns.weigh(left + x, at<int32_t>(weights) + size_t{x} * most);
  }

  // line <- the colours of pixels: blended with white, or their luma (ITU-R BT.601).
  void load(const uint8_t* pixels) const {
    const uint32_t step = image.format == GOLDCREST_GREY ? 1 : image.format == GOLDCREST_RGBA ? 4 : 3;
    uint8_t* out = at<uint8_t>(line);
    for (uint32_t x = 0; x < image.width; ++x, pixels += step, out += image.colours) {
      uint32_t rgb[3];
      for (uint32_t c = 0; c < 3; ++c) {
        rgb[c] = pixels[step == 1 ? 0 : image.format == GOLDCREST_BGR ? 2 - c : c];
        if (step == 4) rgb[c] = (255 * (255u - pixels[3]) + rgb[c] * pixels[3] + 127) / 255;
      }
      if (image.colours == 1) rgb[0] = (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 32768) >> 16;
      for (uint32_t c = 0; c < image.colours; ++c) out[c] = static_cast<uint8_t>(rgb[c]);
    }
  }

  // The ring's row of next_in <- the columns of the line.
  void resize_line() const {
    const uint32_t most = columns.most();
    uint8_t* const out = at<uint8_t>(ring) + size_t{image.next_in % rows.most()} * values;
    for (uint32_t i = 0; i < values; ++i) {
      const uint32_t x = i / image.colours, c = i % image.colours;
      const Window inputs = at<Window>(windows)[x];
      const int32_t* const weight = at<int32_t>(weights) + size_t{x} * most;
      const uint8_t* const in = at<uint8_t>(line) + size_t{inputs.first} * image.colours + c;
      int32_t sum = 0;
      for (uint32_t t = 0; t < inputs.n; ++t) sum += weight[t] * in[size_t{t} * image.colours];
      out[i] = rounded(sum);
    }
  }

  // Writes a row of the resized image to the patches that it crosses.
  void write_row(uint32_t y) const {
    const int32_t* const weight = at<int32_t>(row_weights);
    const Window inputs = rows.weigh(top + y, at<int32_t>(row_weights));
    const uint32_t most = rows.most(), first = static_cast<uint32_t>(image.n) - view.patches() +
                                               y / view.patch_height * (view.width / view.patch_width);
    for (uint32_t i = 0; i < values; ++i) {
      const uint32_t x = i / image.colours, c = i % image.colours;
      int32_t sum = 0;
      for (uint32_t t = 0, slot = inputs.first % most; t < inputs.n; ++t, slot = slot + 1 == most ? 0 : slot + 1)
        sum += weight[t] * at<uint8_t>(ring)[size_t{slot} * values + i];
      const uint32_t place = (c * view.patch_height + y % view.patch_height) * view.patch_width + x % view.patch_width;
      image.features[size_t{first + x / view.patch_width} * image.channels + place] =
          rounded(sum) * view.scale[c] + view.offset[c];
    }
  }

  const goldcrest_image& image;
  const ImageView& view;
  const Axis columns, rows;
  const uint32_t top, values;  // values of a row of the resized image
  uint64_t windows, weights, row_weights, ring, line, end;
};

// Fills in what the model tells. Returns null if it takes no images, or none of this size.
const ImageView* settings_of(const goldcrest_engine& engine, goldcrest_image& image) {
  const ImageView* const view = view_image(engine.runtime.model.file);
  const bool is_good = image.width - 1 < kMaxPictureSide && image.height - 1 < kMaxPictureSide &&
                       uint64_t{image.width} * image.height < kMaxPicturePixels && image.format <= GOLDCREST_RGBA;
  if (view == nullptr || !is_good) return nullptr;
  image.settings = view;
  image.channels = view_frontend(engine.runtime.model.file).channels;
  image.colours = image.channels / (view->patch_height * view->patch_width);
  image.n = engine.runtime.model.encoder.max_positions;
  return view;
}
}  // namespace

uint64_t goldcrest_image_bytes(const goldcrest_image* image, const goldcrest_engine* engine) {
  if (image == nullptr || !usable(engine)) return 0;
  goldcrest_image whole = *image;
  const ImageView* const view = settings_of(*engine, whole);
  return view != nullptr ? Resize(whole, *view).end : 0;
}

int goldcrest_image_begin(goldcrest_image* image, const goldcrest_engine* engine, void* memory, size_t bytes) {
  if (image == nullptr || !usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const ImageView* const view = settings_of(*engine, *image);
  GOLDCREST_REQUIRE(view != nullptr, GOLDCREST_ERROR_UNSUPPORTED, "image: size, format, or the model takes none", -1);
  const bool is_aligned = memory != nullptr && reinterpret_cast<uintptr_t>(memory) % alignof(float) == 0;
  GOLDCREST_REQUIRE(is_aligned && bytes >= Resize(*image, *view).end, GOLDCREST_ERROR_ARGUMENT,
      "image: memory below goldcrest_image_bytes, or misaligned", -1);
  GOLDCREST_REQUIRE(image->n <= engine->runtime.limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG,
      "image: more rows than limits.max_source_tokens", static_cast<int32_t>(image->n));
  image->features = static_cast<float*>(memory);
  image->next_in = image->next_out = 0;
  memset(memory, 0, sizeof(float) * image->n * image->channels);
  Resize(*image, *view).weigh_columns();
  return GOLDCREST_OK;
}

int goldcrest_image_row(goldcrest_image* image, const uint8_t* pixels) {
  if (image == nullptr || pixels == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  if (image->features == nullptr || image->next_in == image->height) return GOLDCREST_ERROR_STATE;
  const Resize resize(*image, *static_cast<const ImageView*>(image->settings));
  resize.load(pixels);
  resize.resize_line();
  ++image->next_in;
  for (; image->next_out < resize.view.height; ++image->next_out) {
    const Window inputs = resize.rows.window(resize.top + image->next_out);
    if (inputs.first + inputs.n > image->next_in) break;
    resize.write_row(image->next_out);
  }
  return GOLDCREST_OK;
}
