// SPDX-License-Identifier: Apache-2.0
// A tokenizer that the converter makes and the engine runs, without a model file between them; and lines for tests.
#pragma once

#include "model/tokenizer_view.h"
#include "support/standard.h"
#include "text/tokenizer.h"
#include "tokenizers/pack_tokenizer.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::test {
using converter::view_of;
DetokenizerView view_of(const converter::PackedDetokenizer& packed);

class TestTokenizer {
 public:
  explicit TestTokenizer(const converter::TokenizerSpec& spec)
      : packed_(converter::pack_tokenizer(spec)), packed_detokenizer_(converter::pack_detokenizer(spec)) {}

  TokenizerView view() const { return view_of(packed_); }
  DetokenizerView detokenizer_view() const { return view_of(packed_detokenizer_); }

  // Returns the ids of a text, with room for sixteen times its size. Fails the test on an error.
  std::vector<int32_t> encode(std::string_view text) const;
  // Returns the whole text of some ids, flushed. Fails the test on an error.
  std::string decode(const std::vector<int32_t>& ids) const;
 private:
  converter::PackedTokenizer packed_;
  converter::PackedDetokenizer packed_detokenizer_;
};

// The smallest model with this source tokenizer.
converter::ModelSpec tokenizer_only(const converter::TokenizerSpec& tokenizer);

// Reads a file of tests/data/subword: merges, their vocabulary (<unk> first, then </s>), subword-nmt's results.
std::vector<std::string> subword_file(const std::string& name);
converter::TokenizerSpec subword_spec(const std::string& codes);

// The path of a file of the repository.
std::string source_path(const std::string& relative);
std::string read_bytes(const std::string& path);

// Returns "line, then its bytes" for messages.
std::string shown(std::string_view text);

// Returns both columns of tests/data/enfr/valid.tsv.
std::vector<std::string> valid_lines();
std::vector<std::string> hostile_lines();
// Seeded lines of random bytes, of random valid and broken characters, and of random pieces of the data.
std::vector<std::string> random_lines(uint32_t seed, size_t n_lines);
std::vector<std::string> all_lines();

// Reads vocab.json with the model's pieces around it, as the converter makes a Marian tokenizer.
converter::Vocabulary read_vocabulary(const std::string& path);
}  // namespace goldcrest::test
