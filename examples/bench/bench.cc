// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench: how fast a model runs on this machine, and how near that is to what its memory allows. Through the C
// API alone, so that the figures are what a program of yours gets.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "measurements.h"
#include "report.h"

namespace {

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

constexpr uint32_t kShortTokens = 20, kLongTokens = 200;

struct Arguments {
  bench::Settings settings;
  bool source_given = false, target_given = false;
  std::vector<std::string> measures = {"open", "speed", "length", "breakdown", "bandwidth"};
  bool json = false, list_kernels = false;
};

void list_kernels() {
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) std::printf("%s\n", goldcrest_kernels_at(i));
}

// Where the user names no length, the usual one or as much as the model has positions for.
void fit_lengths(const goldcrest_info& model, Arguments& arguments) {
  bench::Settings& settings = arguments.settings;
  if (!arguments.source_given) settings.source_tokens = std::min(settings.source_tokens, model.max_source_positions);
  if (!arguments.target_given && model.max_target_positions > 1) {
    settings.target_tokens = std::min(settings.target_tokens, model.max_target_positions - 1);
  }
}

bench::Report measure(const Arguments& arguments, const bench::ModelRunner& probe) {
  const auto wanted = [&](const char* name) {
    return std::find(arguments.measures.begin(), arguments.measures.end(), name) != arguments.measures.end();
  };
  const bench::Settings& settings = arguments.settings;
  bench::Report report;
  report.model = probe.model();
  report.kernels = probe.kernels();
  report.decoder_bytes = bench::decoder_bytes(probe.model());
  // First, before larger arenas and buffers raise the process's peak memory.
  if (wanted("open")) report.open = bench::measure_open(settings);
  for (const uint32_t beam_size : settings.beam_sizes) {
    for (const uint32_t batch : settings.batches) {
      if (wanted("speed")) report.speeds.push_back(bench::measure_speed(settings, beam_size, batch));
    }
    if (wanted("length") && report.model.max_target_positions > kLongTokens) {
      report.lengths.push_back(bench::measure_length(settings, beam_size, kShortTokens, kLongTokens));
    }
  }
  if (wanted("breakdown")) report.breakdown = bench::measure_breakdown(settings);
  if (wanted("bandwidth")) report.bandwidth = bench::measure_bandwidth(settings, report.decoder_bytes);
  return report;
}

void add_options(CLI::App& app, Arguments& arguments) {
  bench::Settings& settings = arguments.settings;
  app.set_version_flag("--version", std::string("goldcrest-bench " GOLDCREST_VERSION));
  app.add_option("MODEL", settings.model, "a file that goldcrest-convert wrote");
  const CLI::Range lengths(1, 100000), counts(1, 1000000);
  app.add_option("--source", settings.source_tokens, "source tokens of a sentence (32)")->check(lengths);
  app.add_option("--target", settings.target_tokens, "target tokens of a sentence (64)")->check(lengths);
  app.add_option("--beam-size,--beam", settings.beam_sizes, "beam sizes (1,4)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 16));
  app.add_option("--batch", settings.batches, "sentences at a time (1,8,32)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 256));
  app.add_option("--measure", arguments.measures, "which of open,speed,length,breakdown,bandwidth (all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"open", "speed", "length", "breakdown", "bandwidth"}));
  bench::Patience& patience = settings.patience;
  app.add_option("--seconds", patience.seconds, "least time for each figure (1)")->check(CLI::Range(0.0, 3600.0));
  app.add_option("--repetitions", patience.repetitions, "least runs for each figure (5)")->check(counts);
  app.add_option("--warm-ups", patience.warm_ups, "uncounted runs before each figure (2)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--seed", settings.seed, "of the source ids (1)");
  app.add_option("--kernels", settings.kernels, "force a kernel table by its name");
  app.add_flag("--json", arguments.json, "print JSON instead of tables");
  app.add_flag("--list-kernels", arguments.list_kernels, "print the kernel tables that run here, best first");
  app.footer(
      "For figures worth quoting, pin a core (taskset -c 0) and leave the machine to it.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
}

void run(Arguments& arguments) {
  const bench::Settings& settings = arguments.settings;
  const bench::ModelRunner probe(
      {settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_POSITION}, {1, 1, 1, 1, 1});
  fit_lengths(probe.model(), arguments);
  const bench::Report report = measure(arguments, probe);
  const std::string text = arguments.json ? report_json(settings, report) : report_text(settings, report);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures a .gcst model on this machine: random source ids, targets of a forced length, one thread."};
  Arguments arguments;
  arguments.settings.beam_sizes = {1, 4};
  arguments.settings.batches = {1, 8, 32};
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    if (!arguments.list_kernels && arguments.settings.model.empty()) throw CLI::RequiredError("MODEL");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  arguments.source_given = app.count("--source") > 0;
  arguments.target_given = app.count("--target") > 0;
  try {
    if (arguments.list_kernels) {
      list_kernels();
    } else {
      run(arguments);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goldcrest-bench: %s\n", error.what());
    return kFailed;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "goldcrest-bench: standard output: write failed\n");
    return kFailed;
  }
  return kSuccess;
}
