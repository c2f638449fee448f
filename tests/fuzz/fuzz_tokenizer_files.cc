// SPDX-License-Identifier: Apache-2.0
// Any bytes as a SentencePiece model, and as subword-nmt's merges with any vocabulary: an error that names the file, or
// a tokenizer.
#include "fuzz/script.h"
#include "fuzz/text_checks.h"
#include "spec/error.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test {
namespace {
const char* const kFile = "the file";

// Changed bytes of a good model, or any bytes.
std::string model_bytes(Script& script) {
  static const std::vector<std::string> good = {read_bytes(source_path("tests/data/char.model")),
      read_bytes(source_path("tests/data/bpe_bytes.model")), read_bytes(source_path("tests/data/unigram_rules.model"))};
  const uint32_t which = script.below(4);
  std::string bytes = which < good.size() ? good[which] : std::string();
  for (uint32_t i = script.below(8); i > 0; --i) {
    const size_t at = script.half() % (bytes.size() + 1);
    const uint32_t choice = script.below(4);
    if (choice == 0) bytes.insert(at, script.text());
    if (choice == 1) bytes.erase(at, script.byte());
    if (choice == 2 && at < bytes.size()) bytes[at] = static_cast<char>(script.byte());
    if (choice == 3 && script.one_in(4)) bytes.resize(at);
  }
  return bytes;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n') lines.emplace_back();
    else lines.back() += c;
  return lines;
}

converter::TokenizerSpec read_spec(Script& script) {
  if (script.below(2) == 0) return converter::parse_sentencepiece_model(model_bytes(script), kFile);
  const converter::SubwordCodes codes = converter::parse_subword_codes(script.text(), kFile);
  std::vector<std::string> entries = {"<unk>", "</s>"};
  for (std::string& entry : lines_of(script.text())) entries.push_back(std::move(entry));
  return converter::subword_tokenizer(codes, {kFile, entries, 0, {1}});
}
}  // namespace

void run_input(Script script) {
  try {
    const converter::TokenizerSpec spec = read_spec(script);
    const TestTokenizer tokenizer(spec);
    checked_text(tokenizer.detokenizer_view(), checked_ids(tokenizer.view(), script.rest()));
  } catch (const converter::Error& error) {
    require(std::string_view(error.what()).starts_with(kFile), "an error begins with the file's name");
  }
}
}  // namespace goldcrest::test
