// SPDX-License-Identifier: Apache-2.0
// Names: transformers/models/bart/modeling_bart.py at v5.23; Marian, mBART, Pegasus, M2M-100, Blenderbot and FSMT have
// the same ones.
#include "dialects/hugging_face/seq2seq_graph.h"
#include <algorithm>
#include <cmath>
#include "base/bounds.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/positions.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
uint32_t count_of(const Config& config, const std::string& stack, const char* what) {
  const std::string_view key = what;
  const uint32_t most = key == "_layers" ? kMaxLayers : key == "_attention_heads" ? kMaxHeads : kMaxWidth;
  return config.count(stack + what, 1, most);
}

std::string positions_name(const std::string& stack) { return "model." + stack + ".embed_positions.weight"; }

class GraphReader {
 public:
  GraphReader(const Seq2SeqGraph& graph, const Config& config, TensorReader& tensors, ModelSpec& spec)
      : graph_(graph), config_(config), tensors_(tensors), spec_(spec) {}

  void read(const std::vector<std::string>& ignored) {
    read_tables(graph_.table_names, graph_.tables, tensors_, spec_);
    read_stacks();
    tensors_.check_missing();
    std::vector<std::string> unused = tensors_.unused();
    std::erase_if(unused, [&](const std::string& name) {
      return std::ranges::any_of(ignored, [&](const std::string& end) { return name.ends_with(end); });
    });
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }

  void read_stacks() {
    read_stack("encoder", spec_.encoder);
    read_stack("decoder", spec_.decoder);
  }
 private:
  uint32_t d_model() const { return graph_.tables.d_model; }
  NormSpec norm(const std::string& prefix) { return tensors_.norm(prefix, d_model(), true, kSeq2SeqNormEpsilon); }

  void read_stack(const std::string& name, StackSpec& stack) {
    stack.d_model = d_model();
    stack.d_ff = count_of(config_, name, "_ffn_dim");
    stack.n_heads = count_of(config_, name, "_attention_heads");
    if (stack.d_model % stack.n_heads != 0) {
      throw Error("{} is {}, expected a divisor of d_model {}", config_.where(name + "_attention_heads"), stack.n_heads,
          stack.d_model);
    }
    stack.d_head = stack.d_model / stack.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
    stack.activation = graph_.activation;
    stack.pre_norm = graph_.pre_norm;
    stack.embedding_scale =
        graph_.scale_embedding ? static_cast<float>(std::sqrt(static_cast<double>(stack.d_model))) : 1.0f;
    stack.positions = positions(name);
    const std::string prefix = "model." + name;
    if (graph_.embedding_norm) stack.embedding_norm = norm(prefix + ".layernorm_embedding");
    if (graph_.final_norm) stack.final_norm = norm(prefix + ".layer_norm");
    const uint32_t n_layers = count_of(config_, name, "_layers");
    const LayerShape shape = {stack.d_model, stack.d_ff, kSeq2SeqNormEpsilon, name == "decoder"};
    for (uint32_t i = 0; i < n_layers; ++i)
      stack.layers.push_back(read_layer(format_text("{}.layers.{}", prefix, i), shape, tensors_));
  }

  Matrix positions(const std::string& stack) {
    const std::string name = positions_name(stack);
    if (graph_.positions == PositionTable::kLearned) {
      const uint32_t rows = graph_.max_positions + graph_.dropped_positions;
      return *slice_rows(tensors_.matrix(name, rows, d_model()), graph_.dropped_positions, rows);
    }
    if (d_model() % 2 != 0 || (graph_.fairseq_angles && d_model() < 4)) {
      throw Error("{} is {}, expected an even number{}", config_.where("d_model"), d_model(),
          graph_.fairseq_angles ? " from 4 on" : "");
    }
    Matrix computed =
        sinusoid_table({false, graph_.fairseq_angles, graph_.first_angle}, graph_.max_positions, d_model());
    if (graph_.positions == PositionTable::kIgnoredSinusoid || !tensors_.has(name)) return computed;
    return stored_sinusoid(name, computed);
  }

  // transformers uses a table that is stored, also one in half precision. A table of other values is worth a warning.
  Matrix stored_sinusoid(const std::string& name, const Matrix& computed) {
    constexpr float kTolerance = 2e-3f;  // a table in half precision differs by up to 5e-4
    const uint32_t first = graph_.dropped_positions, end = first + graph_.max_positions;
    const auto stored = slice_rows(tensors_.matrix(name, end, d_model()), first, end);
    const float difference = largest_difference(*stored, computed);
    if (difference > kTolerance) {
      spec_.warnings.push_back(format_text(
          "{} is not the table of sinusoids that {} models have (differs by up to {:.3g}); the stored table is used",
          tensors_.describe(name), graph_.family, difference));
    }
    return *stored;
  }

  const Seq2SeqGraph& graph_;
  const Config& config_;
  TensorReader& tensors_;
  ModelSpec& spec_;
};
}  // namespace

void read_seq2seq_graph(const Seq2SeqGraph& graph, const Config& config, const std::vector<std::string>& ignored,
    TensorReader& tensors, ModelSpec& spec) {
  GraphReader(graph, config, tensors, spec).read(ignored);
}

std::vector<std::string> seq2seq_counts() {
  std::vector<std::string> keys = {"d_model"};
  for (const std::string stack : {"encoder", "decoder"})
    for (const char* key : {"_layers", "_attention_heads", "_ffn_dim"}) keys.push_back(stack + key);
  return keys;
}

std::vector<ShapedTensor> seq2seq_tensors(const Seq2SeqGraph& graph, const Config& config) {
  const TableSettings& tables = graph.tables;
  const bool has_one_table = tables.shared && tables.tied;  // as transformers 5 saves them
  ModelSpec spec;
  TensorReader lister;
  GraphReader(graph, config, lister, spec).read_stacks();
  std::vector<ShapedTensor> tensors = lister.listed();
  if (has_one_table) {
    tensors.push_back({graph.table_names.shared, {tables.source_rows, tables.d_model}});
  } else {
    tensors.push_back({graph.table_names.encoder, {tables.source_rows, tables.d_model}});
    tensors.push_back({graph.table_names.decoder, {tables.target_rows, tables.d_model}});
  }
  if (!tables.tied) tensors.push_back({graph.table_names.head, {tables.target_rows, tables.d_model}});
  return tensors;
}
}  // namespace goldcrest::converter
