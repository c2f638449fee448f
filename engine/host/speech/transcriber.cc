// SPDX-License-Identifier: Apache-2.0
#include "host/speech/transcriber.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "goldcrest/speech.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/text_lines.h"

namespace {
constexpr uint32_t kLeastWindowRows = 750;

// A text that is less likely, or whose last ids repeat themselves more, is doubtful.     openai/whisper, whisper.cpp
constexpr double kLeastLogprob = -1.0, kLeastEntropy = 2.4;
constexpr double kMostNoSpeech = 0.6;  // openai/whisper
constexpr size_t kEntropyTokens = 32;
constexpr double kTemperatures[] = {0.2, 0.4, 0.6, 0.8, 1.0};
constexpr uint32_t kMostSampled = 64;  // ids that a token is drawn of
constexpr uint32_t kDraftRows = 8;     // ids of a partial text, or of one that is scored, that are checked at once

// Returns the entropy of the last ids in nats; that of a text without repetitions if there are fewer.
double entropy_of(const std::vector<int32_t>& tokens, size_t n) {
  if (n <= kEntropyTokens) return std::log(static_cast<double>(kEntropyTokens));
  std::map<int32_t, double> counts;
  for (size_t i = n - kEntropyTokens; i < n; ++i) counts[tokens[i]] += 1.0 / kEntropyTokens;
  double entropy = 0;
  for (const auto& [token, share] : counts) entropy -= share * std::log(share);
  return entropy;
}

double mean_log_prob(const goldcrest_result& result) {
  return static_cast<double>(result.log_prob) / std::max(1u, result.n_tokens - result.n_prefix);
}
}  // namespace

void drop_instants(Transcription* made) {
  const auto is_instant = [](const Segment& segment) { return segment.end <= segment.begin; };
  const auto end = std::remove_if(made->segments.begin(), made->segments.end(), is_instant);
  if (end == made->segments.end()) return;
  made->segments.erase(end, made->segments.end());
  made->text.clear();
  for (const Segment& segment : made->segments) made->text += segment.text;
}

// Turns seconds into encoder rows.
std::string Transcriber::set_limits() {
  goldcrest_limits& limits = options_.limits;
  const uint64_t first =
      session_.info().fixed_window != 0 ? session_.info().row_samples : session_.info().first_row_samples;
  if (options_.max_seconds > 0) {
    const uint64_t samples = static_cast<uint64_t>(options_.max_seconds * session_.info().sample_rate);
    if (samples < first) return "--max-seconds: less than the model's first row takes";
    const uint64_t rows = (samples - first) / session_.info().row_samples + 1;
    limits.max_source_tokens = static_cast<uint32_t>(std::min<uint64_t>(rows, session_.info().max_source_positions));
  }
  const uint64_t rows =
      limits.max_source_tokens > 0 ? limits.max_source_tokens : session_.info().limits.max_source_tokens;
  max_samples_ = static_cast<size_t>(first + (rows - 1) * session_.info().row_samples);
  return goldcrest::limits_problem(session_.info(), limits);
}

std::string Transcriber::start() {
  std::string problem = session_.open(options_.model, options_.limits.threads);
  if (problem.empty()) problem = kernels_problem(options_.kernels);
  if (problem.empty()) problem = session_.read_info();
  if (!problem.empty()) return problem;
  if (session_.info().sample_rate == 0) return "the model takes no samples; goldcrest-translate runs models of text";
  if (!session_.info().has_detokenizer) return "the model has no detokenizer, so its tokens have no text";
  const uint32_t most = options_.limits.max_target_tokens != 0 ? options_.limits.max_target_tokens
                                                               : session_.info().limits.max_target_tokens;
  most_context_ = most < 4 ? 0 : most / 2 - 1;  // as in openai/whisper, the other half is for the text
  const bool wants_context = !options_.prompt.empty() || options_.reads_last_text;
  if (!options_.language.empty() || options_.translates || wants_context)
    problem = task_prompt(session_, {options_.language, options_.translates}, &task_);
  entries_ = speech_entries(session_);
  if (problem.empty() && wants_context && entries_.previous < 0)
    problem =
        "--prompt: the file has no entry <|startofprev|>, which stands before a prompt; only Whispers read prompts";
  if (problem.empty()) problem = set_prompt(options_.prompt);
  if (problem.empty() && !options_.key_terms.empty()) problem = key_terms_.read(options_.key_terms, session_);
  if (problem.empty() && !options_.phrases.empty()) problem = phrases_.read(options_.phrases, session_);
  if (problem.empty() && !phrases_.empty()) {
    options_.limits.lexicon = 1;
    options_.limits.max_candidates =
        goldcrest::lexicon_candidates(phrases_.lexicon(), 1, session_.info().target_vocab_size);
  }
  const bool has_terms = !options_.key_terms.empty() || options_.takes_requests;
  const bool scores =
      !phrases_.empty() || has_terms || !task_.languages.empty() || (!options_.no_guards && entries_.no_speech >= 0);
  if (scores) options_.limits.inspection |= GOLDCREST_INSPECT_TARGETS;
  options_.limits.max_sampled = options_.no_guards ? 0 : kMostSampled;
  TaskPrompt longest = task_;
  if (problem.empty() && options_.takes_requests) problem = task_prompt(session_, {}, &longest);
  options_.limits.max_prefix_tokens = static_cast<uint32_t>(longest.ids.size());
  if (entries_.previous >= 0 && (wants_context || options_.takes_requests))
    options_.limits.max_prefix_tokens += most_context_ + 2 + session_.traits().n_forced;
  if (options_.finds_words || options_.takes_requests) goldcrest::host::ask_for_words(session_, &options_.limits);
  if (problem.empty()) problem = set_limits();
  if (problem.empty() && !key_terms_.empty() && options_.limits.beam_size > 1)
    problem = "--key-terms: follows a greedy search; leave --beam-size at 1";
  beam_size_ = options_.limits.beam_size != 0 ? options_.limits.beam_size : session_.info().limits.beam_size;
  options_.drafts = options_.drafts && beam_size_ == 1;
  options_.limits.n_best = options_.no_guards ? 1 : options_.best_of;
  const bool checks_rows = options_.drafts || has_terms || (options_.finds_words && session_.info().fixed_window != 0);
  options_.limits.beam_size = std::max({beam_size_, checks_rows ? kDraftRows : 1, options_.limits.n_best});
  if (problem.empty()) problem = session_.start({options_.kernels, false, false, false, {}, {}}, options_.limits);
  if (!problem.empty()) return problem;
  tokens_.resize(session_.memory().limits.max_target_tokens);
  return "";
}

// Cuts a prompt into ids as the model's own text before this one. Returns why it cannot, or "".
std::string Transcriber::set_prompt(const std::string& text) {
  prompt_.clear();
  last_text_.clear();
  const std::string problem = is_blank(text) ? "" : TextCutter(session_).cut_by_merges(" " + text, &prompt_);
  if (prompt_.size() > most_context_) prompt_.erase(prompt_.begin(), prompt_.end() - most_context_);
  return problem.empty() ? "" : "--prompt: " + problem;
}

std::string Transcriber::set_request(const TextRequest& request) {
  TaskPrompt task;
  const bool reads_prompt = !request.prompt.empty() && entries_.previous >= 0;  // others have terms only
  const bool is_own = request.task.language.empty() && !request.task.translates && !reads_prompt;
  std::string problem = is_own ? "" : task_prompt(session_, request.task, &task);
  if (problem.empty()) problem = set_prompt(reads_prompt ? request.prompt : "");
  if (!problem.empty()) return problem;
  task_ = std::move(task);
  options_.finds_words = request.finds_words;
  goldcrest_reset(session_.engine());
  const int status = goldcrest_set_sequences(session_.engine(), nullptr);  // the engine does not copy them
  if (status < 0) return session_.describe(status);
  key_terms_.set(request.key_terms, session_);
  return "";
}

std::string Transcriber::warning() const {
  const uint32_t rows = options_.limits.max_source_tokens > 0 ? options_.limits.max_source_tokens
                                                              : session_.info().limits.max_source_tokens;
  if (session_.info().fixed_window == 0 || rows >= kLeastWindowRows) return "";
  const uint64_t seconds =
      static_cast<uint64_t>(kLeastWindowRows) * session_.info().row_samples / session_.info().sample_rate;
  return "a window of " + std::to_string(rows) + " rows: Whisper repeats itself in windows of fewer than 750, " +
         std::to_string(seconds) + " s";
}

// temperature 0: the best text is searched. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::set_search(double temperature) {
  goldcrest_engine* const engine = session_.engine();
  goldcrest_search search = session_.info().search;
  search.beam_size = temperature == 0 && key_terms_.empty() ? beam_size_ : 1;
  search.max_target_tokens = std::min(search.max_target_tokens, session_.memory().limits.max_target_tokens);
  search.min_target_tokens = std::min(search.min_target_tokens, search.max_target_tokens);
  search.flags = options_.no_guards ? 0 : GOLDCREST_SEARCH_SCORES;
  if (purpose_ == Purpose::kWindow) search.flags |= GOLDCREST_SEARCH_TIMESTAMPS;
  goldcrest_sampling sampling = {};
  sampling.temperature = static_cast<float>(temperature);
  sampling.top_k = kMostSampled;
  sampling.top_p = 1;
  sampling.n_samples = options_.best_of;
  int status = options_.no_guards ? GOLDCREST_OK : goldcrest_set_sampling(engine, nullptr);
  if (status >= 0) status = goldcrest_set_search(engine, &search);
  return status < 0 || temperature == 0 ? status : goldcrest_set_sampling(engine, &sampling);
}

// *log_prob <- that of a target, in place of the search; `text`, with its end, may go on with it. Returns a negative
// status, or GOLDCREST_OK.
int64_t Transcriber::log_prob_of(std::vector<int32_t> target, const std::vector<int32_t>* text, double* log_prob) {
  goldcrest_engine* const engine = session_.engine();
  if (text != nullptr) target.insert(target.end(), text->begin(), text->end());
  if (text != nullptr) target.push_back(session_.info().end_id);
  target.resize(std::min<size_t>(target.size(), session_.memory().limits.max_target_tokens));
  goldcrest_result result = {};
  int status = is_encoded_ ? goldcrest_search_again(engine) : GOLDCREST_OK;
  is_encoded_ = true;
  if (status >= 0 && !options_.no_guards) status = goldcrest_set_sampling(engine, nullptr);
  if (status >= 0) status = goldcrest_score(engine, 0, target.data(), target.size());
  if (status >= 0) status = goldcrest_run(engine);
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
  *log_prob = static_cast<double>(result.log_prob);
  return std::min<int64_t>(status, GOLDCREST_OK);
}

// Returns the likeliest of the languages that the user named, or a negative status.
int64_t Transcriber::choose_language(Transcription* made) {
  double sum = 0, largest = 0;
  int32_t best = -1;
  for (const int32_t language : task_.languages) {
    double log_prob = 0;
    const int64_t status = log_prob_of({language}, nullptr, &log_prob);
    if (status < 0) return status;
    const double probability = std::exp(log_prob);
    sum += probability;
    if (best >= 0 && probability <= largest) continue;
    best = language;
    largest = probability;
  }
  made->language_probability = sum > 0 ? largest / sum : 0;
  return best;
}

// Returns the id of the language that a first step of the search hears, or a negative status. Then the search begins
// again.
int64_t Transcriber::hear_language(Transcription* made) {
  goldcrest_engine* const engine = session_.engine();
  int64_t status = GOLDCREST_OK;
  while (status >= 0 && status != GOLDCREST_TOKEN && status != GOLDCREST_DONE) status = goldcrest_step(engine, nullptr);
  is_encoded_ = true;
  int32_t language = 0;
  if (status >= 0) status = goldcrest_get_agreed(engine, 0, &language, 1);
  if (status >= 0) status = task_.languages.empty() ? language : choose_language(made);
  if (status < 0) return status;
  const int again = goldcrest_search_again(engine);
  return again < 0 ? again : status;
}

// Gives the stored samples their prompt. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::give_prompt(Transcription* made) {
  const bool has_context = reads_context();
  if (task_.ids.empty() && !has_context) return GOLDCREST_OK;
  std::vector<int32_t> task = task_.ids;
  if (!task.empty() && task.front() < 0) {
    if (heard_language_ < 0) {
      const int64_t language = hear_language(made);
      if (language < 0) return language;
      heard_language_ = static_cast<int32_t>(language);
    }
    task.front() = heard_language_;
  }
  const goldcrest_text_traits& traits = session_.traits();
  if (task.empty()) task.assign(traits.forced, traits.forced + traits.n_forced);
  if (purpose_ == Purpose::kWindow && !task.empty()) task.pop_back();  // the id that forbids times
  std::vector<int32_t> prompt;
  if (has_context) {
    prompt = {entries_.previous};
    prompt.insert(prompt.end(), prompt_.begin(), prompt_.end());
    const size_t n_last = std::min(last_text_.size(), most_context_ - prompt_.size());
    prompt.insert(prompt.end(), last_text_.end() - static_cast<std::ptrdiff_t>(n_last), last_text_.end());
    prompt.push_back(session_.info().decoder_start_id);
  }
  prompt.insert(prompt.end(), task.begin(), task.end());
  return goldcrest_set_prefix(
      session_.engine(), 0, prompt.data(), prompt.size(), has_context ? GOLDCREST_PREFIX_REPLACES_START : 0);
}

// Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::run(size_t n_samples, Transcription* made) {
  goldcrest_engine* const engine = session_.engine();
  int64_t status = give_prompt(made);
  if (status >= 0 && !draft_.empty()) status = goldcrest_set_draft(engine, draft_.data(), draft_.size());
  // An interrupt stops the search that it finds. One that came before, while input was read, stops no search.
  const bool is_last = is_interrupted();
  if (status >= 0 && !key_terms_.empty()) status = key_terms_.begin(engine);
  int32_t token = -1;
  while (status >= 0 && status != GOLDCREST_DONE && (is_last || !is_interrupted())) {
    status = goldcrest_step(engine, &token);
    if (status == GOLDCREST_TOKEN && !key_terms_.empty()) key_terms_.follow(token);
  }
  is_encoded_ = true;
  goldcrest_result result = {};
  if (status == GOLDCREST_DONE) {
    status = goldcrest_get_result(engine, 0, 0, &result);
    goldcrest_result other = {};
    for (uint32_t rank = 1; status >= 0 && made->temperature > 0 && rank < options_.best_of; ++rank) {
      status = goldcrest_get_result(engine, 0, rank, &other);
      if (status < 0 || mean_log_prob(other) <= mean_log_prob(result)) continue;
      result = other;
      made->rank = rank;
    }
    return status < 0 ? status : take_text(result, n_samples, made);
  }
  made->n_heard = n_samples;
  if (status >= 0) status = goldcrest_get_agreed(engine, 0, tokens_.data(), tokens_.size());
  if (status >= 0) status = session_.append_text(tokens_.data(), static_cast<size_t>(status), &made->text);
  made->segments = {{0, static_cast<double>(n_samples) / session_.info().sample_rate, made->text, {}, {}}};
  return status;
}

namespace {
// Cuts the ids of a text where two times follow each other, as openai/whisper's transcribe.py does. row: seconds.
void cut_segments(const std::vector<int32_t>& ids, int32_t first_time, double row, Transcription* made, double* heard) {
  const double whole = *heard;
  const auto is_time = [&](size_t i) { return i < ids.size() && ids[i] >= first_time; };
  const auto time_at = [&](size_t i) { return std::min(whole, (ids[i] - first_time) * row); };
  Segment segment;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!is_time(i)) {
      segment.tokens.push_back(ids[i]);
    } else if (segment.tokens.empty()) {
      segment.begin = time_at(i);
    } else {
      segment.end = time_at(i);
      made->segments.push_back(std::move(segment));
      segment = {};
      segment.begin = time_at(i);
    }
  }
  // The search hears again from the last pair of times on. A text whose last time stands single, or that has none, says
  // all.
  const bool ends_single = ids.size() > 1 && is_time(ids.size() - 1) && !is_time(ids.size() - 2);
  const bool has_pair = std::adjacent_find(ids.begin(), ids.end(),
                            [&](int32_t a, int32_t b) { return a >= first_time && b >= first_time; }) != ids.end();
  if (has_pair && !ends_single && segment.begin > 0) {
    *heard = segment.begin;
  } else if (!segment.tokens.empty()) {
    segment.end = whole;
    made->segments.push_back(std::move(segment));
  }
}
}  // namespace

// Takes the text of a result, and finds what else is asked for. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::take_text(const goldcrest_result& result, size_t n_samples, Transcription* made) {
  const goldcrest_info& info = session_.info();
  // Words that the file forces are text, as in transformers.
  uint32_t n_prompt = 0;
  while (reads_context() && result.tokens[n_prompt++] != info.decoder_start_id) continue;
  if (n_prompt < result.n_prefix) made->language = entries_.code_of(result.tokens[n_prompt]);
  for (std::string forced; n_prompt < result.n_prefix; ++n_prompt)
    if (session_.append_text(result.tokens + n_prompt, 1, &forced) < 0 || !forced.empty()) break;
  std::vector<int32_t> prompt(result.tokens, result.tokens + n_prompt);
  std::vector<int32_t> ids(result.tokens + n_prompt, result.tokens + result.n_tokens);
  made->avg_logprob = mean_log_prob(result);
  if (result.was_cut != 0) made->cut = goldcrest::cut_problem(info, session_.memory().limits, result.n_tokens);
  if (!ids.empty() && ids.back() == info.end_id) ids.pop_back();
  made->repeats = entropy_of(ids, ids.size()) < kLeastEntropy;
  made->uncertain = !options_.no_guards && (made->repeats || made->avg_logprob < kLeastLogprob);
  double heard = static_cast<double>(n_samples) / info.sample_rate;
  if (purpose_ == Purpose::kWindow) {
    const auto first_time = static_cast<int32_t>(session_.traits().first_timestamp);
    cut_segments(ids, first_time, static_cast<double>(info.row_samples) / info.sample_rate, made, &heard);
    prompt.push_back(first_time - 1);  // scored texts have no times
  } else {
    made->segments.push_back({0, heard, "", ids, {}});
  }
  made->n_heard = std::min(n_samples, static_cast<size_t>(heard * info.sample_rate + 0.5));
  const bool has_terms = !key_terms_.empty() && phrases_.empty() && purpose_ != Purpose::kPartial && !made->uncertain;
  int64_t status = GOLDCREST_OK;
  double gain = 0;
  std::vector<int32_t> before = prompt;
  for (Segment& segment : made->segments) {
    if (status >= 0) status = session_.append_text(segment.tokens.data(), segment.tokens.size(), &segment.text);
    if (status >= 0 && has_terms) status = spell_terms(before, &segment, &gain);
    before.insert(before.end(), segment.tokens.begin(), segment.tokens.end());
    made->text += segment.text;
  }
  made->avg_logprob += gain / static_cast<double>(before.size() - prompt.size() + 1);
  if (status < 0 || purpose_ == Purpose::kPartial) return status;
  if (!phrases_.empty()) status = hear_phrase(prompt, n_samples, made);
  if (status >= 0 && options_.finds_words) status = find_words(prompt, n_samples, made);
  drop_instants(made);
  made->no_speech = no_speech_;
  if (no_speech_ <= kMostNoSpeech || made->avg_logprob > kLeastLogprob) return status;
  made->segments.clear();  // nobody speaks, and the text is unlikely, too     openai/whisper
  made->text.clear();
  made->uncertain = false;
  return status;
}

// *ids <- those of the text that a search finds among the phrases. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::search_phrases(std::vector<int32_t>* ids) {
  const goldcrest_lexicon lexicon = phrases_.lexicon().view(), none = {};
  goldcrest_engine* const engine = session_.engine();
  Transcription ignored;
  int64_t status = goldcrest_search_again(engine);
  if (status >= 0) status = goldcrest_set_lexicon(engine, &lexicon);
  if (status >= 0) status = set_search(0);
  if (status >= 0) status = give_prompt(&ignored);
  if (status >= 0 && !key_terms_.empty()) status = key_terms_.begin(engine);
  if (status >= 0) status = goldcrest_run(engine);
  goldcrest_result result = {};
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
  if (status < 0) return status;
  ids->assign(result.tokens + result.n_prefix, result.tokens + result.n_tokens);
  if (!ids->empty() && ids->back() == session_.info().end_id) ids->pop_back();
  return goldcrest_set_lexicon(engine, &none);
}

// Takes the likeliest phrase in place of the text, of those that are like it and the one that a search finds; none, if
// the text is much likelier, says much more or is a loop. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::hear_phrase(const std::vector<int32_t>& prompt, size_t n_samples, Transcription* made) {
  constexpr double kMostLoss = 2.25;  // nats for each id of the phrase
  std::vector<std::vector<int32_t>> texts(2);
  for (const Segment& segment : made->segments)
    texts[0].insert(texts[0].end(), segment.tokens.begin(), segment.tokens.end());
  int64_t status = search_phrases(&texts[1]);
  for (std::vector<int32_t>& ids : phrases_.nearest(made->text)) texts.push_back(std::move(ids));
  double text_log_prob = 0, best_log_prob = 0;
  size_t best = 0;  // the text itself: no phrase yet
  for (size_t i = 0; i < texts.size() && status >= 0; ++i) {
    double log_prob = 0;
    status = log_prob_of(prompt, &texts[i], &log_prob);
    if (i == 0) text_log_prob = log_prob;
    if (i == 0 || (best != 0 && log_prob <= best_log_prob)) continue;
    best = i;
    best_log_prob = log_prob;
  }
  if (status < 0) return status;
  const std::vector<int32_t>& ids = texts[best];
  const bool says_more = texts[0].size() > 2 * ids.size() + 2;
  const bool fits =
      !made->repeats && !says_more && text_log_prob - best_log_prob <= kMostLoss * static_cast<double>(ids.size());
  const std::string phrase = fits ? phrases_.spelled(ids) : "";
  made->segments.clear();
  made->text.clear();
  made->cut.clear();
  made->uncertain = made->repeats = false;
  if (phrase.empty()) return status;
  made->text = phrase;
  made->segments.push_back({0, static_cast<double>(n_samples) / session_.info().sample_rate, phrase, ids, {}});
  return status;
}

// Spells parts of a text as the terms that they are like, and adds to *gain by how many nats it gets likelier. For each
// letter in which a part and its term agree, the text may become less likely by a nat; with the term in lower case,
// too, unless one letter is all, which may be a plural's. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::spell_terms(const std::vector<int32_t>& prompt, Segment* segment, double* gain) {
  constexpr size_t kMostTried = 8;
  constexpr double kMostCapitals = 6;  // nats by which capitals may make a text likelier
  std::vector<Likeness> like = key_terms_.find_like(segment->text);
  if (like.empty()) return GOLDCREST_OK;
  const TextCutter& cutter = key_terms_.cutter(session_);
  double log_prob = 0;
  int64_t status = log_prob_of(prompt, &segment->tokens, &log_prob);
  for (size_t tried = 0; !like.empty() && tried < kMostTried; ++tried) {
    const Likeness it = like.front();
    like.erase(like.begin());
    const double least = log_prob - static_cast<double>(it.n_letters - it.edits);
    double best = -HUGE_VAL;
    std::vector<int32_t> ids;
    std::string text;
    for (const std::string& term : {it.term->low, it.term->text}) {
      text = std::string(segment->text).replace(it.begin, it.end - it.begin, term);
      ids.clear();
      const bool may_be_plural = it.edits == 1 && term != it.term->text;
      const bool is_hopeless = std::isfinite(best) && best < least - kMostCapitals;
      if (!cutter.cut_by_merges(text, &ids).empty() || may_be_plural || is_hopeless) continue;
      double spelled = 0;
      status = log_prob_of(prompt, &ids, &spelled);
      if (status < 0) return status;
      best = std::max(best, spelled);
    }
    if (best < least) continue;
    *gain += best - log_prob;
    segment->text = text;
    segment->tokens = ids;
    log_prob = best;
    like = key_terms_.find_like(text);
  }
  return status;
}

// Gives the segments their words. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::find_words(const std::vector<int32_t>& prompt, size_t n_samples, Transcription* made) {
  goldcrest::host::SpokenText said = {prompt, {}, {}, 0, phrases_.empty() && key_terms_.empty() && made->rank == 0};
  const bool has_times = purpose_ == Purpose::kWindow;
  said.latest = static_cast<double>(made->n_heard) / session_.info().sample_rate;  // the next window begins here
  for (const Segment& segment : made->segments) {
    said.ids.insert(said.ids.end(), segment.tokens.begin(), segment.tokens.end());
    const auto n_ids = static_cast<uint32_t>(segment.tokens.size());
    if (has_times) said.parts.push_back({n_ids, segment.begin, segment.end});
  }
  std::vector<goldcrest::host::TimedWord> words;
  const int64_t status = goldcrest::host::find_words(session_, said, n_samples, &words);
  size_t n_given = 0, n_before = 0, i = 0;  // ids of words, ids of segments; words
  for (Segment& segment : made->segments) {
    n_before += segment.tokens.size();
    for (; i < words.size() && n_given < n_before; n_given += words[i++].n_ids) segment.words.push_back(words[i]);
    if (!has_times || segment.words.empty()) continue;
    segment.begin = segment.words.front().begin;
    segment.end = segment.words.back().end;
  }
  return status;
}

// Finds how likely it is that nobody speaks: the model's probability of the id that says so, right after the start.
// openai/whisper. Returns a negative status, or GOLDCREST_OK. Then the search begins again.
int64_t Transcriber::hear_silence() {
  if (options_.no_guards || entries_.no_speech < 0) return GOLDCREST_OK;
  double log_prob = 0;
  const int64_t status = log_prob_of({entries_.no_speech}, nullptr, &log_prob);
  no_speech_ = std::exp(log_prob);
  return status < 0 ? status : goldcrest_search_again(session_.engine());
}

// Samples until a text is likely; else the first one stays, or the first that does not repeat itself. The draws are the
// same on every machine.
int64_t Transcriber::run_again(size_t n_samples, Transcription* made) {
  int64_t status = GOLDCREST_OK;
  for (const double temperature : kTemperatures) {
    if (!made->uncertain || is_interrupted() || status < 0) break;
    Transcription other;
    other.temperature = temperature;
    status = goldcrest_search_again(session_.engine());
    if (status >= 0) status = set_search(temperature);
    if (status >= 0) status = run(n_samples, &other);
    if (status >= 0 && (!other.uncertain || (made->repeats && !other.repeats))) *made = other;
  }
  return status;
}

// The next text follows this one, unless it was drawn at a high temperature.     openai/whisper
void Transcriber::keep_last_text(const Transcription& made) {
  if (made.temperature > 0.5 || made.uncertain) return last_text_.clear();
  for (const Segment& segment : made.segments)
    last_text_.insert(last_text_.end(), segment.tokens.begin(), segment.tokens.end());
  if (last_text_.size() > most_context_) last_text_.erase(last_text_.begin(), last_text_.end() - most_context_);
}

std::string Transcriber::transcribe(const std::vector<int16_t>& samples, Purpose purpose, Transcription* made) {
  const auto begin = std::chrono::steady_clock::now();
  *made = {};
  purpose_ = purpose;
  heard_language_ = -1;
  no_speech_ = -1;
  is_encoded_ = false;
  int64_t status = goldcrest_begin_audio(session_.engine(), samples.data(), samples.size());
  if (status >= 0) status = set_search(0);
  if (status >= 0 && purpose != Purpose::kPartial) status = hear_silence();
  if (status >= 0) status = run(samples.size(), made);
  if (status >= 0 && purpose != Purpose::kPartial && made->uncertain) status = run_again(samples.size(), made);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  draft_.clear();
  if (options_.drafts && purpose == Purpose::kPartial && !made->segments.empty()) draft_ = made->segments[0].tokens;
  if (options_.reads_last_text && purpose != Purpose::kPartial) keep_last_text(*made);
  if (status < 0) return session_.describe(status);
  // Whisper's texts begin with a space.
  made->text.erase(0, made->text.find_first_not_of(' '));
  for (Segment& segment : made->segments) segment.text.erase(0, segment.text.find_first_not_of(' '));
  return "";
}
