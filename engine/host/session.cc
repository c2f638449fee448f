// SPDX-License-Identifier: Apache-2.0
#include "host/session.h"
#include <algorithm>
#include "goldcrest/decoding.h"
#include "host/messages.h"

namespace goldcrest {
std::string Session::open(const std::string& path, uint32_t threads) {
  const std::string problem = mapped_.open(path);
  use(mapped_.bytes(), mapped_.size());
  return problem.empty() ? pool_.start(threads) : problem;
}

void Session::use(const void* bytes, size_t n) {
  bytes_ = bytes;
  n_bytes_ = n;
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
  replaces_ = options.replace_unknowns.value_or(traits_.unknown_heads != 0);
  if (replaces_)
    limits.alignment_layers |= traits_.unknown_heads == 0 ? GOLDCREST_ALL_LAYERS : 1u << traits_.unknown_layer;
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

int Session::tokenize(const std::string& text, std::vector<int32_t>* source, std::vector<std::string>* pieces) {
  pieces->clear();
  const auto add = [](void* to, const goldcrest_token* token) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(token->text, token->text_bytes);
  };
  const bool wants_pieces = replaces_ || memory_.limits.alignment_layers != 0;
  const int status = wants_pieces ? goldcrest_begin_tokens(engine_, text.data(), text.size(), add, pieces)
                                  : goldcrest_begin_text(engine_, text.data(), text.size());
  const int32_t* ids = nullptr;
  const int n = status < 0 ? status : goldcrest_get_source(engine_, 0, &ids);
  if (n > 0) source->assign(ids, ids + n);
  return n;
}

namespace {
// Appends what `write` writes into a buffer, with more room as long as it needs more. Returns a negative status on an
// error.
template <typename Write> int64_t append_written(std::string* text, size_t likely, const Write& write) {
  const size_t begin = text->size();
  int64_t status = GOLDCREST_OK;
  do {
    text->resize(2 * text->size() + likely);
    status = write(&(*text)[begin], text->size() - begin);
  } while (status == GOLDCREST_ERROR_TRUNCATED);
  text->resize(begin + static_cast<size_t>(std::max<int64_t>(status, 0)));
  return status;
}
}  // namespace

int64_t Session::append_text(const int32_t* ids, size_t n, std::string* text) const {
  goldcrest_text_state state = {};
  int64_t status = GOLDCREST_OK;
  for (const size_t n_ids : {n, size_t{0}}) {  // 0: the end of the text
    if (status < 0) return status;
    status = append_written(text, 8 * n_ids + 16,
        [&](char* out, size_t bytes) { return goldcrest_detokenize(engine_, &state, ids, n_ids, out, bytes); });
  }
  return std::min<int64_t>(status, GOLDCREST_OK);
}

// Returns the piece of the source to which a token attends most, or a negative status.
int64_t Session::find_attended(goldcrest_alignment wanted, const std::vector<std::string>& pieces) const {
  std::vector<float> sums(pieces.size()), weights(pieces.size());
  const bool is_mean = traits_.unknown_heads == 0 || traits_.unknown_heads == info_.decoder_heads;
  wanted.layer = traits_.unknown_heads == 0 ? -1 : static_cast<int32_t>(traits_.unknown_layer);
  for (uint32_t head = 0; head < (is_mean ? 1 : traits_.unknown_heads); ++head) {
    wanted.head = is_mean ? -1 : static_cast<int32_t>(head);
    const int status = goldcrest_get_alignment(engine_, &wanted, weights.data(), weights.size());
    if (status < 0) return status;
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weights[i];
  }
  size_t best = pieces.size();
  for (size_t i = 0; i < sums.size(); ++i)
    if (!pieces[i].empty() && (best == pieces.size() || sums[i] > sums[best])) best = i;
  return static_cast<int64_t>(best);
}

int64_t Session::append_result(uint32_t sentence, uint32_t rank, const std::vector<std::string>& pieces,
    std::string* text, std::vector<size_t>* ends) const {
  goldcrest_result result = {};
  int64_t status = goldcrest_get_result(engine_, sentence, rank, &result);
  const bool replaces = replaces_ && !pieces.empty();
  if (status < 0 || (!replaces && ends == nullptr))
    return status < 0 ? status : append_text(result.tokens, result.n_tokens, text);
  goldcrest_text_state state = {};
  for (uint32_t i = 0; i <= result.n_tokens && status >= 0; ++i) {
    const size_t n = i < result.n_tokens ? 1 : 0;
    const bool is_unknown = replaces && n == 1 && result.tokens[i] == info_.unknown_id;
    const int64_t found = is_unknown ? find_attended({sentence, rank, i, -1, -1}, pieces) : -1;
    if (is_unknown && found < 0) return found;
    const std::string piece =
        found < 0 || found == static_cast<int64_t>(pieces.size()) ? "" : pieces[static_cast<size_t>(found)];
    const goldcrest_token token = {-1, GOLDCREST_TOKEN_UNKNOWN, piece.data(), piece.size()};
    status = append_written(text, piece.size() + 16, [&](char* out, size_t bytes) {
      return is_unknown ? goldcrest_detokenize_token(engine_, &state, &token, out, bytes)
                        : goldcrest_detokenize(engine_, &state, result.tokens + i, n, out, bytes);
    });
    if (ends != nullptr && n == 1) ends->push_back(text->size());
  }
  return std::min<int64_t>(status, GOLDCREST_OK);
}

std::vector<int32_t> Session::agreed_tokens(uint32_t sentence) const {
  std::vector<int32_t> tokens(memory_.limits.max_target_tokens);
  const int n = goldcrest_get_agreed(engine_, sentence, tokens.data(), tokens.size());
  tokens.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return tokens;
}
}  // namespace goldcrest
