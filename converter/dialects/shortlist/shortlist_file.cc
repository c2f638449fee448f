// SPDX-License-Identifier: Apache-2.0
// Recognises the kind of a shortlist file: Marian's binary by its first bytes, CTranslate2's map by a tab in its first
// line.
#include "dialects/shortlist/shortlist_file.h"
#include <fstream>
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
bool has_tab(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  return line.find('\t') != std::string::npos;
}
}  // namespace

ShortlistSpec read_shortlist(const std::filesystem::path& path, ModelSpec& spec) {
  if (is_binary_shortlist(path))
    return read_binary_shortlist(path, {spec.encoder.embedding->rows, spec.decoder.embedding->rows});
  if (!spec.source_tokenizer || !spec.target_tokenizer) {
    throw Error(
        "{}: a shortlist of texts needs the vocabularies of both sides, which the checkpoint lacks", path.string());
  }
  const ShortlistTexts texts = {*spec.source_tokenizer, *spec.target_tokenizer};
  return has_tab(path) ? read_vocabulary_map(path, texts, spec.warnings) : read_lexical_shortlist(path, texts, {});
}
}  // namespace goldcrest::converter
