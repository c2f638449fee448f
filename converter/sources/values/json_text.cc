// SPDX-License-Identifier: Apache-2.0
// JSON from an untrusted file, bounded in size, depth and number of values; duplicate keys are refused. One pass builds
// the values. nlohmann's own parser with a callback would search all members of a parent each time one of them ends.
#include "sources/values/json_text.h"
#include <nlohmann/json.hpp>
#include <vector>
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
using nlohmann::json;

constexpr size_t kMaxValues = 2'000'000;  // each takes some 200 bytes of memory; no vocabulary has more

class JsonBuilder : public nlohmann::json_sax<json> {
 public:
  JsonBuilder(size_t most_depth, const std::string& where) : most_depth_(most_depth), where_(where) {}

  Value take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(size_t) override { return open(Value::map()); }
  bool start_array(size_t) override { return open(Value::list()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (open_.back()->contains(key)) throw Error("{}: JSON has the key {} twice", where_, in_quotes(key));
    member_ = &(*open_.back())[key];
    return true;
  }

  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    throw Error("{}: not valid JSON: {}", where_, error.what());
  }
 private:
  // Returns the place of the next value: the root, the end of a list, or the member whose key was read last. A list or
  // map grows only while none of its values is open, so the pointers in open_ stay valid.
  Value& place() {
    if (++n_values_ > kMaxValues) throw Error("{}: JSON has more than {} values", where_, kMaxValues);
    if (open_.empty()) return root_;
    if (open_.back()->is_map()) return *member_;
    return open_.back()->push_back({});
  }

  bool add(Value value) {
    place() = std::move(value);
    return true;
  }

  bool open(Value value) {
    if (open_.size() >= most_depth_) throw Error("{}: JSON is nested more than {} levels deep", where_, most_depth_);
    Value& opened = place() = std::move(value);
    open_.push_back(&opened);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const size_t most_depth_;
  const std::string& where_;
  Value root_;
  Value* member_ = nullptr;
  std::vector<Value*> open_;  // outer ones first
  size_t n_values_ = 0;
};
}  // namespace

Value parse_json(std::string_view text, int most_depth, const std::string& where) {
  JsonBuilder builder(static_cast<size_t>(most_depth), where);
  json::sax_parse(text, &builder);
  return builder.take();
}

Value read_json_object(const std::filesystem::path& path) {
  constexpr uint64_t kMaxBytes = uint64_t{32} << 20;
  Value object = parse_json(read_small_file(path, kMaxBytes), kSettingsDepth, path.string());
  if (!object.is_map()) throw Error("{}: found a JSON {}, expected an object", path.string(), object.type_name());
  return object;
}
}  // namespace goldcrest::converter
