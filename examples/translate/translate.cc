// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate: lines of text in, lines of text out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "translator.h"

namespace {

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kLinesFailed = 3 };

struct Arguments : TranslatorOptions {
  std::vector<std::string> inputs;
  bool stats = false;
};

int run(const Arguments& arguments) {
  Translator translator(arguments);
  if (!translator.start()) return kFailed;
  if (arguments.inputs.empty()) translator.process(std::cin);
  for (const std::string& path : arguments.inputs) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "goldcrest-translate: %s: cannot be read\n", path.c_str());
      return kFailed;
    }
    translator.process(file);
  }
  if (arguments.stats) translator.print_stats();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "goldcrest-translate: standard output: write failed\n");
    return kFailed;
  }
  return translator.failed_lines() == 0 ? kSuccess : kLinesFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Translates lines of text with a .gcst model: one line out for each line in."};
  Arguments arguments;
  arguments.limits.batch = arguments.limits.threads = 1;
  app.set_version_flag("--version", std::string("goldcrest-translate " GOLDCREST_VERSION));
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_option("INPUT", arguments.inputs, "text files; none: standard input");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size,
                 "hypotheses, 1 to 16; 1 is greedy; 0: the model's default");
  app.add_option("--nbest,--n-best", arguments.n_best, "results a line, each as LINE TAB RANK TAB ...")
      ->check(CLI::Range(1, 16));
  app.add_option("--max-source", arguments.limits.max_source_tokens, "most source tokens (0: the model's)");
  app.add_option("--max-source-bytes", arguments.limits.max_source_bytes, "most bytes of a line (0: the model's)");
  app.add_option("--max-target", arguments.limits.max_target_tokens, "most generated tokens (0: the model's)");
  app.add_option("--min-target", arguments.min_target, "fewest generated tokens");
  CLI::Option* length_penalty =
      app.add_option("--length-penalty", arguments.length_penalty, "scores are divided by length^X");
  CLI::Option* word_penalty =
      app.add_option("--word-penalty", arguments.word_penalty, "taken from a score for each token");
  app.add_option("--batch", arguments.limits.batch,
                 "sentences translated together: faster, but a line is answered when up to 16 times as many are read; "
                 "1: each at once")
      ->check(CLI::Range(1, 256));
  app.add_option("--threads", arguments.limits.threads, "threads; 0: one for each CPU")->check(CLI::Range(0, 64));
  app.add_option("--kernels", arguments.kernels,
                 "force a kernel table by its name; xnnpack: XNNPACK's kernels; "
                 "fastest: theirs where they are faster (both give close, not equal, results)");
  app.add_flag("--scores", arguments.scores, "print the score before each result");
  CLI::Option* tokens = app.add_flag("--tokens", arguments.tokens, "print target ids instead of text");
  CLI::Option* encode = app.add_flag("--encode", arguments.encode, "print the source ids of each line and stop there");
  CLI::Option* decode = app.add_flag("--decode", arguments.decode, "read target ids, print their text");
  encode->excludes(decode)->excludes(tokens);
  decode->excludes(tokens);
  app.add_flag("--stats", arguments.stats, "print tokens/s and memory to standard error at the end");
  app.add_flag("--low-memory", arguments.low_memory,
               "take the encoder's weights out of memory while they are not used: a little slower");
  app.add_flag("--structure-only", arguments.structure_only, "do not read all weights at start-up to verify them");
  app.footer(
      "A line that is too long or not UTF-8 gives a message with its number and an empty line.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 some lines failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  arguments.has_length_penalty = length_penalty->count() > 0;
  arguments.has_word_penalty = word_penalty->count() > 0;
  std::ios::sync_with_stdio(true);
  return run(arguments);
}
