// SPDX-License-Identifier: Apache-2.0
// Writes Marian's own models with seeded random weights: NumPy arrays in a zip, and Marian's binary.
#pragma once

#include "support/checkpoint_writer.h"
#include "support/standard.h"

namespace goldcrest::test {
struct NativeShape {
  uint32_t vocab_size = 0, d_model = 0, d_ff = 0, heads = 0, encoder_layers = 0, decoder_layers = 0;
  bool is_recurrent = false;  // SSRU in the decoder, otherwise self-attention
};

// Post-norm, with one table for everything. Matrices are [inputs, outputs], all others [1, n], as in Marian.
std::vector<NamedTensor> native_tensors(const NativeShape& shape, uint64_t seed);
// The text that Marian saves as special:model.yml.
std::string native_settings(const NativeShape& shape);

// A .npy of version 1.0; `type` is "<f4" and so on.
std::string npy_bytes(
    std::string_view type, const std::vector<uint64_t>& shape, std::string_view elements, bool is_fortran = false);
// As Marian writes it (stored) or as numpy.savez_compressed does (deflated). Without settings it has no
// special:model.yml.
std::string npz_bytes(const std::vector<NamedTensor>& tensors, const std::string& settings, bool is_deflated = false);

// One item of a .bin; `data` includes any padding.
struct BinaryItem {
  std::string name;
  uint64_t type = 0;
  std::vector<int32_t> shape;
  std::string data;
};
std::string binary_bytes(const std::vector<BinaryItem>& items);
BinaryItem float_item(const NamedTensor& tensor);
// intgemm's item: integers by one multiplier, transposed except for embeddings, then the multiplier.
BinaryItem int8_item(const NamedTensor& tensor, float multiplier);
// 127 / the largest magnitude.
float multiplier_of(const NamedTensor& tensor);
BinaryItem settings_item(const std::string& settings);

enum class BinaryKind { kFloat, kInt8, kInt8WithAlphas };
// All items of a model as marian-conv writes them.
std::vector<BinaryItem> binary_items(
    const std::vector<NamedTensor>& tensors, const std::string& settings, BinaryKind kind);

// Writes a shortlist in the format of Marian's lex.*.bin.

struct BinaryLists {
  uint64_t first = 3;
  std::vector<uint64_t> offsets = {0, 2, 2, 5};
  std::vector<uint32_t> ids = {1, 7, 0, 4, 9};

  std::string bytes() const {
    std::string body;
    for (const uint64_t value : {first, uint64_t{50}, uint64_t{offsets.size()}, uint64_t{ids.size()}}) put(body, value);
    for (const uint64_t value : offsets) put(body, value);
    for (const uint32_t value : ids) put(body, value);
    uint64_t sum = 0;  // boost's hash_combine over whole words
    for (size_t at = 0; at + 8 <= body.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, body.data() + at, 8);
      sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
    }
    std::string head;
    put(head, uint64_t{0xF11A48D5013417F5});
    put(head, sum);
    return head + body;
  }

  template <typename Value> static void put(std::string& bytes, Value value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};
}  // namespace goldcrest::test
