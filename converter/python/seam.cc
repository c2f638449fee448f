// SPDX-License-Identifier: Apache-2.0
// The seam between the Python package and the programs' code. The package calls the C API for everything else. No
// exception crosses it. A call that returns -1 leaves a message in the session.
//
// A job is a list of texts or ids: goldcrest_python_begin, _add for each, _work until it is done, then _sentence. Each
// call of _work takes some milliseconds, so that Python sees Ctrl-C.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "host/id_list.h"
#include "host/messages.h"
#include "host/model_languages.h"
#include "host/wav.h"
#include "session.h"
#include "transcribe/utterances.h"

namespace {

using Clock = std::chrono::steady_clock;

// A code that the vocabulary lacks is text of the first sentence.
void start_reading(goldcrest_session* session, const std::string& text, bool has_code) {
  size_t n_code = has_code ? goldcrest::leading_language_code(text).size() : 0;
  while (n_code > 0 && n_code < text.size() && text[n_code] == ' ') ++n_code;
  const uint32_t most = session->memory().limits.max_source_bytes;
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
  Sentence sentence;
  sentence.space = space;
  int status = GOLDCREST_ERROR_TOO_LONG;
  do {
    const std::string text = job.reading->code + std::string(reader.sentence(), reader.bytes());
    status = session->tokenize(text, &sentence.source, &sentence.pieces);
  } while (status == GOLDCREST_ERROR_TOO_LONG && reader.shorten());
  if (status == GOLDCREST_ERROR_ARGUMENT) job.reading->no_tokens = session->describe(status);
  if (status < 0 && status != GOLDCREST_ERROR_ARGUMENT) return session->describe(status);
  input.sentences.push_back(std::move(sentence));
  return "";
}

// Returns "text 3: ": where a message about an input belongs; nothing if the job has only this input.
std::string place_of(const Job& job, size_t input) {
  return job.inputs.size() > 1 ? "text " + std::to_string(input + 1) + ": " : "";
}

// Leaves a problem to its input, if the job goes on without it. Otherwise returns the problem with its place.
std::string refuse(Job* job, size_t input, const std::string& problem) {
  if (problem.empty() || job->options.keeps_going == 0) return problem.empty() ? "" : place_of(*job, input) + problem;
  job->inputs[input].problem = problem;
  return "";
}

// Warns once of a source of ids without the model's end.
void check_end(goldcrest_session* session, const Sentence& sentence) {
  const Job& job = session->job;
  if (session->has_warned_of_end || job.inputs[sentence.input].mode != kIds) return;
  const std::string warning = goldcrest::missing_end(sentence.source, session->source_end());
  session->has_warned_of_end = !warning.empty();
  if (!warning.empty()) session->warnings.push_back(place_of(job, sentence.input) + warning);
}

std::string read_some(goldcrest_session* session) {
  Job& job = session->job;
  if (job.reading) return read_sentence(session);
  const size_t index = job.n_read;
  Input& input = job.inputs[index];
  const bool is_known = input.mode == kIds || !input.problem.empty();
  if (is_known) ++job.n_read;
  if (is_known) return "";
  const bool is_nothing = input.mode != kTokens && is_blank(input.text);
  std::string problem = is_nothing ? "" : text_problem(input.text);
  if (!is_nothing && problem.empty()) problem = session->missing_language;
  const bool is_read = is_nothing || !problem.empty();
  const std::string warning = is_read ? "" : code_warning(session, session->has_code, input.text);
  if (!warning.empty()) session->warnings.push_back(place_of(job, index) + warning);
  if (!is_read && input.mode == kSentences) {
    start_reading(session, input.text, warning.empty());
    return "";
  }
  ++job.n_read;
  if (is_read) return problem;
  input.sentences.emplace_back();
  Sentence& sentence = input.sentences.back();
  const int status = session->tokenize(input.text, &sentence.source, &sentence.pieces);
  return status < 0 ? session->describe(status) : "";
}

void order_sentences(Job* job) {
  uint32_t stream = 0;
  for (size_t i = 0; i < job->inputs.size(); ++i) {
    Input& input = job->inputs[i];
    if (!input.problem.empty()) {
      ++stream;  // It would have a sentence: the streams of the others do not depend on its refusal.
      continue;
    }
    for (Sentence& sentence : input.sentences) {
      sentence.input = i;
      sentence.stream = stream++;
      if (!sentence.source.empty()) job->order.push_back(&sentence);
    }
  }
  std::stable_sort(job->order.begin(), job->order.end(),
                   [](const Sentence* a, const Sentence* b) { return a->source.size() > b->source.size(); });
  job->is_ordered = true;
}

// Stores sentence `index` of a batch with its prefix or target, and its stream.
int store(goldcrest_session* session, uint32_t index, const Sentence& sentence) {
  const goldcrest_python_job& options = session->job.options;
  const std::vector<int32_t>&ids = sentence.source, &target = session->job.inputs[sentence.input].target;
  int status = (index == 0 ? goldcrest_begin : goldcrest_add)(session->engine(), ids.data(), ids.size());
  if (status >= 0 && options.scores_targets != 0)
    status = goldcrest_score(session->engine(), index, target.data(), target.size());
  else if (status >= 0 && !target.empty())
    status = goldcrest_set_prefix(session->engine(), index, target.data(), target.size(), options.prefix_flags);
  if (status >= 0 && options.streams != 0) status = goldcrest_set_stream(session->engine(), index, sentence.stream);
  return std::min(status, 0);  // success is an index
}

// Stores the next batch. If a sentence is refused, there is none yet: the next call stores it without that sentence.
std::string store_batch(goldcrest_session* session) {
  Job& job = session->job;
  const auto n = static_cast<uint32_t>(std::min<size_t>(session->memory().limits.batch, job.order.size() - job.n_done));
  const auto first = job.order.begin() + static_cast<ptrdiff_t>(job.n_done);
  job.batch_begin = Clock::now();
  for (uint32_t i = 0; i < n; ++i) {
    const Sentence& sentence = *first[i];
    const int status = store(session, i, sentence);
    if (status >= 0) check_end(session, sentence);
    if (status >= 0) continue;
    job.order.erase(first + i);
    return refuse(&job, sentence.input, session->describe(status));
  }
  job.n_batch = n;
  job.status = GOLDCREST_WORKING;
  job.is_stopped = false;
  return "";
}

// Keeps the tokens of a search that the deadline stopped which no further step would change.
int64_t collect_certain(goldcrest_session* session, uint32_t index, Sentence* sentence) {
  Hypothesis found = {"", session->agreed_tokens(index), {}, {}, 0, 0};
  char seconds[64];
  std::snprintf(seconds, sizeof seconds, "stopped after %g s (deadline); its end is missing",
                session->job.options.deadline);
  session->warnings.push_back(place_of(session->job, sentence->input) + seconds);
  const bool has_text = session->info().has_detokenizer != 0;
  const int64_t status =
      has_text ? session->append_text(found.ids.data(), found.ids.size(), &found.text) : int64_t{GOLDCREST_OK};
  sentence->found.push_back(std::move(found));
  return status;
}

std::string cut_problem(const goldcrest_session& session, const goldcrest_result& result) {
  return goldcrest::cut_problem(session.info(), session.memory().limits, result.n_tokens);
}

int64_t collect(goldcrest_session* session, uint32_t index, Sentence* sentence) {
  const goldcrest_python_job& options = session->job.options;
  for (uint32_t rank = 0; rank < options.n_best; ++rank) {
    goldcrest_result result = {};
    int64_t status = goldcrest_get_result(session->engine(), index, rank, &result);
    if (status < 0 && rank > 0) break;  // there may be fewer than n_best
    if (status < 0) return status;
    const float score = options.scores_targets != 0 ? result.log_prob : result.score;
    Hypothesis found = {"", {result.tokens, result.tokens + result.n_tokens}, {}, {}, score, result.was_cut};
    if (result.was_cut != 0 && rank == 0 && options.keeps_going == 0)
      session->warnings.push_back(place_of(session->job, sentence->input) + "a text is " +
                                  cut_problem(*session, result));
    if (session->info().has_detokenizer != 0)
      status = session->append_result(index, rank, sentence->pieces, &found.text);
    const float* log_probs = result.token_log_probs;
    if (options.token_scores != 0) found.token_log_probs.assign(log_probs, log_probs + result.n_tokens);
    const size_t n_source = options.attention != 0 ? sentence->source.size() : 0;
    found.attention.resize(n_source * result.n_tokens);
    for (uint32_t token = 0; n_source > 0 && token < result.n_tokens && status >= 0; ++token) {
      const goldcrest_alignment wanted = {index, rank, token, options.attention_layer, options.attention_head};
      status = goldcrest_get_alignment(session->engine(), &wanted, &found.attention[token * n_source], n_source);
    }
    if (status < 0) return status;
    sentence->found.push_back(std::move(found));
  }
  return GOLDCREST_OK;
}

// A bounded amount of work at the search. *is_done <- whether no sentence is left.
std::string search_some(goldcrest_session* session, bool* is_done) {
  Job& job = session->job;
  if (!job.is_ordered) order_sentences(&job);
  *is_done = job.n_batch == 0 && job.n_done == job.order.size();
  if (*is_done) return "";
  if (job.n_batch == 0) return store_batch(session);
  if (job.status != GOLDCREST_DONE) {
    const std::chrono::duration<double> longest(job.options.deadline);
    job.is_stopped = job.options.deadline > 0 && Clock::now() - job.batch_begin >= longest;
    job.status = job.is_stopped ? int{GOLDCREST_DONE} : goldcrest_step(session->engine(), nullptr);
    return job.status < 0 ? session->describe(job.status) : "";
  }
  Sentence* sentence = job.order[job.n_done + job.n_in];
  const int64_t status =
      (job.is_stopped ? collect_certain : collect)(session, static_cast<uint32_t>(job.n_in), sentence);
  if (++job.n_in == job.n_batch) {
    job.n_done += job.n_batch;
    job.n_batch = job.n_in = 0;
  }
  return status < 0 ? refuse(&job, sentence->input, session->describe(status)) : "";
}

// *is_done <- whether no work is left.
std::string work(goldcrest_session* session, double milliseconds, bool search, bool* is_done) {
  const auto begin = Clock::now();
  const std::chrono::duration<double, std::milli> longest(milliseconds);
  std::string problem;
  do {
    const size_t n_read = session->job.n_read;
    const bool is_read = n_read == session->job.inputs.size();
    if (!is_read) problem = refuse(&session->job, n_read, read_some(session));
    if (is_read && search) problem = search_some(session, is_done);
    if (is_read && !search) *is_done = true;
  } while (problem.empty() && !*is_done && Clock::now() - begin < longest);
  return problem;
}

}  // namespace

extern "C" {

struct goldcrest_python_part {
  const char *space, *text;  // the space before the sentence; the hypothesis
  size_t space_bytes, text_bytes;
  const int32_t *source, *ids;  // of the sentence; of the hypothesis, no ids if there is none of this rank
  size_t n_source, n_ids;
  const float *attention, *token_log_probs;  // [n_ids][n_source], [n_ids]; null if the job does not ask for them
  const char* problem;                       // the input's error, if the job went on without it
  float score;
  uint32_t was_cut;  // a limit of tokens ended the hypothesis
};

size_t goldcrest_python_part_size() { return sizeof(goldcrest_python_part); }

// *samples <- those of a WAV file at the model's rate, until the next call. Returns how many, or -1 after a message.
int64_t goldcrest_python_read_wav(goldcrest_session* session, const char* path, const int16_t** samples) {
  const auto read = [&] {
    const std::string problem = goldcrest::host::read_wav(path, session->info().sample_rate, &session->clip);
    return problem.empty() ? problem : path + (": " + problem);
  };
  if (guard(session, read) != 0) return -1;
  *samples = session->clip.data();
  return static_cast<int64_t>(session->clip.size());
}

// Leaves why a limit cut the text of the search that is done as the message. Returns 1, or 0 if no limit did.
int goldcrest_python_was_cut(goldcrest_session* session) {
  goldcrest_result result = {};
  if (goldcrest_get_result(session->engine(), 0, 0, &result) < 0 || result.was_cut == 0) return 0;
  guard(session, [&] { return cut_problem(*session, result); });
  return 1;
}

// Returns whether the voice gate of goldcrest-transcribe hears speech.
bool goldcrest_python_has_speech(const goldcrest_session* session, const int16_t* samples, size_t n) {
  return has_speech(samples, n, session->info().sample_rate);
}

// Forgets the job before and any search, and begins a job.
void goldcrest_python_begin(goldcrest_session* session, const goldcrest_python_job* options) {
  goldcrest_reset(session->engine());
  session->warnings.clear();
  session->job = Job();
  session->job.options = *options;
}

// Adds n bytes of text, or n ids if `mode` is kIds or kTarget. Returns 0, or -1 after a message.
int goldcrest_python_add(goldcrest_session* session, const void* source, size_t n, int mode) {
  return guard(session, [&]() -> std::string {
    std::vector<Input>& inputs = session->job.inputs;
    if (mode != kTarget) inputs.emplace_back().mode = mode;
    const auto* ids = static_cast<const int32_t*>(source);
    if (mode == kTarget) inputs.back().target.assign(ids, ids + n);
    if (mode == kIds && n > 0) inputs.back().sentences.emplace_back().source.assign(ids, ids + n);
    if (mode < kIds) inputs.back().text = without_soft_hyphens({static_cast<const char*>(source), n});
    return "";
  });
}

// Leaves a message of Python to input `index`, the last one or one that is not added, of a job that keeps going.
// Returns 0, or -1 after a message.
int goldcrest_python_refuse(goldcrest_session* session, size_t index, const char* problem) {
  return guard(session, [&] {
    session->job.inputs.resize(index + 1);
    return refuse(&session->job, index, problem);
  });
}

// Works at the job for some milliseconds; without `search` it only reads. Returns WORKING, DONE, or -1 after a message.
int goldcrest_python_work(goldcrest_session* session, double milliseconds, int search) {
  bool is_done = false;
  if (guard(session, [&] { return work(session, milliseconds, search != 0, &is_done); }) != 0) return -1;
  return is_done ? GOLDCREST_DONE : GOLDCREST_WORKING;
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
  const float* log_probs = found.token_log_probs.empty() ? nullptr : found.token_log_probs.data();
  const char* problem = input.problem.empty() ? nullptr : input.problem.c_str();
  *part = {space.data(),
           found.text.data(),
           space.size(),
           found.text.size(),
           sentence.source.data(),
           found.ids.data(),
           sentence.source.size(),
           found.ids.size(),
           attention,
           log_probs,
           problem,
           found.score,
           found.was_cut};
  return is_end ? 0 : 1;
}

}  // extern "C"
