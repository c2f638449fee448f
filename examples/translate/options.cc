// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "host/command_line.h"
#include "host/messages.h"
#include "translator.h"

namespace {

using goldcrest::CommandLine;
using goldcrest::Option;

// Two options for a rule: with neither, the model decides.
struct RuleOptions {
  const char *yes, *yes_description, *no, *no_description;
};

void add_rule(CommandLine& app, const RuleOptions& options, uint8_t& rule) {
  Option* yes = app.add_flag(
      options.yes, [&rule] { rule = GOLDCREST_YES; }, options.yes_description);
  yes->excludes(app.add_flag(
      options.no, [&rule] { rule = GOLDCREST_NO; }, options.no_description));
}

// Adds the options for rules of the search. A rule without its option is the model's own.
void add_rules(CommandLine& app, goldcrest_search& rules) {
  const std::map<std::string, uint8_t> kinds = {{"power", GOLDCREST_LENGTH_POWER}, {"wu", GOLDCREST_LENGTH_WU}};
  // 0 and 1 are Python's false and true, which transformers also takes.
  const std::map<std::string, uint8_t> stops = {{"false", GOLDCREST_STOP_LIKELY},
                                                {"true", GOLDCREST_STOP_FULL},
                                                {"never", GOLDCREST_STOP_NEVER},
                                                {"0", GOLDCREST_STOP_LIKELY},
                                                {"1", GOLDCREST_STOP_FULL}};
  const auto count = [](uint32_t n) { return n == 0 ? UINT32_MAX : n; };
  app.add_text(
         "--length-penalty-kind",
         [&rules, kinds](const std::string& kind) { rules.length_penalty_kind = kinds.at(kind); },
         "power: length^X; wu: ((5 + length) / 6)^X, of Wu et al.")
      ->take_words({"power", "wu"});
  app.add_text(
         "--early-stopping", [&rules, stops](const std::string& stop) { rules.early_stopping = stops.at(stop); },
         "beams stop true or 1: once as many results are finished, never: when no better one is possible, "
         "false or 0: when none is likely")
      ->take_words({"false", "true", "never", "0", "1"});
  add_rule(app,
           {"--renormalize", "run the soft-max only over the tokens that may be chosen", "--no-renormalize",
            "run the soft-max over all tokens"},
           rules.renormalize);
  add_rule(app,
           {"--force-end", "end a text of the most tokens with the end token", "--no-force-end",
            "leave such a text without an end token"},
           rules.force_end);
  app.add_count(
      "--no-repeat-ngram", [&rules, count](uint32_t n) { rules.no_repeat_ngram = count(n); },
      "no run of N tokens comes twice; 0: all may");
  app.add_count(
      "--max-extra", [&rules, count](uint32_t n) { rules.max_extra_tokens = count(n); },
      "at most N tokens more than the source has; 0: no such limit");
  app.add_number(
         "--max-length-factor", [&rules](float factor) { rules.max_length_factor = factor == 0 ? HUGE_VALF : factor; },
         "at most X times as many tokens as the source has; 0: no such limit")
      ->check_range(0.0, 1024.0);
  app.add_option("--repetition-penalty", rules.repetition_penalty,
                 "make tokens that a result already has less likely (above 1) or more likely (below 1)")
      ->check_range(1.0 / 1024, 1024.0);
}

// Adds the options of alternatives, which need --alternatives.
void add_alternatives(CommandLine& app, Arguments& arguments) {
  Option* alternatives =
      app.add_option("--alternatives", arguments.alternatives,
                     "print N results a line, 1 to 16, which begin with the N best first tokens, each as LINE TAB RANK "
                     "TAB ...; behind a prefix the next token counts as the first")
          ->check_range(1, 16);
  app.add_option("--min-alternative-prob", arguments.min_alternative_prob,
                 "leave out first tokens that are less likely than this [0]")
      ->check_range(0.0, 1.0)
      ->needs(alternatives);
  for (const char* other :
       {"--sample", "--beam-size", "--nbest", "--score", "--encode", "--decode", "--stream", "--deadline"})
    alternatives->excludes(app.option(other));
}

// Adds the options of sequences, each of which replaces all of the model's.
void add_sequences(CommandLine& app, Arguments& arguments) {
  app.add_option("--suppress", arguments.suppressed,
                 "never print this text, cut into the fewest pieces of the model's vocabulary; instead of what the "
                 "model suppresses itself")
      ->type_name("TEXT");
  app.add_option("--suppress-ids", arguments.suppressed_ids,
                 "never print these target ids one after another; commas between several such sequences")
      ->comma_list()
      ->type_name("IDS");
  app.add_option("--bias-ids", arguments.biased_ids,
                 "a number and ids: add the number to the value of the last id where the others precede it; commas "
                 "between several")
      ->comma_list()
      ->type_name("'X IDS'");
  app.add_count(
      "--no-repeat-source-ngram", [&arguments](uint32_t n) { arguments.no_repeat_source_ngram = n; },
      "no result repeats a run of N ids of its source; 0: all may");
}

// Adds the options of sampling, which need --sample.
void add_sampling(CommandLine& app, Arguments& arguments) {
  Option* sample = app.add_flag("--sample", arguments.samples,
                                "draw each token at random instead of searching for the best text; the same "
                                "seed gives the same texts on every machine, whatever --batch and --threads are");
  goldcrest_sampling& sampling = arguments.sampling;
  app.add_option("--temperature", sampling.temperature, "divide the logits by X [1]")
      ->check_range(1.0 / 1024, 1024.0)
      ->needs(sample);
  app.add_option("--top-k", sampling.top_k, "draw from the K most likely tokens, 1 to 256 [50]")
      ->check_range(1, 256)
      ->needs(sample);
  app.add_option("--top-p", sampling.top_p, "draw from the fewest tokens that together have the probability P [1]")
      ->check_range(1e-30, 1.0)
      ->needs(sample);
  app.add_option("--min-p", sampling.min_p, "leave out tokens less than P times as likely as the best [0]")
      ->check_range(0.0, 1.0)
      ->needs(sample);
  app.add_option("--seed", sampling.seed, "the seed of the random numbers, of 64 bits [0]")->needs(sample);
  app.add_option("--num-samples", sampling.n_samples, "samples a line, 1 to 16, each as LINE TAB NUMBER TAB ... [1]")
      ->check_range(1, 16)
      ->needs(sample);
  for (const char* other : {"--beam-size", "--nbest", "--score", "--encode", "--decode", "--early-stopping"})
    sample->excludes(app.option(other));
}

}  // namespace

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  CommandLine app(
      kProgram,
      "Translates lines of text with a .gcst model: one line out for each line in. A line is cut into sentences, which "
      "are translated one by one; the space between them stays as it is.");
  arguments.limits.batch = arguments.limits.threads = 1;
  app.version("goldcrest-translate " GOLDCREST_VERSION);
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_option("INPUT", arguments.inputs, "text files; none: standard input");
  Option* source_lang = app.add_option("--source-lang", arguments.source_language,
                                       "the language of the text, of those that goldcrest-inspect lists");
  Option* target_lang =
      app.add_option("--target-lang", arguments.target_language,
                     "the language to translate into, of those that goldcrest-inspect lists; a line that begins with a "
                     ">>xx<< of its own keeps it");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size,
                 "hypotheses, 1 to 16; 1 is greedy; 0: the model's default")
      ->check_range(0, 16);
  Option* n_best = app.add_option("--nbest,--n-best", arguments.n_best, "results a line, each as LINE TAB RANK TAB ...")
                       ->check_range(1, 16);
  app.add_option("--max-source", arguments.limits.max_source_tokens, "most source tokens (0: the model's)");
  app.add_option("--max-source-bytes", arguments.limits.max_source_bytes, "most bytes of a line (0: the model's)");
  app.add_option("--max-target", arguments.limits.max_target_tokens, "most generated tokens (0: the model's)");
  Option* max_candidates = app.add_option(
      "--max-candidates", arguments.limits.max_candidates,
      "most candidate tokens that a shortlist may leave a line, or a lexicon a position; with more all outputs are "
      "computed (0: the model's, or enough for --lexicon)");
  Option* no_shortlist = app.add_flag(
      "--no-shortlist", [&arguments] { arguments.limits.max_candidates = GOLDCREST_NO_SHORTLIST; },
      "translate each line among all tokens, even if the model has a shortlist");
  no_shortlist->excludes(max_candidates);
  Option* min_target = app.add_option("--min-target", arguments.min_target,
                                      "fewest generated tokens; 0: none, even if the model has a minimum");
  Option* length_penalty =
      app.add_option("--length-penalty", arguments.length_penalty, "scores are divided by length^X");
  Option* word_penalty =
      app.add_option("--word-penalty", arguments.word_penalty, "subtract this from a score for each token");
  add_rules(app, arguments.rules);
  add_sequences(app, arguments);
  app.add_option("--batch", arguments.limits.batch,
                 "sentences translated together: faster, but a line is answered when up to 16 times as many are read; "
                 "1: each at once")
      ->check_range(1, 256);
  app.add_option("--threads", arguments.limits.threads, "threads; 0: one for each CPU")->check_range(0, 64);
  app.add_option("--kernels", arguments.kernels,
                 "force a kernel table by its name (an unknown one lists them); xnnpack: XNNPACK's kernels; "
                 "fastest: theirs where they are faster (both give close, not equal, results)");
  app.add_flag("--coarse", arguments.coarse,
               "compute fine inputs as others: faster, as a model without second products");
  Option* scores = app.add_flag("--scores", arguments.scores, "print the score before each result");
  app.add_flag("--token-scores", arguments.token_scores,
               "after each result a tab and the log-probability of each of its tokens, as --tokens counts them");
  app.add_option(
         "--alignments", arguments.alignments,
         "after each result a tab and how its tokens attend to the source's, as --tokens and --encode count them "
         "from 0, end tokens included. hard: SOURCE-TARGET for each, the source token of the largest weight; "
         "soft: all weights, commas between them and a space after each target token")
      ->take_words({"hard", "soft"});
  app.add_option("--alignment-layer", arguments.alignment_layer, "of this decoder layer, from 0; -1: the mean of all")
      ->check_range(-1, 31);
  app.add_option("--alignment-head", arguments.alignment_head, "of this head, from 0; -1: the mean of all")
      ->check_range(-1, 255);
  Option* score = app.add_option(
      "--score", arguments.score_file,
      "translate nothing: print the log-probability of the target that the same line of this file has, as ids with "
      "their end id (--tokens prints such lines)");
  Option* tokens = app.add_flag("--tokens", arguments.tokens, "print target ids instead of text");
  Option* encode = app.add_flag("--encode", arguments.encode, "print the source ids of each line and stop there");
  Option* decode = app.add_flag("--decode", arguments.decode, "read target ids, print their text");
  Option* ids = app.add_flag("--ids", arguments.ids,
                             "read source ids, one source a line with its end id, as --encode prints them; print "
                             "target ids. Needs no tokenizer");
  source_lang->excludes(decode)->excludes(ids);
  target_lang->excludes(decode);
  encode->excludes(decode)->excludes(tokens)->excludes(ids);
  decode->excludes(tokens)->excludes(ids);
  score->excludes(encode)->excludes(decode)->excludes(n_best)->excludes(scores);
  Option* no_split = app.add_flag("--no-split", arguments.no_split,
                                  "take a line as one sentence, as models of words or characters always do");
  app.add_option("--abbreviations", arguments.abbreviations,
                 "a file of words behind which a full stop ends no sentence, white space between them; replaces the "
                 "list of the model's source language [of all ten languages if it has none]")
      ->excludes(no_split);
  Option* prefix = app.add_option("--prefix", arguments.prefix,
                                  "begin every result with this text, cut into the fewest pieces of the model's "
                                  "vocabulary; a line is one sentence");
  Option* prefix_ids = app.add_option("--prefix-ids", arguments.prefix_ids,
                                      "begin every result with these target ids, as --tokens prints them")
                           ->excludes(prefix);
  Option* prefix_file =
      app.add_option("--prefix-file", arguments.prefix_file,
                     "begin the result of each line with the target ids that the same line of this file has")
          ->excludes(prefix)
          ->excludes(prefix_ids);
  app.add_flag("--prefix-in-lengths", arguments.prefix_in_lengths,
               "count the prefix in the length penalty and in the limits of lengths, as CTranslate2 does");
  Option* lexicon =
      app.add_option("--lexicon", arguments.lexicon,
                     "let only the texts of this file come out, one a line, cut into the fewest pieces of "
                     "the model's vocabulary (with --ids: target ids)");
  lexicon->excludes(encode)->excludes(decode)->excludes(score);
  app.add_flag("--lexicon-words", arguments.lexicon_words,
               "take the lines of --lexicon as words: a text is any of them one after another")
      ->needs(lexicon);
  Option* replace = app.add_flag(
      "--replace-unknowns", [&arguments] { arguments.replace_unknowns = true; },
      "print the source's token with the largest attention for an unknown token, as packages of Argos Translate do");
  replace->excludes(app.add_flag(
      "--no-replace-unknowns", [&arguments] { arguments.replace_unknowns = false; },
      "print unknown tokens as the model's text for them"));
  Option* stream =
      app.add_flag("--stream", arguments.stream, "print text as soon as no further step can change it, with beams too");
  Option* deadline =
      app.add_option("--deadline", arguments.deadline,
                     "stop a sentence, or those of a batch, after SECONDS and print what is certain of it")
          ->check_positive();
  for (Option* other : {prefix, prefix_ids, prefix_file, stream, deadline})
    other->excludes(encode)->excludes(decode)->excludes(score);
  for (const char* other :
       {"--tokens", "--ids", "--token-scores", "--alignments", "--scores", "--nbest", "--batch", "--replace-unknowns"})
    stream->excludes(app.option(other));
  for (const char* other : {"--token-scores", "--alignments", "--scores", "--nbest"})
    deadline->excludes(app.option(other));
  add_sampling(app, arguments);
  add_alternatives(app, arguments);
  app.add_flag("--keep-controls", arguments.keep_controls,
               "print control characters and line ends of a result as they are, not as spaces");
  app.add_flag("--stats", arguments.stats, "print tokens/s and memory to standard error at the end");
  app.add_flag("--low-memory", arguments.low_memory,
               "take the encoder's weights out of memory while they are not used: a little slower");
  app.add_flag("--structure-only", arguments.structure_only, "do not read all weights at start-up to verify them");
  app.footer(
      "A sentence ends at . ! ? and their like, if white space follows and then no small letter, but not behind an "
      "abbreviation or an initial. A sentence that exceeds the model's limits is cut at ; : , or at spaces. "
      "These options take a line as one sentence: --no-split, --ids, --encode, --decode, --tokens, --nbest above 1, "
      "--num-samples above 1, --scores, --token-scores, --alignments, --score, --prefix, --prefix-ids, --prefix-file. "
      "Most models then drop "
      "sentences of a "
      "line that has several. A "
      "leading >>xx<< holds for all sentences of its line.\n"
      "A line of white space gives an empty line. One that is too long, has a NUL byte, is not UTF-8 or not ids "
      "gives a message with its number and an empty line. A >>xx<< that the model does not know gives a warning, as "
      "does the first line of --ids without the model's end id. A byte order mark at an input's start is left out.\n"
      "At Ctrl-C the program stops between two steps and prints what is certain of the current text; the second one "
      "ends "
      "it at once.\n"
      "The program uses the model in place in its file: replace that file by renaming a new one over it. Writing into "
      "it, or cutting it short, kills the program with SIGBUS.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 some lines failed.");
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (arguments.stream) arguments.replace_unknowns = false;  // attention is known when a text is whole
  arguments.has_min_target = min_target->count() > 0;
  arguments.has_length_penalty = length_penalty->count() > 0;
  arguments.has_word_penalty = word_penalty->count() > 0;
  return {};
}
