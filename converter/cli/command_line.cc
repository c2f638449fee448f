// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"
#include <algorithm>
#include "base/bounds.h"
#include "cli/console.h"
#include "dialects/dialect.h"
#include "file/emit_c.h"
#include "host/command_line.h"
#include "host/printable.h"
#include "host/wording.h"
#include "quantize/quantize.h"
#include "report/board.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
constexpr const char* kAbout =
    "Converts a trained encoder-decoder Transformer to one int8 file for the Goldcrest engine. Nothing in a checkpoint "
    "is executed.";

constexpr const char* kNotes =
    "INPUT is a Hugging Face Marian / OPUS-MT directory, a CTranslate2 directory or package of Argos Translate "
    "(converter/dialects/CTRANSLATE2.md), a checkpoint of fairseq or OpenNMT-py (converter/dialects/FAIRSEQ.md, "
    "OPENNMT_PY.md), a Moonshine or Whisper (converter/dialects/speech/SPEECH.md), or a directory or weight file of a "
    "PyTorch nn.Transformer with a config.json (converter/dialects/NN_TRANSFORMER.md), or of a tutorial's Transformer "
    "(converter/dialects/TUTORIALS.md). Weights: safetensors, or what torch.save wrote.\nThe weights of a .gcst file "
    "stay the same: --cpu orders them for another processor, --emit-c writes them as C source, --budget and --board "
    "check its size.\nModel files and C sources are written only with status 0 and 6. Files are written before the "
    "report, so its reader may leave early (| head).\n";

// Makes a check of an option's text from a function that throws Error.
template <typename Function> auto refused_by(Function function) {
  return [function](const std::string& value) -> std::string {
    try {
      function(value);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
}

// A text that is stored in the file.
Reader stored(std::string& value) {
  return text(value, [](const std::string& text) -> std::string {
    if (text.size() > kMaxMetadataBytes)
      return format_text("the text has {} bytes, expected at most {}", text.size(), kMaxMetadataBytes);
    if (is_printable(text)) return "";
    return format_text("'{}' has control characters or is not UTF-8; expected one line of text", printable(text));
  });
}

using Level = std::pair<std::string, uint32_t>;
const std::vector<Level> kLevels = {{"int8", 0}, {"near", kFineInput}, {"exact", kFineInput | kSecondMatrix}};

Reader accuracy(std::optional<double>& auto_cost, std::optional<uint32_t>& level) {
  const auto read = [&auto_cost, &level](const std::string& word) -> std::string {
    constexpr double kUsualCost = 0.5;
    double& cost = auto_cost.emplace(kUsualCost);
    if (word == "auto") return "";
    if (word.starts_with("auto=") && read_number(word.substr(5), 0.0, 1.0, &cost).empty() && cost > 0) return "";
    auto_cost.reset();
    const std::string problem = choice(level, kLevels).read(word);
    return problem.empty() ? "" : problem + "; or auto=COST with a share of more work above 0 and up to 1";
  };
  return {read, {"int8", "near", "exact", "auto"}};
}

// One of the matrices that --matrices names: NAME=LEVEL.
Reader matrix(MatrixLevel& level) {
  std::vector<Level> levels = kLevels;
  levels.emplace_back("weights", kSecondMatrix);
  return {[&level, levels](const std::string& word) {
    const size_t end = std::min(word.find('='), word.size());
    level.name = word.substr(0, end);
    if (end == word.size()) return in_quotes(word) + " has no level; expected NAME=near, for example";
    return choice(level.terms, levels).read(word.substr(end + 1));
  }};
}

// One of the names of --pack. auto looks at all matrices.
Reader packed(MatrixLevel& level, std::optional<double>& loss) {
  return {[&level, &loss](const std::string& word) {
            constexpr double kDefaultLoss = 0.4;
            if (word == "auto") loss = kDefaultLoss;
            if (word == "auto" || word.starts_with("auto=")) {
              level = {"all", kPackedWeights};
              return word == "auto" ? std::string() : number(loss.emplace(), 1e-6, 1e6).read(word.substr(5));
            }
            level = word == "none" ? MatrixLevel{"all", 0} : MatrixLevel{word, kPackedWeights};
            return std::string(word.empty() ? "a name is empty; expected NAME,NAME,..." : "");
          },
      {"none", "linear", "all", "decoder", "auto"}};
}

using OptionRows = std::vector<Option>;

// @checkpoint: does not apply to a model file. @weights: does not apply to a shape.
OptionRows input_options(Options& options) {
  ReadOptions& read = options.read;
  return {
      {"*INPUT", text(options.input),
          "a checkpoint: its folder or weight file; or a .gcst file that gets another form"},
      {"Input", {}, "", "@checkpoint"},
      {"*--list", answer([] { return list_families(output_columns()); }),
          "print the families that are converted and that are refused, and end"},
      {"--config FILE", text(read.config), "read this config.json [the one next to the weights]", "@weights"},
      {"--source-lang NAME", stored(read.source_lang),
          "fix the language of the texts; it is one of the checkpoint's, or its own, if it names one [programs "
          "choose]"},
      {"*--target-lang NAME", stored(read.target_lang),
          "translate every text into this language; codes >>xxx<< in texts are not read [programs choose]"},
      {"--source-prefix TEXT", text(read.source_prefix),
          "put this text before every source, for instance \"translate English to German:\" (T5) [none]"},
      {"--shortlist FILE", text(read.shortlist),
          "use this shortlist: Marian's lex.*.bin or lex.s2t, CTranslate2's vmap.txt; none: no shortlist [the one next "
          "to a model of Marian's own]",
          "@weights", "--make-shortlist"},
      {"--max-positions N", number(read.choices.max_positions, 1, 1 << 20),
          "read sources and write targets of up to N ids, for a model without a last position (T5) [n_positions of its "
          "config.json, else 512, with bytes 1024]"},
      {"*--shape", flag(options.shape),
          "report the bytes of a model that is not trained yet. INPUT is its config.json; the report has file, arena "
          "and work"},
      {"--print-config", flag(options.print_config),
          "print a config.json for the tensors of an nn.Transformer; replace each null in it", "", "--config --shape"},
  };
}

OptionRows output_options(Options& options) {
  QuantizeOptions& quantize = options.quantize;
  const std::vector<std::string> types = {"int8", "float32"};
  const std::vector<std::pair<std::string, AttentionWeights>> attention_weights = {
      {"integer", AttentionWeights::kInteger}, {"float", AttentionWeights::kFloat}};
  return {
      {"Output"},
      {"*-o --output FILE", text(options.write.output), "write this file; without -o only the report is made",
          "@weights", "--print-config"},
      {"*--cpu NAME", text(quantize.cpu, refused_by(layout_for_cpu)),
          "order the weights for a processor; every one runs every order [generic, or a .gcst's own]"},
      {"--pack LIST", comma_list(quantize.pack, [&](MatrixLevel& level) { return packed(level, quantize.pack_loss); }),
          "store weights of 4 bits, about half the bytes, for a loss that --evaluate measures: linear (all layers), "
          "all (tables and output layer too), decoder (all that a token multiplies), names as --matrices has them, or "
          "auto=LOSS: as many as raise --metric kl of every fourth line of --calibrate by at most LOSS [0.4]; none "
          "makes 8 bits of those of a .gcst file [none]"},
      {"--name TEXT", stored(options.read.name), "name the model"},
      {"Content of the file", {}, "", "@checkpoint"},
      {"*--accuracy LEVEL", accuracy(quantize.auto_cost, quantize.level),
          "come nearer to float32: int8, near, exact or auto=COST. near: inputs of layers have 16 bits, for a second "
          "product; exact: weights, keys and values too, for up to twice the bytes; auto=COST: near where --evaluate's "
          "lines need it most, for this share of more work. For speech the last convolution is near [int8]"},
      {"--matrices LIST", comma_list(quantize.matrices, matrix),
          "give some matrices a level of their own: NAME=LEVEL,... with * in names "
          "(decoder.layers.*=near,projection=exact); decoder: all that a token multiplies; keys: centres keys for no "
          "work; weights: a level with 16-bit weights only. The last name that fits counts, the others have "
          "--accuracy"},
      {"--attention TYPE", choice(quantize.attention, attention_weights),
          "weigh the values of attention by float32 numbers, or by integers of 14 bits, which takes less time; older "
          "engines refuse them [integer for speech, else float; with --accuracy exact float]"},
      {"--weights TYPE", choice(quantize.weights, types),
          "store int8, or float32: four times the bytes, to measure int8's loss on machines with an operating system"},
      {"--calibrate FILE", text(options.lines.calibration.path),
          "fit weights of 4 bits to the sources of this text, 512 lines or so; for speech a list of WAV files [made-up "
          "ids]",
          "--pack @weights"},
      {"--license TEXT", stored(quantize.license), "store this licence [the checkpoint's]"},
      {"--attribution TEXT", stored(quantize.attribution), "store whom to credit [the checkpoint's]"},
      {"--self-test FILE", text(options.lines.self_test.path),
          "make the file's self-test from the first lines of this text [random ids]", "@weights"},
  };
}

OptionRows limit_options(Options& options) {
  goldcrest_limits& limits = options.limits;
  OpenChoices& speech = options.read.choices;
  return {
      {"Limits, for which the memory is planned and which the file keeps [the checkpoint's]"},
      {"*--max-source N", number(limits.max_source_tokens), "take at most N source tokens, end token included"},
      {"--max-source-bytes N", number(limits.max_source_bytes), "take at most N bytes of a source text"},
      {"*--max-target N", number(limits.max_target_tokens), "write at most N tokens, end token included"},
      {"*--beam-size N", number(limits.beam_size, 0, kMaxBeams),
          format_text("keep N hypotheses, 1 to {}; 1 is greedy", kMaxBeams)},
      {"--batch N", number(limits.batch, 0, kMaxBatch), "translate N sources at a time"},
      {"--n-best N", number(limits.n_best), "keep N results of a source"},
      {"--encoder-rows N", number(limits.encoder_rows), "encode N source positions at a time; fewer need less memory"},
      {"--max-candidates N", number(limits.max_candidates),
          "limit the candidates of a source in a model with a shortlist, or the allowed ids with a lexicon; with more "
          "of them all outputs are computed"},
      {"--max-prefix N", number(limits.max_prefix_tokens),
          "reserve memory for N ids with which a caller lets a result begin (goldcrest_set_prefix)"},
      {"--inspection BITS", number(limits.inspection),
          "reserve memory for more than the text, in builds with GOLDCREST_INSPECTION: 1 token scores, 2 scores of "
          "given targets, 3 both; not kept in the file"},
      {"--alignment-layers BITS", number(limits.alignment_layers),
          "likewise reserve memory for alignments of decoder layers: 1 the first, 2 the second, 3 both, ..."},
      {"Speech", {}, "", "@checkpoint"},
      {"--max-seconds SECONDS", number(speech.max_seconds, 1e-300),
          "set the longest clip, for which the memory is planned [30]"},
      {"--ids-per-second N", number(speech.ids_a_second, 0, 1000),
          "limit a Moonshine's text; 13 for scripts that are not Latin; 0: no limit [6.5]"},
      {"--language CODE", stored(speech.language),
          "write every text in this language of a multilingual Whisper [the model chooses]"},
      {"--timestamps", flag(speech.timestamps),
          "keep Whisper's entries that stand for times, so that it can cut long clips into segments itself"},
      {"--voice FILE", text(options.read.voice),
          "put Silero's voice detector into the file, of examples/speech/silero_weights.py: goldcrest-transcribe then "
          "hears only where people speak [none]"},
      {"--self-test-audio FILE", text(options.lines.clip),
          "make the file's self-test from this WAV file [half a second of made-up sound]"},
  };
}

OptionRows search_options(Options& options) {
  OptionRows rows = {
      {"Search, which the file keeps as defaults [the checkpoint's]", {}, "", "@checkpoint"},
      {"--lexicon FILE", text(options.lines.lexicon.path),
          "allow only these texts, one a line, cut by the model's own tokenizer (with --ids: target ids); the engine "
          "needs GOLDCREST_SHORTLIST"},
      {"--lexicon-words", flag(options.change.lexicon_words),
          "take the lines of --lexicon as words: a text is any of them one after another", "--lexicon"},
      {"Vocabulary", {}, "", "@checkpoint @weights"},
      {"--keep-vocabulary FILE", text(options.lines.kept_pieces.path),
          "keep only these entries of the vocabulary, one piece per line (text after a tab is ignored), and those that "
          "the model needs: special ids, language codes, byte pieces. The logits of kept entries do not change"},
      {"--keep-vocabulary-of FILE", text(options.lines.kept_text.path),
          "keep the entries for lines of SOURCE [TAB TARGET]..., and for their characters; a source without target is "
          "translated. With --keep-vocabulary, both sets are kept"},
      {"--keep-languages NAME,NAME", comma_list(options.read.keep_languages),
          "keep only the entries of these languages, for instance eng_Latn,fra_Latn; the others leave the vocabulary "
          "and the file's table"},
      {"--make-shortlist FILE", text(options.lines.shortlist_text.path),
          "make a shortlist from lines of SOURCE [TAB TARGET]...; a source without target is translated. Every tenth "
          "line is held out to measure the shortlist"},
      {"--shortlist-always N", number(options.change.shortlist_always, 0, 65535),
          "make the N most frequent target ids candidates of every sentence [100]", "--make-shortlist"},
      {"--shortlist-best N", number(options.change.shortlist_best, 0, 65535),
          "add the N most probable translations of each source id [100]", "--make-shortlist"},
  };
  OptionRows rules =
      rule_options(options.read.rules, "--early-stopping --renormalize --no-renormalize --force-end --no-force-end");
  rows.insert(rows.begin() + 1, rules.begin(), rules.end());
  return rows;
}

OptionRows firmware_options(Options& options) {
  WriteOptions& write = options.write;
  const auto check_board = [](const std::string& name) -> std::string {
    if (name == "list") answer_with(join_text(board_names(), "\n"));
    return refused_by(find_boards)(name);
  };
  return {
      {"Firmware"},
      {"*--emit-c DIR", text(write.emit_folder),
          "write C source for firmware; DIR/model_NAME.h has the memory that these limits need, model_NAME.S assembles "
          "model_NAME.gcst. NAME is --name, else the input's",
          "@weights"},
      {"--array", flag(write.array), "write model_NAME.c with an array instead of .S, for compilers without .incbin",
          "--emit-c"},
      {"--section NAME", text(write.section, refused_by(check_section_name)), "place the model in this section",
          "--emit-c"},
      {"--budget SIZES", text(write.budget_text, refused_by(parse_budget)),
          "refuse a model that needs more than arena=BYTES,file=BYTES (with K or M): exit status 5, no output"},
      {"*--board NAME", text(write.board, check_board),
          "refuse a model that does not fit this board, with limits that would: exit status 5. NAME is a board of "
          "boards/ (list prints them), all (only reports), or your own linker script (.ld)"},
  };
}

OptionRows quality_options(Options& options) {
  UserLines& lines = options.lines;
  MeasureOptions& measure = options.measure;
  return {
      {"Check", {}, "", "@checkpoint @weights"},
      {"*--evaluate FILE", text(lines.evaluation.path),
          "compare float32 with int8 on your own lines. A line is SOURCE [TAB REFERENCE]...; both are compared with "
          "the references, too. Lines with the same source count once, with all their references. A clip's or an "
          "image's SOURCE is its file, from the folder of FILE"},
      {"*--max-loss POINTS", number(measure.max_loss),
          "refuse a model whose int8 loses more points; by --metric: exit status 4, no output", "--evaluate"},
      {"--metric NAME", choice(measure.metric, {"bleu", "chrf", "wer", "cer", "exact", "tokens", "lines", "kl"}),
          "measure the loss by this. tokens, lines: shares that differ, in percent; kl: how far probabilities are from "
          "float32's, in thousandths of a nat an id; the others need references [bleu with references, of images cer; "
          "else tokens]",
          "--evaluate"},
      {"--check DIR", text(lines.samples),
          "compare the float32 reference with samples of your own framework (examples/export_nn_transformer.py); exit "
          "status 3 if they depart"},
      {"--ids", flag(lines.ids),
          "read token ids instead of text for --evaluate, --self-test, --make-shortlist and --lexicon, as "
          "goldcrest-translate --ids does: SOURCE IDS [TAB TARGET IDS], end ids included. For models without a "
          "tokenizer"},
      {"--alternatives TEXT", text(lines.alternatives),
          "separate several references in one field by this text, such as ' | '", "--evaluate"},
      {"--evaluate-beam N", number(measure.beam_size, 0, kMaxBeams),
          "set the beam size of the evaluation [that of the limits]", "--evaluate"},
      {"Report"},
      {"*--report FILE", text(options.report.page_path), "also write the report as an HTML page",
          "@checkpoint @weights"},
      {"*--json", flag(options.report.json), "print the report as JSON", "@checkpoint"},
      {"*--verbose", flag(options.report.verbose), "also print every tensor, the formula of the arena and the work", "",
          "--quiet"},
      {"*-q --quiet", flag(options.report.quiet),
          "print less; no progress, and of the report only the bytes of file and arena and what other options ask for"},
  };
}

// Prints help, the version, or the error in the command line.
ExitStatus print_answer(const CommandLine::Answer& answer) {
  print(answer.output);
  say(answer.error);
  require_output("nothing was done");
  return answer.is_asked_for ? kSuccess : kBadUsage;
}
}  // namespace

std::optional<ExitStatus> parse_command_line(int argc, const char* const* argv, Options& options) {
  OptionRows rows;
  for (const auto& part :
      {input_options, output_options, limit_options, search_options, firmware_options, quality_options})
    for (Option& option : part(options)) rows.push_back(std::move(option));
  CommandLine app({"goldcrest-convert", kAbout, std::move(rows),
      "  goldcrest-convert opus-mt-en-fr -o en-fr.gcst\n"
      "  goldcrest-convert my-model/model.pt -o my.gcst --evaluate lines.tsv --max-loss 0.5\n"
      "  goldcrest-convert --shape config.json --board all\n"
      "  goldcrest-convert my.gcst --emit-c firmware --max-source 25 --beam-size 1 --board rpi-pico2\n",
      "0 done, 1 bad input or failed write, 2 bad usage, 3 --check departs, 4 --max-loss exceeded, 5 --budget or "
      "--board exceeded, 6 written, but the report could not be printed.",
      kNotes});
  if (const auto answer = app.parse(argc, argv)) return print_answer(*answer);
  options.checkpoint_only = app.first_given("@checkpoint");
  options.weights_only = app.first_given("@weights");
  std::vector<const char*> words(argv, argv + argc);
  words[0] = "goldcrest-convert";
  options.report.command = command_line(argc, words.data());
  return {};
}
}  // namespace goldcrest::converter
