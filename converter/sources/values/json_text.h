// SPDX-License-Identifier: Apache-2.0
// JSON from an untrusted file: bounded in size, depth and number of values, duplicate keys refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace goldcrest::converter {

// `where` begins the message of an Error, for instance "model.safetensors: header". Depth 1 is a flat object.
nlohmann::json parse_json(std::string_view text, int most_depth, const std::string& where);

// The file must hold a JSON object of at most 32 MiB.
nlohmann::json read_json_object(const std::filesystem::path& path);

}  // namespace goldcrest::converter
