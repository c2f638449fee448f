// SPDX-License-Identifier: Apache-2.0
// What Marian's two containers have in common: which of their items are weights, and the settings among them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goldcrest::converter {

constexpr std::string_view kMarianSettings = "special:model.yml";
constexpr uint64_t kMaxMarianSettings = uint64_t{80} << 10;  // bytes, with a header

// Neither special items nor multipliers of activations.
inline bool is_marian_weight(std::string_view name) {
  return !name.starts_with("special:") && !name.ends_with("_QuantMultA");
}

// Marian stores a text with the NUL that ends it.
inline std::string marian_text(std::string text) {
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace goldcrest::converter
