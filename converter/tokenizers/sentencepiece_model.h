// SPDX-License-Identifier: Apache-2.0
// Reads a SentencePiece .model or .spm file into a TokenizerSpec with the file's own ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include "spec/spec.h"

namespace goldcrest::converter {
// Reads the fields of one Protocol Buffers message in order. Knows only the wire format, and checks every length.

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtobufField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t integer = 0;    // kVarint, kFixed64, kFixed32
  std::string_view bytes;  // kBytes; points into the message

  // Each throws Error if the field has an unsuitable wire type. `where` names the file.
  bool as_bool(const std::string& where) const;
  uint64_t as_integer(const std::string& where) const;
  float as_float(const std::string& where) const;
  std::string_view as_bytes(const std::string& where) const;
 private:
  void require(WireType expected, const std::string& where) const;
};

class ProtobufReader {
 public:
  // `where` names the file in messages; `message` must outlive the reader.
  ProtobufReader(std::string_view message, std::string where) : rest_(message), where_(std::move(where)) {}

  // Reads the next field; returns false at the end. Throws Error if the message ends inside a field or has an unknown
  // wire type.
  bool next(ProtobufField* field);
 private:
  uint64_t read_varint();
  uint64_t read_little_endian(size_t n_bytes);
  void require_bytes(uint64_t n) const;

  std::string_view rest_;
  std::string where_;
};

// Reads unigram, BPE and character models. A character model becomes kBpe: its pieces are single characters, so nothing
// merges. Throws Error if the file is missing, empty, a Git LFS pointer, a web page, truncated, or not such a model.
// Word models and denormalizers are refused by name.
TokenizerSpec read_sentencepiece_model(const std::filesystem::path& path);

// Does the same with the file's bytes; `where` names the file in messages.
TokenizerSpec parse_sentencepiece_model(std::string_view bytes, const std::string& where);

// Returns the path that the trainer wrote the model to (trainer_spec.model_prefix), or "". It may name the training
// data.
std::string read_model_prefix(const std::filesystem::path& path);
}  // namespace goldcrest::converter
