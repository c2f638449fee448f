// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench measures how fast a model runs on this machine, and how near that is to the machine's limits. It uses
// only the C API, so your own program gets the same figures.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>
#include "host/command_line.h"
#include "host/messages.h"
#include "host/wording.h"
#include "kernels/kernels.h"
#include "measurements.h"
#include "report.h"

namespace bench { namespace {
using goldcrest::comma_list;
using goldcrest::flag;
using goldcrest::number;
using goldcrest::Option;
using goldcrest::text;

constexpr const char* kProgram = "goldcrest-bench";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2 };

struct Arguments {
  Settings settings;
  bool source_given = false, target_given = false;
  double audio_seconds = 10;
  bool audio_given = false;
  std::vector<std::string> measures = {"open", "speed", "length", "breakdown", "bounds"};
  uint32_t threads = 1;
  bool json = false, list_kernels = false;
};

std::vector<Option> options_of(Arguments& arguments) {
  Settings& settings = arguments.settings;
  Patience& patience = settings.patience;
  const auto measure = [](std::string& word) {
    return goldcrest::choice(word, {"open", "speed", "length", "breakdown", "bounds"});
  };
  return {
      {"*[MODEL]", text(settings.model), "a file that goldcrest-convert wrote"},
      {"Measurements"},
      {"*--measure WHICH", comma_list(arguments.measures, measure),
          "take some measurements, commas between them [all]"},
      {"*--source N", number(settings.source_tokens, 1, 100000), "give a sentence N source tokens [32]"},
      {"*--target N", number(settings.target_tokens, 1, 100000),
          "give a sentence N target tokens [64; 3 for a second of a clip]"},
      {"*--audio SECONDS", number(arguments.audio_seconds, 0.1, 600.0),
          "give a clip this much sound, for models that take samples [10]"},
      {"*--beam-size N,N", comma_list(settings.beam_sizes, [](uint32_t& n) { return number(n, 1, 16); }),
          "take these beam sizes [1,4]"},
      {"*--batch N,N", comma_list(settings.batches, [](uint32_t& n) { return number(n, 1, 256); }),
          "translate this many sentences at a time [1,8,32]"},
      {"*--against NAME", text(settings.against),
          "compare each case of speed with these kernels, in turns, and print their time over that of --kernels; "
          "xnnpack is one of them"},
      {"Machine"},
      {"*--threads N", number(arguments.threads, 0, 64), "use N threads; 0: one for each CPU [1]"},
      {"*--kernels NAME", text(settings.kernels),
          "force a kernel table by its name (an unknown one lists them); xnnpack: XNNPACK's kernels; fastest: theirs "
          "where they are faster (both give close, not equal, results)"},
      {"*--list-kernels", flag(arguments.list_kernels),
          "print the kernel tables that run here, best first; which is taken, and why, to standard error"},
      {"--low-memory", flag(settings.low_memory),
          "take the encoder's weights out of memory while they are not used: a little slower"},
      {"Runs"},
      {"--seconds SECONDS", number(patience.seconds, 0, 3600), "run at least this long for each figure [1]"},
      {"--repetitions N", number(patience.repetitions, 1, 1000000), "run at least N times for each figure [5]"},
      {"--warm-ups N", number(patience.warm_ups, 0, 1000000), "run N times before each figure without counting [2]"},
      {"--seed N", number(settings.seed), "take this seed of the random source ids [1]"},
      {"Report"},
      {"*--json", flag(arguments.json), "print JSON instead of tables (examples/bench/README.md has its fields)"},
  };
}

constexpr const char* kNotes =
    "Measurements:\n"
    "  open       from a file in the page cache to an engine, to the first token and the first\n"
    "             sentence; peak memory\n"
    "  speed      tokens/s of every beam size with every batch, encoding also on its own\n"
    "  length     the cost of a target position in 20 and in 200 target tokens, batch 1\n"
    "  breakdown  a greedy translation layer by layer (not of sound); with one thread, each case of\n"
    "             speed by kernel\n"
    "  bounds     how fast the threads' cores read memory, by size, and multiply; what that allows in\n"
    "             each case of speed\n"
    "Each time has its spread: the range of its middle half over its median. Above 10 % a warning counts them. For "
    "figures worth quoting, pin a core for each thread (taskset -c 0) and leave the machine to it.\n";

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  arguments.settings.beam_sizes = {1, 4};
  arguments.settings.batches = {1, 8, 32};
  goldcrest::CommandLine app(
      {kProgram, "Measures a .gcst model on this machine: random source ids, targets of a forced length.",
          options_of(arguments), "  goldcrest-bench enfr.gcst --measure speed --beam-size 1 --batch 1,8\n",
          "0 done, 1 failed, 2 bad usage.", kNotes});
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (!arguments.list_kernels && arguments.settings.model.empty())
    return ExitStatus(print_answer(kProgram, app.refuse("MODEL is required")));
  const std::vector<std::string>& measures = arguments.measures;
  if (!arguments.settings.against.empty() && std::find(measures.begin(), measures.end(), "speed") == measures.end())
    return ExitStatus(print_answer(kProgram, app.refuse("--against requires --measure speed")));
  arguments.source_given = app.is_given("--source");
  arguments.target_given = app.is_given("--target");
  arguments.audio_given = app.is_given("--audio");
  return {};
}
}}  // namespace bench

namespace {
constexpr double kTokensASecond = 3.0;  // speech: 2 to 4.6 in the clips of tests/peers/speech_clips.py
constexpr uint32_t kShortTokens = 20, kLongTokens = 200;
constexpr double kMaxSecondsForMachine = 0.1;  // for each of the machine's speeds

// Prints the tables to standard output, for programs. Prints the table that is taken, and why, to standard error, for
// people.
void list_kernels() {
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) std::printf("%s\n", goldcrest_kernels_at(i));
  const std::string problem = kernels_problem("");
  const char* wanted = goldcrest::wanted_kernels(nullptr);
  const char* taken = wanted != nullptr ? wanted : goldcrest_kernels_at(0);
  if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", bench::kProgram, problem.c_str());
  if (problem.empty()) std::fprintf(stderr, "%s: takes %s: %s\n", bench::kProgram, taken, goldcrest::kernels_reason());
}

// Turns seconds of sound into encoder rows. The encoder has all rows of a fixed window, however short the clip is.
void fit_sound(const goldcrest_info& model, const std::string& path, bench::Arguments& arguments) {
  bench::Settings& settings = arguments.settings;
  if (model.sample_rate == 0) {
    if (arguments.audio_given) throw std::runtime_error(path + ": --audio: the model takes no samples");
    return;
  }
  if (arguments.source_given) throw std::runtime_error(path + ": --source: the model takes samples; use --audio");
  const uint64_t first = model.first_row_samples;
  const uint64_t most_samples =
      uint64_t{model.max_source_positions} * model.row_samples + (model.fixed_window != 0 ? 0 : first - 1);
  const double longest = static_cast<double>(most_samples) / model.sample_rate;
  if (arguments.audio_given && arguments.audio_seconds > longest)
    throw std::runtime_error(
        path + ": --audio: the model hears at most " + std::to_string(static_cast<int>(longest)) + " s at once");
  settings.audio_seconds = std::min(arguments.audio_seconds, longest);
  const auto samples = static_cast<uint64_t>(settings.audio_seconds * model.sample_rate);
  settings.source_tokens = model.max_source_positions;
  if (model.fixed_window == 0 && samples >= first)
    settings.source_tokens =
        std::min(settings.source_tokens, static_cast<uint32_t>((samples - first) / model.row_samples + 1));
  if (!arguments.target_given)
    settings.target_tokens = std::max(1u, static_cast<uint32_t>(kTokensASecond * settings.audio_seconds + 0.5));
}

// Sets the lengths that the user did not name: the usual ones, or the model's positions if these are fewer.
void fit_lengths(const goldcrest_info& model, bench::Arguments& arguments) {
  bench::Settings& settings = arguments.settings;
  if (!arguments.source_given && settings.audio_seconds == 0)
    settings.source_tokens = std::min(settings.source_tokens, model.max_source_positions);
  if (!arguments.target_given && model.max_target_positions > 1)
    settings.target_tokens = std::min(settings.target_tokens, model.max_target_positions - 1);
}

bool wanted(const bench::Arguments& arguments, const char* measure) {
  return std::find(arguments.measures.begin(), arguments.measures.end(), measure) != arguments.measures.end();
}

bench::Case measure_case(
    const bench::Arguments& arguments, bench::Machine& machine, uint32_t beam_size, uint32_t batch) {
  const bench::Settings& settings = arguments.settings;
  bench::Case result;
  result.speed = bench::measure_speed(settings, beam_size, batch);
  if (!settings.against.empty()) result.against = bench::compare_kernels(settings, beam_size, batch);
  const bool bounds = wanted(arguments, "bounds"), breakdown = wanted(arguments, "breakdown");
  if (!bounds && !breakdown) return result;
  const bench::CaseWork work = bench::measure_work(settings, beam_size, batch);
  if (bounds) result.bound = bench::bound_of(settings, result.speed, work, machine);
  if (breakdown && settings.pool->threads() == 1) result.work = work;
  return result;
}

bench::Report measure(const bench::Arguments& arguments, const bench::ModelRunner& probe) {
  const bench::Settings& settings = arguments.settings;
  bench::Report report;
  report.model = probe.model();
  report.kernels = probe.kernels();
  report.threads = settings.pool->threads();
  report.target_tokens = settings.target_tokens;
  // Measured first, before larger arenas and buffers raise the process's peak memory. A page counts there once for each
  // mapping.
  probe.release_file();
  if (wanted(arguments, "open")) report.open = bench::measure_open(settings);
  report.position_bytes = bench::position_bytes(settings);
  bench::Patience brief = settings.patience;
  brief.seconds = std::min(brief.seconds, kMaxSecondsForMachine);
  bench::Machine machine(report.kernels, *settings.pool, brief);
  for (const uint32_t beam_size : settings.beam_sizes) {
    for (const uint32_t batch : settings.batches)
      if (wanted(arguments, "speed")) report.cases.push_back(measure_case(arguments, machine, beam_size, batch));
    if (wanted(arguments, "length") && report.model.max_target_positions > kLongTokens)
      report.lengths.push_back(bench::measure_length(settings, beam_size, kShortTokens, kLongTokens));
  }
  if (wanted(arguments, "breakdown") && settings.audio_seconds == 0)
    report.breakdown = bench::measure_breakdown(settings);
  if (wanted(arguments, "bounds")) report.machine = bench::measure_machine(machine, report.position_bytes);
  return report;
}

void run(bench::Arguments& arguments, const std::string& command) {
  ThreadPool pool;
  const std::string problem = pool.start(arguments.threads);
  if (!problem.empty()) throw std::runtime_error(problem);
  bench::Settings& settings = arguments.settings;
  settings.pool = &pool;
  const bench::ModelRunner probe(
      {settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_POSITION, nullptr, false},
      {1, 1, 1, 1, 1});
  fit_sound(probe.model(), settings.model, arguments);
  fit_lengths(probe.model(), arguments);
  bench::Report report = measure(arguments, probe);
  report.command = command;
  report.host = bench::host_of("");
  const std::string text = arguments.json ? report_json(settings, report) : report_text(settings, report);
  std::fputs(text.c_str(), stdout);
}
}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments;
  if (const std::optional<bench::ExitStatus> status = bench::parse_options(argc, argv, arguments)) return *status;
  try {
    if (arguments.list_kernels) list_kernels();
    else run(arguments, goldcrest::command_line(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", bench::kProgram, describe_exception(error, arguments.settings.model).c_str());
    return bench::kFailed;
  }
  return finish_output(bench::kProgram) ? bench::kSuccess : bench::kFailed;
}
