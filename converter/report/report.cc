// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"
#include <algorithm>
#include "host/printable.h"
#include "host/wording.h"
#include "report/rules.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::kRelu: return "relu";
    case Activation::kGelu: return "gelu";
    case Activation::kGeluTanh: return "gelu_tanh";
    case Activation::kSilu: return "silu";
    case Activation::kTanh: return "tanh";
    case Activation::kNone: return "none";
  }
  return "";
}

std::string stack_style(const StackSpec& stack) {
  return format_text("{}, {}{}{}", activation_name(stack.activation), stack.pre_norm ? "pre-norm" : "post-norm",
      stack.final_norm ? ", final norm" : "", stack.embedding_norm ? ", embedding norm" : "");
}

std::string decibels(const TensorRecord& tensor) {
  if (!tensor.sqnr_db) return "float32";
  return format_text("{:.1f}", *tensor.sqnr_db);
}

std::string shape(const TensorRecord& tensor) { return format_text("{} x {}", tensor.rows, tensor.columns); }

std::string tensor_table(const std::vector<TensorRecord>& tensors) {
  size_t width = 10;
  for (const TensorRecord& tensor : tensors) width = std::max(width, printable(tensor.name).size());
  std::string text = format_text("{:{}} {:>14} {:>12} {:>10}\n", "tensor", width, "shape", "bytes", "SQNR, dB");
  for (const TensorRecord& tensor : tensors) {
    text += format_text(
        "{:{}} {:>14} {:>12} {:>10}\n", printable(tensor.name), width, shape(tensor), tensor.bytes, decibels(tensor));
  }
  return text + "\n";
}

Value boards_json(const std::vector<BoardFit>& boards) {
  Value json = Value::list();
  for (const BoardFit& fit : boards) {
    Value entry = {{"name", fit.name}, {"fits", fit.fits}};
    for (const Room& room : fit.rooms) {
      entry["memories"].push_back({{"name", room.region.name}, {"bytes", room.region.bytes}, {"model", room.model},
          {"arena", room.arena}, {"code_stack_variables", room.others}});
    }
    if (fit.limits_that_fit) entry["limits_that_fit"] = *fit.limits_that_fit;
    json.push_back(std::move(entry));
  }
  return json;
}

Value quality_json(const Evaluation& evaluation, const Quality& quality) {
  const char* const of_errors = evaluation.counts_characters ? "character_error_rate" : "word_error_rate";
  return {{"bleu", quality.bleu}, {"chrf", quality.chrf}, {of_errors, quality.word_error_rate},
      {"exact_match", quality.exact_match}};
}

Value evaluation_json(const Evaluation& evaluation, const std::vector<EvaluationLine>& lines) {
  const ShareInterval interval = share_interval(evaluation.identical, evaluation.lines.size());
  Value bounds = Value::list();
  bounds.push_back(interval.low);
  bounds.push_back(interval.high);
  Value json = {{"lines", evaluation.lines.size()}, {"merged_lines", n_merged(lines)},
      {"failed", evaluation.failed.size()}, {"identical_lines", evaluation.identical},
      {"identical_interval", std::move(bounds)}, {"token_agreement", evaluation.token_agreement},
      {"chrf", evaluation.chrf}};
  if (evaluation.divergence) json["divergence"] = *evaluation.divergence;
  if (evaluation.float32) json["float32"] = quality_json(evaluation, *evaluation.float32);
  if (evaluation.int8) json[evaluation.engine_name] = quality_json(evaluation, *evaluation.int8);
  json["most_lost"] = Value::list();
  for (size_t index : evaluation.most_lost) {
    const EvaluatedLine& line = evaluation.lines[index];
    json["most_lost"].push_back({{"line", lines[line.line].number}, {"source", lines[line.line].source},
        {"float32", line.float32.text}, {evaluation.engine_name, line.int8.text}, {"loss", line.loss}});
  }
  return json;
}

Value limits_json(const goldcrest_limits& limits) {
  return {{"max_source_tokens", limits.max_source_tokens}, {"max_source_bytes", limits.max_source_bytes},
      {"max_target_tokens", limits.max_target_tokens}, {"beam_size", limits.beam_size}, {"batch", limits.batch},
      {"n_best", limits.n_best}, {"encoder_rows", limits.encoder_rows}, {"max_candidates", limits.max_candidates},
      {"max_prefix_tokens", limits.max_prefix_tokens}};
}

std::vector<std::string> rules_of(const Report& report) {
  const RulesSpec& rules = report.spec->generation.rules;
  return describe_rules(report.info.search, rules.more_end_ids.size(), rules.biases.size());
}
}  // namespace

std::string limits_text(const goldcrest_limits& limits) {
  std::string text = format_text("{} source and {} target tokens, {}", limits.max_source_tokens,
      limits.max_target_tokens, limits.beam_size == 1 ? "greedy" : format_text("{} beams", limits.beam_size));
  return limits.batch > 1 ? text + format_text(", {} sentences at a time", limits.batch) : text;
}

std::string describe_architecture(const goldcrest_info& info) {
  return format_text(
      "encoder  {} layers, d_model {}, d_ff {}, {} heads, vocabulary {}, {} positions\n"
      "decoder  {} layers, d_model {}, d_ff {}, {} heads, vocabulary {}, {} positions\n",
      info.encoder_layers, info.encoder_d_model, info.encoder_d_ff, info.encoder_heads, info.source_vocab_size,
      info.max_source_positions, info.decoder_layers, info.decoder_d_model, info.decoder_d_ff, info.decoder_heads,
      info.target_vocab_size, info.max_target_positions);
}

namespace {
std::vector<std::string> language_codes(const LanguagesSpec& languages, std::optional<uint32_t> Language::*side) {
  std::vector<std::string> codes;
  for (const Language& entry : languages.entries)
    if (entry.*side) codes.push_back(entry.code);
  std::ranges::sort(codes);
  return codes;
}

// The languages of the file's table, and what they need.
std::string describe_languages(const ModelSpec& spec) {
  const LanguagesSpec& languages = spec.languages;
  if (!languages.is_table()) return "";
  std::string text =
      "languages  a table (the engine needs GOLDCREST_TEXT; --source-lang and --target-lang fix a pair)\n";
  const auto add = [&](const char* side, const std::vector<std::string>& codes, const std::string& by_default) {
    const bool has_default = std::ranges::find(codes, by_default) != codes.end();
    text += format_text("           {} {}, {}: {}\n", codes.size(), side,
        has_default ? "by default " + printable(by_default) : std::string("no default"),
        printable(join_text(codes, " ")));
  };
  if (languages.source_place != LanguagePlace::kNowhere)
    add("sources", language_codes(languages, &Language::source), spec.source_language);
  if (languages.target_place != LanguagePlace::kNowhere)
    add("targets", language_codes(languages, &Language::target), spec.target_language);
  return text;
}

std::string file_line(const Report& report) {
  const bool is_packed = report.int8_bytes != report.file_bytes;
  return format_text("{:12} {:>12} bytes{}, self-test of {} lines\n", "file", report.file_bytes,
      is_packed ? format_text(" (int8: {})", report.int8_bytes) : "", report.self_test_lines);
}

std::string arena_line(const Report& report, const std::string& limits) {
  return format_text("arena        {:>12} bytes for {}\n", report.memory.memory.arena_bytes, limits);
}

std::string checkpoint_line(const Report& report) {
  const ModelSpec& spec = *report.spec;
  const std::string path = printable(report.checkpoint);
  if (report.is_shape) return format_text("shape       {} ({}), without weights\n", path, spec.dialect);
  return format_text("checkpoint  {} ({}), sha256 {}\n", path, spec.dialect, spec.checkpoint_sha256);
}

// most: lines that are shown of those that differ.
std::string evaluation_text(const Report& report, size_t most) {
  std::string text;
  if (report.evaluation) text += to_text(*report.evaluation, report.evaluation_lines, most);
  if (report.shortlist) text += to_text(*report.shortlist);
  return text + report.kept_loss;
}
}  // namespace

std::string report_text(const Report& report) {
  const ModelSpec& spec = *report.spec;
  std::string text = checkpoint_line(report);
  text += describe_architecture(report.info);
  text += format_text("style    encoder {}; decoder {}\n", stack_style(spec.encoder), stack_style(spec.decoder));
  if (report.deviation) text += to_text(*report.deviation);
  const std::vector<std::string> rules = rules_of(report);
  if (!rules.empty()) {
    const std::string without = options_without_rules(spec.generation.rules);
    text += format_text("rules    {} (the engine needs GOLDCREST_SEARCH{})\n", join_text(rules, ", "),
        without.empty() ? "" : "; a file without rules: " + without);
  }
  if (const std::vector<std::string> sequences = describe_sequences(spec.generation.sequences); !sequences.empty())
    text += format_text("sequences  {} (the engine needs GOLDCREST_SEARCH)\n", join_text(sequences, ", "));
  if (spec.shortlist) text += describe_shortlist(spec);
  text += describe_languages(spec);
  if (spec.lexicon) text += describe_lexicon(spec);
  text += "\n";
  if (!report.is_shape) text += tensor_table(report.tensors);
  for (const auto& [name, bytes] : report.sections) text += format_text("{:12} {:>12} bytes\n", name, bytes);
  text += file_line(report) + "\n";
  if (report.trimmed) text += to_text(*report.trimmed) + "\n";
  if (report.shortlist_from_text) text += to_text(*report.shortlist_from_text) + "\n";
  if (report.centred_keys) text += to_text(*report.centred_keys);
  if (report.fine && report.fine->any()) text += to_text(*report.fine) + "\n";
  if (report.is_shape && !spec.source_tokenizer) text += "These are sizes without a tokenizer.\n";
  const goldcrest_memory& memory = report.memory.memory;
  text += arena_line(report, formula_legend(memory.limits));
  text += arena_formula(report.memory);
  text +=
      format_text("largest step {} multiply-accumulates ({} by layers)\n", memory.step_macs, memory.layer_step_macs);
  if (memory.text_steps > 0) text += format_text("tokenizing   {} steps at most\n", memory.text_steps);
  text += work_text(report.work);
  for (const BoardFit& fit : report.boards) text += to_text(fit);
  if (report.evaluation) text += "\n";
  return text + evaluation_text(report, SIZE_MAX);
}

std::string report_summary(const Report& report) {
  std::string text = file_line(report) + arena_line(report, limits_text(report.memory.memory.limits));
  if (report.trimmed) text += to_text(*report.trimmed);
  if (report.shortlist_from_text) text += to_text(*report.shortlist_from_text);
  if (report.centred_keys) text += to_text(*report.centred_keys);
  if (report.fine && report.fine->any()) text += to_text(*report.fine);
  for (const BoardFit& fit : report.boards) text += to_text(fit);
  constexpr size_t kMostLines = 10;
  return text + evaluation_text(report, kMostLines);
}

std::string verdict(const Report& report) {
  if (!report.evaluation && report.info.source_vocab_size == 0 && report.info.sample_rate == 0)
    return "written without a self-test, because the model takes rows of features";
  if (!report.evaluation) return "the self-test passes; --evaluate LINES measures int8 on your own text";
  const Evaluation& evaluation = *report.evaluation;
  const size_t n = evaluation.lines.size();
  if (n == 0) return "no line was translated by both float32 and int8";
  constexpr double kSmallLoss = 0.5, kLikely = 0.95;  // points of BLEU or percent; a share of lines
  const ShareInterval interval = share_interval(evaluation.identical, n);
  const double share = static_cast<double>(evaluation.identical) / static_cast<double>(n);
  std::string scores;
  bool is_good = share >= kLikely;
  if (evaluation.float32 && evaluation.int8) {
    const auto& target = report.spec->target_tokenizer;
    const bool has_words = evaluation.counts_characters || (target && target->kind == TokenizerKind::kWord);
    const double before = has_words ? evaluation.float32->exact_match : evaluation.float32->bleu;
    const double after = has_words ? evaluation.int8->exact_match : evaluation.int8->bleu;
    is_good = is_good || before - after <= kSmallLoss;
    scores = format_text(", {} {:.2f} and {:.2f} in float32", has_words ? "exact" : "BLEU", after, before);
  }
  return format_text("{} {}: {:.1f} % of {} lines are identical ({:.1f} to {:.1f}){}", evaluation.engine_name,
      is_good ? "is good enough here" : "costs something here, and --accuracy near comes nearer", 100 * share, n,
      100 * interval.low, 100 * interval.high, scores);
}

std::vector<std::string> next_commands(const Report& report) {
  const std::string input = quoted_for_shell(report.checkpoint);
  const std::string output = report.output.empty() ? "model.gcst" : quoted_for_shell(report.output);
  std::vector<std::string> commands;
  if (report.output.empty()) commands.push_back("goldcrest-convert " + input + " -o " + output);
  const bool reads_images = report.info.sample_rate == 0 && report.info.feature_channels != 0;
  commands.push_back(reads_images                   ? "goldcrest-read " + output + " image.png"
                     : report.info.sample_rate != 0 ? "goldcrest-transcribe " + output + " clip.wav"
                     : report.info.has_tokenizer    ? "goldcrest-translate " + output + " lines.txt"
                                                    : "goldcrest-translate " + output + " --ids ids.txt");
  commands.push_back("goldcrest-inspect " + output + " --self-test --map");
  if (!report.evaluation && !reads_images)
    commands.push_back("goldcrest-convert " + input + " --evaluate lines.tsv --report report.html");
  const auto fitting = std::ranges::find_if(report.boards, &BoardFit::fits);
  if (fitting != report.boards.end())
    commands.push_back("goldcrest-convert " + output + " --emit-c firmware --board " + quoted_for_shell(fitting->name));
  else if (report.boards.empty()) commands.push_back("goldcrest-convert " + output + " --board all");
  return commands;
}

std::string report_ending(const Report& report) {
  const std::vector<std::string> next = next_commands(report);
  return format_text("{}verdict      {}\nnext         {}\n             {}\n",
      report.fine && report.info.weight_bits == 8 ? accuracy_text(*report.fine) : "", verdict(report), next[0],
      next[1]);
}

std::string report_screen(const Report& report) {
  return checkpoint_line(report) + (report.deviation ? to_text(*report.deviation) : "") + report_summary(report);
}

Value report_json(const Report& report) {
  const ModelSpec& spec = *report.spec;
  const goldcrest_info& info = report.info;
  Value json;
  json["checkpoint"] = report.checkpoint;
  json["output"] = report.output;
  json["dialect"] = spec.dialect;
  if (!report.is_shape) json["checkpoint_sha256"] = spec.checkpoint_sha256;
  json["encoder"] = {{"layers", info.encoder_layers}, {"d_model", info.encoder_d_model}, {"d_ff", info.encoder_d_ff},
      {"heads", info.encoder_heads}, {"vocab_size", info.source_vocab_size}, {"positions", info.max_source_positions},
      {"style", stack_style(spec.encoder)}};
  json["decoder"] = {{"layers", info.decoder_layers}, {"d_model", info.decoder_d_model}, {"d_ff", info.decoder_d_ff},
      {"heads", info.decoder_heads}, {"vocab_size", info.target_vocab_size}, {"positions", info.max_target_positions},
      {"style", stack_style(spec.decoder)}};
  if (report.deviation) {
    json["norms"] = {{"deviation_epsilon", report.deviation->epsilon},
        {"smallest_deviation", report.deviation->smallest}, {"largest_relative_error", report.deviation->error},
        {"rows", report.deviation->rows}};
  }
  if (const std::vector<std::string> rules = rules_of(report); !rules.empty()) json["rules"] = rules;
  if (const std::vector<std::string> sequences = describe_sequences(spec.generation.sequences); !sequences.empty())
    json["sequences"] = sequences;
  if (spec.shortlist) json["shortlist"] = shortlist_json(spec);
  if (spec.languages.source_place != LanguagePlace::kNowhere)
    json["languages"]["sources"] = language_codes(spec.languages, &Language::source);
  if (spec.languages.target_place != LanguagePlace::kNowhere)
    json["languages"]["targets"] = language_codes(spec.languages, &Language::target);
  if (spec.lexicon) json["lexicon"] = lexicon_json(spec);
  json["tensors"] = Value::list();
  for (const TensorRecord& tensor : report.tensors) {
    Value entry = {{"name", tensor.name}, {"group", tensor.group},
        {"shape", Value::list({tensor.rows, tensor.columns})}, {"bytes", tensor.bytes}};
    entry["sqnr_db"] = tensor.sqnr_db && !report.is_shape ? Value(*tensor.sqnr_db) : Value(nullptr);
    json["tensors"].push_back(std::move(entry));
  }
  for (const auto& [name, bytes] : report.sections) json["sections"][name] = bytes;
  json["file_bytes"] = report.file_bytes;
  if (report.int8_bytes != report.file_bytes) json["int8_file_bytes"] = report.int8_bytes;
  json["self_test_lines"] = report.self_test_lines;
  const goldcrest_memory& memory = report.memory.memory;
  json["limits"] = limits_json(memory.limits);
  json["arena"] = {{"bytes", memory.arena_bytes}, {"formula", arena_formula(report.memory)},
      {"fixed_bytes", memory.fixed_bytes}, {"text_bytes", memory.text_bytes}, {"encode_bytes", memory.encode_bytes},
      {"decode_bytes", memory.decode_bytes}, {"main_bytes", memory.main_bytes}, {"scratch_bytes", memory.scratch_bytes},
      {"step_macs", memory.step_macs}, {"layer_step_macs", memory.layer_step_macs}, {"text_steps", memory.text_steps}};
  json["multiply_accumulates"] = {{"token", report.work.token}, {"token_per_position", report.work.token_per_position},
      {"source_position", report.work.source_position}, {"source_per_position", report.work.source_per_position}};
  if (!report.boards.empty()) json["boards"] = boards_json(report.boards);
  json["tokenizer"] = spec.source_tokenizer.has_value();
  if (report.trimmed) json["trimmed_vocabulary"] = to_json(*report.trimmed);
  if (report.shortlist_from_text) json["made_shortlist"] = to_json(*report.shortlist_from_text);
  if (const auto& keys = report.centred_keys)
    json["centred_keys"] = {{"heads", keys->heads}, {"centred", keys->centred}};
  if (report.fine && report.fine->any()) json["fine_inputs"] = to_json(*report.fine);
  json["warnings"] = spec.warnings;
  if (report.evaluation) json["evaluation"] = evaluation_json(*report.evaluation, report.evaluation_lines);
  if (report.shortlist) json["evaluation"]["shortlist"] = to_json(*report.shortlist);
  return json;
}
}  // namespace goldcrest::converter
