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

// The inputs of an output, which follow one another, and their weights.
struct Weighted {
  uint32_t first, n;
  int32_t weights[1];  // [Axis::most]
};

// One direction of a resize, in doubles of which every machine rounds each operation alike.
struct Axis {
  Axis(uint32_t inputs, uint32_t outputs, bool is_cubic)
      : in(inputs), cubic(is_cubic), scale(static_cast<double>(inputs) / outputs) {
    const double width = larger(scale, 1.0);  // the curve's, in inputs
    inverse = 1.0 / width;
    reach = cubic ? 2.0 * width : width;
    const auto whole = static_cast<uint32_t>(reach);
    most = 2 * (whole + (whole < reach ? 1 : 0)) + 1;
    bytes = sizeof(uint32_t) * (2 + most);
  }

  uint32_t in;
  bool cubic;
  uint32_t most, bytes;  // inputs of an output at most, and bytes of its Weighted
  double scale, inverse, reach;

  // Keys' cubic with a = -1/2 (1981), or a triangle.
  double curve(double distance) const {
    const double x = (distance < 0 ? -distance : distance) * inverse;
    if (!cubic) return x < 1 ? 1 - x : 0;
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
  }

  void weigh(uint32_t at, Weighted* out) const {
    const double middle = (at + 0.5) * scale;
    const auto first = static_cast<uint32_t>(larger(middle - reach + 0.5, 0.0));
    const auto end = static_cast<uint32_t>(smaller(middle + reach + 0.5, static_cast<double>(in)));
    out->first = first;
    out->n = end - first;
    double sum = 0;
    for (uint32_t i = first; i < end; ++i) sum += curve(i - middle + 0.5);
    for (uint32_t i = first; i < end; ++i) {
      const double weight = curve(i - middle + 0.5) / sum * (1 << kWeightBits);
      out->weights[i - first] = static_cast<int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
};

// Returns an output. Its inputs are `step` bytes apart in a ring of `n_ring`.
uint8_t blend(const Weighted& inputs, const uint8_t* ring, uint32_t step, uint32_t n_ring) {
  int32_t sum = 0;
  for (uint32_t t = 0, slot = inputs.first % n_ring; t < inputs.n; ++t, slot = slot + 1 == n_ring ? 0 : slot + 1)
    sum += inputs.weights[t] * ring[size_t{slot} * step];
  return static_cast<uint8_t>(smaller<int32_t>(larger<int32_t>((sum >> (kWeightBits - 1)) + 1, 0) >> 1, 255));
}

// An image that is being read, and the places of the parts of its memory, in bytes.
struct Resize {
  Resize(const goldcrest_image& of, const ImageView& settings)
      : image(of),
        view(settings),
        columns(of.width, settings.resized_width, settings.cubic != 0),
        rows(of.height, settings.resized_height, settings.cubic != 0),
        values(settings.width * of.colours) {
    row_weights = sizeof(float) * of.n * of.channels;
    weights = row_weights + rows.bytes;
    ring = weights + uint64_t{columns.bytes} * view.width;
    line = ring + uint64_t{rows.most} * values;
    end = line + uint64_t{of.width} * of.colours;
  }

  template <typename T> T* at(uint64_t place) const {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(image.features) + place);
  }

  Weighted* column(uint32_t x) const { return at<Weighted>(weights + uint64_t{columns.bytes} * x); }

  void weigh_columns() const {
    for (uint32_t x = 0; x < view.width; ++x) columns.weigh((view.resized_width - view.width) / 2 + x, column(x));
  }

  // line <- the colours of pixels: blended with white, or their luma (ITU-R BT.601).
  void load(const uint8_t* pixels) const {
    const uint32_t step = image.format == GOLDCREST_GREY ? 1 : image.format == GOLDCREST_RGBA ? 4 : 3;
    uint8_t* out = at<uint8_t>(line);
    for (uint32_t x = 0; x < image.width; ++x, pixels += step, out += image.colours) {
      const uint32_t alpha = step == 4 ? pixels[3] : 255;
      uint32_t rgb[3];
      for (uint32_t c = 0; c < 3; ++c) {
        const uint32_t value = pixels[step == 1 ? 0 : image.format == GOLDCREST_BGR ? 2 - c : c];
        rgb[c] = (255 * (255 - alpha) + value * alpha + 127) / 255;
      }
      if (image.colours == 1) rgb[0] = (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 32768) >> 16;
      for (uint32_t c = 0; c < image.colours; ++c) out[c] = static_cast<uint8_t>(rgb[c]);
    }
  }

  // The ring's row of next_in <- the columns of the line.
  void resize_line() const {
    uint8_t* const out = at<uint8_t>(ring) + size_t{image.next_in % rows.most} * values;
    for (uint32_t i = 0; i < values; ++i)
      out[i] = blend(*column(i / image.colours), at<uint8_t>(line) + i % image.colours, image.colours, columns.in);
  }

  // Writes a row of the resized image to the patches that it crosses. Returns false if it needs more rows of pixels.
  bool write_row(uint32_t y) const {
    Weighted* const inputs = at<Weighted>(row_weights);
    rows.weigh((view.resized_height - view.height) / 2 + y, inputs);
    if (inputs->first + inputs->n > image.next_in) return false;
    const uint32_t first =
        static_cast<uint32_t>(image.n) - view.patches() + y / view.patch_height * (view.width / view.patch_width);
    for (uint32_t i = 0; i < values; ++i) {
      const uint32_t x = i / image.colours, c = i % image.colours;
      const uint32_t place = (c * view.patch_height + y % view.patch_height) * view.patch_width + x % view.patch_width;
      image.features[size_t{first + x / view.patch_width} * image.channels + place] =
          blend(*inputs, at<uint8_t>(ring) + i, values, rows.most) * view.scale[c] + view.offset[c];
    }
    return true;
  }

  const goldcrest_image& image;
  const ImageView& view;
  const Axis columns, rows;
  const uint32_t values;  // a row of the resized image has this many
  uint64_t row_weights, weights, ring, line, end;
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
  const Resize resize(*image, *view);
  GOLDCREST_REQUIRE(is_aligned && bytes >= resize.end, GOLDCREST_ERROR_ARGUMENT,
      "image: memory below goldcrest_image_bytes, or misaligned", -1);
  GOLDCREST_REQUIRE(image->n <= engine->runtime.limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG,
      "image: more rows than limits.max_source_tokens", static_cast<int32_t>(image->n));
  image->features = static_cast<float*>(memory);
  image->next_in = image->next_out = 0;
  memset(memory, 0, sizeof(float) * image->n * image->channels);
  resize.weigh_columns();
  return GOLDCREST_OK;
}

int goldcrest_image_row(goldcrest_image* image, const uint8_t* pixels) {
  if (image == nullptr || pixels == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  if (image->features == nullptr || image->next_in == image->height) return GOLDCREST_ERROR_STATE;
  const Resize resize(*image, *static_cast<const ImageView*>(image->settings));
  resize.load(pixels);
  resize.resize_line();
  ++image->next_in;
  while (image->next_out < resize.view.height && resize.write_row(image->next_out)) ++image->next_out;
  return GOLDCREST_OK;
}
