// SPDX-License-Identifier: Apache-2.0
#include "report/work.h"

#include "base/align.h"
#include "file/format.h"
#include "model/blocks.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

uint64_t products(const format::LinearT& linear) { return uint64_t{pad16(linear.n)} * pad16(linear.k); }

// Products of queries with keys, and of weights with values, in all layers.
// The convolutions' products for one row of the encoder. Earlier convolutions have more rows.
uint64_t stem(const format::StackT& stack) {
  uint64_t sum = 0, rows = 1;
  if (stack.frontend == nullptr) return sum;
  for (size_t i = stack.frontend->convolutions.size(); i-- > 0;) {
    const format::ConvolutionT& convolution = *stack.frontend->convolutions[i];
    sum += rows * products(*convolution.linear) * (convolution.linear->fine_input ? 2 : 1);
    rows *= convolution.stride;
  }
  return sum;
}

uint64_t attention(const format::StackT& stack) {
  return uint64_t{2} * stack.layers.size() * stack.n_heads * stack.d_head;
}

}  // namespace

Work work_of(const format::ModelT& model) {
  Work work;
  for_each_linear(*model.encoder,
                  [&](const MatrixEntry&, const format::LinearT& linear) { work.source_position += products(linear); });
  work.source_position += stem(*model.encoder);
  for_each_linear(*model.decoder, [&](const MatrixEntry& entry, const format::LinearT& linear) {
    (entry.reads_source() ? work.source_position : work.token) += products(linear);
  });
  work.token += products(*model.projection);
  work.token_per_position = attention(*model.decoder);
  work.source_per_position = attention(*model.encoder);
  return work;
}

std::string work_text(const Work& work) {
  return format_text(
      "a token      {} multiply-accumulates, and {} for each position that it attends to (greedy)\n"
      "the source   {} for each of its positions, and {} for each pair of them\n",
      work.token, work.token_per_position, work.source_position, work.source_per_position);
}

}  // namespace goldcrest::converter
