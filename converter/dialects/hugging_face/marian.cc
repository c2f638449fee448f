// SPDX-License-Identifier: Apache-2.0
// Hugging Face Marian, which is also OPUS-MT: config.json, generation_config.json, vocab.json, source.spm, target.spm
// and the tensors of MarianMTModel (transformers/models/marian/modeling_marian.py at v5.2; older versions also had
// learned positions, pre-norm, embedding norms and final norms).
#include "dialects/hugging_face/marian.h"
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/seq2seq_graph.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/special_tokens.h"
#include "dialects/positions.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "sources/values/value.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kForcedEnd = 0;  // MarianConfig's default for forced_eos_token_id

Seq2SeqGraph graph_of(const Config& config) {
  Seq2SeqGraph graph;
  graph.family = "Marian";
  graph.table_names = {"model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
      "lm_head.weight", "final_logits_bias"};
  TableSettings& tables = graph.tables;
  tables.source_rows = config.count("vocab_size", 1, kMaxVocabulary);
  tables.shared = config.flag_or("share_encoder_decoder_embeddings", true);
  tables.target_rows =
      tables.shared ? tables.source_rows : config.count_or("decoder_vocab_size", tables.source_rows, 1, kMaxVocabulary);
  tables.d_model = config.count("d_model", 2, kMaxWidth);
  graph.max_positions = config.count_or("max_position_embeddings", 1024, 1, kMaxPositions);
  check_position_rows(config.where("max_position_embeddings"), graph.max_positions, tables.d_model);
  graph.activation = read_activation(config, "activation_function");
  tables.tied = config.flag_or("tie_word_embeddings", true);
  graph.scale_embedding = config.flag_or("scale_embedding", false);
  graph.positions =
      config.flag_or("static_position_embeddings", true) ? PositionTable::kStoredSinusoid : PositionTable::kLearned;
  graph.pre_norm = config.flag_or("normalize_before", false);
  graph.embedding_norm = config.flag_or("normalize_embedding", false);
  graph.final_norm = config.flag_or("add_final_layer_norm", false);
  return graph;
}

// Throws one Error that names every setting that is missing. `generation`: generation_config.json, which may have the
// ids in its place.
void check_marian_settings(const Config& config, const Config& generation) {
  constexpr const char* kInteger = "an integer";
  std::vector<std::string> counts = seq2seq_counts();
  counts.insert(counts.begin(), "vocab_size");
  std::vector<std::string> known = counts;
  known.insert(
      known.end(), {"activation_function", "bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id"});
  RequiredSettings required(config, known);
  for (const std::string& key : counts) required.require(key, kInteger);
  required.require("activation_function", kActivationNames);
  if (!generation.has("eos_token_id")) required.require("eos_token_id", "a token id");
  if (!generation.has("decoder_start_token_id") && !generation.has("pad_token_id") && !config.has("pad_token_id"))
    required.require("decoder_start_token_id", "a token id");
  required.check();
}

std::vector<ShapedTensor> marian_tensors(const Config& config) {
  const std::filesystem::path generation = config.path().parent_path() / "generation_config.json";
  std::error_code error;
  const bool has_generation = std::filesystem::exists(generation, error);
  check_marian_settings(config, has_generation ? Config(generation) : Config(Value::map(), "", {}));
  return seq2seq_tensors(graph_of(config), config);
}

ModelSpec load_marian(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const std::filesystem::path generation_file = side_file(checkpoint, "generation_config.json");
  const Config generation = side_config(checkpoint, "generation_config.json");
  check_marian_settings(checkpoint.config, generation);
  const Seq2SeqGraph graph = graph_of(checkpoint.config);
  const uint32_t target_rows = graph.tables.target_rows;
  std::error_code error;
  spec.generation = hugging_face_generation(generation, checkpoint.config,
      {target_rows, graph.max_positions, std::filesystem::exists(generation_file, error), kForcedEnd}, spec.warnings);
  // The tensors first: a vocabulary takes as much memory as its setting says, which the tensors bear out.
  TensorReader tensors(checkpoint.tensors);
  read_seq2seq_graph(graph, checkpoint.config, {}, tensors, spec);
  read_marian_text(checkpoint, graph.tables.source_rows, target_rows, spec);
  return spec;
}
}  // namespace

const ConfigFamily kMarianFamily = {"marian", "Hugging Face Marian, OPUS-MT", load_marian, marian_tensors, nullptr,
    nullptr, {"OPUS-MT and other Marian models of Hugging Face", "safetensors (also sharded), `pytorch_model.bin`"}};

namespace {
std::filesystem::path tokenizer_file(const Checkpoint& checkpoint, const char* name) {
  std::filesystem::path path = side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !std::filesystem::is_symlink(path, error)) {
    throw Error(
        "{}: is missing; a Marian checkpoint has source.spm, target.spm and vocab.json (and target_vocab.json with "
        "separate vocabularies): copy it from where the checkpoint came from",
        path.string());
  }
  return path;
}

Vocabulary marian_vocabulary(const std::filesystem::path& path, uint32_t n_ids, const SpecialTexts& special,
    std::vector<std::string>& warnings) {
  Vocabulary vocabulary = read_vocabulary(path, n_ids);
  vocabulary.unknown_id = require_id(vocabulary, special.unknown, "the unknown token");
  vocabulary.control_ids.push_back(require_id(vocabulary, special.end, "the end token"));
  if (const auto pad = find_id(vocabulary, special.pad)) vocabulary.control_ids.push_back(*pad);
  check_gaps(vocabulary, warnings);
  return vocabulary;
}

bool has_tokenizer(const std::filesystem::path& directory) {
  std::error_code error;
  for (const char* name : {"vocab.json", "source.spm", "target.spm"})
    if (!std::filesystem::exists(directory / name, error)) return false;
  return true;
}
}  // namespace

void read_marian_text(
    const Checkpoint& checkpoint, uint32_t source_vocab_size, uint32_t target_vocab_size, ModelSpec& spec) {
  if (checkpoint.is_shape && !has_tokenizer(checkpoint.directory)) {
    spec.generation.source_suffix = {spec.generation.end_id};
    return;
  }
  const Config tokenizer = side_config(checkpoint, "tokenizer_config.json");
  const SpecialTexts special = read_special_texts(tokenizer, {"<unk>", "</s>", "<pad>"});
  spec.source_language = tokenizer.text_or("source_lang", "");
  spec.target_language = tokenizer.text_or("target_lang", "");

  const std::filesystem::path vocabulary_path = tokenizer_file(checkpoint, "vocab.json");
  const Vocabulary source = marian_vocabulary(vocabulary_path, source_vocab_size, special, spec.warnings);
  spec.tokenizer_files = {vocabulary_path};
  const bool is_separate = tokenizer.flag_or("separate_vocabs", false);
  Vocabulary separate;
  if (is_separate) {
    const std::filesystem::path path = tokenizer_file(checkpoint, "target_vocab.json");
    separate = marian_vocabulary(path, target_vocab_size, special, spec.warnings);
    spec.tokenizer_files.push_back(path);
  }
  const Vocabulary& target = is_separate ? separate : source;
  if (target.id_to_text.size() != target_vocab_size) {
    throw Error(
        "{}: the decoder's vocabulary has {} entries, the encoder's {}, but there is no target_vocab.json: "
        "expected \"separate_vocabs\": true in tokenizer_config.json",
        checkpoint.directory.string(), target_vocab_size, source_vocab_size);
  }
  check_special_ids(checkpoint, target, special, spec);
  const std::filesystem::path source_path = tokenizer_file(checkpoint, "source.spm"),
                              target_path = tokenizer_file(checkpoint, "target.spm");
  const TokenizerSpec source_model = read_sentencepiece_model(source_path),
                      target_model = read_sentencepiece_model(target_path);
  const PiecesOf source_pieces = {source_path, &source_model, &source, spec.source_language};
  const PiecesOf target_pieces = {target_path, &target_model, &target, spec.target_language};
  check_both(source_pieces, target_pieces, spec.warnings);
  spec.tokenizer_files.insert(spec.tokenizer_files.end(), {source_path, target_path});
  spec.source_tokenizer = combine_with_vocabulary(source_model, source);
  spec.target_tokenizer = combine_with_vocabulary(target_model, target);
  for (TokenizerSpec* const side : {&*spec.source_tokenizer, &*spec.target_tokenizer}) {
    side->added_by_items = true;
    set_added_tokens(checkpoint, read_added_tokens(checkpoint), {}, *side);
  }
  spec.generation.unknown_id = target.unknown_id;
  // MarianTokenizer ends a source with the end token of the vocabulary that it reads the source with.
  spec.generation.source_suffix = {require_id(source, special.end, "the end token")};
}
}  // namespace goldcrest::converter
