// SPDX-License-Identifier: Apache-2.0
// goldcrest.hpp: translate_text gives the text that goldcrest-translate gives, in memory of any size.
#include "goldcrest/goldcrest.h"
#include "goldcrest/goldcrest.hpp"
#include "programs/checkpoint_copy.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using TranslateLines = InFolder;
using TranslateSentences = InFolder;

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
    goldcrest_config config = {.model = model_.get(),
        .model_bytes = file_.size(),
        .arena = arena_.get(),
        .arena_bytes = static_cast<size_t>(bytes),
        .limits = limits};
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
  start({.max_source_bytes = 256});
  const std::string expected = test::translate("enfr", {}, kText).out;
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
  start({.max_source_tokens = 8, .max_source_bytes = 32});
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

TEST_F(TranslateLines, BlankOnesStayBlank) {
  const std::string ideographic = "\xe3\x80\x80", no_break = "\xc2\xa0";
  const std::string input = "\nStop!\n \t \n" + ideographic + no_break + "\n\r\n\v\f\nStop!";
  for (const Arguments& options : {Arguments{}, Arguments{"--tokens"}, Arguments{"--batch", "4"}, Arguments{"--scores"},
           Arguments{"--n-best", "1"}}) {
    const Outcome outcome = with_status(0, translate("enfr", options, input));
    EXPECT_EQ(outcome.err, "");
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 7u) << outcome.out;
    EXPECT_NE(lines[1], "");
    EXPECT_EQ(lines[6], lines[1]);
    for (const size_t blank : {0, 2, 3, 4, 5}) EXPECT_EQ(lines[blank], "") << blank;
  }
  // With several results, too, an empty line gives one empty line.
  const Lines lines = lines_of(translate("enfr", {"--n-best", "2"}, "Stop!\n\nStop!\n").out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[3].substr(0, 4), "3\t1\t");
  const Outcome stats = translate("enfr", {"--stats"}, "\n \nStop!\n");
  EXPECT_EQ(stats.err.find("lines 3 (0 failed), source tokens 3, "), 0u) << stats.err;
}

TEST_F(TranslateLines, ANulByteIsNamed) {
  const std::string nul(1, '\0');
  for (const Arguments& options : {Arguments{}, Arguments{"--encode"}, Arguments{"--batch", "3"}}) {
    const Outcome outcome = with_status(3, translate("g2p", options, "wren\nwr" + nul + "en\n" + nul + "\nwren\n"));
    EXPECT_EQ(outcome.err,
        "goldcrest-translate: line 2: a NUL byte at byte 3\n"
        "goldcrest-translate: line 3: a NUL byte at byte 1\n");
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[1] + lines[2], "");
    EXPECT_EQ(lines[3], lines[0]);
  }
}

TEST_F(TranslateLines, SoftHyphensAreLeftOut) {
  const std::string with = "Where is the sta\u00adtion?\n\u00adStop!\nI'm hun\u00ad\u00adgry.\u00ad\n\u00ad\n",
                    without = "Where is the station?\nStop!\nI'm hungry.\n\n";
  for (const Arguments& options :
      {Arguments{}, Arguments{"--batch", "4"}, Arguments{"--encode"}, Arguments{"--no-split"}, Arguments{"--stream"}})
    EXPECT_EQ(translate("enfr", options, with).out, translate("enfr", options, without).out);
  EXPECT_EQ(translate("g2p", {}, "wr\u00aden\n").out, translate("g2p", {}, "wren\n").out);
  EXPECT_NE(
      translate("enfr", {}, "Where is the sta\u2010tion?\n").out, lines_of(translate("enfr", {}, with).out)[0] + "\n");
}

// A ByT5 generates any byte; a token's id is its byte plus 3.
TEST_F(TranslateLines, AGeneratedLineEndIsASpace) {
  for (const int byte : {0x0A, 0x00, 0x0B, 0x0C, 0x0D, 0x1B, 0x1C, 0x7F}) {
    const Arguments options = {"--bias-ids", "60 " + std::to_string(byte + 3), "--max-target", "3"};
    const auto with = [&](const Arguments& more) {
      return translate("g2p-bytes", concat(more, options), "wren\ncat\n").out;
    };
    const std::string raw(2, static_cast<char>(byte));
    EXPECT_EQ(with({}), "  \n  \n") << byte;
    EXPECT_EQ(with({"--stream"}), "  \n  \n") << byte;
    EXPECT_EQ(with({"--keep-controls"}), raw + '\n' + raw + '\n') << byte;
    EXPECT_EQ(with({"--keep-controls", "--stream"}), raw + '\n' + raw + '\n') << byte;
  }
  // U+0085, U+2028, U+2029; U+0080 and U+2027 stay, as does a tab where no columns are.
  const std::string ids = "197 136\n229 131 171\n229 131 172\n197 131\n229 131 170\n68 12 69\n";
  EXPECT_EQ(translate("g2p-bytes", {"--decode"}, ids).out, " \n \n \n\u0080\n\u2027\nA\tB\n");
  EXPECT_EQ(translate("g2p-bytes", {"--decode", "--keep-controls"}, ids).out,
      "\u0085\n\u2028\n\u2029\n\u0080\n\u2027\nA\tB\n");
  const Arguments columns = {"--n-best", "2", "--bias-ids", "60 12", "--max-target", "3", "--max-extra", "0"};
  for (const std::string& line : lines_of(translate("g2p-bytes", columns, "wren\ncat\n").out))
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 2) << line;
}

std::vector<std::string> words_of(const std::string& text, char between) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, between);) words.push_back(word);
  return words;
}

// Returns the text of an id after a word, with its space. Both sides share the vocabulary.
std::string piece_of(const std::string& id) {
  const auto decoded = [](const std::string& ids) {
    return lines_of(translate("enfr", {"--decode"}, ids + "\n").out).at(0);
  };
  return decoded("260 " + id).substr(decoded("260").size());
}

// --bias-ids makes unknown tokens. The token of the largest weight of --alignments stands for each, but not the end.
TEST_F(TranslateLines, ASourceTokenReplacesAnUnknownOne) {
  const Arguments common = {"--no-split", "--beam-size", "1", "--bias-ids", "12 1", "--max-target", "9"};
  const auto lines = [&](const Arguments& options, const std::string& input) {
    return lines_of(translate("enfr", concat(common, options), input).out);
  };
  const std::string input = "Where is the station?\nI don't know what to do.\nLet's go home.\nThank you very much.\n";
  const std::vector<std::string> texts = lines({"--replace-unknowns"}, input),
                                 rows = lines({"--tokens", "--alignments", "soft"}, input),
                                 sources = lines_of(translate("enfr", {"--encode"}, input).out);
  ASSERT_EQ(texts.size(), 4u);
  size_t n_unknown = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::string> columns = words_of(rows[i], '\t'), source = words_of(sources[i], ' ');
    const std::vector<std::string> tokens = words_of(columns[0], ' '), weights = words_of(columns[1], ' ');
    std::string expected;
    for (size_t t = 0; t < tokens.size(); ++t) {
      std::vector<double> of_token;
      for (const std::string& weight : words_of(weights[t], ',')) of_token.push_back(std::stod(weight));
      const auto best = std::max_element(of_token.begin(), of_token.end() - 1) - of_token.begin();
      expected += piece_of(tokens[t] == "1" ? source[static_cast<size_t>(best)] : tokens[t]);
      n_unknown += tokens[t] == "1";
    }
    EXPECT_EQ(texts[i], expected.substr(expected.starts_with(' ')));
  }
  EXPECT_GT(n_unknown, 8u);
  const std::string strange = lines({"--replace-unknowns"}, "\u2603\u2603\n").at(0);
  EXPECT_TRUE(has(strange, "\u2603\u2603")) << "a token that the vocabulary lacks: " << strange;
  EXPECT_EQ(lines({"--no-replace-unknowns"}, input), lines({}, input));
  EXPECT_EQ(translate("enfr", {"--stream", "--replace-unknowns"}, "").status, 2);
  const Outcome cut = translate("enfr", {"--replace-unknowns", "--deadline", "1e-9"}, "Thank you.\n");
  EXPECT_EQ(cut.err,
      "goldcrest-translate: line 1: stopped after 1e-09 s (--deadline); its end is missing, and unknown tokens are not "
      "replaced\n");
}

// `script` is a terminal for the program, whose results go elsewhere.
TEST_F(TranslateLines, ATerminalGetsColoursAndACountOfLines) {
  const auto on_terminal = [&](const std::string& before, const std::string& after) {
    return run("/usr/bin/script", {"-qec", before + translate_program().string() + " " + after, folder / "typescript"})
        .out;
  };
  const std::string red = "\x1b[31mgoldcrest-translate: nowhere.gcst: No such file";
  EXPECT_TRUE(has(on_terminal("", "nowhere.gcst"), red));
  EXPECT_FALSE(has(on_terminal("NO_COLOR=1 ", "nowhere.gcst"), "\x1b[31m"));
  const std::string model = converted_model("enfr").string();
  const std::string counted =
      on_terminal("(echo Stop!; sleep 2; echo Stop!) | ", model + " >" + (folder / "out").string());
  EXPECT_TRUE(has(counted, " lines, ") && has(counted, " a second\x1b[K\r")) << counted;
  EXPECT_EQ(read_file(folder / "out"), translate("enfr", {}, "Stop!\nStop!\n").out);
  EXPECT_TRUE(has(run("/usr/bin/script", {"-qec", translate_program().string() + " " + model, folder / "typescript"},
                      {.input = "\004"})
                      .out,
      "goldcrest-translate: waiting for lines of text; Ctrl-D ends"));
}

TEST_F(TranslateLines, ALineThatIsTooLongIsNamedWithItsLimit) {
  const Outcome outcome = with_status(3, translate("g2p", {}, std::string(513, 'a') + "\n" + std::string(64, 'b')));
  EXPECT_EQ(outcome.out, "\n\n");
  EXPECT_EQ(outcome.err,
      "goldcrest-translate: line 1: input too long for the limits: text: more bytes than limits.max_source_bytes "
      "(512)\n"
      "goldcrest-translate: line 2: input too long for the limits: text: more tokens than limits.max_source_tokens "
      "(64)\n");
}

TEST_F(TranslateLines, AnInputThatCannotBeRead) {
  const std::string there = folder / "";
  const Outcome file = with_status(1, translate("g2p", {there}, ""));
  EXPECT_EQ(file.out, "");
  EXPECT_EQ(file.err, "goldcrest-translate: " + there + ": Is a directory\n");
  const Outcome missing = with_status(1, translate("g2p", {"/no/such/lines"}, ""));
  EXPECT_EQ(missing.err, "goldcrest-translate: /no/such/lines: cannot be read: No such file or directory\n");
  // The output of the files before it is complete.
  const Outcome second = with_status(1, translate("g2p", {folder.write("lines", "wren\n"), there}, ""));
  EXPECT_EQ(second.out, translate("g2p", {}, "wren\n").out);
}

TEST_F(TranslateLines, AModelThatIsNone) {
  const std::string good = read_file(converted_model("g2p"));
  const std::string trailer = ": model file corrupt: trailer: not found at the end of the file";
  const std::string none = ": it is not a .gcst file (goldcrest-convert makes them)";
  struct Case {
    std::string path, words;
  };
  const Case cases[] = {{"/dev/null", ": a device or a pipe, not a file with content"},
      {folder / "", ": a folder, not a file with content"},
      {folder.write("empty", ""), ": empty, not a file with content"},
      {folder.write("text", std::string(4096, 'a')), none + trailer},
      {folder.write("cut", good.substr(0, good.size() / 2)), ": a .gcst file, but its end is missing" + trailer},
      {folder.write("short", "abc"), none + ": model file corrupt: file: too short to be a model"}};
  for (const Case& c : cases) {
    const Outcome outcome = with_status(1, run(translate_program(), {c.path}, {.input = "wren\n"}));
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

TEST_F(TranslateLines, AnUnknownKernelTableIsAnsweredWithThoseThatThereAre) {
  const Outcome option = with_status(1, translate("g2p", {"--kernels", "non\x1bsense"}, "wren\n"));
  const std::string list = "no such table; this build has " + tables();
  EXPECT_EQ(option.err.find("goldcrest-translate: --kernels non\\x1bsense: " + list), 0u) << option.err;
  for (const auto& program : {translate_program(), inspect_program()}) {
    const Outcome variable =
        with_status(1, run("/usr/bin/env", {"GOLDCREST_KERNELS=nonsense", program.string(), converted_model("g2p")}));
    EXPECT_EQ(variable.err.find(program.filename().string() + ": GOLDCREST_KERNELS=nonsense: " + list), 0u)
        << variable.err;
  }
}

// goldcrest-translate: a line of several sentences is translated sentence by sentence, and so is one that is too
// long.

using Lines = std::vector<std::string>;

const Lines kSix = {"Where is the station?", "I don't know what to do.", "She bought a new car yesterday.",
    "I saw Mr. Jackson.", "Can you help me, please?", "Stop!"};
const Lines kSpaces = {" ", "  ", " ", "\t", "\xC2\xA0 ", " ", "  "};  // before each sentence, and at the end

// The sentences with the white space around them.
std::string paragraph(const Lines& sentences) {
  std::string text;
  for (size_t i = 0; i < sentences.size(); ++i) text += kSpaces[i] + sentences[i];
  return text + kSpaces.back();
}

// The lines of a run without errors.
Lines translated_text(const std::string& task, const Arguments& options, const std::string& input) {
  return lines_of(with_status(0, translate(task, options, input)).out);
}

TEST_F(TranslateSentences, SixOfALineAllComeOutWithTheirSpace) {
  std::string each;
  for (const std::string& sentence : kSix) each += sentence + '\n';
  const Lines alone = translated_text("enfr", {"--no-split"}, each);
  ASSERT_EQ(alone.size(), 6u);
  const std::string input = "Stop!\n\n" + paragraph(kSix) + "\nStop! Stop!\n";
  for (const Arguments& options : {Arguments{}, Arguments{"--batch", "4"}, Arguments{"--batch", "7", "--threads", "2"},
           Arguments{"--n-best", "1"}}) {
    EXPECT_EQ(
        translated_text("enfr", options, input), (Lines{alone[5], "", paragraph(alone), alone[5] + ' ' + alone[5]}));
  }
  EXPECT_EQ(translated_text("enfr", {"--beam-size", "2"}, input).size(), 4u);
  // As one source the line loses sentences.
  const std::string whole = translated_text("enfr", {"--no-split"}, paragraph(kSix))[0];
  EXPECT_LT(whole.size(), paragraph(alone).size() / 2) << whole;
}

TEST_F(TranslateSentences, AreInTheHelp) {
  std::string help = run(translate_program(), {"--help-all"}).out;
  std::ranges::replace(help, '\n', ' ');
  for (const char* words : {"--no-split", "--abbreviations", "A line is cut into sentences", "A sentence ends at"})
    EXPECT_TRUE(has(help, words)) << words;
}

TEST_F(TranslateSentences, OfALineAreAnsweredBeforeTheNextLine) {
  Dialogue dialogue(translate_program(), {converted_model("enfr")});
  const std::string answer = translated_text("enfr", {}, "Stop! Go on.\n")[0];
  for (int i = 0; i < 2; ++i) {
    dialogue.write("Stop! Go on.\n");
    EXPECT_EQ(dialogue.read_line(), answer);
  }
  EXPECT_EQ(dialogue.finish(), 0);
}

TEST_F(TranslateSentences, ALineIsOneSourceForOptionsThatSayMoreOfIt) {
  const std::string input = "Stop! I'm hungry.\n";
  for (const Arguments& options : {Arguments{"--tokens"}, Arguments{"--encode"}, Arguments{"--n-best", "2"},
           Arguments{"--scores"}, Arguments{"--token-scores"}, Arguments{"--alignments", "hard"}}) {
    EXPECT_EQ(translated_text("enfr", options, input), translated_text("enfr", concat(options, {"--no-split"}), input));
  }
  const std::string ids = translated_text("enfr", {"--encode"}, input)[0];
  const std::string target = translated_text("enfr", {"--ids"}, ids + "\n")[0];
  EXPECT_EQ(target, translated_text("enfr", {"--tokens"}, input)[0]);
  EXPECT_EQ(translated_text("enfr", {"--score", folder.write("targets", target + "\n").string()}, input).size(), 1u);
}

TEST_F(TranslateSentences, AModelOfCharactersTakesLines) {
  const std::string input = "ab. cd! ef\n";
  EXPECT_EQ(translated_text("g2p", {}, input), translated_text("g2p", {"--no-split"}, input));
}

TEST_F(TranslateSentences, OnesThatAreTooLongAreCutFurther) {
  const std::string input = "I know what you want, but I can't help you; we have to go home now.\n";
  EXPECT_EQ(translate("enfr", {"--max-source", "12", "--no-split"}, input).status, 3);
  const Lines pieces =
      translated_text("enfr", {}, "I know what you want,\nbut I can't help you;\nwe have to go home now.\n");
  EXPECT_EQ(translated_text("enfr", {"--max-source", "12"}, input)[0], pieces[0] + ' ' + pieces[1] + ' ' + pieces[2]);
  EXPECT_EQ(
      translated_text("enfr", {"--max-source-bytes", "24"}, input)[0], pieces[0] + ' ' + pieces[1] + ' ' + pieces[2]);
  // Nothing is refused, whatever it is, and every piece gives something.
  const Lines lines =
      translated_text("enfr", {"--batch", "8"}, std::string(3000, 'x') + "\n" + std::string(2000, ' ') + "\nStop!\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(lines[0].empty());
  EXPECT_EQ(lines[1], "");
  // A limit that no character fits is an error of the line.
  EXPECT_EQ(translate("enfr", {"--max-source", "1"}, "Stop!\n").status, 3);
}

TEST_F(TranslateSentences, OfALineAllBeginWithItsLanguageCode) {
  CheckpointCopy copy("enfr");
  add_french_code(copy);
  const std::filesystem::path model = folder / "model.gcst";
  ASSERT_EQ(convert(copy.path(), {"-o", model}).status, 0);
  const auto outcome = [&](const std::string& input) {
    Outcome run = with_status(0, translate_with(model, {"--stats"}, input));
    const std::string name = "source tokens ";
    run.err = run.err.substr(run.err.find(name) + name.size());
    run.err = run.err.substr(0, run.err.find(','));
    return run;
  };
  const Outcome two_lines = outcome(">>fr<< I'm hungry.\n>>fr<< Where is it?\n");
  const Outcome one_line = outcome(">>fr<< I'm hungry.  Where is it?\n");
  const Lines lines = lines_of(two_lines.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(one_line.out, lines[0] + "  " + lines[1] + '\n');
  EXPECT_EQ(one_line.err, two_lines.err) << "each sentence has a token for the code";
  EXPECT_NE(one_line.err, outcome(">>fr<< I'm hungry.\nWhere is it?\n").err);
}

TEST_F(TranslateSentences, OfAbbreviationsInAFile) {
  const std::string input = "I like the station. Stop!\n";
  const std::string file = folder.write("abbreviations", "sation.\nstation.\n").string();
  EXPECT_EQ(translated_text("enfr", {"--abbreviations", file}, input), translated_text("enfr", {"--no-split"}, input));
  EXPECT_NE(translated_text("enfr", {}, input), translated_text("enfr", {"--no-split"}, input));
  const Outcome missing = with_status(1, translate("enfr", {"--abbreviations", "/no/such"}, input));
  EXPECT_EQ(missing.err, "goldcrest-translate: /no/such: cannot be read: No such file or directory\n");
  EXPECT_EQ(translate("enfr", {"--abbreviations", file, "--no-split"}, input).status, 2);
}
}}  // namespace goldcrest::test
