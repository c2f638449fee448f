// SPDX-License-Identifier: Apache-2.0
// A small model of Marian's own with its decoder's YAML and a vocabulary of words, which tests change before they load
// it.
#pragma once

#include "convert/support/read_container.h"
#include "converter/dialects/dialect.h"
#include "spec/format_text.h"
#include "support/marian_native.h"

namespace goldcrest::test {
struct NativeFolder : TensorList {
  TemporaryFolder folder;
  NativeShape shape = {12, 8, 16, 2, 2, 2, true};
  std::string settings = native_settings(shape);
  std::string decoder =
      "relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\nbeam-size: 4\n"
      "normalize: 0.6\nword-penalty: 0.1\nmini-batch: 64\n";

  NativeFolder() {
    tensors = native_tensors(shape, 1);
    std::string vocabulary = "</s>: 0\n<unk>: 1\n";
    for (int id = 2; id < 12; ++id) vocabulary += converter::format_text("word{0}: {0}\n", id);
    folder.write("vocab.yml", vocabulary);
  }
  NativeFolder(const NativeFolder&) = delete;

  // Replaces the value of "KEY: OLD", and a list on the lines after it, by VALUE.
  void set(const std::string& key, const std::string& value) {
    const size_t at = settings.find("\n" + key + ":") + 1;
    if (at == 0) {
      settings += key + ": " + value + "\n";
    } else {
      size_t end = settings.find('\n', at);
      while (settings.compare(end, 5, "\n  - ") == 0) end = settings.find('\n', end + 1);
      settings.replace(at, end - at, key + ": " + value);
    }
  }
  std::string file(const std::string& name) const { return (folder / name).string(); }
  converter::ModelSpec load() const {
    folder.write("model.npz", npz_bytes(tensors, settings));
    if (!decoder.empty()) folder.write("decoder.yml", decoder);
    return converter::load_checkpoint(folder.path(), {});
  }
};

inline std::string message_of(const NativeFolder& checkpoint) {
  return error_of([&] { checkpoint.load(); });
}

// Marian's student by its formula, in double and with Marian's own names. Tests compare the float reference with it.

class NativeFormula {
 public:
  using Row = std::vector<double>;

  NativeFormula(const std::vector<NamedTensor>& tensors, const NativeShape& shape) : shape_(shape) {
    for (const NamedTensor& tensor : tensors) tensors_[tensor.name] = &tensor;
  }

  // Keys and values of one attention.
  struct Memory {
    std::vector<Row> keys, values;
  };
  // The state of a sentence: what it attends to, and a cell and a past for each decoder layer.
  struct State {
    size_t position = 0;
    std::vector<Memory> source, past;
    std::vector<Row> cells;
  };

  // Every layer's rows, by the names that --check uses for them (check.h).
  using Trace = std::map<std::string, std::vector<Row>>;

  State start(const std::vector<int32_t>& source, Trace* trace = nullptr) const {
    std::vector<Row> x;
    for (size_t p = 0; p < source.size(); ++p) x.push_back(embed(source[p], p));
    if (trace != nullptr) (*trace)["encoder.embed"] = x;
    for (uint32_t i = 1; i <= shape_.encoder_layers; ++i) {
      const std::string layer = "encoder_l" + std::to_string(i);
      const Memory memory = memory_of(x, layer + "_self");
      for (Row& row : x) row = feed_forward(attention(row, memory, layer + "_self"), layer + "_ffn");
      if (trace != nullptr) (*trace)["encoder.layers." + std::to_string(i - 1)] = x;
    }
    State state;
    for (uint32_t i = 1; i <= shape_.decoder_layers; ++i)
      state.source.push_back(memory_of(x, "decoder_l" + std::to_string(i) + "_context"));
    state.past.resize(shape_.decoder_layers);
    state.cells.assign(shape_.decoder_layers, Row(shape_.d_model));
    return state;
  }

  // Returns the logits after `token`; a negative token stands for the zero vector.
  Row step(int32_t token, State& state, Trace* trace = nullptr) const {
    Row y = embed(token, state.position++);
    if (trace != nullptr) (*trace)["decoder.embed"].push_back(y);
    for (uint32_t i = 0; i < shape_.decoder_layers; ++i) {
      const std::string layer = "decoder_l" + std::to_string(i + 1);
      y = shape_.is_recurrent ? recur(y, state.cells[i], layer + "_rnn")
                              : attend_to_past(y, state.past[i], layer + "_self");
      y = feed_forward(attention(y, state.source[i], layer + "_context"), layer + "_ffn");
      if (trace != nullptr) (*trace)["decoder.layers." + std::to_string(i)].push_back(y);
    }
    Row logits = project(y);
    if (trace != nullptr) (*trace)["logits"].push_back(logits);
    return logits;
  }
 private:
  const NamedTensor& tensor(const std::string& name) const { return *tensors_.at(name); }

  Row embed(int32_t id, size_t position) const {
    const size_t d = shape_.d_model, half = d / 2;
    const NamedTensor& table = tensor("Wemb");
    Row row(d);
    for (size_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half - 1));
      row[i] = std::sin(angle);
      row[half + i] = std::cos(angle);
    }
    for (size_t i = 0; i < d && id >= 0; ++i)
      row[i] += double{table.values[static_cast<size_t>(id) * d + i]} * std::sqrt(static_cast<double>(d));
    return row;
  }

  // x W + b; an empty `bias` means no bias.
  Row linear(const Row& x, const std::string& weight, const std::string& bias) const {
    const NamedTensor& w = tensor(weight);
    Row y(w.shape[1]);
    if (!bias.empty()) y.assign(tensor(bias).values.begin(), tensor(bias).values.end());
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t o = 0; o < y.size(); ++o) y[o] += x[i] * double{w.values[i * y.size() + o]};
    return y;
  }

  Row norm(const Row& x, const Row& residual, const std::string& name) const {
    const auto n = static_cast<double>(x.size());
    const std::vector<float>&scale = tensor(name + "_ln_scale").values, &bias = tensor(name + "_ln_bias").values;
    Row y(x.size());
    double mean = 0, variance = 0;
    for (size_t i = 0; i < x.size(); ++i) mean += (y[i] = x[i] + residual[i]) / n;
    for (const double value : y) variance += (value - mean) * (value - mean) / n;
    for (size_t i = 0; i < x.size(); ++i) y[i] = (y[i] - mean) / std::sqrt(variance + 1e-6) * scale[i] + bias[i];
    return y;
  }

  void remember(const Row& x, const std::string& p, Memory& memory) const {
    memory.keys.push_back(linear(x, p + "_Wk", p + "_bk"));
    memory.values.push_back(linear(x, p + "_Wv", p + "_bv"));
  }
  Memory memory_of(const std::vector<Row>& rows, const std::string& p) const {
    Memory memory;
    for (const Row& row : rows) remember(row, p, memory);
    return memory;
  }

  Row attention(const Row& x, const Memory& memory, const std::string& p) const {
    const Row query = linear(x, p + "_Wq", p + "_bq");
    const size_t width = shape_.d_model / shape_.heads;
    Row mixed(shape_.d_model);
    for (size_t begin = 0; begin < shape_.d_model; begin += width) {
      Row weights;
      double sum = 0;
      for (const Row& key : memory.keys) {
        double score = 0;
        for (size_t i = begin; i < begin + width; ++i) score += query[i] * key[i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
        sum += weights.back();
      }
      for (size_t t = 0; t < weights.size(); ++t)
        for (size_t i = begin; i < begin + width; ++i) mixed[i] += weights[t] / sum * memory.values[t][i];
    }
    return norm(x, linear(mixed, p + "_Wo", p + "_bo"), p + "_Wo");
  }

  Row attend_to_past(const Row& x, Memory& past, const std::string& p) const {
    remember(x, p, past);
    return attention(x, past, p);
  }

  Row feed_forward(const Row& x, const std::string& p) const {
    Row inner = linear(x, p + "_W1", p + "_b1");
    for (double& value : inner) value = std::max(value, 0.0);
    return norm(x, linear(inner, p + "_W2", p + "_b2"), p + "_ffn");
  }

  // Kim et al. 2019, the simpler simple recurrent unit.
  Row recur(const Row& x, Row& cell, const std::string& p) const {
    const Row input = linear(x, p + "_W", ""), forget = linear(x, p + "_Wf", p + "_bf");
    Row out(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double f = 1 / (1 + std::exp(-forget[i]));
      cell[i] = f * cell[i] + (1 - f) * input[i];
      out[i] = std::max(cell[i], 0.0);
    }
    return norm(x, out, p + "_ffn");
  }

  Row project(const Row& y) const {
    const std::vector<float>&table = tensor("Wemb").values, &bias = tensor("decoder_ff_logit_out_b").values;
    Row logits(shape_.vocab_size);
    for (size_t id = 0; id < logits.size(); ++id) {
      logits[id] = bias[id];
      for (size_t i = 0; i < y.size(); ++i) logits[id] += y[i] * double{table[id * y.size() + i]};
    }
    return logits;
  }

  NativeShape shape_;
  std::map<std::string, const NamedTensor*> tensors_;
};
}  // namespace goldcrest::test
