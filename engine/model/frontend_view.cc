// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "model/frontend_view.h"
#include <string.h>

// clang-format off
#include "schema/model_reader_generated.h"
#include "model/resolver.h"
// clang-format on

namespace goldcrest {
namespace {
[[gnu::noinline]] ConvolutionView view_convolution(
    const Resolver& resolver, const format::Convolution& table, uint32_t width) {
  ConvolutionView view = {};
  view.linear = shared_linear(resolver, *table.linear());
  view.whole_norm = shared_norm(resolver, table.whole_norm());
  view.n_outputs = number_of(table.linear(), format::Linear::VT_N);
  view.width = width;
  view.kernel = number_of(&table, format::Convolution::VT_KERNEL);
  view.stride = number_of(&table, format::Convolution::VT_STRIDE);
  view.padding = number_of(&table, format::Convolution::VT_PADDING);
  const bool is_none = table.activation() == format::Activation::None;
  view.activation = is_none ? Activation::kNone : static_cast<Activation>(table.activation());
  return view;
}

void view_log_mel(const Resolver& resolver, const format::Frontend& table, FrontendView& view) {
  const format::LogMel* log_mel = table.log_mel();
  if (log_mel == nullptr) return;
  // The view has the table's fields in their order.
  uint32_t fields[sizeof(LogMelView) / sizeof(uint32_t)], field = format::LogMel::VT_N_FFT;
  for (uint32_t& number : fields) {
    number = number_of(log_mel, field) + (field < format::LogMel::VT_WINDOW ? 0 : resolver.parameters);
    field += format::LogMel::VT_HOP - format::LogMel::VT_N_FFT;
  }
  memcpy(&view.log_mel, fields, sizeof fields);
  view.has_log_mel = true;
  view.row_samples = view.log_mel.hop;
}
}  // namespace

[[gnu::noinline]] uint32_t number_of(const void* table, uint32_t field) {
  return static_cast<const format::Table*>(table)->number<uint32_t>(static_cast<format::Slot>(field));
}

float view_length_factor(const void* model) {
  const float factor = format::GetModel(model)->generation()->max_length_factor();
  return factor != 0.0f ? factor : __builtin_huge_valf();
}

uint32_t view_voice(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const uint32_t units = has_feature(root.features(), kFeatureVoice) ? root.voice() : 0;
  return units != 0 ? Resolver(root).parameters + units : 0;
}

LinearView view_head(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const format::Linear* const head = root.decoder()->head();
  return head != nullptr ? shared_linear(Resolver(root), *head) : LinearView{};
}

const ImageView* view_image(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const format::Frontend* const frontend = root.encoder()->frontend();
  if (frontend == nullptr || !has_feature(root.features(), kFeatureImage)) return nullptr;
  const auto* const numbers = frontend->image();
  return numbers == nullptr || numbers->size() != sizeof(ImageView) / sizeof(uint32_t)
             ? nullptr
             : reinterpret_cast<const ImageView*>(numbers->data());
}

FrontendView view_frontend(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const Resolver resolver(root);
  const format::Frontend& table = *root.encoder()->frontend();
  FrontendView view = {};
  view.n_convolutions = table.convolutions()->size();
  view.sample_rate = number_of(&table, format::Frontend::VT_SAMPLE_RATE);  // 0 for frames
  view.channels = number_of(&table, format::Frontend::VT_CHANNELS);
  view.row_samples = 1;
  view.fixed_window = table.fixed_window();
  view_log_mel(resolver, table, view);
  uint32_t width = view.sample_rate != 0 && !view.has_log_mel ? 1 : pad16(view.channels);
  view.first_row = view.row_stride = 1;
  for (uint32_t i = 0; i < view.n_convolutions; ++i) {
    ConvolutionView& convolution = view.convolutions[i];
    convolution = view_convolution(resolver, *table.convolutions()->at(i), width);
    width = convolution.linear.n;
    view.first_row += (convolution.kernel - 1 - 2 * convolution.padding) * view.row_stride;
    view.row_stride *= convolution.stride;
  }
  return view;
}
}  // namespace goldcrest
