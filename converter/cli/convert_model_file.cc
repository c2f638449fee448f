// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include "cli/console.h"
#include "cli/convert.h"
#include "cli/progress.h"
#include "cli/write_outputs.h"
#include "file/metadata.h"
#include "file/relayout.h"
#include "host/messages.h"
#include "host/printable.h"
#include "quantize/quantize.h"
#include "report/engine_session.h"
#include "report/memory_map.h"
#include "report/report.h"
#include "report/rules.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Throws Error if the engine refuses the file, or if its self-test fails.
goldcrest_info check_model_file(const FileImage& image, const std::string& file) {
  EngineSession session(image.span(), {}, file);
  goldcrest_detail detail = {"", -1};
  const int status = goldcrest_self_test(session.engine(), &detail);
  const bool has_none = status == GOLDCREST_ERROR_TOO_LONG;  // each line fits the file's own limits
  if (status < 0 && !has_none)
    throw Error("{}: {}: {} ({})", file, goldcrest_status_string(status), detail.message, detail.index);
  return session.info();
}
}  // namespace

int convert_model_file(const Options& options) {
  const std::string& input = options.input;
  Progress progress(standard_error_screen(options.report.quiet));
  progress.stage("loading " + input);
  FileImage image = read_model_file(input);
  progress.stage("running the self-test");
  goldcrest_info info = check_model_file(image, input);
  const std::string& cpu = options.quantize.cpu;
  if (!cpu.empty() || !options.quantize.pack.empty()) {
    progress.stage("ordering the weights");
    const std::optional<Layout> layout = cpu.empty() ? std::nullopt : std::optional(layout_for_cpu(cpu));
    image = relay_out(image, layout, input, !options.quantize.pack.empty());
    info = check_model_file(image, input);
  }
  const std::string problem = limits_problem(info, options.limits);
  if (!problem.empty()) throw Error("{}: {}", input, problem);
  const MemoryMap map = map_memory(image.span(), resolve_limits(info, options.limits), input);
  progress.finish();
  const std::vector<BoardFit> boards = fit_boards(options.write, image, map.memory, input);
  const auto report = [&](const std::vector<std::string>& written) {
    if (!options.report.quiet)
      print(format_text("model        {}, weights hash {:016x}\n", printable(input), info.weights_hash));
    if (options.report.verbose) print(describe_architecture(info));
    print(format_text("file         {} bytes\n", image.size()));
    print(format_text("arena        {} bytes for {}\n", map.memory.arena_bytes,
        options.report.verbose ? formula_legend(map.memory.limits) : limits_text(map.memory.limits)));
    if (options.report.verbose) print(arena_formula(map));
    for (const BoardFit& fit : boards) print(to_text(fit));
    print_written(written);
  };
  const std::string& name = options.read.name;
  const std::string stem = std::filesystem::path(input).stem().string();
  const int status =
      write_outputs(options.write, {input, image, map.memory, boards, name.empty() ? stem : name}, report);
  const std::vector<std::string> needed = engine_options(image);
  if (options.write.is_for_firmware() && !needed.empty())
    say_error("warning: " + firmware_warning(needed, rules_of(image)));
  return status;
}
}  // namespace goldcrest::converter
