// SPDX-License-Identifier: Apache-2.0
// JSON from an untrusted file: bounded in size, depth and number of values, duplicate keys refused. One pass builds the
// values; nlohmann's parser with a callback looks through all of a parent's members whenever one of them ends.
#include "sources/values/json_text.h"

#include <string>
#include <vector>

#include "sources/files/input_file.h"
#include "sources/messages/messages.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

using nlohmann::json;

constexpr size_t kMaxValues = 2'000'000;  // some 200 bytes of memory each, and more than any vocabulary has

class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(size_t most_depth, const std::string& where) : most_depth_(most_depth), where_(where) {}

  json take() { return std::move(root_); }

  bool null() override { return add(json()); }
  bool boolean(bool value) override { return add(json(value)); }
  bool number_integer(number_integer_t value) override { return add(json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(json(value)); }
  bool string(string_t& value) override { return add(json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // text has none
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    const auto [member, is_new] = open_.back()->get_ref<json::object_t&>().emplace(key, nullptr);
    if (!is_new) throw Error("{}: JSON has the key {} twice", where_, in_quotes(key));
    member_ = &member->second;
    return true;
  }

  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    throw Error("{}: not valid JSON: {}", where_, error.what());
  }

 private:
  // Where the next value belongs: the root, the end of an array, or the member whose key was read last. An array grows
  // only while none of its elements is open, so the places in open_ stay where they are.
  json& place() {
    if (++n_values_ > kMaxValues) throw Error("{}: JSON has more than {} values", where_, kMaxValues);
    if (open_.empty()) return root_;
    if (open_.back()->is_object()) return *member_;
    return open_.back()->get_ref<json::array_t&>().emplace_back();
  }

  bool add(json value) {
    place() = std::move(value);
    return true;
  }

  bool open(json value) {
    if (open_.size() >= most_depth_) throw Error("{}: JSON is nested more than {} levels deep", where_, most_depth_);
    json& opened = place() = std::move(value);
    open_.push_back(&opened);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const size_t most_depth_;
  const std::string& where_;
  json root_;
  json* member_ = nullptr;
  std::vector<json*> open_;  // outer ones first
  size_t n_values_ = 0;
};

}  // namespace

json parse_json(std::string_view text, int most_depth, const std::string& where) {
  Builder builder(static_cast<size_t>(most_depth), where);
  json::sax_parse(text, &builder);
  return builder.take();
}

json read_json_object(const std::filesystem::path& path) {
  constexpr uint64_t kMaxBytes = uint64_t{32} << 20;
  constexpr int kMaxDepth = 16;
  json object = parse_json(read_small_file(path, kMaxBytes), kMaxDepth, path.string());
  if (!object.is_object()) throw Error("{}: found a JSON {}, expected an object", path.string(), object.type_name());
  return object;
}

}  // namespace goldcrest::converter
