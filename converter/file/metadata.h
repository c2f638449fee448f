// SPDX-License-Identifier: Apache-2.0
// The parts of a file's metadata that name no tensor: limits, defaults of the search, where the model came from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "goldcrest/goldcrest.h"
#include "spec/spec.h"

namespace goldcrest::format {
struct GenerationT;
struct LimitsT;
struct ProvenanceT;
}  // namespace goldcrest::format

namespace goldcrest::converter {

// The limits with every zero filled in:
//   max_source_tokens  the encoder's positions
//   max_source_bytes   8 for each source token; 0 without a tokenizer
//   max_target_tokens  the checkpoint's, else the decoder's positions
//   beam_size          the checkpoint's
//   batch, n_best      1
//   encoder_rows       32, or max_source_tokens when that is less
//   max_candidates     2,048, or the target's vocabulary when that is less; 0 without a shortlist
// Throws Error naming the limit that is beyond what the model or the engine can do.
goldcrest_limits resolve_limits(const ModelSpec& spec, const goldcrest_limits& limits);

// Throws Error naming a limit that no model can have; zeros are the defaults.
void check_bounds(const goldcrest_limits& limits);

// The same limits for a model file: its own where `limits` has zeros, less bytes or rows where fewer source tokens are
// wanted; what is left at zero has the engine's default. The engine checks them.
goldcrest_limits resolve_limits(const goldcrest_info& file, const goldcrest_limits& limits);

// `limits` are resolved.
std::unique_ptr<format::LimitsT> make_limits(const goldcrest_limits& limits);

// The checkpoint's search, kept within the resolved limits.
std::unique_ptr<format::GenerationT> make_generation(const GenerationSpec& spec, const goldcrest_limits& limits);

// A license or attribution given here replaces the checkpoint's.
std::unique_ptr<format::ProvenanceT> make_provenance(const ModelSpec& spec, const std::optional<std::string>& license,
                                                     const std::optional<std::string>& attribution);

}  // namespace goldcrest::converter
