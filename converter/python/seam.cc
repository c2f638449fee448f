// SPDX-License-Identifier: Apache-2.0
// The seam between the Python package and the programs' code. The package calls the C API for everything else. No
// exception crosses it. Texts go to buffers of the caller, cut where they are too long, with a terminating zero.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "goldcrest/decoding.h"
#include "goldcrest/goldcrest.hpp"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "spec/id_list.h"
#include "spec/limits_problem.h"
#include "support/abbreviations.h"
#include "support/languages.h"
#include "support/mapped_file.h"
#include "support/messages.h"
#include "support/thread_pool.h"
#include "translate/text_lines.h"

namespace {

struct Text {
  char* out;
  size_t bytes;
};

void write(const std::string& text, Text to) {
  const size_t n = std::min(text.size(), to.bytes - 1);
  std::copy_n(text.data(), n, to.out);
  to.out[n] = '\0';
}

struct Sentence {
  std::string space;  // before it
  std::vector<int32_t> source;
};

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

struct goldcrest_session {
  MappedFile model;
  ThreadPool pool;
  std::unique_ptr<void, FreeDeleter> arena;
  goldcrest_engine* engine = nullptr;
  goldcrest_detail detail = {"", -1};
  goldcrest_info info = {};
  goldcrest_memory memory = {};
  std::string path, abbreviations, end;  // end: the space behind the last sentence that was read
  std::vector<Sentence> sentences;       // of the last text that was read
};

namespace {

// Runs `work`, which returns a message or an empty string. Returns 0, or -1 with the message in `error`.
template <typename Work>
int guard(const std::string& path, Text error, const Work& work) {
  try {
    const std::string problem = work();
    if (problem.empty()) return 0;
    write(problem, error);
  } catch (const std::exception& exception) {
    write(describe_exception(exception, path), error);
  }
  return -1;
}

int tokenize(goldcrest_session* session, const std::string& text, std::vector<int32_t>* source) {
  const int32_t* ids = nullptr;
  const int status = goldcrest_begin_text(session->engine, text.data(), text.size());
  const int n = status < 0 ? status : goldcrest_get_source(session->engine, 0, &ids);
  if (n > 0) source->assign(ids, ids + n);
  return n;
}

// Cuts a line as goldcrest-translate does: each sentence stands behind the language code that the line begins with.
std::string read_sentences(goldcrest_session* session, const std::string& text) {
  size_t n_code = goldcrest::converter::leading_language_code(text).size();
  while (n_code > 0 && n_code < text.size() && text[n_code] == ' ') ++n_code;
  const std::string code = text.substr(0, n_code);
  const uint32_t most = session->memory.limits.max_source_bytes;
  const goldcrest_part_options parts = {session->abbreviations.data(), session->abbreviations.size(),
                                        n_code < most ? most - n_code : 1};
  goldcrest::SentenceReader reader(text.data() + n_code, text.size() - n_code, parts);
  std::string no_tokens;
  bool has_tokens = false;
  while (reader.next()) {
    Sentence sentence = {std::string(reader.space(), reader.space_bytes()), {}};
    int status = GOLDCREST_ERROR_TOO_LONG;
    do {
      status = tokenize(session, code + std::string(reader.sentence(), reader.bytes()), &sentence.source);
    } while (status == GOLDCREST_ERROR_TOO_LONG && reader.shorten());
    has_tokens = has_tokens || status >= 0;
    if (status == GOLDCREST_ERROR_ARGUMENT) no_tokens = describe_error(status, session->detail);
    if (status < 0 && status != GOLDCREST_ERROR_ARGUMENT) return describe_error(status, session->detail);
    session->sentences.push_back(std::move(sentence));
  }
  session->end = std::string(reader.space(), reader.space_bytes());
  return has_tokens ? "" : no_tokens;
}

// The ways to cut a text. A line and a sentence of only white space have no sources; kTokens reads it like any text.
enum Mode { kLine = 0, kSentences = 1, kTokens = 2 };

std::string read_text(goldcrest_session* session, const std::string& text, int mode) {
  session->sentences.clear();
  session->end.clear();
  const std::string problem = text_problem(text);
  if (!problem.empty() || (mode != kTokens && is_blank(text))) return problem;
  if (mode == kSentences) return read_sentences(session, text);
  Sentence sentence;
  const int status = tokenize(session, text, &sentence.source);
  if (status < 0) return describe_error(status, session->detail);
  session->sentences.push_back(std::move(sentence));
  return "";
}

std::string start(goldcrest_session* session, goldcrest_limits limits) {
  session->engine = nullptr;
  std::string problem = goldcrest::converter::limits_problem(session->info, limits);
  if (!problem.empty()) return session->path + ": " + problem;
  limits.threads = session->pool.threads();
  if (limits.batch > 1) limits.encoder_rows = std::min(1024u, session->info.limits.encoder_rows * limits.threads);
  const void* model = session->model.bytes();
  const size_t bytes = session->model.size();
  goldcrest_detail* detail = &session->detail;
  int status = goldcrest_plan_memory(model, bytes, &limits, &session->memory, nullptr, nullptr, detail);
  if (status < 0) return session->path + ": " + describe_error(status, *detail);
  const uint64_t arena_bytes = session->memory.arena_bytes;
  session->arena.reset(std::aligned_alloc(GOLDCREST_ALIGN, static_cast<size_t>(arena_bytes)));
  if (!session->arena) return session->path + ": no memory for an arena of " + std::to_string(arena_bytes) + " bytes";
  goldcrest_config config = {};
  config.model = model;
  config.model_bytes = bytes;
  config.arena = session->arena.get();
  config.arena_bytes = static_cast<size_t>(arena_bytes);
  config.limits = limits;
  config.detail = detail;
  config.parallel_for = session->pool.parallel_for();
  config.parallel_context = session->pool.context();
  status = goldcrest_init(&session->engine, &config);
  if (status >= 0) return "";
  session->engine = nullptr;
  return session->path + ": " + describe_error(status, *detail);
}

}  // namespace

extern "C" {

// The sizes of the structs that the package declares again. It compares them at import.
size_t goldcrest_python_size(int index) {
  const size_t sizes[] = {sizeof(goldcrest_limits), sizeof(goldcrest_search), sizeof(goldcrest_info),
                          sizeof(goldcrest_memory), sizeof(goldcrest_buffer), sizeof(goldcrest_result)};
  return index >= 0 && static_cast<size_t>(index) < sizeof sizes / sizeof *sizes ? sizes[index] : 0;
}

// Maps a model and starts threads (0: one for each CPU). Returns null after a message.
goldcrest_session* goldcrest_python_open(const char* path, uint32_t threads, char* error, size_t error_bytes) {
  std::unique_ptr<goldcrest_session> session;
  const int status = guard(path, {error, error_bytes}, [&]() -> std::string {
    session = std::make_unique<goldcrest_session>();
    session->path = path;
    std::string problem = session->model.open(path);
    if (problem.empty()) problem = session->pool.start(threads);
    if (!problem.empty()) return problem;
    const void* model = session->model.bytes();
    const size_t bytes = session->model.size();
    const int known = goldcrest_model_info(model, bytes, &session->info, &session->detail);
    if (known < 0) return session->path + ": " + describe_model_error(known, session->detail, model, bytes);
    session->abbreviations = abbreviations_of(session->info.source_language);
    return "";
  });
  return status == 0 ? session.release() : nullptr;
}

void goldcrest_python_close(goldcrest_session* session) { delete session; }

// Plans an arena for the limits and starts an engine in it; an earlier engine ends. Returns 0, or -1 after a message.
int goldcrest_python_start(goldcrest_session* session, const goldcrest_limits* limits, char* error,
                           size_t error_bytes) {
  return guard(session->path, {error, error_bytes}, [&] { return start(session, *limits); });
}

goldcrest_engine* goldcrest_python_engine(const goldcrest_session* session) { return session->engine; }
const goldcrest_info* goldcrest_python_info(const goldcrest_session* session) { return &session->info; }
const goldcrest_memory* goldcrest_python_memory(const goldcrest_session* session) { return &session->memory; }
const void* goldcrest_python_model(const goldcrest_session* session) { return session->model.bytes(); }
int goldcrest_python_takes_sentences(const goldcrest_session* session) {
  return takes_sentences(session->model.bytes()) ? 1 : 0;
}

// Chooses the languages of texts; null: the model's. Returns 0, or -1 after a message.
int goldcrest_python_languages(goldcrest_session* session, const char* source, const char* target, char* error,
                               size_t error_bytes) {
  return guard(session->path, {error, error_bytes}, [&]() -> std::string {
    const std::string problem = languages_problem(session->model.bytes(), session->model.size(),
                                                  source == nullptr ? "" : source, target == nullptr ? "" : target);
    if (!problem.empty()) return session->path + ": " + problem;
    const int status = goldcrest_set_languages(session->engine, source, target);
    return status < 0 ? session->path + ": " + describe_error(status, session->detail) : "";
  });
}

// Cuts a text into sources and keeps them until the next text. Returns their number, or -1 after a message.
int goldcrest_python_read(goldcrest_session* session, const char* text, size_t text_bytes, int mode,
                          char* error /* [256] */) {
  const int status =
      guard(session->path, {error, 256}, [&] { return read_text(session, std::string(text, text_bytes), mode); });
  return status < 0 ? -1 : static_cast<int>(session->sentences.size());
}

// The ids of a source of the last text and the space before it; behind the last source, the space at the text's end.
int goldcrest_python_source(const goldcrest_session* session, uint32_t index, const int32_t** ids, const char** space,
                            size_t* space_bytes) {
  const bool is_end = index >= session->sentences.size();
  const std::string& text = is_end ? session->end : session->sentences[index].space;
  *space = text.data();
  *space_bytes = text.size();
  if (is_end) return 0;
  *ids = session->sentences[index].source.data();
  return static_cast<int>(session->sentences[index].source.size());
}

// Steps until the search is done or, if `token` is given, has chosen a token, but no longer than some milliseconds.
int goldcrest_python_run(goldcrest_engine* engine, double milliseconds, int32_t* token) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::milli> longest(milliseconds);
  int status = GOLDCREST_WORKING;
  do {
    status = goldcrest_step(engine, token);
  } while ((status == GOLDCREST_WORKING || (status == GOLDCREST_TOKEN && token == nullptr)) &&
           std::chrono::steady_clock::now() - begin < longest);
  return status;
}

// The text of a status, with the detail that the engine left.
void goldcrest_python_explain(const goldcrest_session* session, int64_t status, char* error, size_t error_bytes) {
  guard(session->path, {error, error_bytes}, [&] { return describe_error(status, session->detail); });
}

}  // extern "C"
