// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include "goldcrest/goldcrest.h"
#include "sources/messages/choices.h"

namespace predictions {

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  CLI::App app{"Prints the predictions for a machine next to its measurements.", "goldcrest-predictions"};
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return goldcrest::converter::usage_message(*failed, error);
  });
  app.add_option("FILE", arguments.file,
                 "JSON of goldcrest-bench --json, or the log of benchmark_firmware; -: standard input");
  app.add_option("--machine", arguments.machine,
                 "compare with the predictions for this machine if the file does not name it");
  app.add_flag("--table", arguments.wants_table, "print all predictions as CSV (boards/predictions.csv)");
  app.set_version_flag("--version", std::string("goldcrest-predictions " GOLDCREST_VERSION));
  app.footer(
      "Every prediction has a band; how both were made: examples/predictions/README.md.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage.");
  try {
    app.parse(argc, argv);
    if (arguments.file.empty() && !arguments.wants_table) throw CLI::RequiredError("FILE");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  return {};
}

}  // namespace predictions
