// SPDX-License-Identifier: Apache-2.0
#include "fuzz/engine_calls.h"
#include "base/build_options.h"
#include "fuzz/engine_sounds.h"
#include "goldcrest/check.h"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "goldcrest/tokens.h"
#include "model/model_view.h"

namespace goldcrest::test {
namespace {
// Limits of one input, so that many can be tried. A file that needs more is not run.
constexpr uint64_t kMostArenaBytes = 1u << 20, kMostMacs = 1u << 22, kMostTextSteps = 1u << 22;
constexpr uint32_t kMostRuns = 4;  // runs of whole sentences

using Memory = std::unique_ptr<GuardedBuffer<uint8_t>>;

// Requires `status` to be a success or one of these errors.
int64_t allow(int64_t status, std::initializer_list<int> errors, const char* function) {
  if (status < 0) require(std::find(errors.begin(), errors.end(), status) != errors.end(), function);
  return status;
}

void count_buffer(void* n, const goldcrest_buffer* buffer) {
  require(buffer->name != nullptr && buffer->offset_bytes % GOLDCREST_ALIGN == 0, "plan_memory: a buffer");
  ++*static_cast<int64_t*>(n);
}

// The number of a model's languages of one side, and the last one's name.
struct Languages {
  int64_t n = 0;
  std::string last;
};

void count_language(void* context, const char* name, size_t name_bytes, int32_t) {
  require(name_bytes > 0 && std::count(name, name + name_bytes, '\0') == 0, "languages: a name");
  auto& languages = *static_cast<Languages*>(context);
  ++languages.n;
  languages.last.assign(name, name_bytes);
}

// Runs the tasks of threads one after another, the last first: any order is allowed.
void run_last_first(void*, void (*task)(void*, size_t), void* context, size_t n) {
  for (size_t i = n; i > 0; --i) task(context, i - 1);
}

// Sets the functions that a program can give to an engine. They end the program if their arguments break a promise.
void watch(goldcrest_config& config) {
  config.trace = [](void*, const char* name, int32_t, uint32_t, const float* values, uint32_t count) {
    require(name != nullptr && values != nullptr && count > 0, "trace: values with a name");
  };
  config.idle_weights = [](void*, const void* weights, size_t) { require(weights != nullptr, "idle weights"); };
}

class Calls {
 public:
  Calls(Script& script, std::span<const uint8_t> model) : script_(script), model_(model) {}

  bool run() {
    if (!plan() || !start()) return false;
    while (!script_.is_done()) {
      call();
      require(arena_->intact() && (scratch_ == nullptr || scratch_->intact()), "nothing is written before the memory");
    }
    return true;
  }
 private:
  static constexpr int kArgument = GOLDCREST_ERROR_ARGUMENT, kCorrupt = GOLDCREST_ERROR_MODEL_CORRUPT,
                       kVersion = GOLDCREST_ERROR_MODEL_VERSION, kUnsupported = GOLDCREST_ERROR_UNSUPPORTED,
                       kTooSmall = GOLDCREST_ERROR_ARENA_TOO_SMALL, kRange = GOLDCREST_ERROR_TOKEN_RANGE,
                       kTooLong = GOLDCREST_ERROR_TOO_LONG, kTruncated = GOLDCREST_ERROR_TRUNCATED,
                       kState = GOLDCREST_ERROR_STATE, kSelfTest = GOLDCREST_ERROR_SELF_TEST;

  bool plan() {
    const int known = goldcrest_model_info(model_.data(), model_.size(), &info_, &detail_);
    allow(known, {kCorrupt, kVersion, kUnsupported}, "model_info: errors");
    require(known == 0 || detail_.message != nullptr, "model_info: a reason");
    const goldcrest_limits limits = choose_limits(script_);
    const int planned =
        goldcrest_plan_memory(model_.data(), model_.size(), &limits, &memory_, count_buffer, &n_visited_, nullptr);
    allow(planned, {kArgument, kCorrupt, kVersion, kUnsupported}, "plan_memory: errors");
    check_traits(known);
    require(known == 0 || planned == known, "plan_memory refuses what model_info refuses");
    const int64_t bytes = goldcrest_arena_bytes(model_.data(), model_.size(), &limits);
    require(planned == 0 ? bytes == static_cast<int64_t>(memory_.arena_bytes) : bytes == planned, "arena_bytes");
    if (planned < 0) {
      if (script_.one_in(16)) check_slices();
      return false;
    }
    check_slices();
    count_languages(goldcrest_source_languages, sources_);
    count_languages(goldcrest_target_languages, targets_);
    return memory_.arena_bytes <= kMostArenaBytes && memory_.text_steps <= kMostTextSteps &&
           memory_.step_macs * memory_.limits.max_target_tokens * memory_.limits.batch <= kMostMacs;
  }

  void count_languages(decltype(goldcrest_source_languages)* list, Languages& languages) {
    const int n = list(model_.data(), model_.size(), count_language, &languages, nullptr);
    require(n == languages.n || n == kCorrupt, "languages: calls equal the returned number");
  }

  void check_traits(int known) {
    goldcrest_text_traits traits;
    require(goldcrest_get_text_traits(model_.data(), model_.size(), &traits, nullptr) == known, "text_traits: errors");
    if (known < 0) return;
    require(traits.first_timestamp < info_.target_vocab_size, "text_traits: a time is an id");
    for (uint32_t i = 0; i < traits.n_alignment_heads; ++i)
      require(
          traits.alignment_heads[i] < info_.decoder_layers * info_.decoder_heads, "text_traits: the decoder's heads");
  }

  void check_slices() {
    const size_t slice_bytes = model_.size() / (1 + model_.size() / GOLDCREST_ALIGN % 16) + 1;
    goldcrest_check check = {};
    int64_t status = GOLDCREST_WORKING;
    for (size_t end = 0; status == GOLDCREST_WORKING; end += slice_bytes) {
      require(end < model_.size() + slice_bytes, "check_weights: it ends");
      require(check.checked_bytes <= end, "check_weights: within its slice");
      status = allow(goldcrest_check_weights(model_.data(), model_.size(), end, &check, nullptr),
          {kCorrupt, kVersion, kUnsupported}, "check_weights");
    }
    whole_ = status == GOLDCREST_DONE;
  }

  bool start() {
    const bool is_split = script_.one_in(4);
    goldcrest_config config = {};
    arena_ = filled(is_split ? memory_.main_bytes : memory_.arena_bytes);
    if (is_split) scratch_ = filled(memory_.scratch_bytes);
    config.model = model_.data();
    config.model_bytes = model_.size();
    config.arena = arena_->get();
    config.arena_bytes = arena_->size();
    config.scratch = is_split ? scratch_->get() : nullptr;
    config.scratch_bytes = is_split ? scratch_->size() : 0;
    config.limits = memory_.limits;
    config.parallel_for = memory_.limits.threads == 2 ? run_last_first : nullptr;
    config.verify = script_.one_in(4) ? GOLDCREST_VERIFY_STRUCTURE : GOLDCREST_VERIFY_FULL;
    config.step_size = script_.below(2) == 0 ? GOLDCREST_STEP_POSITION : GOLDCREST_STEP_LAYER;
    config.kernels = script_.one_in(4) ? "reference" : nullptr;
    config.detail = &detail_;
    const int status = goldcrest_init(&engine_, &config);
    allow(status, {kCorrupt}, "init: errors");
    require(whole_ || status < 0 || config.verify == GOLDCREST_VERIFY_STRUCTURE, "init finds what check_weights finds");
    if (status < 0) {
      require(engine_ == nullptr && detail_.message != nullptr, "init: no engine, and a reason");
      return false;
    }
    if (script_.one_in(64)) {
      misuse_init(config);
      watch(config);
      require(goldcrest_init(&engine_, &config) == GOLDCREST_OK, "init: the same again");
    }
    // With one byte less than needed the same call is refused and changes no byte.
    const Memory small = filled(config.arena_bytes - 1);
    goldcrest_config less = config;
    goldcrest_engine* none = nullptr;
    less.arena = small->get() - (reinterpret_cast<uintptr_t>(small->get()) % GOLDCREST_ALIGN);
    less.arena_bytes = config.arena_bytes - 1;
    less.detail = nullptr;
    require(goldcrest_init(&none, &less) == kTooSmall && none == nullptr, "init: one byte short");
    require(std::all_of(small->begin(), small->end(), [](uint8_t byte) { return byte == 0xAA; }), "init: untouched");
    return true;
  }

  static Memory filled(uint64_t bytes) {
    auto memory = std::make_unique<GuardedBuffer<uint8_t>>(static_cast<size_t>(bytes));
    std::fill(memory->begin(), memory->end(), uint8_t{0xAA});
    return memory;
  }

  // Returns whether another call may run whole sentences.
  bool may_run() {
    if (n_runs_ == kMostRuns) return false;
    ++n_runs_;
    return true;
  }

  void call() {
    switch (script_.below(16)) {
      case 0:
        return begin(goldcrest_begin, {kArgument, kTooLong, kRange, kUnsupported, lacks_language()}, "begin: errors");
      case 1: return begin(goldcrest_add, {kArgument, kTooLong, kRange, kState, kUnsupported}, "add: errors");
      case 2: return begin_text(goldcrest_begin_text, lacks_language());
      case 3: return begin_text(goldcrest_add_text, kState);
      case 4: return step();
      case 5: return run_sentences();
      case 6: return get_result();
      case 7: return get_source();
      case 8: return detokenize();
      case 9: return translate();
      case 10: return score();
      case 11: return get_alignment();
      case 12: return set_search();
      case 13: return set_languages();
      case 14: return self_test();
      default:
        if (script_.one_in(4)) misuse_engine(engine_, hears());
        if (script_.one_in(2)) return search_again();
        return goldcrest_reset(engine_);
    }
  }

  std::vector<int32_t> ids(uint32_t vocab_size) {
    std::vector<int32_t> ids(script_.below(9));
    for (int32_t& id : ids) id = static_cast<int32_t>(script_.one_in(32) ? script_.word() : script_.below(vocab_size));
    return ids;
  }

  template <typename Function> void begin(Function store, std::initializer_list<int> errors, const char* function) {
    const bool fresh = store == goldcrest_begin;
    if (hears() && !script_.one_in(16)) {
      allow(sounds_.give(engine_, info_, script_, fresh),
          {kArgument, kTooLong, kUnsupported, fresh ? kArgument : kState}, "begin_audio: errors");
      return;
    }
    const std::vector<int32_t> source = ids(hears() ? 1 : info_.source_vocab_size);
    const int64_t status = allow(store(engine_, source.data(), source.size()), errors, function);
    require(hears() ? status < 0 : status != kUnsupported, "begin: only models that hear take no ids");
  }
  void begin_text(decltype(goldcrest_begin_text)* store, int other_error) {
    const std::string_view text = script_.text();
    const int64_t status = allow(store(engine_, text.empty() ? nullptr : text.data(), text.size()),
        {kArgument, kUnsupported, kTooLong, kCorrupt, other_error}, "begin_text: errors");
    if (store == goldcrest_begin_text && text.size() % 2 != 0) begin_tokens(text, status);
  }

  // The same again with the tokens' texts.
  void begin_tokens(std::string_view text, int64_t expected) {
    seen_.clear();
    const auto see = [](void* to, const goldcrest_token* token) {
      require(token->text != nullptr || token->text_bytes == 0, "begin_tokens: a text");
      static_cast<std::vector<SeenToken>*>(to)->push_back({*token, {token->text, token->text_bytes}});
    };
    const int64_t status = goldcrest_begin_tokens(engine_, text.data(), text.size(), see, &seen_);
    require(status == expected || (!kHasInspection && status == kUnsupported), "begin_tokens: begin_text's status");
    const int32_t* source = nullptr;
    if (status < 0) return;
    require(
        goldcrest_get_source(engine_, 0, &source) == static_cast<int64_t>(seen_.size()), "begin_tokens: all tokens");
    for (size_t i = 0; i < seen_.size(); ++i) require(seen_[i].token.id == source[i], "begin_tokens: their ids");
  }

  void step() {
    int32_t token = -1;
    if (hears() && script_.one_in(32)) sounds_.change();
    for (uint32_t n = script_.below(8) + 1; n > 0; --n) {
      const int64_t status = allow(goldcrest_step(engine_, &token), {kState}, "step: errors");
      if (status == GOLDCREST_TOKEN) require_target(token);
      get_agreed(0);
    }
  }

  void search_again() {
    const int64_t status = allow(goldcrest_search_again(engine_), {kState}, "search_again: errors");
    if (status < 0 || script_.one_in(4) || !may_run()) return;
    const std::vector<int32_t> expected = run_draft({});
    draft_ = ids(info_.target_vocab_size);  // mostly the result with a change
    const size_t n_kept = expected.empty() ? 0 : script_.below(256) % expected.size();
    draft_.insert(draft_.begin(), expected.begin(), expected.begin() + static_cast<ptrdiff_t>(n_kept));
    if (goldcrest_search_again(engine_) < 0) return;
    require(run_draft(draft_) == expected, "set_draft: changes no bit");
  }

  // Returns what is found with a draft, which must stay in place: ids without the prompt, then bits of the scores.
  std::vector<int32_t> run_draft(const std::vector<int32_t>& draft) {
    allow(goldcrest_set_draft(engine_, draft.data(), draft.size()), {kArgument, kState, kRange, kUnsupported},
        "set_draft: errors");
    goldcrest_result result = {};
    if (allow(goldcrest_run(engine_), {kState}, "run: errors") < 0) return {};
    if (goldcrest_get_result(engine_, 0, 0, &result) < 0) return {};
    std::vector<int32_t> found(result.tokens + result.n_prefix, result.tokens + result.n_tokens);
    for (const float value : {result.log_prob, result.score}) found.push_back(std::bit_cast<int32_t>(value));
    found.push_back(static_cast<int32_t>(result.logits_hash));
    return found;
  }

  void get_agreed(uint32_t sentence) {
    GuardedBuffer<int32_t> ids(memory_.limits.max_target_tokens);
    const int64_t n =
        allow(goldcrest_get_agreed(engine_, sentence, ids.get(), ids.size()), {kArgument}, "get_agreed: errors");
    for (int64_t i = 0; i < n; ++i) require_target(ids.get()[i]);
  }

  void run_sentences() {
    if (may_run()) allow(goldcrest_run(engine_), {kState}, "run: errors");
  }

  void self_test() {
    if (may_run()) allow(goldcrest_self_test(engine_, &detail_), {kSelfTest, kTooLong}, "self_test: errors");
  }

  // Returns the error of a source without a language. Only files with a table give it.
  int lacks_language() const {
    LanguagesView table;
    return kHasText && view_languages(model_.data(), &table) ? kState : kArgument;
  }

  bool hears() const { return info_.sample_rate > 0 || info_.feature_channels > 0; }

  void require_target(int32_t id) const {
    require(id >= 0 && static_cast<uint32_t>(id) < info_.target_vocab_size, "a token in range");
  }

  void get_result() {
    goldcrest_result result = {};
    const int64_t status = allow(goldcrest_get_result(engine_, script_.byte(), script_.below(4), &result),
        {kArgument, kState}, "get_result: errors");
    if (status < 0) return;
    require(result.n_tokens <= memory_.limits.max_target_tokens, "get_result: tokens within the limits");
    require(result.n_outputs <= info_.target_vocab_size, "get_result: outputs");
    for (uint32_t i = 0; i < result.n_tokens; ++i) require_target(result.tokens[i]);
  }

  void get_source() {
    const int32_t* source = nullptr;
    const int64_t n = allow(goldcrest_get_source(engine_, script_.byte(), &source),
        {hears() ? kUnsupported : kArgument}, "get_source: errors");
    require(n <= int64_t{memory_.limits.max_source_tokens}, "get_source: ids within the limits");
    for (int64_t i = 0; i < n; ++i)
      require(source[i] >= 0 && static_cast<uint32_t>(source[i]) < info_.source_vocab_size, "a source id in range");
  }

  void detokenize() {
    if (script_.one_in(16)) text_state_ = {script_.byte(), script_.byte(), {script_.byte(), 0, 0, script_.byte()}};
    const std::vector<int32_t> tokens = ids(info_.target_vocab_size);
    GuardedBuffer<char> out(script_.below(64));
    goldcrest_text_state before = text_state_;
    const auto check = [&](int64_t n) {
      allow(n, {kArgument, kUnsupported, kRange, kTruncated}, "detokenize: errors");
      require(n <= static_cast<int64_t>(out.size()) && out.intact(), "detokenize: within its bytes");
      if (n < 0)
        require(std::memcmp(&before, &text_state_, sizeof before) == 0, "detokenize: an error changes nothing");
      before = text_state_;
    };
    check(goldcrest_detokenize(engine_, &text_state_, tokens.data(), tokens.size(), out.get(), out.size()));
    if (seen_.empty()) return;
    const SeenToken& seen = seen_[tokens.size() % seen_.size()];
    goldcrest_token token = seen.token;
    token.text = seen.text.data();
    check(goldcrest_detokenize_token(engine_, &text_state_, &token, out.get(), out.size()));
  }

  void translate() {
    const std::string_view text = script_.text();
    GuardedBuffer<char> out(script_.below(64));
    if (!may_run()) return;
    const int64_t n = allow(hears() ? sounds_.transcribe(engine_, info_, script_, out)
                                    : goldcrest_translate(engine_, text.data(), text.size(), out.get(), out.size()),
        {kArgument, kUnsupported, kTooLong, kCorrupt, kTruncated, lacks_language()}, "translate: errors");
    require(n < static_cast<int64_t>(out.size()) || n < 0, "translate: room for a terminator");
    if (n >= 0) require(out[static_cast<size_t>(n)] == '\0', "translate: a terminator");
  }

  void score() {
    const std::vector<int32_t> target = ids(info_.target_vocab_size);
    if (!may_run()) return;
    const uint32_t sentence = script_.below(4);
    allow(goldcrest_set_prefix(engine_, sentence, target.data(), target.size(), sentence),
        {kArgument, kState, kTooLong, kRange, kUnsupported}, "set_prefix: errors");
    if (target.size() % 2 == 1) return;  // score would replace the search
    allow(goldcrest_score(engine_, sentence, target.data(), target.size()),
        {kArgument, kState, kTooLong, kRange, kUnsupported}, "score: errors");
  }

  void get_alignment() {
    const goldcrest_alignment wanted = {script_.below(4), script_.below(4), script_.below(8),
        static_cast<int32_t>(script_.below(4)) - 1, static_cast<int32_t>(script_.below(4)) - 1};
    GuardedBuffer<float> weights(script_.below(16));
    const int64_t n = allow(goldcrest_get_alignment(engine_, &wanted, weights.get(), weights.size()),
        {kArgument, kState, kTruncated, kUnsupported}, "get_alignment: errors");
    require(n <= static_cast<int64_t>(weights.size()) && weights.intact(), "get_alignment: within its room");
  }

  void set_search() {
    goldcrest_search search = info_.search;
    search.beam_size = script_.below(5);
    search.max_target_tokens = script_.below(5);
    search.min_target_tokens = script_.below(3);
    search.flags = script_.below(32);
    search.length_penalty = static_cast<float>(script_.below(7)) - 2;
    search.renormalize = static_cast<uint8_t>(script_.below(4));
    search.force_end = static_cast<uint8_t>(script_.below(4));
    search.early_stopping = static_cast<uint8_t>(script_.below(5));
    search.length_penalty_kind = static_cast<uint8_t>(script_.below(4));
    search.no_repeat_ngram = script_.below(4);
    search.max_extra_tokens = script_.below(3);
    search.repetition_penalty = static_cast<float>(script_.below(6)) / 2 - 0.5f;
    search.max_length_factor = static_cast<float>(script_.below(6)) / 2 - 0.5f;
    if (script_.one_in(4)) {  // any bits in one field
      const size_t at = 4 * script_.below(sizeof search / 4);
      const uint32_t value = script_.word();
      std::memcpy(reinterpret_cast<char*>(&search) + at, &value, 4);
    }
    allow(goldcrest_set_search(engine_, script_.one_in(16) ? nullptr : &search),
        {kArgument, kState, kHasSearch ? kArgument : kUnsupported}, "set_search: errors");
    if (script_.one_in(2)) set_decoding(engine_, script_, info_);
    if (memory_.limits.lexicon != 0) lexicon_.change(script_, engine_);
  }

  void set_languages() {
    const std::string_view known = sources_.n > 0 ? std::string_view(sources_.last) : info_.source_language;
    const std::string source(script_.below(4) == 0 ? script_.text() : known);
    const uint32_t choice = script_.below(3);
    const std::string target(choice == 0   ? script_.text()
                             : choice == 1 ? std::string_view(info_.target_language)
                                           : std::string_view(targets_.last));
    allow(goldcrest_set_languages(engine_, script_.below(2) == 0 ? nullptr : source.c_str(),
              script_.below(4) == 0 ? nullptr : target.c_str()),
        {kArgument}, "set_languages: errors");
  }

  // A token of a source, with its text.
  struct SeenToken {
    goldcrest_token token;
    std::string text;
  };

  Script& script_;
  std::span<const uint8_t> model_;
  std::vector<SeenToken> seen_;
  goldcrest_info info_ = {};
  goldcrest_memory memory_ = {};
  goldcrest_detail detail_ = {};
  goldcrest_text_state text_state_ = {};
  bool whole_ = false;  // whether the file's checksums are right
  uint32_t n_runs_ = 0;
  int64_t n_visited_ = 0;
  Languages sources_, targets_;
  Sounds sounds_;
  ChangingLexicon lexicon_;
  std::vector<int32_t> draft_;
  Memory arena_, scratch_;
  goldcrest_engine* engine_ = nullptr;
};
}  // namespace

bool call_engine(std::span<const uint8_t> model, Script& script) { return Calls(script, model).run(); }
}  // namespace goldcrest::test
