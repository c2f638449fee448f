// SPDX-License-Identifier: Apache-2.0
// Text from a pattern with fmt's placeholders. This is the only door to {fmt}: only format_text.cc includes its
// headers.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace goldcrest::converter {
// A value for a placeholder. Texts are referenced, not copied.
class FormatValue {
 public:
  enum class Kind : unsigned char { kFlag, kCharacter, kSigned, kUnsigned, kFloat, kDouble, kText };

  template <typename T> static constexpr Kind kind_of() {
    if constexpr (std::is_same_v<T, bool>) return Kind::kFlag;
    if constexpr (std::is_same_v<T, char>) return Kind::kCharacter;
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) return Kind::kSigned;
    if constexpr (std::is_integral_v<T>) return Kind::kUnsigned;
    if constexpr (std::is_same_v<T, float>) return Kind::kFloat;
    if constexpr (std::is_same_v<T, double>) return Kind::kDouble;
    return Kind::kText;
  }

  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  FormatValue(T value) : kind(kind_of<T>()) {  // NOLINT(google-explicit-constructor): made of every argument
    if constexpr (std::is_floating_point_v<T>) number = value;
    else integer = static_cast<unsigned long long>(value);
  }
  FormatValue(std::string_view value) : kind(Kind::kText), text(value) {}    // NOLINT(google-explicit-constructor)
  FormatValue(const std::string& value) : kind(Kind::kText), text(value) {}  // NOLINT(google-explicit-constructor)
  FormatValue(const char* value) : kind(Kind::kText), text(value) {}         // NOLINT(google-explicit-constructor)

  Kind kind;
  unsigned long long integer = 0;  // kSigned: in two's complement
  double number = 0;
  std::string_view text = {};
};

// True if every placeholder of the pattern has a value of a suitable type and every value is used.
consteval bool fits_values(std::string_view pattern, const FormatValue::Kind* kinds, size_t n);

// A pattern for values of these types, checked at compile time.
template <typename... Values> class Pattern {
 public:
  consteval Pattern(const char* text) : text_(text) {  // NOLINT(google-explicit-constructor): made of a literal
    constexpr FormatValue::Kind kKinds[] = {FormatValue::kind_of<std::decay_t<Values>>()..., FormatValue::Kind::kText};
    if (!fits_values(text_, kKinds, sizeof...(Values))) throw "a pattern's placeholders do not fit its values";
  }
  std::string_view text() const { return text_; }
 private:
  std::string_view text_;
};

std::string format_values(std::string_view pattern, const FormatValue* values, size_t n);

// Returns the pattern with its placeholders replaced by the values, as fmt::format does.
template <typename... Values>
std::string format_text(const Pattern<std::type_identity_t<Values>...>& pattern, const Values&... values) {
  if constexpr (sizeof...(Values) == 0) return format_values(pattern.text(), nullptr, 0);
  const FormatValue array[] = {values..., false};
  return format_values(pattern.text(), array, sizeof...(Values));
}

// Prints to standard output.
void print_values(const std::string& text);
template <typename... Values>
void print_text(const Pattern<std::type_identity_t<Values>...>& pattern, const Values&... values) {
  print_values(format_text(pattern, values...));
}

// Joins the range's values with a separator.
template <typename Range> std::string join_text(const Range& range, std::string_view separator) {
  std::string text;
  bool is_first = true;
  for (const auto& value : range) {
    if (!is_first) text += separator;
    is_first = false;
    text += format_text("{}", value);
  }
  return text;
}

consteval bool fits_values(std::string_view pattern, const FormatValue::Kind* kinds, size_t n) {
  size_t next = 0, n_used = 0;
  bool is_used[32] = {};
  const auto use = [&](size_t index) {
    if (index >= n || index >= 32) return false;
    n_used += is_used[index] ? 0 : 1;
    is_used[index] = true;
    return true;
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_doubled = i + 1 < pattern.size() && pattern[i + 1] == pattern[i];
    if (pattern[i] == '}' && !is_doubled) return false;
    if ((pattern[i] == '{' || pattern[i] == '}') && is_doubled) {
      ++i;
      continue;
    }
    if (pattern[i] != '{') continue;
    size_t index = 0;
    const bool has_index = i + 1 < pattern.size() && is_digit(pattern[i + 1]);
    for (; i + 1 < pattern.size() && is_digit(pattern[i + 1]); ++i) index = index * 10 + size_t(pattern[i + 1] - '0');
    if (!has_index) index = next++;
    if (!use(index)) return false;
    const FormatValue::Kind kind = kinds[index];
    const bool is_text = kind == FormatValue::Kind::kText;
    const bool is_float = kind == FormatValue::Kind::kFloat || kind == FormatValue::Kind::kDouble;
    char last = 0;
    for (++i; i < pattern.size() && pattern[i] != '}'; ++i) {
      last = pattern[i];
      if (last == '.' && !is_text && !is_float) return false;
      if (last != '{') continue;  // a width or precision that is a value itself
      if (i + 1 >= pattern.size() || pattern[i + 1] != '}' || !use(next++)) return false;
      ++i;
    }
    if (i == pattern.size()) return false;
    const bool wants_float = last == 'f' || last == 'g' || last == 'e';
    const bool wants_integer = last == 'x' || last == 'X' || last == 'd' || last == 'o';
    if ((wants_float && !is_float) || (wants_integer && (is_float || is_text)) || (last == 's' && !is_text))
      return false;
  }
  return n_used == n;
}
}  // namespace goldcrest::converter
