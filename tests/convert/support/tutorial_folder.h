// SPDX-License-Identifier: Apache-2.0
// Small checkpoints with the names of each tutorial's Transformer, which tests change before they load them.
#pragma once

#include <nlohmann/json.hpp>
#include "convert/support/formula_samples.h"
#include "converter/dialects/dialect.h"
#include "support/rng.h"

namespace goldcrest::test {
enum class TutorialKind { kAnnotated, kSeq2Seq, kTrevett };

inline const std::vector<std::pair<TutorialKind, const char*>> kTutorials = {
    {TutorialKind::kAnnotated, "annotated_transformer"}, {TutorialKind::kSeq2Seq, "seq2seq_transformer"},
    {TutorialKind::kTrevett, "trevett_transformer"}};

// Two encoder layers and one decoder layer of width 8 with 2 heads, 9 source and 7 target words, 10 positions.
class TutorialFolder {
 public:
  static constexpr uint32_t kWidth = 8, kInner = 12, kPositions = 10, kSourceWords = 9, kTargetWords = 7;

  explicit TutorialFolder(TutorialKind of) : kind(of) {
    const std::string module = kind == TutorialKind::kSeq2Seq ? "transformer." : "";
    for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1.", "decoder.layers.0."})
      add_layer(module + layer, layer[0] == 'd');
    if (kind == TutorialKind::kTrevett) {
      for (const std::string stack : {"encoder.", "decoder."}) {
        add(stack + "tok_embedding.weight", {stack[0] == 'e' ? kSourceWords : kTargetWords, kWidth});
        add(stack + "pos_embedding.weight", {kPositions, kWidth});
      }
      add_pair("decoder.fc_out", {kTargetWords, kWidth});
      return;
    }
    for (const std::string stack : {"encoder", "decoder"}) add_norm(module + stack + ".norm");
    const bool is_annotated = kind == TutorialKind::kAnnotated;
    add(is_annotated ? "src_embed.0.lut.weight" : "src_tok_emb.embedding.weight", {kSourceWords, kWidth});
    add(is_annotated ? "tgt_embed.0.lut.weight" : "tgt_tok_emb.embedding.weight", {kTargetWords, kWidth});
    add_pair(is_annotated ? "generator.proj" : "generator", {kTargetWords, kWidth});
    if (is_annotated)
      for (const char* name : {"src_embed.1.pe", "tgt_embed.1.pe"}) add_sinusoids(name, {1, kPositions, kWidth});
    else add_sinusoids("positional_encoding.pos_embedding", {kPositions, 1, kWidth});
  }

  void add(const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (const uint64_t size : shape) n *= size;
    std::vector<float> values(n);
    for (float& value : values) value = rng_.uniform();
    tensors[name] = {name, shape, std::move(values)};
  }
  void add_pair(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }

  // Puts `prefix` before every name.
  void wrap(const std::string& prefix) {
    const std::map<std::string, NamedTensor> before = std::exchange(tensors, {});
    for (const auto& [name, tensor] : before) tensors[prefix + name] = {prefix + name, tensor.shape, tensor.values};
  }

  void write() const {
    folder.write("config.json", config.dump());
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back(tensor);
    std::ofstream stream(folder / "model.pt", std::ios::binary);
    write_torch_zip(stream, all, converter::ElementType::kF32);
  }
  converter::ModelSpec load() const {
    write();
    return converter::load_checkpoint(folder.path(), {});
  }

  TutorialKind kind;
  TemporaryFolder folder;
  std::map<std::string, NamedTensor> tensors;
  nlohmann::json config = {{"nhead", 2}, {"bos_token", 0}, {"eos_token", 1}};
 private:
  void add_norm(const std::string& name) {
    const bool is_annotated = kind == TutorialKind::kAnnotated;
    for (const char* end : {is_annotated ? ".a_2" : ".weight", is_annotated ? ".b_2" : ".bias"})
      add(name + end, {kWidth});
  }

  void add_layer(const std::string& layer, bool is_decoder) {
    switch (kind) {
      case TutorialKind::kAnnotated:
        for (const std::string attention : {"self_attn", "src_attn"}) {
          for (const std::string linear : {"0", "1", "2", "3"})
            if (is_decoder || attention == "self_attn")
              add_pair(layer + attention + ".linears." + linear, {kWidth, kWidth});
        }
        add_pair(layer + "feed_forward.w_1", {kInner, kWidth});
        add_pair(layer + "feed_forward.w_2", {kWidth, kInner});
        for (const std::string block : {"0", "1", "2"})
          if (is_decoder || block != "2") add_norm(layer + "sublayer." + block + ".norm");
        return;
      case TutorialKind::kSeq2Seq:
        for (const std::string attention : {"self_attn.", "multihead_attn."}) {
          if (!is_decoder && attention[0] == 'm') continue;
          add(layer + attention + "in_proj_weight", {3 * kWidth, kWidth});
          add(layer + attention + "in_proj_bias", {3 * kWidth});
          add_pair(layer + attention + "out_proj", {kWidth, kWidth});
        }
        add_pair(layer + "linear1", {kInner, kWidth});
        add_pair(layer + "linear2", {kWidth, kInner});
        for (const std::string norm : {"norm1", "norm2", "norm3"})
          if (is_decoder || norm != "norm3") add_norm(layer + norm);
        return;
      case TutorialKind::kTrevett:
        for (const std::string attention : {"self_attention", "encoder_attention"}) {
          for (const std::string linear : {"q", "k", "v", "o"})
            if (is_decoder || attention[0] == 's') add_pair(layer + attention + ".fc_" + linear, {kWidth, kWidth});
        }
        add_pair(layer + "positionwise_feedforward.fc_1", {kInner, kWidth});
        add_pair(layer + "positionwise_feedforward.fc_2", {kWidth, kInner});
        for (const std::string norm : {"self_attn_layer_norm", "enc_attn_layer_norm", "ff_layer_norm"})
          if (is_decoder || norm[0] != 'e') add_norm(layer + norm);
        return;
    }
  }

  void add_sinusoids(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name, shape);
    for (uint32_t p = 0; p < kPositions; ++p) {
      for (uint32_t i = 0; i < kWidth; ++i) {
        const uint32_t even = i - i % 2;
        const double angle = p * std::pow(10000.0, -static_cast<double>(even) / kWidth);
        tensors[name].values[p * kWidth + i] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  }

  Rng rng_{11};
};

// The forward pass of each tutorial's Transformer in doubles, from the tensors by the tutorial's names, without caches.

class TutorialFormula {
 public:
  using Row = FormulaRow;
  using Rows = FormulaRows;
  using Trace = std::map<std::string, Rows>;

  static constexpr size_t kHeads = 2;

  explicit TutorialFormula(const TutorialFolder& folder) : kind_(folder.kind), tensors_(folder.tensors) {}

  // Returns the rows of every layer, and the logits of every position if the decoder gets `inputs`, which begin with
  // the start.
  Trace run(const std::vector<int32_t>& source, const std::vector<int32_t>& inputs) {
    Trace trace;
    const Rows memory = stack("encoder", source, nullptr, trace);
    const Rows x = stack("decoder", inputs, &memory, trace);
    trace["logits"] = linear(named("generator.proj", "generator", "decoder.fc_out"), x);
    return trace;
  }

  double deviation_epsilon = 1e-6;
  double smallest_deviation = std::numeric_limits<double>::infinity();  // smallest deviation among the norms' inputs
 private:
  std::string named(const char* annotated, const char* seq2seq, const char* trevett) const {
    return kind_ == TutorialKind::kAnnotated ? annotated : kind_ == TutorialKind::kSeq2Seq ? seq2seq : trevett;
  }
  const std::vector<float>& values(const std::string& name) const { return tensors_.at(name).values; }

  Rows linear(const std::string& name, const Rows& x) const {
    const std::vector<float>& bias = values(name + ".bias");
    return product(values(name + ".weight"), bias, 0, bias.size(), x);
  }

  Rows norm(const std::string& name, const Rows& x) {
    const bool is_annotated = kind_ == TutorialKind::kAnnotated;
    const std::vector<float>&gamma = values(name + (is_annotated ? ".a_2" : ".weight")),
          &beta = values(name + (is_annotated ? ".b_2" : ".bias"));
    Rows y = x;
    for (Row& row : y) {
      const auto n = static_cast<double>(row.size());
      double mean = 0, squares = 0;
      for (const double v : row) mean += v / n;
      for (const double v : row) squares += (v - mean) * (v - mean);
      const double deviation = std::sqrt(squares / (n - 1));
      smallest_deviation = std::min(smallest_deviation, deviation);
      const double divisor = is_annotated ? deviation + deviation_epsilon : std::sqrt(squares / n + 1e-5);
      for (size_t i = 0; i < row.size(); ++i) row[i] = double{gamma[i]} * (row[i] - mean) / divisor + double{beta[i]};
    }
    return y;
  }

  Rows project(const std::string& attention, size_t which, const Rows& x) const {
    const char* const annotated[] = {"linears.0", "linears.1", "linears.2"};
    const char* const trevett[] = {"fc_q", "fc_k", "fc_v"};
    if (kind_ == TutorialKind::kSeq2Seq) {
      return product(values(attention + "in_proj_weight"), values(attention + "in_proj_bias"),
          which * TutorialFolder::kWidth, TutorialFolder::kWidth, x);
    }
    return linear(attention + (kind_ == TutorialKind::kAnnotated ? annotated : trevett)[which], x);
  }

  Rows attend(const std::string& attention, const Rows& x, const Rows& memory, bool is_causal) const {
    const Rows queries = project(attention, 0, x), keys = project(attention, 1, memory),
               of_memory = project(attention, 2, memory);
    return linear(attention + named("linears.3", "out_proj", "fc_o"), mix(queries, keys, of_memory, kHeads, is_causal));
  }

  // The Annotated Transformer applies its norm before the block, the others after the sum.
  template <typename Block> Rows residual(const std::string& name, const Rows& x, const Block& block) {
    const bool is_annotated = kind_ == TutorialKind::kAnnotated;
    Rows y = block(is_annotated ? norm(name, x) : x);
    add_rows(x, y);
    return is_annotated ? y : norm(name, y);
  }

  Rows embed(const std::string& stack, const std::vector<int32_t>& ids) const {
    const bool is_source = stack == "encoder";
    const std::vector<float>& table = values(
        is_source ? named("src_embed.0.lut.weight", "src_tok_emb.embedding.weight", "encoder.tok_embedding.weight")
                  : named("tgt_embed.0.lut.weight", "tgt_tok_emb.embedding.weight", "decoder.tok_embedding.weight"));
    const std::vector<float>& positions = values(
        is_source ? named("src_embed.1.pe", "positional_encoding.pos_embedding", "encoder.pos_embedding.weight")
                  : named("tgt_embed.1.pe", "positional_encoding.pos_embedding", "decoder.pos_embedding.weight"));
    constexpr size_t kWidth = TutorialFolder::kWidth;
    Rows x;
    for (size_t t = 0; t < ids.size(); ++t) {
      x.emplace_back();
      for (size_t i = 0; i < kWidth; ++i) {
        const double row = double{table[static_cast<size_t>(ids[t]) * kWidth + i]};
        x.back().push_back(row * std::sqrt(double{kWidth}) + double{positions[t * kWidth + i]});
      }
    }
    return x;
  }

  Rows stack(const std::string& name, const std::vector<int32_t>& ids, const Rows* memory, Trace& trace) {
    const std::string module = named("", "transformer.", "") + name + ".";
    Rows x = trace[name + ".embed"] = embed(name, ids);
    for (int i = 0; i < (memory == nullptr ? 2 : 1); ++i) {
      const std::string layer = module + "layers." + std::to_string(i) + ".";
      x = residual(layer + named("sublayer.0.norm", "norm1", "self_attn_layer_norm"), x, [&](const Rows& h) {
        return attend(layer + named("self_attn.", "self_attn.", "self_attention."), h, h, memory != nullptr);
      });
      if (memory != nullptr) {
        x = residual(layer + named("sublayer.1.norm", "norm2", "enc_attn_layer_norm"), x, [&](const Rows& h) {
          return attend(layer + named("src_attn.", "multihead_attn.", "encoder_attention."), h, *memory, false);
        });
      }
      const std::string last = memory == nullptr ? named("sublayer.1.norm", "norm2", "ff_layer_norm")
                                                 : named("sublayer.2.norm", "norm3", "ff_layer_norm");
      x = residual(layer + last, x, [&](const Rows& h) {
        Rows inner = linear(layer + named("feed_forward.w_1", "linear1", "positionwise_feedforward.fc_1"), h);
        for (Row& row : inner)
          for (double& value : row) value = std::max(value, 0.0);
        return linear(layer + named("feed_forward.w_2", "linear2", "positionwise_feedforward.fc_2"), inner);
      });
      trace[name + ".layers." + std::to_string(i)] = x;
    }
    if (kind_ == TutorialKind::kTrevett) return x;
    return trace[name + ".norm"] = norm(module + "norm", x);
  }

  TutorialKind kind_;
  const std::map<std::string, NamedTensor>& tensors_;
};
}  // namespace goldcrest::test
