// SPDX-License-Identifier: Apache-2.0
// The search of goldcrest-translate step by step: prefixes, text as it becomes certain, deadlines, interrupts. Then its
// output: results as text, ids, scores and alignments, messages about lines, statistics.
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "host/interrupt.h"
#include "host/messages.h"
#include "host/printable.h"
#include "host/text_lines.h"
#include "translator.h"

namespace {

void append_number(double value, std::string* text) {
  char number[64];
  std::snprintf(number, sizeof number, "%.6f", value);
  *text += number;
}

}  // namespace

// *prefix_ <- the ids with which every result begins. Returns false after an error message.
bool Translator::read_prefix() {
  const TranslatorOptions& o = options_;
  std::string problem;
  if (!o.prefix.empty()) problem = TextCutter(session_).cut(o.prefix, &prefix_);
  if (!o.prefix_ids.empty()) problem = parse_ids(o.prefix_ids, session_.info().target_vocab_size, &prefix_);
  if (!problem.empty()) return refuse(options_.model + ": prefix: " + problem);
  const uint32_t most =
      o.limits.max_target_tokens != 0 ? o.limits.max_target_tokens : session_.info().limits.max_target_tokens;
  options_.limits.max_prefix_tokens = static_cast<uint32_t>(prefix_.size());
  if (!o.prefix_file.empty()) {
    options_.limits.max_prefix_tokens = most - 1;
    return open_line_ids(o.prefix_file);
  }
  if (session_.info().prompt_tokens + prefix_.size() >= most)
    return refuse(options_.model +
                  ": prefix: " + too_many(prefix_.size(), most - 1 - session_.info().prompt_tokens, "--max-target"));
  return true;
}

// Cuts the lines of the lexicon. Returns false after an error message.
bool Translator::read_lexicon() {
  const std::string& path = options_.lexicon;
  if (path.empty()) return true;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return refuse(path + ": cannot be read: " + std::strerror(errno));
  const TextCutter cutter(session_);
  std::vector<std::vector<int32_t>> entries;
  std::string line;
  for (size_t number = 1; read_line(file.get(), &line); ++number) {
    if (is_blank(line)) continue;
    std::vector<int32_t>& entry = entries.emplace_back();
    std::string problem =
        options_.ids ? parse_ids(line, session_.info().target_vocab_size, &entry) : text_problem(line);
    if (problem.empty() && !options_.ids) problem = cutter.cut(line, &entry);
    if (!problem.empty()) return refuse(path + ": line " + std::to_string(number) + ": " + problem);
  }
  if (std::ferror(file.get()) != 0) return refuse(path + ": cannot be read: " + std::strerror(errno));
  if (entries.empty()) return refuse(path + ": no entries; expected one text a line");
  lexicon_ = goldcrest::make_lexicon(std::move(entries), options_.lexicon_words);
  goldcrest_limits& limits = options_.limits;
  const uint32_t beams = limits.beam_size != 0 ? limits.beam_size : session_.info().limits.beam_size;
  if (limits.max_candidates == 0)
    limits.max_candidates = goldcrest::lexicon_candidates(lexicon_, beams, session_.info().target_vocab_size);
  return true;
}

// Reads the sequences of the options. Returns false after an error message.
bool Translator::read_sequences() {
  const auto add = [this](std::string problem, const std::vector<int32_t>& ids, float bias) {
    if (problem.empty() && ids.empty()) problem = "no ids";
    if (!problem.empty()) return refuse(options_.model + ": sequence: " + problem);
    sequence_ids_.push_back(static_cast<int32_t>(ids.size()));
    sequence_ids_.insert(sequence_ids_.end(), ids.begin(), ids.end());
    sequence_biases_.push_back(bias);
    return true;
  };
  std::vector<int32_t> ids;
  if (!options_.suppressed.empty() && !add(TextCutter(session_).cut(options_.suppressed, &ids), ids, -HUGE_VALF))
    return false;
  for (const std::string& text : options_.suppressed_ids) {
    const std::string problem = parse_ids(text, session_.info().target_vocab_size, &ids);
    if (!add(problem, ids, -HUGE_VALF)) return false;
  }
  for (const std::string& text : options_.biased_ids) {
    char* end = nullptr;
    const float bias = std::strtof(text.c_str(), &end);
    std::string problem = end == text.c_str() ? "no bias in front: " + goldcrest::printable(text) : "";
    if (problem.empty()) problem = parse_ids(end, session_.info().target_vocab_size, &ids);
    if (!add(problem, ids, bias)) return false;
  }
  return true;
}

int Translator::set_prefixes(const std::vector<Sentence*>& batch) {
  const uint32_t flags =
      GOLDCREST_PREFIX_BEHIND_PROMPT | (options_.prefix_in_lengths ? GOLDCREST_PREFIX_IN_LENGTHS : 0);
  int status = GOLDCREST_OK;
  for (uint32_t i = 0; options_.limits.max_prefix_tokens > 0 && i < batch.size() && status >= 0; ++i) {
    const std::vector<int32_t>& ids = options_.prefix_file.empty() ? prefix_ : batch[i]->of_line;
    status = goldcrest_set_prefix(session_.engine(), i, ids.data(), ids.size(), flags);
  }
  return status;
}

// With --sample: results do not depend on how sentences are put into batches.
int Translator::set_streams(const std::vector<Sentence*>& batch) {
  int status = GOLDCREST_OK;
  for (uint32_t i = 0; options_.samples && i < batch.size() && status >= 0; ++i) {
    status = goldcrest_set_stream(session_.engine(), i, batch[i]->stream);
  }
  return status;
}

// Prints the text of what has become certain since the last call; at the end also what waits in the state.
int64_t Translator::print_certain(Stream* stream, bool at_end) const {
  const std::vector<int32_t> tokens = session_.agreed_tokens(0);
  char piece[4096];
  bool has_text = false;
  for (size_t i = stream->n_printed; i < tokens.size() + (at_end ? 1 : 0); ++i) {
    const size_t n = i < tokens.size() ? 1 : 0;
    const int64_t bytes =
        goldcrest_detokenize(session_.engine(), &stream->state, tokens.data() + i, n, piece, sizeof piece);
    if (bytes < 0) return bytes;
    std::string text(piece, static_cast<size_t>(bytes));
    if (!options_.keep_controls) text = goldcrest::single_line(text, true);
    std::fwrite(text.data(), 1, text.size(), stdout);
    has_text = has_text || bytes > 0;
  }
  stream->n_printed = tokens.size();
  if (has_text) std::fflush(stdout);
  return GOLDCREST_OK;
}

// Steps until the search is done, an interrupt or the deadline comes. Returns DONE, WORKING if it was stopped, or an
// error.
int64_t Translator::run_steps(Sentence* first) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> longest(options_.deadline);
  Stream stream = {};
  if (options_.stream) {
    Line& line = *first->line;
    if (!line.warning.empty()) print_warning(line);
    line.warning.clear();
    std::fwrite(line.out.data(), 1, line.out.size(), stdout);
    std::fwrite(first->space.data(), 1, first->space.size(), stdout);
    line.out.clear();
    first->space.clear();
  }
  int64_t status = GOLDCREST_WORKING;
  while (status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN) {
    if (is_interrupted()) break;
    if (options_.deadline > 0 && std::chrono::steady_clock::now() - begin >= longest) break;
    status = goldcrest_step(session_.engine(), nullptr);
    if (status >= 0 && options_.stream) {
      const int64_t printed = print_certain(&stream, false);
      if (printed < 0) status = printed;
    }
  }
  if (status == GOLDCREST_TOKEN) status = GOLDCREST_WORKING;
  if (status >= 0 && options_.stream) {
    const int64_t printed = print_certain(&stream, true);
    if (printed < 0) return printed;
  }
  return status;
}

// The certain tokens of a search that was stopped, and why it was.
int64_t Translator::append_certain(uint32_t index, Sentence* sentence) {
  char seconds[64];
  std::snprintf(seconds, sizeof seconds, "stopped after %g s (--deadline); its end is missing", options_.deadline);
  sentence->line->stopped = is_interrupted() ? "interrupted; its end is missing" : seconds;
  if (session_.replaces_unknowns()) sentence->line->stopped += ", and unknown tokens are not replaced";
  if (options_.stream) return GOLDCREST_OK;
  const std::vector<int32_t> tokens = session_.agreed_tokens(index);
  target_tokens_ += tokens.size();
  if (!options_.tokens && !options_.ids) {
    const int64_t status = append_text(tokens.data(), tokens.size(), &sentence->out);
    if (status < 0) return status;
  } else {
    append_ids(tokens.data(), tokens.size(), &sentence->out);
  }
  if (!splits_) sentence->out += '\n';
  return GOLDCREST_OK;
}

void Translator::append_ids(const int32_t* ids, size_t n, std::string* text) {
  for (size_t i = 0; i < n; ++i) *text += (i == 0 ? "" : " ") + std::to_string(ids[i]);
}

// Returns true if the program prints more than the text of a result on its line, with tabs between.
bool Translator::has_columns() const {
  return options_.n_best > 1 || options_.scores || options_.token_scores || !options_.alignments.empty();
}

// Appends the text of n ids. A negative status is an error.
int64_t Translator::append_text(const int32_t* ids, size_t n, std::string* text) {
  std::string whole;
  const int64_t status = session_.append_text(ids, n, &whole);
  append_printable(whole, text);
  return status;
}

void Translator::append_printable(const std::string& whole, std::string* text) const {
  *text += options_.keep_controls ? whole : goldcrest::single_line(whole, !has_columns());
}

// Appends what a result's tokens attended to. A negative status is an error.
int64_t Translator::append_alignments(uint32_t sentence, uint32_t rank, uint32_t n_tokens, std::string* text) {
  std::vector<float> weights(session_.memory().limits.max_source_tokens);
  for (uint32_t token = 0; token < n_tokens; ++token) {
    const goldcrest_alignment wanted = {sentence, rank, token, options_.alignment_layer, options_.alignment_head};
    const int n = goldcrest_get_alignment(session_.engine(), &wanted, weights.data(), weights.size());
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

// Appends the results of a source, best first. A negative status is an error.
int64_t Translator::append_results(uint32_t index, Sentence* sentence) {
  std::string& out = sentence->out;
  for (uint32_t rank = 0; rank < options_.n_best; ++rank) {
    goldcrest_result result = {};
    const int found = goldcrest_get_result(session_.engine(), index, rank, &result);
    if (found < 0) return rank == 0 ? found : GOLDCREST_OK;  // there may be fewer than n_best
    if (rank == 0) target_tokens_ += result.n_tokens;
    if (rank == 0 && result.was_cut != 0) sentence->line->n_cut = result.n_tokens;
    if (options_.n_best > 1) out += std::to_string(sentence->line->number) + '\t' + std::to_string(rank + 1) + '\t';
    if (options_.scores) {
      append_number(static_cast<double>(result.score), &out);
      out += '\t';
    }
    if (!options_.score_file.empty()) {
      append_number(static_cast<double>(result.log_prob), &out);
    } else if (options_.stream) {
      // printed already
    } else if (options_.tokens || options_.ids) {
      append_ids(result.tokens, result.n_tokens, &out);
    } else {
      std::string whole;
      const int64_t status = session_.append_result(index, rank, sentence->pieces, &whole);
      if (status < 0) return status;
      append_printable(whole, &out);
    }
    for (uint32_t i = 0; options_.token_scores && i < result.n_tokens; ++i) {
      out += i == 0 ? '\t' : ' ';
      append_number(static_cast<double>(result.token_log_probs[i]), &out);
    }
    if (!options_.alignments.empty()) {
      const int64_t status = append_alignments(index, rank, result.n_tokens, &out);
      if (status < 0) return status;
    }
    if (!splits_) out += '\n';
  }
  return GOLDCREST_OK;
}

void Translator::say_of_line(const Line& line, goldcrest::Paint paint, const std::string& text) {
  const std::string message = "goldcrest-translate: line " + std::to_string(line.number) + ": " + text;
  std::fprintf(stderr, "%s\n", goldcrest::painted(paint, message).c_str());
}

void Translator::print_warning(const Line& line) {
  say_of_line(line, goldcrest::Paint::kYellow, "warning: " + line.warning);
}

void Translator::print(const Line& line) {
  if (!line.warning.empty()) print_warning(line);
  const std::string& error = line.error.empty() && !line.has_tokens ? line.no_tokens : line.error;
  if (error.empty()) {
    if (line.n_cut != 0 && n_cut_lines_++ == 0) {
      first_cut_line_ = line.number;
      n_cut_tokens_ = line.n_cut;
    }
    std::fwrite(line.out.data(), 1, line.out.size(), stdout);
    std::fwrite(line.end.data(), 1, line.end.size(), stdout);
    if (line.stopped.empty()) return;
    ++failed_lines_;
    say_of_line(line, goldcrest::Paint::kYellow, line.stopped);
    return;
  }
  ++failed_lines_;
  say_of_line(line, goldcrest::Paint::kRed, error);
  std::fputc('\n', stdout);
}

void Translator::warn_of_cut_lines() const {
  if (n_cut_lines_ == 0) return;
  const std::string problem = goldcrest::cut_problem(session_.info(), session_.memory().limits, n_cut_tokens_);
  std::fprintf(stderr,
               "goldcrest-translate: warning: %" PRIu64 " of %" PRIu64 " lines end too early: line %" PRIu64
               " is the first, %s\n",
               n_cut_lines_, n_lines_, first_cut_line_, problem.c_str());
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
               n_lines_, failed_lines_, source_tokens_, target_tokens_, seconds_, speed, session_.memory().arena_bytes,
               session_.model_bytes(), usage.ru_maxrss, goldcrest_kernels_name(session_.engine()),
               session_.memory().limits.threads, session_.memory().limits.batch);
  if (!backend_.memory().empty()) std::fprintf(stderr, "%s\n", backend_.memory().c_str());
}
