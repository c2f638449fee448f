// SPDX-License-Identifier: Apache-2.0
#include "host/command_line.h"
#include "host/messages.h"
#include "translator.h"

namespace {
using goldcrest::choice;
using goldcrest::comma_list;
using goldcrest::flag;
using goldcrest::number;
using goldcrest::Option;
using goldcrest::Reader;
using goldcrest::set;
using goldcrest::text;
using goldcrest::texts;

using Options = std::vector<Option>;

// Marks and terms need the texts of one search for each sentence.
constexpr const char* kNoMarks =
    "--encode --decode --score --tokens --ids --token-scores --alignments --scores --n-best --stream --prefix "
    "--prefix-ids --prefix-file --lexicon --alternatives --sample";

Reader kept(goldcrest::host::KeepPatterns& patterns) {
  const auto read = [&patterns](const std::string& pattern) {
    if (patterns.empty()) patterns.add_built_in();
    return pattern == "built-in" ? "" : patterns.add(pattern);
  };
  return {read, {}, true};
}

Options text_options(Arguments& a) {
  return {
      {"*MODEL", text(a.model), "a file that goldcrest-convert wrote"},
      {"*[INPUT...]", texts(a.inputs), "text files [standard input]"},
      {"Text"},
      {"*--source-lang NAME", text(a.source_language),
          "set the language of the text, of those that goldcrest-inspect lists", "", "--decode --ids"},
      {"*--target-lang NAME", text(a.target_language),
          "translate into this language, of those that goldcrest-inspect lists; a line that begins with a >>xx<< of "
          "its own keeps it",
          "", "--decode"},
      {"*--no-split", flag(a.no_split), "take a line as one sentence, as models of words or characters always do"},
      {"--abbreviations FILE", text(a.abbreviations),
          "read words after which a full stop ends no sentence, white space between them; replaces the list of the "
          "model's source language [of all ten languages if it has none]",
          "", "--no-split"},
      {"*--html", flag(a.html),
          "translate HTML documents: tags get the places of their words, and <pre>, <code>, scripts, comments and "
          "elements with translate=\"no\" stay as they are",
          "", kNoMarks},
      {"*--keep PATTERN", kept(a.keep),
          "keep what the pattern matches, and {name}, %s, %1$d, <x id=1/>, addresses of the web and of e-mail; "
          "built-in: only these. A pattern is a row of letters, ., \\d, \\w, \\s, \\S, [a-z] or [^a-z], each with ?, * "
          "or + after it; it may be given several times",
          "", kNoMarks},
      {"*--glossary FILE", text(a.glossary),
          "translate the phrases of this file as it says, one a line: a phrase, a tab, its forms with | between", "",
          kNoMarks},
      {"*--stream", flag(a.stream), "print text as soon as no further step can change it, with beams too", "",
          "--encode --decode --score --tokens --ids --token-scores --alignments --scores --n-best --batch "
          "--replace-unknowns"},
      {"--deadline SECONDS", number(a.deadline, 1e-300),
          "stop a sentence, or those of a batch, after this time and print what is certain of it", "",
          "--encode --decode --score --token-scores --alignments --scores --n-best"},
      {"--replace-unknowns", set(a.replace_unknowns, true),
          "print the source's token with the largest attention for an unknown token, as packages of Argos Translate do",
          "", "--no-replace-unknowns"},
      {"--no-replace-unknowns", set(a.replace_unknowns, false), "print unknown tokens as the model's text for them"},
      {"--keep-controls", flag(a.keep_controls),
          "print control characters and line ends of a result as they are, not as spaces"},
  };
}

Options search_options(Arguments& a) {
  Options options = {
      {"Search"},
      {"*--beam-size N", number(a.limits.beam_size, 0, 16), "keep N hypotheses, 1 to 16; 1 is greedy [0: the model's]"},
      {"*--n-best N", number(a.n_best, 1, 16), "print N results a line, each as LINE TAB RANK TAB ... [1]"},
      {"*--max-source N", number(a.limits.max_source_tokens), "take at most N source tokens [0: the model's]"},
      {"--max-source-bytes N", number(a.limits.max_source_bytes), "take at most N bytes of a line [0: the model's]"},
      {"*--max-target N", number(a.limits.max_target_tokens), "write at most N tokens [0: the model's]"},
      {"--min-target N", number(a.min_target), "write at least N tokens; 0: none, even if the model has a minimum"},
      {"*--length-penalty X", number(a.length_penalty), "divide scores by length^X"},
      {"--word-penalty X", number(a.word_penalty), "subtract X from a score for each token"},
      {"--no-repeat-source-ngram N", number(a.no_repeat_source_ngram),
          "repeat no run of N ids of the source; 0: all may"},
      {"--max-candidates N", number(a.limits.max_candidates),
          "limit the candidate tokens that a shortlist leaves a line, or a lexicon a position; with more all outputs "
          "are computed [0: the model's, or enough for --lexicon]"},
      {"--no-shortlist", set(a.limits.max_candidates, GOLDCREST_NO_SHORTLIST),
          "translate each line among all tokens, even if the model has a shortlist", "", "--max-candidates"},
  };
  const Options rules = goldcrest::rule_options(a.rules, "");
  options.insert(options.end() - 2, rules.begin(), rules.end());
  return options;
}

// Sequences replace all of the model's.
Options limit_options(Arguments& a) {
  return {
      {"Limits on texts"},
      {"*--prefix TEXT", text(a.prefix),
          "begin every result with this text, cut into the fewest pieces of the model's vocabulary; a line is one "
          "sentence",
          "", "--prefix-ids --prefix-file --encode --decode --score"},
      {"--prefix-ids IDS", text(a.prefix_ids), "begin every result with these target ids, as --tokens prints them", "",
          "--prefix-file --encode --decode --score"},
      {"--prefix-file FILE", text(a.prefix_file),
          "begin the result of each line with the target ids that the same line of this file has", "",
          "--encode --decode --score"},
      {"--prefix-in-lengths", flag(a.prefix_in_lengths),
          "count the prefix in the length penalty and in the limits of lengths, as CTranslate2 does"},
      {"--draft source|FILE", text(a.draft),
          "guess results, for speed: each like its source, or like the target ids that its line of this file has; "
          "greedy search checks many ids in one step, and its results stay the same. For models that change little, as "
          "those that correct text",
          "",
          "--beam-size --batch --n-best --prefix-file --score --encode --decode --sample --alternatives --lexicon "
          "--glossary"},
      {"*--lexicon FILE", text(a.lexicon),
          "let only the texts of this file come out, one a line, cut into the fewest pieces of the model's vocabulary "
          "(with --ids: target ids)",
          "", "--encode --decode"},
      {"--lexicon-words", flag(a.lexicon_words),
          "take the lines of --lexicon as words: a text is any of them one after another", "--lexicon"},
      {"--suppress TEXT", text(a.suppressed),
          "never print this text, cut into the fewest pieces of the model's vocabulary; instead of what the model "
          "suppresses itself"},
      {"--suppress-ids IDS", comma_list(a.suppressed_ids),
          "never print these target ids one after another; commas between several such sequences"},
      {"--bias-ids 'X_IDS'", comma_list(a.biased_ids),
          "add the number X to the value of the last id where the others precede it; commas between several"},
  };
}

Options draw_options(Arguments& a) {
  goldcrest_sampling& sampling = a.sampling;
  return {
      {"Sampling and alternatives"},
      {"--sample", flag(a.samples),
          "draw each token at random instead of searching for the best text; the same seed gives the same texts on "
          "every machine, whatever --batch and --threads are",
          "", "--beam-size --n-best --score --encode --decode --early-stopping"},
      {"--temperature X", number(sampling.temperature, 1.0F / 1024, 1024), "divide the logits by X [1]", "--sample"},
      {"--top-k K", number(sampling.top_k, 1, 256), "draw from the K most likely tokens, 1 to 256 [50]", "--sample"},
      {"--top-p P", number(sampling.top_p, 1e-30F, 1),
          "draw from the fewest tokens that together have the probability P [1]", "--sample"},
      {"--min-p P", number(sampling.min_p, 0, 1), "leave out tokens less than P times as likely as the best [0]",
          "--sample"},
      {"--seed N", number(sampling.seed), "take this seed of the random numbers, of 64 bits [0]", "--sample"},
      {"--num-samples N", number(sampling.n_samples, 1, 16),
          "draw N samples a line, 1 to 16, each as LINE TAB NUMBER TAB ... [1]", "--sample"},
      {"--alternatives N", number(a.alternatives, 1, 16),
          "print N results a line, 1 to 16, which begin with the N best first tokens, each as LINE TAB RANK TAB ...; "
          "after a prefix the next token counts as the first",
          "", "--sample --beam-size --n-best --score --encode --decode --stream --deadline"},
      {"--min-alternative-prob P", number(a.min_alternative_prob, 0, 1),
          "leave out first tokens that are less likely than P [0]", "--alternatives"},
  };
}

Options print_options(Arguments& a) {
  return {
      {"Printed output"},
      {"*--scores", flag(a.scores), "print the score before each result"},
      {"--token-scores", flag(a.token_scores),
          "print after each result a tab and the log-probability of each of its tokens, as --tokens counts them"},
      {"--alignments HOW", choice(a.alignments, {"hard", "soft"}),
          "print after each result a tab and how its tokens attend to the source's, as --tokens and --encode count "
          "them from 0, end tokens included. hard: SOURCE-TARGET for each, the source token of the largest weight; "
          "soft: all weights, commas between them and a space after each target token"},
      {"--alignment-layer N", number(a.alignment_layer, -1, 31),
          "take this decoder layer, from 0 [-1: the mean of all]"},
      {"--alignment-head N", number(a.alignment_head, -1, 255), "take this head, from 0 [-1: the mean of all]"},
      {"--score FILE", text(a.score_file),
          "translate nothing: print the log-probability of the target that the same line of this file has, as ids with "
          "their end id (--tokens prints such lines)",
          "", "--encode --decode --n-best --scores --lexicon"},
      {"--tokens", flag(a.tokens), "print target ids instead of text"},
      {"--encode", flag(a.encode), "print the source ids of each line and stop there", "",
          "--decode --tokens --ids --lexicon"},
      {"--decode", flag(a.decode), "read target ids, print their text", "", "--tokens --ids"},
      {"--ids", flag(a.ids),
          "read source ids, one source a line with its end id, as --encode prints them; print target ids. Needs no "
          "tokenizer"},
      {"--stats", flag(a.stats), "print tokens/s and memory to standard error at the end"},
  };
}

Options machine_options(Arguments& a) {
  return {
      {"Machine"},
      {"*--threads N", number(a.limits.threads, 0, 64), "use N threads; 0: one for each CPU [1]"},
      {"*--batch N", number(a.limits.batch, 1, 256),
          "translate N sentences together: faster, but a line is answered when up to 16 times as many are read [1: "
          "each at once]"},
      {"--kernels NAME", text(a.kernels),
          "force a kernel table by its name (an unknown one lists them); xnnpack: XNNPACK's kernels; fastest: theirs "
          "where they are faster (both give close, not equal, results)"},
      {"--coarse", flag(a.coarse), "compute fine inputs as others: faster, as a model without second products"},
      {"--low-memory", flag(a.low_memory),
          "take the encoder's weights out of memory while they are not used: a little slower"},
      {"--structure-only", flag(a.structure_only), "do not read all weights at start-up to verify them"},
  };
}

constexpr const char* kNotes =
    "A sentence ends at . ! ? and their like, if white space follows and then no small letter, but not after an "
    "abbreviation or an initial. A sentence that exceeds the model's limits is cut at ; : , or at spaces. These "
    "options take a line as one sentence: --no-split, --ids, --encode, --decode, --tokens, --n-best above 1, "
    "--num-samples above 1, --scores, --token-scores, --alignments, --score, --prefix, --prefix-ids, --prefix-file. "
    "Most models then drop sentences of a line that has several. A leading >>xx<< holds for all sentences of its "
    "line.\n"
    "A line of white space gives an empty line. One that is too long, has a NUL byte, is not UTF-8 or not ids gives a "
    "message with its number and an empty line. A >>xx<< that the model does not know gives a warning, as does the "
    "first line of --ids without the model's end id. A byte order mark at an input's start is left out.\n"
    "At Ctrl-C the program stops between two steps and prints what is certain of the current text; the second one ends "
    "it at once.\n"
    "The program uses the model in place in its file: replace that file by renaming a new one over it. Writing into "
    "it, or cutting it short, kills the program with SIGBUS.\n";
}  // namespace

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  arguments.limits.batch = arguments.limits.threads = 1;
  Options options;
  for (const auto& part : {text_options, search_options, limit_options, draw_options, print_options, machine_options})
    for (Option& option : part(arguments)) options.push_back(std::move(option));
  goldcrest::CommandLine app({kProgram,
      "Translates lines of text with a .gcst model: one line out for each line in. A line is cut into sentences, which "
      "are translated one by one; the space between them stays as it is.",
      std::move(options),
      "  echo \"Where is the station?\" | goldcrest-translate enfr.gcst\n"
      "  goldcrest-translate enfr.gcst --beam-size 4 --batch 8 --threads 0 book.txt\n",
      "0 done, 1 failed, 2 bad usage, 3 some lines failed.", kNotes});
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  return {};
}
