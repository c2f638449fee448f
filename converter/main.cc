// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert: a trained checkpoint to a .gcst file, with a report of what int8 cost and how many bytes it needs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "dialects/dialect.h"
#include "engine_session.h"
#include "error.h"
#include "evaluate/check.h"
#include "metadata.h"
#include "pack.h"
#include "progress.h"
#include "report.h"
#include "write.h"

namespace goldcrest::converter {
namespace {

enum ExitStatus { kSuccess = 0, kBadInput = 1, kBadUsage = 2, kCheckFailed = 3, kTooMuchLost = 4 };

constexpr double kAnyLoss = std::numeric_limits<double>::infinity();

struct Arguments {
  std::string checkpoint, output, config, cpu = "generic";
  std::string name, license, attribution;
  std::string report_path, self_test_path, check_path, evaluate_path, alternatives, metric;
  double max_loss = kAnyLoss;
  goldcrest_limits limits = {};
  uint32_t evaluate_beam = 0;
  bool json = false, quiet = false;
};

// Why `name` is no value of --cpu, "" when it is one.
std::string unknown_cpu(const std::string& name) {
  try {
    layout_for_cpu(name);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void declare(CLI::App& app, Arguments& arguments) {
  app.description(
      "Converts a trained encoder-decoder Transformer to one int8 file for the Goldcrest engine.\n"
      "CHECKPOINT is a Hugging Face Marian / OPUS-MT directory, or a directory or weight file of a PyTorch "
      "nn.Transformer "
      "with a config.json (converter/dialects/NN_TRANSFORMER.md). Weights: safetensors, or what torch.save wrote; "
      "nothing in "
      "them is executed.");
  app.set_version_flag("--version", std::string("goldcrest-convert " GOLDCREST_VERSION));
  app.add_option("CHECKPOINT", arguments.checkpoint, "directory or weight file")->required();
  app.add_option("-o,--output", arguments.output, "the file to write; without it only the report is made");
  app.add_option("--config", arguments.config, "config.json, where it does not lie beside the weights");
  app.add_option("--cpu", arguments.cpu, "the processor to order the weights for; any runs any order")
      ->check(unknown_cpu)
      ->capture_default_str();

  CLI::Option_group* limits =
      app.add_option_group("Limits", "what the memory is planned for; defaults of the file (0: the checkpoint's)");
  limits->add_option("--max-source", arguments.limits.max_source_tokens, "tokens of a source, end token included");
  limits->add_option("--max-source-bytes", arguments.limits.max_source_bytes, "bytes of a source text");
  limits->add_option("--max-target", arguments.limits.max_target_tokens, "generated tokens, end token included");
  limits->add_option("--beam-size,--beam", arguments.limits.beam_size, "hypotheses, 1 to 16; 1 is greedy");
  limits->add_option("--batch", arguments.limits.batch, "sources at a time");
  limits->add_option("--n-best", arguments.limits.n_best, "results kept for a source");
  limits->add_option("--encoder-rows", arguments.limits.encoder_rows,
                     "source positions encoded at a time: fewer need less memory");

  CLI::Option_group* metadata = app.add_option_group("Metadata");
  metadata->add_option("--name", arguments.name, "the model's name");
  metadata->add_option("--license", arguments.license, "the model's licence, in place of the checkpoint's");
  metadata->add_option("--attribution", arguments.attribution, "whom to name, in place of the checkpoint's");
  metadata->add_option("--self-test", arguments.self_test_path, "text whose first lines become the file's self-test");

  CLI::Option_group* quality = app.add_option_group("Quality");
  quality->add_option(
      "--check", arguments.check_path,
      "compare the float32 reference with samples of your own framework (examples/export_nn_transformer.py); "
      "exit status 3 where they depart");
  CLI::Option* evaluate =
      quality->add_option("--evaluate", arguments.evaluate_path,
                          "lines of SOURCE [TAB REFERENCE]...: float32 against int8, and both against the references");
  quality
      ->add_option("--alternatives", arguments.alternatives,
                   "what stands between several references in one field, such as ' | '")
      ->needs(evaluate);
  quality->add_option("--evaluate-beam", arguments.evaluate_beam, "beam size of the evaluation (0: the limits')")
      ->needs(evaluate);
  CLI::Option* max_loss =
      quality->add_option("--max-loss", arguments.max_loss,
                          "the most that int8 may lose by --metric, in points; exit status 4 and no output beyond it");
  max_loss->needs(evaluate);
  quality
      ->add_option(
          "--metric", arguments.metric,
          "for --max-loss: bleu, chrf, wer, exact (with references), tokens, lines (share that differs, percent). "
          "Default: bleu with references, else tokens")
      ->check(CLI::IsMember({"bleu", "chrf", "wer", "exact", "tokens", "lines"}))
      ->needs(max_loss);

  CLI::Option_group* output = app.add_option_group("Reports");
  output->add_option("--report", arguments.report_path, "also write the report as an HTML page");
  output->add_flag("--json", arguments.json, "print the report as JSON");
  output->add_flag("-q,--quiet", arguments.quiet, "no progress");
  app.footer(
      "Exit status: 0 done, 1 bad input or failed write, 2 bad usage, 3 --check departs, 4 --max-loss exceeded.\n"
      "Except with status 0 no output file is written.");
}

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ModelSpec load(const Arguments& arguments) {
  ModelSpec spec = load_checkpoint(arguments.checkpoint, {arguments.config});
  if (!arguments.name.empty()) spec.name = arguments.name;
  return spec;
}

// Whether the float reference agrees with the samples; says where it does not.
bool run_check(const ModelSpec& spec, const Arguments& arguments, Progress& progress) {
  progress.stage("checking against samples");
  CheckOptions options;
  options.progress = [&](size_t done, size_t total) { progress.at(done, total); };
  const CheckReport report = check(Reference(spec), arguments.check_path, options);
  progress.finish();
  fmt::print(arguments.json ? stderr : stdout, "{}", to_text(report));
  return report.passed();
}

// The ids of the self-test's sources: the user's lines, or random ones.
std::vector<std::vector<int32_t>> self_test_sources(const ModelSpec& spec, EngineSession& session,
                                                    const std::string& path) {
  if (path.empty()) return random_sources(spec, session.memory().limits.max_source_tokens);
  constexpr size_t kMostLines = 4;
  std::vector<std::vector<int32_t>> sources;
  std::istringstream text(read_text_file(path));
  std::string line;
  for (size_t number = 1; sources.size() < kMostLines && std::getline(text, line); ++number) {
    line.resize(std::min(line.size(), line.find('\t')));
    if (line.empty()) continue;
    try {
      sources.push_back(session.encode(line));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", path, number, error.what());
    }
  }
  if (sources.empty()) throw Error("{}: no line for the self-test", path);
  return sources;
}

FileImage make_image(const ModelSpec& spec, const Payload& payload, const Arguments& arguments,
                     size_t* self_test_lines) {
  const FileImage untested = assemble(payload, {});
  goldcrest_limits limits = {};
  limits.max_source_bytes = payload.metadata.limits->max_source_bytes;
  limits.beam_size = 1;
  EngineSession session(untested.span(), limits, arguments.checkpoint);
  const std::vector<std::vector<int32_t>> sources = self_test_sources(spec, session, arguments.self_test_path);
  const std::vector<SelfTestLine> lines = make_self_test(session, sources);
  *self_test_lines = lines.size();
  return assemble(payload, lines);
}

void run_evaluation(const ModelSpec& spec, const FileImage& image, const goldcrest_limits& file_limits,
                    const Arguments& arguments, Progress& progress, Report* report) {
  progress.stage("evaluating");
  report->evaluation_lines = read_evaluation_lines(arguments.evaluate_path, arguments.alternatives);
  goldcrest_limits limits = file_limits;
  if (arguments.evaluate_beam != 0) limits.beam_size = arguments.evaluate_beam;
  limits.n_best = 1;
  EngineSession session(image.span(), limits, arguments.evaluate_path);
  SearchOptions search = default_search(spec);
  search.beam_size = limits.beam_size;
  search.max_target_tokens = std::min(search.max_target_tokens, limits.max_target_tokens);
  const Reference reference(spec);
  ReferenceTranslator float32(
      reference, search, [&](const std::string& text) { return session.encode(text); },
      [&](std::span<const int32_t> tokens) {
        return session.info().has_detokenizer ? session.decode(tokens) : std::string();
      });
  EngineTranslator int8(session);
  EvaluationOptions options;
  options.progress = [&](size_t done, size_t total) { progress.at(done, total); };
  report->evaluation = evaluate(report->evaluation_lines, float32, int8, options);
}

// How much int8 lost by the chosen metric, in points.
double loss(const Evaluation& evaluation, std::string metric) {
  if (evaluation.lines.empty()) throw Error("--max-loss: not one line was translated by both float32 and int8");
  const bool scored = evaluation.float32 && evaluation.int8;
  if (metric.empty()) metric = scored ? "bleu" : "tokens";
  if (metric == "tokens") return 100.0 * (1.0 - evaluation.token_agreement);
  if (metric == "lines") {
    const auto n = static_cast<double>(evaluation.lines.size());
    return 100.0 * (n - static_cast<double>(evaluation.identical)) / n;
  }
  if (!scored) throw Error("--metric {}: the lines have no references", metric);
  if (metric == "bleu") return evaluation.float32->bleu - evaluation.int8->bleu;
  if (metric == "chrf") return evaluation.float32->chrf - evaluation.int8->chrf;
  if (metric == "wer") return evaluation.int8->word_error_rate - evaluation.float32->word_error_rate;
  return evaluation.float32->exact_match - evaluation.int8->exact_match;
}

std::vector<std::pair<std::string, uint64_t>> section_sizes(const Payload& payload) {
  std::vector<std::pair<std::string, uint64_t>> sizes;
  for (const SectionBytes& section : payload.sections) {
    sizes.emplace_back(format::EnumNameSectionKind(section.kind), section.bytes.size());
  }
  return sizes;
}

// The payload for the limits and metadata of the command line. Throws Error that names the checkpoint.
Payload make_payload(const ModelSpec& spec, const Arguments& arguments) {
  BuildOptions options;
  options.layout = layout_for_cpu(arguments.cpu);
  options.limits = arguments.limits;
  if (!arguments.license.empty()) options.license = arguments.license;
  if (!arguments.attribution.empty()) options.attribution = arguments.attribution;
  try {
    return build_payload(spec, options);
  } catch (const Error& error) {
    throw Error("{}: {}", arguments.checkpoint, error.what());
  }
}

// To stdout and, where asked for, as HTML.
void print_report(const Report& report, const Arguments& arguments) {
  // A name in the checkpoint need not be UTF-8.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  if (arguments.json)
    fmt::print("{}\n", report_json(report).dump(2, ' ', false, kReplace));
  else
    fmt::print("{}", report_text(report));
  if (std::fflush(stdout) != 0) throw Error("standard output: write failed; no file was written");
  if (arguments.report_path.empty()) return;
  const std::string html = report_html(report);
  write_file(arguments.report_path, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
}

int convert(const Arguments& arguments) {
  Progress progress(arguments.quiet);
  progress.stage("loading " + arguments.checkpoint);
  const ModelSpec spec = load(arguments);
  if (!arguments.check_path.empty() && !run_check(spec, arguments, progress)) return kCheckFailed;

  progress.stage("quantizing");
  const Payload payload = make_payload(spec, arguments);

  progress.stage("running the self-test");
  Report report;
  const FileImage image = make_image(spec, payload, arguments, &report.self_test_lines);
  report.checkpoint = arguments.checkpoint;
  report.output = arguments.output;
  report.spec = &spec;
  report.tensors = payload.tensors;
  report.sections = section_sizes(payload);
  report.file_bytes = image.size();
  goldcrest_limits limits = resolve_limits(spec, arguments.limits);
  limits.threads = 1;
  report.memory = map_memory(image.span(), limits, arguments.checkpoint);
  report.info = EngineSession(image.span(), limits, arguments.checkpoint).info();
  if (!arguments.evaluate_path.empty()) run_evaluation(spec, image, limits, arguments, progress, &report);
  progress.finish();

  print_report(report, arguments);
  if (arguments.max_loss != kAnyLoss) {
    const double lost = loss(*report.evaluation, arguments.metric);
    if (!(lost <= arguments.max_loss)) {
      fmt::print(stderr, "goldcrest-convert: int8 lost {:.3f} points, more than --max-loss {}\n", lost,
                 arguments.max_loss);
      return kTooMuchLost;
    }
  }
  if (!arguments.output.empty()) {
    write_file(arguments.output, image.span());
    if (!arguments.json) fmt::print("written      {}\n", arguments.output);
  }
  return kSuccess;
}

}  // namespace
}  // namespace goldcrest::converter

int main(int argc, char** argv) {
  using namespace goldcrest::converter;
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  }
  try {
    return convert(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "goldcrest-convert: {}\n", error.what());
    return kBadInput;
  }
}
