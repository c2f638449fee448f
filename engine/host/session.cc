// SPDX-License-Identifier: Apache-2.0
#include "host/session.h"

#include <algorithm>

#include "goldcrest/decoding.h"
#include "host/messages.h"

namespace goldcrest {

std::string Session::open(const std::string& path, uint32_t threads) {
  const std::string problem = model_.open(path);
  return problem.empty() ? pool_.start(threads) : problem;
}

std::string Session::read_info() {
  int status = goldcrest_model_info(model(), model_bytes(), &info_, &detail_);
  if (status >= 0) status = goldcrest_get_text_traits(model(), model_bytes(), &traits_, &detail_);
  return status < 0 ? describe_model_error(status, detail_, model(), model_bytes()) : "";
}

std::string Session::start(const Options& options, goldcrest_limits limits) {
  constexpr uint32_t kMostEncoderRows = 1024;
  constexpr uint64_t kLongPosition = uint64_t{1} << 28;  // bytes of weights, times the rows of a target position
  limits.threads = pool_.threads();
  if (limits.batch > 1) limits.encoder_rows = std::min(kMostEncoderRows, info_.limits.encoder_rows * limits.threads);
  goldcrest_memory memory = {};
  int status = goldcrest_plan_memory(model(), model_bytes(), &limits, &memory, nullptr, nullptr, &detail_);
  if (status < 0) return describe(status);
  goldcrest_config config = {};
  config.model = model();
  config.model_bytes = model_bytes();
  config.arena_bytes = static_cast<size_t>(memory.arena_bytes);
  config.limits = limits;
  config.verify = options.structure_only ? GOLDCREST_VERIFY_STRUCTURE : GOLDCREST_VERIFY_FULL;
  config.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
  config.detail = &detail_;
  if (options.low_memory) config.idle_weights = MappedFile::release;
  config.parallel_for = pool_.parallel_for();
  config.parallel_context = pool_.context();
  const uint64_t position_bytes = uint64_t{memory.limits.batch} * memory.limits.beam_size * model_bytes();
  if (options.short_steps && position_bytes > kLongPosition) config.step_size = GOLDCREST_STEP_LAYER;
  engine_ = nullptr;
  memory_ = {};
  arena_.reset();
  arena_ = allocate_arena(config.arena_bytes);
  config.arena = arena_.get();
  if (!arena_) return "no memory for an arena of " + std::to_string(config.arena_bytes) + " bytes";
  const std::string problem = options.prepare ? options.prepare(&config) : "";
  if (!problem.empty()) return problem;
  status = goldcrest_init(&engine_, &config);
  if (status < 0) engine_ = nullptr;
  if (status < 0) return describe(status);
  memory_ = memory;
  return "";
}

std::string Session::describe(int64_t status) const { return describe_error(status, detail_); }

int Session::tokenize(const std::string& text, std::vector<int32_t>* source) {
  const int status = goldcrest_begin_text(engine_, text.data(), text.size());
  const int32_t* ids = nullptr;
  const int n = status < 0 ? status : goldcrest_get_source(engine_, 0, &ids);
  if (n > 0) source->assign(ids, ids + n);
  return n;
}

int64_t Session::append_text(const int32_t* ids, size_t n, std::string* text) const {
  goldcrest_text_state state = {};
  int64_t status = GOLDCREST_OK;
  for (const size_t n_ids : {n, size_t{0}}) {  // 0: the end of the text
    const size_t begin = text->size();
    do {
      text->resize(2 * text->size() + 8 * n_ids + 16);
      status = goldcrest_detokenize(engine_, &state, ids, n_ids, &(*text)[begin], text->size() - begin);
    } while (status == GOLDCREST_ERROR_TRUNCATED);
    text->resize(begin + static_cast<size_t>(std::max<int64_t>(status, 0)));
    if (status < 0) return status;
  }
  return GOLDCREST_OK;
}

std::vector<int32_t> Session::agreed_tokens(uint32_t sentence) const {
  std::vector<int32_t> tokens(memory_.limits.max_target_tokens);
  const int n = goldcrest_get_agreed(engine_, sentence, tokens.data(), tokens.size());
  tokens.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return tokens;
}

}  // namespace goldcrest
