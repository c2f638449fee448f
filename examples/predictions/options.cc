// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "../support/messages.h"
#include "sources/messages/options.h"

namespace predictions {

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  constexpr const char* kProgram = "goldcrest-predictions";
  goldcrest::converter::CommandLine app(kProgram, "Prints the predictions for a machine next to its measurements.");
  app.add_option("FILE", arguments.file,
                 "JSON of goldcrest-bench --json, or the log of benchmark_firmware; -: standard input");
  app.add_option("--machine", arguments.machine,
                 "compare with the predictions for this machine if the file does not name it");
  app.add_flag("--table", arguments.wants_table, "print all predictions as CSV (boards/predictions.csv)");
  app.version("goldcrest-predictions " GOLDCREST_VERSION);
  app.footer(
      "Every prediction has a band; how both were made: examples/predictions/README.md.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (arguments.file.empty() && !arguments.wants_table)
    return ExitStatus(print_answer(kProgram, app.refuse("FILE is required")));
  return {};
}

}  // namespace predictions
