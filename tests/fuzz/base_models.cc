// SPDX-License-Identifier: Apache-2.0
#include "fuzz/base_models.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "model/blocks.h"
#include "model/frontend_view.h"
#include "support/engine_fixture.h"
#include "support/rng.h"
#include "support/speech_model.h"
#include "tokenizers/double_array_builder.h"
#include "unit/model/hostile_file.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test {
namespace {
ModelParts parts_of(const FileImage& file) {
  ModelParts parts = {read_metadata(file.bytes()), {}};
  for (const format::Section* section : *format::GetModel(file.bytes())->sections()) {
    const uint8_t* start = file.bytes() + size_t{section->offset()} * kAlignment;
    parts.sections.emplace_back(start, start + section->size());
  }
  return parts;
}

// Gives the file self-test lines with the engine's own results, if this build runs the model. If it has a shortlist,
// the second line is a search among candidates.
FileImage with_self_test(const ModelSpec& spec) {
  const converter::Payload payload = converter::build_payload(spec, {});
  FileImage file = converter::assemble(payload, {});
  if ((format::GetModel(file.bytes())->features() & ~kSupportedFeatures) != 0) return file;
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

// No tokenizers, a shortlist, layers of both kinds, a prompt and sequences.
FileImage mixed_file() {
  TinyOptions options = {.encoder = {4, 5, 1, 4, 2, 4}, .decoder = {4, 5, 1, 4, 2, 4}};
  options.decoder.n_recurrent = 1;
  options.source_vocab_size = 6;
  options.target_vocab_size = 40;
  ModelSpec spec = tiny_spec(options);
  add_shortlist(3, spec);
  spec.generation.prompt = {{3, 5}, {4}, {2}};
  spec.generation.sequences = {{{{1, 2}, 0.5f}, {{4, 5}, -std::numeric_limits<float>::infinity()}}, 2};
  return with_self_test(spec);
}

// Ids that take 32 bits, wide matrices, more layers than a mask has bits, and pieces for bytes.
FileImage large_file() {
  TinyOptions options = {.encoder = {4, 4100, 1, 4, 1, 4}, .decoder = {4, 5, 1, 4, 33, 4}};
  const converter::TokenizerSpec tokenizer =
      converter::parse_sentencepiece_model(read_bytes(source_path("tests/data/bpe_bytes.model")), "bpe_bytes.model");
  options.source_vocab_size = tokenizer.vocab_size;
  options.target_vocab_size = 65552;
  options.tied = true;
  ModelSpec spec = tiny_spec(options);
  spec.source_tokenizer = tokenizer;
  std::vector<uint64_t> offset(tokenizer.vocab_size + 1, 3);
  offset[0] = 0;
  spec.shortlist = converter::ShortlistSpec{{2}, offset, {1, 4, 65551}, {}};
  return tiny_file(spec);
}

// A model with tied weights, target languages and rules of the search.
FileImage file_with_rules() {
  TinyOptions options = {.encoder = {4, 5, 1, 4, 2, 4},
      .decoder = {4, 5, 1, 4, 2, 4},
      .source_vocab_size = 9,
      .target_vocab_size = 7,
      .tied = true};
  ModelSpec spec = tiny_spec(options);
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

// Finds a field by its slot in the schema's generated code.
MetadataField& field_of(MetadataTable& table, flatbuffers::voffset_t slot) {
  return table.fields[(slot - flatbuffers::FieldIndexToOffset(0)) / sizeof slot];
}

// Makes the odd ids' logits zero.
void add_equal_logits(ModelSpec& spec) {
  auto weight = std::make_shared<converter::Matrix>(*spec.projection.weight);
  for (uint32_t id = 1; id < weight->rows; id += 2) {
    std::fill_n(weight->values.edit().data() + size_t{id} * weight->columns, weight->columns, 0.0f);
    spec.projection.bias[id] = 0;
  }
  spec.projection.weight = weight;
}

// SentencePiece's normalizer: a trie of replaced texts, whose values are the offsets of the new texts; then these
// texts.
std::string charsmap(const std::vector<std::pair<std::string, std::string>>& rules) {
  std::vector<converter::TrieEntry> entries;
  std::string texts;
  for (const auto& [from, to] : rules) {
    entries.push_back({from, static_cast<uint32_t>(texts.size())});
    texts += to + '\0';
  }
  const std::vector<uint32_t> trie = converter::build_double_array(entries);
  const auto trie_bytes = static_cast<uint32_t>(4 * trie.size());
  std::string bytes(reinterpret_cast<const char*>(&trie_bytes), 4);
  return bytes.append(reinterpret_cast<const char*>(trie.data()), trie_bytes) + texts;
}

// Pieces of all types, and rules that lengthen a text or delete it. There are so few that each of their bytes matters.
converter::TokenizerSpec small_tokenizer(converter::TokenizerKind kind, bool keeps_whitespace) {
  using converter::PieceType;
  converter::TokenizerSpec tokenizer = {.kind = kind,
      .pieces = {{"</s>", 0, PieceType::kControl}, {"<unk>", 0, PieceType::kUnknown}, {"\u2581", -3}, {"a", -4},
          {"b", -5}, {"ab", -2}, {"\u2581ab", -1}, {"cd", 0, PieceType::kUserDefined}, {"ba", -2, PieceType::kUnused},
          {"aab", -1, PieceType::kSurface}}};
  tokenizer.vocab_size = static_cast<uint32_t>(tokenizer.pieces.size());
  tokenizer.unknown_id = 1;
  tokenizer.precompiled_charsmap =
      charsmap({{"A", "a"}, {"B", "abababababababab"}, {"BC", ""}, {"\t", " "}, {"\u00e9", "b b"}});
  tokenizer.remove_extra_whitespace = !keeps_whitespace;
  tokenizer.whitespace_as_suffix = keeps_whitespace;
  return tokenizer;
}

// Every matrix has fine inputs, a second matrix and fine attention.
FileImage fine_file() {
  return fine_tiny_file(tiny_spec({.encoder = {4, 5, 1, 4, 1, 4}, .decoder = {4, 5, 1, 4, 1, 4}}), {}, "all", "all");
}

// Matrices have weights of 4 bits, and a source has candidates.
FileImage packed_file(Layout layout, const char* pack) {
  ModelSpec spec = tiny_spec({.encoder = {4, 5, 1, 4, 1, 4}, .decoder = {4, 5, 1, 4, 1, 4}, .tied = true});
  add_shortlist(3, spec);
  return packed_tiny_file(spec, layout, {}, pack);
}

// A file with the same tokenizer for both sides.
FileImage file_with_tokenizer(const converter::TokenizerSpec& tokenizer) {
  TinyOptions options = {.encoder = {4, 5, 1, 4, 1, 4},
      .decoder = {4, 5, 1, 4, 1, 4},
      .source_vocab_size = tokenizer.vocab_size,
      .target_vocab_size = tokenizer.vocab_size,
      .tied = true};
  ModelSpec spec = tiny_spec(options);
  spec.source_tokenizer = spec.target_tokenizer = tokenizer;
  return with_self_test(spec);
}

// A shortlist, rules that change the logits of some ids, and ids whose logits are the same.
FileImage listed_file(converter::Weights weights, Layout layout) {
  TinyOptions options = {
      .encoder = {4, 5, 1, 4, 1, 4}, .decoder = {4, 5, 1, 4, 1, 4}, .source_vocab_size = 6, .target_vocab_size = 40};
  ModelSpec spec = tiny_spec(options);
  add_shortlist(3, spec);
  add_equal_logits(spec);
  spec.generation.rules.more_end_ids = {3};
  spec.generation.rules.biases = {{1, 1.0f}, {4, -2.0f}};
  return tiny_file(spec, layout, {}, weights);
}

// A model whose layers are wide enough to be split between threads.
FileImage wide_file() {
  TinyOptions options = {.encoder = {4, 5, 1, 4, 1, 4},
      .decoder = {128, 1024, 1, 4, 1, 4},
      .source_vocab_size = 6,
      .target_vocab_size = 1024};
  ModelSpec spec = tiny_spec(options);
  add_equal_logits(spec);
  return tiny_file(spec);
}

ModelParts make_far_model() {
  const ModelSpec spec = tiny_spec({.encoder = {4, 5, 1, 4, 1, 4}, .decoder = {4, 5, 2, 16, 1, 1024}});
  ModelParts parts = parts_of(tiny_file(spec, Layout::kRowMajor, {}, converter::Weights::kFloat32));
  MetadataTable& decoder = field_of(parts.metadata, format::Model::VT_DECODER).tables[0];
  std::vector<MetadataTable>& layers = field_of(decoder, format::Stack::VT_LAYERS).tables;
  layers.resize(kMaxLayers, MetadataTable(layers[0]));
  return parts;
}
}  // namespace

const std::vector<ModelParts>& base_models() {
  static const std::vector<ModelParts> models = {parts_of(smallest_file()), parts_of(smallest_float32_file()),
      parts_of(smallest_recurrent_file()), parts_of(smallest_listed_file()), parts_of(smallest_subword_file()),
      parts_of(file_with_rules()), parts_of(mixed_file())};
  return models;
}

const std::vector<ModelParts>& richer_models() {
  static const std::vector<ModelParts> models = [] {
    std::vector<ModelParts> made;
    for (const converter::TokenizerSpec& tokenizer : good_specs())
      made.push_back(parts_of(file_with_tokenizer(tokenizer)));
    made.push_back(parts_of(listed_file(converter::Weights::kFloat32, Layout::kRowMajor)));
    made.push_back(parts_of(listed_file(converter::Weights::kInt8, Layout::kN16K4)));
    made.push_back(parts_of(listed_file(converter::Weights::kInt8, Layout::kN4K16)));
    made.push_back(parts_of(wide_file()));
    made.push_back(parts_of(file_with_tokenizer(small_tokenizer(converter::TokenizerKind::kUnigram, false))));
    made.push_back(parts_of(file_with_tokenizer(small_tokenizer(converter::TokenizerKind::kBpe, true))));
    return made;
  }();
  return models;
}

const std::vector<ModelParts>& family_models() {
  static const std::vector<ModelParts> models = {parts_of(smallest_languages_file()),
      parts_of(remade(smallest_languages_file(),
          [](ModelT& m) {
            m.languages->default_source = -1;
            m.languages->default_target = -1;
          })),
      parts_of(smallest_gated_file()), parts_of(smallest_biased_file())};
  return models;
}

const std::vector<ModelParts>& fine_models() {
  static const std::vector<ModelParts> models = {parts_of(fine_file()), parts_of(packed_file(Layout::kN4K16, "all")),
      parts_of(packed_file(Layout::kN16K4, "linear"))};
  return models;
}

const std::vector<ModelParts>& speech_models() {
  static const std::vector<ModelParts> models = [] {
    std::vector<ModelParts> made;
    for (OpenChoices options : tiny_speech_options()) {
      options.half = made.empty() ? 16 : 0;  // rotary, in the first one
      if (made.size() == 1) {                // a voice detector, and times, in the second
        Rng rng(5);
        for (uint32_t i = 0; i < voice_floats(); ++i) options.voice.push_back(rng.uniform());
      }
      const bool has_times = kHasTimestamps && made.size() == 1;
      made.push_back(parts_of(remade(speech_file(options), [&](ModelT& model) {
        if (!has_times) return;
        model.features |= kFeaturePrompt | kFeatureTimestamps;
        model.generation->forced_ids = {19};
        model.generation->first_timestamp = 20;
        model.generation->max_first_timestamp = 3;
        model.generation->alignment_heads = {0, 3};
      })));
    }
    return made;
  }();
  return models;
}

const ModelParts& large_model() {
  static const ModelParts model = parts_of(large_file());
  return model;
}

const ModelParts& far_model() {
  static const ModelParts model = make_far_model();
  return model;
}
}  // namespace goldcrest::test
