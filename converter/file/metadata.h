// SPDX-License-Identifier: Apache-2.0
// The parts of a file's metadata that concern no tensor: limits, defaults of the search, origin of the model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include "goldcrest/goldcrest.h"
#include "spec/spec.h"

namespace goldcrest::format {
struct GenerationT;
struct LimitsT;
struct ModelT;
struct ProvenanceT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
// Returns the limits with every zero replaced:
//   max_source_tokens  the encoder's positions
//   max_source_bytes   8 for each source token; 0 without a tokenizer
//   max_target_tokens  the checkpoint's, else the decoder's positions
//   beam_size          the checkpoint's
//   batch, n_best      1
//   encoder_rows       32, or max_source_tokens if that is less
//   max_prefix_tokens  the model's, usually 0
//   max_candidates     2,048, or the target's vocabulary if that is less. With only a lexicon: enough for
//                      all hypotheses, but no more than this. Else 0
// Throws Error naming a limit that the model or the engine does not support.
goldcrest_limits resolve_limits(const ModelSpec& spec, const goldcrest_limits& limits);

// Throws Error naming a limit that no model can have; zeros are accepted.
void check_bounds(const goldcrest_limits& limits);

// Does the same for a model file. A zero gets the file's own limit; bytes and rows shrink if fewer source tokens are
// requested. Remaining zeros get the engine's default. The engine checks the result.
goldcrest_limits resolve_limits(const goldcrest_info& file, const goldcrest_limits& limits);

// `limits` must be resolved.
std::unique_ptr<format::LimitsT> make_limits(const goldcrest_limits& limits);

// Returns the checkpoint's search, kept within the resolved limits.
std::unique_ptr<format::GenerationT> make_generation(const GenerationSpec& spec, const goldcrest_limits& limits);

// Sets limits, search and languages, and the features that they need. `limits` must be resolved.
void set_search(const ModelSpec& spec, const goldcrest_limits& limits, format::ModelT& metadata);

// A license or attribution given here replaces the checkpoint's.
std::unique_ptr<format::ProvenanceT> make_provenance(
    const ModelSpec& spec, const std::optional<std::string>& license, const std::optional<std::string>& attribution);
}  // namespace goldcrest::converter
