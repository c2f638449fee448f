// SPDX-License-Identifier: Apache-2.0
// goldcrest.hpp: translate_text gives the text that goldcrest-translate gives, in memory of any size.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "goldcrest/goldcrest.h"
#include "goldcrest/goldcrest.hpp"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

constexpr char kList[] = "Mr";

// An engine for the shipped English-French model.
class TranslateText : public testing::Test {
 protected:
  void start(const goldcrest_limits& limits) {
    file_ = read_file(converted_model("enfr"));
    model_ = aligned(file_.size());
    std::memcpy(model_.get(), file_.data(), file_.size());
    const int64_t bytes = goldcrest_arena_bytes(model_.get(), file_.size(), &limits);
    ASSERT_GT(bytes, 0);
    arena_ = aligned(static_cast<size_t>(bytes));
    goldcrest_config config = {};
    config.model = model_.get();
    config.model_bytes = file_.size();
    config.arena = arena_.get();
    config.arena_bytes = static_cast<size_t>(bytes);
    config.limits = limits;
    ASSERT_TRUE(engine_.init(config).ok());
  }

  // Returns the value of translate_text; its text is in out_.
  int64_t translate(const std::string& text, size_t out_bytes) {
    out_.assign(out_bytes + 1, '#');
    const goldcrest_part_options parts = {kList, sizeof kList - 1, 0};
    const Status status = engine_.translate_text(text.data(), text.size(), parts, out_.data(), out_bytes);
    EXPECT_EQ(out_[out_bytes], '#') << "a byte behind the memory is written";
    return status.value();
  }
  std::string text() const { return out_.c_str(); }

  Engine engine_;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static std::unique_ptr<void, Free> aligned(size_t bytes) {
    return std::unique_ptr<void, Free>(
        std::aligned_alloc(GOLDCREST_ALIGN, (bytes + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN));
  }

  std::string file_, out_;
  std::unique_ptr<void, Free> model_, arena_;
};

const std::string kText = " Where is the station?  I saw Mr. Jackson.\r\n\nCan you help me, please? Stop!\n";

TEST_F(TranslateText, GivesWhatTheProgramGives) {
  goldcrest_limits limits = {};
  limits.max_source_bytes = 256;
  start(limits);
  const std::string expected = run(translate_program(), {converted_model("enfr")}, {.input = kText}).out;
  const int64_t n = translate(kText, 1000);
  ASSERT_GT(n, 0);
  EXPECT_EQ(text().size(), static_cast<size_t>(n));
  std::string without_carriage_return = text();
  without_carriage_return.erase(without_carriage_return.find('\r'), 1);
  EXPECT_EQ(without_carriage_return, expected);
  const std::string whole = text();
  EXPECT_EQ(translate(kText, whole.size() + 1), n);
  for (size_t bytes = 1; bytes <= whole.size(); ++bytes) {
    EXPECT_EQ(translate(kText, bytes), GOLDCREST_ERROR_TRUNCATED) << bytes;
    EXPECT_EQ(whole.compare(0, text().size(), text()), 0) << text();
  }
  EXPECT_EQ(translate(kText, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(translate("", 1), 0);
  EXPECT_EQ(translate(" \n \n", 5), 4);
  EXPECT_EQ(text(), " \n \n");
}

TEST_F(TranslateText, CutsWhatTheEngineFindsTooLong) {
  goldcrest_limits limits = {};
  limits.max_source_bytes = 32;
  limits.max_source_tokens = 8;
  start(limits);
  EXPECT_GT(translate("I know what you want, but I can't help you; we have to go home now.", 1000), 40);
  EXPECT_GT(translate(std::string(500, 'x') + "\xFF\x80 " + std::string(500, ' '), 10000), 500);
}

TEST_F(TranslateText, RefusesNoEngine) {
  const goldcrest_part_options parts = {};
  char out[8];
  EXPECT_EQ(engine_.translate_text("a", 1, parts, out, sizeof out).value(), GOLDCREST_ERROR_ARGUMENT);
}

// goldcrest-translate: lines that are not text, and inputs that have no lines.

using Lines = std::vector<std::string>;

Outcome translate(const std::string& task, Arguments options, const std::string& input) {
  options.insert(options.begin(), converted_model(task));
  return run(translate_program(), options, {.input = input});
}

TEST(TranslateLines, BlankOnesStayBlank) {
  const std::string ideographic = "\xe3\x80\x80", no_break = "\xc2\xa0";
  const std::string input = "\nStop!\n \t \n" + ideographic + no_break + "\n\r\n\v\f\nStop!";
  for (const Arguments& options : {Arguments{}, Arguments{"--tokens"}, Arguments{"--batch", "4"}, Arguments{"--scores"},
                                   Arguments{"--nbest", "1"}}) {
    const Outcome outcome = translate("enfr", options, input);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 7u) << outcome.out;
    EXPECT_NE(lines[1], "");
    EXPECT_EQ(lines[6], lines[1]);
    for (const size_t blank : {0, 2, 3, 4, 5}) EXPECT_EQ(lines[blank], "") << blank;
  }
  // With several results, too, an empty line gives one empty line.
  const Lines lines = lines_of(translate("enfr", {"--nbest", "2"}, "Stop!\n\nStop!\n").out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[3].substr(0, 4), "3\t1\t");
  const Outcome stats = translate("enfr", {"--stats"}, "\n \nStop!\n");
  EXPECT_EQ(stats.err.find("lines 3 (0 failed), source tokens 3, "), 0u) << stats.err;
}

TEST(TranslateLines, ANulByteIsNamed) {
  const std::string nul(1, '\0');
  for (const Arguments& options : {Arguments{}, Arguments{"--encode"}, Arguments{"--batch", "3"}}) {
    const Outcome outcome = translate("g2p", options, "wren\nwr" + nul + "en\n" + nul + "\nwren\n");
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.err,
              "goldcrest-translate: line 2: a NUL byte at byte 3\n"
              "goldcrest-translate: line 3: a NUL byte at byte 1\n");
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[1] + lines[2], "");
    EXPECT_EQ(lines[3], lines[0]);
  }
}

TEST(TranslateLines, ALineThatIsTooLongIsNamedWithItsLimit) {
  const Outcome outcome = translate("g2p", {}, std::string(513, 'a') + "\n" + std::string(64, 'b'));
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "\n\n");
  EXPECT_EQ(outcome.err,
            "goldcrest-translate: line 1: input too long for the limits: text: more bytes than limits.max_source_bytes "
            "(512)\n"
            "goldcrest-translate: line 2: input too long for the limits: text: more tokens than "
            "limits.max_source_tokens (64)\n");
}

TEST(TranslateLines, AnInputThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string there = folder / "";
  const Outcome file = translate("g2p", {there}, "");
  EXPECT_EQ(file.status, 1);
  EXPECT_EQ(file.out, "");
  EXPECT_EQ(file.err, "goldcrest-translate: " + there + ": Is a directory\n");
  const Outcome missing = translate("g2p", {"/no/such/lines"}, "");
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "goldcrest-translate: /no/such/lines: cannot be read: No such file or directory\n");
  // The output of the files before it is complete.
  const Outcome second = translate("g2p", {folder.write("lines", "wren\n"), there}, "");
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.out, translate("g2p", {}, "wren\n").out);
}

TEST(TranslateLines, AModelThatIsNone) {
  const TemporaryFolder folder;
  const std::string good = read_file(converted_model("g2p"));
  const std::string trailer = ": model file corrupt: trailer: not found at the end of the file";
  const std::string none = ": it is not a .gcst file (goldcrest-convert makes them)";
  struct Case {
    std::string path, words;
  };
  const Case cases[] = {
      {"/dev/null", ": a device or a pipe, not a file with content"},
      {folder / "", ": a folder, not a file with content"},
      {folder.write("empty", ""), ": empty, not a file with content"},
      {folder.write("text", std::string(4096, 'a')), none + trailer},
      {folder.write("cut", good.substr(0, good.size() / 2)), ": a .gcst file, but its end is missing" + trailer},
      {folder.write("short", "abc"), none + ": model file corrupt: file: too short to be a model"}};
  for (const Case& c : cases) {
    const Outcome outcome = run(translate_program(), {c.path}, {.input = "wren\n"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "goldcrest-translate: " + c.path + c.words + "\n");
  }
}

// "x86_avx2, reference" with the tables that this CPU does not run, as the programs list them.
std::string tables() {
  std::string text;
  for (uint32_t i = 0, n_running = 0; const char *built = goldcrest_kernels_built(i); ++i) {
    const char* running = goldcrest_kernels_at(n_running);
    const bool runs = running != nullptr && std::string(running) == built;
    n_running += runs ? 1 : 0;
    text += (i == 0 ? "" : ", ") + std::string(built) + (runs ? "" : " (not on this CPU)");
  }
  return text;
}

TEST(TranslateLines, AnUnknownKernelTableIsAnsweredWithThoseThatThereAre) {
  const Outcome option = translate("g2p", {"--kernels", "non\x1bsense"}, "wren\n");
  EXPECT_EQ(option.status, 1);
  const std::string list = "no such table; this build has " + tables();
  EXPECT_EQ(option.err.find("goldcrest-translate: --kernels non\\x1bsense: " + list), 0u) << option.err;
  for (const auto& program : {translate_program(), inspect_program()}) {
    const Outcome variable =
        run("/usr/bin/env", {"GOLDCREST_KERNELS=nonsense", program.string(), converted_model("g2p")});
    EXPECT_EQ(variable.status, 1);
    EXPECT_EQ(variable.err.find(program.filename().string() + ": GOLDCREST_KERNELS=nonsense: " + list), 0u)
        << variable.err;
  }
}

}  // namespace
}  // namespace goldcrest::test
