// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert: converts a trained checkpoint to a .gcst file, and reports what int8 costs and how many bytes it
// needs.
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/convert.h"
#include "dialects/config_template.h"
#include "file/relayout.h"
#include "sources/values/json_text.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

int print_config(const Arguments& arguments) {
  print(write_json(config_template(arguments.input), {1}) + "\n");
  require_output("the config is not whole");
  return kSuccess;
}

int convert(const Arguments& arguments) {
  const bool from_model_file = is_model_file(arguments.input);
  const std::string unfit = from_model_file   ? unfit_for_model_file(arguments)
                            : arguments.shape ? unfit_for_shape(arguments)
                                              : "";
  if (!unfit.empty()) throw UsageError("{}", unfit);
  if (arguments.shape) return size_shape(arguments);
  if (arguments.print_config) return print_config(arguments);
  const UserLines lines = preflight(arguments);
  return from_model_file ? convert_model_file(arguments) : convert_checkpoint(arguments, lines);
}

int no_memory(const Arguments& arguments) {
  say_error(arguments.input + ": not enough memory");
  return kBadInput;
}

int run(int argc, char** argv) {
  Arguments arguments;
  try {
    const std::optional<ExitStatus> status = parse_command_line(argc, argv, arguments);
    return status ? *status : convert(arguments);
  } catch (const UsageError& error) {
    say_error(error.what());
    return kBadUsage;
  } catch (const std::bad_alloc&) {
    return no_memory(arguments);
  } catch (const std::length_error&) {  // more than any memory has
    return no_memory(arguments);
  } catch (const std::exception& error) {
    say_error(error.what());
    return kBadInput;
  }
}

}  // namespace
}  // namespace goldcrest::converter

int main(int argc, char** argv) {
  goldcrest::converter::open_standard_streams();
  return goldcrest::converter::run(argc, argv);
}
