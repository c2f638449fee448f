// SPDX-License-Identifier: Apache-2.0
#include "model/frontend_view.h"

// clang-format off
#include "model_generated.h"
#include "model/resolver.h"
// clang-format on

namespace goldcrest {

namespace {

[[gnu::cold]] ConvolutionView view_convolution(const Resolver& resolver, const format::Convolution& table,
                                               uint32_t width) {
  ConvolutionView view = {};
  view.linear = resolver.linear(*table.linear());
  view.whole_norm = resolver.norm(table.whole_norm());
  view.n_outputs = table.linear()->n();
  view.width = width;
  view.kernel = table.kernel();
  view.stride = table.stride();
  view.padding = table.padding();
  view.has_tanh = table.activation() == format::Activation::Tanh;
  view.activation = view.has_tanh ? Activation::kNone : static_cast<Activation>(table.activation());
  return view;
}

#ifdef GOLDCREST_LOG_MEL
[[gnu::cold]] void view_log_mel(const Resolver& resolver, const format::Frontend& table, FrontendView& view) {
  const format::LogMel* log_mel = table.log_mel();
  if (log_mel == nullptr) return;
  view.has_log_mel = true;
  view.row_samples = log_mel->hop();
  view.log_mel = {log_mel->n_fft(),
                  log_mel->hop(),
                  log_mel->n_mels(),
                  resolver.parameters + log_mel->window(),
                  resolver.parameters + log_mel->twiddle(),
                  resolver.parameters + log_mel->first(),
                  resolver.parameters + log_mel->count(),
                  resolver.parameters + log_mel->weight()};
}
#else
void view_log_mel(const Resolver&, const format::Frontend&, FrontendView&) {}
#endif

}  // namespace

[[gnu::cold]] FrontendView view_frontend(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const Resolver resolver(root);
  const format::Frontend& table = *root.encoder()->frontend();
  FrontendView view = {};
  view.n_convolutions = table.convolutions()->size();
  view.sample_rate = table.input() == format::FrontendInput::Samples ? table.sample_rate() : 0;
  view.channels = table.channels();
  view.row_samples = 1;
  view.fixed_window = table.fixed_window();
  view_log_mel(resolver, table, view);
  uint32_t width = view.sample_rate != 0 && !view.has_log_mel ? 1 : pad16(table.channels());
  view.first_row = view.row_stride = 1;
  for (uint32_t i = 0; i < view.n_convolutions; ++i) {
    ConvolutionView& convolution = view.convolutions[i];
    convolution = view_convolution(resolver, *table.convolutions()->Get(i), width);
    width = convolution.linear.n;
    view.first_row += (convolution.kernel - 1 - 2 * convolution.padding) * view.row_stride;
    view.row_stride *= convolution.stride;
  }
  return view;
}

}  // namespace goldcrest
