// SPDX-License-Identifier: Apache-2.0
// goldcrest-bench measures how fast a model runs on this machine, and how near that is to the machine's limits. It uses
// only the C API, so your own program gets the same figures.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "../support/messages.h"
#include "kernels/kernels.h"
#include "measurements.h"
#include "options.h"
#include "report.h"
#include "sources/messages/messages.h"

namespace {

constexpr double kTokensASecond = 3.0;  // of speech: 2 to 4.6 in the clips of tests/peers/speech_clips.py
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
    throw std::runtime_error(path + ": --audio: the model hears at most " + std::to_string(static_cast<int>(longest)) +
                             " s at once");
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
  if (!arguments.target_given && model.max_target_positions > 1) {
    settings.target_tokens = std::min(settings.target_tokens, model.max_target_positions - 1);
  }
}

bool wanted(const bench::Arguments& arguments, const char* measure) {
  return std::find(arguments.measures.begin(), arguments.measures.end(), measure) != arguments.measures.end();
}

bench::Case measure_case(const bench::Arguments& arguments, bench::Machine& machine, uint32_t beam_size,
                         uint32_t batch) {
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
    for (const uint32_t batch : settings.batches) {
      if (wanted(arguments, "speed")) report.cases.push_back(measure_case(arguments, machine, beam_size, batch));
    }
    if (wanted(arguments, "length") && report.model.max_target_positions > kLongTokens) {
      report.lengths.push_back(bench::measure_length(settings, beam_size, kShortTokens, kLongTokens));
    }
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
    if (arguments.list_kernels) {
      list_kernels();
    } else {
      run(arguments, goldcrest::converter::command_line(argc, argv));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", bench::kProgram, describe_exception(error, arguments.settings.model).c_str());
    return bench::kFailed;
  }
  return finish_output(bench::kProgram) ? bench::kSuccess : bench::kFailed;
}
