// SPDX-License-Identifier: Apache-2.0
// The file's own self-test: does this device compute what the converter computed?
#include "base/exact_floats.h"
#include <string.h>
#include "api/engine.h"
#include "base/build_options.h"
#include "goldcrest/speech.h"

using namespace goldcrest;

namespace {
// Returns the number of ids of a result that its length does not count.
uint32_t uncounted_tokens(const goldcrest_engine& engine) {
  return engine.runtime.generation.forced_first_id < 0 ? engine.runtime.generation.n_prompt : 0;
}

// Runs a line with the line's own length as the limit, so that the engine's limit has no effect.
int run_line(goldcrest_engine* engine, const SelfTestView& line, goldcrest_search* search, bool* same) {
  search->max_target_tokens = line.n_target - uncounted_tokens(*engine);
  search->flags = GOLDCREST_SEARCH_HASH_LOGITS | (line.shortlist ? 0 : GOLDCREST_SEARCH_ALL_OUTPUTS);
  GOLDCREST_TRY(goldcrest_set_search(engine, search));
  if (has_frontend(engine->runtime.model)) {
    GOLDCREST_TRY(goldcrest_begin_audio(engine, line.samples, line.n_source));
  } else {
    // ids are below 2^24, so their int32 and uint32 bits are the same
    GOLDCREST_TRY(goldcrest_begin(engine, reinterpret_cast<const int32_t*>(line.source), line.n_source));
  }
  engine->buffers.sentences->language = line.is_forced ? TargetLanguage::forced(line.target[0]) : TargetLanguage();
  GOLDCREST_TRY(goldcrest_run(engine));
  goldcrest_result result;
  GOLDCREST_TRY(goldcrest_get_result(engine, 0, 0, &result));
  *same = result.n_tokens == line.n_target && result.logits_hash == line.hash &&
          memcmp(result.tokens, line.target, line.n_target * sizeof(uint32_t)) == 0;
  return GOLDCREST_OK;
}

// Returns whether the source's candidates fit the limits.
bool has_candidates(const goldcrest_engine& engine) {
  return plans_shortlist(engine.runtime.limits) && engine.buffers.sentences[0].n_candidates != 0;
}

// The lengths of sources that a file with a frontend takes.
struct SourceLengths {
  uint32_t first_row_samples, row_samples;
  uint32_t window_rows;  // 0: sources of any length
};

// Its own function, so that the stack does not hold the information while lines run.
[[gnu::noinline]] void view_file(const goldcrest_engine& engine, goldcrest_search* search, SourceLengths* lengths) {
  goldcrest_info info;
  view_info(engine.runtime.model.file, engine.model_bytes, &info);
  *search = info.search;
  *lengths = {info.first_row_samples, info.row_samples, info.fixed_window ? info.limits.max_source_tokens : 0};
}

// Returns the rows that a line's source needs. A fixed window has those of the file's limits, and with any other number
// the results are others: UINT32_MAX.
uint64_t count_source_rows(const goldcrest_engine& engine, const SourceLengths& lengths, const SelfTestView& line) {
  if (!has_frontend(engine.runtime.model)) return line.n_source;
  if (lengths.window_rows != 0) return engine.runtime.limits.max_source_tokens == lengths.window_rows ? 1 : UINT32_MAX;
  return (line.n_source - lengths.first_row_samples) / lengths.row_samples + 1;
}

int run_lines(goldcrest_engine* engine, goldcrest_detail* detail) {
  SourceLengths lengths = {};
  goldcrest_search search;
  view_file(*engine, &search, &lengths);
  const goldcrest_limits& limits = engine->runtime.limits;
  search.beam_size = 1;
  search.min_target_tokens = 0;
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  uint32_t n_run = 0;
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.model.file); ++i) {
    const SelfTestView line = view_self_test(engine->runtime.model.file, i);
    if (count_source_rows(*engine, lengths, line) > limits.max_source_tokens ||
        line.n_target > limits.max_target_tokens)
      continue;
    bool same = false;
    GOLDCREST_TRY(run_line(engine, line, &search, &same));
    if (line.shortlist && !has_candidates(*engine)) continue;
    if (!same) {
      return fail(
          detail, GOLDCREST_ERROR_SELF_TEST, "self_test: another result than the converter's", static_cast<int32_t>(i));
    }
    ++n_run;
  }
  if (n_run == 0) return fail(detail, GOLDCREST_ERROR_TOO_LONG, "self_test: no line fits the limits");
  return GOLDCREST_OK;
}
}  // namespace

extern "C" int goldcrest_self_test(goldcrest_engine* engine, goldcrest_detail* detail) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  const goldcrest_search options = engine->next_search;
  engine_clear(*engine);
  const Sampler* const sampling = engine->options.sampling;
  const goldcrest_lexicon* const lexicon = engine->options.lexicon;
  const bool lacks_language = engine->languages.lacks_for_ids;
  [[maybe_unused]] const goldcrest_sequences sequences = engine->sequences;
  engine->options.sampling = nullptr;
  engine->options.lexicon = nullptr;
  engine->languages.lacks_for_ids = false;  // lines have languages of their own
  if constexpr (kHasSearch) use_sequences(*engine, view_sequences(engine->runtime.model.file));
  const int status = run_lines(engine, detail);
  engine->options.sampling = sampling;
  engine->options.lexicon = lexicon;
  engine->languages.lacks_for_ids = lacks_language;
  if constexpr (kHasSearch) use_sequences(*engine, sequences);
  engine->next_search = options;
  engine_clear(*engine);
  return status;
}
