// SPDX-License-Identifier: Apache-2.0
#include "translator.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "../support/languages.h"
#include "../support/messages.h"
#include "../support/source_end.h"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "spec/id_list.h"
#include "spec/limits_problem.h"
#include "spec/printable.h"
#include "text_lines.h"

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // as some editors begin a file
constexpr uint32_t kBatchesAhead = 16;                       // read and sorted together

void append_ids(const int32_t* ids, size_t n, std::string* text) {
  for (size_t i = 0; i < n; ++i) *text += (i == 0 ? "" : " ") + std::to_string(ids[i]);
}

void append_number(double value, std::string* text) {
  char number[64];
  std::snprintf(number, sizeof number, "%.6f", value);
  *text += number;
}

}  // namespace

bool Translator::refuse(const std::string& problem) const {
  std::fprintf(stderr, "goldcrest-translate: %s\n", problem.c_str());
  return false;
}

bool Translator::fail(int status) const { return refuse(options_.model + ": " + describe_error(status, detail_)); }

bool Translator::start() {
  std::string problem = model_.open(options_.model);
  if (problem.empty()) problem = pool_.start(options_.limits.threads);
  if (problem.empty()) problem = kernels_problem(options_.kernels);
  if (!problem.empty()) return refuse(problem);
  const int status = goldcrest_model_info(model_.bytes(), model_.size(), &info_, &detail_);
  if (status < 0)
    return refuse(options_.model + ": " + describe_model_error(status, detail_, model_.bytes(), model_.size()));
  goldcrest_limits& limits = options_.limits;
  limits.n_best = options_.n_best;
  if (limits.beam_size == 0 && options_.n_best > info_.limits.beam_size) limits.beam_size = options_.n_best;
  problem = missing_text();
  if (problem.empty()) problem = goldcrest::converter::limits_problem(info_, limits);
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  limits.threads = pool_.threads();
  if (!ask_inspection()) return false;
  const bool takes_text = info_.has_tokenizer && !options_.ids && !options_.decode;
  if (limits.max_source_bytes == 0 && takes_text) limits.max_source_bytes = info_.limits.max_source_bytes;
  return start_engine() && set_languages() && set_search();
}

// What the engine is to keep of each result for the options.
bool Translator::ask_inspection() {
  goldcrest_limits& limits = options_.limits;
  if (options_.token_scores) limits.inspection |= GOLDCREST_INSPECT_TOKEN_SCORES;
  if (!options_.alignments.empty()) {
    const int32_t layer = options_.alignment_layer, head = options_.alignment_head;
    const auto lacks = [&](const std::string& option, int32_t asked, uint32_t n) {
      return refuse(options_.model + ": " + option + ' ' + std::to_string(asked) + ": the decoder's are 0 to " +
                    std::to_string(n - 1));
    };
    if (layer >= static_cast<int32_t>(info_.decoder_layers))
      return lacks("--alignment-layer", layer, info_.decoder_layers);
    if (head >= static_cast<int32_t>(info_.decoder_heads)) return lacks("--alignment-head", head, info_.decoder_heads);
    limits.alignment_layers = layer < 0 ? GOLDCREST_ALL_LAYERS : 1u << layer;
  }
  if (options_.score_file.empty()) return true;
  limits.inspection |= GOLDCREST_INSPECT_TARGETS;
  limits.beam_size = 1;
  targets_.reset(std::fopen(options_.score_file.c_str(), "rb"));
  return targets_ || refuse(options_.score_file + ": cannot be read: " + std::strerror(errno));
}

// What the model lacks of what the options ask for, or empty.
std::string Translator::missing_text() const {
  const bool text_in = !options_.ids && !options_.decode;
  const bool text_out = !options_.ids && !options_.tokens && options_.score_file.empty();
  if (text_in && !info_.has_tokenizer) {
    return options_.encode ? "the model has no tokenizer, which --encode needs"
                           : "the model has no tokenizer; with --ids it reads source ids and writes target ids";
  }
  if (options_.encode || !text_out || info_.has_detokenizer) return "";
  return options_.decode ? "the model has no detokenizer, which --decode needs"
                         : "the model has no detokenizer; with --tokens it writes target ids";
}

bool Translator::start_engine() {
  goldcrest_limits& limits = options_.limits;
  // Enough rows in a block of encoder work for every thread to have as many as alone.
  if (limits.batch > 1) limits.encoder_rows = std::min(1024u, info_.limits.encoder_rows * limits.threads);
  int status = goldcrest_plan_memory(model_.bytes(), model_.size(), &limits, &memory_, nullptr, nullptr, &detail_);
  if (status < 0) return fail(status);
  arena_.reset(std::aligned_alloc(GOLDCREST_ALIGN, static_cast<size_t>(memory_.arena_bytes)));
  if (!arena_) return refuse("no memory for an arena of " + std::to_string(memory_.arena_bytes) + " bytes");
  goldcrest_config config = {};
  config.model = model_.bytes();
  config.model_bytes = model_.size();
  config.arena = arena_.get();
  config.arena_bytes = static_cast<size_t>(memory_.arena_bytes);
  config.limits = limits;
  config.verify = options_.structure_only ? GOLDCREST_VERIFY_STRUCTURE : GOLDCREST_VERIFY_FULL;
  config.kernels = options_.kernels.empty() ? nullptr : options_.kernels.c_str();
  config.detail = &detail_;
  if (options_.low_memory) config.idle_weights = MappedFile::release;
  config.parallel_for = pool_.parallel_for();
  config.parallel_context = pool_.context();
  const std::string problem = backend_.attach(&config);
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  status = goldcrest_init(&engine_, &config);
  return status < 0 ? fail(status) : true;
}

bool Translator::set_languages() {
  const std::string &source = options_.source_language, &target = options_.target_language;
  const std::string problem = languages_problem(model_.bytes(), model_.size(), source, target);
  if (!problem.empty()) return refuse(options_.model + ": " + problem);
  has_code_ = !target.empty() && !target_languages(model_.bytes(), model_.size()).empty();
  const int status = goldcrest_set_languages(engine_, source.empty() ? nullptr : source.c_str(),
                                             target.empty() ? nullptr : target.c_str());
  return status < 0 ? fail(status) : true;
}

bool Translator::set_search() {
  goldcrest_search search = info_.search;
  search.beam_size = 0;  // the limits'
  if (search.max_target_tokens > memory_.limits.max_target_tokens || options_.limits.max_target_tokens != 0)
    search.max_target_tokens = 0;
  if (options_.has_min_target) search.min_target_tokens = options_.min_target;
  if (options_.has_length_penalty) search.length_penalty = options_.length_penalty;
  if (options_.has_word_penalty) search.word_penalty = options_.word_penalty;
  search.length_penalty_kind = options_.rules.length_penalty_kind;
  search.early_stopping = options_.rules.early_stopping;
  search.no_repeat_ngram = options_.rules.no_repeat_ngram;
  search.max_extra_tokens = options_.rules.max_extra_tokens;
  search.repetition_penalty = options_.rules.repetition_penalty;
  search.max_length_factor = options_.rules.max_length_factor;
  if (options_.scores) search.flags |= GOLDCREST_SEARCH_SCORES;
  const int status = goldcrest_set_search(engine_, &search);
  return status < 0 ? fail(status) : true;
}

// Appends the text of n ids. A negative status is an error.
int64_t Translator::append_text(const int32_t* ids, size_t n, std::string* text) {
  goldcrest_text_state state = {};
  char piece[4096];
  for (size_t i = 0; i <= n; ++i) {
    const int64_t bytes = goldcrest_detokenize(engine_, &state, ids + i, i < n ? 1 : 0, piece, sizeof piece);
    if (bytes < 0) return bytes;
    text->append(piece, static_cast<size_t>(bytes));
  }
  return GOLDCREST_OK;
}

// Tokens that the engine makes of a text, and the first of them; none where it cannot.
size_t Translator::count_source(const std::string& text, int32_t* first) {
  const int32_t* source = nullptr;
  const int status = goldcrest_begin_text(engine_, text.data(), text.size());
  const int n = status < 0 ? status : goldcrest_get_source(engine_, 0, &source);
  *first = n > 0 ? source[0] : -1;
  return n < 0 ? 0 : static_cast<size_t>(n);
}

// What is said of a line whose language code the vocabulary lacks, or empty. A code that it has is one token.
std::string Translator::code_warning(const std::string& text) {
  const std::string code(goldcrest::converter::leading_language_code(text));
  if (code.empty()) return "";
  int32_t first = 0, of_nothing = 0;
  const size_t n = count_source(code, &first), n_of_nothing = count_source("", &of_nothing);
  const size_t n_of_code = has_code_ ? n_of_nothing : n_of_nothing + 1;  // which it takes the place of
  if (n == n_of_code && first != info_.unknown_id) return "";
  return "\"" + goldcrest::converter::printable(code) + "\" is no entry of the model's vocabulary; it is read as text";
}

void Translator::tokenize(const std::string& text, Line* line) {
  const auto begin = std::chrono::steady_clock::now();
  const int status = goldcrest_begin_text(engine_, text.data(), text.size());
  const int32_t* source = nullptr;
  const int n = status < 0 ? status : goldcrest_get_source(engine_, 0, &source);
  if (n < 0)
    line->error = describe_error(n, detail_);
  else
    line->source.assign(source, source + n);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Translator::decode(const std::string& text, Line* line) {
  std::vector<int32_t> ids;
  line->error = parse_ids(text, info_.target_vocab_size, &ids);
  if (!line->error.empty()) return;
  const int64_t status = append_text(ids.data(), ids.size(), &line->out);
  if (status < 0) line->error = describe_error(status, detail_);
  line->out += '\n';
}

void Translator::read_ids(const std::string& text, Line* line) {
  line->error = parse_ids(text, info_.source_vocab_size, &line->source);
  const uint32_t most = memory_.limits.max_source_tokens;
  if (line->error.empty() && line->source.size() > most)
    line->error = too_many(line->source.size(), most, "--max-source");
  if (!line->error.empty() || line->source.empty() || has_warned_of_end_) return;
  line->warning = goldcrest::converter::missing_end(line->source, source_end(model_.bytes()));
  has_warned_of_end_ = !line->warning.empty();
}

// The line of options_.score_file that belongs to this one.
void Translator::read_target(Line* line) {
  std::string text;
  const bool found = read_line(targets_.get(), &text);
  std::string problem = found                              ? parse_ids(text, info_.target_vocab_size, &line->target)
                        : std::ferror(targets_.get()) != 0 ? std::strerror(errno)
                                                           : "no such line";
  const uint32_t most = memory_.limits.max_target_tokens;
  if (problem.empty() && line->target.size() > most) problem = too_many(line->target.size(), most, "--max-target");
  if (problem.empty() && line->target.empty() && !line->source.empty()) problem = "no ids";
  if (!problem.empty() && line->error.empty()) line->error = options_.score_file + ": " + problem;
}

bool Translator::check_targets() {
  std::string text;
  return !targets_ || !read_line(targets_.get(), &text) ||
         refuse(options_.score_file + ": more lines than the input has");
}

// What can be done for a line alone.
void Translator::read(const std::string& text, Line* line) {
  if (options_.decode) return decode(text, line);
  if (!options_.encode && is_blank(text)) {
    line->out = "\n";
    return;
  }
  if (options_.ids) return read_ids(text, line);
  line->error = text_problem(text);
  if (!line->error.empty()) return;
  line->warning = code_warning(text);
  tokenize(text, line);
  if (!options_.encode) return;
  append_ids(line->source.data(), line->source.size(), &line->out);
  line->out += '\n';
}

// Appends what a result's tokens attended to. A negative status is an error.
int64_t Translator::append_alignments(uint32_t sentence, uint32_t rank, uint32_t n_tokens, std::string* text) {
  std::vector<float> weights(memory_.limits.max_source_tokens);
  for (uint32_t token = 0; token < n_tokens; ++token) {
    const goldcrest_alignment wanted = {sentence, rank, token, options_.alignment_layer, options_.alignment_head};
    const int n = goldcrest_get_alignment(engine_, &wanted, weights.data(), weights.size());
    if (n < 0) return n;
    *text += token == 0 ? '\t' : ' ';
    if (options_.alignments == "hard") {
      const auto largest = std::max_element(weights.begin(), weights.begin() + n);
      *text += std::to_string(largest - weights.begin()) + '-' + std::to_string(token);
      continue;
    }
    for (int i = 0; i < n; ++i) {
      if (i > 0) *text += ',';
      append_number(static_cast<double>(weights[static_cast<size_t>(i)]), text);
    }
  }
  return GOLDCREST_OK;
}

// Appends the results of a sentence, best first. A negative status is an error.
int64_t Translator::append_results(uint32_t sentence, Line* line) {
  for (uint32_t rank = 0; rank < options_.n_best; ++rank) {
    goldcrest_result result = {};
    const int found = goldcrest_get_result(engine_, sentence, rank, &result);
    if (found < 0) return rank == 0 ? found : GOLDCREST_OK;  // there may be fewer than n_best
    if (rank == 0) target_tokens_ += result.n_tokens;
    if (options_.n_best > 1) line->out += std::to_string(line->number) + '\t' + std::to_string(rank + 1) + '\t';
    if (options_.scores) {
      append_number(static_cast<double>(result.score), &line->out);
      line->out += '\t';
    }
    if (targets_) {
      append_number(static_cast<double>(result.log_prob), &line->out);
    } else if (options_.tokens || options_.ids) {
      append_ids(result.tokens, result.n_tokens, &line->out);
    } else {
      const int64_t status = append_text(result.tokens, result.n_tokens, &line->out);
      if (status < 0) return status;
    }
    for (uint32_t i = 0; options_.token_scores && i < result.n_tokens; ++i) {
      line->out += i == 0 ? '\t' : ' ';
      append_number(static_cast<double>(result.token_log_probs[i]), &line->out);
    }
    if (!options_.alignments.empty()) {
      const int64_t status = append_alignments(sentence, rank, result.n_tokens, &line->out);
      if (status < 0) return status;
    }
    line->out += '\n';
  }
  return GOLDCREST_OK;
}

void Translator::translate_batch(const std::vector<Line*>& batch) {
  const auto begin = std::chrono::steady_clock::now();
  int status = GOLDCREST_OK;
  for (size_t i = 0; i < batch.size() && status >= 0; ++i) {
    const auto store = i == 0 ? goldcrest_begin : goldcrest_add;
    status = store(engine_, batch[i]->source.data(), batch[i]->source.size());
  }
  for (uint32_t i = 0; targets_ && i < batch.size() && status >= 0; ++i) {
    status = goldcrest_score(engine_, i, batch[i]->target.data(), batch[i]->target.size());
  }
  if (status >= 0) status = goldcrest_run(engine_);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (uint32_t i = 0; i < batch.size(); ++i) {
    const int64_t formatted = status < 0 ? status : append_results(i, batch[i]);
    if (formatted < 0)
      batch[i]->error = describe_error(formatted, detail_);
    else
      source_tokens_ += batch[i]->source.size();
  }
}

// Translates the lines that have a source, those with the most tokens first.
void Translator::translate(std::vector<Line>* lines) {
  std::vector<Line*> order;
  for (Line& line : *lines) {
    if (line.error.empty() && !line.source.empty()) order.push_back(&line);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line* a, const Line* b) { return a->source.size() > b->source.size(); });
  for (auto first = order.begin(); first != order.end();) {
    const auto last = first + std::min<ptrdiff_t>(memory_.limits.batch, order.end() - first);
    translate_batch({first, last});
    first = last;
  }
}

void Translator::print(const Line& line) {
  if (!line.warning.empty())
    std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": warning: %s\n", line.number, line.warning.c_str());
  if (line.error.empty()) {
    std::fwrite(line.out.data(), 1, line.out.size(), stdout);
    return;
  }
  ++failed_lines_;
  std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": %s\n", line.number, line.error.c_str());
  std::fputc('\n', stdout);
}

bool Translator::process(std::FILE* input, const std::string& name) {
  const bool alone = options_.encode || options_.decode || memory_.limits.batch == 1;  // each answer at once
  const size_t ahead = alone ? 1 : size_t{kBatchesAhead} * memory_.limits.batch;
  std::vector<Line> lines;
  std::string text;
  bool is_first = true;
  for (bool more = true; more;) {
    lines.clear();
    while (lines.size() < ahead && (more = read_line(input, &text))) {
      if (std::exchange(is_first, false) && text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0)
        text.erase(0, kByteOrderMark.size());
      lines.push_back({++n_lines_, {}, {}, {}, {}});
      read(text, &lines.back());
      if (targets_) read_target(&lines.back());
    }
    const int read_error = std::ferror(input) != 0 ? errno : 0;
    if (!options_.encode && !options_.decode) translate(&lines);
    for (const Line& line : lines) print(line);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return false;
    if (read_error != 0) return refuse(name + ": " + std::strerror(read_error));
  }
  return true;
}

void Translator::print_stats() const {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const double speed = seconds_ > 0 ? static_cast<double>(target_tokens_) / seconds_ : 0;
  std::fprintf(stderr,
               "lines %" PRIu64 " (%" PRIu64 " failed), source tokens %" PRIu64 ", target tokens %" PRIu64
               ", %.3f s, %.1f target tokens/s\n"
               "arena %" PRIu64 " bytes, model %zu bytes, peak resident memory %ld KiB, kernels %s, threads %" PRIu32
               ", batch %" PRIu32 "\n",
               n_lines_, failed_lines_, source_tokens_, target_tokens_, seconds_, speed, memory_.arena_bytes,
               model_.size(), usage.ru_maxrss, goldcrest_kernels_name(engine_), memory_.limits.threads,
               memory_.limits.batch);
  if (!backend_.memory().empty()) std::fprintf(stderr, "%s\n", backend_.memory().c_str());
}
