// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench: how fast a model runs on this machine, and how near that is to what its memory allows. Through the C
// API alone, so that the figures are what a program of yours gets.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/messages.h"
#include "kernels/kernels.h"
#include "measurements.h"
#include "report.h"

namespace {

constexpr const char* kProgram = "goldcrest-bench";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

constexpr uint32_t kShortTokens = 20, kLongTokens = 200;
constexpr double kMaxSecondsForMachine = 0.1;  // for each of the machine's speeds

struct Arguments {
  bench::Settings settings;
  bool source_given = false, target_given = false;
  std::vector<std::string> measures = {"open", "speed", "length", "breakdown", "bounds"};
  uint32_t threads = 1;
  bool json = false, list_kernels = false;
};

// The tables to standard output, for programs; which of them is taken and why to standard error, for people.
void list_kernels() {
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) std::printf("%s\n", goldcrest_kernels_at(i));
  const std::string problem = kernels_problem("");
  const char* wanted = goldcrest::wanted_kernels(nullptr);
  const char* taken = wanted != nullptr ? wanted : goldcrest_kernels_at(0);
  if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", kProgram, problem.c_str());
  if (problem.empty()) std::fprintf(stderr, "%s: takes %s: %s\n", kProgram, taken, goldcrest::kernels_reason());
}

// Where the user names no length, the usual one or as much as the model has positions for.
void fit_lengths(const goldcrest_info& model, Arguments& arguments) {
  bench::Settings& settings = arguments.settings;
  if (!arguments.source_given) settings.source_tokens = std::min(settings.source_tokens, model.max_source_positions);
  if (!arguments.target_given && model.max_target_positions > 1) {
    settings.target_tokens = std::min(settings.target_tokens, model.max_target_positions - 1);
  }
}

bool wanted(const Arguments& arguments, const char* measure) {
  return std::find(arguments.measures.begin(), arguments.measures.end(), measure) != arguments.measures.end();
}

bench::Case measure_case(const Arguments& arguments, bench::Machine& machine, uint32_t beam_size, uint32_t batch) {
  const bench::Settings& settings = arguments.settings;
  bench::Case result;
  result.speed = bench::measure_speed(settings, beam_size, batch);
  const bool bounds = wanted(arguments, "bounds"), breakdown = wanted(arguments, "breakdown");
  if (!bounds && !breakdown) return result;
  const bench::CaseWork work = bench::measure_work(settings, beam_size, batch);
  if (bounds) result.bound = bench::bound_of(settings, result.speed, work, machine);
  if (breakdown && settings.pool->threads() == 1) result.work = work;
  return result;
}

bench::Report measure(const Arguments& arguments, const bench::ModelRunner& probe) {
  const bench::Settings& settings = arguments.settings;
  bench::Report report;
  report.model = probe.model();
  report.kernels = probe.kernels();
  report.threads = settings.pool->threads();
  report.target_tokens = settings.target_tokens;
  // First, before larger arenas and buffers raise the process's peak memory, in which a page counts for each mapping.
  probe.release_file();
  if (wanted(arguments, "open")) report.open = bench::measure_open(settings);
  report.position_bytes = bench::position_bytes(settings);
  bench::Patience brief = settings.patience;
  brief.seconds = std::min(brief.seconds, kMaxSecondsForMachine);
  bench::Machine machine(report.kernels, *settings.pool, brief);
  for (const uint32_t beam_size : settings.beam_sizes) {
    for (const uint32_t batch : settings.batches) {
      if (wanted(arguments, "speed")) report.cases.push_back(measure_case(arguments, machine, beam_size, batch));
    }
    if (wanted(arguments, "length") && report.model.max_target_positions > kLongTokens) {
      report.lengths.push_back(bench::measure_length(settings, beam_size, kShortTokens, kLongTokens));
    }
  }
  if (wanted(arguments, "breakdown")) report.breakdown = bench::measure_breakdown(settings);
  if (wanted(arguments, "bounds")) report.machine = bench::measure_machine(machine, report.position_bytes);
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
  app.add_option("--measure", arguments.measures, "which of open,speed,length,breakdown,bounds (all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"open", "speed", "length", "breakdown", "bounds"}));
  app.add_option("--threads", arguments.threads, "threads of the engine (1); 0: one for each CPU")
      ->check(CLI::Range(0, 64));
  bench::Patience& patience = settings.patience;
  app.add_option("--seconds", patience.seconds, "least time for each figure (1)")->check(CLI::Range(0.0, 3600.0));
  app.add_option("--repetitions", patience.repetitions, "least runs for each figure (5)")->check(counts);
  app.add_option("--warm-ups", patience.warm_ups, "uncounted runs before each figure (2)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--seed", settings.seed, "of the source ids (1)");
  app.add_option("--kernels", settings.kernels,
                 "force a kernel table by its name (an unknown one lists them); xnnpack: XNNPACK's kernels; "
                 "fastest: theirs where they are faster (both give close, not equal, results)");
  app.add_flag("--low-memory", settings.low_memory,
               "take the encoder's weights out of memory while they are not used: a little slower");
  app.add_flag("--json", arguments.json, "print JSON instead of tables (examples/bench/README.md has its fields)");
  app.add_flag("--list-kernels", arguments.list_kernels,
               "print the kernel tables that run here, best first; which is taken, and why, to standard error");
  app.footer(
      "What is measured:\n"
      "  open       from a file in the page cache to an engine, to the first token and the first sentence; peak "
      "memory\n"
      "  speed      tokens/s of every beam size with every batch, encoding also on its own\n"
      "  length     the cost of a target position in 20 and in 200 target tokens, batch 1\n"
      "  breakdown  a greedy translation layer by layer; with one thread, each case of speed by kernel\n"
      "  bounds     how fast the threads' cores read memory, by size, and multiply; what that allows in each case of "
      "speed\n"
      "Each time has its spread: the range of its middle half over its median. Above 10 % a warning counts them.\n"
      "For figures worth quoting, pin a core for each thread (taskset -c 0) and leave the machine to it.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
}

void run(Arguments& arguments, const std::string& command) {
  ThreadPool pool;
  const std::string problem = pool.start(arguments.threads);
  if (!problem.empty()) throw std::runtime_error(problem);
  bench::Settings& settings = arguments.settings;
  settings.pool = &pool;
  const bench::ModelRunner probe(
      {settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_POSITION, nullptr, false},
      {1, 1, 1, 1, 1});
  fit_lengths(probe.model(), arguments);
  bench::Report report = measure(arguments, probe);
  report.command = command;
  report.host = bench::host_of("");
  const std::string text = arguments.json ? report_json(settings, report) : report_text(settings, report);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures a .gcst model on this machine: random source ids, targets of a forced length."};
  Arguments arguments;
  arguments.settings.beam_sizes = {1, 4};
  arguments.settings.batches = {1, 8, 32};
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    if (!arguments.list_kernels && arguments.settings.model.empty()) throw CLI::RequiredError("MODEL");
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kBadUsage;
    return finish_output(kProgram) ? kSuccess : kFailed;
  }
  arguments.source_given = app.count("--source") > 0;
  arguments.target_given = app.count("--target") > 0;
  try {
    if (arguments.list_kernels) {
      list_kernels();
    } else {
      run(arguments, bench::command_line(argc, argv));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kProgram, describe_exception(error, arguments.settings.model).c_str());
    return kFailed;
  }
  return finish_output(kProgram) ? kSuccess : kFailed;
}
