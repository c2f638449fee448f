// SPDX-License-Identifier: Apache-2.0
#include "host/speech/word_times.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"

namespace goldcrest::host {
namespace {
constexpr size_t kMedianWidth = 7, kSide = kMedianWidth / 2;  // rows
constexpr size_t kTogether = 16;                              // rows whose medians are found at once
constexpr size_t kMostStored = 1u << 20;                      // weights that are kept to be read once

// The attention of a result's ids, one after another: each head's weights less their mean over the ids, in their
// deviations, smoothed over time; then the mean of the heads.
class AttentionRows {
 public:
  AttentionRows(const Session& session, uint32_t n_tokens, size_t n_rows)
      : session_(session),
        n_rows_(n_rows),
        n_tokens_(n_tokens),
        weights_(session.memory().limits.max_source_tokens),
        around_(n_rows + kMedianWidth + kTogether) {
    const goldcrest_text_traits& traits = session.traits();
    heads_.assign(traits.alignment_heads, traits.alignment_heads + traits.n_alignment_heads);
    if (heads_.empty())
      for (uint32_t i = 0; i < session.info().decoder_layers * session.info().decoder_heads; ++i) heads_.push_back(i);
  }

  // Reads all ids, for the means and deviations. Returns a negative status on an error.
  int64_t measure() {
    mean_.assign(heads_.size() * n_rows_, 0.0f);
    inverse_deviation_ = mean_;
    const bool is_short = n_tokens_ * mean_.size() <= kMostStored;
    if (is_short) stored_.reserve(n_tokens_ * mean_.size());
    for (uint32_t token = 0; token < n_tokens_; ++token) {
      for (size_t h = 0; h < heads_.size(); ++h) {
        const int64_t status = read(token, h);
        if (status < 0) return status;
        if (is_short) stored_.insert(stored_.end(), weights_.data(), weights_.data() + n_rows_);
        for (size_t t = 0; t < n_rows_; ++t) {
          // Welford's mean and sum of squares, which lose nothing where weights hardly differ.
          float &mean = mean_[h * n_rows_ + t], &squares = inverse_deviation_[h * n_rows_ + t];
          const float step = weights_[t] - mean;
          mean += step / static_cast<float>(token + 1);
          squares += step * (weights_[t] - mean);
        }
      }
    }
    for (float& squares : inverse_deviation_)
      squares = squares > 0 ? 1 / std::sqrt(squares / static_cast<float>(n_tokens_)) : 0;
    return GOLDCREST_OK;
  }

  // *row <- [n_rows] of an id. Returns a negative status on an error.
  int64_t get(uint32_t token, std::vector<float>* row) {
    row->assign(n_rows_, 0.0f);
    for (size_t h = 0; h < heads_.size(); ++h) {
      const size_t at = (token * heads_.size() + h) * n_rows_;
      const int64_t status = stored_.empty() ? read(token, h) : int64_t{GOLDCREST_OK};
      if (status < 0) return status;
      const float* const weights = stored_.empty() ? weights_.data() : stored_.data() + at;
      for (size_t t = 0; t < n_rows_; ++t)
        weights_[t] = (weights[t] - mean_[h * n_rows_ + t]) * inverse_deviation_[h * n_rows_ + t];
      add_medians(row->data());
    }
    return GOLDCREST_OK;
  }
 private:
  // weights_ <- a head's, of the rows that the clip fills.
  int64_t read(uint32_t token, size_t h) {
    const uint32_t n_heads = session_.info().decoder_heads;
    const goldcrest_alignment wanted = {
        0, 0, token, static_cast<int32_t>(heads_[h] / n_heads), static_cast<int32_t>(heads_[h] % n_heads)};
    const int64_t status = goldcrest_get_alignment(session_.engine(), &wanted, weights_.data(), weights_.size());
    if (status < 0) return status;
    float sum = 0;
    for (size_t t = 0; t < n_rows_; ++t) sum += weights_[t];
    for (size_t t = 0; t < n_rows_ && sum > 0; ++t) weights_[t] /= sum;
    return GOLDCREST_OK;
  }

  // sums[t] += the median of the weights around row t, of each head its share; both ends are mirrored.
  void add_medians(float* sums) {
    const size_t side = n_rows_ > kSide ? kSide : 0, last = n_rows_ - 1;
    for (size_t i = 0; i < side; ++i) {
      around_[i] = weights_[side - i];
      around_[side + n_rows_ + i] = weights_[last - 1 - i];
    }
    std::copy_n(weights_.data(), n_rows_, around_.data() + side);
    for (size_t first = 0; first < n_rows_; first += kTogether) {
      float window[kMedianWidth][kTogether];
      for (size_t i = 0; i < kMedianWidth; ++i)
        std::copy_n(&around_[first + (side == 0 ? 0 : i)], kTogether, window[i]);
      for (size_t n = kMedianWidth - 1; n >= kSide; --n) {  // the largest of the first n + 1 goes to their end
        for (size_t i = 0; i < n; ++i) {
          for (size_t t = 0; t < kTogether; ++t) {
            const float smaller = std::min(window[i][t], window[i + 1][t]);
            window[i + 1][t] = std::max(window[i][t], window[i + 1][t]);
            window[i][t] = smaller;
          }
        }
      }
      for (size_t t = 0; t < std::min(kTogether, n_rows_ - first); ++t)
        sums[first + t] += window[kSide][t] / static_cast<float>(heads_.size());
    }
  }

  const Session& session_;
  size_t n_rows_;
  uint32_t n_tokens_;
  std::vector<float> weights_, around_, mean_, inverse_deviation_;
  std::vector<float> stored_;  // a short text keeps the weights of its ids here
  std::vector<uint32_t> heads_;
};

// The path of least cost through rows of ids and columns of time.
class TimeWarp {
 public:
  explicit TimeWarp(size_t n_columns) : cost_(n_columns + 1, kFar) { cost_[0] = 0; }

  void add(const std::vector<float>& likeness) {
    const size_t n = cost_.size();
    came_from_.resize(came_from_.size() + (n + 3) / 4);
    uint8_t* const steps = came_from_.data() + came_from_.size() - (n + 3) / 4;
    std::vector<float> next(n, kFar);
    for (size_t j = 1; j < n; ++j) {
      const float both = cost_[j - 1], down = cost_[j], across = next[j - 1];
      const Step step = both < down && both < across ? kBoth : down < both && down < across ? kDown : kAcross;
      next[j] = (step == kBoth ? both : step == kDown ? down : across) - likeness[j - 1];
      steps[j / 4] = static_cast<uint8_t>(steps[j / 4] | step << j % 4 * 2);
    }
    cost_ = std::move(next);
    ++n_rows_;
  }

  // Returns the first column of each row.
  std::vector<size_t> first_columns() const {
    const size_t n = cost_.size();
    std::vector<size_t> first(n_rows_, 0);
    for (size_t i = n_rows_, j = n - 1; i > 0;) {
      if (j > 0) first[i - 1] = j - 1;
      const Step step = j == 0 ? kDown : Step(came_from_[(i - 1) * ((n + 3) / 4) + j / 4] >> j % 4 * 2 & 3);
      if (step != kAcross) --i;
      if (step != kDown) --j;
    }
    return first;
  }
 private:
  enum Step : uint8_t { kBoth, kDown, kAcross };
  static constexpr float kFar = std::numeric_limits<float>::infinity();
  std::vector<float> cost_;  // costs of the paths to the columns, after a column that no path has
  std::vector<uint8_t> came_from_;
  size_t n_rows_ = 0;
};

// Returns the first character of a text, 0 for none; texts of the detokenizer are whole characters.
uint32_t first_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t character = n == 1 ? lead : lead & (0xFFu >> (n + 1));
  for (size_t i = 1; i < n && i < text.size(); ++i) character = character << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  return character;
}

// Chinese, Japanese, Thai, Lao and Burmese, which put no spaces between words.
bool has_no_spaces(uint32_t character) {
  constexpr uint32_t kScripts[][2] = {{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x2E80, 0x2FFF}, {0x3040, 0x4DBF},
      {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};
  return std::any_of(std::begin(kScripts), std::end(kScripts),
      [&](const auto& script) { return character >= script[0] && character <= script[1]; });
}

constexpr std::string_view kBefore = " \"'\u201c\u00bf([{-",
                           kAfter = "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001",
                           kSentenceEnds = ".\u3002!\uff01?\uff1f";

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

bool is_one_of(std::string_view text, std::string_view characters) {
  text = without_space(text);
  return !text.empty() && characters.find(text) != characters.npos;
}

// A word or a mark.
struct Run : TimedWord {
  uint32_t first;  // its first id
};

// Cuts a text into words and single marks; log_probs are those of its ids. Returns a negative status on an error.
int64_t cut_runs(const Session& session, const SpokenText& said, const float* log_probs, std::vector<Run>* runs) {
  goldcrest_text_state state = {};
  bool is_whole = true;  // the id before ended a character
  size_t part = 0;
  uint32_t part_end = 0;
  for (uint32_t i = 0; i < said.ids.size(); ++i) {
    char text[4096];
    const int64_t bytes = goldcrest_detokenize(session.engine(), &state, &said.ids[i], 1, text, sizeof(text));
    if (bytes < 0) return bytes;
    const std::string_view piece(text, static_cast<size_t>(bytes));
    const bool begins_part = i == part_end && part < said.parts.size();
    if (begins_part) part_end += said.parts[part++].n_ids;
    const bool begins = runs->empty() || begins_part || (!piece.empty() && piece[0] == ' ') ||
                        has_no_spaces(first_character(piece)) ||
                        (piece.size() == 1 && std::ispunct(static_cast<unsigned char>(piece[0])) != 0);
    if (begins && is_whole) runs->push_back({{"", 0, 0, 0, 0}, i});
    Run& run = runs->back();
    run.text += piece;
    run.probability += std::exp(static_cast<double>(log_probs[i]));
    ++run.n_ids;
    is_whole = !piece.empty();
  }
  char rest[16];  // the bytes of a character without its end
  const int64_t bytes = goldcrest_detokenize(session.engine(), &state, said.ids.data(), 0, rest, sizeof(rest));
  if (bytes < 0) return bytes;
  runs->back().text.append(rest, static_cast<size_t>(bytes));
  for (Run& run : *runs) run.probability /= run.n_ids;
  return GOLDCREST_OK;
}

// Words longer than this many of their median are cut where a sentence begins or ends: a pause is in them.
constexpr double kLongest = 2;

// Returns the median.
double cut_long_words(std::vector<Run>* runs) {
  constexpr double kMostMedian = 0.7;
  std::vector<double> durations;
  for (const Run& run : *runs)
    if (run.end > run.begin) durations.push_back(run.end - run.begin);
  if (durations.empty()) return 0;
  std::sort(durations.begin(), durations.end());
  const size_t n = durations.size();
  const double median = std::min(kMostMedian, (durations[(n - 1) / 2] + durations[n / 2]) / 2),
               most = kLongest * median;
  for (size_t i = 0; i < runs->size(); ++i) {
    Run& run = (*runs)[i];
    if (run.end - run.begin <= most) continue;
    if (i > 0 && is_one_of(run.text, kSentenceEnds)) run.end = run.begin + most;
    else if (i == 0 || is_one_of((*runs)[i - 1].text, kSentenceEnds)) run.begin = run.end - most;
  }
  return median;
}

// *words <- the runs, with their marks.
void join_marks(const std::vector<Run>& runs, std::vector<TimedWord>* words) {
  std::string before;
  uint32_t n_before = 0;  // its ids
  for (const Run& run : runs) {
    const bool is_first = words->empty();
    if (!is_first && before.empty() && run.text[0] != ' ' && is_one_of(run.text, kAfter)) {
      words->back().text += run.text;
      words->back().n_ids += run.n_ids;
    } else if ((is_first || run.text[0] == ' ') && is_one_of(run.text, kBefore) && &run != &runs.back()) {
      before += run.text;
      n_before += run.n_ids;
    } else {
      words->push_back(run);
      words->back().text.insert(0, before);
      words->back().n_ids += n_before;
      before.clear();
      n_before = 0;
    }
  }
}
}  // namespace

void cut_pauses(double median, double latest, const std::vector<TimedPart>& parts, std::vector<TimedWord>* words) {
  constexpr double kPause = 4, kNear = 0.5;
  const double most = kLongest * median;
  double speech_end = 0;
  size_t i = 0;
  for (const TimedPart& part : parts) {
    const size_t first = i;
    for (uint32_t n = 0; i < words->size() && n < part.n_ids; ++i) n += (*words)[i].n_ids;
    if (i == first) continue;
    TimedWord &begin = (*words)[first], &end = (*words)[i - 1], &second = (*words)[std::min(first + 1, i - 1)];
    if (begin.end - speech_end > kPause * median &&
        (begin.end - begin.begin > most || second.end - begin.begin > 2 * most)) {
      if (&second != &begin && second.end - second.begin > most)
        begin.end = second.begin = std::max(second.end / 2, second.end - most);
      begin.begin = std::max(0.0, begin.end - most);
    }
    if (part.begin < begin.end && part.begin - kNear > begin.begin)
      begin.begin = std::max(0.0, std::min(begin.end - median, part.begin));
    if (part.end > end.begin && part.end + kNear < end.end) end.end = std::max(end.begin + median, part.end);
    for (size_t at = first; at < i; ++at) {
      (*words)[at].begin = std::min((*words)[at].begin, latest);
      (*words)[at].end = std::min((*words)[at].end, latest);
    }
    speech_end = end.end;
  }
}

void ask_for_words(const Session& session, goldcrest_limits* limits) {
  const goldcrest_text_traits& traits = session.traits();
  limits->inspection |= GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS;
  if (traits.n_alignment_heads == 0) limits->alignment_layers = GOLDCREST_ALL_LAYERS;
  for (uint32_t i = 0; i < traits.n_alignment_heads; ++i)
    limits->alignment_layers |= 1u << traits.alignment_heads[i] / session.info().decoder_heads;
}

namespace {
// Gives a text to the decoder once more, with an end after its end: so its attention is that of openai/whisper, whose
// means cover the row that the end is read at. *result <- the scores. Returns a negative status on an error.
int64_t score_text(const Session& session, const SpokenText& said, goldcrest_result* result) {
  std::vector<int32_t> target = said.prompt;
  target.insert(target.end(), said.ids.begin(), said.ids.end());
  target.insert(target.end(), 2, session.info().end_id);
  target.resize(std::min<size_t>(target.size(), session.memory().limits.max_target_tokens));
  goldcrest_engine* const engine = session.engine();
  int status = goldcrest_search_again(engine);
  if (status >= 0 && session.memory().limits.max_sampled > 0) status = goldcrest_set_sampling(engine, nullptr);
  if (status >= 0) status = goldcrest_score(engine, 0, target.data(), target.size());
  if (status >= 0) status = goldcrest_run(engine);
  return status < 0 ? status : goldcrest_get_result(engine, 0, 0, result);
}
}  // namespace

int64_t find_words(const Session& session, const SpokenText& said, size_t n_samples, std::vector<TimedWord>* words) {
  words->clear();
  const goldcrest_info& info = session.info();
  const auto n_prompt = static_cast<uint32_t>(said.prompt.size()), n_ids = static_cast<uint32_t>(said.ids.size());
  if (n_ids == 0 || n_prompt + n_ids > session.memory().limits.max_target_tokens) return GOLDCREST_OK;
  goldcrest_result result = {};
  int64_t status = info.fixed_window != 0 || !said.is_result ? score_text(session, said, &result)
                                                             : goldcrest_get_result(session.engine(), 0, 0, &result);
  std::vector<Run> runs;
  if (status >= 0) status = cut_runs(session, said, result.token_log_probs + n_prompt, &runs);
  if (status < 0) return status;
  const size_t n_rows = std::clamp<size_t>(n_samples / info.row_samples, 1, session.memory().limits.max_source_tokens);
  AttentionRows rows(session, result.n_tokens, n_rows);
  status = rows.measure();
  TimeWarp warp(n_rows);
  std::vector<float> row;
  for (uint32_t i = 0; i <= n_ids && n_prompt + i < result.n_tokens && status >= 0; ++i) {
    status = rows.get(n_prompt + i, &row);
    warp.add(row);
  }
  if (status < 0) return status;
  const std::vector<size_t> first = warp.first_columns();
  const double seconds = static_cast<double>(info.row_samples) / info.sample_rate;
  for (Run& run : runs) {
    const uint32_t next = run.first + run.n_ids;
    run.begin = static_cast<double>(first[run.first]) * seconds;
    run.end = static_cast<double>(next < first.size() ? first[next] : n_rows) * seconds;
  }
  const double median = cut_long_words(&runs);
  join_marks(runs, words);
  cut_pauses(median, said.latest, said.parts, words);
  return GOLDCREST_OK;
}
}  // namespace goldcrest::host
