// SPDX-License-Identifier: Apache-2.0
// Searches restricted to a lexicon: they must equal the naive search over the texts of its entries. Gathered and masked
// outputs give the same bits.
#include "converter/spec/lexicon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "goldcrest/decoding.h"
#include "naive_search.h"
#include "support/rng.h"
#include "support/tiny_model.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using converter::LexiconSpec;
using converter::ModelSpec;
using test::EngineSetup;
using test::NaiveHypothesis;
using test::NaiveOptions;
using test::PrefixLogits;
using test::Rng;
using test::TestEngine;
using test::Translation;

using Entry = std::vector<int32_t>;
using Entries = std::vector<Entry>;

ModelSpec lexicon_spec(uint64_t seed, uint32_t target_vocab_size = 300) {
  test::TinyOptions options = test::deep_tiny_options();
  options.seed = seed;
  options.target_vocab_size = target_vocab_size;
  return test::tiny_spec(options);
}

// Entries that share prefixes and begin others, of ids from 1 to n_ids.
Entries random_entries(uint32_t n, uint32_t n_ids, Rng& rng) {
  Entries entries;
  while (entries.size() < n) {
    Entry entry;
    if (!entries.empty() && rng.below(2) == 1) {
      entry = entries[rng.below(static_cast<uint32_t>(entries.size()))];
      entry.resize(rng.below(static_cast<uint32_t>(entry.size()) + 1));
    }
    for (uint32_t more = 1 + rng.below(3); more > 0; --more)
      entry.push_back(static_cast<int32_t>(1 + rng.below(n_ids)));
    if (entry.size() < 9) entries.push_back(entry);
  }
  return entries;
}

bool begins(const Entry& entry, const Entry& text) {
  return text.size() <= entry.size() && std::equal(text.begin(), text.end(), entry.begin());
}

// Looks at every entry. With `words`, the rest of the text behind the words that are over is what counts.
std::vector<uint32_t> naive_allowed(const Entries& entries, bool words, const Entry& text, uint32_t end_id) {
  const auto continues = [&](const Entry& begun) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return begins(entry, begun); });
  };
  Entry word;
  for (const int32_t token : text) {
    Entry longer = word;
    longer.push_back(token);
    word = words && !continues(longer) ? Entry{token} : longer;
  }
  std::set<uint32_t> allowed;
  bool is_over = false;
  for (const Entry& entry : entries) {
    if (!begins(entry, word)) continue;
    if (entry.size() > word.size())
      allowed.insert(static_cast<uint32_t>(entry[word.size()]));
    else
      is_over = true;
  }
  if (is_over) allowed.insert(end_id);
  for (const Entry& entry : entries)
    if (is_over && words && !entry.empty()) allowed.insert(static_cast<uint32_t>(entry[0]));
  return {allowed.begin(), allowed.end()};
}

goldcrest_search lexicon_search(uint32_t beam_size) {
  goldcrest_search search = {};
  search.beam_size = beam_size;
  search.max_target_tokens = 12;
  search.length_penalty = 0.8f;
  search.flags = GOLDCREST_SEARCH_SCORES;
  return search;
}

struct LexiconCase {
  ModelSpec spec;
  Entries entries;
  bool words;
};

EngineSetup lexicon_setup(const goldcrest_search& search, uint32_t max_candidates) {
  EngineSetup setup;
  setup.limits.beam_size = setup.limits.n_best = search.beam_size;
  setup.limits.max_target_tokens = search.max_target_tokens;
  setup.limits.max_candidates = max_candidates;
  setup.limits.lexicon = 1;
  return setup;
}

std::vector<Translation> lexicon_results(const LexiconCase& of, const goldcrest_search& search,
                                         const std::vector<int32_t>& source, uint32_t max_candidates) {
  const FileImage file = test::tiny_file(of.spec);
  TestEngine engine(file.span(), lexicon_setup(search, max_candidates));
  engine.set_search(search);
  const LexiconSpec lexicon = converter::make_lexicon(of.entries, of.words);
  const goldcrest_lexicon view = lexicon.view();
  EXPECT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
  std::vector<Translation> results = engine.run(std::span(&source, 1)).at(0);
  EXPECT_TRUE(engine.memory_intact());
  return results;
}

std::vector<NaiveHypothesis> naive_lexicon_results(const LexiconCase& of, const goldcrest_search& search,
                                                   const std::vector<int32_t>& source) {
  ModelSpec plain = of.spec;
  plain.generation.rules = {};
  const FileImage file = test::tiny_file(plain);
  PrefixLogits logits(file.span(), source, search.max_target_tokens + 1);
  NaiveOptions options = {search, of.spec.generation.end_id, -1, of.spec.generation.suppressed_ids};
  options.rules = of.spec.generation.rules;
  options.start_id = of.spec.generation.decoder_start_id;
  options.allowed = [&](const std::vector<int32_t>& prefix) {
    return naive_allowed(of.entries, of.words, prefix, of.spec.generation.end_id);
  };
  if (search.beam_size == 1) return {naive_greedy_search(logits, options)};
  return naive_beam_search(logits, options);
}

std::vector<int32_t> lexicon_source(Rng& rng) {
  std::vector<int32_t> source;
  for (uint32_t n = 2 + rng.below(6); n > 0; --n) source.push_back(static_cast<int32_t>(rng.below(29)));
  return source;
}

void expect_naive_lexicon(const LexiconCase& of, uint32_t beam_size, Rng& rng) {
  const std::vector<int32_t> source = lexicon_source(rng);
  const goldcrest_search search = lexicon_search(beam_size);
  const std::vector<Translation> found = lexicon_results(of, search, source, 40);
  const std::vector<NaiveHypothesis> expected = naive_lexicon_results(of, search, source);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].tokens, expected[i].tokens) << "hypothesis " << i;
    EXPECT_NEAR(found[i].log_prob, expected[i].log_prob, 5e-5);
  }
  for (const uint32_t max_candidates : {GOLDCREST_NO_SHORTLIST, 7u, 300u}) {
    EXPECT_EQ(lexicon_results(of, search, source, max_candidates), found) << max_candidates << " candidates";
  }
}

TEST(Lexicon, SearchesAreTheNaiveOnesOverItsTexts) {
  Rng rng(3);
  for (uint64_t round = 0; round < 24; ++round) {
    const bool words = round % 2 == 1;
    const uint32_t n_entries = round % 3 == 0 ? 1 : round % 3 == 1 ? 12 : 150, beam_size = 1 + rng.below(5);
    const LexiconCase of = {lexicon_spec(round), random_entries(n_entries, words ? 200 : 40, rng), words};
    SCOPED_TRACE(testing::Message() << "round " << round << ", beam size " << beam_size);
    expect_naive_lexicon(of, beam_size, rng);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace goldcrest
