// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bounds.h"
#include "file/emit_c.h"
#include "quantize/pack.h"
#include "report/board.h"
#include "spec/error.h"
#include "spec/printable.h"

namespace goldcrest::converter {
namespace {

// A check of CLI11 from a function that throws Error for a bad value.
template <typename Function>
auto refused_by(Function function) {
  return [function](const std::string& value) -> std::string {
    try {
      function(value);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
}

// Of a text that goes into the file.
std::string check_metadata(const std::string& text) {
  if (text.size() > kMaxMetadataBytes)
    return fmt::format("the text has {} bytes; {} are the most", text.size(), kMaxMetadataBytes);
  if (is_printable(text)) return "";
  return fmt::format("'{}' has control characters or is not UTF-8; expected one line of text", printable(text));
}

void declare_limits(CLI::App& app, goldcrest_limits& limits) {
  CLI::Option_group* group =
      app.add_option_group("Limits",
                           "what the memory is planned for; defaults of the file (0: the checkpoint's). Of a .gcst, "
                           "for this report and --emit-c alone: the file keeps its defaults");
  group->add_option("--max-source", limits.max_source_tokens, "tokens of a source, end token included");
  group->add_option("--max-source-bytes", limits.max_source_bytes, "bytes of a source text");
  group->add_option("--max-target", limits.max_target_tokens, "generated tokens, end token included");
  group->add_option("--beam-size,--beam", limits.beam_size, fmt::format("hypotheses, 1 to {}; 1 is greedy", kMaxBeams));
  group->add_option("--batch", limits.batch, "sources at a time");
  group->add_option("--n-best", limits.n_best, "results kept for a source");
  group->add_option("--encoder-rows", limits.encoder_rows,
                    "source positions encoded at a time: fewer need less memory");
}

const CLI::Option* declare_firmware(CLI::App& app, Arguments& arguments) {
  CLI::Option_group* group = app.add_option_group("Firmware");
  CLI::Option* emit = group->add_option(
      "--emit-c", arguments.emit_folder,
      "write DIR/model_NAME.h with the bytes that these limits need, and model_NAME.S with model_NAME.gcst to "
      "assemble. NAME is --name, else the input's");
  group
      ->add_flag("--array", arguments.array, "model_NAME.c with an array in place of .S, for compilers without .incbin")
      ->needs(emit);
  group->add_option("--section", arguments.section, "the section that the model is placed in")
      ->check(refused_by(check_section_name))
      ->needs(emit);
  group
      ->add_option_function<std::string>(
          "--budget", [&arguments](const std::string& text) { arguments.budget = parse_budget(text); },
          "arena=BYTES,file=BYTES (K and M: times 1024): exit status 5 and no output where more is needed")
      ->check(refused_by(parse_budget));
  group
      ->add_option("--board", arguments.board,
                   "whether model and arena fit this board's memories, and with which limits they would: exit status 5 "
                   "and no output where not. A board of boards/ (list: their names), all of them, which only tells, or "
                   "your own linker script (.ld)")
      ->check([](const std::string& name) -> std::string {
        if (name == "list") throw CLI::CallForVersion(fmt::format("{}", fmt::join(board_names(), "\n")), 0);
        return refused_by(find_boards)(name);
      });
  return emit;
}

std::vector<const CLI::Option*> declare_quality(CLI::App& app, Arguments& arguments) {
  CLI::Option_group* group = app.add_option_group("Quality");
  CLI::Option* check = group->add_option(
      "--check", arguments.check_path,
      "compare the float32 reference with samples of your own framework (examples/export_nn_transformer.py); "
      "exit status 3 where they depart");
  CLI::Option* evaluate =
      group->add_option("--evaluate", arguments.evaluate_path,
                        "lines of SOURCE [TAB REFERENCE]...: float32 against int8, and both against the references");
  group->add_flag("--ids", arguments.ids,
                  "--evaluate and --self-test read token ids in place of text, as goldcrest-translate --ids does: "
                  "SOURCE IDS [TAB TARGET IDS], end ids included. For models without a tokenizer");
  group
      ->add_option("--alternatives", arguments.alternatives,
                   "what stands between several references in one field, such as ' | '")
      ->needs(evaluate);
  group->add_option("--evaluate-beam", arguments.evaluate_beam, "beam size of the evaluation (0: the limits')")
      ->needs(evaluate);
  CLI::Option* max_loss =
      group->add_option("--max-loss", arguments.max_loss,
                        "the most that int8 may lose by --metric, in points; exit status 4 and no output beyond it");
  max_loss->needs(evaluate);
  group
      ->add_option(
          "--metric", arguments.metric,
          "for --max-loss: bleu, chrf, wer, exact (with references), tokens, lines (share that differs, percent). "
          "Default: bleu with references, else tokens")
      ->check(CLI::IsMember({"bleu", "chrf", "wer", "exact", "tokens", "lines"}))
      ->needs(max_loss);
  return {check, evaluate};
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.description(
      "Converts a trained encoder-decoder Transformer to one int8 file for the Goldcrest engine.\n"
      "INPUT is a Hugging Face Marian / OPUS-MT directory, or a directory or weight file of a PyTorch nn.Transformer "
      "with a config.json (converter/dialects/NN_TRANSFORMER.md). Weights: safetensors, or what torch.save wrote; "
      "nothing in them is executed. Or INPUT is a .gcst file: to order its weights for another processor (--cpu), to "
      "make a C source of it (--emit-c), or to hold it against a --budget; its weights stay the same.");
  app.set_version_flag("--version", std::string("goldcrest-convert " GOLDCREST_VERSION));
  app.add_option("INPUT", arguments.input, "directory, weight file or .gcst file")->required();
  CLI::Option* shape = app.add_flag("--shape", arguments.shape,
                                    "INPUT is a config.json, before training: file, arena and work of the model that "
                                    "it describes, without weights");
  CLI::Option* output_file =
      app.add_option("-o,--output", arguments.output, "the file to write; without it only the report is made");
  CLI::Option* config =
      app.add_option("--config", arguments.config, "config.json, where it does not lie beside the weights");
  CLI::Option* print_config =
      app.add_flag("--print-config", arguments.print_config,
                   "print a config.json for the tensors of an nn.Transformer, to be completed where it says null")
          ->excludes(output_file)
          ->excludes(shape)
          ->excludes(config);
  app.add_option("--cpu", arguments.cpu,
                 "the processor to order the weights for; any runs any order. Default: generic, and a .gcst's own")
      ->check(refused_by(layout_for_cpu));
  CLI::Option* weights =
      app.add_option("--weights", arguments.weights,
                     "int8, or float32: four times the bytes and nothing lost, for machines with an operating system; "
                     "what int8 is measured against on them. Default: int8")
          ->check(CLI::IsMember({"int8", "float32"}));
  declare_limits(app, arguments.limits);
  const CLI::Option* emit = declare_firmware(app, arguments);

  CLI::Option_group* metadata = app.add_option_group("Metadata");
  metadata->add_option("--name", arguments.name, "the model's name")->check(check_metadata);
  CLI::Option* license =
      metadata->add_option("--license", arguments.license, "the model's licence, in place of the checkpoint's")
          ->check(check_metadata);
  CLI::Option* attribution =
      metadata->add_option("--attribution", arguments.attribution, "whom to name, in place of the checkpoint's")
          ->check(check_metadata);
  CLI::Option* self_test = metadata->add_option("--self-test", arguments.self_test_path,
                                                "text whose first lines become the file's self-test");
  arguments.checkpoint_only = declare_quality(app, arguments);
  arguments.weights_only = arguments.checkpoint_only;

  CLI::Option_group* output = app.add_option_group("Reports");
  CLI::Option* report = output->add_option("--report", arguments.report_path, "also write the report as an HTML page");
  CLI::Option* json = output->add_flag("--json", arguments.json, "print the report as JSON");
  output->add_flag("-q,--quiet", arguments.quiet, "no progress");
  for (const CLI::Option* option :
       {config, shape, print_config, weights, license, attribution, self_test, report, json}) {
    arguments.checkpoint_only.push_back(option);
  }
  arguments.weights_only.insert(arguments.weights_only.end(), {output_file, emit, config, self_test, report});
  app.footer(
      "Exit status: 0 done, 1 bad input or failed write, 2 bad usage, 3 --check departs, 4 --max-loss exceeded, "
      "5 --budget exceeded.\nExcept with status 0 no output file is written.");
}

std::string unfit_for_model_file(const Arguments& arguments) {
  for (const CLI::Option* option : arguments.checkpoint_only) {
    if (option->count() == 0) continue;
    return fmt::format("{}: {} works on a checkpoint, not on a .gcst file; give the checkpoint", arguments.input,
                       option->get_name());
  }
  return "";
}

std::string unfit_for_shape(const Arguments& arguments) {
  for (const CLI::Option* option : arguments.weights_only) {
    if (option->count() == 0) continue;
    return fmt::format("{} needs weights, and --shape has none; leave one of them out", option->get_name());
  }
  return "";
}

}  // namespace goldcrest::converter
