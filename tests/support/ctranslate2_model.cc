// SPDX-License-Identifier: Apache-2.0
#include "support/ctranslate2_model.h"
#include "spec/format_text.h"

namespace goldcrest::test {
namespace {
using converter::ElementType;

std::string little(uint64_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string counted(const std::string& text) { return little(text.size() + 1, 2) + text + '\0'; }

ElementType element_type(uint8_t type) {
  constexpr ElementType kTypes[] = {
      ElementType::kF32, ElementType::kI8, ElementType::kI16, ElementType::kI32, ElementType::kF16, ElementType::kBf16};
  return kTypes[type];
}

// As in model_spec.py: values times the scale, rounded half to even.
std::vector<float> rounded(const std::vector<float>& values, const std::vector<float>& scale) {
  std::vector<float> integers(values.size());
  const size_t row = values.size() / scale.size();
  for (size_t i = 0; i < values.size(); ++i) integers[i] = std::nearbyint(values[i] * scale[i / row]);
  return integers;
}

float largest(const float* values, size_t n) {
  float result = 0;
  for (size_t i = 0; i < n; ++i) result = std::max(result, std::fabs(values[i]));
  return result;
}

// Turns Marian's names into CTranslate2's.
class Mapper {
 public:
  Mapper(const std::vector<NamedTensor>& native, const NativeShape& shape, CTranslate2Type weights)
      : shape_(shape), weights_(weights) {
    for (const NamedTensor& tensor : native) native_[tensor.name] = &tensor;
  }

  CTranslate2Model make() {
    add_weight({"decoder/embeddings/weight", {shape_.vocab_size, shape_.d_model}, values("Wemb")});
    model_.aliases = {{"decoder/projection/weight", "decoder/embeddings/weight"},
        {"encoder/embeddings_0/weight", "decoder/embeddings/weight"},
        {"encoder/position_encodings/encodings", "decoder/position_encodings/encodings"}};
    add({"decoder/position_encodings/encodings", {kPositions, shape_.d_model}, positions()});
    add({"decoder/projection/bias", {shape_.vocab_size}, values("decoder_ff_logit_out_b")});
    for (const char* stack : {"decoder", "encoder"}) {
      for (const auto& [name, value] : std::map<std::string, float>{{"activation", 0}, {"pre_norm", 0}})
        model_.variables.push_back(scalar(std::string(stack) + "/" + name, kInt8, value));
      model_.variables.push_back(scalar(std::string(stack) + "/num_heads", kInt16, static_cast<float>(shape_.heads)));
      model_.variables.push_back(scalar(std::string(stack) + "/scale_embeddings", kInt8, 1));
    }
    for (const char* flag : {"decoder/alibi", "decoder/alibi_use_positive_positions", "decoder/scale_alibi",
             "encoder/embeddings_merge", "encoder/multi_query_attention"})
      model_.variables.push_back(scalar(flag, kInt8, 0));
    model_.variables.push_back(scalar("decoder/alignment_layer", kInt16, -1));
    model_.variables.push_back(scalar("decoder/alignment_heads", kInt16, 1));
    model_.variables.push_back(scalar("decoder/start_from_zero_embedding", kInt8, 1));
    for (uint32_t i = 0; i < shape_.encoder_layers; ++i) layer("encoder", i);
    for (uint32_t i = 0; i < shape_.decoder_layers; ++i) layer("decoder", i);
    return std::move(model_);
  }
 private:
  static constexpr uint32_t kPositions = 64;

  const std::vector<float>& values(const std::string& name) const { return native_.at(name)->values; }

  void add(const NamedTensor& tensor) { model_.variables.push_back(variable(tensor)); }
  void add_weight(const NamedTensor& tensor) {
    const std::vector<CTranslate2Variable> made = weights_ == kInt8    ? int8_variables(tensor)
                                                  : weights_ == kInt16 ? int16_variables(tensor)
                                                                       : std::vector{variable(tensor, weights_)};
    model_.variables.insert(model_.variables.end(), made.begin(), made.end());
  }

  std::vector<float> positions() const {
    const uint32_t d = shape_.d_model, half = d / 2;
    std::vector<float> table;
    for (uint32_t p = 0; p < kPositions; ++p) {
      for (uint32_t i = 0; i < d; ++i) {
        const double angle = p * std::pow(10000.0, -static_cast<double>(i % half) / (half - 1));
        table.push_back(static_cast<float>(i < half ? std::sin(angle) : std::cos(angle)));
      }
    }
    return table;
  }

  // Adds the transposed matrices, one below the other, and their biases likewise.
  void linear(const std::string& to, const std::string& from, const std::vector<std::string>& ends) {
    NamedTensor weight = {to + "/weight", {0, 0}, {}}, bias = {to + "/bias", {0}, {}};
    for (const std::string& end : ends) {
      const NamedTensor& matrix = *native_.at(from + "_W" + end);
      const uint64_t inputs = matrix.shape[0], outputs = matrix.shape[1];
      for (uint64_t o = 0; o < outputs; ++o)
        for (uint64_t i = 0; i < inputs; ++i) weight.values.push_back(matrix.values[i * outputs + o]);
      weight.shape = {weight.shape[0] + outputs, inputs};
      const std::vector<float>& part = values(from + "_b" + end);
      bias.values.insert(bias.values.end(), part.begin(), part.end());
      bias.shape[0] += outputs;
    }
    add_weight(weight);
    add(bias);
  }

  void norm(const std::string& to, const std::string& from) {
    add({to + "/gamma", {shape_.d_model}, values(from + "_ln_scale")});
    add({to + "/beta", {shape_.d_model}, values(from + "_ln_bias")});
  }

  void layer(const std::string& stack, uint32_t i) {
    const std::string to = converter::format_text("{}/layer_{}", stack, i),
                      from = converter::format_text("{}_l{}", stack, i + 1);
    linear(to + "/self_attention/linear_0", from + "_self", {"q", "k", "v"});
    linear(to + "/self_attention/linear_1", from + "_self", {"o"});
    norm(to + "/self_attention/layer_norm", from + "_self_Wo");
    if (stack == "decoder") {
      linear(to + "/attention/linear_0", from + "_context", {"q"});
      linear(to + "/attention/linear_1", from + "_context", {"k", "v"});
      linear(to + "/attention/linear_2", from + "_context", {"o"});
      norm(to + "/attention/layer_norm", from + "_context_Wo");
    }
    linear(to + "/ffn/linear_0", from + "_ffn", {"1"});
    linear(to + "/ffn/linear_1", from + "_ffn", {"2"});
    norm(to + "/ffn/layer_norm", from + "_ffn_ffn");
  }

  const NativeShape& shape_;
  CTranslate2Type weights_;
  std::map<std::string, const NamedTensor*> native_;
  CTranslate2Model model_;
};
}  // namespace

CTranslate2Variable variable(const NamedTensor& tensor, CTranslate2Type type) {
  CTranslate2Variable result{tensor.name, type, {}, element_bytes_of(tensor.values, element_type(type))};
  for (const uint64_t size : tensor.shape) result.shape.push_back(static_cast<uint32_t>(size));
  return result;
}

CTranslate2Variable scalar(const std::string& name, CTranslate2Type type, float value) {
  return variable({name, {}, {value}}, type);
}

CTranslate2Variable text_variable(const std::string& name, const std::string& text) {
  return {name, kInt8, {static_cast<uint32_t>(text.size())}, text};
}

std::vector<CTranslate2Variable> int8_variables(const NamedTensor& tensor) {
  const size_t rows = tensor.shape[0], columns = tensor.values.size() / rows;
  std::vector<float> scale;
  for (size_t r = 0; r < rows; ++r) {
    const float amax = largest(&tensor.values[r * columns], columns);
    scale.push_back(amax == 0 ? 1 : 127.0f / amax);
  }
  return {variable({tensor.name, tensor.shape, rounded(tensor.values, scale)}, kInt8),
      variable({tensor.name + "_scale", {rows}, scale})};
}

std::vector<CTranslate2Variable> int16_variables(const NamedTensor& tensor) {
  const float scale = 1024.0f / largest(tensor.values.data(), tensor.values.size());
  return {variable({tensor.name, tensor.shape, rounded(tensor.values, {scale})}, kInt16),
      scalar(tensor.name + "_scale", kFloat32, scale)};
}

CTranslate2Variable& CTranslate2Model::at(const std::string& name) {
  for (CTranslate2Variable& found : variables)
    if (found.name == name) return found;
  throw std::out_of_range(name);
}

void CTranslate2Model::remove(const std::string& name) {
  std::erase_if(variables, [&](const CTranslate2Variable& found) { return found.name == name; });
  std::erase_if(aliases, [&](const auto& alias) { return alias.first == name; });
}

void CTranslate2Model::set(const CTranslate2Variable& variable) {
  const auto found = std::find_if(variables.begin(), variables.end(),
      [&](const CTranslate2Variable& other) { return other.name == variable.name; });
  if (found == variables.end()) variables.push_back(variable);
  else *found = variable;
}

std::string CTranslate2Model::bytes() const {
  std::string result = little(version, 4);
  if (version >= 2) result += counted(spec) + little(revision, 4);
  result += little(variables.size(), 4);
  for (const CTranslate2Variable& v : variables) {
    result += counted(v.name) + little(v.shape.size(), 1);
    for (const uint32_t size : v.shape) result += little(size, 4);
    const uint32_t width = v.type > kInt32 ? 2 : element_bytes(element_type(v.type));
    result += version >= 4 ? little(v.type, 1) + little(v.data.size(), 4)
                           : little(width, 1) + little(v.data.size() / width, 4);
    result += v.data;
  }
  if (version < 3) return result;
  result += little(aliases.size(), 4);
  for (const auto& [alias, name] : aliases) result += counted(alias) + counted(name);
  return result;
}

CTranslate2Model ctranslate2_model(
    const std::vector<NamedTensor>& native, const NativeShape& shape, CTranslate2Type weights) {
  return Mapper(native, shape, weights).make();
}
}  // namespace goldcrest::test
