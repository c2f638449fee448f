// SPDX-License-Identifier: Apache-2.0
// Every array may be stored at the very end of its section. If one byte of it is outside, it is refused by name.
#include "base/align.h"
#include "base/crc32c.h"
#include "goldcrest/check.h"
#include "hostile_file.h"
#include "model/validate.h"
#include "support/guarded_buffer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
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

void add_linear(const char* name, ModelT& m, std::vector<Array>& arrays, const LinearOf& of) {
  const bool is_float32 = (m.features & 1) != 0;
  const uint64_t n = pad16(of(m).n), k = pad16(of(m).k);
  arrays.push_back(
      {name, SectionKind::Weights, [=](ModelT& t) { return &of(t).weights; }, n * k * (is_float32 ? 4 : 1)});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).bias; }, 4 * n});
  if (is_float32) return;
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).scale; }, 4 * n});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).weight_sum; }, 4 * n});
}

void add_norm(const char* name, uint32_t d_model, std::vector<Array>& arrays, const NormOf& of) {
  const uint64_t bytes = 4 * uint64_t{pad16(d_model)};
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).gamma; }, bytes});
  arrays.push_back({name, SectionKind::Parameters, [=](ModelT& t) { return &of(t).beta; }, bytes});
}

void add_stack(const char* embedding, const char* positions, ModelT& m, std::vector<Array>& arrays, const StackOf& of) {
  const bool is_float32 = (m.features & 1) != 0;
  const uint64_t n = pad16(of(m).embedding->vocab_size), k = pad16(of(m).d_model);
  arrays.push_back({embedding, SectionKind::Weights, [=](ModelT& t) { return &of(t).embedding->weights; },
      n * k * (is_float32 ? 4 : 1)});
  if (!is_float32)
    arrays.push_back({embedding, SectionKind::Parameters, [=](ModelT& t) { return &of(t).embedding->scale; }, 4 * n});
  arrays.push_back({positions, SectionKind::Positions, [=](ModelT& t) { return &of(t).positions; },
      4 * uint64_t{of(m).max_positions} * k});
  add_norm("embedding_norm", of(m).d_model, arrays, [=](ModelT& t) -> format::NormT& { return *of(t).embedding_norm; });
  add_norm("final_norm", of(m).d_model, arrays, [=](ModelT& t) -> format::NormT& { return *of(t).final_norm; });
}

void add_text(ModelT& m, std::vector<Array>& arrays) {
  const auto add = [&](const char* name, uint64_t bytes, const std::function<uint32_t*(ModelT&)>& units) {
    if (bytes > 0) arrays.push_back({name, SectionKind::Tokenizer, units, bytes});
  };
  const format::TokenizerT& t = *m.tokenizer;
  add("tokenizer: pieces", 4ull * t.trie_units, [](ModelT& x) { return &x.tokenizer->trie; });
  add("tokenizer: pieces", t.n_pieces, [](ModelT& x) { return &x.tokenizer->type; });
  add("tokenizer.score", 4ull * t.n_pieces, [](ModelT& x) { return &x.tokenizer->score; });
  add("tokenizer: normalizer", 4ull * t.normalizer_trie_units, [](ModelT& x) { return &x.tokenizer->normalizer_trie; });
  add("tokenizer: normalizer", t.normalizer_text_bytes, [](ModelT& x) { return &x.tokenizer->normalizer_text; });
  add("tokenizer.byte_ids", t.byte_fallback ? 1024 : 0, [](ModelT& x) { return &x.tokenizer->byte_ids; });
  const format::DetokenizerT& d = *m.detokenizer;
  add("detokenizer: pieces", 4 * (d.n_pieces + 1), [](ModelT& x) { return &x.detokenizer->text_offset; });
  add("detokenizer: pieces", d.text_bytes, [](ModelT& x) { return &x.detokenizer->text; });
  add("detokenizer: pieces", d.n_pieces, [](ModelT& x) { return &x.detokenizer->type; });
  if (m.shortlist == nullptr) return;
  const format::ShortlistT& s = *m.shortlist;
  const uint64_t n_lists = t.vocab_size + s.n_ngrams;
  add("shortlist.always", 2ull * s.n_always, [](ModelT& x) { return &x.shortlist->always; });
  add("shortlist.offset", 4 * (n_lists + 1), [](ModelT& x) { return &x.shortlist->offset; });
  add("shortlist.ids", 2ull * s.n_ids, [](ModelT& x) { return &x.shortlist->ids; });
  add("shortlist.ngram_keys", 4ull * s.n_ngrams * s.max_ngram, [](ModelT& x) { return &x.shortlist->ngram_keys; });
}

std::vector<Array> arrays_of(const FileImage& file) {
  ModelT m = metadata_of(file);
  std::vector<Array> arrays;
  add_linear("projection", m, arrays, [](ModelT& t) -> format::LinearT& { return *t.projection; });
  const auto feed_forward = [](ModelT& t) -> format::FeedForwardT& { return *t.decoder->layers[0]->feed_forward; };
  add_linear("layers.feed_forward.in", m, arrays, [=](ModelT& t) -> format::LinearT& { return *feed_forward(t).in; });
  add_norm("layers.feed_forward.norm", m.decoder->d_model, arrays,
      [=](ModelT& t) -> format::NormT& { return *feed_forward(t).norm; });
  add_stack(
      "encoder.embedding", "encoder.positions", m, arrays, [](ModelT& t) -> format::StackT& { return *t.encoder; });
  add_stack(
      "decoder.embedding", "decoder.positions", m, arrays, [](ModelT& t) -> format::StackT& { return *t.decoder; });
  add_text(m, arrays);
  return arrays;
}

// Copies the array to the end of its section, and makes that section a few bytes longer or shorter.
FileImage with_array_last(const FileImage& file, const Array& array, int more_bytes) {
  return remade_with_contents(file, [&](ModelT& m, Contents& contents) {
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
  for (const FileImage* file :
      {&smallest_file(), &smallest_float32_file(), &smallest_listed_file(), &smallest_subword_file()}) {
    for (const Array& array : arrays_of(*file)) {
      SCOPED_TRACE(testing::Message() << array.name << ", " << array.bytes << " bytes");
      expect_runs(with_array_last(*file, array, 0));
      // Does not read the arrays' contents, which would be refused, too.
      const FileImage cut = with_array_last(*file, array, -1);
      goldcrest_detail detail = {};
      EXPECT_EQ(validate_model(cut.bytes(), cut.size(), {crc32c, nullptr, true, true}, &detail),
          GOLDCREST_ERROR_MODEL_CORRUPT);
      EXPECT_STREQ(detail.message, array.name);
    }
  }
}

// goldcrest_check_weights: slices of any size find what one pass finds, and read no byte that has not arrived.

constexpr size_t kTrailerBytes = 64;

struct Outcome {
  int status = 0, n_slices = 0;
  size_t end = 0;  // end of the last slice
  goldcrest_detail detail = {"", -1};
};

// Checks the file in slices of this many bytes.
Outcome check(const uint8_t* file, size_t bytes, size_t slice_bytes) {
  Outcome outcome;
  goldcrest_check state = {};
  do {
    outcome.end = static_cast<size_t>(state.checked_bytes) + slice_bytes;
    outcome.status = goldcrest_check_weights(file, bytes, outcome.end, &state, &outcome.detail);
    ++outcome.n_slices;
    EXPECT_LE(state.checked_bytes, outcome.end);
  } while (outcome.status == GOLDCREST_WORKING);
  EXPECT_TRUE(state.checked_bytes == 0 && state.part == 0 && state.crc32c == 0) << "it starts over";
  return outcome;
}

Outcome check(const FileImage& file, size_t slice_bytes) { return check(file.bytes(), file.size(), slice_bytes); }

TEST(Slices, OfAnySizeFindAWholeFileWhole) {
  const FileImage& file = smallest_file();
  const size_t bytes = file.size() - kTrailerBytes;
  for (const size_t slice_bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{1000}, bytes, file.size() * 2}) {
    const Outcome outcome = check(file, slice_bytes);
    EXPECT_EQ(outcome.status, GOLDCREST_DONE) << outcome.detail.message;
    EXPECT_EQ(static_cast<size_t>(outcome.n_slices), (bytes + slice_bytes - 1) / slice_bytes) << slice_bytes;
  }
  for (const FileImage* other : {&smallest_float32_file(), &smallest_listed_file()})
    EXPECT_EQ(check(*other, 100).status, GOLDCREST_DONE);
}

// Bytes after a slice's end are not read, except for the trailer.
TEST(Slices, AFileIsCheckedWhileItArrives) {
  const FileImage& file = smallest_file();
  GuardedBuffer<uint8_t> arriving(file.size());
  std::fill(arriving.begin(), arriving.end(), uint8_t{0xFF});
  goldcrest_check state = {};
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_check_weights(arriving.get(), file.size(), 0, &state, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_STREQ(detail.message, "trailer: not found at the end of the file");
  const size_t bytes = file.size() - kTrailerBytes;
  std::memcpy(arriving.get() + bytes, file.bytes() + bytes, kTrailerBytes);
  for (size_t n = 0; n < bytes; ++n) {
    ASSERT_EQ(goldcrest_check_weights(arriving.get(), file.size(), n, &state, &detail), GOLDCREST_WORKING) << n;
    ASSERT_EQ(state.checked_bytes, n);
    arriving[n] = file.bytes()[n];
  }
  EXPECT_EQ(goldcrest_check_weights(arriving.get(), file.size(), bytes, &state, &detail), GOLDCREST_DONE);
}

// A flipped bit of any byte is found, at the latest at the end of its part.
TEST(Slices, AFlippedBitIsFound) {
  constexpr size_t kSlice = 2048;
  FileImage file = smallest_file();
  const auto& sections = *format::GetModel(file.bytes())->sections();
  std::vector<size_t> ends;
  for (const format::Section* section : sections) ends.push_back(size_t{section->offset()} * 64);
  ends.push_back(file.size() - kTrailerBytes);
  for (size_t byte = 0; byte < file.size(); ++byte) {
    const size_t end = *std::upper_bound(ends.begin(), ends.end() - 1, byte);
    const auto bit = static_cast<uint8_t>(1 << byte % 8);
    file.bytes()[byte] ^= bit;
    const Outcome outcome = check(file, kSlice);
    file.bytes()[byte] ^= bit;
    ASSERT_EQ(outcome.status, GOLDCREST_ERROR_MODEL_CORRUPT) << byte;
    ASSERT_LT(outcome.end, end + kSlice) << byte << ": " << outcome.detail.message;
  }
}

TEST(Slices, TheReasonIsTold) {
  const FileImage& file = smallest_file();
  const auto& sections = *format::GetModel(file.bytes())->sections();
  const auto reason = [&](size_t byte) {
    FileImage damaged = file;
    damaged.bytes()[byte] ^= 1;
    const goldcrest_detail detail = check(damaged, 1000).detail;
    return std::string(detail.message) + " " + std::to_string(detail.index);
  };
  EXPECT_EQ(reason(0), "metadata: checksum -1");
  EXPECT_EQ(reason(size_t{sections.Get(0)->offset()} * 64), "sections: checksum 0");
  EXPECT_EQ(reason(size_t{sections.Get(1)->offset()} * 64), "sections: checksum 1");
  EXPECT_EQ(reason(file.size() - kTrailerBytes + 20), "trailer: checksum -1");
  int n_padded = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const size_t end = size_t{sections.Get(i)->offset()} * 64 + sections.Get(i)->size();
    if (end % 64 == 0) continue;
    ++n_padded;
    EXPECT_EQ(reason(end), "sections: padding behind " + std::to_string(i));
  }
  EXPECT_GT(n_padded, 0);
}

TEST(Slices, WrongArguments) {
  const FileImage& file = smallest_file();
  goldcrest_check state = {};
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_check_weights(file.bytes(), file.size(), 64, nullptr, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "check: null");
  EXPECT_EQ(goldcrest_check_weights(nullptr, file.size(), 64, &state, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "model: the pointer must be aligned to 64 bytes");
  EXPECT_EQ(goldcrest_check_weights(file.bytes() + 1, file.size() - 1, 64, &state, nullptr), GOLDCREST_ERROR_ARGUMENT);
  state.checked_bytes = file.size();
  EXPECT_EQ(goldcrest_check_weights(file.bytes(), file.size(), SIZE_MAX, &state, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "check: a state that no call has left");
}

// If something has overwritten the state, the answer may be wrong, but no byte outside the file is read.
TEST(Slices, AnyStateIsSafe) {
  const FileImage& file = smallest_file();
  GuardedBuffer<uint8_t> guarded(file.size());
  std::memcpy(guarded.get(), file.bytes(), file.size());
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    goldcrest_check state = {};
    const int n_calls = static_cast<int>(rng.below(12));
    for (int call = 0; call < n_calls; ++call) {
      const auto end = static_cast<size_t>(state.checked_bytes) + 300;
      if (goldcrest_check_weights(guarded.get(), file.size(), end, &state, nullptr) != GOLDCREST_WORKING) break;
    }
    auto* bytes = reinterpret_cast<uint8_t*>(&state);
    for (uint32_t n = rng.below(3); n > 0; --n) bytes[rng.below(sizeof state)] ^= static_cast<uint8_t>(rng.below(256));
    const int status = goldcrest_check_weights(guarded.get(), file.size(), SIZE_MAX, &state, nullptr);
    ASSERT_TRUE(
        status == GOLDCREST_DONE || status == GOLDCREST_ERROR_ARGUMENT || status == GOLDCREST_ERROR_MODEL_CORRUPT)
        << status;
  }
}
}}  // namespace goldcrest::test
