// SPDX-License-Identifier: Apache-2.0
// The file's own self-test: does this device compute what the converter computed?
#include <cstring>

#include "api/engine.h"

using namespace goldcrest;

namespace {

// The end token is forced at the limit, and a forced token has no logits: a line may run only where its limit cannot
// bite, or is the file's own.
bool fits(const SelfTestView& line, const goldcrest_limits& limits, const goldcrest_info& info) {
  return line.n_source <= limits.max_source_tokens &&
         (line.n_target < limits.max_target_tokens || limits.max_target_tokens == info.limits.max_target_tokens);
}

int run_line(goldcrest_engine* engine, const SelfTestView& line, bool* same) {
  // ids are below 2^24, so their int32 and uint32 bits are the same
  GOLDCREST_TRY(goldcrest_begin(engine, reinterpret_cast<const int32_t*>(line.source), line.n_source));
  GOLDCREST_TRY(goldcrest_run(engine));
  goldcrest_result result;
  GOLDCREST_TRY(goldcrest_get_result(engine, 0, 0, &result));
  *same = result.n_tokens == line.n_target && result.logits_hash == line.hash &&
          memcmp(result.tokens, line.target, line.n_target * sizeof(uint32_t)) == 0;
  return GOLDCREST_OK;
}

int run_lines(goldcrest_engine* engine, goldcrest_detail* detail) {
  goldcrest_info info;
  view_info(engine->runtime.file, engine->model_bytes, &info);
  const goldcrest_limits& limits = engine->search.limits;
  goldcrest_search search = info.search;
  search.beam_size = 1;
  search.min_target_tokens = 0;
  search.max_target_tokens = limits.max_target_tokens < info.limits.max_target_tokens ? limits.max_target_tokens
                                                                                      : info.limits.max_target_tokens;
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  GOLDCREST_TRY(goldcrest_set_search(engine, &search));
  uint32_t n_run = 0;
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.file); ++i) {
    const SelfTestView line = view_self_test(engine->runtime.file, i);
    if (!fits(line, limits, info)) continue;
    bool same = false;
    GOLDCREST_TRY(run_line(engine, line, &same));
    if (!same) {
      return fail(detail, GOLDCREST_ERROR_SELF_TEST, "self_test: another result than the converter's", static_cast<int32_t>(i));
    }
    ++n_run;
  }
  if (n_run == 0) return fail(detail, GOLDCREST_ERROR_TOO_LONG, "self_test: no line fits the limits");
  return GOLDCREST_OK;
}

}  // namespace

extern "C" int goldcrest_self_test(goldcrest_engine* engine, goldcrest_detail* detail) {
  if (engine == nullptr || engine->magic != kEngineMagic) return GOLDCREST_ERROR_ARGUMENT;
  const goldcrest_search options = engine->options;
  engine_clear(*engine);
  const int status = run_lines(engine, detail);
  engine->options = options;
  engine_clear(*engine);
  return status;
}
