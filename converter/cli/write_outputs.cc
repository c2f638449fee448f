// SPDX-License-Identifier: Apache-2.0
#include "cli/write_outputs.h"

#include <algorithm>

#include "cli/console.h"
#include "file/emit_c.h"
#include "report/budget.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "spec/printable.h"

namespace goldcrest::converter {

void print_report(const Report& report, const Arguments& arguments) {
  // A name in the checkpoint need not be UTF-8.
  if (arguments.json)
    print(write_json(report_json(report), {2}) + "\n");
  else
    print(report_text(report));
  flush_output("no file was written");
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

int write_outputs(const Outputs& outputs, const Arguments& arguments) {
  const auto& [image, memory, boards, name] = outputs;
  const Budget budget = arguments.budget_text.empty() ? Budget() : parse_budget(arguments.budget_text);
  const std::string excess = over_budget(budget, memory.arena_bytes, image.size());
  const bool fits_board = arguments.board == "all" || std::ranges::all_of(boards, &BoardFit::fits);
  if (!excess.empty() || !fits_board) {
    say_error(format_text("{} does not fit{}: nothing was written", arguments.input,
                          fits_board ? "" : " --board " + arguments.board));
    say(excess);
    return kOverBudget;
  }
  const bool emits = !arguments.emit_folder.empty();
  const EmitOptions emitted = {emits ? c_name(name) : "", arguments.section, arguments.array};
  std::vector<std::filesystem::path> written;
  if (!arguments.output.empty()) {
    write_file(arguments.output, image.span());
    written.push_back(arguments.output);
  }
  if (emits) {
    std::ranges::move(emit_c(arguments.emit_folder, emitted, image.span(), memory), std::back_inserter(written));
  }
  for (const std::filesystem::path& path : written) {
    if (!arguments.json) print(format_text("written      {}\n", printable(path.string())));
  }
  flush_output("the files were written");
  return kSuccess;
}

}  // namespace goldcrest::converter
