// SPDX-License-Identifier: Apache-2.0
#include "host/messages.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "host/printable.h"
#include "host/wording.h"

std::string describe_error(int64_t status, const goldcrest_detail& detail) {
  std::string text = goldcrest_status_string(static_cast<int>(status));
  if (detail.message != nullptr && detail.message[0] != '\0') text += std::string(": ") + detail.message;
  if (detail.index < 0) return text;
  return text + " (" + std::to_string(detail.index) + (status == GOLDCREST_ERROR_ARENA_TOO_SMALL ? " bytes)" : ")");
}

std::string describe_model_error(int64_t status, const goldcrest_detail& detail, const void* file, size_t file_bytes) {
  constexpr size_t kIdentifier = 4;  // FORMAT.md: the metadata's FlatBuffer begins with an offset and "GCST"
  const std::string text = describe_error(status, detail);
  if (status != GOLDCREST_ERROR_MODEL_CORRUPT) return text;
  const bool is_model = file_bytes >= 2 * kIdentifier &&
                        std::memcmp(static_cast<const char*>(file) + kIdentifier, "GCST", kIdentifier) == 0;
  if (!is_model) return "it is not a .gcst file (goldcrest-convert makes them): " + text;
  const bool is_cut = std::strcmp(detail.message, "trailer: not found at the end of the file") == 0;
  return is_cut ? "a .gcst file, but its end is missing: " + text : text;
}

std::string describe_exception(const std::exception& error, const std::string& model) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return is_memory ? model + ": not enough memory" : error.what();
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
  using goldcrest::printable;
  const char* variable = std::getenv("GOLDCREST_KERNELS");
  if (name.empty() && variable == nullptr) return "";
  const std::string wanted = name.empty() ? variable : name;
  if (wanted == "xnnpack" || wanted == "fastest" || runs_here(wanted.c_str())) return "";
  std::string problem = (name.empty() ? "GOLDCREST_KERNELS=" : "--kernels ") + printable(wanted) + ": " +
                        (is_built(wanted) ? "this CPU does not run it" : "no such table") + "; this build has ";
  std::vector<std::string> words;
  for (uint32_t i = 0; const char* built = goldcrest_kernels_built(i); ++i) {
    words.emplace_back(built);
    problem += (i == 0 ? "" : ", ") + std::string(built) + (runs_here(built) ? "" : " (not on this CPU)");
  }
#ifdef GOLDCREST_HAS_XNNPACK
  problem += ", xnnpack, fastest";
  words.insert(words.end(), {"xnnpack", "fastest"});
#endif
  return is_built(wanted) ? problem : problem + goldcrest::guess(wanted, words);
}

bool finish_output(const char* program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "%s: standard output: write failed\n", program);
  return false;
}

int print_answer(const char* program, const goldcrest::CommandLine::Answer& answer) {
  std::fputs(answer.output.c_str(), stdout);
  std::fputs(answer.error.c_str(), stderr);
  if (!answer.is_asked_for) return 2;
  return finish_output(program) ? 0 : 1;
}
