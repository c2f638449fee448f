// SPDX-License-Identifier: Apache-2.0
#include "sources/values/saved_settings.h"
#include <cmath>
#include <map>
#include <string_view>
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// A pickle may hold one value in many places, or contain itself. So the settings are bounded by their size as text.
class SettingsReader {
 public:
  SettingsReader(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where)
      : document_(document), most_bytes_(kFreeBytes + 4 * pickle_bytes), where_(where) {}

  Value read() {
    Value settings = Value::map();
    for (const char* key : {"args", "cfg", "opt", "vocab"}) {
      const PickleNode* const value = document_.member(document_.node(document_.root), key);
      if (value != nullptr) settings[key] = value_of(*value, 0);
    }
    return settings;
  }
 private:
  static constexpr uint64_t kFreeBytes = 65536;
  static constexpr int kMostDepth = 12;  // deeper values are dropped

  void count(uint64_t bytes) {
    n_bytes_ += bytes;
    if (n_bytes_ > most_bytes_) {
      throw Error(
          "{}: its settings need more than {} bytes of text, much more than the pickle has", where_, most_bytes_);
    }
  }

  std::string text_of(const std::string& text) {
    count(text.size() + 2);
    if (!is_utf8(text)) throw Error("{}: its settings have a text that is not UTF-8: {}", where_, in_quotes(text));
    return text;
  }

  Value list_of(const PickleNode& node, int depth) {
    Value list = Value::list();
    for (const PickleRef item : node.items) list.push_back(value_of(document_.node(item), depth + 1));
    return list;
  }

  // Keys that are not texts are left out. If a key is repeated, the last value stays.
  Value map_of(const PickleNode& node, int depth) {
    count(node.items.size() / 2);  // members that are left out take time too
    std::map<std::string_view, PickleRef> members;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const PickleNode& key = document_.node(node.items[i]);
      if (key.kind == PickleKind::kText) members[key.text] = node.items[i + 1];
    }
    Value map = Value::map();
    for (const auto& [key, value] : members)
      map[text_of(std::string(key))] = value_of(document_.node(value), depth + 1);
    return map;
  }

  Value value_of(const PickleNode& node, int depth) {
    constexpr uint64_t kMostOfScalar = 4;  // "null" and its comma
    count(1 + kMostOfScalar);
    if (depth > kMostDepth) return {};
    switch (node.kind) {
      case PickleKind::kBool: return node.integer != 0;
      case PickleKind::kInteger: return node.integer;
      case PickleKind::kNumber: return std::isfinite(node.number) ? Value(node.number) : Value();
      case PickleKind::kText: return text_of(node.text);
      case PickleKind::kTuple:
      case PickleKind::kList: return list_of(node, depth);
      case PickleKind::kDict: return map_of(node, depth);
      default: return {};
    }
  }

  const PickleDocument& document_;
  const uint64_t most_bytes_;
  const std::string& where_;
  uint64_t n_bytes_ = 0;
};
}  // namespace

Value saved_settings(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where) {
  return SettingsReader(document, pickle_bytes, where).read();
}
}  // namespace goldcrest::converter
