// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert: converts a trained checkpoint to a .gcst file, and reports what int8 costs and how many bytes it
// needs.
#include "cli/program.h"
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/convert.h"
#include "cli/preflight.h"
#include "dialects/config_template.h"
#include "file/relayout.h"
#include "sources/values/json_text.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
int print_config(const std::string& input) {
  print(write_json(config_template(input), {1}) + "\n");
  require_output("the config is not whole");
  return kSuccess;
}

int convert(Options& options) {
  const bool from_model_file = is_model_file(options.input);
  if (from_model_file && !options.checkpoint_only.empty())
    throw UsageError("{}: {} works on a checkpoint, not on a .gcst file; give the checkpoint", options.input,
        options.checkpoint_only);
  if (options.shape && !options.weights_only.empty())
    throw UsageError("{} needs weights, and --shape has none; leave one of them out", options.weights_only);
  if (options.shape) return size_shape(options);
  if (options.print_config) return print_config(options.input);
  preflight(options);
  return from_model_file ? convert_model_file(options) : convert_checkpoint(options);
}

int no_memory(const Options& options) {
  say_error(options.input + ": not enough memory");
  return kBadInput;
}
}  // namespace

int run_program(int argc, char** argv) {
  open_standard_streams();
  Options options;
  try {
    const std::optional<ExitStatus> status = parse_command_line(argc, argv, options);
    return status ? *status : convert(options);
  } catch (const UsageError& error) {
    say_error(error.what());
    return kBadUsage;
  } catch (const std::bad_alloc&) {
    return no_memory(options);
  } catch (const std::length_error&) {  // more than any memory has
    return no_memory(options);
  } catch (const std::exception& error) {
    say_error(error.what());
    return kBadInput;
  }
}
}  // namespace goldcrest::converter
