// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>

#include "../support/messages.h"
#include "sources/messages/options.h"

namespace bench {
namespace {

using goldcrest::converter::CommandLine;

void add_options(CommandLine& app, Arguments& arguments) {
  Settings& settings = arguments.settings;
  app.version("goldcrest-bench " GOLDCREST_VERSION);
  app.add_option("MODEL", settings.model, "a file that goldcrest-convert wrote");
  app.add_option("--source", settings.source_tokens, "source tokens of a sentence (32)")->check_range(1, 100000);
  app.add_option("--target", settings.target_tokens, "target tokens of a sentence (64), or of a clip (3 a second)")
      ->check_range(1, 100000);
  app.add_option("--audio", arguments.audio_seconds, "seconds of sound of a clip, for models that take samples (10)")
      ->check_range(0.1, 600.0);
  app.add_option("--beam-size,--beam", settings.beam_sizes, "beam sizes (1,4)")->comma_list()->check_range(1, 16);
  app.add_option("--batch", settings.batches, "sentences at a time (1,8,32)")->comma_list()->check_range(1, 256);
  app.add_option("--measure", arguments.measures, "which of open,speed,length,breakdown,bounds (all)")
      ->comma_list()
      ->take_words({"open", "speed", "length", "breakdown", "bounds"});
  app.add_option("--threads", arguments.threads, "threads of the engine (1); 0: one for each CPU")->check_range(0, 64);
  Patience& patience = settings.patience;
  app.add_option("--seconds", patience.seconds, "least time for each figure (1)")->check_range(0.0, 3600.0);
  app.add_option("--repetitions", patience.repetitions, "least runs for each figure (5)")->check_range(1, 1000000);
  app.add_option("--warm-ups", patience.warm_ups, "runs before each figure that do not count (2)")
      ->check_range(0, 1000000);
  app.add_option("--seed", settings.seed, "seed of the random source ids (1)");
  app.add_option("--kernels", settings.kernels,
                 "force a kernel table by its name (an unknown one lists them); xnnpack: XNNPACK's kernels; "
                 "fastest: theirs where they are faster (both give close, not equal, results)");
  app.add_option(
      "--against", settings.against,
      "compare each case of speed with these kernels, in turns, and print their time over that of --kernels; "
      "xnnpack is one of them");
  app.add_flag("--low-memory", settings.low_memory,
               "take the encoder's weights out of memory while they are not used: a little slower");
  app.add_flag("--json", arguments.json, "print JSON instead of tables (examples/bench/README.md has its fields)");
  app.add_flag("--list-kernels", arguments.list_kernels,
               "print the kernel tables that run here, best first; which is taken, and why, to standard error");
  app.footer(
      "Measurements:\n"
      "  open       from a file in the page cache to an engine, to the first token and the first sentence; peak "
      "memory\n"
      "  speed      tokens/s of every beam size with every batch, encoding also on its own\n"
      "  length     the cost of a target position in 20 and in 200 target tokens, batch 1\n"
      "  breakdown  a greedy translation layer by layer (not of sound); with one thread, each case of speed by kernel\n"
      "  bounds     how fast the threads' cores read memory, by size, and multiply; what that allows in each case of "
      "speed\n"
      "Each time has its spread: the range of its middle half over its median. Above 10 % a warning counts them.\n"
      "For figures worth quoting, pin a core for each thread (taskset -c 0) and leave the machine to it.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
}

}  // namespace

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  CommandLine app(kProgram, "Measures a .gcst model on this machine: random source ids, targets of a forced length.");
  arguments.settings.beam_sizes = {1, 4};
  arguments.settings.batches = {1, 8, 32};
  add_options(app, arguments);
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (!arguments.list_kernels && arguments.settings.model.empty())
    return ExitStatus(print_answer(kProgram, app.refuse("MODEL is required")));
  const std::vector<std::string>& measures = arguments.measures;
  if (!arguments.settings.against.empty() && std::find(measures.begin(), measures.end(), "speed") == measures.end())
    return ExitStatus(print_answer(kProgram, app.refuse("--against requires --measure speed")));
  arguments.source_given = app.option("--source")->count() > 0;
  arguments.target_given = app.option("--target")->count() > 0;
  arguments.audio_given = app.option("--audio")->count() > 0;
  return {};
}

}  // namespace bench
