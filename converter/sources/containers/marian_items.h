// SPDX-License-Identifier: Apache-2.0
// The items that Marian's two containers share: which of them are weights, and which hold the settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goldcrest::converter {
constexpr std::string_view kMarianSettings = "special:model.yml";
constexpr uint64_t kMaxMarianSettings = uint64_t{80} << 10;  // bytes, header included

// Returns false for special items and for multipliers of activations.
inline bool is_marian_weight(std::string_view name) {
  return !name.starts_with("special:") && !name.ends_with("_QuantMultA");
}

// Marian stores a text with its final NUL; this removes it.
inline std::string marian_text(std::string text) {
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}
}  // namespace goldcrest::converter
