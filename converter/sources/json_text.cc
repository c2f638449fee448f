// SPDX-License-Identifier: Apache-2.0
// JSON from an untrusted file: bounded in size and depth, duplicate keys refused.
#include "sources/json_text.h"

#include <set>
#include <string>
#include <vector>

#include "sources/input_file.h"
#include "sources/messages.h"
#include "spec/error.h"

namespace goldcrest::converter {

nlohmann::json parse_json(std::string_view text, int most_depth, const std::string& where) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> open_keys;  // of each object that is being read
  const auto check = [&](int depth, Event event, nlohmann::json& parsed) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= most_depth) throw Error("{}: JSON is nested more than {} levels deep", where, most_depth);
      if (event == Event::object_start) open_keys.emplace_back();
    } else if (event == Event::object_end) {
      open_keys.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_keys.back().insert(key).second) throw Error("{}: JSON has the key {} twice", where, in_quotes(key));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}: not valid JSON: {}", where, error.what());
  }
}

nlohmann::json read_json_object(const std::filesystem::path& path) {
  constexpr uint64_t kMostBytes = uint64_t{32} << 20;
  constexpr int kMostDepth = 16;
  nlohmann::json json = parse_json(read_small_file(path, kMostBytes), kMostDepth, path.string());
  if (!json.is_object()) throw Error("{}: found a JSON {}, expected an object", path.string(), json.type_name());
  return json;
}

}  // namespace goldcrest::converter
