// SPDX-License-Identifier: Apache-2.0
// The seam between the Python package and the programs' code. The package calls the C API for everything else. No
// exception crosses it. A call that returns -1 leaves a message in the session.
//
// A job is a list of texts or ids: goldcrest_python_begin, _add for each, _work until it is done, then _sentence. Each
// call of _work takes some milliseconds, so that Python sees Ctrl-C.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.hpp"
#include "spec/id_list.h"
#include "spec/limits_problem.h"
#include "support/abbreviations.h"
#include "support/languages.h"
#include "support/mapped_file.h"
#include "support/messages.h"
#include "support/thread_pool.h"
#include "translate/text_lines.h"

namespace {

struct Hypothesis {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<float> attention;  // [ids][ids of the source]
  float score;
};

struct Sentence {
  std::string space;  // before it
  std::vector<int32_t> source, prefix;
  std::vector<Hypothesis> found;  // best first
};

// The ways to cut a text. A line and a sentence of only white space have no sources; kTokens reads it like any text.
// kPrefix: ids with which the results of the input before begin.
enum Mode { kLine = 0, kSentences = 1, kTokens = 2, kIds = 3, kPrefix = 4 };

struct Input {
  std::string text;
  int mode;
  std::vector<Sentence> sentences;
  std::vector<int32_t> prefix;
  std::string end;  // the space behind the last sentence
};

// A text that is cut into sentences: each stands behind the language code that the text begins with.
struct Reading {
  std::string code;
  goldcrest::SentenceReader reader;
  std::string no_tokens;  // the error of a sentence without tokens
};

struct Job {
  uint32_t n_best = 1;
  bool attention = false;
  std::vector<Input> inputs;
  size_t n_read = 0;  // inputs whose ids are known
  std::optional<Reading> reading;
  bool is_ordered = false;
  std::vector<Sentence*> order;              // longest first: a batch has sentences of like lengths
  size_t n_done = 0, n_batch = 0, n_in = 0;  // sentences: of earlier batches, in the engine, of those collected
  int status = GOLDCREST_WORKING;            // of the batch
};

}  // namespace

struct goldcrest_session {
  MappedFile model;
  ThreadPool pool;
  std::unique_ptr<void, void (*)(void*)> arena = {nullptr, std::free};
  goldcrest_engine* engine = nullptr;
  goldcrest_detail detail = {"", -1};
  goldcrest_info info = {};
  goldcrest_memory memory = {};
  std::string path, abbreviations, message;
  Job job;
};

namespace {

// Runs `work`, which returns a message or an empty string. Returns 0, or -1 with the message in the session.
template <typename Work>
int guard(goldcrest_session* session, const Work& work) {
  try {
    session->message = work();
    return session->message.empty() ? 0 : -1;
  } catch (const std::exception& exception) {
    session->message = describe_exception(exception, session->path);
    return -1;
  }
}

int tokenize(goldcrest_session* session, const std::string& text, std::vector<int32_t>* source) {
  const int32_t* ids = nullptr;
  const int status = goldcrest_begin_text(session->engine, text.data(), text.size());
  const int n = status < 0 ? status : goldcrest_get_source(session->engine, 0, &ids);
  if (n > 0) source->assign(ids, ids + n);
  return n;
}

void start_reading(goldcrest_session* session, const std::string& text) {
  size_t n_code = goldcrest::converter::leading_language_code(text).size();
  while (n_code > 0 && n_code < text.size() && text[n_code] == ' ') ++n_code;
  const uint32_t most = session->memory.limits.max_source_bytes;
  const goldcrest_part_options parts = {session->abbreviations.data(), session->abbreviations.size(),
                                        n_code < most ? most - n_code : 1};
  const goldcrest::SentenceReader reader(text.data() + n_code, text.size() - n_code, parts);
  session->job.reading = Reading{text.substr(0, n_code), reader, ""};
}

// Reads a sentence as goldcrest-translate does. At the end of the text, goes to the next input.
std::string read_sentence(goldcrest_session* session) {
  Job& job = session->job;
  Input& input = job.inputs[job.n_read];
  goldcrest::SentenceReader& reader = job.reading->reader;
  const bool is_sentence = reader.next();
  const std::string space(reader.space(), reader.space_bytes());
  if (!is_sentence) {
    const auto is_empty = [](const Sentence& sentence) { return sentence.source.empty(); };
    const bool has_tokens = !std::all_of(input.sentences.begin(), input.sentences.end(), is_empty);
    const std::string problem = has_tokens ? "" : job.reading->no_tokens;
    input.end = space;
    job.reading.reset();
    ++job.n_read;
    return problem;
  }
  Sentence sentence = {space, {}, {}, {}};
  int status = GOLDCREST_ERROR_TOO_LONG;
  do {
    const std::string text = job.reading->code + std::string(reader.sentence(), reader.bytes());
    status = tokenize(session, text, &sentence.source);
  } while (status == GOLDCREST_ERROR_TOO_LONG && reader.shorten());
  if (status == GOLDCREST_ERROR_ARGUMENT) job.reading->no_tokens = describe_error(status, session->detail);
  if (status < 0 && status != GOLDCREST_ERROR_ARGUMENT) return describe_error(status, session->detail);
  input.sentences.push_back(std::move(sentence));
  return "";
}

std::string read_some(goldcrest_session* session) {
  Job& job = session->job;
  if (job.reading) return read_sentence(session);
  Input& input = job.inputs[job.n_read];
  const std::string problem = text_problem(input.text);
  const bool is_read = input.mode == kIds || (input.mode != kTokens && is_blank(input.text));
  const bool is_cut = problem.empty() && !is_read && input.mode == kSentences;
  if (is_cut) start_reading(session, input.text);
  if (!is_cut) ++job.n_read;
  if (!problem.empty() || is_read || is_cut) return problem;
  input.sentences.emplace_back();
  const int status = tokenize(session, input.text, &input.sentences.back().source);
  return status < 0 ? describe_error(status, session->detail) : "";
}

void order_sentences(Job* job) {
  for (Input& input : job->inputs)
    for (Sentence& sentence : input.sentences) {
      sentence.prefix = input.prefix;
      if (!sentence.source.empty()) job->order.push_back(&sentence);
    }
  std::stable_sort(job->order.begin(), job->order.end(),
                   [](const Sentence* a, const Sentence* b) { return a->source.size() > b->source.size(); });
  job->is_ordered = true;
}

int store_batch(goldcrest_session* session) {
  Job& job = session->job;
  const size_t n = std::min<size_t>(session->memory.limits.batch, job.order.size() - job.n_done);
  int status = GOLDCREST_OK;
  for (size_t i = 0; i < n && status >= 0; ++i) {
    const Sentence& sentence = *job.order[job.n_done + i];
    const std::vector<int32_t>&ids = sentence.source, &prefix = sentence.prefix;
    status = (i == 0 ? goldcrest_begin : goldcrest_add)(session->engine, ids.data(), ids.size());
    if (status < 0 || prefix.empty()) continue;
    const uint32_t flags = GOLDCREST_PREFIX_BEHIND_PROMPT;
    status = goldcrest_set_prefix(session->engine, static_cast<uint32_t>(i), prefix.data(), prefix.size(), flags);
  }
  job.n_batch = n;
  job.status = GOLDCREST_WORKING;
  return std::min(status, 0);  // success is an index
}

int64_t detokenize(const goldcrest_engine* engine, const goldcrest_result& result, std::string* text) {
  goldcrest_text_state state = {};
  int64_t status = GOLDCREST_OK;
  for (const size_t n : {size_t{result.n_tokens}, size_t{0}}) {  // 0: the end of the text
    const size_t begin = text->size();
    do {
      text->resize(2 * text->size() + 8 * n + 16);
      status = goldcrest_detokenize(engine, &state, result.tokens, n, &(*text)[begin], text->size() - begin);
    } while (status == GOLDCREST_ERROR_TRUNCATED);
    if (status < 0) break;
    text->resize(begin + static_cast<size_t>(status));
  }
  return status;
}

int64_t collect(goldcrest_session* session, uint32_t index, Sentence* sentence) {
  for (uint32_t rank = 0; rank < session->job.n_best; ++rank) {
    goldcrest_result result = {};
    int64_t status = goldcrest_get_result(session->engine, index, rank, &result);
    if (status < 0 && rank > 0) break;  // there may be fewer than n_best
    if (status < 0) return status;
    Hypothesis found = {"", {result.tokens, result.tokens + result.n_tokens}, {}, result.score};
    if (session->info.has_detokenizer != 0) status = detokenize(session->engine, result, &found.text);
    const size_t n_source = session->job.attention ? sentence->source.size() : 0;
    found.attention.resize(n_source * result.n_tokens);
    for (uint32_t token = 0; n_source > 0 && token < result.n_tokens && status >= 0; ++token) {
      const goldcrest_alignment wanted = {index, rank, token, -1, -1};
      status = goldcrest_get_alignment(session->engine, &wanted, &found.attention[token * n_source], n_source);
    }
    if (status < 0) return status;
    sentence->found.push_back(std::move(found));
  }
  return GOLDCREST_OK;
}

// A bounded amount of work at the search. Returns DONE behind the last sentence.
int64_t search_some(goldcrest_session* session) {
  Job& job = session->job;
  if (!job.is_ordered) order_sentences(&job);
  if (job.n_batch == 0) return job.n_done == job.order.size() ? int64_t{GOLDCREST_DONE} : store_batch(session);
  if (job.status != GOLDCREST_DONE) return std::min<int64_t>(job.status = goldcrest_step(session->engine, nullptr), 0);
  const int64_t status = collect(session, static_cast<uint32_t>(job.n_in), job.order[job.n_done + job.n_in]);
  if (++job.n_in == job.n_batch) {
    job.n_done += job.n_batch;
    job.n_batch = job.n_in = 0;
  }
  return status;
}

// Sets *status to DONE if no work is left.
std::string work(goldcrest_session* session, double milliseconds, bool search, int64_t* status) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::milli> longest(milliseconds);
  std::string problem;
  do {
    const bool is_read = session->job.n_read == session->job.inputs.size();
    if (!is_read) problem = read_some(session);
    if (is_read) *status = search ? search_some(session) : int64_t{GOLDCREST_DONE};
    if (*status < 0) problem = describe_error(*status, session->detail);
  } while (problem.empty() && *status != GOLDCREST_DONE && std::chrono::steady_clock::now() - begin < longest);
  return problem;
}

std::string start(goldcrest_session* session, goldcrest_limits limits) {
  session->engine = nullptr;
  std::string problem = goldcrest::converter::limits_problem(session->info, limits);
  if (!problem.empty()) return session->path + ": " + problem;
  limits.threads = session->pool.threads();
  if (limits.batch > 1) limits.encoder_rows = std::min(1024u, session->info.limits.encoder_rows * limits.threads);
  goldcrest_config config = {};
  config.model = session->model.bytes();
  config.model_bytes = session->model.size();
  config.limits = limits;
  config.detail = &session->detail;
  config.parallel_for = session->pool.parallel_for();
  config.parallel_context = session->pool.context();
  goldcrest_memory* memory = &session->memory;
  int status =
      goldcrest_plan_memory(config.model, config.model_bytes, &limits, memory, nullptr, nullptr, config.detail);
  if (status < 0) return session->path + ": " + describe_error(status, session->detail);
  config.arena_bytes = static_cast<size_t>(memory->arena_bytes);
  session->arena.reset(std::aligned_alloc(GOLDCREST_ALIGN, config.arena_bytes));
  config.arena = session->arena.get();
  if (!session->arena)
    return session->path + ": no memory for an arena of " + std::to_string(config.arena_bytes) + " bytes";
  status = goldcrest_init(&session->engine, &config);
  if (status < 0) session->engine = nullptr;
  return status < 0 ? session->path + ": " + describe_error(status, session->detail) : "";
}

std::string open(goldcrest_session* session, const char* path, uint32_t threads) {
  session->path = path;
  std::string problem = session->model.open(path);
  if (problem.empty()) problem = session->pool.start(threads);
  if (!problem.empty()) return problem;
  const MappedFile& file = session->model;
  const int known = goldcrest_model_info(file.bytes(), file.size(), &session->info, &session->detail);
  if (known < 0) return session->path + ": " + describe_model_error(known, session->detail, file.bytes(), file.size());
  session->abbreviations = abbreviations_of(session->info.source_language);
  return "";
}

}  // namespace

extern "C" {

struct goldcrest_python_part {
  const char *space, *text;  // the space before the sentence; the hypothesis
  size_t space_bytes, text_bytes;
  const int32_t *source, *ids;  // of the sentence; of the hypothesis, no ids if there is none of this rank
  size_t n_source, n_ids;
  const float* attention;  // [n_ids][n_source], or null
  float score;
};

// The sizes of the structs that the package declares again. It compares them at import.
size_t goldcrest_python_size(int index) {
  const size_t sizes[] = {sizeof(goldcrest_limits),     sizeof(goldcrest_search), sizeof(goldcrest_info),
                          sizeof(goldcrest_memory),     sizeof(goldcrest_buffer), sizeof(goldcrest_result),
                          sizeof(goldcrest_python_part)};
  return index >= 0 && static_cast<size_t>(index) < sizeof sizes / sizeof *sizes ? sizes[index] : 0;
}

// Maps a model and starts threads (0: one for each CPU). Returns null without memory; otherwise the session has a
// message if it is of no use.
goldcrest_session* goldcrest_python_open(const char* path, uint32_t threads) {
  auto* session = new (std::nothrow) goldcrest_session();
  if (session != nullptr) guard(session, [&] { return open(session, path, threads); });
  return session;
}

// Plans an arena for the limits and starts an engine in it; an earlier engine ends. Returns 0, or -1 after a message.
int goldcrest_python_start(goldcrest_session* session, const goldcrest_limits* limits) {
  return guard(session, [&] { return start(session, *limits); });
}

const char* goldcrest_python_version() { return GOLDCREST_VERSION; }
void goldcrest_python_close(goldcrest_session* session) { delete session; }
const char* goldcrest_python_message(const goldcrest_session* session) { return session->message.c_str(); }
goldcrest_engine* goldcrest_python_engine(const goldcrest_session* session) { return session->engine; }
const goldcrest_info* goldcrest_python_info(const goldcrest_session* session) { return &session->info; }
const goldcrest_memory* goldcrest_python_memory(const goldcrest_session* session) { return &session->memory; }
const void* goldcrest_python_model(const goldcrest_session* session) { return session->model.bytes(); }
bool goldcrest_python_takes_sentences(const goldcrest_session* session) {
  return takes_sentences(session->model.bytes());
}

// Chooses the languages of texts; null: the model's. Returns 0, or -1 after a message.
int goldcrest_python_languages(goldcrest_session* session, const char* source, const char* target) {
  return guard(session, [&]() -> std::string {
    const std::string problem = languages_problem(session->model.bytes(), session->model.size(),
                                                  source == nullptr ? "" : source, target == nullptr ? "" : target);
    if (!problem.empty()) return session->path + ": " + problem;
    const int status = goldcrest_set_languages(session->engine, source, target);
    return status < 0 ? session->path + ": " + describe_error(status, session->detail) : "";
  });
}

// Forgets the job before and any search, and begins a job.
void goldcrest_python_begin(goldcrest_session* session, uint32_t n_best, int attention) {
  goldcrest_reset(session->engine);
  session->job = Job();
  session->job.n_best = n_best;
  session->job.attention = attention != 0;
}

// Adds n bytes of text, or n ids if `mode` is kIds or kPrefix. Returns 0, or -1 after a message.
int goldcrest_python_add(goldcrest_session* session, const void* source, size_t n, int mode) {
  return guard(session, [&]() -> std::string {
    std::vector<Input>& inputs = session->job.inputs;
    if (mode != kPrefix) inputs.push_back({{}, mode, {}, {}, {}});
    const auto* ids = static_cast<const int32_t*>(source);
    if (mode == kPrefix) inputs.back().prefix.assign(ids, ids + n);
    if (mode == kIds) inputs.back().sentences.push_back({{}, {ids, ids + n}, {}, {}});
    if (mode < kIds) inputs.back().text.assign(static_cast<const char*>(source), n);
    return "";
  });
}

// Works at the job for some milliseconds; without `search` it only reads. Returns WORKING, DONE, or -1 after a message.
int goldcrest_python_work(goldcrest_session* session, double milliseconds, int search) {
  int64_t status = GOLDCREST_WORKING;
  if (guard(session, [&] { return work(session, milliseconds, search != 0, &status); }) != 0) return -1;
  return status == GOLDCREST_DONE ? GOLDCREST_DONE : GOLDCREST_WORKING;
}

// *part <- sentence `index` of an input and its hypothesis `rank`. Behind the last sentence: only the space at the end.
// Returns 1, or 0 behind the last sentence.
int goldcrest_python_sentence(const goldcrest_session* session, size_t n, size_t index, size_t rank,
                              goldcrest_python_part* part) {
  static const Hypothesis none = {};
  static const Sentence no_sentence = {};
  const Input& input = session->job.inputs[n];
  const bool is_end = index >= input.sentences.size();
  const Sentence& sentence = is_end ? no_sentence : input.sentences[index];
  const std::string& space = is_end ? input.end : sentence.space;
  const Hypothesis& found = rank < sentence.found.size() ? sentence.found[rank] : none;
  const float* attention = found.attention.empty() ? nullptr : found.attention.data();
  *part = {space.data(),     found.text.data(),      space.size(),     found.text.size(), sentence.source.data(),
           found.ids.data(), sentence.source.size(), found.ids.size(), attention,         found.score};
  return is_end ? 0 : 1;
}

// Leaves the text of a status, with the detail that the engine left, as the message.
void goldcrest_python_explain(goldcrest_session* session, int64_t status) {
  guard(session, [&] { return describe_error(status, session->detail); });
}

}  // extern "C"
