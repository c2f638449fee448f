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
#include "cli/preflight.h"
#include "cli/quality.h"
#include "cli/write_outputs.h"
#include "dialects/dialect.h"
#include "dialects/shortlist/shortlist_file.h"
#include "dialects/text/languages.h"
#include "evaluate/centre_keys.h"
#include "evaluate/line_encoder.h"
#include "file/format.h"
#include "file/metadata.h"
#include "file/relayout.h"
#include "host/printable.h"
#include "report/engine_session.h"
#include "report/rules.h"
#include "spec/error.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter {
namespace {
void choose_languages(const ReadOptions& options, Job& job) try {
  if (!options.keep_languages.empty()) keep_languages(options.keep_languages, job.spec);
  job.keeps_languages = !options.keep_languages.empty();
  choose_languages(options.source_lang, options.target_lang, job.spec);
} catch (const Error& error) {
  throw Error("{}: {}", job.input, error.what());
}

// Cuts the text of --source-prefix with the model's own tokenizer. Its ids stand right before those of every source.
void choose_prefix(const std::string& text, Job& job) {
  ModelSpec& spec = job.spec;
  if (text.empty()) return;
  if (!spec.source_tokenizer) throw Error("{}: has no tokenizer for the text of --source-prefix", job.input);
  for (const int32_t id : Segmenter(*spec.source_tokenizer).encode(text))
    spec.generation.source_prefix.push_back(static_cast<uint32_t>(id));
}

// Applies the options to a model that is read. A prefix takes the place of a target's language before the text, unless
// that is named too.
void choose(const ReadOptions& options, Job& job) {
  ModelSpec& spec = job.spec;
  if (!options.name.empty()) spec.name = options.name;
  const bool is_before = spec.languages.target_place == LanguagePlace::kBeforeText;
  if (is_before && !options.source_prefix.empty() && options.target_lang.empty()) spec.languages = {};
  choose_languages(options, job);
  choose_prefix(options.source_prefix, job);
  RulesSpec& rules = spec.generation.rules;
  const goldcrest_search& given = options.rules;
  if (given.early_stopping != 0) rules.early_stopping = static_cast<goldcrest_early_stopping>(given.early_stopping);
  if (given.renormalize != 0) rules.renormalize = given.renormalize == GOLDCREST_YES;
  if (given.force_end != 0) rules.force_end = given.force_end == GOLDCREST_YES;
}

void read_checkpoint(const ReadOptions& options, Job& job) {
  job.progress.stage("loading " + job.input);
  ModelSpec& spec = job.spec = load_checkpoint(job.input, {options.config, job.progress.counter(), options.choices});
  if (options.shortlist == "none") spec.shortlist.reset();
  else if (!options.shortlist.empty()) spec.shortlist = read_shortlist(options.shortlist, spec);
  choose(options, job);
  if (!options.voice.empty()) add_voice(options.voice, spec);
  if (options.choices.timestamps && spec.generation.first_timestamp == 0)
    throw Error("--timestamps: the model has no entries that stand for times, which only Whisper has");
  warn_of_language_codes(options.target_lang, job);
  warn_of_missing_ends(job);
}

// Returns the ids of the self-test's sources: the user's lines, or random ones.
std::vector<std::vector<int32_t>> self_test_sources(const Job& job, EngineSession& session) {
  const LinesOf<NumberedLine>& lines = job.lines.self_test;
  if (lines.empty()) return random_sources(job.spec, session.memory().limits.max_source_tokens);
  std::vector<std::vector<int32_t>> sources;
  for (const NumberedLine& line : lines.lines) {
    try {
      sources.push_back(
          job.lines.ids ? parse_ids(line.text, job.spec.encoder.embedding->rows) : session.encode(line.text));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", lines.path, line.number, error.what());
    }
  }
  return sources;
}

std::vector<SelfTestLine> run_self_test(const Payload& payload, const FileImage& image, Job& job) {
  job.progress.stage("running the self-test");
  goldcrest_limits limits = {};
  limits.max_source_bytes = payload.metadata->limits->max_source_bytes;
  limits.beam_size = 1;
  EngineSession session(image.span(), limits, job.input);
  if (!job.spec.encoder.frontend)
    return make_self_test(session, self_test_sources(job, session), job.progress.counter());
  const std::string& path = job.lines.clip;
  if (path.empty()) return make_self_test(session, made_up_clip(job.spec, session.memory().limits.max_source_tokens));
  std::vector<SelfTestLine> lines = make_self_test(session, read_clip(path, session.info().sample_rate));
  if (lines.empty()) throw Error("{}: is too short or too long for the model's limits; see --max-seconds", path);
  return lines;
}

std::vector<std::pair<std::string, uint64_t>> section_sizes(const FileImage& image) {
  std::vector<std::pair<std::string, uint64_t>> sizes;
  for (const format::Section* section : *format::GetModel(image.bytes())->sections())
    sizes.emplace_back(format::EnumNameSectionKind(section->kind()), section->size());
  return sizes;
}

// The arena for 1 to 8 beams and target lengths up to the model's own, for the page.
std::vector<ArenaGrowth> arena_growth(const FileImage& image, goldcrest_limits limits, const std::string& input) {
  constexpr uint32_t kPoints = 8;
  const uint32_t longest = map_memory(image.span(), limits, input).memory.limits.max_target_tokens;
  limits.n_best = 0;
  std::vector<ArenaGrowth> growth;
  for (uint32_t beams = 1; beams <= 8; beams *= 2) {
    ArenaGrowth& curve = growth.emplace_back();
    curve.beam_size = limits.beam_size = beams;
    for (uint32_t i = 1; i <= kPoints; ++i) {
      limits.max_target_tokens = std::max(1u, static_cast<uint32_t>(uint64_t{longest} * i / kPoints));
      try {
        curve.bytes.push_back(map_memory(image.span(), limits, input).memory.arena_bytes);
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

// Returns the report without what stages find that measure the model.
Report make_report(const Options& options, const Payload& payload, const FileImage& image, Job& job) {
  Report report;
  report.checkpoint = job.input;
  report.output = options.write.output;
  report.spec = &job.spec;
  report.tensors = payload.tensors;
  report.sections = section_sizes(image);
  report.file_bytes = image.size();
  report.int8_bytes = bytes_in_int8(image);
  report.work = work_of(*payload.metadata);
  goldcrest_limits limits = resolve_limits(job.spec, job.limits);
  limits.threads = 1;
  report.memory = map_memory(image.span(), limits, job.input);
  report.boards = fit_boards(options.write, image, report.memory.memory, job.input);
  report.info = read_info(image.span(), job.input);
  if (options.report.page_path.empty()) return report;
  report.growth = arena_growth(image, limits, job.input);
  report.check = job.lines.samples;
  report.command = options.report.command;
  report.date = date_of_conversion();
  return report;
}

// Gives the model the lexicon of the user's lines. Its target tokenizer cuts them.
void add_lexicon(const ChangeOptions& options, Job& job) {
  const LinesOf<NumberedLine>& lines = job.lines.lexicon;
  ModelSpec& spec = job.spec;
  if (!job.lines.ids && !spec.target_tokenizer)
    throw Error("{}: has no tokenizer of its target side; with --ids, --lexicon reads token ids", job.input);
  std::optional<Segmenter> segmenter;
  if (!job.lines.ids) segmenter.emplace(*spec.target_tokenizer);
  std::vector<std::vector<int32_t>> entries;
  for (const NumberedLine& line : lines.lines) {
    try {
      entries.push_back(segmenter ? segmenter->encode(line.text) : parse_ids(line.text, spec.decoder.embedding->rows));
      if (segmenter && std::ranges::count(entries.back(), static_cast<int32_t>(spec.target_tokenizer->unknown_id)) > 0)
        throw Error("the target vocabulary has no pieces for \"{}\"; each entry must be cut without unknown ids",
            printable(line.text));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", lines.path, line.number, error.what());
    }
  }
  spec.lexicon = make_lexicon(std::move(entries), options.lexicon_words);
  const uint32_t n_first = spec.lexicon->edges_of(0), most = resolve_limits(spec, job.limits).max_candidates;
  if (n_first > most)
    spec.warnings.push_back(
        format_text("{}: its entries begin with {} different ids, more than the {} of --max-candidates: all outputs "
                    "are computed at the first position",
            lines.path, n_first, most));
}

// Changes that the options made to the checkpoint's outputs, for the report.
struct Changes {
  std::unique_ptr<InMemoryModel> whole;  // if the vocabulary is trimmed: the file with all of it
  std::optional<TrimmedVocabulary> trimmed;
  std::optional<ShortlistFromText> shortlist;
};

Changes change_outputs(const ChangeOptions& options, Job& job) {
  Changes changes;
  if (job.trims()) {
    changes.whole = std::make_unique<InMemoryModel>(job);
    changes.trimmed = keep_vocabulary(*changes.whole, job);
  }
  if (!job.lines.shortlist_text.empty()) changes.shortlist = make_shortlist_from_text(options, job);
  if (!job.lines.lexicon.empty()) add_lexicon(options, job);
  return changes;
}

// Throws Error if lines of text are given for a model without tokenizers, or without a language to read them in.
void check_texts(const Job& job) {
  const ModelSpec& spec = job.spec;
  const UserLines& lines = job.lines;
  const bool evaluates = !lines.evaluation.empty(), tests_lines = !lines.self_test.empty();
  if (!spec.source_tokenizer && !spec.encoder.frontend && !lines.ids && (evaluates || tests_lines))
    throw Error("{}: has no tokenizer; with --ids, --evaluate and --self-test read token ids", job.input);
  if (!spec.encoder.frontend && !lines.clip.empty())
    throw Error("{}: takes no clips; leave out --self-test-audio", job.input);
  const bool has_sound = !lines.clip.empty() || !lines.calibration.path.empty();
  if (spec.encoder.frontend && spec.encoder.frontend->image && has_sound)
    throw Error("{}: reads images; leave out --calibrate and --self-test-audio", job.input);
  if (spec.encoder.frontend && (tests_lines || !lines.shortlist_text.empty() || job.trims() || lines.ids)) {
    throw Error(
        "{}: is a model of speech; --self-test, --make-shortlist, --keep-vocabulary, --keep-vocabulary-of and --ids "
        "take texts",
        job.input);
  }
  const std::string undecided = undecided_languages(spec);
  const bool translates_kept =
      std::ranges::any_of(lines.kept_text.lines, [](const EvaluationLine& line) { return line.references.empty(); });
  const bool needs_languages = evaluates || tests_lines || translates_kept || !lines.shortlist_text.empty();
  if (needs_languages && !lines.ids && !undecided.empty()) throw Error("{}: {}", job.input, undecided);
  if (spec.source_tokenizer && spec.target_tokenizer) return;
  if (job.trims())
    throw Error("{}: has no tokenizer of both sides, so its entries have no texts to keep them by", job.input);
  if (!lines.shortlist_text.empty() && !lines.ids)
    throw Error("{}: has no tokenizer of both sides; with --ids, --make-shortlist reads token ids", job.input);
}

// Centres keys if the accuracy asks for it: random ids serve, because most of a mean is the model's own and not a
// text's.
std::optional<CentredKeys> centre_keys(const QuantizeOptions& options, Job& job) {
  if (!MatrixLevels(options.levels()).centres_keys()) return {};
  ModelSpec& spec = job.spec;
  if (spec.encoder.frontend) {
    const bool asks = std::ranges::find(options.matrices, "keys", &MatrixLevel::name) != options.matrices.end();
    if (!asks) return {};  // "all" means what there is
    throw Error("{}: is a model of speech; --matrices keys centres the keys of models of text", job.input);
  }
  job.progress.stage("centring keys");
  const std::vector<uint32_t> lengths(16, 16);
  return centre_keys(random_sources(spec, spec.encoder.positions.rows, lengths), job.progress.counter(), spec);
}

// --evaluate, with what leads to its results.
void measure(const Options& options, const Changes& changes, const FileImage& image, Job& job, Report& report) {
  const MeasureOptions& measure = options.measure;
  report.evaluation_lines = job.lines.evaluation.lines;
  if (report.evaluation_lines.empty()) return;
  run_evaluation(measure, image, job, &report);
  if (report.fine && options.quantize.chooses_accuracy())
    report.fine->identical_before = count_identical(measure, image, job, report, GOLDCREST_SEARCH_COARSE);
  if (report.fine && report.fine->packed.bytes > 0) {
    job.pack = {{"all", 0}};
    report.fine->identical_in_int8 = count_identical(measure, InMemoryModel(job).image(), job, report, 0);
  }
  if (report.trimmed) report.trimmed->agreement = run_agreement(measure, {changes.whole->image(), image}, job, report);
}

int write(const Options& options, const FileImage& image, Job& job, Report& report) {
  job.progress.finish();
  const std::vector<std::string> needed = engine_options(image);
  if (options.write.is_for_firmware() && !needed.empty())
    job.spec.warnings.push_back(firmware_warning(needed, job.spec.generation.rules));
  const Refusal refusal = report.evaluation ? refuse_loss(*report.evaluation, options.measure) : Refusal();
  if (refusal.status == kSuccess && !refusal.text.empty()) report.kept_loss = "max-loss     " + refusal.text + "\n";
  write_page(report, options.report);
  const int status =
      write_outputs(options.write, {job.input, image, report.memory.memory, report.boards, job.spec.name, refusal},
          [&](const std::vector<std::string>& written) { print_report(report, options.report, written); });
  // Warnings come last, so that nothing scrolls them away.
  const std::vector<std::string>& warnings = job.spec.warnings;
  for (const std::string& warning : warnings) say_error("warning: " + warning);
  if (!warnings.empty()) say_error(format_text("{} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s"));
  return status;
}
}  // namespace

int convert_checkpoint(const Options& options) {
  Job job(options);
  ModelSpec& spec = job.spec;
  read_checkpoint(options.read, job);
  check_texts(job);
  std::optional<DeviationBound> deviation;
  if (spec.deviation_epsilon > 0) {
    job.progress.stage("measuring deviations");
    deviation = bound_deviations(spec, random_sources(spec, spec.encoder.positions.rows), job.input);
  }
  std::string check_results;
  if (!job.lines.samples.empty()) {
    const auto [passed, results] = run_check(job);
    options.report.json ? say(results) : print(results);
    if (!passed) return kCheckFailed;
    check_results = results;
  }
  const std::optional<CentredKeys> centred_keys = centre_keys(options.quantize, job);
  set_quantizer(options.quantize, job);
  const Changes changes = change_outputs(options.change, job);
  if (options.quantize.packs()) calibrate(options.quantize, job);
  Payload payload = job.quantize(spec);
  const uint64_t payload_bytes = section_bytes(payload);
  if (!options.write.output.empty()) check_space(options.write.output, payload_bytes);
  const std::optional<FineInputs> fine = choose_fine_inputs(options.quantize.auto_cost, job, payload);
  FileImage image = assemble_from(payload);
  const std::vector<SelfTestLine> self_test = run_self_test(payload, image, job);
  add_self_test(self_test, image);
  Report report = make_report(options, payload, image, job);
  report.self_test_lines = self_test.size();
  report.deviation = deviation;
  report.centred_keys = centred_keys;
  report.check_results = check_results;
  report.trimmed = changes.trimmed;
  report.shortlist_from_text = changes.shortlist;
  report.fine = fine;
  if (report.trimmed) report.trimmed->bytes_saved = changes.whole->bytes() - payload_bytes;
  measure(options, changes, image, job, report);
  return write(options, image, job, report);
}

int size_shape(const Options& options) {
  check_accuracy(options);
  Job job(options);
  ModelSpec& spec = job.spec;
  constexpr uint64_t kMostBytes = uint64_t{1} << 31;  // the file is made in memory, so weights have a bound
  const uint64_t most = options.quantize.weights == "float32" ? kMostBytes / 4 : kMostBytes;
  spec = load_shape(job.input, most, options.read.choices);
  choose(options.read, job);
  set_quantizer(options.quantize, job);
  Payload payload = job.quantize(spec);
  const std::optional<FineInputs> fine = choose_fine_inputs({}, job, payload);
  // Targets may have any length: the metadata has room for the longest.
  std::vector<SelfTestLine> self_test;
  const bool is_forced = spec.languages.target_place == LanguagePlace::kForcedFirst;
  const uint32_t first_id = is_forced ? spec.generation.forced_first_id.value() : spec.generation.end_id;
  for (const std::vector<int32_t>& source : random_sources(spec, payload.metadata->limits->max_source_tokens)) {
    self_test.push_back({{source.begin(), source.end()},
        std::vector<uint32_t>(spec.generation.prompt.size() + 1, first_id), UINT64_MAX, false, {}, is_forced});
  }
  const std::vector<int16_t> clip = made_up_clip(spec, payload.metadata->limits->max_source_tokens);
  if (!clip.empty()) {
    const std::vector<uint32_t> target(spec.generation.prompt.size() + 1, spec.generation.end_id);
    self_test.push_back({{}, target, UINT64_MAX, false, clip});
  }
  const FileImage image = assemble(payload, self_test, metadata_bytes_of_any_weights(payload, self_test));
  Report report = make_report(options, payload, image, job);
  report.self_test_lines = self_test.size();
  report.is_shape = true;
  report.fine = fine;
  return write(options, image, job, report);
}
}  // namespace goldcrest::converter
