// SPDX-License-Identifier: Apache-2.0
// Functions that the formulas of several checkpoints share, and their results as samples.
#pragma once

#include "convert/support/sample_folder.h"
#include "spec/format_text.h"
#include "support/checkpoint_writer.h"

namespace goldcrest::test {
// Functions that the formulas of several checkpoints share, in doubles and without caches.

using FormulaRow = std::vector<double>;
using FormulaRows = std::vector<FormulaRow>;  // [positions]

// The rows [begin, begin + outputs) of a matrix, times x.
inline FormulaRows product(const std::vector<float>& weight, const std::vector<float>& bias, size_t begin,
    size_t outputs, const FormulaRows& x) {
  FormulaRows y;
  for (const FormulaRow& row : x) {
    y.emplace_back();
    for (size_t n = begin; n < begin + outputs; ++n) {
      double sum = bias.empty() ? 0 : double{bias[n]};
      for (size_t k = 0; k < row.size(); ++k) sum += double{weight[n * row.size() + k]} * row[k];
      y.back().push_back(sum);
    }
  }
  return y;
}

// Attention without its projections.
inline FormulaRows mix(
    const FormulaRows& queries, const FormulaRows& keys, const FormulaRows& values, size_t heads, bool is_causal) {
  const size_t width = queries[0].size(), head = width / heads;
  FormulaRows mixed(queries.size(), FormulaRow(width, 0.0));
  for (size_t t = 0; t < queries.size(); ++t) {
    for (size_t begin = 0; begin < width; begin += head) {
      FormulaRow weights;
      double sum = 0;
      for (size_t s = 0; s < (is_causal ? t + 1 : keys.size()); ++s) {
        double score = 0;
        for (size_t i = begin; i < begin + head; ++i) score += queries[t][i] * keys[s][i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
        sum += weights.back();
      }
      for (size_t s = 0; s < weights.size(); ++s)
        for (size_t i = begin; i < begin + head; ++i) mixed[t][i] += weights[s] / sum * values[s][i];
    }
  }
  return mixed;
}

inline void add_rows(const FormulaRows& x, FormulaRows& y) {
  for (size_t t = 0; t < x.size(); ++t)
    for (size_t i = 0; i < x[t].size(); ++i) y[t][i] += x[t][i];
}

// A formula's layers and greedy search, as the samples that a framework would export for --check.

struct FormulaSample {
  std::vector<int32_t> source, greedy;
  std::map<std::string, std::vector<std::vector<double>>> trace;  // "logits" and check.h's names: [positions][width]
};

inline NamedTensor tensor_of_rows(const std::string& name, const std::vector<std::vector<double>>& rows) {
  NamedTensor tensor = {name, {rows.size(), rows[0].size()}, {}};
  for (const std::vector<double>& row : rows)
    for (const double value : row) tensor.values.push_back(static_cast<float>(value));
  return tensor;
}

// Writes results.jsonl, the logits of every sample and the layers of the first.
inline void write_samples(
    const std::vector<FormulaSample>& samples, size_t max_target_tokens, const SampleFolder& folder) {
  std::string results;
  std::vector<NamedTensor> layers, logits;
  for (const FormulaSample& sample : samples) {
    results += converter::format_text("{{\"source_ids\": [{}], \"greedy\": [{}], \"max_target_tokens\": {}}}\n",
        converter::join_text(sample.source, ", "), converter::join_text(sample.greedy, ", "), max_target_tokens);
    logits.push_back(tensor_of_rows(converter::format_text("logits.{}", logits.size()), sample.trace.at("logits")));
  }
  for (const auto& [name, rows] : samples.at(0).trace) layers.push_back(tensor_of_rows(name, rows));
  folder.write("results.jsonl", results);
  const auto write = [&](const char* name, const std::vector<NamedTensor>& tensors) {
    std::ofstream file(folder.path() / name, std::ios::binary);
    write_safetensors(file, tensors, goldcrest::converter::ElementType::kF32);
  };
  write("trace.safetensors", layers);
  write("logits.safetensors", logits);
}
}  // namespace goldcrest::test
