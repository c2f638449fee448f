// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>

#include "cli/changes.h"
#include "cli/console.h"
#include "cli/convert.h"
#include "cli/in_memory_model.h"
#include "cli/progress.h"
#include "cli/quality.h"
#include "cli/write_outputs.h"
#include "dialects/dialect.h"
#include "dialects/shortlist/shortlist_file.h"
#include "dialects/text/languages.h"
#include "evaluate/centre_keys.h"
#include "evaluate/clip_file.h"
#include "evaluate/line_encoder.h"
#include "file/format.h"
#include "file/metadata.h"
#include "host/printable.h"
#include "report/engine_session.h"
#include "report/rules.h"
#include "spec/error.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter {
namespace {

void choose_languages(const Arguments& arguments, ModelSpec& spec) try {
  if (!arguments.keep_languages.empty()) keep_languages(arguments.keep_languages, spec);
  choose_languages(arguments.source_lang, arguments.target_lang, spec);
} catch (const Error& error) {
  throw Error("{}: {}", arguments.input, error.what());
}

void choose_search(const Arguments& arguments, ModelSpec& spec) {
  RulesSpec& rules = spec.generation.rules;
  if (arguments.early_stopping) rules.early_stopping = *arguments.early_stopping;
  if (arguments.renormalize) rules.renormalize = *arguments.renormalize;
  if (arguments.force_end) rules.force_end = *arguments.force_end;
  const bool is_for_firmware = !arguments.emit_folder.empty() || !arguments.board.empty();
  if (is_for_firmware && rules != RulesSpec{}) spec.warnings.push_back(firmware_rules_warning(rules));
}

// Cuts the text of --source-prefix with the model's own tokenizer. Its ids stand right before those of every source.
void choose_prefix(const Arguments& arguments, ModelSpec& spec) {
  if (arguments.source_prefix.empty()) return;
  if (!spec.source_tokenizer) throw Error("{}: has no tokenizer for the text of --source-prefix", arguments.input);
  std::vector<uint32_t>& prefix = spec.generation.source_prefix;
  for (const int32_t id : Segmenter(*spec.source_tokenizer).encode(arguments.source_prefix))
    prefix.push_back(static_cast<uint32_t>(id));
}

// A prefix takes the place of a target's language before the text, unless that is named too.
void choose_texts(const Arguments& arguments, ModelSpec& spec) {
  const bool is_before = spec.languages.target_place == LanguagePlace::kBeforeText;
  if (is_before && !arguments.source_prefix.empty() && arguments.target_lang.empty()) spec.languages = {};
  choose_languages(arguments, spec);
  choose_prefix(arguments, spec);
}

ModelSpec load(const Arguments& arguments, Progress& progress) {
  progress.stage("loading " + arguments.input);
  ModelSpec spec = load_checkpoint(arguments.input, {arguments.config, progress.counter(), arguments.choices});
  if (!arguments.name.empty()) spec.name = arguments.name;
  if (arguments.shortlist == "none")
    spec.shortlist.reset();
  else if (!arguments.shortlist.empty())
    spec.shortlist = read_shortlist(arguments.shortlist, spec);
  choose_texts(arguments, spec);
  choose_search(arguments, spec);
  return spec;
}

// The parts of a model file.
struct Ingredients {
  const ModelSpec& spec;
  const Payload& payload;
  const std::vector<NumberedLine>& self_test;
  const Arguments& arguments;
};

// Returns the ids of the self-test's sources: the user's lines, or random ones.
std::vector<std::vector<int32_t>> self_test_sources(const Ingredients& from, EngineSession& session) {
  if (from.self_test.empty()) return random_sources(from.spec, session.memory().limits.max_source_tokens);
  std::vector<std::vector<int32_t>> sources;
  for (const NumberedLine& line : from.self_test) {
    try {
      sources.push_back(from.arguments.ids ? parse_ids(line.text, from.spec.encoder.embedding->rows)
                                           : session.encode(line.text));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", from.arguments.self_test_path, line.number, error.what());
    }
  }
  return sources;
}

std::vector<SelfTestLine> run_self_test(const Ingredients& from, const FileImage& image, Progress& progress) {
  progress.stage("running the self-test");
  goldcrest_limits limits = {};
  limits.max_source_bytes = from.payload.metadata->limits->max_source_bytes;
  limits.beam_size = 1;
  EngineSession session(image.span(), limits, from.arguments.input);
  if (from.spec.encoder.frontend) {
    const std::string& path = from.arguments.self_test_audio_path;
    if (path.empty())
      return make_self_test(session, made_up_clip(from.spec, session.memory().limits.max_source_tokens));
    std::vector<SelfTestLine> lines = make_self_test(session, read_clip(path, session.info().sample_rate));
    if (lines.empty()) throw Error("{}: is too short or too long for the model's limits; see --max-seconds", path);
    return lines;
  }
  return make_self_test(session, self_test_sources(from, session), progress.counter());
}

std::vector<std::pair<std::string, uint64_t>> section_sizes(const FileImage& image) {
  std::vector<std::pair<std::string, uint64_t>> sizes;
  for (const format::Section* section : *format::GetModel(image.bytes())->sections()) {
    sizes.emplace_back(format::EnumNameSectionKind(section->kind()), section->size());
  }
  return sizes;
}

// Throws Error if the disk has no room for the sections.
void check_room(const Payload& payload, const Arguments& arguments) {
  if (!arguments.output.empty()) check_space(arguments.output, section_bytes(payload));
}

// The arena for 1 to 8 beams and target lengths up to the model's own, for the page.
std::vector<ArenaGrowth> arena_growth(const FileImage& image, goldcrest_limits limits, const Arguments& arguments) {
  constexpr uint32_t kPoints = 8;
  const uint32_t longest = map_memory(image.span(), limits, arguments.input).memory.limits.max_target_tokens;
  limits.n_best = 0;
  std::vector<ArenaGrowth> growth;
  for (uint32_t beams = 1; beams <= 8; beams *= 2) {
    ArenaGrowth& curve = growth.emplace_back();
    curve.beam_size = limits.beam_size = beams;
    for (uint32_t i = 1; i <= kPoints; ++i) {
      limits.max_target_tokens = std::max(1u, static_cast<uint32_t>(uint64_t{longest} * i / kPoints));
      try {
        curve.bytes.push_back(map_memory(image.span(), limits, arguments.input).memory.arena_bytes);
      } catch (const Error&) {
        continue;  // a prompt or a prefix needs more tokens
      }
      curve.target_tokens.push_back(limits.max_target_tokens);
    }
  }
  return growth;
}

// Today, or the day of SOURCE_DATE_EPOCH, so that a page can be made again with the same bytes: "2026-11-25".
std::string date_of_conversion() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch != nullptr ? static_cast<std::time_t>(std::atoll(epoch)) : std::time(nullptr);
  const std::tm* const day = std::gmtime(&now);
  if (day == nullptr) return "";
  return format_text("{:04}-{:02}-{:02}", day->tm_year + 1900, day->tm_mon + 1, day->tm_mday);
}

// Returns the report without self-test and evaluation.
Report make_report(const Ingredients& from, const FileImage& image) {
  const Arguments& arguments = from.arguments;
  Report report;
  report.checkpoint = arguments.input;
  report.output = arguments.output;
  report.spec = &from.spec;
  report.tensors = from.payload.tensors;
  report.sections = section_sizes(image);
  report.file_bytes = image.size();
  report.work = work_of(*from.payload.metadata);
  goldcrest_limits limits = resolve_limits(from.spec, arguments.limits);
  limits.threads = 1;
  report.memory = map_memory(image.span(), limits, arguments.input);
  report.boards = fit_boards(image, report.memory.memory, arguments);
  report.info = read_info(image.span(), arguments.input);
  if (!arguments.report_path.empty()) {
    report.growth = arena_growth(image, limits, arguments);
    report.check = arguments.check_path;
    report.command = arguments.command;
    report.date = date_of_conversion();
  }
  return report;
}

// Changes that the options made to the checkpoint's outputs, for the report.
struct Changes {
  std::unique_ptr<InMemoryModel> whole;  // if the vocabulary is trimmed: the file with all of it
  std::optional<TrimmedVocabulary> trimmed;
  std::optional<ShortlistFromText> shortlist;
};

Changes change_outputs(const UserLines& lines, const Arguments& arguments, Progress& progress, ModelSpec& spec) {
  Changes changes;
  if (trims(arguments)) {
    changes.whole = std::make_unique<InMemoryModel>(spec, arguments, progress);
    changes.trimmed = keep_vocabulary(lines, arguments, *changes.whole, spec);
  }
  if (!arguments.make_shortlist_path.empty()) {
    InMemoryModel model(spec, arguments, progress);
    changes.shortlist = make_shortlist_from_text(lines, arguments, model, progress, spec);
  }
  return changes;
}

// Gives the model the lexicon of the user's lines. Its target tokenizer cuts them.
void add_lexicon(const UserLines& lines, const Arguments& arguments, ModelSpec& spec) {
  const std::string& path = arguments.lexicon_path;
  if (!arguments.ids && !spec.target_tokenizer)
    throw Error("{}: has no tokenizer of its target side; with --ids, --lexicon reads token ids", arguments.input);
  std::optional<Segmenter> segmenter;
  if (!arguments.ids) segmenter.emplace(*spec.target_tokenizer);
  std::vector<std::vector<int32_t>> entries;
  for (const NumberedLine& line : lines.lexicon) {
    try {
      entries.push_back(segmenter ? segmenter->encode(line.text) : parse_ids(line.text, spec.decoder.embedding->rows));
      if (segmenter && std::ranges::count(entries.back(), static_cast<int32_t>(spec.target_tokenizer->unknown_id)) > 0)
        throw Error("the target vocabulary has no pieces for \"{}\"; each entry must be cut without unknown ids",
                    printable(line.text));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", path, line.number, error.what());
    }
  }
  spec.lexicon = make_lexicon(std::move(entries), arguments.lexicon_words);
  const uint32_t n_first = spec.lexicon->edges_of(0), most = resolve_limits(spec, arguments.limits).max_candidates;
  if (n_first > most)
    spec.warnings.push_back(
        format_text("{}: its entries begin with {} different ids, more than the {} of --max-candidates: all outputs "
                    "are computed at the first position",
                    path, n_first, most));
}

// Throws Error if lines of text are given for a model without tokenizers, or without a language to read them in.
void check_texts(const ModelSpec& spec, const UserLines& lines, const Arguments& arguments) {
  if (!spec.source_tokenizer && !spec.encoder.frontend && !arguments.ids &&
      (!lines.evaluation.empty() || !lines.self_test.empty())) {
    throw Error("{}: has no tokenizer; with --ids, --evaluate and --self-test read token ids", arguments.input);
  }
  if (!spec.encoder.frontend && !arguments.self_test_audio_path.empty())
    throw Error("{}: takes no clips; leave out --self-test-audio", arguments.input);
  if (spec.encoder.frontend &&
      (!lines.self_test.empty() || !lines.shortlist_text.empty() || trims(arguments) || arguments.ids)) {
    throw Error(
        "{}: is a model of speech; --self-test, --make-shortlist, --keep-vocabulary, --keep-vocabulary-of and --ids "
        "take texts",
        arguments.input);
  }
  const std::string undecided = undecided_languages(spec);
  const bool translates_kept =
      std::ranges::any_of(lines.kept_text, [](const EvaluationLine& line) { return line.references.empty(); });
  const bool needs_languages =
      !lines.evaluation.empty() || !lines.self_test.empty() || translates_kept || !lines.shortlist_text.empty();
  if (needs_languages && !arguments.ids && !undecided.empty()) throw Error("{}: {}", arguments.input, undecided);
  if (spec.source_tokenizer && spec.target_tokenizer) return;
  if (trims(arguments)) {
    throw Error("{}: has no tokenizer of both sides, so its entries have no texts to keep them by", arguments.input);
  }
  if (!lines.shortlist_text.empty() && !arguments.ids) {
    throw Error("{}: has no tokenizer of both sides; with --ids, --make-shortlist reads token ids", arguments.input);
  }
}

// --fine keys: random ids serve, because most of a mean is the model's own and not a text's.
std::optional<CentredKeys> choose_keys(const Arguments& arguments, Progress& progress, ModelSpec& spec) {
  if (!centres_keys(arguments)) return {};
  if (spec.encoder.frontend) {
    if (fine_matrices(arguments) == arguments.fine) return {};  // "all" means what there is
    throw Error("{}: is a model of speech; --fine keys centres the keys of models of text", arguments.input);
  }
  progress.stage("centring keys");
  const std::vector<uint32_t> lengths(16, 16);
  return centre_keys(random_sources(spec, spec.encoder.positions.rows, lengths), progress.counter(), spec);
}

// Returns the exit status.
int convert_spec(const UserLines& lines, const Arguments& arguments, Progress& progress, ModelSpec& spec) {
  check_texts(spec, lines, arguments);
  std::optional<DeviationBound> deviation;
  if (spec.deviation_epsilon > 0) {
    progress.stage("measuring deviations");
    deviation = bound_deviations(spec, random_sources(spec, spec.encoder.positions.rows), arguments.input);
  }
  std::optional<std::string> checked = "";
  if (!arguments.check_path.empty()) checked = run_check(spec, arguments, progress);
  if (!checked) return kCheckFailed;
  const std::optional<CentredKeys> centred_keys = choose_keys(arguments, progress, spec);
  const Changes changes = change_outputs(lines, arguments, progress, spec);
  if (!lines.lexicon.empty()) add_lexicon(lines, arguments, spec);

  Payload payload = make_payload(spec, arguments, progress);
  check_room(payload, arguments);
  const std::optional<FineInputs> fine = choose_fine_inputs(lines, arguments, progress, spec, payload);
  const uint64_t payload_bytes = section_bytes(payload);
  FileImage image = assemble_from(payload);
  const Ingredients ingredients = {spec, payload, lines.self_test, arguments};
  const std::vector<SelfTestLine> self_test = run_self_test(ingredients, image, progress);
  add_self_test(self_test, image);
  Report report = make_report(ingredients, image);
  report.self_test_lines = self_test.size();
  report.evaluation_lines = lines.evaluation;
  report.deviation = deviation;
  report.centred_keys = centred_keys;
  report.check_results = *checked;
  report.trimmed = changes.trimmed;
  report.shortlist_from_text = changes.shortlist;
  report.fine = fine;
  if (report.trimmed) report.trimmed->bytes_saved = changes.whole->bytes() - payload_bytes;
  if (!lines.evaluation.empty()) {
    const goldcrest_limits& limits = report.memory.memory.limits;
    run_evaluation(image, limits, arguments, progress, &report);
    if (fine && (!arguments.fine.empty() || !arguments.refine.empty()))
      report.fine->identical_before = count_identical(image, limits, arguments, progress, report);
    if (report.trimmed)
      report.trimmed->agreement = run_agreement({changes.whole->image(), image, limits}, lines, arguments, progress);
  }
  progress.finish();

  write_page(report, arguments);
  const Refusal refusal = report.evaluation ? refuse_loss(*report.evaluation, arguments) : Refusal();
  return write_outputs({image, report.memory.memory, report.boards, spec.name, refusal}, arguments,
                       [&] { print_report(report, arguments); });
}

// Prints the warnings last, so that nothing scrolls them away.
void say_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) say_error("warning: " + warning);
  if (!warnings.empty()) say_error(format_text("{} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s"));
}

}  // namespace

int convert_checkpoint(const Arguments& arguments, const UserLines& lines) {
  Progress progress(standard_error_screen(arguments.quiet));
  ModelSpec spec = load(arguments, progress);
  warn_of_language_codes(lines.evaluation, arguments, spec);
  warn_of_missing_ends(lines, arguments, spec);
  const int status = convert_spec(lines, arguments, progress, spec);
  progress.finish();
  say_warnings(spec.warnings);
  return status;
}

int size_shape(const Arguments& arguments) {
  check_fine(arguments);
  Progress progress(standard_error_screen(arguments.quiet));
  constexpr uint64_t kMostBytes = uint64_t{1} << 31;  // of weights, because the file is made in memory
  ModelSpec spec =
      load_shape(arguments.input, arguments.weights == "float32" ? kMostBytes / 4 : kMostBytes, arguments.choices);
  if (!arguments.name.empty()) spec.name = arguments.name;
  choose_texts(arguments, spec);
  choose_search(arguments, spec);
  Payload payload = make_payload(spec, arguments, progress);
  const std::optional<FineInputs> fine = choose_fine_inputs({}, arguments, progress, spec, payload);
  // Targets may have any length: the metadata has room for the longest.
  std::vector<SelfTestLine> self_test;
  const bool is_forced = spec.languages.target_place == LanguagePlace::kForcedFirst;
  const uint32_t first_id = is_forced ? spec.generation.forced_first_id.value() : spec.generation.end_id;
  for (const std::vector<int32_t>& source : random_sources(spec, payload.metadata->limits->max_source_tokens)) {
    self_test.push_back({{source.begin(), source.end()},
                         std::vector<uint32_t>(spec.generation.prompt.size() + 1, first_id),
                         UINT64_MAX,
                         false,
                         {},
                         is_forced});
  }
  const std::vector<int16_t> clip = made_up_clip(spec, payload.metadata->limits->max_source_tokens);
  if (!clip.empty()) {
    const std::vector<uint32_t> target(spec.generation.prompt.size() + 1, spec.generation.end_id);
    self_test.push_back({{}, target, UINT64_MAX, false, clip});
  }
  const FileImage image = assemble(payload, self_test, metadata_bytes_of_any_weights(payload, self_test));
  Report report = make_report({spec, payload, {}, arguments}, image);
  report.self_test_lines = self_test.size();
  report.is_shape = true;
  report.fine = fine;
  progress.finish();
  write_page(report, arguments);
  const int status = write_outputs({image, report.memory.memory, report.boards, spec.name}, arguments,
                                   [&] { print_report(report, arguments); });
  say_warnings(spec.warnings);
  return status;
}

}  // namespace goldcrest::converter
