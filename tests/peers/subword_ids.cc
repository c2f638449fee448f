// SPDX-License-Identifier: Apache-2.0
// subword_ids CODES VOCABULARY [KEPT]: for each line of standard input prints the engine's ids by subword-nmt's merges,
// a tab, and the text of these ids. VOCABULARY has an entry on each line, first <unk>, then </s>. KEPT has the entries
// that --keep-vocabulary leaves; ids then count in its order.
#include <iostream>
#include "spec/format_text.h"
#include "spec/trim_vocabulary.h"
#include "support/program.h"
#include "tokenizers/vocabulary.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The ids of the entries.
std::vector<uint32_t> ids_of(const converter::TokenizerSpec& spec, const std::vector<std::string>& entries) {
  std::vector<uint32_t> ids;
  for (const std::string& entry : entries) {
    const auto found = std::ranges::find(spec.pieces, entry, &converter::Piece::text);
    ids.push_back(static_cast<uint32_t>(found - spec.pieces.begin()));
  }
  return ids;
}

int run(const std::vector<std::string>& arguments) {
  const std::string codes = read_bytes(arguments.at(0));
  const converter::Vocabulary vocabulary = {arguments.at(1), lines_of(arguments.at(1)), 0, {1}};
  converter::TokenizerSpec spec =
      converter::subword_tokenizer(converter::parse_subword_codes(codes, arguments.at(0)), vocabulary);
  if (arguments.size() > 2) {
    const converter::KeptIds kept = {ids_of(spec, lines_of(arguments[2])), {0}};
    spec = *converter::trim_vocabulary(tokenizer_only(spec), kept).source_tokenizer;
  }
  const TestTokenizer tokenizer(spec);
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<int32_t> ids = tokenizer.encode(line);
    converter::print_text("{}\t{}\n", converter::join_text(ids, " "), tokenizer.decode(ids));
  }
  return 0;
}
}}  // namespace goldcrest::test

int main(int argc, char** argv) {
  using namespace goldcrest::test;
  return report_errors("subword_ids", [&] { return run({argv + 1, argv + argc}); });
}
