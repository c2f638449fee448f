// SPDX-License-Identifier: Apache-2.0
// A formula's layers and greedy search, as the samples that a framework would export for --check.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "convert/support/sample_folder.h"
#include "spec/format_text.h"
#include "support/checkpoint_writer.h"

namespace goldcrest::test {

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
inline void write_samples(const std::vector<FormulaSample>& samples, size_t max_target_tokens,
                          const SampleFolder& folder) {
  std::string results;
  std::vector<NamedTensor> layers, logits;
  for (const FormulaSample& sample : samples) {
    results += converter::format_text("{{\"source_ids\": [{}], \"greedy\": [{}], \"max_target_tokens\": {}}}\n",
                                      converter::join_text(sample.source, ", "),
                                      converter::join_text(sample.greedy, ", "), max_target_tokens);
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
