// SPDX-License-Identifier: Apache-2.0
// What toolkits save beside their tensors, from the values of a pickle to JSON.
#include "sources/values/saved_settings.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sources/messages/messages.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// A pickle may hold one value in many places, or itself.
class SettingsWriter {
 public:
  SettingsWriter(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where)
      : document_(document), most_bytes_(kFreeBytes + 4 * pickle_bytes), where_(where) {}

  std::string write() {
    put("{");
    for (const char* key : {"args", "cfg", "opt", "vocab"}) {
      const PickleNode* const value = document_.member(document_.node(document_.root), key);
      if (value == nullptr) continue;
      begin_item();
      put_text(key);
      put(":");
      put_value(*value, 0);
    }
    return std::move(json_ += "}");
  }

 private:
  static constexpr uint64_t kFreeBytes = 65536;
  static constexpr int kMostDepth = 12;  // of what is kept

  void put(std::string_view text) {
    if (json_.size() + n_members_ + text.size() > most_bytes_) {
      throw Error("{}: its settings are values in more than {} bytes of text, much more than it has itself", where_,
                  most_bytes_);
    }
    json_ += text;
  }

  // A comma, unless it is the first.
  void begin_item() {
    if (json_.back() != '{' && json_.back() != '[') put(",");
  }

  void put_text(const std::string& text) {
    try {
      put(nlohmann::json(text).dump());
    } catch (const nlohmann::json::exception&) {
      throw Error("{}: its settings have a text that is not UTF-8: {}", where_, in_quotes(text));
    }
  }

  void put_list(const PickleNode& node, int depth) {
    put("[");
    for (const PickleRef item : node.items) {
      begin_item();
      put_value(document_.node(item), depth + 1);
    }
    put("]");
  }

  // Keys that are no texts are left out, and all but the last value of a key.
  void put_dict(const PickleNode& node, int depth) {
    n_members_ += node.items.size() / 2;
    std::map<std::string_view, PickleRef> members;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const PickleNode& key = document_.node(node.items[i]);
      if (key.kind == PickleKind::kText) members[key.text] = node.items[i + 1];
    }
    put("{");
    for (const auto& [key, value] : members) {
      begin_item();
      put_text(std::string(key));
      put(":");
      put_value(document_.node(value), depth + 1);
    }
    put("}");
  }

  void put_value(const PickleNode& node, int depth) {
    if (depth > kMostDepth) return put("null");
    switch (node.kind) {
      case PickleKind::kBool:
        return put(node.integer != 0 ? "true" : "false");
      case PickleKind::kInteger:
        return put(std::to_string(node.integer));
      case PickleKind::kNumber:
        return put(nlohmann::json(node.number).dump());
      case PickleKind::kText:
        return put_text(node.text);
      case PickleKind::kTuple:
      case PickleKind::kList:
        return put_list(node, depth);
      case PickleKind::kDict:
        return put_dict(node, depth);
      default:
        return put("null");
    }
  }

  const PickleDocument& document_;
  const uint64_t most_bytes_;
  const std::string& where_;
  std::string json_;
  uint64_t n_members_ = 0;  // looked at, since those that are left out take time too
};

}  // namespace

std::string saved_settings(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where) {
  return SettingsWriter(document, pickle_bytes, where).write();
}

}  // namespace goldcrest::converter
