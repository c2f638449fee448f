// SPDX-License-Identifier: Apache-2.0
// If an option does not take a word, every program answers with the words that it takes, and with the most similar.
#include "programs/models.h"
#include "spec/format_text.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// Expects that the program refuses its command line with this sentence.
void expect_usage(const std::filesystem::path& program, const Arguments& arguments, const std::string& text) {
  const std::string name = program.filename();
  const Outcome outcome = with_status(2, run(program, arguments));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, name + ": " + text + "\n" + name + " --help lists the options\n");
}

const std::filesystem::path kBench = GOLDCREST_BENCH_PROGRAM;

std::string model() { return converted_model("g2p").string(); }

TEST(Choices, AreAnsweredWithTheWordsAndTheNearest) {
  const auto translate = [](const Arguments& more, const std::string& text) {
    expect_usage(translate_program(), concat({model()}, more), text);
  };
  translate({"--early-stopping", "nver"},
      "--early-stopping: \"nver\" is not one of its words: false, true, never, 0 or 1; did you mean \"never\"?");
  translate({"--early-stopping", "2"},
      "--early-stopping: \"2\" is not one of its words: false, true, never, 0 or 1; did you mean \"0\"?");
  translate({"--length-penalty-kind", "1"}, "--length-penalty-kind: \"1\" is not one of its words: power or wu");
  translate(
      {"--alignments", "sift"}, "--alignments: \"sift\" is not one of its words: hard or soft; did you mean \"soft\"?");
  const auto convert = [](const Arguments& more, const std::string& text) {
    expect_usage(convert_program(), concat({checkpoint_folder("g2p")}, more), text);
  };
  convert({"--weights", "flaot32"},
      "--weights: \"flaot32\" is not one of its words: int8 or float32");  // two edits of seven letters
  convert({"--weights", "float23"}, "--weights: \"float23\" is not one of its words: int8 or float32");
  convert(
      {"--weights", "int 8"}, "--weights: \"int 8\" is not one of its words: int8 or float32; did you mean \"int8\"?");
  convert({"--cpu", "cortex-m54"},
      "--cpu: unknown CPU 'cortex-m54'; expected generic, x86, cortex-a followed by a number (Raspberry Pi 3: 53, 4: "
      "72, 5: 76), cortex-m4, cortex-m7, cortex-m33, cortex-m55 or cortex-m85; did you mean \"cortex-m4\"?");
  convert({"--board", "rpi-pico3"},
      "--board: 'rpi-pico3' is not a board; expected mps2-an386, mps2-an500, mps2-an505, mps3-an547, nucleo-h743zi, "
      "riscv-virt, rpi-pico2, all, or the path of a linker script (.ld); did you mean \"rpi-pico2\"?");
  expect_usage(kBench, {model(), "--measure", "open,sped"},
      "--measure: \"sped\" is not one of its words: open, speed, length, breakdown or bounds; did you mean \"speed\"?");
}

TEST(Choices, AnOptionThatIsNoneIsAnsweredWithTheNearest) {
  const std::string beam = "The following argument was not expected: --beem; did you mean \"--beam-size\"?";
  expect_usage(translate_program(), {model(), "--beem=2"},
      "The following argument was not expected: --beem=2; did you mean \"--beam-size\"?");
  expect_usage(inspect_program(), {model(), "--beem"}, beam);
  expect_usage(kBench, {model(), "--beem"}, beam);
  expect_usage(convert_program(), {"g2p", "--beem"}, beam);
  expect_usage(kBench, {model(), "--secons", "1"},
      "The following argument was not expected: --secons; did you mean \"--seconds\"?");
}

// Names that other programs give to an option, and names that it once had here.
TEST(Choices, AnotherNameIsAnsweredWithOurs) {
  const auto refuse = [](const std::filesystem::path& program, const std::string& word, const std::string& ours) {
    expect_usage(program, {"model", word, "1"}, word + " is not an option here; give " + ours);
  };
  for (const char* name : {"--beam", "--num-beams", "--num_beams"})
    for (const auto& program : {convert_program(), translate_program(), inspect_program(), kBench})
      refuse(program, name, "--beam-size");
  for (const char* name : {"--out", "--output_dir", "--output-dir"}) refuse(convert_program(), name, "--output");
  refuse(translate_program(), "--nbest", "--n-best");
  refuse(translate_program(), "--num-hypotheses", "--n-best");
  refuse(translate_program(), "--source-language", "--source-lang");
  refuse(convert_program(), "--fine", "--accuracy near, or --matrices NAME=near");
  refuse(convert_program(), "--refine", "--accuracy exact, or --matrices NAME=exact");
  expect_usage(inspect_program(), {model(), "--output-dir"}, "The following argument was not expected: --output-dir");
  expect_usage(convert_program(), {"a", "b"},
      "The following argument was not expected: b (usage: goldcrest-convert INPUT [options]; -o FILE names the "
      "output)");
  expect_usage(convert_program(), {"a", "-o", "--json"}, "--output needs a value: FILE");
  expect_usage(convert_program(), {"a", "--batch", "1", "--batch=2"}, "--batch is given twice");
}

TEST(Help, FitsATerminalAndTheRestIsInHelpAll) {
  for (const auto& program :
      {convert_program(), translate_program(), inspect_program(), transcribe_program(), kBench}) {
    const Outcome help = with_status(0, run(program, {"--help"}));
    const Outcome all = with_status(0, run(program, {"--json", "--help-all", "--no-such-option"}));
    EXPECT_LE(lines_of(help.out).size(), 50u) << program;
    EXPECT_EQ(help.out, run(program, {"-h"}).out);
    for (const std::string& line : lines_of(help.out + all.out)) EXPECT_LE(line.size(), 100u) << program << line;
    for (const std::string& line : lines_of(help.out)) {
      if (!line.starts_with("  -")) continue;
      EXPECT_TRUE(has(all.out, line.substr(0, line.find(' ', 5)))) << line;
    }
    EXPECT_TRUE(has(all.out, "--completion SHELL")) << program;
    EXPECT_FALSE(has(help.out, "--completion")) << program;
  }
}

// These limits do not depend on a model, so none is read.
TEST(Choices, MoreBeamsThanThereEverAreAreABadUsage) {
  const std::string text = "--beam-size: Value 99 not in range 0 to 16";
  expect_usage(translate_program(), {model(), "--beam-size", "99"}, text);
  expect_usage(inspect_program(), {model(), "--beam-size", "99"}, text);
  expect_usage(convert_program(), {model(), "--beam-size", "99"}, text);
  expect_usage(convert_program(), {"g2p", "--beam-size", "99"}, text);
  const TemporaryFolder folder;
  const std::string kept = folder.write("kept.gcst", "what was there before");
  expect_usage(convert_program(), {checkpoint_folder("g2p"), "-o", kept, "--beam-size", "17"},
      "--beam-size: Value 17 not in range 0 to 16");
  expect_usage(convert_program(), {checkpoint_folder("g2p"), "-o", kept, "--batch", "257"},
      "--batch: Value 257 not in range 0 to 256");
  EXPECT_EQ(folder.read("kept.gcst"), "what was there before");
  expect_usage(convert_program(), {"g2p", "--evaluate", "a.tsv", "--evaluate-beam", "99"},
      "--evaluate-beam: Value 99 not in range 0 to 16");
}

// If only the model knows a limit's bound, every program names the option and the model's bound.
TEST(Choices, ALimitThatTheModelLacksIsNamedByItsOption) {
  const std::string checkpoint = checkpoint_folder("g2p");
  const auto refuse = [](const std::filesystem::path& program, const Arguments& arguments, const std::string& problem) {
    EXPECT_EQ(with_status(1, run(program, arguments)).err,
        program.filename().string() + ": " + arguments[0] + ": " + problem + "\n");
  };
  struct Case {
    std::string option, value, expected;
  };
  for (const auto& [option, value, expected] : {
           Case{"--max-source", "65", "; expected 1 to 64, the model's source positions"},
           Case{"--max-target", "5000", "; expected 1 to 64, the model's target positions"},
           Case{"--max-source-bytes", "50000000", "; expected 1 to 16777216, the format's bound"},
           Case{"--max-candidates", "9", ", but the model has neither a shortlist nor a lexicon; leave it out"},
       }) {
    const std::string problem = option + " is " + value + expected;
    refuse(translate_program(), {model(), option, value}, problem);
    refuse(inspect_program(), {model(), option, value}, problem);
    refuse(convert_program(), {model(), "-q", option, value}, problem);
  }
  refuse(inspect_program(), {model(), "--alignment-layers", "4"},
      "--alignment-layers is 4; expected 1 to 3, a bit for each of the decoder's layers");
  refuse(translate_program(), {model(), "--beam-size", "2", "--n-best", "3"},
      "--n-best is 3; expected 1 to 2, the beam size");
  refuse(convert_program(), {checkpoint, "-q", "--max-source", "65"},
      "--max-source is 65; expected 1 to 64, the encoder's positions");
}

TEST(Choices, NamesOfAModelOrAMachineAreAnsweredAlike) {
  const Outcome kernels = with_status(1, run(translate_program(), {model(), "--kernels", "referense"}));
  EXPECT_TRUE(kernels.err.ends_with("; did you mean \"reference\"?\n")) << kernels.err;
  const Outcome language = with_status(1, run(translate_program(), {model(), "--target-lang", "ARPAbed"}));
  EXPECT_TRUE(language.err.ends_with("is \"ARPAbet\"; did you mean \"ARPAbet\"?\n")) << language.err;
}

// Like transformers' generate, the option takes Python's numbers: 0 is false, 1 is true.
TEST(Choices, EarlyStoppingTakesTheNumbersOfTransformers) {
  const auto translated = [](const std::string& early_stopping) {
    return with_status(0,
        run(translate_program(),
            {model(), "--beam-size", "2", "--n-best", "2", "--length-penalty", "2", "--early-stopping", early_stopping},
            {.input = "quick\n"}))
        .out;
  };
  const std::string by_true = translated("true"), by_false = translated("false");
  ASSERT_NE(by_true, by_false);
  EXPECT_EQ(translated("1"), by_true);
  EXPECT_EQ(translated("0"), by_false);
}

// Standard streams that are closed or full: the programs that run models end with their exit status and never abort.

constexpr int kFailed = 1, kBadUsage = 2, kLinesFailed = 3;

// Runs the program in a shell that redirects its streams, such as "2>&-".
Outcome run_with(const std::string& streams, const std::filesystem::path& program, const Arguments& arguments,
    const std::string& input = "") {
  const Arguments shell = {"-c", "exec \"$0\" \"$@\" " + streams, program};
  return run("/bin/sh", concat(shell, arguments), {.input = input});
}

struct Program {
  std::filesystem::path path;
  Arguments options;  // after the model
  std::string name() const { return path.filename(); }
};

std::vector<Program> programs() {
  return {{translate_program(), {"--stats"}}, {inspect_program(), {"--map"}},
      {kBench, {"--measure", "speed", "--beam-size", "1", "--batch", "1", "--seconds", "0", "--repetitions", "1"}}};
}

Arguments with_model(const Program& program, const std::string& model) { return concat({model}, program.options); }

TEST(Streams, AnErrorStreamThatFailsChangesNothing) {
  for (const Program& program : programs()) {
    const Arguments good = with_model(program, converted_model("g2p")), missing = with_model(program, "/no/such/model");
    for (const char* streams : {"2>&-", "2>/dev/full"}) {
      const Outcome outcome = run_with(streams, program.path, good, "wren\n");
      EXPECT_EQ(outcome.status, 0) << program.path << streams;
      EXPECT_NE(outcome.out, "");
      EXPECT_EQ(run_with(streams, program.path, missing).status, kFailed) << program.path << streams;
      EXPECT_EQ(run_with(streams, program.path, {"--no-such-option"}).status, kBadUsage) << program.path << streams;
    }
  }
  const Outcome lines = run_with("2>&-", translate_program(), {converted_model("g2p")}, "wren\n\xff\nwren\n");
  EXPECT_EQ(lines.status, kLinesFailed);
  EXPECT_EQ(lines_of(lines.out).size(), 3u);
}

TEST(Streams, AnOutputThatFailsIsNamed) {
  for (const Program& program : programs()) {
    const std::string message = program.name() + ": standard output: write failed\n";
    for (const char* streams : {">&-", ">/dev/full"}) {
      for (const Arguments& arguments : {with_model(program, converted_model("g2p")), Arguments{"--help"}}) {
        Outcome outcome = run_with(streams, program.path, arguments, "wren\n");
        EXPECT_EQ(outcome.status, kFailed) << program.path << streams;
        // The statistics may precede the message.
        EXPECT_TRUE(outcome.err.ends_with(message)) << outcome.err;
      }
    }
    EXPECT_EQ(
        run_with(">&- 2>&-", program.path, with_model(program, converted_model("g2p")), "wren\n").status, kFailed);
  }
}

TEST(Streams, AnInputThatCannotBeReadIsNamed) {
  const Outcome closed = run_with("<&-", translate_program(), {converted_model("g2p")});
  EXPECT_EQ(closed.status, kFailed);
  EXPECT_EQ(closed.err, "goldcrest-translate: standard input: Bad file descriptor\n");
  const Outcome folder = run_with("</", translate_program(), {converted_model("g2p")});
  EXPECT_EQ(folder.status, kFailed);
  EXPECT_EQ(folder.err, "goldcrest-translate: standard input: Is a directory\n");
}

// goldcrest-convert with standard streams that are full, closed or a pipe that nobody reads.

TEST(ConvertStreams, ProgressGoesToStandardErrorInPlainLines) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p");
  const Outcome outcome = with_status(0, run(convert_program(), {checkpoint}));
  EXPECT_EQ(outcome.err, "loading " + checkpoint.string() + "\nquantizing\nrunning the self-test\n");
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

// A quiet conversion prints its sizes, and nothing else that was not asked for.
TEST(ConvertStreams, AQuietReportIsShort) {
  const TemporaryFolder folder;
  const std::string model = folder / "model.gcst";
  const Outcome quiet = run(convert_program(), {"--quiet", checkpoint_folder("g2p"), "-o", model});
  EXPECT_EQ(quiet.err, "");
  const std::vector<std::string> lines = lines_of(quiet.out);
  ASSERT_EQ(lines.size(), 3u) << quiet.out;
  EXPECT_TRUE(lines[0].starts_with("file ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("arena ")) << lines[1];
  EXPECT_EQ(lines[2], "written      " + model);
  const Outcome again = convert(model, {});
  EXPECT_EQ(lines_of(again.out).size(), 2u) << again.out;
  const Outcome asked = convert(model, {"--board", "rpi-pico2"});
  EXPECT_TRUE(has(asked.out, "\nboard        rpi-pico2: fits\n"));
}

// The screen ends with a verdict and the next two commands. Tensors and formulas need --verbose.
TEST(ConvertStreams, AScreenEndsWithTheNextCommands) {
  const TemporaryFolder folder;
  const std::string model = folder / "model.gcst", checkpoint = checkpoint_folder("g2p").string();
  const Outcome screen = run(convert_program(), {checkpoint, "-o", model});
  const std::vector<std::string> lines = lines_of(screen.out);
  ASSERT_EQ(lines.size(), 8u) << screen.out;
  EXPECT_TRUE(lines[0].starts_with("checkpoint  " + checkpoint + " (nn_transformer)")) << lines[0];
  EXPECT_EQ(lines[3], "written      " + model);
  EXPECT_TRUE(lines[4].ends_with(" and 1194048 bytes more")) << lines[4];
  EXPECT_EQ(lines[5], "verdict      the self-test passes; --evaluate LINES measures int8 on your own text");
  EXPECT_EQ(lines[6], "next         goldcrest-translate " + model + " lines.txt");
  EXPECT_EQ(lines[7], "             goldcrest-inspect " + model + " --self-test --map");
  const Outcome verbose = run(convert_program(), {checkpoint, "-o", model, "--verbose"});
  EXPECT_TRUE(has(verbose.out, "SQNR, dB"));
  EXPECT_FALSE(has(screen.out, "SQNR, dB"));
  EXPECT_TRUE(verbose.out.ends_with(lines[6] + "\n" + lines[7] + "\n"));
  const std::string words = folder.write("words", "goldcrest\nwren\n");
  const Outcome evaluated = run(convert_program(), {checkpoint, "--evaluate", words});
  EXPECT_TRUE(has(
      evaluated.out, "\nverdict      int8 is good enough here: 100.0 % of 2 lines are identical (34.2 to 100.0)\n"));
  EXPECT_TRUE(has(evaluated.out, "\nnext         goldcrest-convert " + checkpoint + " -o model.gcst\n"));
  const Outcome refused = run(convert_program(), {checkpoint, "-o", model, "--budget", "file=1K"});
  EXPECT_FALSE(has(refused.out, "\nnext "));
}

TEST(ConvertStreams, AStandardErrorThatCannotBeWrittenLosesNoConversion) {
  for (const Output error : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    const std::filesystem::path model = folder / "model.gcst";
    EXPECT_TRUE(
        has(with_status(0, run(convert_program(), {checkpoint_folder("g2p"), "-o", model}, {.error = error})).out,
            "written      " + model.string() + "\n"));
    EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
    EXPECT_EQ(files_in(folder.path()), 1u);
    EXPECT_EQ(run(convert_program(), {folder / "none"}, {.error = error}).status, 1);
    EXPECT_EQ(run(convert_program(), {"--none"}, {.error = error}).status, 2);
  }
}

// The files are complete before the report is printed, and the status says that they exist.
TEST(ConvertStreams, AReportThatCannotBePrintedLosesNoFile) {
  for (const Output output : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    const std::string model = folder / "model.gcst";
    for (const std::filesystem::path& input : {checkpoint_folder("g2p"), converted_model("g2p")}) {
      EXPECT_EQ(with_status(6, run(convert_program(), {"-q", input, "-o", model}, {.output = output})).err,
          "goldcrest-convert: standard output: write failed; the report is not whole; written: " + model + "\n");
      EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
      EXPECT_EQ(files_in(folder.path()), 1u);
      std::filesystem::remove(model);

      const Outcome only_report = with_status(1, run(convert_program(), {"-q", input}, {.output = output}));
      EXPECT_EQ(only_report.err, "goldcrest-convert: standard output: write failed; the report is not whole\n");
      const Outcome too_large =
          with_status(5, run(convert_program(), {"-q", input, "-o", model, "--budget", "file=1K"}, {.output = output}));
      EXPECT_EQ(files_in(folder.path()), 0u);
    }
    const Outcome help = with_status(1, run(convert_program(), {"--help"}, {.output = output}));
    EXPECT_EQ(help.err, "goldcrest-convert: standard output: write failed; nothing was done\n");
  }
}

// head leaves after its first line, true before any. Both are tried with a whole report and with a short one.
TEST(ConvertStreams, AReaderThatLeavesChangesNothing) {
  for (const char* reader : {"true", "head -1"}) {
    for (const std::filesystem::path& input : {checkpoint_folder("enfr"), converted_model("enfr")}) {
      const TemporaryFolder folder;
      const std::string command =
          converter::format_text("{{ '{}' '{}' --emit-c c -o model.gcst 2>err; echo $? >status; }} | {} >seen",
              convert_program().string(), input.string(), reader);
      run("/bin/sh", {"-c", command}, {.folder = folder.path()});
      EXPECT_EQ(read_file(folder / "status"), "0\n") << command;
      EXPECT_FALSE(has(read_file(folder / "err"), "standard output"));
      EXPECT_TRUE(read_file(folder / "model.gcst") == read_file(converted_model("enfr"))) << command;
      EXPECT_TRUE(
          std::filesystem::exists(folder / "c/model_model.h") || std::filesystem::exists(folder / "c/model_enfr.h"))
          << command;
    }
  }
}
}}  // namespace goldcrest::test
