// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include "sources/values/json_text.h"

namespace goldcrest::converter {
namespace {
using Json = nlohmann::ordered_json;

Json json_of(const Value& value) {
  if (value.is_flag()) return value.flag();
  if (value.is_natural()) return value.natural();
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  if (value.is_text()) return value.text();
  if (value.is_null()) return nullptr;
  Json made = value.is_map() ? Json::object() : Json::array();
  if (value.is_map()) {
    auto& members = made.get_ref<Json::object_t&>();  // keys are unique, so none is looked up
    for (const auto& [key, member] : value.members()) members.emplace_back(key, json_of(member));
  } else {
    for (const Value& item : value.items()) made.push_back(json_of(item));
  }
  return made;
}
}  // namespace

std::string write_json(const Value& value, const JsonStyle& style) {
  return json_of(value).dump(style.indent, ' ', style.is_ascii, Json::error_handler_t::replace);
}
}  // namespace goldcrest::converter
