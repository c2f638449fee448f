// SPDX-License-Identifier: Apache-2.0
#include "host/sentence_search.h"
#include <algorithm>
#include <utility>
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "goldcrest/speech.h"
#include "host/text_lines.h"

namespace goldcrest::host {
namespace {
using Clock = std::chrono::steady_clock;

std::string_view code_of(std::string_view text, bool takes_code) {
  size_t n = takes_code ? leading_language_code(text).size() : 0;
  while (n > 0 && n < text.size() && text[n] == ' ') ++n;
  return text.substr(0, n);
}

goldcrest_part_options parts_of(const Session& session, const std::string& abbreviations, size_t n_code) {
  const uint32_t most = session.memory().limits.max_source_bytes;
  return {abbreviations.data(), abbreviations.size(), n_code < most ? most - n_code : 1};
}

bool is_running(int status) { return status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN; }
}  // namespace

TextReader::TextReader(const Session& session, std::string_view text, const std::string& abbreviations, bool takes_code)
    : text_(text.data()),
      code_(code_of(text, takes_code)),
      reader_(text.data() + code_.size(), text.size() - code_.size(), parts_of(session, abbreviations, code_.size())) {}

bool TextReader::next(Session* session, Sentence* sentence, int* status) {
  const bool is_sentence = reader_.next();
  sentence->space.assign(reader_.space(), reader_.space_bytes());
  if (!is_sentence) return false;
  do {
    const std::string text = std::string(code_) + std::string(reader_.sentence(), reader_.bytes());
    *status = session->tokenize(text, &sentence->source, &sentence->pieces);
  } while (*status == GOLDCREST_ERROR_TOO_LONG && reader_.shorten());
  sentence->begin = static_cast<size_t>(reader_.sentence() - text_);
  sentence->bytes = reader_.bytes();
  return true;
}

void SentenceSearch::begin(const Options& options, std::vector<Sentence*> sentences) {
  const auto is_empty = [](const Sentence* sentence) { return sentence->size() == 0; };
  *this = {};
  options_ = options;
  order_ = std::move(sentences);
  order_.erase(std::remove_if(order_.begin(), order_.end(), is_empty), order_.end());
  std::stable_sort(
      order_.begin(), order_.end(), [](const Sentence* a, const Sentence* b) { return a->size() > b->size(); });
}

// Stores sentence `index` of a batch with its prefix or target, and its stream.
int SentenceSearch::store(Session* session, uint32_t index, const Sentence& sentence) const {
  goldcrest_engine* const engine = session->engine();
  const std::vector<int32_t>&ids = sentence.source, &target = sentence.target;
  const std::vector<int16_t>& samples = sentence.samples;
  const std::vector<float>& rows = sentence.features;
  int status = GOLDCREST_OK;
  if (!samples.empty())
    status = (index == 0 ? goldcrest_begin_audio : goldcrest_add_audio)(engine, samples.data(), samples.size());
  else if (!rows.empty())
    status = (index == 0 ? goldcrest_begin_features : goldcrest_add_features)(
        engine, rows.data(), rows.size() / session->info().feature_channels);
  else status = (index == 0 ? goldcrest_begin : goldcrest_add)(engine, ids.data(), ids.size());
  if (status >= 0 && options_.scores_targets) status = goldcrest_score(engine, index, target.data(), target.size());
  else if (status >= 0 && !target.empty())
    status = goldcrest_set_prefix(engine, index, target.data(), target.size(), options_.prefix_flags);
  const std::vector<int32_t>& draft = sentence.draft;
  if (status >= 0 && index == 0 && !draft.empty()) status = goldcrest_set_draft(engine, draft.data(), draft.size());
  if (status >= 0 && options_.has_streams) status = goldcrest_set_stream(engine, index, sentence.stream);
  return status;
}

// Gives the engine what a sentence is searched with.
int SentenceSearch::set_own(Session* session, const Sentence& sentence) {
  const bool is_own = sentence.n_again > 0;
  if (!is_own && !has_own_) return GOLDCREST_OK;
  has_own_ = is_own;
  goldcrest_search search = *options_.search;
  if (is_own) search.beam_size = std::min(session->memory().limits.beam_size, 2U);
  const std::vector<int32_t>& ids = sentence.suppressed;
  goldcrest_sequences own = {ids.data(), nullptr, static_cast<uint32_t>(ids.size()), 0, 0};
  for (size_t i = 0; i < ids.size(); i += 1 + static_cast<size_t>(ids[i])) ++own.n;
  goldcrest_reset(session->engine());
  const int status = goldcrest_set_search(session->engine(), &search);
  if (status < 0) return status;
  return goldcrest_set_sequences(session->engine(), ids.empty() ? options_.sequences : &own);
}

// Stores the next batch. If a sentence is refused, there is none yet: the next call stores it without that sentence.
Sentence* SentenceSearch::store_batch(Session* session) {
  size_t n = std::min<size_t>(session->memory().limits.batch, order_.size() - n_done_);
  const Sentence& front = *order_[n_done_];
  for (size_t i = 1; i < n; ++i) {
    const Sentence& other = *order_[n_done_ + i];
    const bool is_alike = (other.n_again > 0) == (front.n_again > 0) && other.suppressed == front.suppressed;
    if (!is_alike) n = i;
  }
  const auto first = order_.begin() + static_cast<ptrdiff_t>(n_done_);
  batch_begin_ = Clock::now();
  for (size_t i = 0; i < n; ++i) {
    Sentence* const sentence = first[static_cast<ptrdiff_t>(i)];
    int status = i == 0 ? set_own(session, *sentence) : GOLDCREST_OK;
    if (status >= 0) status = store(session, static_cast<uint32_t>(i), *sentence);
    if (status >= 0) continue;
    sentence->problem = session->describe(status);
    if (has_own_) status_ = set_own(session, {});
    order_.erase(first + static_cast<ptrdiff_t>(i));
    return sentence;
  }
  n_batch_ = n;
  status_ = GOLDCREST_WORKING;
  is_stopped_ = false;
  return nullptr;
}

void SentenceSearch::stop() {
  if (n_batch_ == 0 || !is_running(status_)) return;
  is_stopped_ = true;
  status_ = GOLDCREST_DONE;
}

Sentence* SentenceSearch::work(Session* session) {
  if (n_batch_ == 0) return store_batch(session);
  const std::chrono::duration<double> longest(options_.deadline);
  if (options_.deadline > 0 && Clock::now() - batch_begin_ >= longest) stop();
  if (is_running(status_)) {
    status_ = goldcrest_step(session->engine(), nullptr);
    return nullptr;
  }
  Sentence* const sentence = order_[n_done_ + n_in_];
  sentence->is_stopped = is_stopped_;
  const int64_t status = status_ < 0   ? status_
                         : is_stopped_ ? collect_certain(*session, sentence)
                                       : collect(*session, sentence);
  if (status < 0) sentence->problem = session->describe(status);
  const bool is_whole = status >= 0 && !is_stopped_ && options_.again;
  const bool is_again = is_whole && options_.again(sentence);
  if (is_again) sentence->found.clear();
  if (is_again) order_.push_back(sentence);
  if (++n_in_ == n_batch_) {
    n_done_ += n_batch_;
    n_batch_ = n_in_ = 0;
    // The engine keeps the address of a sentence's sequences, which may not outlive this.
    if (has_own_) status_ = set_own(session, {});
  }
  return is_again ? nullptr : sentence;
}

// Keeps the tokens of a search that was stopped which no further step would change. Returns a negative status on an
// error, as the next function does.
int64_t SentenceSearch::collect_certain(const Session& session, Sentence* sentence) const {
  Found found;
  found.ids = session.agreed_tokens(static_cast<uint32_t>(n_in_));
  const bool has_text = options_.has_text && session.info().has_detokenizer != 0;
  const int64_t status =
      has_text ? session.append_text(found.ids.data(), found.ids.size(), &found.text) : int64_t{GOLDCREST_OK};
  sentence->found.push_back(std::move(found));
  return status;
}

int64_t SentenceSearch::collect(const Session& session, Sentence* sentence) const {
  const auto index = static_cast<uint32_t>(n_in_);
  for (uint32_t rank = 0; rank < options_.n_best; ++rank) {
    goldcrest_result result = {};
    int64_t status = goldcrest_get_result(session.engine(), index, rank, &result);
    if (status < 0 && rank > 0) break;  // there may be fewer than n_best
    if (status < 0) return status;
    const float* const log_probs = result.token_log_probs;
    Found& found = sentence->found.emplace_back();
    found.ids.assign(result.tokens, result.tokens + result.n_tokens);
    found.score = result.score;
    found.log_prob = result.log_prob;
    found.n_outputs = result.n_outputs;
    found.was_cut = result.was_cut != 0;
    if (options_.has_text && session.info().has_detokenizer != 0)
      status =
          session.append_result(index, rank, sentence->pieces, &found.text, options_.aligns ? &found.ends : nullptr);
    if (options_.token_scores && log_probs != nullptr)
      found.token_log_probs.assign(log_probs, log_probs + result.n_tokens);
    const bool is_aligned = options_.has_attention || (options_.aligns && options_.aligns(*sentence));
    const size_t n_source = is_aligned ? sentence->source.size() : 0;
    found.attention.resize(n_source * result.n_tokens);
    for (uint32_t token = 0; n_source > 0 && token < result.n_tokens && status >= 0; ++token) {
      const goldcrest_alignment wanted = {index, rank, token, options_.attention_layer, options_.attention_head};
      status = goldcrest_get_alignment(session.engine(), &wanted, &found.attention[token * n_source], n_source);
    }
    if (status < 0) return status;
  }
  return GOLDCREST_OK;
}
}  // namespace goldcrest::host
