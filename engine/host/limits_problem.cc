// SPDX-License-Identifier: Apache-2.0
#include "host/limits_problem.h"

#include <cstdint>

#include "goldcrest/inspection.h"

namespace goldcrest {
namespace {

struct Bound {
  const char* option;
  uint32_t given, most;  // given: 0 if the option is absent
  const char* reason;
};

std::string no_use(const char* option, uint32_t given, const char* reason) {
  return std::string(option) + " is " + std::to_string(given) + ", but " + reason + "; leave it out";
}

}  // namespace

std::string limits_problem(const goldcrest_info& info, const goldcrest_limits& limits) {
  const bool has_candidates = info.limits.max_candidates != 0 || info.limits.lexicon != 0 || limits.lexicon != 0;
  if (limits.max_source_bytes != 0 && !info.has_tokenizer)
    return no_use("--max-source-bytes", limits.max_source_bytes, "the model has no tokenizer");
  if (limits.max_candidates != 0 && limits.max_candidates != GOLDCREST_NO_SHORTLIST && !has_candidates)
    return no_use("--max-candidates", limits.max_candidates, "the model has neither a shortlist nor a lexicon");
  const uint32_t layers = limits.alignment_layers == GOLDCREST_ALL_LAYERS ? 0 : limits.alignment_layers;
  const uint32_t beam_size = limits.beam_size == 0 ? info.limits.beam_size : limits.beam_size;
  const Bound bounds[] = {
      {"--max-source", limits.max_source_tokens, info.max_source_positions, "the model's source positions"},
      {"--max-target", limits.max_target_tokens, info.max_target_positions, "the model's target positions"},
      {"--max-source-bytes", limits.max_source_bytes, 1u << 24, "the format's bound"},
      {"--beam-size", limits.beam_size, 16, "the engine's bound"},
      {"--batch", limits.batch, 256, "the engine's bound"},
      {"--n-best", limits.n_best, beam_size, "the beam size"},
      {"--encoder-rows", limits.encoder_rows, 1024, "the engine's bound"},
      {"--max-prefix", limits.max_prefix_tokens,
       (limits.max_target_tokens == 0 ? info.limits.max_target_tokens : limits.max_target_tokens) - 1,
       "one less than the target tokens"},
      {"--inspection", limits.inspection, GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS, "its bits"},
      {"--alignment-layers", layers, info.decoder_layers < 32 ? (1u << info.decoder_layers) - 1 : UINT32_MAX,
       "a bit for each of the decoder's layers"},
  };
  for (const auto& [option, given, most, reason] : bounds) {
    if (given > most)
      return std::string(option) + " is " + std::to_string(given) + "; expected 1 to " + std::to_string(most) + ", " +
             reason;
  }
  return "";
}

std::string cut_problem(const goldcrest_info& info, const goldcrest_limits& limits, uint32_t n) {
  const std::string found = "cut at " + std::to_string(n) + " tokens; ";
  if (n < limits.max_target_tokens)
    return found + (info.sample_rate != 0 ? "speech is rarely so fast; if it is, convert the model with a higher "
                                            "--ids-per-second"
                                          : "raise --max-length-factor or --max-extra");
  if (n < info.max_target_positions)
    return found + "raise --max-target, up to " + std::to_string(info.max_target_positions);
  return found + "the model writes no more, so give it less at once";
}

}  // namespace goldcrest
