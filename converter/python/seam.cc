// SPDX-License-Identifier: Apache-2.0
// The seam between the Python package and the programs' code. The package calls the C API for everything else. No
// exception crosses it. A call that returns -1 leaves a message in the session.
//
// A job is a list of texts or ids: goldcrest_python_begin, _add for each, _work until it is done, then _sentence. Each
// call of _work takes some milliseconds, so that Python sees Ctrl-C.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include "goldcrest/decoding.h"
#include "host/marks/html.h"
#include "host/messages.h"
#include "host/speech/utterances.h"
#include "host/speech/wav.h"
#include "host/text_lines.h"
#include "session.h"

namespace {
using goldcrest::host::Sentence;

// Reads a sentence as goldcrest-translate does. At the end of the text, goes to the next input.
std::string read_sentence(goldcrest_session* session) {
  Job& job = session->job;
  Input& input = job.inputs[job.n_read];
  Sentence sentence;
  int status = GOLDCREST_OK;
  if (!job.reading->reader.next(session, &sentence, &status)) {
    const auto is_empty = [](const Sentence& read) { return read.source.empty(); };
    const bool has_tokens = !std::all_of(input.sentences.begin(), input.sentences.end(), is_empty);
    const std::string problem = has_tokens ? "" : job.reading->no_tokens;
    input.end = sentence.space;
    job.reading.reset();
    ++job.n_read;
    return problem;
  }
  if (status == GOLDCREST_ERROR_ARGUMENT) job.reading->no_tokens = session->describe(status);
  if (status < 0 && status != GOLDCREST_ERROR_ARGUMENT) return session->describe(status);
  if (input.marked && input.marked->is_kept(sentence.begin, sentence.bytes)) sentence.source.clear();
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

std::string cut_problem(const goldcrest_session& session, size_t n) {
  return goldcrest::cut_problem(session.info(), session.memory().limits, static_cast<uint32_t>(n));
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
  if (!is_read && input.mode == kSentences) {  // a code that the vocabulary lacks is text of the first sentence
    job.reading = Reading{{*session, input.text, session->abbreviations, warning.empty()}, ""};
    return "";
  }
  ++job.n_read;
  if (is_read) return problem;
  input.sentences.emplace_back();
  Sentence& sentence = input.sentences.back();
  sentence.bytes = input.text.size();
  const int status = session->tokenize(input.text, &sentence.source, &sentence.pieces);
  return status < 0 ? session->describe(status) : "";
}

// Lets a search place marks, and repeat what lacks a term.
void mark(goldcrest_session* session, goldcrest::host::SentenceSearch::Options* options) {
  options->aligns = [session](const Sentence& sentence) {
    const goldcrest::host::MarkedText& text = *session->job.inputs[sentence.input].marked;
    return text.has_marks(sentence.begin, sentence.bytes) ||
           (session->glossary && session->glossary->has_mistake(text, sentence));
  };
  options->attention_layer = options->attention_head = -1;
  if (!session->glossary) return;
  options->search = session->job.options.search;
  options->prefix_flags = goldcrest::host::Glossary::kPrefixFlags;
  options->sequences = session->job.options.sequences;
  options->again = [session](Sentence* sentence) {
    return session->glossary->wants_again(&*session->job.inputs[sentence->input].marked, sentence);
  };
}

void begin_search(goldcrest_session* session) {
  Job& job = session->job;
  const goldcrest_python_job& o = job.options;
  const bool scores = o.token_scores != 0, scores_targets = o.scores_targets != 0, has_streams = o.streams != 0;
  std::vector<Sentence*> order;
  uint32_t stream = 0;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    Input& input = job.inputs[i];
    // One that is refused would have a sentence: the streams of the others do not depend on that.
    if (!input.problem.empty()) ++stream;
    if (!input.problem.empty()) continue;
    for (Sentence& sentence : input.sentences) {
      sentence.input = i;
      sentence.stream = stream++;
      sentence.target = input.target;
      order.push_back(&sentence);
    }
  }
  goldcrest::host::SentenceSearch::Options options = {o.n_best, true, scores, scores_targets, o.attention != 0,
      o.attention_layer, o.attention_head, o.prefix_flags, has_streams, o.deadline};
  if (!job.inputs.empty() && job.inputs[0].marked) mark(session, &options);
  job.search.emplace();
  job.search->begin(options, std::move(order));
}

// A bounded amount of work at the search. *is_done <- whether no sentence is left.
std::string search_some(goldcrest_session* session, bool* is_done) {
  Job& job = session->job;
  if (!job.search) begin_search(session);
  *is_done = job.search->is_done();
  const Sentence* const sentence = *is_done ? nullptr : job.search->work(session);
  if (sentence == nullptr) return "";
  if (!sentence->problem.empty()) return refuse(&job, sentence->input, sentence->problem);
  check_end(session, *sentence);
  char seconds[64];
  std::snprintf(seconds, sizeof seconds, "stopped after %g s (deadline); its end is missing", job.options.deadline);
  const goldcrest::host::Found& best = sentence->found[0];
  if (sentence->is_stopped) session->warnings.push_back(place_of(job, sentence->input) + seconds);
  if (best.was_cut && job.options.keeps_going == 0)
    session->warnings.push_back(place_of(job, sentence->input) + "a text is " + cut_problem(*session, best.ids.size()));
  return "";
}

// *is_done <- whether no work is left.
std::string work(goldcrest_session* session, double milliseconds, bool search, bool* is_done) {
  using Clock = std::chrono::steady_clock;
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
  const int32_t *source, *ids;  // the sentence's; the hypothesis', no ids if there is none of this rank
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
  guard(session, [&] { return cut_problem(*session, result.n_tokens); });
  return 1;
}

// Returns whether goldcrest-transcribe hears speech: the file's detector decides, without a detector loudness.
bool goldcrest_python_has_speech(const goldcrest_session* session, const int16_t* samples, size_t n) {
  goldcrest_voice voice;
  const uint32_t rate = session->info().sample_rate;
  if (goldcrest_voice_begin(&voice, session->engine()) < 0) return has_speech(samples, n, rate);
  UtteranceCutter cutter({rate, n, true, &voice});
  cutter.push(samples, n);
  cutter.finish();
  Utterance found;
  return cutter.next(&found);
}

// Adds the texts of a document, or a text, with marks. Returns how many.
static int add_marked(goldcrest_session* session, std::string_view source, int mode) {
  goldcrest::host::MarkedText text = {{}, without_soft_hyphens(std::string(source)), {}};
  goldcrest::host::HtmlReader reader;
  const bool is_html = (mode & kHtml) != 0;
  if (is_html) reader.push(source), reader.finish();
  const size_t n_before = session->job.inputs.size();
  for (bool has_text = !is_html || reader.next(&text); has_text; has_text = is_html && reader.next(&text)) {
    goldcrest::host::put_stand_ins(session->keep, &text);
    Input& input = session->job.inputs.emplace_back();
    input.mode = mode & kSentences;
    input.text = text.text;
    input.marked = std::move(text);
  }
  if (reader.n_problems() > 0)
    session->warnings.push_back(
        "not well-formed in " + std::to_string(reader.n_problems()) + " places: " + reader.first_problem());
  return static_cast<int>(session->job.inputs.size() - n_before);
}

// session->joined <- the result of an input with marks.
static void join_marked(goldcrest_session* session, const Input& input) {
  goldcrest::host::MarkWriter writer(*input.marked);
  session->joined.clear();
  for (const Sentence& sentence : input.sentences) writer.add(sentence, &session->joined);
  writer.finish(&session->joined);
  if (writer.n_unplaced() > 0)
    session->warnings.push_back(std::to_string(writer.n_unplaced()) +
                                " tags or kept texts belong to no word of a "
                                "translation; they stand at the end of their sentences");
}

// Forgets the job before and any search, and begins a job.
void goldcrest_python_begin(goldcrest_session* session, const goldcrest_python_job* options) {
  goldcrest_reset(session->engine());
  session->warnings.clear();
  session->job = Job();
  session->job.options = *options;
}

// Adds n bytes of text, or n ids if `mode` is kIds or kTarget. Returns 0, with marks the number of inputs that this
// gives, or -1 after a message.
int goldcrest_python_add(goldcrest_session* session, const void* source, size_t n, int mode) {
  int n_inputs = 0;
  const int status = guard(session, [&]() -> std::string {
    std::vector<Input>& inputs = session->job.inputs;
    if (mode >= kMarks) n_inputs = add_marked(session, {static_cast<const char*>(source), n}, mode);
    if (mode >= kMarks) return "";
    if (mode != kTarget) inputs.emplace_back().mode = mode;
    const auto* ids = static_cast<const int32_t*>(source);
    if (mode == kTarget) inputs.back().target.assign(ids, ids + n);
    if (mode == kIds && n > 0) inputs.back().sentences.emplace_back().source.assign(ids, ids + n);
    if (mode < kIds) inputs.back().text = without_soft_hyphens({static_cast<const char*>(source), n});
    return "";
  });
  return status < 0 ? status : n_inputs;
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

// The share of the job's sentences whose search is done.
double goldcrest_python_share(const goldcrest_session* s) { return s->job.search ? s->job.search->share_done() : 0; }

// *part <- sentence `index` of an input and its hypothesis `rank`. After the last sentence: only the space at the end.
// With marks, the input's whole text is that of sentence 0. Returns 1, or 0 after the last sentence.
int goldcrest_python_sentence(
    goldcrest_session* session, size_t n, size_t index, size_t rank, goldcrest_python_part* part) {
  static const goldcrest::host::Found none = {};
  static const Sentence no_sentence = {};
  const Input& input = session->job.inputs[n];
  if (input.marked) {
    const bool is_first = index == 0;
    if (is_first) join_marked(session, input);
    *part = {"", session->joined.data(), 0, is_first ? session->joined.size() : 0, nullptr, nullptr, 0, 0, nullptr,
        nullptr, nullptr, 0, 0};
    return is_first ? 1 : 0;
  }
  const bool is_end = index >= input.sentences.size();
  const Sentence& sentence = is_end ? no_sentence : input.sentences[index];
  const std::string& space = is_end ? input.end : sentence.space;
  const goldcrest::host::Found& found = rank < sentence.found.size() ? sentence.found[rank] : none;
  const float* attention = found.attention.empty() ? nullptr : found.attention.data();
  const float* log_probs = found.token_log_probs.empty() ? nullptr : found.token_log_probs.data();
  const char* problem = input.problem.empty() ? nullptr : input.problem.c_str();
  *part = {space.data(), found.text.data(), space.size(), found.text.size(), sentence.source.data(), found.ids.data(),
      sentence.source.size(), found.ids.size(), attention, log_probs, problem,
      session->job.options.scores_targets != 0 ? found.log_prob : found.score, found.was_cut ? 1u : 0u};
  return is_end ? 0 : 1;
}

}  // extern "C"
