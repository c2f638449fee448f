// SPDX-License-Identifier: Apache-2.0
#include "report/work.h"
#include "base/align.h"
#include "file/format.h"
#include "model/blocks.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
// Fine inputs are two products, as are two matrices.
uint64_t products(const format::LinearT& linear) {
  return uint64_t{pad16(linear.n)} * pad16(linear.k) * (linear.fine_input ? 2 : 1) * (linear.refined ? 2 : 1);
}

// The convolutions' products for one row of the encoder. Earlier convolutions have more rows.
uint64_t stem(const format::StackT& stack) {
  uint64_t sum = 0, rows = 1;
  if (stack.frontend == nullptr) return sum;
  for (size_t i = stack.frontend->convolutions.size(); i-- > 0;) {
    const format::ConvolutionT& convolution = *stack.frontend->convolutions[i];
    sum += rows * products(*convolution.linear);
    rows *= convolution.stride;
  }
  return sum;
}

// Products of queries with keys, and of weights with values, in all layers.
uint64_t attention(const format::StackT& stack) {
  return uint64_t{2} * stack.layers.size() * stack.n_heads * stack.d_head;
}

// The speed of one row's products with packed weights, as times that with int8. Microcontrollers: memory is flash
// outside of the chip, a cache any memory on it; both by instructions and bytes. x86 is measured, Pis are modelled.
struct PackedPrice {
  const char* processor;
  double from_memory, from_cache;
};
constexpr PackedPrice kPackedPrices[] = {{"x86, AVX2", 2.2, 1.25}, {"x86, VNNI", 1.85, 1.4},
    {"Raspberry Pi 3", 1.55, 1.1}, {"Raspberry Pi 4", 1.7, 0.9}, {"Raspberry Pi 5", 1.9, 0.4},
    {"Cortex-M7", 1.35, 0.84}, {"Cortex-M55", 1.48, 0.5}};

std::string price_text(const Packed& packed, double speed) {
  const double of_token = 1 / (1 - packed.token_share + packed.token_share / speed);
  return format_text("{}{:.2f}x", of_token < 0.98 ? "slower, " : "", of_token);
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
  if (model.decoder->head) work.token += products(*model.decoder->head);
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

std::string accuracy_text(const FineInputs& fine) {
  return format_text(
      "accuracy     --accuracy near rounds inputs 256 times finer for up to 2 times the products; exact also weights, "
      "keys and values, for up to 4 times and {} bytes more\n",
      fine.exact_bytes);
}

std::string to_text(const FineInputs& fine) {
  const size_t n = fine.matrices.size();
  std::string text;
  if (n > 0 || !fine.ranking.empty())
    text += format_text("fine inputs  {} {}, {:.1f} % more work in linear layers (--accuracy)\n", n,
        n == 1 ? "matrix" : "matrices", 100 * fine.more_work);
  const Refined& refined = fine.refined;
  if (const size_t n_refined = refined.matrices.size(); n_refined > 0)
    text += format_text("refined      {} {} more, {} bytes, a second product of each\n", n_refined,
        n_refined == 1 ? "matrix" : "matrices", refined.bytes);
  if (!refined.attention.empty())
    text += format_text("attention    queries, keys and values have 16 bits: {}\n", join_text(refined.attention, ", "));
  if (refined.integer_weights)
    text +=
        "attention    its weights are integers of 14 bits; engines without them refuse the file (--attention float)\n";
  if (fine.packed.bytes > 0) {
    text += format_text(
        "packed       {} of {} matrices and tables have weights of 4 bits: {} bytes, in int8 {}; engines without them "
        "refuse the file\n"
        "             a token's products over int8's speed; sources and batches are slower, but not with AVX2\n",
        fine.packed.names.size(), fine.packed.n_all, fine.packed.bytes, fine.packed.int8_bytes);
    text += format_text("{:>51}{:>24}\n", "weights from memory", "from a cache, the chip");
    for (const PackedPrice& price : kPackedPrices)
      text += format_text("             {:16}{:>22}{:>24}\n", price.processor,
          price_text(fine.packed, price.from_memory), price_text(fine.packed, price.from_cache));
  }
  if (fine.packed_choice)
    text += format_text("             chosen on {} lines: KL rises by {:.3f} over int8's {:.3f}, at most {}\n",
        fine.packed_choice->n_lines, fine.packed_choice->rise, fine.packed_choice->of_int8, fine.packed_choice->bound);
  if (fine.identical_in_int8) text += format_text("             {} lines identical in int8\n", *fine.identical_in_int8);
  if (fine.identical_before)
    text += format_text("             {} lines identical without them\n", *fine.identical_before);
  if (fine.ranking.empty()) return text;
  text += format_text("             ranked on {} lines of {} tokens\n{:44} {:>10} {:>12}\n", fine.n_lines,
      fine.n_tokens, "matrix", "gain, %", "more work, %");
  for (const RankedMatrix& matrix : fine.ranking)
    text += format_text("{:44} {:>10.1f} {:>12.2f}{}\n", matrix.name, 100 * matrix.gain, 100 * matrix.more_work,
        matrix.chosen ? "  chosen" : "");
  return text;
}

Value to_json(const FineInputs& fine) {
  Value json = {{"matrices", fine.matrices}, {"more_work", fine.more_work}};
  if (!fine.refined.matrices.empty()) json["second_matrices"] = fine.refined.matrices;
  if (!fine.refined.matrices.empty()) json["second_bytes"] = fine.refined.bytes;
  if (!fine.refined.attention.empty()) json["fine_attention"] = fine.refined.attention;
  if (fine.refined.integer_weights) json["integer_attention"] = true;
  if (fine.packed.bytes > 0)
    json["packed"] = {
        {"matrices", fine.packed.names}, {"bytes", fine.packed.bytes}, {"int8_bytes", fine.packed.int8_bytes}};
  if (fine.packed_choice) json["packed"]["rise"] = fine.packed_choice->rise;
  if (fine.identical_in_int8) json["identical_in_int8"] = *fine.identical_in_int8;
  if (fine.identical_before) json["identical_before"] = *fine.identical_before;
  if (fine.ranking.empty()) return json;
  json["lines"] = fine.n_lines;
  json["tokens"] = fine.n_tokens;
  for (const RankedMatrix& matrix : fine.ranking)
    json["ranking"].push_back(
        {{"name", matrix.name}, {"gain", matrix.gain}, {"more_work", matrix.more_work}, {"chosen", matrix.chosen}});
  return json;
}
}  // namespace goldcrest::converter
