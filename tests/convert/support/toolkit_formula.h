// SPDX-License-Identifier: Apache-2.0
// The forward pass of OpenNMT-py's and fairseq's Transformers in doubles, from the tensors by the toolkits' names.
#pragma once

#include "convert/support/formula_samples.h"
#include "convert/support/toolkit_folder.h"

namespace goldcrest::test {
class ToolkitFormula {
 public:
  using Rows = FormulaRows;
  using Trace = std::map<std::string, Rows>;

  explicit ToolkitFormula(const ToolkitFolder& folder) : names_(folder), tensors_(folder.tensors) {}

  // Returns the rows of every layer, and the logits of every position if the decoder gets `inputs`, which begin with
  // the start.
  Trace run(const std::vector<int32_t>& source, const std::vector<int32_t>& inputs) const {
    Trace trace;
    const Rows memory = stack("encoder", source, nullptr, trace);
    const Rows x = stack("decoder", inputs, &memory, trace);
    const std::string name = names_.projection(), bias = name.substr(0, name.rfind('.')) + ".bias";
    trace["logits"] = product(
        values(name), names_.shape.is_fairseq ? std::vector<float>() : values(bias), 0, ToolkitFolder::kTargetWords, x);
    return trace;
  }
 private:
  const std::vector<float>& values(const std::string& name) const { return tensors_.at(name).values; }

  Rows linear(const std::string& name, const Rows& x) const {
    const std::vector<float>& bias = values(name + ".bias");
    return product(values(name + ".weight"), bias, 0, bias.size(), x);
  }

  Rows norm(const std::string& name, Rows x) const {
    const std::vector<float>&gamma = values(name + names_.gamma()), &beta = values(name + names_.beta());
    for (FormulaRow& row : x) {
      const auto n = static_cast<double>(row.size());
      double mean = 0, squares = 0;
      for (const double v : row) mean += v / n;
      for (const double v : row) squares += (v - mean) * (v - mean);
      const double deviation = std::sqrt(squares / n + (names_.shape.is_fairseq ? 1e-5 : 1e-6));
      for (size_t i = 0; i < row.size(); ++i) row[i] = double{gamma[i]} * (row[i] - mean) / deviation + double{beta[i]};
    }
    return x;
  }

  Rows project(const std::string& attention, size_t which, const Rows& x) const {
    constexpr size_t kWidth = ToolkitFolder::kWidth;
    if (!names_.is_fused()) return linear(attention + names_.linear(which), x);
    return product(values(attention + "in_proj_weight"), values(attention + "in_proj_bias"), which * kWidth, kWidth, x);
  }

  Rows attend(const std::string& attention, const Rows& x, const Rows& memory, bool is_causal) const {
    return linear(attention + names_.linear(3),
        mix(project(attention, 0, x), project(attention, 1, memory), project(attention, 2, memory), 2, is_causal));
  }

  template <typename Block> Rows residual(const std::string& name, const Rows& x, const Block& block) const {
    const bool is_pre_norm = names_.shape.is_pre_norm;
    Rows y = block(is_pre_norm ? norm(name, x) : x);
    add_rows(x, y);
    return is_pre_norm ? y : norm(name, y);
  }

  double position(const std::string& stack, size_t t, size_t i) const {
    constexpr size_t kWidth = ToolkitFolder::kWidth, kHalf = kWidth / 2;
    if (!names_.shape.is_fairseq) return double{values(stack + ".embeddings.make_embedding.pe.pe")[t * kWidth + i]};
    if (names_.shape.is_learned) return double{values(stack + ".embed_positions.weight")[(t + 2) * kWidth + i]};
    const double angle =
        (static_cast<double>(t) + 2) * std::pow(10000.0, -static_cast<double>(i % kHalf) / (kHalf - 1));
    return i < kHalf ? std::sin(angle) : std::cos(angle);
  }

  Rows embed(const std::string& stack, const std::vector<int32_t>& ids) const {
    constexpr size_t kWidth = ToolkitFolder::kWidth;
    const double scale = names_.shape.is_scaled ? std::sqrt(double{kWidth}) : 1;
    Rows x;
    for (size_t t = 0; t < ids.size(); ++t) {
      x.emplace_back();
      for (size_t i = 0; i < kWidth; ++i) {
        const double row = double{values(names_.table(stack))[static_cast<size_t>(ids[t]) * kWidth + i]};
        x.back().push_back(row * scale + position(stack, t, i));
      }
    }
    return names_.shape.has_embedding_norm ? norm(stack + ".layernorm_embedding", x) : x;
  }

  Rows stack(const std::string& name, const std::vector<int32_t>& ids, const Rows* memory, Trace& trace) const {
    const bool is_decoder = memory != nullptr;
    Rows x = trace[name + ".embed"] = embed(name, ids);
    for (uint32_t i = 0; i < (is_decoder ? 1 : 2); ++i) {
      const std::string layer = names_.layer(name, i);
      x = residual(layer + names_.norm(is_decoder, 0), x,
          [&](const Rows& h) { return attend(layer + names_.attention(0), h, h, is_decoder); });
      if (is_decoder) {
        x = residual(layer + names_.norm(true, 1), x,
            [&](const Rows& h) { return attend(layer + names_.attention(1), h, *memory, false); });
      }
      x = residual(layer + names_.norm(is_decoder, is_decoder ? 2 : 1), x, [&](const Rows& h) {
        Rows inner = linear(layer + names_.inner(), h);
        for (FormulaRow& row : inner)
          for (double& value : row) value = std::max(value, 0.0);
        return linear(layer + names_.outer(), inner);
      });
      trace[name + ".layers." + std::to_string(i)] = x;
    }
    if (!names_.shape.is_pre_norm) return x;
    return trace[name + ".norm"] = norm(name + ".layer_norm", x);
  }

  const ToolkitFolder& names_;
  const std::map<std::string, NamedTensor>& tensors_;
};
}  // namespace goldcrest::test
