// SPDX-License-Identifier: Apache-2.0
// Both translators get the same batches; figures are collected line by line.
#include "evaluate/evaluate.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <unordered_map>
#include <utility>
#include "evaluate/metrics.h"
#include "host/printable.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t at; (at = text.find(separator, start)) != text.npos; start = at + separator.size())
    parts.push_back(text.substr(start, at - start));
  parts.push_back(text.substr(start));
  return parts;
}

struct QualityScorer {
  ErrorRateScorer errors;
  BleuScorer bleu = {};
  ChrfScorer chrf = {};

  void add(const std::string& hypothesis, const std::vector<std::string>& references) {
    bleu.add(hypothesis, references);
    chrf.add(hypothesis, references);
    errors.add(hypothesis, references);
  }
  Quality quality() const { return {bleu.score(), chrf.score(), errors.word_error_rate(), errors.exact_match()}; }
};

double loss_of(const EvaluatedLine& line, const std::vector<std::string>& references) {
  if (line.float32.text == line.int8.text) return 0;
  if (references.empty()) return 100 - sentence_chrf(line.int8.text, {line.float32.text});
  return sentence_chrf(line.float32.text, references) - sentence_chrf(line.int8.text, references);
}

std::vector<Translation> translate_all(Translator& translator, const std::vector<std::string>& sources) {
  std::vector<Translation> translations = translator.translate(sources);
  if (translations.size() != sources.size())
    throw Error("a translator gave {} results for {} sources", translations.size(), sources.size());
  return translations;
}

// Fills in all figures that need only the two results.
void measure_agreement(Evaluation& evaluation) {
  size_t edits = 0, longest = 0;
  ChrfScorer chrf;
  for (EvaluatedLine& line : evaluation.lines) {
    const std::vector<int32_t>&a = line.float32.tokens, &b = line.int8.tokens;
    edits += edit_distance<int32_t>(a, b);
    longest += std::max(a.size(), b.size());
    line.identical = a == b;
    evaluation.identical += line.identical ? 1 : 0;
    chrf.add(line.int8.text, {line.float32.text});
  }
  evaluation.chrf = chrf.score();
  if (longest > 0) evaluation.token_agreement = 1 - static_cast<double>(edits) / static_cast<double>(longest);
}

void measure_quality(const std::vector<EvaluationLine>& given, Evaluation& evaluation) {
  QualityScorer float32{ErrorRateScorer(evaluation.counts_characters)}, int8 = float32;
  for (const EvaluatedLine& line : evaluation.lines) {
    const std::vector<std::string>& references = given[line.line].references;
    if (references.empty()) continue;
    ++evaluation.lines_with_references;
    float32.add(line.float32.text, references);
    int8.add(line.int8.text, references);
  }
  if (evaluation.lines_with_references == 0) return;
  evaluation.float32 = float32.quality();
  evaluation.int8 = int8.quality();
}

void rank_losses(const std::vector<EvaluationLine>& given, Evaluation& evaluation) {
  std::vector<EvaluatedLine>& lines = evaluation.lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i].loss = loss_of(lines[i], given[lines[i].line].references);
    if (lines[i].loss > 0) evaluation.most_lost.push_back(i);
  }
  std::stable_sort(evaluation.most_lost.begin(), evaluation.most_lost.end(),
      [&](size_t a, size_t b) { return lines[a].loss > lines[b].loss; });
}

std::string quality_text(const Evaluation& evaluation, const std::string& name, const Quality& q) {
  return format_text("  {:<8} BLEU {:.2f}  chrF {:.2f}  {} error rate {:.2f} %  exact match {:.2f} %\n", name, q.bleu,
      q.chrf, evaluation.counts_characters ? "character" : "word", q.word_error_rate, q.exact_match);
}

// Throws Error unless a line of an evaluation's file is UTF-8 without NUL bytes.
void check_text(const std::filesystem::path& path, size_t number, const std::string& line) {
  const size_t valid = valid_utf8_prefix(line), nul = line.find('\0');
  if (valid == line.size() && nul == std::string::npos) return;
  if (line.starts_with("\x89PNG") || line.starts_with("\xff\xd8"))
    throw Error("{}: is an image; expected a list of them: lines of IMAGE [TAB TEXT]", path.string());
  const bool is_utf16 = nul != std::string::npos || line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff");
  throw Error("{}:{}: {} at byte {}; expected UTF-8. {}: iconv -f {} -t UTF-8 {} > new.tsv", path.string(), number,
      valid < line.size() ? "no UTF-8" : "a NUL byte", std::min(valid, nul) + 1,
      is_utf16 ? "If it is UTF-16" : "If it is Latin-1", is_utf16 ? "UTF-16" : "ISO-8859-1", path.string());
}
}  // namespace

std::vector<EvaluationLine> read_evaluation_lines(const std::filesystem::path& path, const std::string& alternatives) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("{}: cannot be opened for reading; expected lines of source [TAB reference]...", path.string());
  std::vector<EvaluationLine> lines;
  std::unordered_map<std::string, size_t> index_of_source;
  std::string text;
  for (size_t number = 1; std::getline(file, text); ++number) {
    check_text(path, number, text);
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    const std::vector<std::string> fields = split(text, "\t");
    if (fields[0].empty()) throw Error("{}:{}: no source before the first tab", path.string(), number);
    const auto [place, is_new] = index_of_source.try_emplace(fields[0], lines.size());
    if (is_new) lines.push_back({.source = fields[0], .references = {}, .number = number});
    else ++lines[place->second].n_lines;
    std::vector<std::string>& references = lines[place->second].references;
    for (size_t i = 1; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      const std::vector<std::string> found =
          alternatives.empty() ? std::vector{fields[i]} : split(fields[i], alternatives);
      references.insert(references.end(), found.begin(), found.end());
    }
  }
  if (file.bad()) throw Error("{}: cannot be read to its end; expected a file of lines", path.string());
  if (lines.empty()) throw Error("{}: no lines; expected source [TAB reference]...", path.string());
  return lines;
}

ReferenceTranslator::ReferenceTranslator(
    const Reference& reference, const SearchOptions& options, Encode encode, Decode decode)
    : reference_(reference), options_(options), encode_(std::move(encode)), decode_(std::move(decode)) {}

std::vector<Translation> ReferenceTranslator::translate(std::span<const std::string> sources) {
  std::vector<Translation> translations;
  for (const std::string& source : sources) {
    Translation& translation = translations.emplace_back();
    try {
      translation.tokens = search(reference_, encode_(source).view(), options_)[0].tokens;
      translation.text = decode_(translation.tokens);
    } catch (const Error& error) {
      translation.error = error.what();
    }
  }
  return translations;
}

Evaluation evaluate(
    const std::vector<EvaluationLine>& lines, Translator& float32, Translator& int8, const EvaluationOptions& options) {
  Evaluation evaluation;
  evaluation.counts_characters = options.counts_characters;
  const size_t batch = std::max<size_t>(1, options.batch);
  for (size_t start = 0; start < lines.size(); start += batch) {
    std::vector<std::string> sources;
    for (size_t i = start; i < std::min(lines.size(), start + batch); ++i) sources.push_back(lines[i].source);
    std::vector<Translation> expected = translate_all(float32, sources), found = translate_all(int8, sources);
    for (size_t i = 0; i < sources.size(); ++i) {
      const bool failed = !expected[i].error.empty() || !found[i].error.empty();
      EvaluatedLine& line = (failed ? evaluation.failed : evaluation.lines).emplace_back();
      line.line = start + i;
      line.float32 = std::move(expected[i]);
      line.int8 = std::move(found[i]);
    }
    if (options.progress) options.progress(start + sources.size(), lines.size());
  }
  measure_agreement(evaluation);
  measure_quality(lines, evaluation);
  rank_losses(lines, evaluation);
  return evaluation;
}

ShareInterval share_interval(size_t found, size_t n) {
  if (n == 0) return {};
  constexpr double kDeviations = 1.959964;  // a normal distribution has 95 % within them
  const auto lines = static_cast<double>(n);
  const double share = static_cast<double>(found) / lines, square = kDeviations * kDeviations / lines;
  const double middle = (share + square / 2) / (1 + square);
  const double half = std::sqrt(share * (1 - share) * square + square * square / 4) / (1 + square);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

size_t n_merged(const std::vector<EvaluationLine>& lines) {
  size_t n = 0;
  for (const EvaluationLine& line : lines) n += line.n_lines - 1;
  return n;
}

std::string to_text(const Evaluation& evaluation, const std::vector<EvaluationLine>& lines, size_t most) {
  const size_t n = evaluation.lines.size();
  std::string text = format_text("{} lines: {} identical ({:.2f} %), token agreement {:.2f} %\n", n,
      evaluation.identical, n == 0 ? 100.0 : 100.0 * static_cast<double>(evaluation.identical) / static_cast<double>(n),
      100 * evaluation.token_agreement);
  if (n != 0) {
    const ShareInterval interval = share_interval(evaluation.identical, n);
    text += format_text("identical lines: {:.2f} to {:.2f} % (95 % interval); chrF {:.2f} against float32's texts\n",
        100 * interval.low, 100 * interval.high, evaluation.chrf);
  }
  if (evaluation.divergence)
    text += format_text(
        "KL(float32 || {}): {:.3f} thousandths of a nat an id\n", evaluation.engine_name, *evaluation.divergence);
  if (const size_t merged = n_merged(lines); merged != 0)
    text += format_text("{} more lines have an earlier line's source: they count once, with all references\n", merged);
  if (evaluation.float32 && evaluation.int8) {
    text += format_text("{} lines with references\n", evaluation.lines_with_references);
    text += quality_text(evaluation, "float32", *evaluation.float32) +
            quality_text(evaluation, evaluation.engine_name, *evaluation.int8);
  }
  for (const EvaluatedLine& line : evaluation.failed) {
    const bool by_float32 = !line.float32.error.empty();
    text += format_text(
        "line {} left out: {}\n", lines[line.line].number, by_float32 ? line.float32.error : line.int8.error);
  }
  size_t n_shown = 0;
  const auto show = [&](const EvaluatedLine& line) {
    const EvaluationLine& given = lines[line.line];
    text += format_text("line {}: {}\n  source    {}\n  float32   {}\n  {:<8}  {}\n", given.number,
        line.loss > 0 ? format_text("lost {:.1f} chrF", line.loss) : "differs, and lost nothing", given.source,
        line.float32.text, evaluation.engine_name, line.int8.text);
    for (const std::string& reference : given.references) text += format_text("  reference {}\n", reference);
    ++n_shown;
  };
  for (const size_t i : evaluation.most_lost)
    if (n_shown < most) show(evaluation.lines[i]);
  for (const EvaluatedLine& line : evaluation.lines)
    if (n_shown < most && line.loss <= 0 && !line.identical) show(line);
  const size_t n_different = n - evaluation.identical;
  if (n_shown < n_different) text += format_text("{} more lines differ; --verbose prints all\n", n_different - n_shown);
  return text;
}
}  // namespace goldcrest::converter
