// SPDX-License-Identifier: Apache-2.0
// Every array may be stored at the very end of its section. If one byte of it is outside, it is refused by name.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/align.h"
#include "base/crc32c.h"
#include "hostile_file.h"
#include "model/validate.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using format::ModelT;
using format::SectionKind;

struct Array {
  const char* name;  // in the message
  SectionKind section;
  std::function<uint32_t*(ModelT&)> units;
  uint64_t bytes;
};

ModelT metadata_of(const FileImage& file) {
  ModelT metadata;
  format::GetModel(file.bytes())->UnPackTo(&metadata);
  return metadata;
}

using LinearOf = std::function<format::LinearT&(ModelT&)>;
using NormOf = std::function<format::NormT&(ModelT&)>;
using StackOf = std::function<format::StackT&(ModelT&)>;

void add_linear(const char* name, ModelT& m, const LinearOf& of, std::vector<Array>& arrays) {
  const bool is_float32 = (m.features & 1) != 0;
  const uint64_t n = pad16(of(m).n), k = pad16(of(m).k);
  arrays.push_back(
      {name, SectionKind::Weights, [=](ModelT& t) { return &of(t).weights; }, n * k * (is_float32 ? 4 : 1)});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).bias; }, 4 * n});
  if (is_float32) return;
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).scale; }, 4 * n});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).weight_sum; }, 4 * n});
}

void add_norm(const char* name, uint32_t d_model, const NormOf& of, std::vector<Array>& arrays) {
  const uint64_t bytes = 4 * uint64_t{pad16(d_model)};
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).gamma; }, bytes});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).beta; }, bytes});
}

void add_stack(const char* embedding, const char* positions, ModelT& m, const StackOf& of, std::vector<Array>& arrays) {
  const bool is_float32 = (m.features & 1) != 0;
  const uint64_t n = pad16(of(m).embedding->vocab_size), k = pad16(of(m).d_model);
  arrays.push_back({embedding, SectionKind::Weights, [=](ModelT& t) { return &of(t).embedding->weights; },
                    n * k * (is_float32 ? 4 : 1)});
  if (!is_float32)
    arrays.push_back({embedding, SectionKind::Parameters, [=](ModelT& t) { return &of(t).embedding->scale; }, 4 * n});
  arrays.push_back({positions, SectionKind::Positions, [=](ModelT& t) { return &of(t).positions; },
                    4 * uint64_t{of(m).max_positions} * k});
  add_norm(
      "embedding_norm", of(m).d_model, [=](ModelT& t) -> format::NormT& { return *of(t).embedding_norm; }, arrays);
  add_norm(
      "final_norm", of(m).d_model, [=](ModelT& t) -> format::NormT& { return *of(t).final_norm; }, arrays);
}

void add_text(ModelT& m, std::vector<Array>& arrays) {
  const auto add = [&](const char* name, const std::function<uint32_t*(ModelT&)>& units, uint64_t bytes) {
    if (bytes > 0) arrays.push_back({name, SectionKind::Tokenizer, units, bytes});
  };
  const format::TokenizerT& t = *m.tokenizer;
  add(
      "tokenizer: pieces", [](ModelT& x) { return &x.tokenizer->trie; }, 4ull * t.trie_units);
  add(
      "tokenizer: pieces", [](ModelT& x) { return &x.tokenizer->type; }, t.n_pieces);
  add(
      "tokenizer.score", [](ModelT& x) { return &x.tokenizer->score; }, 4ull * t.n_pieces);
  add(
      "tokenizer: normalizer", [](ModelT& x) { return &x.tokenizer->normalizer_trie; }, 4ull * t.normalizer_trie_units);
  add(
      "tokenizer: normalizer", [](ModelT& x) { return &x.tokenizer->normalizer_text; }, t.normalizer_text_bytes);
  add(
      "tokenizer.byte_ids", [](ModelT& x) { return &x.tokenizer->byte_ids; }, t.byte_fallback ? 1024 : 0);
  const format::DetokenizerT& d = *m.detokenizer;
  add(
      "detokenizer: pieces", [](ModelT& x) { return &x.detokenizer->text_offset; }, 4 * (d.n_pieces + 1));
  add(
      "detokenizer: pieces", [](ModelT& x) { return &x.detokenizer->text; }, d.text_bytes);
  add(
      "detokenizer: pieces", [](ModelT& x) { return &x.detokenizer->type; }, d.n_pieces);
  if (m.shortlist == nullptr) return;
  const format::ShortlistT& s = *m.shortlist;
  const uint64_t n_lists = t.vocab_size + s.n_ngrams;
  add(
      "shortlist.always", [](ModelT& x) { return &x.shortlist->always; }, 2ull * s.n_always);
  add(
      "shortlist.offset", [](ModelT& x) { return &x.shortlist->offset; }, 4 * (n_lists + 1));
  add(
      "shortlist.ids", [](ModelT& x) { return &x.shortlist->ids; }, 2ull * s.n_ids);
  add(
      "shortlist.ngram_keys", [](ModelT& x) { return &x.shortlist->ngram_keys; }, 4ull * s.n_ngrams * s.max_ngram);
}

std::vector<Array> arrays_of(const FileImage& file) {
  ModelT m = metadata_of(file);
  std::vector<Array> arrays;
  add_linear(
      "projection", m, [](ModelT& t) -> format::LinearT& { return *t.projection; }, arrays);
  const auto feed_forward = [](ModelT& t) -> format::FeedForwardT& { return *t.decoder->layers[0]->feed_forward; };
  add_linear(
      "layers.feed_forward.in", m, [=](ModelT& t) -> format::LinearT& { return *feed_forward(t).in; }, arrays);
  add_norm(
      "layers.feed_forward.norm", m.decoder->d_model,
      [=](ModelT& t) -> format::NormT& { return *feed_forward(t).norm; }, arrays);
  add_stack(
      "encoder.embedding", "encoder.positions", m, [](ModelT& t) -> format::StackT& { return *t.encoder; }, arrays);
  add_stack(
      "decoder.embedding", "decoder.positions", m, [](ModelT& t) -> format::StackT& { return *t.decoder; }, arrays);
  add_text(m, arrays);
  return arrays;
}

// Copies the array to the end of its section, and makes that section a few bytes longer or shorter.
FileImage with_array_last(const FileImage& file, const Array& array, int more_bytes) {
  return test::remade_with_contents(file, [&](ModelT& m, test::Contents& contents) {
    std::vector<uint8_t>& section = contents[static_cast<size_t>(array.section)];
    uint32_t* const units = array.units(m);
    const size_t from = size_t{*units} * 64, to = static_cast<size_t>(align_bytes(section.size()));
    section.resize(to + static_cast<size_t>(array.bytes));
    std::copy_n(section.begin() + static_cast<std::ptrdiff_t>(from), array.bytes,
                section.begin() + static_cast<std::ptrdiff_t>(to));
    *units = static_cast<uint32_t>(to / 64);
    section.resize(section.size() + static_cast<size_t>(more_bytes));
  });
}

TEST(Extents, EveryArrayFitsItsSectionToTheByte) {
  for (const FileImage* file : {&test::smallest_file(), &test::smallest_float32_file(), &test::smallest_listed_file(),
                                &test::smallest_subword_file()}) {
    for (const Array& array : arrays_of(*file)) {
      SCOPED_TRACE(testing::Message() << array.name << ", " << array.bytes << " bytes");
      const test::Verdict whole = test::try_file(with_array_last(*file, array, 0));
      EXPECT_EQ(whole.status, GOLDCREST_OK) << whole.detail;
      // Does not read the arrays' contents, which would be refused, too.
      const FileImage cut = with_array_last(*file, array, -1);
      goldcrest_detail detail = {};
      EXPECT_EQ(validate_model(cut.bytes(), cut.size(), {crc32c, nullptr, true, true}, &detail),
                GOLDCREST_ERROR_MODEL_CORRUPT);
      EXPECT_STREQ(detail.message, array.name);
    }
  }
}

}  // namespace
}  // namespace goldcrest
