// SPDX-License-Identifier: Apache-2.0
#include "cli/write_outputs.h"
#include <algorithm>
#include "cli/console.h"
#include "file/emit_c.h"
#include "file/format.h"
#include "host/printable.h"
#include "report/board.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// The image and the input's name must outlive the demand.
BoardDemand demand_of(const FileImage& image, const goldcrest_memory& memory, const std::string& input) {
  return {image.size(), memory,
      [&](const goldcrest_limits& limits) { return map_memory(image.span(), limits, input).memory.arena_bytes; }};
}

// Refuses a model that exceeds the budget or the board, with the sizes.
Refusal refuse_size(const WriteOptions& options, const Outputs& outputs) {
  const Budget budget = options.budget_text.empty() ? Budget() : parse_budget(options.budget_text);
  const std::string excess = over_budget(budget, demand_of(outputs.image, outputs.memory, outputs.input));
  const bool fits_board = options.board == "all" || std::ranges::all_of(outputs.boards, &BoardFit::fits);
  if (excess.empty() && fits_board) return {};
  const std::string board = fits_board ? "" : format_text(" --board {}", options.board);
  std::string text = format_text("{} does not fit{}: nothing was written", outputs.input, board);
  if (!excess.empty()) text += format_text("\n{}", excess.substr(0, excess.find_last_not_of('\n') + 1));
  return {kOverBudget, text};
}

std::vector<std::string> write_files(const WriteOptions& options, const Outputs& outputs) {
  std::vector<std::string> written;
  if (!options.output.empty()) {
    write_file(options.output, outputs.image.span());
    written.push_back(options.output);
  }
  if (options.emit_folder.empty()) return written;
  const EmitOptions emitted = {c_name(outputs.name), options.section, options.array};
  for (const auto& path : emit_c(options.emit_folder, emitted, outputs.image.span(), outputs.memory))
    written.push_back(path.string());
  return written;
}
}  // namespace

void print_report(const Report& report, const ReportOptions& options, const std::vector<std::string>& written) {
  // A name in the checkpoint need not be UTF-8.
  if (options.json) return print(write_json(report_json(report), {2}) + "\n");
  print(options.verbose || report.is_shape ? report_text(report)
        : options.quiet                    ? report_summary(report)
                                           : report_screen(report));
  print_written(written);
  const bool is_refused = !report.output.empty() && written.empty();
  if (!options.quiet && !report.is_shape && !is_refused) print(report_ending(report));
}

void print_written(const std::vector<std::string>& written) {
  for (const std::string& path : written) print(format_text("written      {}\n", printable(path)));
}

void write_page(const Report& report, const ReportOptions& options) {
  if (options.page_path.empty()) return;
  const std::string html = report_html(report);
  write_file(options.page_path, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
}

std::vector<BoardFit> fit_boards(
    const WriteOptions& options, const FileImage& image, const goldcrest_memory& memory, const std::string& input) {
  std::vector<BoardFit> fits;
  if (options.board.empty()) return fits;
  const BoardDemand demand = demand_of(image, memory, input);
  for (const Board& board : find_boards(options.board)) fits.push_back(fit_board(board, demand));
  const uint64_t saved_bytes = bytes_in_int8(image) - image.size();
  for (BoardFit& fit : fits) fit.saved_bytes = saved_bytes;
  return fits;
}

int write_outputs(const WriteOptions& options, const Outputs& outputs,
    const std::function<void(const std::vector<std::string>& written)>& report) {
  const Refusal refusal = outputs.refusal.status != kSuccess ? outputs.refusal : refuse_size(options, outputs);
  std::vector<std::string> written;
  if (refusal.status == kSuccess) written = write_files(options, outputs);
  report(written);
  const bool is_reported = flush_output();
  if (refusal.status != kSuccess) {
    say_error(refusal.text);
    return refusal.status;
  }
  if (is_reported) return kSuccess;
  if (written.empty()) throw Error("standard output: write failed; the report is not whole");
  say_error("standard output: write failed; the report is not whole; written: " + join_text(written, ", "));
  return kReportLost;
}
}  // namespace goldcrest::converter
