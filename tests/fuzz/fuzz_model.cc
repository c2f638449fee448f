// SPDX-License-Identifier: Apache-2.0
// A model file with some fields of its metadata changed, then bytes anywhere, with right checksums, and then any calls:
// it is refused with a reason, or it runs within the memory that it asked for.
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/bounds.h"
#include "fuzz/engine_calls.h"
#include "fuzz/metadata_tree.h"
#include "support/engine_fixture.h"
#include "support/guarded_buffer.h"
#include "unit/model/hostile_file.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test {
namespace {

using converter::FileImage;

// What a file consists of.
struct ModelParts {
  MetadataTable metadata;
  std::vector<std::vector<uint8_t>> sections;
};

ModelParts parts_of(const FileImage& file) {
  ModelParts parts = {read_metadata(file.bytes()), {}};
  for (const format::Section* section : *format::GetModel(file.bytes())->sections()) {
    const uint8_t* start = file.bytes() + size_t{section->offset()} * kAlignment;
    parts.sections.emplace_back(start, start + section->size());
  }
  return parts;
}

// The file with lines of which the engine computes what they say; among candidates too, where it has a shortlist.
FileImage with_self_test(const converter::ModelSpec& spec) {
  const converter::Payload payload = converter::build_payload(spec, {});
  const FileImage file = converter::assemble(payload, {});
  TestEngine engine(file.span(), {});
  goldcrest_search search = engine.search();
  search.beam_size = 1;
  search.min_target_tokens = 0;
  std::vector<converter::SelfTestLine> lines;
  for (const bool shortlist : {false, true}) {
    if (shortlist && !spec.shortlist) continue;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS | (shortlist ? 0 : GOLDCREST_SEARCH_ALL_OUTPUTS);
    engine.set_search(search);
    const Translation translation = engine.run({1, 2});
    lines.push_back(
        {{1, 2}, {translation.tokens.begin(), translation.tokens.end()}, translation.logits_hash, shortlist});
  }
  return converter::assemble(payload, lines);
}

// No tokenizers, a shortlist, and layers of both kinds.
FileImage mixed_file() {
  TinyOptions options;
  options.encoder = {4, 5, 1, 4, 2, 4};
  options.decoder = {4, 5, 1, 4, 2, 4};
  options.decoder.n_recurrent = 1;
  options.source_vocab_size = 6;
  options.target_vocab_size = 40;
  converter::ModelSpec spec = tiny_spec(options);
  add_shortlist(3, spec);
  return with_self_test(spec);
}

// Ids that take 32 bits, wide matrices, more layers than a mask has bits, and pieces for bytes.
FileImage large_file() {
  TinyOptions options;
  options.encoder = {4, 4100, 1, 4, 1, 4};
  options.decoder = {4, 5, 1, 4, 33, 4};
  const converter::TokenizerSpec tokenizer =
      converter::parse_sentencepiece_model(read_bytes(source_path("tests/data/bpe_bytes.model")), "bpe_bytes.model");
  options.source_vocab_size = tokenizer.vocab_size;
  options.target_vocab_size = 65552;
  options.tied = true;
  converter::ModelSpec spec = tiny_spec(options);
  spec.source_tokenizer = tokenizer;
  std::vector<uint64_t> offset(tokenizer.vocab_size + 1, 3);
  offset[0] = 0;
  spec.shortlist = converter::ShortlistSpec{{2}, offset, {1, 4, 65551}, {}};
  return tiny_file(spec);
}

// A model with tied weights, target languages and rules of the search.
FileImage file_with_rules() {
  TinyOptions options;
  options.encoder = options.decoder = {4, 5, 1, 4, 2, 4};
  options.source_vocab_size = 9;
  options.target_vocab_size = 7;
  options.tied = true;
  converter::ModelSpec spec = tiny_spec(options);
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  spec.source_tokenizer->pieces[3] = {">>fra<<", 0, converter::PieceType::kSurface};
  spec.source_tokenizer->pieces[4] = {">>fr<<", 0, converter::PieceType::kSurface};
  spec.source_tokenizer->language_codes = true;
  spec.source_tokenizer->add_dummy_prefix = false;
  converter::RulesSpec& rules = spec.generation.rules;
  rules.renormalize = true;
  rules.no_repeat_ngram = 2;
  rules.repetition_penalty = 1.5f;
  rules.max_extra_tokens = 2;
  rules.more_end_ids = {3};
  rules.biases = {{1, 1.0f}, {4, -2.0f}};
  spec.source_language = "en";
  spec.target_language = "fra";
  return with_self_test(spec);
}

// By its place in the schema's generated code.
MetadataField& field_of(MetadataTable& table, flatbuffers::voffset_t slot) {
  return table.fields[(slot - flatbuffers::FieldIndexToOffset(0)) / sizeof slot];
}

const std::vector<ModelParts>& base_models() {
  static const std::vector<ModelParts> models = {parts_of(smallest_file()),
                                                 parts_of(smallest_float32_file()),
                                                 parts_of(smallest_recurrent_file()),
                                                 parts_of(smallest_listed_file()),
                                                 parts_of(smallest_subword_file()),
                                                 parts_of(file_with_rules()),
                                                 parts_of(mixed_file())};
  return models;
}

// A megabyte, and so for few inputs.
const ModelParts& large_model() {
  static const ModelParts model = parts_of(large_file());
  return model;
}

// As many layers as there may be, which share their matrices, and so many positions that with the greatest limits keys
// and values take more memory than a plan can place. Slow, and so for few inputs.
ModelParts make_far_model() {
  TinyOptions options;
  options.encoder = {4, 5, 1, 4, 1, 4};
  options.decoder = {4, 5, 2, 16, 1, 1024};
  const converter::ModelSpec spec = tiny_spec(options);
  ModelParts parts = parts_of(tiny_file(spec, format::Layout::RowMajor, {}, converter::Weights::kFloat32));
  MetadataTable& decoder = field_of(parts.metadata, format::Model::VT_DECODER).tables[0];
  std::vector<MetadataTable>& layers = field_of(decoder, format::Stack::VT_LAYERS).tables;
  layers.resize(kMaxLayers, MetadataTable(layers[0]));
  return parts;
}

const ModelParts& far_model() {
  static const ModelParts model = make_far_model();
  return model;
}

// Where section `i` lies, as far as the metadata speaks of one.
void set_section(uint8_t* metadata, size_t i, uint64_t start, uint64_t n) {
  const auto* const sections = format::GetModel(metadata)->sections();
  if (sections == nullptr || i >= sections->size()) return;
  // The buffer is this program's own, and nothing of it is constant.
  auto* const section = const_cast<flatbuffers::Table*>(
      reinterpret_cast<const flatbuffers::Table*>(sections->Get(static_cast<uint32_t>(i))));
  section->SetField(format::Section::VT_OFFSET, static_cast<uint32_t>(start / kAlignment), uint32_t{0});
  section->SetField(format::Section::VT_SIZE, n, uint64_t{0});
}

// Sections lie where the metadata's size lets them, unless the script wants them elsewhere.
FileImage assemble(const ModelParts& parts, bool places_lie) {
  flatbuffers::DetachedBuffer metadata = write_metadata(parts.metadata);
  const auto metadata_bytes = static_cast<uint32_t>(metadata.size());
  uint64_t end = align_bytes(metadata_bytes);
  std::vector<uint64_t> places;
  for (const std::vector<uint8_t>& section : parts.sections) {
    if (!places_lie) set_section(metadata.data(), places.size(), end, section.size());
    places.push_back(end);
    end = align_bytes(end + section.size());
  }
  FileImage file(end + kAlignment);
  std::copy_n(metadata.data(), metadata_bytes, file.bytes());
  for (size_t i = 0; i < places.size(); ++i)
    std::copy(parts.sections[i].begin(), parts.sections[i].end(), file.bytes() + places[i]);
  std::memcpy(file.bytes() + file.size() - kAlignment + 12, &metadata_bytes, sizeof metadata_bytes);  // the trailer
  return file;
}

void change_bytes(Script& script, uint8_t* bytes, size_t n) {
  for (uint32_t i = script.below(8); i > 0 && n >= 4; --i) {
    const size_t at = script.half() % (n - 3);
    const uint32_t value = script.word();
    std::memcpy(bytes + at, &value, script.below(2) == 0 ? 1 : 4);
  }
}

}  // namespace
}  // namespace goldcrest::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  using namespace goldcrest;
  using namespace goldcrest::test;
  Script script(bytes, n);
  const uint8_t which = script.byte();
  // The two last cost as much as twenty of the others: one of eight inputs that ask for them gets them.
  const bool is_rare = which >= 254 && std::accumulate(bytes, bytes + n, 0u) % 8 == 0;
  ModelParts parts = !is_rare       ? base_models()[which % base_models().size()]
                     : which == 255 ? large_model()
                                    : far_model();
  for (uint32_t i = script.below(5); i > 0; --i) change_metadata(script, parts.metadata);
  if (script.one_in(2)) {
    std::vector<uint8_t>& section = parts.sections[script.below(4)];
    if (script.one_in(4)) section.resize(script.half() % (2 * section.size() + 1));
    change_bytes(script, section.data(), section.size());
  }
  converter::FileImage file = assemble(parts, script.one_in(16));
  const bool is_damaged = script.one_in(8);
  if (is_damaged) {
    repair_checksums(file);
    change_bytes(script, file.bytes(), file.size());
  }
  if (!is_damaged || script.below(2) == 0) repair_checksums(file);
  const size_t model_bytes = is_damaged && script.one_in(4) ? script.half() % file.size() : file.size();
  // Nothing behind the file may be read.
  GuardedBuffer<uint8_t> model(align_bytes(model_bytes));
  std::copy_n(file.bytes(), model_bytes, model.begin());
  call_engine({model.get(), model_bytes}, script);
  return 0;
}
