// SPDX-License-Identifier: Apache-2.0
// A separate writer for the file's frame, which shares only the checksum with the converter's.
#include "hostile_file.h"
#include "base/crc32c.h"
#include "kernels/reference/reference.h"
#include "model/validate.h"
#include "support/guarded_buffer.h"
#include "support/test.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::test {
namespace {
constexpr uint64_t kLargestArena = 64u << 20;  // a file that needs more is not run

template <typename T> void store(FileImage& file, size_t offset, T value) {
  std::memcpy(file.bytes() + offset, &value, sizeof value);
}

template <typename T> T load(const FileImage& file, size_t offset) {
  T value;
  std::memcpy(&value, file.bytes() + offset, sizeof value);
  return value;
}

// Writes every scalar, so that no value changes the size.
flatbuffers::DetachedBuffer serialize(const ModelT& metadata) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  format::FinishModelBuffer(builder, format::CreateModel(builder, &metadata));
  return builder.Release();
}

// FORMAT.md, "Trailer".
void write_trailer(FileImage& file, uint32_t metadata_bytes) {
  const size_t at = file.size() - 64;
  std::memset(file.bytes() + at, 0, 64);
  std::memcpy(file.bytes() + at, "GCSTEND\n", 8);
  store<uint32_t>(file, at + 8, 1);
  store<uint32_t>(file, at + 12, metadata_bytes);
  store<uint64_t>(file, at + 16, file.size());
  const auto fast_crc32c = kernels_at(0)->crc32c;
  store<uint32_t>(file, at + 24, fast_crc32c(0, file.bytes(), std::min<size_t>(metadata_bytes, file.size())));
  store<uint32_t>(file, at + 60, fast_crc32c(0, file.bytes() + at, 60));
}

void add_subwords(ModelSpec& spec) {
  const converter::SubwordCodes codes = converter::parse_subword_codes("a b\na </w>\nab a\n", "codes");
  const std::vector<std::string> entries = {"</s>", "<unk>", "a@@", "b@@", "ab@@", "a", "ab"};
  for (auto* tokenizer : {&spec.source_tokenizer, &spec.target_tokenizer}) {
    const uint32_t n = (*tokenizer)->vocab_size;
    *tokenizer = converter::subword_tokenizer(codes, {"entries", {entries.begin(), entries.begin() + n}, 1, {0}});
  }
}

// The parts that only some of the smallest files have.
struct Parts {
  uint32_t n_recurrent = 0;
  bool shortlist = false, subwords = false, gated = false, biased = false, languages = false;
};

FileImage make_smallest_file(converter::Weights weights, const Parts& parts) {
  const auto& [n_recurrent, shortlist, subwords, gated, biased, languages] = parts;
  TinyOptions options = {.encoder = {4, 5, 1, 4, 1, 4, converter::Activation::kSilu, true, true, true},
      .decoder = {3, 5, 1, 3, 1, 4, converter::Activation::kGelu, false, true, true, n_recurrent}};
  options.encoder.gated = options.decoder.gated = gated;
  options.encoder.centred = options.decoder.centred = !biased;
  options.encoder.bias_tables = options.decoder.bias_tables = biased ? 1 : 0;
  options.source_vocab_size = 6;
  options.target_vocab_size = 7;
  ModelSpec spec = tiny_spec(options);
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  if (subwords) add_subwords(spec);
  spec.generation.source_prefix = {3};
  spec.generation.beam_size = 2;
  converter::BuildOptions build = {.weights = weights};
  if (languages) {
    spec.languages = {{{"a", 1, {}}, {"b", 2, 3}, {"c", {}, 4}}, converter::LanguagePlace::kBehindText,
        converter::LanguagePlace::kForcedFirst};
    spec.source_language = "a";
    spec.target_language = "c";
    spec.generation.forced_first_id = 4;
  }
  converter::SelfTestLine line = {{1, 2}, {3, 0}, 5};  // the hash is wrong, but these tests do not check it
  line.is_forced = languages;
  converter::SelfTestLine second = line;
  if (shortlist) {
    // The sources of these tests have the ids 0 and 1.
    spec.shortlist = {{2}, {0, 2, 2, 3, 3, 3, 3}, {1, 4, 5}, {{{0, 0}, {3, 5}}, {{0, 0, 1}, {6}}, {{1, 2}, {}}}};
    build.limits.max_candidates = 6;
    second.shortlist = true;
  }
  return converter::assemble(converter::build_payload(spec, build), std::vector{line, second});
}

constexpr auto kInt8 = converter::Weights::kInt8, kFloat32 = converter::Weights::kFloat32;

template <converter::Weights weights, Parts parts> const FileImage& made_once() {
  static const FileImage file = make_smallest_file(weights, parts);
  return file;
}

void translate(goldcrest_engine* engine, uint32_t beam_size) {
  goldcrest_search search = {
      .beam_size = beam_size, .length_penalty = 0.6f, .flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS};
  ASSERT_EQ(goldcrest_set_search(engine, &search), GOLDCREST_OK);
  const int32_t source[] = {0, 0};
  if (goldcrest_begin(engine, source, 2) == 0) {
    ASSERT_EQ(goldcrest_run(engine), GOLDCREST_DONE);
    goldcrest_result result;
    EXPECT_EQ(goldcrest_get_result(engine, 0, 0, &result), GOLDCREST_OK);
  }
  char out[40];
  EXPECT_LT(goldcrest_translate(engine, "ab\xff \xe2\x96\x81", 7, out, sizeof out), int64_t{sizeof out});
}
}  // namespace

const FileImage& smallest_file() { return made_once<kInt8, Parts{}>(); }
const FileImage& smallest_float32_file() { return made_once<kFloat32, Parts{}>(); }
const FileImage& smallest_recurrent_file() { return made_once<kInt8, Parts{.n_recurrent = 1}>(); }
const FileImage& smallest_listed_file() { return made_once<kInt8, Parts{.shortlist = true}>(); }
const FileImage& smallest_subword_file() { return made_once<kInt8, Parts{.subwords = true}>(); }
const FileImage& smallest_languages_file() { return made_once<kInt8, Parts{.languages = true}>(); }
const FileImage& smallest_gated_file() { return made_once<kInt8, Parts{.gated = true}>(); }
const FileImage& smallest_gated_float32_file() { return made_once<kFloat32, Parts{.gated = true}>(); }
const FileImage& smallest_biased_file() { return made_once<kInt8, Parts{.biased = true}>(); }
const FileImage& smallest_biased_float32_file() { return made_once<kFloat32, Parts{.biased = true}>(); }

FileImage remade(const FileImage& file, const Mutation& mutate, const Mutation& mutate_placed) {
  const auto mutate_metadata = [&](ModelT& metadata, Contents&) {
    if (mutate) mutate(metadata);
  };
  return remade_with_contents(file, mutate_metadata, mutate_placed);
}

FileImage remade_with_contents(
    const FileImage& file, const std::function<void(ModelT&, Contents&)>& mutate, const Mutation& mutate_placed) {
  ModelT metadata;
  format::GetModel(file.bytes())->UnPackTo(&metadata);
  Contents contents;
  for (const auto& section : metadata.sections) {
    const uint8_t* start = file.bytes() + size_t{section->offset} * 64;
    contents.emplace_back(start, start + section->size);
  }
  mutate(metadata, contents);
  const auto metadata_bytes = static_cast<uint32_t>(serialize(metadata).size());
  uint64_t end = align_bytes(metadata_bytes);
  std::vector<uint64_t> places;
  for (size_t i = 0; i < contents.size(); ++i) {
    places.push_back(end);
    if (i < metadata.sections.size()) {
      metadata.sections[i]->offset = static_cast<uint32_t>(end / 64);
      metadata.sections[i]->size = contents[i].size();
      metadata.sections[i]->crc32c = crc32c(0, contents[i].data(), contents[i].size());
    }
    end = align_bytes(end + contents[i].size());
  }
  if (mutate_placed) mutate_placed(metadata);
  const flatbuffers::DetachedBuffer bytes = serialize(metadata);
  EXPECT_EQ(bytes.size(), metadata_bytes);
  FileImage made(end + 64);
  std::copy(bytes.data(), bytes.data() + bytes.size(), made.bytes());
  for (size_t i = 0; i < contents.size(); ++i)
    std::copy(contents[i].begin(), contents[i].end(), made.bytes() + places[i]);
  write_trailer(made, metadata_bytes);
  return made;
}

void repair_checksums(FileImage& file) {
  const auto metadata_bytes = load<uint32_t>(file, file.size() - 64 + 12);
  flatbuffers::Verifier verifier(file.bytes(), std::min<size_t>(metadata_bytes, file.size()));
  if (format::VerifyModelBuffer(verifier) && format::GetModel(file.bytes())->sections() != nullptr) {
    for (const format::Section* section : *format::GetModel(file.bytes())->sections()) {
      const uint64_t start = uint64_t{section->offset()} * 64;
      if (start > file.size() || section->size() > file.size() - start) continue;
      const uint32_t checksum = kernels_at(0)->crc32c(0, file.bytes() + start, section->size());
      const uint8_t* at =
          reinterpret_cast<const flatbuffers::Table*>(section)->GetAddressOf(format::Section::VT_CRC32C);
      if (at != nullptr) store(file, static_cast<size_t>(at - file.bytes()), checksum);
    }
  }
  write_trailer(file, metadata_bytes);
}

Verdict try_file(const FileImage& image) {
  // The engine must not read past the end of the file.
  GuardedBuffer<uint8_t> file(image.size());
  std::copy(image.span().begin(), image.span().end(), file.begin());
  goldcrest_detail detail = {};
  goldcrest_info info;
  goldcrest_limits limits = {};
  goldcrest_memory memory;
  Verdict verdict = {.status = goldcrest_model_info(file.get(), file.size(), &info, &detail)};
  if (verdict.status == GOLDCREST_OK) {
    limits.beam_size = 2;
    limits.max_source_bytes = info.has_tokenizer ? 8 : 0;
    verdict.status = goldcrest_plan_memory(file.get(), file.size(), &limits, &memory, nullptr, nullptr, &detail);
  }
  if (verdict.status == GOLDCREST_OK && memory.arena_bytes <= kLargestArena) {
    GuardedBuffer<uint8_t> arena(memory.arena_bytes);
    goldcrest_config config = {.model = file.get(),
        .model_bytes = file.size(),
        .arena = arena.get(),
        .arena_bytes = arena.size(),
        .limits = limits,
        .detail = &detail};
    goldcrest_engine* engine = nullptr;
    verdict.status = goldcrest_init(&engine, &config);
    if (verdict.status == GOLDCREST_OK) {
      translate(engine, 1);
      translate(engine, 2);
      const int self_test = goldcrest_self_test(engine, &detail);
      EXPECT_TRUE(self_test == GOLDCREST_ERROR_SELF_TEST || self_test == GOLDCREST_ERROR_TOO_LONG) << self_test;
      EXPECT_TRUE(arena.intact());
    }
  }
  if (verdict.status < 0) {
    EXPECT_NE(detail.message, nullptr) << "refused without a reason";
    EXPECT_TRUE(detail.index >= -1 || verdict.status != GOLDCREST_ERROR_MODEL_CORRUPT) << detail.message;
    verdict.detail = detail.message != nullptr ? detail.message : "";
  }
  return verdict;
}

void expect_runs(const FileImage& image, const char* file, int line) {
  const Verdict verdict = try_file(image);
  if (verdict.status != GOLDCREST_OK)
    ADD_FAILURE_AT(file, line) << "status " << verdict.status << ", " << verdict.detail;
}

void expect_corrupt(const FileImage& image, const std::string& detail, const char* file, int line) {
  const Verdict verdict = try_file(image);
  if (verdict.status != GOLDCREST_ERROR_MODEL_CORRUPT || verdict.detail != detail)
    ADD_FAILURE_AT(file, line) << "status " << verdict.status << ", \"" << verdict.detail << "\", not \"" << detail
                               << '"';
}

void expect_refused(const FileImage& file, const std::vector<Lie>& lies) {
  for (const Lie& lie : lies) expect_corrupt(remade(file, lie.tell), lie.detail);
}

void expect_damage_refused(FileImage file) {
  const VerifyFunctions full = {crc32c, reference_weights_valid, true};
  ASSERT_EQ(validate_model(file.bytes(), file.size(), full, nullptr), GOLDCREST_OK);
  for (size_t n = 0; n < file.size(); ++n)
    ASSERT_EQ(validate_model(file.bytes(), n, full, nullptr), GOLDCREST_ERROR_MODEL_CORRUPT) << n;
  for (size_t byte = 0; byte < file.size(); ++byte) {
    const auto mask = static_cast<uint8_t>(1 << byte % 8);
    file.bytes()[byte] ^= mask;
    const int status = validate_model(file.bytes(), file.size(), full, nullptr);
    file.bytes()[byte] ^= mask;
    ASSERT_LT(status, 0) << "byte " << byte;
  }
}

void expect_flips_refused_or_run(const FileImage& whole, const Flips& flips) {
  Rng rng(flips.seed);
  int refused = 0, accepted = 0;
  const auto* const sections = format::GetModel(whole.bytes())->sections();
  const uint32_t metadata_bytes = sections->Get(0)->offset() * 64,
                 first = flips.anywhere ? 0 : sections->Get(3)->offset() * 64;
  const auto end = static_cast<uint32_t>(whole.size() - 64);
  for (int i = 0; i < flips.n; ++i) {
    FileImage file = whole;
    const uint32_t byte = rng.below(2) == 0 ? rng.below(metadata_bytes) : rng.between(first, end - 1);
    file.bytes()[byte] ^= static_cast<uint8_t>(1 << rng.below(8));
    repair_checksums(file);
    SCOPED_TRACE(testing::Message() << "byte " << byte);
    (try_file(file).status < 0 ? refused : accepted) += 1;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);
}
}  // namespace goldcrest::test
