// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate: prefixes, samples, alternatives, sequences, text as it becomes certain, deadlines, interrupts;
// and what beams agree on in the shipped model.
#include "goldcrest/decoding.h"
#include "programs/models.h"
#include "support/engine_fixture.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Ids = std::vector<int32_t>;

const std::string kSentences = "Where is the station? I saw Mr. Jackson.  Stop!\n\n The cat is on the table.\nStop!\n";

TEST(TranslateStream, PrintsTheSameText) {
  for (const Arguments& options : {Arguments{}, Arguments{"--beam-size", "1"}, Arguments{"--beam-size", "16"},
           Arguments{"--no-split"}, Arguments{"--prefix", "Mon"}}) {
    Arguments streamed = options;
    streamed.push_back("--stream");
    const Outcome expected = translate("enfr", options, kSentences), found = translate("enfr", streamed, kSentences);
    EXPECT_EQ(found.status, 0);
    EXPECT_EQ(found.err, "");
    EXPECT_EQ(found.out, expected.out);
  }
  const Outcome bad = with_status(3, translate("enfr", {"--stream"}, "Stop!\n>>xx<< Stop!\n\xff\nStop!\n"));
  EXPECT_EQ(lines_of(bad.out).size(), 4u);
  EXPECT_EQ(lines_of(bad.out)[2], "");
}

TEST(TranslateStream, ExcludesWhatNeedsTheWholeResult) {
  for (const Arguments& other : {Arguments{"--tokens"}, Arguments{"--n-best", "2"}, Arguments{"--batch", "2"},
           Arguments{"--scores"}, Arguments{"--encode"}, Arguments{"--alignments", "hard"}}) {
    Arguments options = other;
    options.push_back("--stream");
    EXPECT_EQ(translate("enfr", options, "").status, 2) << other[0];
  }
}

// The same seed gives the same texts, however sentences are put into batches.
TEST(TranslateSample, DependsOnTheSeed) {
  const Arguments options = {"--sample", "--seed", "3", "--top-p", "0.9", "--temperature", "1.5"};
  const auto with = [&](const Arguments& more) {
    return with_status(0, translate("enfr", concat(options, more), kSentences)).out;
  };
  const std::string drawn = with({});
  EXPECT_EQ(with({"--batch", "3", "--threads", "2"}), drawn);
  EXPECT_EQ(with({"--kernels", "reference"}), drawn);
  EXPECT_EQ(with({"--stream"}), drawn);
  EXPECT_NE(
      translate("enfr", {"--sample", "--seed", "4", "--top-p", "0.9", "--temperature", "1.5"}, kSentences).out, drawn);
  EXPECT_NE(translate("enfr", {"--beam-size", "1"}, kSentences).out, drawn);
  EXPECT_EQ(translate("enfr", {"--sample", "--top-k", "1"}, kSentences).out,
      translate("enfr", {"--beam-size", "1"}, kSentences).out);
  const std::vector<std::string> several = lines_of(with({"--num-samples", "3"}));
  ASSERT_EQ(several.size(), 3u * 3 + 1) << "three lines, and an empty one";
  EXPECT_EQ(several[1].compare(0, 4, "1\t2\t"), 0) << several[1];
}

TEST(TranslateSample, SaysWhatIsWrong) {
  for (const Arguments& options :
      {Arguments{"--top-k", "5"}, Arguments{"--sample", "--top-k", "257"}, Arguments{"--sample", "--beam-size", "2"},
          Arguments{"--sample", "--temperature", "0"}, Arguments{"--sample", "--num-samples", "17"},
          Arguments{"--sample", "--n-best", "2"}, Arguments{"--sample", "--top-p", "0"}, Arguments{"--seed", "1"}})
    EXPECT_EQ(translate("enfr", options, "").status, 2) << options.back();
  EXPECT_TRUE(has(translate("enfr", {"--smaple"}, "").err, "did you mean \"--sample\"?"));
}

TEST(TranslateAlternatives, AreLinesThatBeginDifferently) {
  const std::string text = "The weather is nice.\nWe go out.\n";
  const std::vector<std::string> three = lines_of(translate("enfr", {"--alternatives", "3"}, text).out);
  ASSERT_EQ(three.size(), 6u);
  EXPECT_EQ(three[0], "1\t1\tLe temps est sympa.");
  EXPECT_EQ(three[3].substr(0, 4), "2\t1\t");
  EXPECT_EQ(lines_of(translate("enfr", {"--alternatives", "3", "--batch", "2"}, text).out), three);
  EXPECT_EQ(translate("enfr", {"--alternatives", "1"}, text).out, translate("enfr", {"--beam-size", "1"}, text).out);
  const Arguments likely = {"--alternatives", "3", "--min-alternative-prob", "0.9"};
  EXPECT_LT(lines_of(translate("enfr", likely, text).out).size(), 6u);
  for (const Arguments& wrong :
      {Arguments{"--alternatives", "17"}, Arguments{"--alternatives", "2", "--beam-size", "2"},
          Arguments{"--min-alternative-prob", "0.5"}, Arguments{"--alternatives", "2", "--min-alternative-prob", "2"}})
    EXPECT_EQ(translate("enfr", wrong, "").status, 2);
}

TEST(TranslateAlternatives, WithoutRoomAreOne) {
  for (const Arguments& no_room : {Arguments{"--max-target", "1"}, Arguments{"--max-target", "1", "--batch", "2"},
           Arguments{"--max-target", "2", "--prefix-ids", "17"},
           Arguments{"--max-target", "3", "--prefix-ids", "17 18"}, Arguments{"--max-length-factor", "0.01"}}) {
    const Arguments options = concat({"--alternatives", "3", "--tokens"}, no_room);
    EXPECT_EQ(lines_of(translate("enfr", options, "Stop!\nLet's go home.\n").out).size(), 2u) << no_room[1];
  }
  // With one position they differ in it.
  const Outcome room = translate("enfr", {"--alternatives", "3", "--tokens", "--max-target", "2"}, "Stop!\n");
  EXPECT_EQ(lines_of(room.out).size(), 3u);
}

TEST(TranslateSequences, AreSuppressedOrBiased) {
  const std::string text = "The cat is on the table.\n";
  const auto with = [&](const Arguments& options) { return translate("enfr", options, text); };
  const std::string plain = with({}).out;
  EXPECT_TRUE(has(plain, "sur la"));
  EXPECT_FALSE(has(with({"--suppress", "sur la"}).out, "sur la"));
  EXPECT_EQ(with({"--suppress-ids", "39 720"}).out, with({"--bias-ids=-65536 39 720"}).out);
  EXPECT_NE(with({"--suppress-ids", "39 720, 146"}).out, with({"--suppress-ids", "39 720"}).out);
  EXPECT_NE(with({"--bias-ids", "9 358"}).out, plain);
  EXPECT_NE(with({"--no-repeat-source-ngram", "1"}).out, plain);
  for (const auto& [options, message] :
      std::vector<std::pair<Arguments, std::string>>{{{"--suppress-ids", "x"}, "sequence: not a token id: x"},
          {{"--suppress-ids", "999999"}, "sequence: id 999999 is outside the vocabulary of "},
          {{"--bias-ids", "x 3"}, "sequence: no bias in front: x 3"}, {{"--bias-ids", "2"}, "sequence: no ids"},
          {{"--bias-ids", "1e9 3"}, "sequences: a length, an id or a bias is out of range"}}) {
    const auto result = with(options);
    EXPECT_NE(result.status, 0);
    EXPECT_TRUE(has(result.err, message));
  }
}

TEST(TranslatePrefix, BeginsEveryResult) {
  for (const char* const beams : {"1", "4"}) {
    const std::string text = "The cat is on the table.\nShe bought a car.\n";
    for (const std::string prefix : {"Mon", "Le ch", "Aujourd'hui, ", "L\xC3\xA9o"})
      for (const std::string& line : lines_of(translate("enfr", {"--beam-size", beams, "--prefix", prefix}, text).out))
        EXPECT_EQ(line.compare(0, prefix.size(), prefix), 0) << line;
    const Outcome ids =
        translate("enfr", {"--beam-size", beams, "--prefix-ids", "17 11", "--tokens", "--batch", "2"}, text);
    for (const std::string& line : lines_of(ids.out)) EXPECT_EQ(line.compare(0, 6, "17 11 "), 0) << line;
    EXPECT_EQ(lines_of(ids.out).size(), 2u);
    // A prefix for each line, and none for one of them.
    const TemporaryFolder folder;
    folder.write("prefixes", "17 11\n\n");
    const Outcome lines =
        translate("enfr", {"--beam-size", beams, "--prefix-file", folder / "prefixes", "--tokens"}, text);
    EXPECT_EQ(lines_of(lines.out)[0], lines_of(ids.out)[0]);
    EXPECT_EQ(lines_of(lines.out)[1], lines_of(translate("enfr", {"--beam-size", beams, "--tokens"}, text).out)[1]);
    folder.write("prefixes", "17 11\n");
    const Outcome shorter = with_status(3, translate("enfr", {"--prefix-file", folder / "prefixes"}, text));
    EXPECT_TRUE(has(shorter.err, "line 2: " + (folder / "prefixes").string() + ": no such line"));
  }
}

// A sentence of a batch that the engine refuses takes nothing from the others.
TEST(TranslatePrefix, IsRefusedOnlyOnItsLine) {
  const std::string text = "The cat is on the table.\nShe bought a car.\nStop!\n";
  const TemporaryFolder folder;
  folder.write("prefixes", "17 11\n17 0\n17\n");  // 0 ends a text
  const auto with = [&](const char* batch) {
    return translate("enfr", {"--prefix-file", folder / "prefixes", "--batch", batch}, text);
  };
  const Outcome one = with("1"), three = with("3");
  EXPECT_EQ(lines_of(three.out)[1], "");
  EXPECT_TRUE(has(three.err, "line 2: bad argument: prefix: an end id (1)"));
  EXPECT_EQ(three.out, one.out);
  EXPECT_EQ(three.err, one.err);
  EXPECT_EQ(three.status, 3);
}

TEST(TranslatePrefix, SaysWhatIsWrong) {
  const auto message = [](const std::string& task, const Arguments& options) {
    const Outcome outcome = translate(task, options, "Stop!\n");
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(outcome.out.find_first_not_of('\n'), std::string::npos) << outcome.out;
    return outcome.err;
  };
  EXPECT_TRUE(has(message("enfr", {"--prefix", "\xE4\xB8\x80"}), "no pieces for \"\xE4\xB8\x80\""));
  EXPECT_TRUE(has(message("g2p", {"--prefix", "A"}), "prefix: the model's vocabulary has no pieces for \"A\""));
  EXPECT_TRUE(has(message("enfr", {"--prefix-ids", "5000000"}), "5000000"));
  EXPECT_TRUE(has(message("enfr", {"--prefix-ids", "17 0"}), "prefix: an end id"));
  EXPECT_TRUE(has(message("enfr", {"--prefix-ids", "17 17 17", "--max-target", "3"}), "--max-target"));
}

// enfr has the same ids in both languages. Neither right nor wrong guesses change a result.
TEST(TranslateDraft, ChangesNoResult) {
  const Arguments greedy = {"--beam-size", "1", "--batch", "1", "--tokens", "--scores"};
  const std::string text = "The cat is on the table.\nShe bought a car.\nStop!\n";
  const Outcome expected = translate("enfr", greedy, text);
  const TemporaryFolder folder;
  folder.write("good", translate("enfr", {"--beam-size", "1", "--tokens"}, text).out);
  folder.write("bad", "17 11 9 9\n\n0 0 5\n");
  for (const std::string& draft : {std::string("source"), (folder / "good").string(), (folder / "bad").string()}) {
    const Outcome found = translate("enfr", {"--draft", draft, "--tokens", "--scores"}, text);
    EXPECT_EQ(found.out, expected.out) << draft;
    EXPECT_EQ(found.status, 0) << found.err;
  }
  folder.write("bad", "17 5000000\n1 2\n");
  const Outcome wrong = with_status(3, translate("enfr", {"--draft", folder / "bad", "--tokens"}, text));
  EXPECT_TRUE(has(wrong.err, "5000000"));
  EXPECT_TRUE(has(wrong.err, "no such line"));
  const Outcome other = translate("g2p", {"--draft", "source"}, "cat\n");
  EXPECT_NE(other.status, 0);
  EXPECT_TRUE(has(other.err, "--draft source: the model has "));
}

TEST(TranslateDeadline, PrintsWhatIsCertain) {
  const Outcome late = with_status(3, translate("enfr", {"--deadline", "1e-9"}, "The cat is on the table.\nStop!\n"));
  EXPECT_EQ(late.out, "\n\n");
  EXPECT_TRUE(has(late.err, "line 1: stopped after 1e-09 s (--deadline); its end is missing"));
  const Outcome enough = with_status(0, translate("enfr", {"--deadline", "200", "--batch", "3"}, kSentences));
  EXPECT_EQ(enough.out, translate("enfr", {}, kSentences).out);
}

// The program ends by the signal itself, as shells expect, and what it had translated is printed.
TEST(TranslateInterrupt, EndsTheProgramBySignal) {
  const std::string command = "(echo Stop!; sleep 20) | timeout --preserve-status -s INT 3 " +
                              translate_program().string() + " " + converted_model("enfr").string();
  const Outcome outcome = with_status(130, run("/bin/bash", {"-c", command + "; exit ${PIPESTATUS[1]}"}));
  EXPECT_EQ(outcome.out, translate("enfr", {}, "Stop!\n").out);
}

// Over 500 lines: what was agreed begins the result. Prints the share of a text that is agreed when half of its steps
// are done.
TEST(Agreement, OfTheShippedModel) {
  const std::string file = read_file(converted_model("enfr"));
  GuardedBuffer<uint8_t> model(file.size());
  std::copy(file.begin(), file.end(), model.begin());
  const std::vector<GoldenLine> lines = golden_lines("enfr");
  ASSERT_GE(lines.size(), 500u);
  std::vector<size_t> encoding_steps(500);  // greedy search agrees on a token with its first decoding step
  for (const uint32_t beams : {1u, 4u, 16u}) {
    TestEngine engine({model.get(), model.size()}, {.limits = {.beam_size = beams}});
    double share = 0;
    for (size_t i = 0; i < 500; ++i) {
      const Ids& source = lines[i].source_ids;
      ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
      std::vector<Ids> seen;
      for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
        status = goldcrest_step(engine.get(), nullptr);
        ASSERT_GE(status, 0);
        Ids ids(engine.memory().limits.max_target_tokens);
        const int n = goldcrest_get_agreed(engine.get(), 0, ids.data(), ids.size());
        ASSERT_GE(n, 0);
        ids.resize(static_cast<size_t>(n));
        seen.push_back(ids);
      }
      const Ids result = engine.results(0).at(0).tokens;
      for (size_t step = 0; step < seen.size(); ++step) {
        ASSERT_LE(seen[step].size(), result.size());
        ASSERT_TRUE(std::equal(seen[step].begin(), seen[step].end(), result.begin())) << "line " << i;
        if (beams == 1 && seen[step].empty()) encoding_steps[i] = step + 1;
      }
      const size_t first = encoding_steps[i];
      share += static_cast<double>(seen[first + (seen.size() - first + 1) / 2 - 1].size()) /
               static_cast<double>(result.size());
    }
    std::printf("beam size %u: %.0f %% of a text is agreed when half of its steps are done\n", beams, share / 5);
    EXPECT_GT(share / 500, 0.05) << "the agreement is not always empty";
  }
}
}}  // namespace goldcrest::test
