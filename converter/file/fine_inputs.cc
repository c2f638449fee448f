// SPDX-License-Identifier: Apache-2.0
#include "file/fine_inputs.h"
#include <algorithm>
#include <string_view>
#include <utility>
#include "base/align.h"
#include "file/format.h"
#include "file/write.h"
#include "host/printable.h"
#include "model/blocks.h"
#include "model/packed.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
uint64_t padded_size(const format::LinearT& linear) {
  return uint64_t{pad16(linear.n)} * pad16(linear.k) * (linear.refined ? 2 : 1);
}

// Earlier convolutions have more rows than the encoder.
void add_stem(format::StackT& stack, std::vector<FineSite>& sites) {
  if (stack.frontend == nullptr) return;
  uint64_t rows = 1;
  const auto first = static_cast<std::ptrdiff_t>(sites.size());
  for (size_t i = stack.frontend->convolutions.size(); i-- > 0;) {
    format::ConvolutionT& convolution = *stack.frontend->convolutions[i];
    sites.insert(sites.begin() + first, {format_text("encoder.convolutions.{}", i), true,
                                            rows * padded_size(*convolution.linear), convolution.linear.get()});
    rows *= convolution.stride;
  }
}

void add_layers(const char* name, format::StackT& stack, bool is_encoder, std::vector<FineSite>& sites) {
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const std::string layer = format_text("{}.layers.{}", name, i);
    for_each_block(
        [&](auto block, auto& of_layer) {
          if (of_layer == nullptr) return;
          block.for_each_matrix(
              [&](const MatrixEntry& entry, auto& linear) {
                sites.push_back({matrix_name(layer, entry), is_encoder || entry.reads_source(), padded_size(*linear),
                    linear.get()});
              },
              *of_layer);
        },
        *stack.layers[i]);
  }
}

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (size_t end = star; end <= name.size(); ++end)
    if (matches(pattern.substr(star + 1), name.substr(end))) return true;
  return false;
}

bool is_of_layer(std::string_view name) { return name.find(".layers.") != name.npos; }

// Returns a matrix's name, which equal layers share: "encoder.layers.*.feed_forward.in".
std::string name_of_equal_layers(std::string name) {
  const size_t digit = name.find_first_of("0123456789");
  if (digit != std::string::npos) name.replace(digit, name.find('.', digit + 1) - digit, 1, '*');
  return name;
}
}  // namespace

std::string matrix_name(const std::string& layer, const MatrixEntry& entry) {
  constexpr std::string_view kPrefix = "layers.";
  return format_text("{}.{}", layer, entry.name + kPrefix.size());
}

MatrixLevels::MatrixLevels(const std::vector<MatrixLevel>& levels, std::string option) : option_(std::move(option)) {
  for (const MatrixLevel& level : levels) levels_.push_back({level, level.name == "keys" || level.name == "all"});
}

uint32_t MatrixLevels::terms_of(const std::string& matrix, bool is_decoder) {
  if (std::string name = name_of_equal_layers(matrix); std::ranges::find(matrices_, name) == matrices_.end())
    matrices_.push_back(std::move(name));
  uint32_t terms = 0;
  for (Found& level : levels_) {
    const bool fits = level.name == "all" || (level.name == "linear"       ? is_of_layer(matrix)
                                                 : level.name == "decoder" ? is_decoder
                                                                           : matches(level.name, matrix));
    if (!fits) continue;
    level.found = true;
    terms = level.terms;
  }
  return terms;
}

bool MatrixLevels::centres_keys() const {
  return std::ranges::any_of(levels_, [](const Found& level) {
    return level.name == "keys" || (level.name == "all" && (level.terms & kFineInput) != 0);
  });
}

void MatrixLevels::check() const {
  for (const Found& level : levels_) {
    if (!level.found)
      throw Error("{}: '{}' is no matrix of this model; expected all, decoder, {}, or some of {}", option_,
          printable(level.name), option_ == "--pack" ? "linear" : "keys", join_text(matrices_, ", "));
  }
}

std::vector<FineSite> fine_sites(format::ModelT& model) {
  std::vector<FineSite> sites;
  add_stem(*model.encoder, sites);
  add_layers("encoder", *model.encoder, true, sites);
  add_layers("decoder", *model.decoder, false, sites);
  sites.push_back({"projection", false, padded_size(*model.projection), model.projection.get()});
  return sites;
}

void set_fine_inputs(const std::vector<bool>& chosen, format::ModelT& model) {
  const std::vector<FineSite> sites = fine_sites(model);
  bool any = false;
  for (size_t i = 0; i < sites.size(); ++i) {
    sites[i].linear->fine_input = chosen[i];
    any = any || chosen[i];
  }
  model.features = any ? model.features | kFeatureRefined : model.features & ~kFeatureRefined;
}

void set_fine_inputs(MatrixLevels& levels, format::ModelT& model) {
  std::vector<bool> chosen;
  for (const FineSite& site : fine_sites(model))
    chosen.push_back((levels.terms_of(site.name, !site.reads_source) & kFineInput) != 0);
  set_fine_inputs(chosen, model);
}

Refined refined_parts(format::ModelT& model, bool all) {
  Refined refined;
  const auto add = [&](const std::string& name, uint64_t rows, uint64_t row_bytes) {
    refined.matrices.push_back(name);
    refined.bytes += rows * row_bytes;
  };
  for (const FineSite& site : fine_sites(model)) {
    const format::LinearT& linear = *site.linear;
    if (linear.refined || all) add(site.name, pad16(linear.n), pad16(linear.k) + sizeof(float) + sizeof(int32_t));
  }
  refined.integer_weights = model.encoder->integer_attention;
  std::vector<uint32_t> counted = {model.projection->weights};
  for (const auto& [name, stack] : {std::pair{"encoder", model.encoder.get()}, {"decoder", model.decoder.get()}}) {
    if (stack->fine_attention || all) refined.attention.emplace_back(name);
    const format::EmbeddingT* table = stack->embedding.get();
    if (table == nullptr || !(table->refined || all)) continue;
    const bool is_counted = std::ranges::find(counted, table->weights) != counted.end();
    add(format_text("{}.embedding", name), is_counted ? 0 : pad16(table->vocab_size),
        pad16(table->d_model) + sizeof(float));
    counted.push_back(table->weights);
  }
  return refined;
}

Packed packed_parts(format::ModelT& model) {
  Packed packed;
  std::vector<uint32_t> counted;  // a table may have several names
  const auto add = [&](const std::string& name, const auto& table, uint32_t rows, uint32_t columns) {
    ++packed.n_all;
    if (!table.packed) return;
    packed.names.push_back(name);
    if (std::ranges::find(counted, table.weights) != counted.end()) return;
    counted.push_back(table.weights);
    packed.bytes += packed_bytes(pad16(rows), columns);
    packed.int8_bytes += uint64_t{pad16(rows)} * pad16(columns);
  };
  double of_token = 0;
  for (const FineSite& site : fine_sites(model)) {
    add(site.name, *site.linear, site.linear->n, site.linear->k);
    const double macs = site.reads_source ? 0 : static_cast<double>(site.macs);
    of_token += macs;
    if (site.linear->packed) packed.token_share += macs;
  }
  packed.token_share /= of_token;
  for (const auto& [name, stack] : {std::pair{"encoder", model.encoder.get()}, {"decoder", model.decoder.get()}})
    if (const format::EmbeddingT* table = stack->embedding.get())
      add(format_text("{}.embedding", name), *table, table->vocab_size, table->d_model);
  return packed;
}

uint64_t bytes_in_int8(const FileImage& image) {
  const std::unique_ptr<format::ModelT> model(format::GetModel(image.bytes())->UnPack());
  const Packed packed = packed_parts(*model);
  return image.size() + packed.int8_bytes - packed.bytes;
}

uint32_t refined_features(format::ModelT& model) {
  const Refined refined = refined_parts(model, false);
  return (packed_parts(model).names.empty() ? 0 : kFeaturePacked) |
         (refined.matrices.empty() ? 0 : kFeatureRefinedWeights) |
         (refined.attention.empty() ? 0 : kFeatureFineAttention);
}

double added_work(format::ModelT& model, double source_rows, double target_rows) {
  double all = 0, added = 0;
  for (const FineSite& site : fine_sites(model)) {
    const double work = static_cast<double>(site.macs) * (site.reads_source ? source_rows : target_rows);
    all += work;
    if (site.linear->fine_input) added += work;
  }
  return added / all;
}
}  // namespace goldcrest::converter
