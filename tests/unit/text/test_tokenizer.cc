// SPDX-License-Identifier: Apache-2.0
// Views over packed tables, and lines from files and from a seeded generator.
#include "unit/text/test_tokenizer.h"
#include <nlohmann/json.hpp>
#include <random>
#include "support/test.h"
#include "text/detokenizer.h"

namespace goldcrest::test {
namespace {
std::vector<std::string> split(const std::string& bytes, const std::string& separators) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < bytes.size()) {
    const size_t end = std::min(bytes.find_first_of(separators, begin), bytes.size());
    parts.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string random_line(std::mt19937* generator, const std::vector<std::string>& parts) {
  const auto below = [generator](size_t n) { return (*generator)() % n; };
  std::string line;
  const size_t n_parts = below(40), kind = below(4);
  for (size_t i = 0; i < n_parts; ++i) {
    const std::string& part = parts[below(parts.size())];
    const size_t begin = below(part.size() + 1);
    if (kind == 0) line += static_cast<char>(below(256));
    if (kind == 1) line += part.substr(begin, below(6));
    if (kind == 2) line += std::string(" \t\xE2\x96\x81\xC3\xA9<>e", 10).substr(below(10), 1 + below(3));
    if (kind == 3) line += std::string(1, "abcdeht ing"[below(11)]);
  }
  return line;
}
}  // namespace

DetokenizerView view_of(const converter::PackedDetokenizer& packed) {
  DetokenizerView view = {.kind = static_cast<TokenizerKind>(packed.kind),
      .add_dummy_prefix = packed.add_dummy_prefix,
      .remove_extra_whitespace = packed.remove_extra_whitespace,
      .n_pieces = packed.n_pieces,
      .text_offset = packed.text_offset.data(),
      .text = packed.text.data(),
      .type = packed.type.data(),
      .text_bytes = static_cast<uint32_t>(packed.text.size())};
  return view;
}

std::vector<int32_t> TestTokenizer::encode(std::string_view text) const {
  const TokenizerView view = this->view();
  const ScratchSize size = tokenizer_scratch(view);
  const size_t scratch_bytes = size.constant + size.per_byte * (text.size() * 16);
  std::vector<float> scratch(scratch_bytes / sizeof(float) + 1);
  std::vector<int32_t> ids(text.size() * 48 + 8);
  const int n = tokenize({&view, text.data(), text.size(), scratch.data(), scratch_bytes, ids.data(), ids.size()});
  EXPECT_GE(n, 0) << shown(text);
  ids.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return ids;
}

std::string TestTokenizer::decode(const std::vector<int32_t>& ids) const {
  const DetokenizerView view = detokenizer_view();
  goldcrest_text_state state = {};
  std::string text(ids.size() * 256 + 16, '\0');
  int64_t n = detokenize(view, &state, ids.data(), ids.size(), text.data(), text.size());
  EXPECT_GE(n, 0);
  const int64_t n_more = detokenize(view, &state, nullptr, 0, text.data() + n, text.size() - static_cast<size_t>(n));
  EXPECT_GE(n_more, 0);
  text.resize(static_cast<size_t>(n + n_more));
  return text;
}

converter::ModelSpec tokenizer_only(const converter::TokenizerSpec& tokenizer) {
  converter::ModelSpec spec;
  const auto table = [](uint32_t rows) {
    return std::make_shared<converter::Matrix>(converter::Matrix{"table", rows, 1, std::vector<float>(rows)});
  };
  spec.encoder.embedding = table(tokenizer.vocab_size);
  spec.decoder.embedding = table(1);
  spec.projection = {table(1), {0}};
  spec.source_tokenizer = tokenizer;
  return spec;
}

std::vector<std::string> subword_file(const std::string& name) {
  return split(read_bytes(source_path("tests/data/subword/" + name)), "\n");
}

converter::TokenizerSpec subword_spec(const std::string& codes) {
  const std::string text = read_bytes(source_path("tests/data/subword/" + codes));
  return converter::subword_tokenizer(converter::parse_subword_codes(text, codes),
      {codes + ".vocabulary", subword_file(codes + ".vocabulary"), 0, {1}});
}

std::string source_path(const std::string& relative) { return std::string(GOLDCREST_SOURCE_DIR) + "/" + relative; }

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string shown(std::string_view text) {
  std::string bytes(text.substr(0, 200));
  bytes += "\nbytes:";
  for (const char byte : text.substr(0, 200)) {
    bytes += ' ';
    bytes += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
    bytes += "0123456789abcdef"[static_cast<uint8_t>(byte) & 15];
  }
  return bytes;
}

std::vector<std::string> valid_lines() { return split(read_bytes(source_path("tests/data/enfr/valid.tsv")), "\t\n"); }

std::vector<std::string> hostile_lines() { return split(read_bytes(source_path("tests/data/hostile.txt")), "\n"); }

std::vector<std::string> random_lines(uint32_t seed, size_t n_lines) {
  std::mt19937 generator(seed);
  std::vector<std::string> parts = valid_lines(), lines;
  for (const std::string& line : hostile_lines()) parts.push_back(line);
  while (lines.size() < n_lines) lines.push_back(random_line(&generator, parts));
  return lines;
}

std::vector<std::string> all_lines() {
  std::vector<std::string> lines = valid_lines();
  for (const std::string& line : hostile_lines()) lines.push_back(line);
  for (const std::string& line : random_lines(1, 4000)) lines.push_back(line);
  return lines;
}

converter::Vocabulary read_vocabulary(const std::string& path) {
  const auto json = nlohmann::json::parse(read_bytes(path));
  converter::Vocabulary vocabulary = {.where = path};
  vocabulary.id_to_text.resize(json.size());
  for (const auto& [text, id] : json.items()) vocabulary.id_to_text.at(id.get<size_t>()) = text;
  vocabulary.unknown_id = json.at("<unk>").get<uint32_t>();
  vocabulary.control_ids = {json.at("</s>").get<uint32_t>(), json.at("<pad>").get<uint32_t>()};
  return vocabulary;
}
}  // namespace goldcrest::test
