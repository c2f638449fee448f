// SPDX-License-Identifier: Apache-2.0
#include "support/marian_native.h"
#include "spec/format_text.h"
#include "support/rng.h"

namespace goldcrest::test {
namespace {
using converter::ElementType;

template <typename Value> std::string bytes_of(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

class NativeMaker {
 public:
  NativeMaker(const NativeShape& shape, uint64_t seed) : shape_(shape), rng_(seed) {}

  std::vector<NamedTensor> make() {
    const uint32_t d = shape_.d_model;
    add("Wemb", shape_.vocab_size, d, 0, 1 / std::sqrt(static_cast<float>(d)));
    add("decoder_ff_logit_out_b", 1, shape_.vocab_size, 0, 0.5f);
    for (uint32_t i = 1; i <= shape_.encoder_layers; ++i) {
      attention(converter::format_text("encoder_l{}_self", i));
      feed_forward(converter::format_text("encoder_l{}_ffn", i));
    }
    for (uint32_t i = 1; i <= shape_.decoder_layers; ++i) {
      const std::string layer = converter::format_text("decoder_l{}", i);
      if (shape_.is_recurrent) recurrence(layer + "_rnn");
      else attention(layer + "_self");
      attention(layer + "_context");
      feed_forward(layer + "_ffn");
    }
    return std::move(tensors_);
  }
 private:
  // Adds a tensor with uniform values in [center - spread, center + spread).
  void add(const std::string& name, uint64_t rows, uint64_t columns, float center, float spread) {
    std::vector<float> values(rows * columns);
    for (float& value : values) value = center + spread * rng_.uniform();
    tensors_.push_back({name, {rows, columns}, std::move(values)});
  }
  void matrix(const std::string& name, uint32_t inputs, uint32_t outputs) {
    add(name, inputs, outputs, 0, std::sqrt(6.0f / static_cast<float>(inputs + outputs)));
  }
  void linear(const std::string& prefix, const std::string& end, uint32_t inputs, uint32_t outputs) {
    matrix(prefix + "_W" + end, inputs, outputs);
    add(prefix + "_b" + end, 1, outputs, 0, 0.1f);
  }
  void norm(const std::string& prefix) {
    add(prefix + "_ln_scale", 1, shape_.d_model, 1, 0.1f);
    add(prefix + "_ln_bias", 1, shape_.d_model, 0, 0.1f);
  }
  void attention(const std::string& prefix) {
    for (const char* end : {"q", "k", "v", "o"}) linear(prefix, end, shape_.d_model, shape_.d_model);
    norm(prefix + "_Wo");
  }
  void feed_forward(const std::string& prefix) {
    linear(prefix, "1", shape_.d_model, shape_.d_ff);
    linear(prefix, "2", shape_.d_ff, shape_.d_model);
    norm(prefix + "_ffn");
  }
  void recurrence(const std::string& prefix) {
    matrix(prefix + "_W", shape_.d_model, shape_.d_model);
    linear(prefix, "f", shape_.d_model, shape_.d_model);
    norm(prefix + "_ffn");
  }

  const NativeShape& shape_;
  Rng rng_;
  std::vector<NamedTensor> tensors_;
};

// Marian's rule for tensors that marian-conv turns into int8.
bool is_int8_name(const std::string& name) {
  const size_t at = name.find("_W");
  return name.find("Wemb") != std::string::npos ||
         (at != std::string::npos && (at + 2 == name.size() || at + 3 == name.size()));
}

constexpr uint64_t kAlignment = 256;

std::string padded(std::string data) {
  data.resize((data.size() + kAlignment - 1) / kAlignment * kAlignment);
  return data;
}
}  // namespace

std::vector<NamedTensor> native_tensors(const NativeShape& shape, uint64_t seed) {
  return NativeMaker(shape, seed).make();
}

std::string native_settings(const NativeShape& shape) {
  return converter::format_text(
      "bert-train-type-embeddings: true\nbert-type-vocab-size: 2\ndec-cell: {}\ndec-cell-base-depth: 2\n"
      "dec-cell-high-depth: 1\ndec-depth: {}\ndim-emb: {}\ndim-rnn: 1024\ndim-vocabs:\n  - {}\n  - {}\nenc-cell: gru\n"
      "enc-cell-depth: 1\nenc-depth: {}\nenc-type: bidirectional\ninput-types: []\nlayer-normalization: false\n"
      "lemma-dim-emb: 0\noutput-omit-bias: false\nright-left: false\nskip: false\ntied-embeddings: false\n"
      "tied-embeddings-all: true\ntied-embeddings-src: false\ntransformer-aan-activation: swish\n"
      "transformer-aan-depth: 2\ntransformer-aan-nogate: false\ntransformer-decoder-autoreg: {}\n"
      "transformer-dim-aan: 2048\ntransformer-dim-ffn: {}\ntransformer-ffn-activation: relu\ntransformer-ffn-depth: 2\n"
      "transformer-guided-alignment-layer: last\ntransformer-heads: {}\ntransformer-no-projection: false\n"
      "transformer-pool: false\ntransformer-postprocess: dan\ntransformer-postprocess-emb: d\n"
      "transformer-postprocess-top: \"\"\ntransformer-preprocess: \"\"\ntransformer-tied-layers: []\n"
      "transformer-train-position-embeddings: false\ntype: transformer\nulr: false\nulr-dim-emb: 0\n"
      "ulr-trainable-transformation: false\nversion: v1.9.56 94aeaa46 2021-04-28 00:28:35 +0100\n",
      shape.is_recurrent ? "ssru" : "gru", shape.decoder_layers, shape.d_model, shape.vocab_size, shape.vocab_size,
      shape.encoder_layers, shape.is_recurrent ? "rnn" : "self-attention", shape.d_ff, shape.heads);
}

std::string npy_bytes(
    std::string_view type, const std::vector<uint64_t>& shape, std::string_view elements, bool is_fortran) {
  std::string sizes;
  for (const uint64_t size : shape) sizes += converter::format_text("{}, ", size);
  std::string dict = converter::format_text(
      "{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", type, is_fortran ? "True" : "False", sizes);
  dict.resize((dict.size() + 10 + 64) / 64 * 64 - 11, ' ');
  dict += '\n';
  return "\x93NUMPY\x01" + std::string(1, '\0') + bytes_of(static_cast<uint16_t>(dict.size())) + dict +
         std::string(elements);
}

std::string npz_bytes(const std::vector<NamedTensor>& tensors, const std::string& settings, bool is_deflated) {
  std::ostringstream stream;
  ZipWriter zip(stream);
  const auto add = [&](const std::string& name, std::string bytes) {
    zip.add(is_deflated ? deflated(name + ".npy", std::move(bytes)) : ZipEntry{name + ".npy", std::move(bytes)});
  };
  for (const NamedTensor& tensor : tensors)
    add(tensor.name, npy_bytes("<f4", tensor.shape, element_bytes_of(tensor.values, ElementType::kF32)));
  const std::string text = settings + '\0';
  if (!settings.empty()) add("special:model.yml", npy_bytes("|i1", {text.size()}, text));
  zip.finish();
  return stream.str();
}

std::string binary_bytes(const std::vector<BinaryItem>& items) {
  std::string heads = bytes_of(uint64_t{1}) + bytes_of(uint64_t{items.size()}), names, shapes, data;
  for (const BinaryItem& item : items) {
    heads += bytes_of(uint64_t{item.name.size() + 1}) + bytes_of(item.type) + bytes_of(uint64_t{item.shape.size()}) +
             bytes_of(uint64_t{item.data.size()});
    names += item.name + '\0';
    for (const int32_t size : item.shape) shapes += bytes_of(size);
    data += item.data;
  }
  const std::string before = heads + names + shapes;
  const uint64_t padding = kAlignment - (before.size() + 8) % kAlignment;
  return before + bytes_of(padding) + std::string(padding, '\0') + data;
}

BinaryItem float_item(const NamedTensor& tensor) {
  BinaryItem item{tensor.name, 0x404, {}, padded(element_bytes_of(tensor.values, ElementType::kF32))};
  for (const uint64_t size : tensor.shape) item.shape.push_back(static_cast<int32_t>(size));
  return item;
}

float multiplier_of(const NamedTensor& tensor) {
  float largest = 0;
  for (const float value : tensor.values) largest = std::max(largest, std::fabs(value));
  return 127.0f / largest;
}

BinaryItem int8_item(const NamedTensor& tensor, float multiplier) {
  BinaryItem item = float_item(tensor);
  item.type = 0x4101;
  const uint64_t rows = tensor.shape[0], columns = tensor.shape[1];
  const bool is_transposed = tensor.name.find("Wemb") == std::string::npos;
  std::string data(rows * columns, '\0');
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) {
      const float q = std::nearbyint(tensor.values[r * columns + c] * multiplier);
      data[is_transposed ? c * rows + r : r * columns + c] =
          static_cast<char>(static_cast<int>(std::clamp(q, -127.0f, 127.0f)));
    }
  }
  item.data = padded(data + bytes_of(multiplier));
  return item;
}

BinaryItem settings_item(const std::string& settings) {
  const std::string text = settings + '\0';
  return {"special:model.yml", 0x101, {static_cast<int32_t>(text.size())}, text};
}

std::vector<BinaryItem> binary_items(
    const std::vector<NamedTensor>& tensors, const std::string& settings, BinaryKind kind) {
  std::vector<BinaryItem> items;
  for (const NamedTensor& tensor : tensors) {
    const bool is_int8 = kind != BinaryKind::kFloat && is_int8_name(tensor.name);
    items.push_back(is_int8 ? int8_item(tensor, multiplier_of(tensor)) : float_item(tensor));
    if (is_int8 && kind == BinaryKind::kInt8WithAlphas)
      items.push_back(float_item({tensor.name + "_QuantMultA", {1, 1}, {12.5f}}));
  }
  items.push_back(settings_item(settings));
  return items;
}
}  // namespace goldcrest::test
