// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-serve, and what its kinds of server share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

constexpr const char* kProgram = "goldcrest-serve";

struct ServeArguments {
  std::vector<std::string> models;  // [NAME=]FILE
  std::string wyoming, http;        // addresses; empty: not served
  std::string language = "en";      // for speech models whose files state none
  std::string key_file, kernels;
  std::vector<std::string> allowed_origins;
  uint32_t threads = 1, batch = 4, max_clients = 64;
  uint64_t max_upload = uint64_t{100} << 20;
  double max_seconds = 0, timeout = 120;
  bool has_ffmpeg = false, is_add_on = false;
  std::vector<std::string> keys;  // key_file's
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end.
std::optional<int> parse_options(int argc, const char* const* argv, ServeArguments& arguments);

class Loop;
class SpeechModel;
class TextModel;

// The server's options, loop and models.
struct Service {
  const ServeArguments& arguments;
  Loop& loop;
  std::vector<std::unique_ptr<SpeechModel>> speech;
  std::vector<std::unique_ptr<TextModel>> text;
};
