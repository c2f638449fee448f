// SPDX-License-Identifier: Apache-2.0
#include "cli/write_outputs.h"

#include <algorithm>

#include "cli/console.h"
#include "file/emit_c.h"
#include "host/printable.h"
#include "report/board.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// Refuses a model that exceeds the budget or the board, with the sizes.
Refusal refuse_size(const Outputs& outputs, const Arguments& arguments) {
  const Budget budget = arguments.budget_text.empty() ? Budget() : parse_budget(arguments.budget_text);
  const std::string excess = over_budget(budget, outputs.memory.arena_bytes, outputs.image.size());
  const bool fits_board = arguments.board == "all" || std::ranges::all_of(outputs.boards, &BoardFit::fits);
  if (excess.empty() && fits_board) return {};
  const std::string board = fits_board ? "" : format_text(" --board {}", arguments.board);
  std::string text = format_text("{} does not fit{}: nothing was written", arguments.input, board);
  if (!excess.empty()) text += format_text("\n{}", excess.substr(0, excess.find_last_not_of('\n') + 1));
  return {kOverBudget, text};
}

std::vector<std::filesystem::path> write_files(const Outputs& outputs, const Arguments& arguments) {
  const bool emits = !arguments.emit_folder.empty();
  const EmitOptions emitted = {emits ? c_name(outputs.name) : "", arguments.section, arguments.array};
  std::vector<std::filesystem::path> written;
  if (!arguments.output.empty()) {
    write_file(arguments.output, outputs.image.span());
    written.push_back(arguments.output);
  }
  if (emits) {
    std::ranges::move(emit_c(arguments.emit_folder, emitted, outputs.image.span(), outputs.memory),
                      std::back_inserter(written));
  }
  return written;
}

}  // namespace

void print_report(const Report& report, const Arguments& arguments) {
  // A name in the checkpoint need not be UTF-8.
  if (arguments.json)
    print(write_json(report_json(report), {2}) + "\n");
  else
    print(arguments.quiet && !report.is_shape ? report_summary(report) : report_text(report));
}

void write_page(const Report& report, const Arguments& arguments) {
  if (arguments.report_path.empty()) return;
  const std::string html = report_html(report);
  write_file(arguments.report_path, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
}

std::vector<BoardFit> fit_boards(const FileImage& image, const goldcrest_memory& memory, const Arguments& arguments) {
  std::vector<BoardFit> fits;
  if (arguments.board.empty()) return fits;
  const auto arena_bytes = [&](const goldcrest_limits& limits) {
    return map_memory(image.span(), limits, arguments.input).memory.arena_bytes;
  };
  for (const Board& board : find_boards(arguments.board)) {
    fits.push_back(fit_board(board, {image.size(), memory, arena_bytes}));
  }
  return fits;
}

int write_outputs(const Outputs& outputs, const Arguments& arguments, const std::function<void()>& report) {
  const Refusal refusal = outputs.refusal.status != kSuccess ? outputs.refusal : refuse_size(outputs, arguments);
  std::vector<std::filesystem::path> written;
  if (refusal.status == kSuccess) written = write_files(outputs, arguments);
  report();
  for (const std::filesystem::path& path : written) {
    if (!arguments.json) print(format_text("written      {}\n", printable(path.string())));
  }
  const bool is_reported = flush_output();
  if (refusal.status != kSuccess) {
    say_error(refusal.text);
    return refusal.status;
  }
  if (is_reported) return kSuccess;
  if (written.empty()) throw Error("standard output: write failed; the report is not whole");
  std::vector<std::string> names;
  for (const std::filesystem::path& path : written) names.push_back(path.string());
  say_error("standard output: write failed; the report is not whole; written: " + join_text(names, ", "));
  return kReportLost;
}

}  // namespace goldcrest::converter
