// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate: lines in, lines out, through the C API alone. One engine, one arena, no allocation per line but
// the line's own.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "../support/mapped_file.h"
#include "goldcrest/goldcrest.h"

namespace {

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kLinesFailed = 3 };

struct Arguments {
  std::string model, kernels;
  std::vector<std::string> inputs;
  goldcrest_limits limits = {};
  uint32_t n_best = 1, min_target = 0;
  float length_penalty = 1, word_penalty = 0;
  bool has_length_penalty = false, has_word_penalty = false;
  bool scores = false, tokens = false, encode = false, decode = false, stats = false, structure_only = false;
};

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

// The offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates), or the length.
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

constexpr size_t kMostLineBytes = size_t{1} << 24;  // no engine takes more

// Reads a line without its end. Of a longer one than kMostLineBytes, one byte more than that is kept.
bool read_line(std::istream& input, std::string* line) {
  constexpr int kEnd = std::char_traits<char>::eof();
  line->clear();
  int c = input.rdbuf()->sbumpc();
  if (c == kEnd) return false;
  for (; c != kEnd && c != '\n'; c = input.rdbuf()->sbumpc()) {
    if (line->size() <= kMostLineBytes) line->push_back(static_cast<char>(c));
  }
  return true;
}

class Program {
 public:
  int run(const Arguments& arguments);

 private:
  bool start();
  void process(std::istream& input);
  void process_line(const std::string& line);
  void translate(const std::string& line);
  void encode(const std::string& line);
  void decode(const std::string& line);
  void print_result(uint32_t rank, const goldcrest_result& result);
  void print_ids(const int32_t* ids, size_t n);
  void print_line(const std::string& text);
  int64_t decode_text(const int32_t* ids, size_t n, std::string* text);
  void print_stats() const;
  void reject(const std::string& why);
  std::string describe(int64_t status) const;

  Arguments arguments_;
  MappedFile model_;
  std::unique_ptr<void, FreeDeleter> arena_;
  goldcrest_engine* engine_ = nullptr;
  goldcrest_detail detail_ = {"", -1};
  goldcrest_memory memory_ = {};
  uint64_t line_ = 0, failed_lines_ = 0, source_tokens_ = 0, target_tokens_ = 0;
  double seconds_ = 0;
};

std::string Program::describe(int64_t status) const {
  std::string text = goldcrest_status_string(static_cast<int>(status));
  if (detail_.message != nullptr && detail_.message[0] != '\0') text += std::string(": ") + detail_.message;
  if (detail_.index >= 0) text += " (" + std::to_string(detail_.index) + ")";
  return text;
}

// Maps the model, allocates the arena once, starts the engine.
bool Program::start() {
  const std::string problem = model_.open(arguments_.model);
  if (!problem.empty()) {
    std::fprintf(stderr, "goldcrest-translate: %s\n", problem.c_str());
    return false;
  }
  const auto fail = [&](int status) {
    std::fprintf(stderr, "goldcrest-translate: %s: %s\n", arguments_.model.c_str(), describe(status).c_str());
    return false;
  };
  goldcrest_info info = {};
  int status = goldcrest_model_info(model_.bytes(), model_.size(), &info, &detail_);
  if (status < 0) return fail(status);
  goldcrest_limits& limits = arguments_.limits;
  limits.n_best = arguments_.n_best;
  if (limits.beam_size == 0 && arguments_.n_best > info.limits.beam_size) limits.beam_size = arguments_.n_best;
  if (limits.max_source_bytes == 0 && info.has_tokenizer) limits.max_source_bytes = info.limits.max_source_bytes;
  status = goldcrest_plan_memory(model_.bytes(), model_.size(), &limits, &memory_, nullptr, nullptr, &detail_);
  if (status < 0) return fail(status);
  arena_.reset(std::aligned_alloc(GOLDCREST_ALIGN, memory_.arena_bytes));
  if (!arena_) {
    std::fprintf(stderr, "goldcrest-translate: no memory for an arena of %" PRIu64 " bytes\n", memory_.arena_bytes);
    return false;
  }
  goldcrest_config config = {};
  config.model = model_.bytes();
  config.model_bytes = model_.size();
  config.arena = arena_.get();
  config.arena_bytes = memory_.arena_bytes;
  config.limits = limits;
  config.verify = arguments_.structure_only ? GOLDCREST_VERIFY_STRUCTURE : GOLDCREST_VERIFY_FULL;
  config.kernels = arguments_.kernels.empty() ? nullptr : arguments_.kernels.c_str();
  config.detail = &detail_;
  status = goldcrest_init(&engine_, &config);
  if (status < 0) return fail(status);

  goldcrest_search search = info.search;
  search.beam_size = 0;  // the limits'
  if (search.max_target_tokens > memory_.limits.max_target_tokens || limits.max_target_tokens != 0)
    search.max_target_tokens = 0;
  if (arguments_.min_target != 0) search.min_target_tokens = arguments_.min_target;
  if (arguments_.has_length_penalty) search.length_penalty = arguments_.length_penalty;
  if (arguments_.has_word_penalty) search.word_penalty = arguments_.word_penalty;
  if (arguments_.scores) search.flags |= GOLDCREST_SEARCH_SCORES;
  status = goldcrest_set_search(engine_, &search);
  return status < 0 ? fail(status) : true;
}

void Program::reject(const std::string& why) {
  ++failed_lines_;
  std::fprintf(stderr, "goldcrest-translate: line %" PRIu64 ": %s\n", line_, why.c_str());
  std::fputc('\n', stdout);
}

void Program::print_ids(const int32_t* ids, size_t n) {
  for (size_t i = 0; i < n; ++i) std::printf("%s%" PRId32, i == 0 ? "" : " ", ids[i]);
  std::fputc('\n', stdout);
}

void Program::print_line(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

// The text of n ids, or a negative status.
int64_t Program::decode_text(const int32_t* ids, size_t n, std::string* text) {
  goldcrest_text_state state = {};
  char piece[4096];
  for (size_t i = 0; i <= n; ++i) {
    const int64_t bytes = goldcrest_detokenize(engine_, &state, ids + i, i < n ? 1 : 0, piece, sizeof piece);
    if (bytes < 0) return bytes;
    text->append(piece, static_cast<size_t>(bytes));
  }
  return GOLDCREST_OK;
}

void Program::print_result(uint32_t rank, const goldcrest_result& result) {
  std::string text;
  if (!arguments_.tokens) {
    const int64_t status = decode_text(result.tokens, result.n_tokens, &text);
    if (status < 0) return reject(describe(status));
  }
  if (arguments_.n_best > 1) std::printf("%" PRIu64 "\t%u\t", line_, rank + 1);
  if (arguments_.scores) std::printf("%.6f\t", static_cast<double>(result.score));
  if (arguments_.tokens)
    print_ids(result.tokens, result.n_tokens);
  else
    print_line(text);
}

void Program::translate(const std::string& line) {
  const auto begin = std::chrono::steady_clock::now();
  int status = goldcrest_begin_text(engine_, line.data(), line.size());
  const int32_t* source = nullptr;
  const int n_source = status < 0 ? 0 : goldcrest_get_source(engine_, 0, &source);
  if (status >= 0) status = goldcrest_run(engine_);
  goldcrest_result result = {};
  if (status >= 0) status = goldcrest_get_result(engine_, 0, 0, &result);
  if (status < 0) return reject(describe(status));
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  source_tokens_ += static_cast<uint64_t>(n_source);
  target_tokens_ += result.n_tokens;
  print_result(0, result);
  for (uint32_t rank = 1; rank < arguments_.n_best; ++rank) {
    if (goldcrest_get_result(engine_, 0, rank, &result) < 0) break;
    print_result(rank, result);
  }
}

void Program::encode(const std::string& line) {
  const int status = goldcrest_begin_text(engine_, line.data(), line.size());
  if (status < 0) return reject(describe(status));
  const int32_t* source = nullptr;
  const int n = goldcrest_get_source(engine_, 0, &source);
  if (n < 0) return reject(describe(n));
  print_ids(source, static_cast<size_t>(n));
}

void Program::decode(const std::string& line) {
  std::vector<int32_t> ids;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    int32_t id = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (problem != std::errc() || end != word.data() + word.size() || id < 0) return reject("not a token id: " + word);
    ids.push_back(id);
  }
  std::string text;
  const int64_t status = decode_text(ids.data(), ids.size(), &text);
  if (status < 0) return reject(describe(status));
  print_line(text);
}

void Program::process_line(const std::string& line) {
  if (line.size() > kMostLineBytes) return reject("too long: more than " + std::to_string(kMostLineBytes) + " bytes");
  if (arguments_.decode) return decode(line);
  const size_t valid = valid_utf8_prefix(line);
  if (valid != line.size()) return reject("not UTF-8 at byte " + std::to_string(valid + 1));
  if (arguments_.encode) return encode(line);
  translate(line);
}

void Program::process(std::istream& input) {
  for (std::string line; read_line(input, &line);) {
    ++line_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    process_line(line);
    std::fflush(stdout);
  }
}

void Program::print_stats() const {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const double speed = seconds_ > 0 ? static_cast<double>(target_tokens_) / seconds_ : 0;
  std::fprintf(stderr,
               "lines %" PRIu64 " (%" PRIu64 " failed), source tokens %" PRIu64 ", target tokens %" PRIu64
               ", %.3f s, %.1f target tokens/s\n"
               "arena %" PRIu64 " bytes, model %zu bytes, peak resident memory %ld KiB, kernels %s\n",
               line_, failed_lines_, source_tokens_, target_tokens_, seconds_, speed, memory_.arena_bytes,
               model_.size(), usage.ru_maxrss, goldcrest_kernels_name(engine_));
}

int Program::run(const Arguments& arguments) {
  arguments_ = arguments;
  if (!start()) return kFailed;
  if (arguments_.inputs.empty()) process(std::cin);
  for (const std::string& path : arguments_.inputs) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "goldcrest-translate: %s: cannot be read\n", path.c_str());
      return kFailed;
    }
    process(file);
  }
  if (arguments_.stats) print_stats();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "goldcrest-translate: standard output: write failed\n");
    return kFailed;
  }
  return failed_lines_ == 0 ? kSuccess : kLinesFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Translates lines of text with a .gcst model: one line out for each line in, written at once."};
  Arguments arguments;
  app.set_version_flag("--version", std::string("goldcrest-translate " GOLDCREST_VERSION));
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_option("INPUT", arguments.inputs, "text files; none: standard input");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size,
                 "hypotheses, 1 to 16; 1 is greedy; 0: the model's default");
  app.add_option("--nbest,--n-best", arguments.n_best, "results a line, each as LINE TAB RANK TAB ...")
      ->check(CLI::Range(1, 16));
  app.add_option("--max-source", arguments.limits.max_source_tokens, "most source tokens (0: the model's)");
  app.add_option("--max-source-bytes", arguments.limits.max_source_bytes, "most bytes of a line (0: the model's)");
  app.add_option("--max-target", arguments.limits.max_target_tokens, "most generated tokens (0: the model's)");
  app.add_option("--min-target", arguments.min_target, "fewest generated tokens");
  CLI::Option* length_penalty =
      app.add_option("--length-penalty", arguments.length_penalty, "scores are divided by length^X");
  CLI::Option* word_penalty =
      app.add_option("--word-penalty", arguments.word_penalty, "taken from a score for each token");
  app.add_option("--kernels", arguments.kernels, "force a kernel table by its name");
  app.add_flag("--scores", arguments.scores, "print the score before each result");
  CLI::Option* tokens = app.add_flag("--tokens", arguments.tokens, "print target ids instead of text");
  CLI::Option* encode = app.add_flag("--encode", arguments.encode, "print the source ids of each line and stop there");
  CLI::Option* decode = app.add_flag("--decode", arguments.decode, "read target ids, print their text");
  encode->excludes(decode)->excludes(tokens);
  decode->excludes(tokens);
  app.add_flag("--stats", arguments.stats, "print tokens/s and memory to standard error at the end");
  app.add_flag("--structure-only", arguments.structure_only, "do not read all weights at start-up to verify them");
  app.footer(
      "A line that is too long or not UTF-8 gives a message with its number and an empty line.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 some lines failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  arguments.has_length_penalty = length_penalty->count() > 0;
  arguments.has_word_penalty = word_penalty->count() > 0;
  std::ios::sync_with_stdio(true);
  return Program().run(arguments);
}
