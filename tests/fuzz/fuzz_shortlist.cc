// SPDX-License-Identifier: Apache-2.0
// Any bytes as a shortlist of Marian's or CTranslate2's: an error that names the file, or a model that runs with it.
#include "dialects/shortlist/shortlist_file.h"
#include "fuzz/engine_calls.h"
#include "spec/error.h"
#include "support/marian_native.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace goldcrest::test {
namespace {
ModelSpec small_spec() {
  TinyOptions options = {
      .encoder = {4, 5, 1, 4, 1, 8}, .decoder = {4, 5, 1, 4, 1, 8}, .source_vocab_size = 9, .target_vocab_size = 12};
  ModelSpec spec = tiny_spec(options);
  add_tokenizers(converter::TokenizerKind::kWord, spec);
  return spec;
}

// Marian's binary with any numbers and a right checksum, or any bytes.
std::string file_bytes(Script& script) {
  if (script.below(3) != 0) return std::string(script.text());
  BinaryLists lists = {.first = script.byte()};
  lists.offsets.resize(script.below(16));
  lists.ids.resize(script.below(16));
  for (uint64_t& offset : lists.offsets) offset = script.one_in(8) ? script.word() : script.below(16);
  for (uint32_t& id : lists.ids) id = script.one_in(8) ? script.word() : script.below(16);
  std::string bytes = lists.bytes();
  if (script.one_in(8)) bytes[script.byte() % bytes.size()] = static_cast<char>(script.byte());
  return bytes;
}
}  // namespace

void run_input(Script script) {
  static const TemporaryFolder folder;
  static const ModelSpec good = small_spec();
  const std::string path = folder.write("lex", file_bytes(script));
  try {
    ModelSpec spec = good;
    spec.shortlist = converter::read_shortlist(path, spec);
    const FileImage file = tiny_file(spec);
    goldcrest_info info;
    require(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr) == GOLDCREST_OK, "the engine takes it");
    call_engine(file.span(), script);
  } catch (const converter::Error& error) {
    require(std::string_view(error.what()).starts_with(path), "an error begins with the file's name");
  }
}
}  // namespace goldcrest::test
