// SPDX-License-Identifier: Apache-2.0
#include "spec/format_text.h"
#include <fmt/args.h>
#include <fmt/format.h>
#include <cstdio>

namespace goldcrest::converter {
std::string format_values(std::string_view pattern, const FormatValue* values, size_t n) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const FormatValue* value = values; value < values + n; ++value) {
    switch (value->kind) {
      case FormatValue::Kind::kFlag: store.push_back(value->integer != 0); break;
      case FormatValue::Kind::kCharacter: store.push_back(static_cast<char>(value->integer)); break;
      case FormatValue::Kind::kSigned: store.push_back(static_cast<long long>(value->integer)); break;
      case FormatValue::Kind::kUnsigned: store.push_back(value->integer); break;
      case FormatValue::Kind::kFloat: store.push_back(static_cast<float>(value->number)); break;
      case FormatValue::Kind::kDouble: store.push_back(value->number); break;
      case FormatValue::Kind::kText: store.push_back(value->text); break;
    }
  }
  return fmt::vformat(fmt::string_view(pattern.data(), pattern.size()), store);
}

void print_values(const std::string& text) { fwrite(text.data(), 1, text.size(), stdout); }
}  // namespace goldcrest::converter
