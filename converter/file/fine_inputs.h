// SPDX-License-Identifier: Apache-2.0
// --fine: the linear layers of an int8 file whose inputs have 16 bits (FORMAT.md, "Rotary positions and fine inputs").
// The weights stay the same, so a payload can change its choice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goldcrest::format {
struct LinearT;
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest::converter {

// A matrix of the file that can have fine inputs.
struct FineSite {
  std::string name;         // "encoder.layers.0.feed_forward.out", "encoder.convolutions.2", "projection"
  bool reads_source;        // its rows are those of the source; else of the target
  uint64_t macs;            // multiply-accumulates of one such row
  format::LinearT* linear;  // of the model
};

// Returns the sites in the order of their computation. The model must outlive them.
std::vector<FineSite> fine_sites(format::ModelT& model);

// Gives fine inputs to these sites and to no others. `chosen`: one for each site.
void set_fine_inputs(const std::vector<bool>& chosen, format::ModelT& model);

// Does the same by names of sites, in which * stands for any text; or "none", "all" or "decoder" (all sites but the
// encoder's). Throws Error that names what matches no site, and the sites.
void set_fine_inputs(const std::vector<std::string>& names, format::ModelT& model);

// Returns the work that fine inputs add, as a share of all linear layers' work for a source of `source_rows` and a
// target of `target_rows`.
double added_work(format::ModelT& model, double source_rows, double target_rows);

}  // namespace goldcrest::converter
