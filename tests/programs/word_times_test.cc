// SPDX-License-Identifier: Apache-2.0
// Times of words next to whole matrices in double, and the subtitles that are made of them.
#include "host/speech/word_times.h"
#include "goldcrest/inspection.h"
#include "goldcrest/speech.h"
#include "host/speech/subtitles.h"
#include "host/speech/transcriber.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using host::TimedWord;
using Rows = std::vector<std::vector<double>>;

// Returns the attention of one head: [ids, n_rows].
Rows attention(const Session& session, uint32_t n_ids, size_t n_rows, uint32_t head) {
  Rows rows;
  for (uint32_t id = 0; id < n_ids; ++id) {
    std::vector<float> weights(session.memory().limits.max_source_tokens);
    const uint32_t n_heads = session.info().decoder_heads;
    const goldcrest_alignment wanted = {
        0, 0, id, static_cast<int32_t>(head / n_heads), static_cast<int32_t>(head % n_heads)};
    EXPECT_GT(goldcrest_get_alignment(session.engine(), &wanted, weights.data(), weights.size()), 0);
    rows.emplace_back(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(n_rows));
    const double sum = std::accumulate(rows.back().begin(), rows.back().end(), 0.0);
    for (double& weight : rows.back()) weight /= sum;
  }
  return rows;
}

// Subtracts each column's mean and divides by its deviation, then takes medians of 7 along each row.
void make_likeness(Rows* rows) {
  const auto n = static_cast<double>(rows->size());
  const auto n_columns = static_cast<std::ptrdiff_t>(rows->front().size());
  for (size_t t = 0; t < rows->front().size(); ++t) {
    double mean = 0, squares = 0;
    for (const auto& row : *rows) mean += row[t] / n;
    for (const auto& row : *rows) squares += (row[t] - mean) * (row[t] - mean) / n;
    for (auto& row : *rows) row[t] = (row[t] - mean) / std::sqrt(squares);
  }
  for (auto& row : *rows) {
    const std::vector<double> before = row;
    for (std::ptrdiff_t t = 0; t < n_columns; ++t) {
      std::vector<double> window;
      for (std::ptrdiff_t i = t - 3; i <= t + 3; ++i) {
        const std::ptrdiff_t mirrored = std::abs(i);
        window.push_back(before[static_cast<size_t>(mirrored < n_columns ? mirrored : 2 * (n_columns - 1) - mirrored)]);
      }
      std::ranges::sort(window);
      row[static_cast<size_t>(t)] = window[3];
    }
  }
}

// Returns the first column of each row on the path of the largest sum.
std::vector<size_t> best_path(const Rows& likeness) {
  const size_t n = likeness.size(), m = likeness.front().size();
  Rows cost(n + 1, std::vector<double>(m + 1, HUGE_VAL));
  cost[0][0] = 0;
  for (size_t i = 1; i <= n; ++i)
    for (size_t j = 1; j <= m; ++j)
      cost[i][j] = std::min({cost[i - 1][j - 1], cost[i - 1][j], cost[i][j - 1]}) - likeness[i - 1][j - 1];
  std::vector<size_t> first(n);
  for (size_t i = n, j = m; i > 0;) {
    first[i - 1] = j - 1;
    const double both = cost[i - 1][j - 1], down = cost[i - 1][j], across = cost[i][j - 1];
    if (across <= both && across <= down) {
      --j;
    } else {
      if (both < down) --j;
      --i;
    }
  }
  return first;
}

// Hears a clip and returns its words; *said <- its ids.
std::vector<TimedWord> hear(Session& session, const std::vector<int16_t>& samples, host::SpokenText* said) {
  EXPECT_EQ(session.read_info(), "");
  goldcrest_limits limits = {};
  host::ask_for_words(session, &limits);
  EXPECT_EQ(session.start({}, limits), "");
  EXPECT_EQ(goldcrest_begin_audio(session.engine(), samples.data(), samples.size()), 0);
  EXPECT_EQ(goldcrest_run(session.engine()), GOLDCREST_DONE);
  goldcrest_result result;
  EXPECT_EQ(goldcrest_get_result(session.engine(), 0, 0, &result), GOLDCREST_OK);
  said->prompt.assign(result.tokens, result.tokens + result.n_prefix);
  said->ids.assign(result.tokens + result.n_prefix, result.tokens + result.n_tokens);
  if (said->ids.back() == session.info().end_id) said->ids.pop_back();
  if (session.info().fixed_window != 0) {  // it decodes any text; its ids are bytes
    const std::string text = " ask no \xe6\x9d\xb1\xe4\xba\xac I";
    said->ids.assign(text.begin(), text.end());
    for (int32_t& id : said->ids) id &= 0xFF;
  }
  std::vector<TimedWord> words;
  EXPECT_EQ(host::find_words(session, *said, samples.size(), &words), GOLDCREST_OK);
  return words;
}

TEST(WordTimes, AreThoseOfWholeMatrices) {
  size_t n_compared = 0;
  for (const char* family : {"moonshine", "whisper"}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Session session;
      ASSERT_EQ(session.open(random_speech_model(family), 1), "");
      Rng rng(seed);
      std::vector<int16_t> samples(12000);
      for (int16_t& sample : samples) sample = static_cast<int16_t>(9000 * rng.uniform());
      host::SpokenText said;
      const std::vector<TimedWord> words = hear(session, samples, &said);
      ASSERT_FALSE(words.empty());
      const auto n_prompt = static_cast<std::ptrdiff_t>(said.prompt.size());
      const size_t n_rows = samples.size() / session.info().row_samples;
      goldcrest_result result;
      ASSERT_EQ(goldcrest_get_result(session.engine(), 0, 0, &result), GOLDCREST_OK);
      std::vector<uint32_t> heads(session.info().decoder_layers * session.info().decoder_heads);
      std::iota(heads.begin(), heads.end(), 0);
      if (session.traits().n_alignment_heads != 0)
        heads.assign(
            session.traits().alignment_heads, session.traits().alignment_heads + session.traits().n_alignment_heads);
      Rows mean(result.n_tokens, std::vector<double>(n_rows));
      for (const uint32_t head : heads) {
        Rows of_head = attention(session, result.n_tokens, n_rows, head);
        make_likeness(&of_head);
        for (size_t i = 0; i < mean.size(); ++i)
          for (size_t t = 0; t < n_rows; ++t) mean[i][t] += of_head[i][t];
      }
      const size_t n = std::min(said.ids.size() + 1, mean.size() - said.prompt.size());
      const std::vector<size_t> first =
          best_path({mean.begin() + n_prompt, mean.begin() + n_prompt + static_cast<std::ptrdiff_t>(n)});
      size_t at = 0;
      std::string text;
      for (size_t i = 0; i < words.size(); ++i) {
        const size_t begin = at, end = at += words[i].n_ids;
        const double row = static_cast<double>(session.info().row_samples) / session.info().sample_rate;
        text += words[i].text;
        EXPECT_LE(words[i].begin, words[i].end);
        EXPECT_TRUE(words[i].probability > 0 && words[i].probability <= 1) << words[i].probability;
        // So may be those at the marks of sentences.
        if ((words[std::max<size_t>(1, i) - 1].text + words[i].text).find_first_of(".!?,") != std::string::npos)
          continue;
        const double expected =
            i == 0 ? words[0].begin : static_cast<double>(first[begin]) * row;  // the first may be cut
        EXPECT_NEAR(words[i].begin, expected, 1e-9) << family << " " << i;
        EXPECT_NEAR(words[i].end, static_cast<double>(end < first.size() ? first[end] : n_rows) * row, 1e-9);
        ++n_compared;
      }
      EXPECT_EQ(at, said.ids.size()) << family;
      std::string whole;
      EXPECT_EQ(session.append_text(said.ids.data(), said.ids.size(), &whole), GOLDCREST_OK);
      EXPECT_EQ(text, whole);
    }
  }
  EXPECT_GT(n_compared, 16u);
}

TEST(WordTimes, OfSegmentsStopAtTheirBordersWithoutPauses) {
  Session session;
  ASSERT_EQ(session.open(random_speech_model("whisper"), 1), "");
  const std::vector<int16_t> samples(12000, 100);
  host::SpokenText said;
  ASSERT_EQ(hear(session, samples, &said).at(0).text, " ask");
  said.parts = {{3, 0, 0.1}, {static_cast<uint32_t>(said.ids.size() - 3), 0.1, 0.75}};
  std::vector<TimedWord> words;
  ASSERT_EQ(host::find_words(session, said, samples.size(), &words), GOLDCREST_OK);
  EXPECT_EQ(words.at(0).text + "|" + words.at(1).text, " as|k");

  words = {{" a", 0, 0.2, 1, 1}, {" b", 0.2, 0.4, 1, 1}};
  const auto part = [&](double begin, double middle, double end) {
    words.push_back({" a", begin, middle, 1, 1});
    words.push_back({" b", middle, end, 1, 1});
  };
  part(0.4, 3.4, 3.6);  // a pause is in the first word,
  part(3.6, 3.8, 6);    // in the last,
  part(6, 6.2, 9);      // in the second,
  part(9, 9.7, 9.9);    // in a first one that the segment's time contradicts
  host::cut_pauses(0.2, 9.8, {{2, 0, 0.4}, {2, 3.1, 3.8}, {2, 3.6, 4}, {2, 8.6, 9}, {2, 9.65, 9.9}}, &words);
  const double expected[][2] = {
      {0, 0.2}, {0.2, 0.4}, {3, 3.4}, {3.4, 3.6}, {3.6, 3.8}, {3.8, 4}, {8.2, 8.6}, {8.6, 9}, {9.5, 9.7}, {9.7, 9.8}};
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_NEAR(words[i].begin, expected[i][0], 1e-9) << i;
    EXPECT_NEAR(words[i].end, expected[i][1], 1e-9) << i;
  }
}

TEST(WordTimes, SegmentsThatTakeNoTimeAreLeftOut) {
  Transcription made;
  made.segments = {{0, 1, " one", {}, {}}, {1, 1, " none", {}, {}}};
  made.text = " one none";
  drop_instants(&made);
  EXPECT_EQ(made.text, " one");
  EXPECT_EQ(made.segments.size(), 1u);
}

// Words that each take 0.3 s, 0.05 s apart, and 2 s after each word that ends with "#".
std::vector<TimedWord> spoken(const std::string& text) {
  std::vector<TimedWord> words;
  double time = 1;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin + 1), text.size());
    std::string word = text.substr(begin, end - begin);
    const bool pauses = word.back() == '#';
    if (pauses) word.pop_back();
    words.push_back({word, time, time + 0.3, 1, 1});
    time += pauses ? 2.3 : 0.35;
    begin = end;
  }
  return words;
}

TEST(Subtitles, KeepTheirLimitsAndEndAtMarks) {
  const std::string text =
      " It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness. "
      "Yes.# We had everything before us, we had nothing before us, incomprehensibilities notwithstanding.";
  for (const uint32_t width : {12u, 20u, 42u, 200u}) {
    for (const uint32_t n_lines : {1u, 2u, 3u}) {
      std::string joined;
      double before = 0;
      for (const Subtitle& it : make_subtitles(spoken(text), {width, n_lines}, 0, 100)) {
        EXPECT_LE(it.end - it.begin, 7);
        EXPECT_TRUE(it.begin >= before && it.end > it.begin) << it.begin;
        before = it.end;
        EXPECT_LT(std::ranges::count(it.text, '\n'), static_cast<std::ptrdiff_t>(n_lines));
        size_t begin = 0;
        for (size_t end = 0; end != it.text.size(); begin = end + 1) {
          end = std::min(it.text.find('\n', begin), it.text.size());
          const std::string line = it.text.substr(begin, end - begin);
          EXPECT_TRUE(line.size() <= width || line.find(' ') == line.npos) << line;
        }
        joined += ' ' + it.text;
      }
      std::ranges::replace(joined, '\n', ' ');
      std::string expected = text;
      std::erase(expected, '#');
      EXPECT_EQ(joined, expected) << width << " " << n_lines;
    }
  }
  const std::vector<Subtitle> usual = make_subtitles(spoken(text), {}, 0, 100);
  EXPECT_EQ(usual.at(0).text, "It was the best of times, it was the\nworst of times, it was the age of wisdom,");
  EXPECT_TRUE(std::ranges::any_of(usual, [](const Subtitle& it) { return it.text.ends_with("Yes."); })) << "a pause";
  // Too fast to read: it stays where nobody speaks, and comes earlier.
  const std::vector<Subtitle> fast = make_subtitles({{" incomprehensibilities", 2, 2.3, 1, 1}}, {}, 1.9, 2.7);
  EXPECT_DOUBLE_EQ(fast.at(0).begin, 1.9);
  EXPECT_DOUBLE_EQ(fast.at(0).end, 2.7);
  EXPECT_TRUE(make_subtitles({}, {}, 0, 1).empty());
}
}}  // namespace goldcrest::test
