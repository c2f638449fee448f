// SPDX-License-Identifier: Apache-2.0
#include "file/fine_inputs.h"

#include <algorithm>
#include <string_view>

#include "base/align.h"
#include "file/format.h"
#include "model/blocks.h"
#include "spec/error.h"
#include "spec/printable.h"

namespace goldcrest::converter {
namespace {

uint64_t padded_size(const format::LinearT& linear) { return uint64_t{pad16(linear.n)} * pad16(linear.k); }

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
    for_each_block(
        [&](auto block, auto& of_layer) {
          if (of_layer == nullptr) return;
          block.for_each_matrix(
              [&](const MatrixEntry& entry, auto& linear) {
                constexpr std::string_view kPrefix = "layers.";
                sites.push_back({format_text("{}.layers.{}.{}", name, i, entry.name + kPrefix.size()),
                                 is_encoder || entry.reads_source(), padded_size(*linear), linear.get()});
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

// Returns the names in one line, those of equal layers once: "encoder.layers.*.feed_forward.in".
std::string describe_sites(const std::vector<FineSite>& sites) {
  std::vector<std::string> names;
  for (const FineSite& site : sites) {
    std::string name = site.name;
    const size_t digit = name.find_first_of("0123456789");
    if (digit != std::string::npos) name.replace(digit, name.find('.', digit + 1) - digit, 1, '*');
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return join_text(names, ", ");
}

}  // namespace

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

void set_fine_inputs(const std::vector<std::string>& names, format::ModelT& model) {
  const std::vector<FineSite> sites = fine_sites(model);
  std::vector<bool> chosen(sites.size());
  for (const std::string& name : names) {
    bool found = name == "none" && names.size() == 1;
    for (size_t i = 0; i < sites.size(); ++i) {
      const bool is_meant =
          name == "all" || (name == "decoder" ? !sites[i].name.starts_with("encoder.") : matches(name, sites[i].name));
      if (is_meant) chosen[i] = found = true;
    }
    if (!found)
      throw Error("--fine: '{}' is no matrix of this model; expected none, all, decoder, auto, or some of {}",
                  printable(name), describe_sites(sites));
  }
  set_fine_inputs(chosen, model);
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
