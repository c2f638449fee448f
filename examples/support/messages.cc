// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

std::string describe_error(int64_t status, const goldcrest_detail& detail) {
  std::string text = goldcrest_status_string(static_cast<int>(status));
  if (detail.message != nullptr && detail.message[0] != '\0') text += std::string(": ") + detail.message;
  if (detail.index < 0) return text;
  return text + " (" + std::to_string(detail.index) + (status == GOLDCREST_ERROR_ARENA_TOO_SMALL ? " bytes)" : ")");
}

std::string describe_model_error(int64_t status, const goldcrest_detail& detail, const void* file, size_t file_bytes) {
  constexpr size_t kIdentifier = 4;  // FORMAT.md: the metadata's FlatBuffer begins with an offset and "GCST"
  std::string text = describe_error(status, detail);
  if (status != GOLDCREST_ERROR_MODEL_CORRUPT || file_bytes < 2 * kIdentifier) return text;
  if (std::memcmp(static_cast<const char*>(file) + kIdentifier, "GCST", kIdentifier) != 0)
    return text + "; it is no .gcst file (goldcrest-convert makes them)";
  const bool cut = std::strcmp(detail.message, "trailer: not found at the end of the file") == 0;
  return cut ? text + "; a .gcst file, but its end is missing" : text;
}

namespace {

bool runs_here(const char* name) {
  for (uint32_t i = 0; const char* running = goldcrest_kernels_at(i); ++i) {
    if (std::strcmp(running, name) == 0) return true;
  }
  return false;
}

bool is_built(const std::string& name) {
  for (uint32_t i = 0; const char* built = goldcrest_kernels_built(i); ++i) {
    if (name == built) return true;
  }
  return false;
}

}  // namespace

std::string kernels_problem(const std::string& name) {
  const char* variable = std::getenv("GOLDCREST_KERNELS");
  if (name.empty() && variable == nullptr) return "";
  const std::string wanted = name.empty() ? variable : name;
  if (wanted == "xnnpack" || wanted == "fastest" || runs_here(wanted.c_str())) return "";
  std::string problem = (name.empty() ? "GOLDCREST_KERNELS=" : "--kernels ") + printable(wanted) + ": " +
                        (is_built(wanted) ? "this CPU does not run it" : "no such table") + "; this build has ";
  for (uint32_t i = 0; const char* built = goldcrest_kernels_built(i); ++i) {
    problem += (i == 0 ? "" : ", ") + std::string(built) + (runs_here(built) ? "" : " (not on this CPU)");
  }
#ifdef GOLDCREST_HAS_XNNPACK
  problem += ", xnnpack, fastest";
#endif
  return problem;
}

namespace {

// Whether a terminal would do something else with this UTF-8 character than show it: C1 controls, line and paragraph
// separators, marks and overrides of the direction of writing.
bool is_unseen(const std::string& character) {
  if (character.size() == 2) return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

void append_escaped(const std::string& bytes, std::string* text) {
  for (const char c : bytes) {
    if (c == '\n') {
      *text += "\\n";
    } else if (c == '\t') {
      *text += "\\t";
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      *text += code;
    }
  }
}

// Bytes of the UTF-8 character that begins at `at`; 0 where none does.
size_t character_bytes(const std::string& text, size_t at) {
  for (size_t n = 1; n <= 4 && at + n <= text.size(); ++n) {
    if (valid_utf8_prefix(text.substr(at, n)) == n) return n;
  }
  return 0;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t n = character_bytes(text, at);
    const std::string character = text.substr(at, n > 0 ? n : 1);
    const auto first = static_cast<unsigned char>(character[0]);
    if (character == "\\") {
      result += "\\\\";
    } else if (n == 0 || first < 0x20 || first == 0x7f || is_unseen(character)) {
      append_escaped(character, &result);
    } else {
      result += character;
    }
    at += character.size();
  }
  return result;
}

size_t valid_utf8_prefix(const std::string& text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = byte(i);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xc2 && lead < 0xe0 ? 2
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xf0 && lead < 0xf5 ? 4
                                                        : 0;
    if (length == 0) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    }
    const unsigned second = byte(i + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
        (lead == 0xf4 && second >= 0x90)) {
      return i;
    }
    i += length;
  }
  return i;
}

bool finish_output(const char* program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "%s: standard output: write failed\n", program);
  return false;
}
