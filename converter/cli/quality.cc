// SPDX-License-Identifier: Apache-2.0
#include "cli/quality.h"
#include <algorithm>
#include <map>
#include "evaluate/check.h"
#include "evaluate/line_encoder.h"
#include "host/text_lines.h"
#include "host/wording.h"
#include "report/divergence.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Returns the loss of int8 by the chosen metric, in points.
double loss(const Evaluation& evaluation, std::string metric) {
  if (evaluation.lines.empty()) throw Error("--max-loss: not one line was translated by both float32 and int8");
  const bool scored = evaluation.float32 && evaluation.int8;
  if (metric.empty()) metric = !scored ? "tokens" : evaluation.counts_characters ? "cer" : "bleu";
  if (metric == "kl") return evaluation.divergence.value();
  if (metric == "tokens") return 100.0 * (1.0 - evaluation.token_agreement);
  if (metric == "lines") {
    const auto n = static_cast<double>(evaluation.lines.size());
    return 100.0 * (n - static_cast<double>(evaluation.identical)) / n;
  }
  if (!scored) throw Error("--metric {}: the lines have no references", metric);
  if (metric == "bleu") return evaluation.float32->bleu - evaluation.int8->bleu;
  if (metric == "chrf") return evaluation.float32->chrf - evaluation.int8->chrf;
  if (metric == (evaluation.counts_characters ? "wer" : "cer"))
    throw Error("--metric {}: cer is for images, wer for other sources", metric);
  if (metric == "wer" || metric == "cer") return evaluation.int8->word_error_rate - evaluation.float32->word_error_rate;
  return evaluation.float32->exact_match - evaluation.int8->exact_match;
}

goldcrest_limits evaluation_limits(const MeasureOptions& options, goldcrest_limits limits) {
  if (options.beam_size != 0) limits.beam_size = options.beam_size;
  limits.n_best = 1;
  return limits;
}
}  // namespace

Lines kind_of_lines(const Job& job) {
  if (const auto& frontend = job.spec.encoder.frontend) return frontend->image ? Lines::kImages : Lines::kClips;
  return job.lines.ids ? Lines::kIds : Lines::kText;
}

void prepare_sources(const Job& job, std::vector<EvaluationLine>& lines) {
  const Lines kind = kind_of_lines(job);
  if (kind != Lines::kClips && kind != Lines::kImages) return;
  const std::filesystem::path folder = std::filesystem::path(job.lines.evaluation.path).parent_path();
  for (EvaluationLine& line : lines) {
    line.source = (folder / line.source).string();
    if (kind == Lines::kImages) continue;
    for (std::string& reference : line.references) reference = spoken_words(reference);
  }
}

std::pair<bool, std::string> run_check(Job& job) {
  job.progress.stage("checking against samples");
  CheckOptions options;
  options.progress = job.progress.counter();
  const CheckReport report = check(Reference(job.spec), job.lines.samples, options);
  job.progress.finish();
  return {report.passed(), to_text(report)};
}

void warn_of_language_codes(const std::string& target_lang, Job& job) {
  ModelSpec& spec = job.spec;
  if (job.lines.ids || !spec.source_tokenizer) return;
  std::map<std::string_view, std::vector<size_t>> numbers;  // line numbers by code
  for (const EvaluationLine& line : job.lines.evaluation.lines) {
    const std::string_view code = leading_language_code(line.source);
    if (!code.empty()) numbers[code].push_back(line.number);
  }
  const auto end = spec.source_tokenizer->pieces.begin() + spec.source_tokenizer->vocab_size;
  for (const auto& [code, found] : numbers) {
    const auto is_code = [&, text = code](const Piece& piece) { return piece.text == text; };
    const bool is_entry = std::find_if(spec.source_tokenizer->pieces.begin(), end, is_code) != end;
    if (is_entry && target_lang.empty()) continue;
    const std::string more = found.size() > 1 ? format_text(" ({} such lines)", found.size()) : "";
    const std::string reason = is_entry ? format_text("is not asked for: --target-lang says {}", in_quotes(target_lang))
                                        : "is not an entry of the model's vocabulary";
    spec.warnings.push_back(format_text(
        "{}:{}: {} {}; it is read as text{}", job.lines.evaluation.path, found[0], in_quotes(code), reason, more));
  }
}

void warn_of_missing_ends(Job& job) {
  const UserLines& lines = job.lines;
  ModelSpec& spec = job.spec;
  if (!lines.ids || spec.encoder.frontend) return;
  const std::vector<int32_t> end(spec.generation.source_suffix.begin(), spec.generation.source_suffix.end());
  const uint32_t vocab_size = spec.encoder.embedding->rows;
  const auto warn_of = [&](const std::string& path, size_t number, const std::string& text) {
    const std::string problem = missing_end(read_id_list(text, vocab_size).ids, end);
    if (!problem.empty()) spec.warnings.push_back(format_text("{}:{}: {}", path, number, problem));
    return !problem.empty();
  };
  for (const NumberedLine& line : lines.self_test.lines)
    if (warn_of(lines.self_test.path, line.number, line.text)) return;
  for (const auto* of : {&lines.evaluation, &lines.shortlist_text})
    for (const EvaluationLine& line : of->lines)
      if (warn_of(of->path, line.number, line.source)) return;
}

void run_evaluation(const MeasureOptions& options, const FileImage& image, Job& job, Report* report) {
  job.progress.stage("evaluating");
  const std::string& path = job.lines.evaluation.path;
  goldcrest_limits limits = evaluation_limits(options, report->memory.memory.limits);
  EngineSession session(image.span(), limits, path);
  SearchOptions search = default_search(*report->spec);
  search.beam_size = limits.beam_size;
  search.max_target_tokens = std::min(search.max_target_tokens, limits.max_target_tokens);
  const Reference reference(*report->spec);
  const Lines kind = kind_of_lines(job);
  EngineTranslator int8(session, kind);
  prepare_sources(job, report->evaluation_lines);
  const auto encode = [&](const std::string& text) -> OwnedSource {
    if (kind == Lines::kImages) return int8.read(text).features;
    if (kind == Lines::kClips) return read_clip(text, session.info().sample_rate);
    return job.lines.ids ? parse_ids(text, session.info().source_vocab_size) : session.encode(text);
  };
  const auto decode = [&](std::span<const int32_t> tokens) {
    if (job.lines.ids) return ids_text(tokens);
    const std::string text = session.info().has_detokenizer ? session.decode(tokens) : std::string();
    return kind == Lines::kClips ? spoken_words(text) : text;
  };
  ReferenceTranslator float32(reference, search, encode, decode);
  EvaluationOptions steps;
  steps.counts_characters = kind == Lines::kImages;
  steps.batch = std::max(8u, limits.batch);  // lines between two updates of progress
  steps.progress = job.progress.counter();
  report->evaluation = evaluate(report->evaluation_lines, float32, int8, steps);
  if (session.info().weight_bits == 32) report->evaluation->engine_name = "engine";
  if (options.metric == "kl") {
    job.progress.stage("comparing probabilities");
    Divergence divergence(image.span(), limits, path);
    size_t done = 0;
    for (const EvaluatedLine& line : report->evaluation->lines) {
      const OwnedSource source = encode(report->evaluation_lines[line.line].source);
      divergence.add(source, line.float32.tokens,
          reference.teacher_forced_logits(reference.encode(source.view()), line.float32.tokens));
      job.progress.at(++done, report->evaluation->lines.size());
    }
    report->evaluation->divergence = divergence.mean();
  }
  if (!report->spec->shortlist) return;
  job.progress.stage("evaluating the shortlist");
  limits.max_candidates = GOLDCREST_NO_SHORTLIST;
  EngineSession whole(image.span(), limits, path);
  EngineTranslator among_all(whole, job.lines.ids ? Lines::kIds : Lines::kText);
  report->shortlist =
      evaluate_shortlist(evaluate(report->evaluation_lines, among_all, int8, steps), session.info().target_vocab_size);
}

size_t count_identical(
    const MeasureOptions& options, const FileImage& image, Job& job, const Report& report, uint32_t flags) {
  job.progress.stage(flags != 0 ? "evaluating a coarse search" : "evaluating int8");
  EngineSession session(
      image.span(), evaluation_limits(options, report.memory.memory.limits), job.lines.evaluation.path);
  goldcrest_search search = session.info().search;
  search.beam_size = session.memory().limits.beam_size;
  search.max_target_tokens = std::min(search.max_target_tokens, session.memory().limits.max_target_tokens);
  search.flags |= flags;
  session.set_search(search);
  EngineTranslator translator(session, kind_of_lines(job));
  size_t identical = 0, done = 0;
  for (const EvaluatedLine& line : report.evaluation->lines) {
    const std::vector<Translation> found = translator.translate({&report.evaluation_lines[line.line].source, 1});
    if (found[0].tokens == line.float32.tokens) ++identical;
    job.progress.at(++done, report.evaluation->lines.size());
  }
  return identical;
}

Agreement run_agreement(const MeasureOptions& options, std::pair<const FileImage&, const FileImage&> whole_and_part,
    Job& job, const Report& report) {
  job.progress.stage("comparing");
  const goldcrest_limits limits = evaluation_limits(options, report.memory.memory.limits);
  EngineSession whole_session(whole_and_part.first.span(), limits, job.lines.evaluation.path);
  EngineSession part_session(whole_and_part.second.span(), limits, job.lines.evaluation.path);
  const Lines kind = job.lines.ids ? Lines::kIds : Lines::kText;
  EngineTranslator whole(whole_session, kind), part(part_session, kind);
  return measure_agreement(job.lines.evaluation.lines, whole, part, job.progress.counter());
}

Refusal refuse_loss(const Evaluation& evaluation, const MeasureOptions& options) {
  if (options.max_loss == kAnyLoss) return {};
  try {
    const double lost = loss(evaluation, options.metric);
    const bool is_kept = lost <= options.max_loss;
    return {
        is_kept ? kSuccess : kTooMuchLost, format_text("{} lost {:.3f} {}, {} --max-loss {}", evaluation.engine_name,
                                               lost, options.metric == "kl" ? "thousandths of a nat an id" : "points",
                                               is_kept ? "within" : "more than", options.max_loss)};
  } catch (const Error& error) {
    return {kBadInput, error.what()};
  }
}
}  // namespace goldcrest::converter
