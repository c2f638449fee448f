// SPDX-License-Identifier: Apache-2.0
// Each family's choices: transformers/models/FAMILY/{configuration,modeling}_FAMILY.py at v5.23.
#include "dialects/hugging_face/families.h"
#include <algorithm>
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/seq2seq_graph.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/positions.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
struct Family {
  const char *model_type, *name;
  FamilyText text = FamilyText::kNone;
  bool has_two_vocabularies = false;
  bool pre_norm = true, final_norm = true, embedding_norm = false;
  bool scales_embedding = false;  // the default of scale_embedding
  PositionTable positions = PositionTable::kLearned;
  uint32_t dropped_positions = 0;   // rows that a learned table loses
  bool fairseq_angles = false;      // sinusoids begin after the padding's position
  uint32_t usual_positions = 1024;  // the default of max_position_embeddings
  uint32_t usual_start = 0;
  std::optional<uint32_t> usual_forced_end = std::nullopt;
};

constexpr Family kTable[] = {
    {.model_type = "bart",
        .name = "BART",
        .pre_norm = false,
        .final_norm = false,
        .embedding_norm = true,
        .dropped_positions = 2,
        .usual_start = 2,
        .usual_forced_end = 2},
    {.model_type = "mbart",
        .name = "mBART",
        .text = FamilyText::kMBart,
        .embedding_norm = true,
        .dropped_positions = 2,
        .usual_forced_end = 2},
    {.model_type = "pegasus",
        .name = "Pegasus",
        .text = FamilyText::kPegasus,
        .positions = PositionTable::kStoredSinusoid,
        .usual_forced_end = 1},
    {.model_type = "m2m_100",
        .name = "M2M-100",
        .text = FamilyText::kM2m,
        .scales_embedding = true,
        .positions = PositionTable::kIgnoredSinusoid,
        .fairseq_angles = true,
        .usual_start = 2},
    {.model_type = "blenderbot", .name = "Blenderbot", .usual_positions = 128, .usual_start = 1, .usual_forced_end = 2},
    {.model_type = "fsmt",
        .name = "FSMT",
        .has_two_vocabularies = true,
        .pre_norm = false,
        .final_norm = false,
        .scales_embedding = true,
        .positions = PositionTable::kStoredSinusoid,
        .fairseq_angles = true,
        .usual_start = 2,
        .usual_forced_end = 2},
};

const Family& row_of(const Config& config) {
  const std::string type = config.text_or("model_type", "");
  return *std::ranges::find_if(kTable, [&](const Family& family) { return family.model_type == type; });
}

// Settings that older code read. Today's has the choice fixed, so that another value would be another model.
void check_old_settings(const Family& family, const Config& config) {
  const auto check_flag = [&](const char* key, bool fixed) {
    if (config.flag_or(key, fixed) == fixed) return;
    throw Error("{} is {}, expected {}: transformers no longer reads it, and {} models need that value",
        config.where(key), !fixed, fixed, family.name);
  };
  check_flag("normalize_before", family.pre_norm);
  check_flag("add_final_layer_norm", family.final_norm);
  check_flag("normalize_embedding", family.embedding_norm);
  check_flag("static_position_embeddings", family.positions != PositionTable::kLearned);
  const std::string variant = config.text_or("layernorm_variant", "prelayernorm");
  if (variant != "prelayernorm" || (config.has("layernorm_variant") && !family.pre_norm)) {
    throw Error("{} is \"{}\", which {} models do not have: transformers no longer reads it",
        config.where("layernorm_variant"), variant, family.name);
  }
}

void check_settings(const Family& family, const Config& config, const Config& generation) {
  std::vector<std::string> counts = seq2seq_counts();
  if (family.has_two_vocabularies) counts.insert(counts.begin(), {"src_vocab_size", "tgt_vocab_size"});
  else counts.insert(counts.begin(), "vocab_size");
  std::vector<std::string> known = counts;
  known.insert(known.end(), {"activation_function", "eos_token_id", "max_position_embeddings", "scale_embedding"});
  RequiredSettings required(config, known);
  for (const std::string& key : counts) required.require(key, "an integer");
  required.require("activation_function", kActivationNames);
  if (!generation.has("eos_token_id")) required.require("eos_token_id", "a token id");
  required.check();
}

Seq2SeqGraph graph_of(const Family& family, const Config& config) {
  check_old_settings(family, config);
  Seq2SeqGraph graph;
  graph.family = family.name;
  graph.table_names = {"model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
      "lm_head.weight", "final_logits_bias"};
  TableSettings& tables = graph.tables;
  if (family.has_two_vocabularies) {
    graph.table_names.head = "model.decoder.output_projection.weight";
    tables.shared = false;
    tables.tied = false;
    tables.source_rows = config.count("src_vocab_size", 1, kMaxVocabulary);
    tables.target_rows = config.count("tgt_vocab_size", 1, kMaxVocabulary);
  } else {
    tables.shared = true;
    tables.tied = config.flag_or("tie_word_embeddings", true);
    tables.source_rows = tables.target_rows = config.count("vocab_size", 1, kMaxVocabulary);
  }
  tables.d_model = config.count("d_model", 2, kMaxWidth);
  graph.activation = read_activation(config, "activation_function");
  graph.scale_embedding = config.flag_or("scale_embedding", family.scales_embedding);
  graph.pre_norm = family.pre_norm;
  graph.embedding_norm = family.embedding_norm;
  graph.final_norm = family.final_norm;
  graph.positions = family.positions;
  graph.dropped_positions = family.dropped_positions;
  graph.fairseq_angles = family.fairseq_angles;
  if (family.fairseq_angles) graph.first_angle = config.count_or("pad_token_id", 1, 0, kMaxVocabulary) + 1;
  if (family.positions == PositionTable::kStoredSinusoid) graph.dropped_positions = graph.first_angle;
  const uint32_t most = kMaxPositions - std::min(graph.dropped_positions, kMaxPositions - 1);
  graph.max_positions = config.count_or("max_position_embeddings", family.usual_positions, 1, most);
  check_position_rows(config.where("max_position_embeddings"), graph.max_positions, tables.d_model);
  return graph;
}

// A projection of its own is used wherever it is stored; without one the table of the targets is the projection.
void use_table_as_head(const TensorReader& tensors, Seq2SeqGraph& graph) {
  TableTensors& names = graph.table_names;
  if (!graph.tables.tied && !tensors.has(names.head)) names.head = graph.tables.shared ? names.shared : names.decoder;
}

std::vector<ShapedTensor> family_tensors(const Config& config) {
  const Family& family = row_of(config);
  const std::filesystem::path path = config.path().parent_path() / "generation_config.json";
  std::error_code error;
  check_settings(family, config, std::filesystem::exists(path, error) ? Config(path) : Config(Value::map(), "", {}));
  Seq2SeqGraph graph = graph_of(family, config);
  graph.tables.tied = graph.tables.tied || family.has_two_vocabularies;  // as all known ones
  return seq2seq_tensors(graph, config);
}

ModelSpec load_family(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Config& config = checkpoint.config;
  const Family& family = row_of(config);
  const Config generation = side_config(checkpoint, "generation_config.json");
  check_settings(family, config, generation);
  Seq2SeqGraph graph = graph_of(family, config);
  const uint32_t target_rows = graph.tables.target_rows;
  std::error_code error;
  const bool has_generation = std::filesystem::exists(side_file(checkpoint, "generation_config.json"), error);
  spec.generation = hugging_face_generation(generation, config,
      {target_rows, graph.max_positions, has_generation, family.usual_forced_end, family.usual_start}, spec.warnings);
  // The tensors first: a vocabulary takes as much memory as its setting says, which the tensors bear out.
  TensorReader tensors(checkpoint.tensors);
  use_table_as_head(tensors, graph);
  read_seq2seq_graph(graph, config, {"embed_positions.weights"}, tensors, spec);
  read_family_text(checkpoint, {family.text, target_rows, spec.generation.end_id}, spec);
  return spec;
}

constexpr ConfigFamily config_family(const char* model_type, const char* description) {
  return {model_type, description, load_family, family_tensors, nullptr, nullptr, {nullptr, nullptr}};
}

constexpr ListedFamily kListed = {
    "BART, mBART, mBART-50, Pegasus, M2M-100, NLLB, Blenderbot, FSMT, T5, FLAN-T5, mT5, umT5, ByT5, MADLAD of Hugging "
    "Face",
    "safetensors (also sharded), `pytorch_model.bin`; [details of these families](converter/dialects/HUGGING_FACE.md)"};
}  // namespace

const ConfigFamily kBartFamily = {"bart", "BART", load_family, family_tensors, nullptr, nullptr, kListed},
                   kMBartFamily = config_family("mbart", "mBART, mBART-50"),
                   kPegasusFamily = config_family("pegasus", "Pegasus"),
                   kM2mFamily = config_family("m2m_100", "M2M-100, NLLB"),
                   kBlenderbotFamily = config_family("blenderbot", "Blenderbot"),
                   kFsmtFamily = config_family("fsmt", "FSMT");
}  // namespace goldcrest::converter
