// SPDX-License-Identifier: Apache-2.0
// Files of a Hugging Face checkpoint other than its weights and its config.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>
#include "dialects/dialect.h"

namespace goldcrest::converter {
// Returns a file next to the weights, or else next to the config.json that --config names.
std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name);

// Returns the settings of such a file; empty if there is no file.
Config side_config(const Checkpoint& checkpoint, const char* name);

// Special tokens that a template puts around a text.
struct AroundText {
  std::vector<std::string> before, behind;
};

// The two files that a folder may have of one tokenizer: a SentencePiece model, and tokenizer.json.
class TextFiles {
 public:
  TextFiles(const Checkpoint& checkpoint, const char* pieces_name);

  const std::filesystem::path& pieces() const { return pieces_; }
  const std::filesystem::path& json() const { return json_; }
  bool has_pieces() const { return has_pieces_; }
  bool has_any() const { return has_pieces_ || has_json_; }

  // Reads tokenizer.json. Returns nothing and warns if it is byte-level BPE, which is not read. Throws Error if both
  // files are missing, or if the template puts other tokens around a text than `expected` has.
  std::optional<TokenizerSpec> read_json(ModelSpec& spec, const std::optional<AroundText>& expected) const;

  // Throws Error if tokenizer.json is there and gives other ids than `tokenizer`, which comes from the SentencePiece
  // model. Warns if it has parts that are not known.
  void compare(const TokenizerSpec& tokenizer, std::vector<std::string>& warnings) const;
 private:
  std::filesystem::path pieces_, json_;
  bool has_pieces_, has_json_;
};

// Throws Error if a tokenizer has more entries than the checkpoint's tables have rows.
void require_room(const std::filesystem::path& tokenizer, uint64_t n_entries, uint32_t vocab_size);
}  // namespace goldcrest::converter
