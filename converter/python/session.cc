// SPDX-License-Identifier: Apache-2.0
// The calls of the Python package before and between jobs: engine, languages, target texts as ids, a lexicon.
#include "session.h"
#include <algorithm>
#include <utility>
#include "goldcrest/decoding.h"
#include "goldcrest/image.h"
#include "goldcrest/languages.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/text_lines.h"

namespace {
// Limits that are refused leave the engine that runs as it is.
std::string start(goldcrest_session* session, const goldcrest_limits& limits) {
  std::string problem = goldcrest::limits_problem(session->info(), limits);
  if (problem.empty()) problem = session->start(session->options, limits);
  if (!problem.empty()) return session->path + ": " + problem;
  session->options.structure_only = true;  // the bytes are checked, or need no check
  return "";
}

std::string open(goldcrest_session* session, const char* path, uint32_t threads) {
  session->path = path;
  std::string problem = session->open(path, threads);
  if (!problem.empty()) return problem;
  problem = session->read_info();
  if (!problem.empty()) return session->path + ": " + problem;
  session->abbreviations = abbreviations_of(session->info().source_language);
  return "";
}

// *ids <- the fewest pieces of a target text.
std::string cut(goldcrest_session* session, const std::string& text, std::vector<int32_t>* ids) {
  ids->clear();
  const std::string problem = text_problem(text);
  if (!problem.empty()) return problem;
  if (!session->cutter) session->cutter.emplace(*session);
  return session->cutter->cut(text, ids);
}
}  // namespace

extern "C" {

// The sizes of the structs that the package declares again. It compares them at import.
size_t goldcrest_python_size(int index) {
  const size_t sizes[] = {sizeof(goldcrest_limits), sizeof(goldcrest_search), sizeof(goldcrest_info),
      sizeof(goldcrest_memory), sizeof(goldcrest_buffer), sizeof(goldcrest_python_job), sizeof(goldcrest_sampling),
      sizeof(goldcrest_sequences), sizeof(goldcrest_image)};
  return index >= 0 && static_cast<size_t>(index) < sizeof sizes / sizeof *sizes ? sizes[index] : 0;
}

// Maps a model and starts threads (0: one for each CPU). Returns null without memory; otherwise the session has a
// message if it is of no use.
goldcrest_session* goldcrest_python_open(const char* path, uint32_t threads) {
  auto* session = new (std::nothrow) goldcrest_session();
  if (session != nullptr) guard(session, [&] { return open(session, path, threads); });
  return session;
}

// Sets how engines of the session start: the name of a kernel table or null, words that end with a full stop or null,
// and flags: 1 low memory, 2 only the file's structure is checked, 4 and 8 unknown tokens are replaced or stay. Returns
// 0, or -1 after a message.
int goldcrest_python_configure(goldcrest_session* session, const char* kernels, const char* abbreviations, int flags) {
  return guard(session, [&]() -> std::string {
    session->options.low_memory = (flags & 1) != 0;
    session->options.structure_only = (flags & 2) != 0;
    if ((flags & 12) != 0) session->options.replace_unknowns = (flags & 4) != 0;
    session->options.kernels = kernels == nullptr ? "" : kernels;
    if (abbreviations != nullptr) session->abbreviations = abbreviations_in(abbreviations);
    return kernels_problem(session->options.kernels);
  });
}

// Plans an arena for the limits and starts an engine in it; an earlier engine ends. Returns 0, or -1 after a message.
int goldcrest_python_start(goldcrest_session* session, const goldcrest_limits* limits) {
  return guard(session, [&] { return start(session, *limits); });
}

const char* goldcrest_python_version() { return GOLDCREST_VERSION; }
void goldcrest_python_close(goldcrest_session* session) { delete session; }
const char* goldcrest_python_message(const goldcrest_session* session) { return session->message.c_str(); }
goldcrest_engine* goldcrest_python_engine(const goldcrest_session* session) { return session->engine(); }
const goldcrest_info* goldcrest_python_info(const goldcrest_session* session) { return &session->info(); }
const goldcrest_memory* goldcrest_python_memory(const goldcrest_session* session) { return &session->memory(); }
const void* goldcrest_python_model(const goldcrest_session* session) { return session->model(); }
bool goldcrest_python_takes_sentences(const goldcrest_session* session) { return session->takes_sentences(); }

// Leaves the text of a status, with the detail that the engine left, as the message.
void goldcrest_python_explain(goldcrest_session* session, int64_t status) {
  guard(session, [&] { return session->describe(status); });
}

// Moves the oldest warning to the message. Returns 1, or 0 if there is none.
int goldcrest_python_warning(goldcrest_session* session) {
  if (session->warnings.empty()) return 0;
  session->message = std::move(session->warnings.front());
  session->warnings.pop_front();
  return 1;
}

// Chooses the languages of texts; null: the model's. Returns 0, or -1 after a message.
int goldcrest_python_languages(goldcrest_session* session, const char* source, const char* target) {
  return guard(session, [&]() -> std::string {
    const std::string source_code = source == nullptr ? "" : source, target_code = target == nullptr ? "" : target;
    const std::string problem = languages_problem(*session, source_code, target_code);
    if (!problem.empty()) return session->path + ": " + problem;
    const int status = goldcrest_set_languages(session->engine(), source, target);
    if (status < 0) return session->path + ": " + session->describe(status);
    session->missing_language = missing_language(*session, source_code, target_code);
    session->has_code = target != nullptr && session->traits().has_codes != 0;
    return "";
  });
}

// *ids <- the ids of a target text, until the next such call, or with a `language` those of a speech model's prompt for
// it. Returns their number, or -1 after a message.
int64_t goldcrest_python_cut(
    goldcrest_session* session, const char* text, size_t n, int language, const int32_t** ids) {
  const int status = guard(session, [&]() -> std::string {
    const std::string whole(text, n);
    if (language == 0) return cut(session, whole, &session->cut);
    TaskPrompt prompt;
    const std::string problem = task_prompt(*session, {whole}, &prompt);
    session->cut = prompt.ids;
    return problem.empty() && !prompt.languages.empty() ? "language: expected one" : problem;
  });
  *ids = session->cut.data();
  return status < 0 ? -1 : static_cast<int64_t>(session->cut.size());
}

// Sets what the texts that follow keep. 0: nothing, and no terms; 1: placeholders and addresses; 2: what the pattern
// matches; 3: a line of a glossary. Returns 0, or -1 after a message.
int goldcrest_python_keep(goldcrest_session* session, int what, const char* text) {
  return guard(session, [&]() -> std::string {
    if (what == 0) session->keep = {}, session->glossary.reset();
    if (what == 1) session->keep.add_built_in();
    if (what == 2) return session->keep.add(text);
    if (what != 3) return "";
    if (!session->cutter) session->cutter.emplace(*session);
    if (!session->glossary) session->glossary.emplace(*session, *session->cutter);
    return session->glossary->add(text);
  });
}

// Adds n ids, or n bytes of text if is_text, to the entries of a lexicon; a blank text adds nothing. Returns 0, or -1
// after a message.
int goldcrest_python_entry(goldcrest_session* session, const void* entry, size_t n, int is_text) {
  return guard(session, [&]() -> std::string {
    std::vector<int32_t> ids;
    const auto* given = static_cast<const int32_t*>(entry);
    const std::string text(static_cast<const char*>(entry), is_text != 0 ? n : 0);
    if (is_text != 0 && is_blank(text)) return "";
    if (is_text == 0) ids.assign(given, given + n);
    for (const int32_t id : ids)
      if (id < 0 || static_cast<uint32_t>(id) >= session->info().target_vocab_size)
        return "id " + std::to_string(id) + " is outside the vocabulary of " +
               std::to_string(session->info().target_vocab_size);
    const std::string problem = is_text != 0 ? cut(session, text, &ids) : "";
    if (problem.empty()) session->entries.push_back(std::move(ids));
    return problem;
  });
}

// Makes a lexicon of the entries. Returns 0, or -1 after a message.
int goldcrest_python_lexicon(goldcrest_session* session, int words) {
  return guard(session, [&]() -> std::string {
    if (session->entries.empty()) return "no entries";
    session->lexicon = goldcrest::make_lexicon(std::exchange(session->entries, {}), words != 0);
    return "";
  });
}

// Returns the limit max_candidates of an engine that keeps to the lexicon with this beam size.
uint32_t goldcrest_python_candidates(const goldcrest_session* session, uint32_t beam_size) {
  return goldcrest::lexicon_candidates(session->lexicon, beam_size, session->info().target_vocab_size);
}

// Restricts the engine's results to the lexicon. Returns a status.
int goldcrest_python_restrict(const goldcrest_session* session) {
  const goldcrest_lexicon lexicon = session->lexicon.view();
  return goldcrest_set_lexicon(session->engine(), &lexicon);
}

}  // extern "C"
