// SPDX-License-Identifier: Apache-2.0
// The output of goldcrest-translate: results as text, ids, scores and alignments, messages about lines, statistics.
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "goldcrest/inspection.h"
#include "translator.h"

namespace {

void append_number(double value, std::string* text) {
  char number[64];
  std::snprintf(number, sizeof number, "%.6f", value);
  *text += number;
}

}  // namespace

void Translator::append_ids(const int32_t* ids, size_t n, std::string* text) {
  for (size_t i = 0; i < n; ++i) *text += (i == 0 ? "" : " ") + std::to_string(ids[i]);
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

// Appends the results of a source, best first. A negative status is an error.
int64_t Translator::append_results(uint32_t index, Sentence* sentence) {
  std::string& out = sentence->out;
  for (uint32_t rank = 0; rank < options_.n_best; ++rank) {
    goldcrest_result result = {};
    const int found = goldcrest_get_result(engine_, index, rank, &result);
    if (found < 0) return rank == 0 ? found : GOLDCREST_OK;  // there may be fewer than n_best
    if (rank == 0) target_tokens_ += result.n_tokens;
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
      const int64_t status = append_text(result.tokens, result.n_tokens, &out);
      if (status < 0) return status;
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

void Translator::print_warning(const Line& line) {
  std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": warning: %s\n", line.number, line.warning.c_str());
}

void Translator::print(const Line& line) {
  if (!line.warning.empty()) print_warning(line);
  const std::string& error = line.error.empty() && !line.has_tokens ? line.no_tokens : line.error;
  if (error.empty()) {
    std::fwrite(line.out.data(), 1, line.out.size(), stdout);
    std::fwrite(line.end.data(), 1, line.end.size(), stdout);
    if (line.stopped.empty()) return;
    ++failed_lines_;
    std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": %s\n", line.number, line.stopped.c_str());
    return;
  }
  ++failed_lines_;
  std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": %s\n", line.number, error.c_str());
  std::fputc('\n', stdout);
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
