// SPDX-License-Identifier: Apache-2.0
// --evaluate: runs the user's own lines through the float32 reference and the int8 engine, and measures what int8 costs
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "reference/reference_search.h"

namespace goldcrest::converter {
struct EvaluationLine {
  std::string source;
  std::vector<std::string> references;  // empty: only the two translations are compared
  size_t number = 0;                    // the source's first line in the file, from 1
  size_t n_lines = 1;                   // lines of the file with this source
};

// Lines are `source [TAB reference]...`. If a source is on several lines, its references are merged, in the order of
// first appearance. If `alternatives` is not empty, it separates several references in one field ("a | b"). Empty lines
// are left out. Throws Error if the file cannot be read, if a line has no source, or if there is no line.
std::vector<EvaluationLine> read_evaluation_lines(const std::filesystem::path& path, const std::string& alternatives);

struct Translation {
  std::vector<int32_t> tokens;  // end token included
  std::string text;
  std::string error;                        // empty, or the reason why the source was not translated
  uint32_t n_outputs = 0;                   // for the engine: number of ids that the search chose from
  std::vector<float> token_log_probs = {};  // for the engine, if its session's limits.inspection has the bit
  uint32_t n_source_tokens = 0;             // for the engine, of a text or ids
};

// A way to translate. The implementation decides between greedy search and beams.
class Translator {
 public:
  virtual ~Translator() = default;
  // Returns one result per source.
  virtual std::vector<Translation> translate(std::span<const std::string> sources) = 0;
};

class ReferenceTranslator : public Translator {
 public:
  using Encode = std::function<OwnedSource(const std::string& text)>;          // may throw Error
  using Decode = std::function<std::string(std::span<const int32_t> tokens)>;  // may throw Error

  ReferenceTranslator(const Reference& reference, const SearchOptions& options, Encode encode, Decode decode);
  std::vector<Translation> translate(std::span<const std::string> sources) override;
 private:
  const Reference& reference_;
  SearchOptions options_;
  Encode encode_;
  Decode decode_;
};

struct Quality {
  double bleu = 0, chrf = 0;   // 0..100
  double word_error_rate = 0;  // percent: edits per word of the nearest reference, or per character
  double exact_match = 0;      // percent of lines; 100 - exact_match is the word error of a word list
};

struct EvaluatedLine {
  size_t line = 0;  // index into the lines given
  Translation float32, int8;
  bool identical = false;  // the same token ids
  // With references: sentence chrF of float32 minus that of int8. Without: 100 minus the chrF of int8 against float32.
  double loss = 0;
};

// A share of lines, 0..1, between two bounds.
struct ShareInterval {
  double low = 0, high = 1;
};

// Returns the 95 % interval of a share of which `found` of n lines are a sample, by Wilson's formula (1927); all of
// 0..1 without lines.
ShareInterval share_interval(size_t found, size_t n);

// `int8` holds the engine's results, even if the file's weights are float32.
struct Evaluation {
  std::string engine_name = "int8";   // in texts, and as a JSON key
  bool counts_characters = false;     // errors are of characters, not of words
  std::vector<EvaluatedLine> lines;   // lines that both translated, in the given order
  std::vector<EvaluatedLine> failed;  // lines with an error on one side; no other figure counts them
  size_t identical = 0;
  // 1 - (sum of the edit distances between the two id sequences) / (sum of the longer one's lengths); 1 without lines.
  double token_agreement = 1;
  double chrf = 0;  // the engine's texts against float32's, 0..100
  // The mean of KL(float32 || engine) for each id of float32's texts, in thousandths of a nat; absent: not asked for
  std::optional<double> divergence;
  size_t lines_with_references = 0;
  std::optional<Quality> float32, int8;  // over the lines with references; absent if there are none
  std::vector<size_t> most_lost;         // indices into `lines` of those with a loss above 0, largest first
};

struct EvaluationOptions {
  size_t batch = 64;                                        // sources that a translator gets at a time
  bool counts_characters = false;                           // see Evaluation
  std::function<void(size_t done, size_t total)> progress;  // after each batch; may be empty
};

Evaluation evaluate(
    const std::vector<EvaluationLine>& lines, Translator& float32, Translator& int8, const EvaluationOptions& options);

// Returns how many lines of the file have the source of an earlier line.
size_t n_merged(const std::vector<EvaluationLine>& lines);
// For a terminal: the figures and at most `most` of the lines that differ, those with the largest losses first.
std::string to_text(const Evaluation& evaluation, const std::vector<EvaluationLine>& lines, size_t most);
}  // namespace goldcrest::converter
