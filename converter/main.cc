// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert: a trained checkpoint to a .gcst file, with a report of what int8 cost and how many bytes it needs.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/progress.h"
#include "dialects/config_template.h"
#include "dialects/dialect.h"
#include "evaluate/check.h"
#include "file/emit_c.h"
#include "file/metadata.h"
#include "file/relayout.h"
#include "file/write.h"
#include "quantize/pack.h"
#include "report/engine_session.h"
#include "report/report.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

std::string read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ModelSpec load(const Arguments& arguments) {
  ModelSpec spec = load_checkpoint(arguments.input, {arguments.config});
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
  constexpr size_t kMaxLines = 4;
  std::vector<std::vector<int32_t>> sources;
  std::istringstream text(read_text_file(path));
  std::string line;
  for (size_t number = 1; sources.size() < kMaxLines && std::getline(text, line); ++number) {
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
  EngineSession session(untested.span(), limits, arguments.input);
  const std::vector<std::vector<int32_t>> sources = self_test_sources(spec, session, arguments.self_test_path);
  const std::vector<SelfTestLine> lines = make_self_test(session, sources);
  *self_test_lines = lines.size();
  return assemble(payload, lines);
}

void run_evaluation(const FileImage& image, const goldcrest_limits& file_limits, const Arguments& arguments,
                    Progress& progress, Report* report) {
  progress.stage("evaluating");
  report->evaluation_lines = read_evaluation_lines(arguments.evaluate_path, arguments.alternatives);
  goldcrest_limits limits = file_limits;
  if (arguments.evaluate_beam != 0) limits.beam_size = arguments.evaluate_beam;
  limits.n_best = 1;
  EngineSession session(image.span(), limits, arguments.evaluate_path);
  SearchOptions search = default_search(*report->spec);
  search.beam_size = limits.beam_size;
  search.max_target_tokens = std::min(search.max_target_tokens, limits.max_target_tokens);
  const Reference reference(*report->spec);
  ReferenceTranslator float32(
      reference, search, [&](const std::string& text) { return session.encode(text); },
      [&](std::span<const int32_t> tokens) {
        return session.info().has_detokenizer ? session.decode(tokens) : std::string();
      });
  EngineTranslator int8(session);
  EvaluationOptions options;
  options.progress = [&](size_t done, size_t total) { progress.at(done, total); };
  report->evaluation = evaluate(report->evaluation_lines, float32, int8, options);
  if (session.info().weight_bits == 32) report->evaluation->engine_name = "engine";
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
  if (arguments.weights == "float32") options.weights = Weights::kFloat32;
  options.layout = layout_for_cpu(arguments.cpu.empty() ? "generic" : arguments.cpu);
  options.limits = arguments.limits;
  if (!arguments.license.empty()) options.license = arguments.license;
  if (!arguments.attribution.empty()) options.attribution = arguments.attribution;
  try {
    return build_payload(spec, options);
  } catch (const Error& error) {
    throw Error("{}: {}", arguments.input, error.what());
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

// Writes what was asked for, unless the model needs more than the budget. `name`: of the emitted C source.
int write_output(const FileImage& image, const goldcrest_memory& memory, const std::string& name,
                 const Arguments& arguments) {
  const std::string excess = over_budget(arguments.budget, memory.arena_bytes, image.size());
  if (!excess.empty()) {
    fmt::print(stderr, "goldcrest-convert: {} does not fit: nothing was written\n{}", arguments.input, excess);
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
    if (!arguments.json) fmt::print("written      {}\n", path.string());
  }
  return kSuccess;
}

int print_config(const Arguments& arguments) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", config_template(arguments.input).dump(1, ' ', false, kReplace));
  if (std::fflush(stdout) != 0) throw Error("standard output: write failed");
  return kSuccess;
}

int convert_checkpoint(const Arguments& arguments) {
  if (arguments.print_config) return print_config(arguments);
  Progress progress(arguments.quiet);
  progress.stage("loading " + arguments.input);
  const ModelSpec spec = load(arguments);
  if (!arguments.check_path.empty() && !run_check(spec, arguments, progress)) return kCheckFailed;

  progress.stage("quantizing");
  const Payload payload = make_payload(spec, arguments);

  progress.stage("running the self-test");
  Report report;
  const FileImage image = make_image(spec, payload, arguments, &report.self_test_lines);
  report.checkpoint = arguments.input;
  report.output = arguments.output;
  report.spec = &spec;
  report.tensors = payload.tensors;
  report.sections = section_sizes(payload);
  report.file_bytes = image.size();
  goldcrest_limits limits = resolve_limits(spec, arguments.limits);
  limits.threads = 1;
  report.memory = map_memory(image.span(), limits, arguments.input);
  report.info = EngineSession(image.span(), limits, arguments.input).info();
  if (!arguments.evaluate_path.empty()) run_evaluation(image, limits, arguments, progress, &report);
  progress.finish();

  print_report(report, arguments);
  if (arguments.max_loss != kAnyLoss) {
    const double lost = loss(*report.evaluation, arguments.metric);
    if (!(lost <= arguments.max_loss)) {
      fmt::print(stderr, "goldcrest-convert: {} lost {:.3f} points, more than --max-loss {}\n",
                 report.evaluation->engine_name, lost, arguments.max_loss);
      return kTooMuchLost;
    }
  }
  return write_output(image, report.memory.memory, spec.name, arguments);
}

// Throws Error when the engine refuses the file, or computes from it what the file does not promise.
goldcrest_info check_model_file(const FileImage& image, const std::string& file) {
  EngineSession session(image.span(), {}, file);
  goldcrest_detail detail = {"", -1};
  const int status = goldcrest_self_test(session.engine(), &detail);
  const bool has_none = status == GOLDCREST_ERROR_TOO_LONG;  // each line fits the file's own limits
  if (status < 0 && !has_none)
    throw Error("{}: {}: {} ({})", file, goldcrest_status_string(status), detail.message, detail.index);
  return session.info();
}

int convert_model_file(const Arguments& arguments) {
  Progress progress(arguments.quiet);
  progress.stage("loading " + arguments.input);
  FileImage image = read_model_file(arguments.input);
  progress.stage("running the self-test");
  goldcrest_info info = check_model_file(image, arguments.input);
  if (!arguments.cpu.empty()) {
    progress.stage("ordering the weights for " + arguments.cpu);
    image = relay_out(image, layout_for_cpu(arguments.cpu), arguments.input);
    info = check_model_file(image, arguments.input);
  }
  const MemoryMap map = map_memory(image.span(), resolve_limits(info, arguments.limits), arguments.input);
  progress.finish();
  fmt::print("model        {}, weights hash {:016x}\n{}", arguments.input, info.weights_hash,
             describe_architecture(info));
  fmt::print("file         {} bytes\n", image.size());
  fmt::print("arena        {} bytes for {}\n{}", map.memory.arena_bytes, formula_legend(map.memory.limits),
             arena_formula(map));
  if (std::fflush(stdout) != 0) throw Error("standard output: write failed; no file was written");
  const std::string stem = std::filesystem::path(arguments.input).stem().string();
  return write_output(image, map.memory, arguments.name.empty() ? stem : arguments.name, arguments);
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
    if (!is_model_file(arguments.input)) return convert_checkpoint(arguments);
    const std::string unfit = unfit_for_model_file(arguments);
    if (unfit.empty()) return convert_model_file(arguments);
    fmt::print(stderr, "goldcrest-convert: {}\n", unfit);
    return kBadUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "goldcrest-convert: {}\n", error.what());
    return kBadInput;
  }
}
