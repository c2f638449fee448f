// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <vector>

#include "base/bounds.h"
#include "cli/console.h"
#include "dialects/dialect.h"
#include "file/emit_c.h"
#include "host/command_line.h"
#include "host/printable.h"
#include "host/wording.h"
#include "quantize/pack.h"
#include "report/board.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

constexpr const char* kDescription =
    "Converts a trained encoder-decoder Transformer to one int8 file for the Goldcrest engine.\n"
    "INPUT is a Hugging Face Marian / OPUS-MT directory, a CTranslate2 directory or package of Argos Translate "
    "(converter/dialects/CTRANSLATE2.md), a checkpoint of fairseq or OpenNMT-py (converter/dialects/FAIRSEQ.md, "
    "OPENNMT_PY.md), a Moonshine or Whisper (converter/dialects/speech/SPEECH.md), or a directory or weight file of "
    "a PyTorch nn.Transformer "
    "with a config.json (converter/dialects/NN_TRANSFORMER.md), or of a tutorial's Transformer "
    "(converter/dialects/TUTORIALS.md). Weights: safetensors, or what torch.save wrote; "
    "nothing in them is executed. Or INPUT is a .gcst file: to order its weights for another processor (--cpu), to "
    "write it as C source (--emit-c), or to check it against a --budget or a --board; its weights stay the same.";

// Makes an option's check from a function that throws Error for a bad value.
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

// Checks a text that is stored in the file.
std::string check_metadata(const std::string& text) {
  if (text.size() > kMaxMetadataBytes)
    return format_text("the text has {} bytes, expected at most {}", text.size(), kMaxMetadataBytes);
  if (is_printable(text)) return "";
  return format_text("'{}' has control characters or is not UTF-8; expected one line of text", printable(text));
}

// Options that the help shows together.
class Group {
 public:
  Group(CommandLine& app, std::string name) : app_(app), name_(std::move(name)) {}

  template <typename Value>
  Option* option(const std::string& names, Value& value, const char* called, const std::string& description) {
    return app_.add_option(names, value, description)->group(name_)->type_name(called);
  }
  Option* flag(const std::string& names, bool& value, const std::string& description) {
    return app_.add_flag(names, value, description)->group(name_);
  }

 private:
  CommandLine& app_;
  std::string name_;
};

void declare_limits(CommandLine& app, goldcrest_limits& limits) {
  Group group(
      app,
      "Limits, which the memory is planned for and the file keeps as defaults (0: the checkpoint's; of a .gcst, "
      "only for this report and --emit-c)");
  group.option("--max-source", limits.max_source_tokens, "N",
               "set the largest number of source tokens, end token included");
  group.option("--max-source-bytes", limits.max_source_bytes, "N", "set the largest number of bytes of a source text");
  group.option("--max-target", limits.max_target_tokens, "N", "generated tokens, end token included");
  group.option("--beam-size,--beam", limits.beam_size, "N", format_text("hypotheses, 1 to {}; 1 is greedy", kMaxBeams))
      ->check_range(0u, kMaxBeams);
  group.option("--batch", limits.batch, "N", "sources at a time")->check_range(0u, kMaxBatch);
  group.option("--n-best", limits.n_best, "N", "results kept for a source");
  group.option("--encoder-rows", limits.encoder_rows, "N",
               "set the number of source positions encoded at a time; fewer need less memory");
  group.option(
      "--max-candidates", limits.max_candidates, "N",
      "limit the candidates of a source in a model with a shortlist, or the allowed ids with a lexicon; with more of "
      "them all outputs are computed");
  group.option("--max-prefix", limits.max_prefix_tokens, "N",
               "reserve memory for N ids with which a caller lets a result begin (goldcrest_set_prefix)");
  group.option(
      "--inspection", limits.inspection, "BITS",
      "reserve memory for more than the text, in builds with GOLDCREST_INSPECTION: 1 token scores, 2 scores of given "
      "targets, 3 both; not kept in the file");
  group.option("--alignment-layers", limits.alignment_layers, "BITS",
               "likewise reserve memory for alignments of decoder layers: 1 the first, 2 the second, 4 the third, "
               "3 the first two, ...");
}

std::vector<const Option*> declare_speech(CommandLine& app, Arguments& arguments) {
  OpenChoices& speech = arguments.choices;
  Group group(app, "Speech");
  Option* seconds = group.option("--max-seconds", speech.max_seconds, "SECONDS",
                                 "set the longest clip, for which the memory is planned (default: 30)");
  Option* ids = group.option("--ids-per-second", speech.ids_a_second, "N",
                             "limit a Moonshine's text; 13 for scripts that are not Latin; 0: no limit (default: 6.5)");
  Option* language =
      group.option("--language", speech.language, "CODE",
                   "write every text in this language of a multilingual Whisper (default: the model chooses)");
  Option* audio = group.option("--self-test-audio", arguments.self_test_audio_path, "FILE.wav",
                               "make the file's self-test from this clip (default: half a second of made-up sound)");
  return {seconds->check_positive(), ids->check_range(0.0, 1000.0), language->check(check_metadata), audio};
}

// Options of the search, whose defaults the checkpoint tells.
std::vector<const Option*> declare_search(CommandLine& app, Arguments& arguments) {
  const std::string group = "Search, which the file keeps as defaults (default: the checkpoint's)";
  const auto set = [&](const std::string& name, std::optional<bool>& value, bool to, const char* description) {
    return app
        .add_flag(
            name, [&value, to] { value = to; }, description)
        ->group(group);
  };
  const auto stop = [&arguments](const std::string& word) {
    arguments.early_stopping = word == "never"                 ? EarlyStopping::kNever
                               : word == "true" || word == "1" ? EarlyStopping::kFull
                                                               : EarlyStopping::kLikely;
  };
  Option* early = app.add_text("--early-stopping", stop,
                               "beams stop true or 1: once as many results are finished, "
                               "never: when no better one is possible, false or 0: when "
                               "none is likely");
  early->type_name("WORD")->group(group)->take_words({"false", "true", "never", "0", "1"});
  Option* some =
      set("--renormalize", arguments.renormalize, true, "run the soft-max only over the tokens that may be chosen");
  Option* all = set("--no-renormalize", arguments.renormalize, false, "run the soft-max over all tokens");
  Option* end = set("--force-end", arguments.force_end, true, "end a text of the most tokens with the end token");
  Option* no_end = set("--no-force-end", arguments.force_end, false, "leave such a text without an end token");
  some->excludes(all);
  end->excludes(no_end);
  Option* lexicon = app.add_option("--lexicon", arguments.lexicon_path,
                                   "allow only these texts, one a line, cut by the model's own tokenizer (with --ids: "
                                   "target ids); the engine needs GOLDCREST_SHORTLIST");
  lexicon->type_name("LINES")->group(group);
  Option* words = app.add_flag("--lexicon-words", arguments.lexicon_words,
                               "take the lines of --lexicon as words: a text is any of them one after another");
  words->needs(lexicon)->group(group);
  return {early, some, all, end, no_end, lexicon, words};
}

std::vector<const Option*> declare_vocabulary(CommandLine& app, Arguments& arguments) {
  Group group(app, "Vocabulary");
  Option* keep = group.option(
      "--keep-vocabulary", arguments.keep_path, "FILE",
      "keep only these entries of the vocabulary, one piece per line (text after a tab is ignored), and those that the "
      "model needs: special ids, language codes, byte pieces. The logits of kept entries do not change");
  Option* keep_text = group.option(
      "--keep-vocabulary-of", arguments.keep_text_path, "TEXT",
      "keep the entries for lines of SOURCE [TAB TARGET]..., and for their characters; a source without target is "
      "translated. With --keep-vocabulary, both sets are kept");
  Option* make =
      group.option("--make-shortlist", arguments.make_shortlist_path, "TEXT",
                   "make a shortlist from lines of SOURCE [TAB TARGET]...; a source without target is translated. "
                   "Every tenth line is held out to measure the shortlist");
  Option* always = group.option("--shortlist-always", arguments.shortlist_always, "N",
                                "make the N most frequent target ids candidates of every sentence (default: 100)");
  Option* best = group.option("--shortlist-best", arguments.shortlist_best, "N",
                              "add the N most probable translations of each source id (default: 100)");
  for (Option* number : {always, best}) number->needs(make)->check_range(0, 65535);
  Option* languages = group.option("--keep-languages", arguments.keep_languages, "NAME,NAME",
                                   "keep only the entries of these languages, for instance eng_Latn,fra_Latn; the "
                                   "others leave the vocabulary and the file's table");
  languages->comma_list();
  return {keep, keep_text, make, languages};
}

const Option* declare_firmware(CommandLine& app, Arguments& arguments) {
  Group group(app, "Firmware");
  Option* emit = group.option(
      "--emit-c", arguments.emit_folder, "DIR",
      "write DIR/model_NAME.h with the memory that these limits need, and model_NAME.S with model_NAME.gcst to "
      "assemble (default NAME: --name, else the input's)");
  group
      .flag("--array", arguments.array, "write model_NAME.c with an array instead of .S, for compilers without .incbin")
      ->needs(emit);
  group.option("--section", arguments.section, "NAME", "place the model in this section")
      ->check(refused_by(check_section_name))
      ->needs(emit);
  group
      .option("--budget", arguments.budget_text, "SIZES",
              "refuse a model that needs more than arena=BYTES,file=BYTES (with K or M): exit status 5, no output")
      ->check(refused_by(parse_budget));
  group
      .option(
          "--board", arguments.board, "NAME",
          "check that model and arena fit this board, and suggest limits if not: exit status 5 "
          "and no output if they do not fit. NAME is a board of boards/ (list: prints them), all (only reports), or "
          "your own linker script (.ld)")
      ->check([](const std::string& name) -> std::string {
        if (name == "list") answer_with(join_text(board_names(), "\n"));
        return refused_by(find_boards)(name);
      });
  return emit;
}

std::vector<const Option*> declare_quality(CommandLine& app, Arguments& arguments) {
  Group group(app, "Check");
  Option* check = group.option(
      "--check", arguments.check_path, "DIR",
      "compare the float32 reference with samples of your own framework (examples/export_nn_transformer.py); "
      "exit status 3 if they depart");
  Option* evaluate =
      group.option("--evaluate", arguments.evaluate_path, "FILE",
                   "compare float32 with int8, and both with the references, on lines of SOURCE [TAB REFERENCE]...; "
                   "lines with the same source count once, with all their references");
  group.flag("--ids", arguments.ids,
             "read token ids instead of text for --evaluate, --self-test, --make-shortlist and --lexicon, as "
             "goldcrest-translate "
             "--ids does: SOURCE IDS [TAB TARGET IDS], end ids included. For models without a tokenizer");
  group
      .option("--alternatives", arguments.alternatives, "TEXT",
              "separate several references in one field by this text, such as ' | '")
      ->needs(evaluate);
  group
      .option("--evaluate-beam", arguments.evaluate_beam, "N",
              "set the beam size of the evaluation (default: that of the limits)")
      ->check_range(0u, kMaxBeams)
      ->needs(evaluate);
  Option* max_loss = group.option("--max-loss", arguments.max_loss, "POINTS",
                                  "refuse a model whose int8 loses more points by --metric: exit status 4, no output");
  max_loss->needs(evaluate);
  group
      .option("--metric", arguments.metric, "NAME",
              "for --max-loss: bleu, chrf, wer, exact (with references), tokens, lines (share that differs, percent). "
              "Default: bleu with references, else tokens")
      ->take_words({"bleu", "chrf", "wer", "exact", "tokens", "lines"})
      ->needs(max_loss);
  return {check, evaluate};
}

// Options that do not apply to some inputs.
struct Restricted {
  std::vector<const Option*> checkpoint_only;  // do not apply to a model file
  std::vector<const Option*> weights_only;     // do not apply to a shape
};

// Adds every option to `app`. Parsing fills `arguments`, which must outlive `app`.
Restricted declare(CommandLine& app, Arguments& arguments) {
  app.version("goldcrest-convert " GOLDCREST_VERSION);
  app.explain_surplus(" (there is one INPUT; -o FILE names the output)");
  Group input(app, "Input");
  input.option("INPUT", arguments.input, "PATH", "a directory, weight file, .gcst file, or the config.json of --shape")
      ->required();
  Option* config = input.option("--config", arguments.config, "FILE",
                                "read this config.json (default: the one next to the weights)");
  Option* shortlist = input.option("--shortlist", arguments.shortlist, "FILE",
                                   "use this shortlist: Marian's lex.*.bin or lex.s2t, CTranslate2's vmap.txt; "
                                   "none: no shortlist (default: the one next to a model of Marian's own)");
  Option* source_lang = input.option("--source-lang", arguments.source_lang, "NAME",
                                     "fix the language of the texts: one of the checkpoint's, or its own, if it "
                                     "names one (default: a file of several languages lets programs choose)");
  Option* target_lang = input.option(
      "--target-lang", arguments.target_lang, "NAME",
      "translate every text into this target language of the checkpoint. Texts need no code, and codes >>xxx<< are not "
      "read. For a checkpoint with one target, give that one (default: programs choose)");
  source_lang->check(check_metadata);
  target_lang->check(check_metadata);
  Option* source_prefix = input.option(
      "--source-prefix", arguments.source_prefix, "TEXT",
      "put this text before every source, for instance \"translate English to German:\" (T5) (default: none)");
  Option* max_positions =
      input.option("--max-positions", arguments.choices.max_positions, "N",
                   "read sources and write targets of up to N ids, for a model without a last position (T5) (default: "
                   "n_positions of its config.json, else 512, with bytes 1024)");
  max_positions->check_range(1u, 1u << 20);
  Option* shape = input.flag("--shape", arguments.shape,
                             "report the bytes of file and arena and the work of the model that INPUT, a config.json, "
                             "describes, before it is trained");
  app.add_flag(
         "--list", [] { answer_with(list_families(output_columns())); },
         "print the families that are converted and those that are refused, and end")
      ->group("Input");
  Group output(app, "Output");
  Option* output_file =
      output.option("-o,--output", arguments.output, "FILE", "write this file; without -o only the report is made");
  Option* print_config = output
                             .flag("--print-config", arguments.print_config,
                                   "print a config.json for the tensors of an nn.Transformer; replace each null in it")
                             ->excludes(output_file)
                             ->excludes(config)
                             ->excludes(shape);
  Option* weights =
      output
          .option("--weights", arguments.weights, "TYPE",
                  "int8, or float32: four times the bytes, to measure int8's loss on machines with an operating system")
          ->take_words({"int8", "float32"});
  Option* fine = output.option(
      "--fine", arguments.fine, "WHAT",
      "give inputs 16 bits, so that more texts are float32's, for a second product: none, all, decoder (used by each "
      "token), matrices by name with * (decoder.layers.*.feed_forward.out,projection), or auto=SHARE: those that help "
      "--evaluate's lines most, for at most this share of more work (0.5). keys, which all includes, centres keys for "
      "no work. Default: none, for speech the last convolution");
  fine->comma_list();
  Option* refine = output.option("--refine", arguments.refine, "WHAT",
                                 "store what int8 loses: a second matrix, up to twice the bytes; *.attention: 16 bits "
                                 "of keys and values. As --fine without auto; decoder: not the encoder's (none)");
  refine->comma_list();
  output
      .option(
          "--cpu", arguments.cpu, "NAME",
          "order the weights for this processor; every processor runs every order (default: generic, or a .gcst's own)")
      ->check(refused_by(layout_for_cpu));
  output.option("--name", arguments.name, "TEXT", "name the model")->check(check_metadata);
  Option* license =
      output.option("--license", arguments.license, "TEXT", "store this licence (default: the checkpoint's)")
          ->check(check_metadata);
  Option* attribution =
      output.option("--attribution", arguments.attribution, "TEXT", "store whom to credit (default: the checkpoint's)")
          ->check(check_metadata);
  Option* self_test =
      output.option("--self-test", arguments.self_test_path, "FILE",
                    "make the file's self-test from the first lines of this text (default: random ids)");
  declare_limits(app, arguments.limits);
  const std::vector<const Option*> speech = declare_speech(app, arguments);
  const std::vector<const Option*> search = declare_search(app, arguments);
  const std::vector<const Option*> vocabulary = declare_vocabulary(app, arguments);
  shortlist->excludes(app.option("--make-shortlist"));
  const Option* emit = declare_firmware(app, arguments);
  Restricted restricted;
  restricted.checkpoint_only = declare_quality(app, arguments);
  restricted.checkpoint_only.insert(restricted.checkpoint_only.end(), vocabulary.begin(), vocabulary.end());
  restricted.weights_only = restricted.checkpoint_only;

  Group reports(app, "Report");
  Option* report = reports.option("--report", arguments.report_path, "FILE", "also write the report as an HTML page");
  Option* json = reports.flag("--json", arguments.json, "print the report as JSON");
  reports.flag("-q,--quiet", arguments.quiet,
               "show no progress, and of the report only the bytes of file and arena and what other options ask for");
  for (const Option* option : {config, shortlist, source_lang, target_lang, source_prefix, max_positions, shape,
                               print_config, weights, fine, refine, license, attribution, self_test, report, json}) {
    restricted.checkpoint_only.push_back(option);
  }
  restricted.checkpoint_only.insert(restricted.checkpoint_only.end(), search.begin(), search.end());
  restricted.checkpoint_only.insert(restricted.checkpoint_only.end(), speech.begin(), speech.end());
  restricted.weights_only.insert(restricted.weights_only.end(),
                                 {output_file, emit, config, shortlist, self_test, report});
  app.footer(
      "Examples:\n"
      "  goldcrest-convert opus-mt-en-fr -o en-fr.gcst\n"
      "  goldcrest-convert my-model/model.pt -o my.gcst --evaluate lines.tsv --max-loss 0.5\n"
      "  goldcrest-convert --shape config.json --board all\n"
      "  goldcrest-convert my.gcst --emit-c firmware --max-source 25 --max-target 33 --beam 1 --board rpi-pico2\n"
      "Exit status: 0 done, 1 bad input or failed write, 2 bad usage, 3 --check departs, 4 --max-loss exceeded, "
      "5 --budget exceeded or --board too small, 6 the files are written, but the report could not be printed.\n"
      "Model files and C sources are written only with status 0 and 6. Files are written before the report, so its "
      "reader may leave early (| head).");
  return restricted;
}

std::string first_given(const std::vector<const Option*>& options) {
  for (const Option* option : options)
    if (option->count() != 0) return option->name();
  return "";
}

// Prints help, the version, or the error in the command line.
ExitStatus print_answer(const CommandLine::Answer& answer) {
  print(answer.output);
  say(answer.error);
  require_output("nothing was done");
  return answer.is_asked_for ? kSuccess : kBadUsage;
}

}  // namespace

std::optional<ExitStatus> parse_command_line(int argc, const char* const* argv, Arguments& arguments) {
  CommandLine app("goldcrest-convert", kDescription);
  const Restricted restricted = declare(app, arguments);
  if (const auto answer = app.parse(argc, argv)) return print_answer(*answer);
  arguments.checkpoint_only = first_given(restricted.checkpoint_only);
  arguments.weights_only = first_given(restricted.weights_only);
  std::vector<const char*> words(argv, argv + argc);
  words[0] = "goldcrest-convert";
  arguments.command = command_line(argc, words.data());
  return {};
}

std::string unfit_for_model_file(const Arguments& arguments) {
  if (arguments.checkpoint_only.empty()) return "";
  return format_text("{}: {} works on a checkpoint, not on a .gcst file; give the checkpoint", arguments.input,
                     arguments.checkpoint_only);
}

std::string unfit_for_shape(const Arguments& arguments) {
  if (arguments.weights_only.empty()) return "";
  return format_text("{} needs weights, and --shape has none; leave one of them out", arguments.weights_only);
}

}  // namespace goldcrest::converter
