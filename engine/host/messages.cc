// SPDX-License-Identifier: Apache-2.0
#include "host/messages.h"
#include <unistd.h>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>
#include "goldcrest/inspection.h"
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
  for (uint32_t i = 0; const char* running = goldcrest_kernels_at(i); ++i)
    if (std::strcmp(running, name) == 0) return true;
  return false;
}

bool is_built(const std::string& name) {
  for (uint32_t i = 0; const char* built = goldcrest_kernels_built(i); ++i)
    if (name == built) return true;
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
  std::fputs(goldcrest::painted(goldcrest::Paint::kRed, answer.error).c_str(), stderr);
  if (!answer.is_asked_for) return 2;
  return finish_output(program) ? 0 : 1;
}

namespace goldcrest {
namespace {
struct Bound {
  const char* option;
  uint32_t given, most;  // given: 0 if the option is absent
  const char* reason;
};

constexpr double kSecondsBetweenCounts = 0.5;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string no_use(const char* option, uint32_t given, const char* reason) {
  return std::string(option) + " is " + std::to_string(given) + ", but " + reason + "; leave it out";
}
}  // namespace

std::string painted(Paint paint, const std::string& text) {
  const char *const no_color = std::getenv("NO_COLOR"), *const terminal = std::getenv("TERM");
  const bool is_plain = text.empty() || isatty(STDERR_FILENO) == 0 || (no_color != nullptr && no_color[0] != '\0') ||
                        (terminal != nullptr && std::strcmp(terminal, "dumb") == 0);
  return is_plain ? text : "\x1b[" + std::to_string(static_cast<int>(paint)) + "m" + text + "\x1b[0m";
}

void say_waiting(const char* program, const char* wanted) {
  if (isatty(STDIN_FILENO) != 0) std::fprintf(stderr, "%s: waiting for %s\n", program, wanted);
}

LineCounter::LineCounter()
    : is_shown_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0),
      begin_(seconds_now()),
      next_(begin_ + kSecondsBetweenCounts) {}

// The cursor stays at the line's begin, so a message replaces it.
void LineCounter::show(uint64_t n_lines) {
  const double now = is_shown_ ? seconds_now() : 0;
  if (!is_shown_ || now < next_) return;
  next_ = now + kSecondsBetweenCounts;
  std::fprintf(
      stderr, "%" PRIu64 " lines, %.1f a second\x1b[K\r", n_lines, static_cast<double>(n_lines) / (now - begin_));
}

void LineCounter::finish() {
  if (is_shown_) std::fputs("\x1b[K", stderr);
  is_shown_ = false;
}

std::string limits_problem(const goldcrest_info& info, const goldcrest_limits& limits) {
  const bool has_candidates = info.limits.max_candidates != 0 || info.limits.lexicon != 0 || limits.lexicon != 0;
  if (limits.max_source_bytes != 0 && !info.has_tokenizer)
    return no_use("--max-source-bytes", limits.max_source_bytes, "the model has no tokenizer");
  if (limits.max_candidates != 0 && limits.max_candidates != GOLDCREST_NO_SHORTLIST && !has_candidates)
    return no_use("--max-candidates", limits.max_candidates, "the model has neither a shortlist nor a lexicon");
  const uint32_t layers = limits.alignment_layers == GOLDCREST_ALL_LAYERS ? 0 : limits.alignment_layers;
  const uint32_t beam_size = limits.beam_size == 0 ? info.limits.beam_size : limits.beam_size;
  const Bound bounds[] = {
      {"--max-source", limits.max_source_tokens, info.max_source_positions, "the model's source positions"},
      {"--max-target", limits.max_target_tokens, info.max_target_positions, "the model's target positions"},
      {"--max-source-bytes", limits.max_source_bytes, 1u << 24, "the format's bound"},
      {"--beam-size", limits.beam_size, 16, "the engine's bound"},
      {"--batch", limits.batch, 256, "the engine's bound"},
      {"--n-best", limits.n_best, beam_size, "the beam size"},
      {"--encoder-rows", limits.encoder_rows, 1024, "the engine's bound"},
      {"--max-prefix", limits.max_prefix_tokens,
          (limits.max_target_tokens == 0 ? info.limits.max_target_tokens : limits.max_target_tokens) - 1,
          "one less than the target tokens"},
      {"--inspection", limits.inspection, GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS, "its bits"},
      {"--alignment-layers", layers, info.decoder_layers < 32 ? (1u << info.decoder_layers) - 1 : UINT32_MAX,
          "a bit for each of the decoder's layers"},
  };
  for (const auto& [option, given, most, reason] : bounds) {
    if (given > most)
      return std::string(option) + " is " + std::to_string(given) + "; expected 1 to " + std::to_string(most) + ", " +
             reason;
  }
  return "";
}

std::string cut_problem(const goldcrest_info& info, const goldcrest_limits& limits, uint32_t n) {
  const std::string found = "cut at " + std::to_string(n) + " tokens; ";
  if (n < limits.max_target_tokens)
    return found + (info.sample_rate != 0 ? "speech is rarely so fast; if it is, convert the model with a higher "
                                            "--ids-per-second"
                                          : "raise --max-length-factor or --max-extra");
  if (n < info.max_target_positions)
    return found + "raise --max-target, up to " + std::to_string(info.max_target_positions);
  return found + "the model writes no more, so give it less at once";
}
}  // namespace goldcrest
