// SPDX-License-Identifier: Apache-2.0
// The search of goldcrest-translate step by step: prefixes, text as it becomes certain, deadlines, interrupts. Then its
// output: results as text, ids, scores and alignments, messages about lines, statistics.
#include <sys/resource.h>
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "host/messages.h"
#include "host/model_texts.h"
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

// Reads the terms. Returns false after an error message.
bool Translator::read_glossary() {
  const std::string& path = options_.glossary;
  if (path.empty()) return true;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return refuse(path + ": cannot be read: " + std::strerror(errno));
  cutter_.emplace(session_);
  glossary_.emplace(session_, *cutter_);
  std::string line;
  for (size_t number = 1; read_line(file.get(), &line); ++number) {
    const std::string problem = glossary_->add(line);
    if (!problem.empty()) return refuse(path + ": line " + std::to_string(number) + ": " + problem);
  }
  if (std::ferror(file.get()) != 0) return refuse(path + ": cannot be read: " + std::strerror(errno));
  if (glossary_->empty()) return refuse(path + ": no terms; expected one a line: a phrase, a tab, its translation");
  const uint32_t most = options_.limits.max_target_tokens;
  options_.limits.max_prefix_tokens = (most != 0 ? most : session_.info().limits.max_target_tokens) - 1;
  return true;
}

goldcrest::host::SentenceSearch::Options Translator::search_options() {
  const TranslatorOptions& o = options_;
  goldcrest::host::SentenceSearch::Options search;
  search.n_best = o.n_best;
  search.has_text = !o.tokens && !o.ids;
  search.token_scores = o.token_scores;
  search.scores_targets = !o.score_file.empty();
  search.has_attention = !o.alignments.empty();
  search.attention_layer = o.alignment_layer;
  search.attention_head = o.alignment_head;
  search.prefix_flags = GOLDCREST_PREFIX_BEHIND_PROMPT | (o.prefix_in_lengths ? GOLDCREST_PREFIX_IN_LENGTHS : 0);
  search.has_streams = o.samples;
  search.deadline = o.deadline;
  if (!has_marks()) return search;
  search.aligns = [this](const Sentence& sentence) {
    const goldcrest::host::MarkedText& text = lines_[sentence.input].marked;
    return text.has_marks(sentence.begin, sentence.bytes) || (glossary_ && glossary_->has_mistake(text, sentence));
  };
  if (!glossary_) return search;
  search.prefix_flags = goldcrest::host::Glossary::kPrefixFlags;
  search.search = &search_rules_;
  search.sequences = sequences_ ? &*sequences_ : nullptr;
  search.again = [this](
                     Sentence* sentence) { return glossary_->wants_again(&lines_[sentence->input].marked, sentence); };
  return search;
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

// Prints what stands before the text of a sentence.
void Translator::begin_stream(Sentence* sentence) {
  Line& line = lines_[sentence->input];
  if (!line.warning.empty()) print_warning(line);
  line.warning.clear();
  std::fwrite(line.out.data(), 1, line.out.size(), stdout);
  std::fwrite(sentence->space.data(), 1, sentence->space.size(), stdout);
  line.out.clear();
  sentence->space.clear();
}

// Tells a sentence's line and the statistics how its search ended.
void Translator::finish(const Sentence& sentence) {
  Line& line = lines_[sentence.input];
  if (!sentence.problem.empty()) {
    line.error = sentence.problem;
    return;
  }
  const goldcrest::host::Found& best = sentence.found[0];
  source_tokens_ += sentence.source.size();
  target_tokens_ += best.ids.size();
  if (best.was_cut) line.n_cut = static_cast<uint32_t>(best.ids.size());
  if (!sentence.is_stopped) return;
  char seconds[64];
  std::snprintf(seconds, sizeof seconds, "stopped after %g s (--deadline); its end is missing", options_.deadline);
  line.stopped = is_interrupted() ? "interrupted; its end is missing" : seconds;
  if (session_.replaces_unknowns()) line.stopped += ", and unknown tokens are not replaced";
}

// Returns true if the program prints more than the text of a result on its line, with tabs between.
bool Translator::has_columns() const {
  return options_.n_best > 1 || options_.scores || options_.token_scores || !options_.alignments.empty();
}

std::string Translator::in_line(const std::string& text) const {
  return options_.keep_controls ? text : goldcrest::single_line(text, !has_columns());
}

std::string Translator::text_or_ids(const goldcrest::host::Found& found) const {
  return options_.tokens || options_.ids ? goldcrest::ids_text(found.ids) : in_line(found.text);
}

// Appends what a result's tokens attended to.
void Translator::append_alignments(const goldcrest::host::Found& found, std::string* text) const {
  const size_t n = found.ids.empty() ? 0 : found.attention.size() / found.ids.size();
  for (size_t token = 0; token < found.ids.size(); ++token) {
    const float* const weights = &found.attention[token * n];
    *text += token == 0 ? '\t' : ' ';
    if (options_.alignments == "hard") {
      *text += std::to_string(std::max_element(weights, weights + n) - weights) + '-' + std::to_string(token);
      continue;
    }
    for (size_t i = 0; i < n; ++i) {
      if (i > 0) *text += ',';
      append_number(static_cast<double>(weights[i]), text);
    }
  }
}

// Returns what is printed for a sentence: its results, best first. --stream has printed their text.
std::string Translator::results_of(const Sentence& sentence) const {
  std::string out;
  const std::string end = splits_ ? "" : "\n";
  if (sentence.is_stopped) return options_.stream ? "" : text_or_ids(sentence.found[0]) + end;
  for (size_t rank = 0; rank < sentence.found.size(); ++rank) {
    const goldcrest::host::Found& found = sentence.found[rank];
    if (options_.n_best > 1)
      out += std::to_string(lines_[sentence.input].number) + '\t' + std::to_string(rank + 1) + '\t';
    if (options_.scores) {
      append_number(static_cast<double>(found.score), &out);
      out += '\t';
    }
    if (!options_.score_file.empty()) append_number(static_cast<double>(found.log_prob), &out);
    else if (!options_.stream) out += text_or_ids(found);
    for (size_t i = 0; i < found.token_log_probs.size(); ++i) {
      out += i == 0 ? '\t' : ' ';
      append_number(static_cast<double>(found.token_log_probs[i]), &out);
    }
    if (!options_.alignments.empty()) append_alignments(found, &out);
    out += end;
  }
  return out;
}

void Translator::say_of_line(const Line& line, goldcrest::Paint paint, const std::string& text) {
  const std::string message = "goldcrest-translate: line " + std::to_string(line.number) + ": " + text;
  std::fprintf(stderr, "%s\n", goldcrest::painted(paint, message).c_str());
}

void Translator::print_warning(const Line& line) {
  say_of_line(line, goldcrest::Paint::kYellow, "warning: " + line.warning);
}

void Translator::print(Line& line) {
  if (!line.warning.empty()) print_warning(line);
  std::string error = line.error.empty() && !line.has_tokens ? line.no_tokens : line.error;
  if (line.writer) {
    if (options_.html && !error.empty()) {  // no text is lost
      line.writer.emplace(line.marked);
      line.out.clear();
    }
    line.writer->finish(&line.out);
    n_unplaced_ += line.writer->n_unplaced();
    if (options_.html) line.end.clear();
    else line.out = in_line(line.out);
  }
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
  if (options_.html) std::fwrite(line.out.data(), 1, line.out.size(), stdout);
  if (!options_.html) std::fputc('\n', stdout);
}

void Translator::warn_of_lines() const {
  if (n_unplaced_ != 0)
    std::fprintf(stderr,
        "goldcrest-translate: warning: %" PRIu64
        " tags or kept texts belong to no word of the translation; they stand at the end of their sentences\n",
        n_unplaced_);
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
