// SPDX-License-Identifier: Apache-2.0
// The golden translations of the validation sets have the quality that sacrebleu 2.6.0 finds in them, with all
// references of a source (None if it has fewer than another source):
//   BLEU().corpus_score(texts, references), CHRF().corpus_score(texts, references)
// A text is ''.join(pieces).replace('\u2581', ' ').strip() for enfr and ' '.join(phonemes) for g2p. The error rates of
// g2p are those that its training script printed.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "evaluate/evaluate.h"
#include "evaluate/metrics_bleu.h"
#include "evaluate/metrics_chrf.h"
#include "evaluate/metrics_error_rate.h"

namespace goldcrest::converter {
namespace {

const std::filesystem::path kRoot = GOLDCREST_SOURCE_DIR;

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

std::string enfr_text(const std::map<int, std::string>& pieces, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) {
    if (id == 0) break;
    const std::string& piece = pieces.at(id);
    constexpr std::string_view kSpace = "\u2581";
    const bool starts_word = piece.starts_with(kSpace);
    if (starts_word) text += ' ';
    text += piece.substr(starts_word ? kSpace.size() : 0);
  }
  return text.substr(text.starts_with(' ') ? 1 : 0);
}

std::string g2p_text(const std::map<int, std::string>& phonemes, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) {
    if (id == 2) break;
    if (!text.empty()) text += ' ';
    text += phonemes.at(id);
  }
  return text;
}

using ToText = std::string (*)(const std::map<int, std::string>&, const std::vector<int>&);

// Returns the figures of the golden ids under `search`.
Quality golden_quality(const std::string& task, const std::string& search, const std::map<int, std::string>& vocabulary,
                       ToText to_text) {
  std::map<std::string, std::vector<std::string>> references;
  for (const EvaluationLine& line : read_evaluation_lines(kRoot / "tests/data" / task / "valid.tsv", " | "))
    references[line.source] = line.references;
  BleuScorer bleu;
  ChrfScorer chrf;
  ErrorRateScorer errors;
  std::ifstream results(kRoot / "tests/golden" / task / "results.jsonl");
  for (std::string line; std::getline(results, line);) {
    const nlohmann::json result = nlohmann::json::parse(line);
    const std::string text = to_text(vocabulary, result.at(search).get<std::vector<int>>());
    const std::vector<std::string>& expected = references.at(result.at("text").get<std::string>());
    bleu.add(text, expected);
    chrf.add(text, expected);
    errors.add(text, expected);
  }
  return {bleu.score(), chrf.score(), errors.word_error_rate(), errors.exact_match()};
}

TEST(MetricsGolden, EnglishToFrench) {
  std::map<int, std::string> pieces;
  const nlohmann::json vocabulary = read_json(kRoot / "examples/models/enfr/vocab.json");
  for (const auto& [piece, id] : vocabulary.items()) pieces[id.get<int>()] = piece;
  const Quality greedy = golden_quality("enfr", "greedy", pieces, enfr_text);
  EXPECT_NEAR(greedy.bleu, 48.061470, 1e-6);
  EXPECT_NEAR(greedy.chrf, 64.023797, 1e-6);
  const Quality beam = golden_quality("enfr", "beam4", pieces, enfr_text);
  EXPECT_NEAR(beam.bleu, 49.381683, 1e-6);
  EXPECT_NEAR(beam.chrf, 65.101944, 1e-6);
}

TEST(MetricsGolden, SpellingToPronunciation) {
  std::map<int, std::string> phonemes;
  const nlohmann::json config = read_json(kRoot / "examples/models/g2p/config.json");
  for (const auto& phoneme : config.at("target_vocabulary"))
    phonemes.emplace(static_cast<int>(phonemes.size()), phoneme.get<std::string>());
  const Quality greedy = golden_quality("g2p", "greedy", phonemes, g2p_text);
  EXPECT_NEAR(greedy.bleu, 80.735810, 1e-6);
  EXPECT_NEAR(greedy.chrf, 83.255950, 1e-6);
  EXPECT_NEAR(100 - greedy.exact_match, 33.13, 0.005);
  EXPECT_NEAR(greedy.word_error_rate, 8.97, 0.005);
}

}  // namespace
}  // namespace goldcrest::converter
