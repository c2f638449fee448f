// SPDX-License-Identifier: Apache-2.0
// Writes CTranslate2's model.bin: any variables in any version's layout, and a model of Marian's as CTranslate2's own
// converter writes it.
#pragma once

#include "support/marian_native.h"
#include "support/standard.h"

namespace goldcrest::test {
enum CTranslate2Type : uint8_t { kFloat32 = 0, kInt8 = 1, kInt16 = 2, kInt32 = 3, kFloat16 = 4, kBfloat16 = 5 };

struct CTranslate2Variable {
  std::string name;
  uint8_t type = kFloat32;
  std::vector<uint32_t> shape;
  std::string data;
};

// A variable with floats of the type, or with integers.
CTranslate2Variable variable(const NamedTensor& tensor, CTranslate2Type type = kFloat32);
CTranslate2Variable scalar(const std::string& name, CTranslate2Type type, float value);
CTranslate2Variable text_variable(const std::string& name, const std::string& text);
// int8 rows with 127 / their largest magnitudes, or int16 with 1024 / the largest of all; the scale comes second.
std::vector<CTranslate2Variable> int8_variables(const NamedTensor& tensor);
std::vector<CTranslate2Variable> int16_variables(const NamedTensor& tensor);

struct CTranslate2Model {
  uint32_t version = 6, revision = 7;
  std::string spec = "TransformerSpec";
  std::vector<CTranslate2Variable> variables;
  std::vector<std::pair<std::string, std::string>> aliases;  // alias, and the name that it stands for

  CTranslate2Variable& at(const std::string& name);
  void remove(const std::string& name);
  // Replaces the variable of this name, or adds it at the end.
  void set(const CTranslate2Variable& variable);
  std::string bytes() const;
};

// A model of native_tensors with self-attention. `weights` have this type, all else is float32. Positions are Marian's,
// in a table of 64.
CTranslate2Model ctranslate2_model(
    const std::vector<NamedTensor>& native, const NativeShape& shape, CTranslate2Type weights = kFloat32);
}  // namespace goldcrest::test
