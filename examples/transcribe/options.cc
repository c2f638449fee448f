// SPDX-License-Identifier: Apache-2.0
#include "options.h"
#include "host/command_line.h"
#include "host/messages.h"

using goldcrest::flag;
using goldcrest::number;
using goldcrest::set;
using goldcrest::text;
using goldcrest::texts;

namespace {
std::vector<goldcrest::Option> rows_of(TranscribeArguments& arguments) {
  return {
      {"*MODEL", text(arguments.model), "a file that goldcrest-convert wrote"},
      {"*[CLIP...]", texts(arguments.clips),
          "WAV files: PCM or float, 8 to 192 kHz, of several channels the mean [standard input: a WAV file or raw "
          "samples: signed, 16 bits, low byte first, one channel, at the model's samples a second]"},
      {"Speech"},
      {"*--language CODE", text(arguments.language),
          "take this language of the speech, a code or an English name such as fr or french, or the likeliest of "
          "several, as fr,de,en [the file's, or what a model hears]"},
      {"*--translate", flag(arguments.translates), "write in English what is said in another language (Whisper)"},
      {"*--prompt TEXT", text(arguments.prompt),
          "let a Whisper read TEXT before it writes, as if the speaker had said it: names, a topic, a style"},
      {"--condition-on-previous-text", flag(arguments.reads_last_text),
          "let a Whisper also read the text before, which keeps names alike but may carry an error on"},
      {"*--key-terms FILE", text(arguments.key_terms),
          "expect these names and terms, one a line, which a greedy search then spells as the file does"},
      {"*--phrases FILE", text(arguments.phrases), "hear only these sentences, one a line; other speech has no text"},
      {"*--max-seconds SECONDS", number(arguments.max_seconds, 0.1, 600.0),
          "let the model hear at most this much at once: less takes less memory [the model's]"},
      {"*--live", flag(arguments.live),
          "while an utterance of standard input goes on, also print the words in which two runs over it agree", "",
          "--srt --vtt"},
      {"*--no-gate", flag(arguments.no_gate), "transcribe silence and noise too; models write words into them"},
      {"*--no-voice", flag(arguments.no_voice),
          "tell speech from other sound by its loudness, although the file has a voice detector"},
      {"--ffmpeg", flag(arguments.ffmpeg), "let ffmpeg convert clips that are not such WAV files"},
      {"Search"},
      {"--drop-uncertain", flag(arguments.drop_uncertain),
          "leave out texts that stay unlikely or repeat themselves at all temperatures; without it JSON marks them"},
      {"--no-guards", flag(arguments.no_guards),
          "take each text as the search found it; no sampling at temperatures of 0.2 to 1, which takes memory"},
      {"--best-of N", number(arguments.best_of, 1, 16),
          "draw N texts at once at each of these temperatures and take the likeliest, which takes memory [1]"},
      {"*--beam-size N", number(arguments.limits.beam_size, 0, 16),
          "keep N hypotheses, 1 to 16; 1 is greedy [0: the model's]"},
      {"*--max-target N", number(arguments.limits.max_target_tokens), "write at most N tokens [0: the model's]"},
      {"Printed output"},
      {"*--timestamps", set(arguments.format, Format::kTimestamps),
          "print a line for each utterance, with its begin and end", "", "--srt --vtt --json"},
      {"*--srt", set(arguments.format, Format::kSrt), "print subtitles in SubRip's format", "", "--json --vtt --words"},
      {"*--vtt", set(arguments.format, Format::kVtt), "print subtitles in WebVTT's format", "", "--json --words"},
      {"*--json", set(arguments.format, Format::kJson),
          "print a JSON object for each utterance, one a line: clip, start and end in seconds, text, cut: whether "
          "a limit of tokens ended it"},
      {"*--words", flag(arguments.words),
          "print a line for each word, with its begin, its end and its probability; with --json an array of words"},
      {"--max-line-width N", number(arguments.subtitles.line_width, 1, 1000),
          "put at most N characters on a line of subtitles [42]"},
      {"--max-line-count N", number(arguments.subtitles.n_lines, 1, 100), "give a subtitle at most N lines [2]"},
      {"--keep-controls", flag(arguments.keep_controls),
          "print control characters and line ends of a text as they are, not as spaces"},
      {"--stats", flag(arguments.stats), "print seconds of sound, time and memory to standard error at the end"},
      {"Machine"},
      {"*--threads N", number(arguments.limits.threads, 0, 64), "use N threads; 0: one for each CPU [1]"},
      {"--kernels NAME", text(arguments.kernels), "force a kernel table by its name (an unknown one lists them)"},
  };
}
}  // namespace

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, TranscribeArguments& arguments) {
  arguments.limits.threads = 1;
  goldcrest::CommandLine app({kProgram,
      "Turns speech into text with a .gcst model that takes samples (Moonshine, Whisper).", rows_of(arguments),
      "  goldcrest-transcribe moonshine.gcst clip.wav --timestamps\n"
      "  arecord -q -f S16_LE -r 16000 | goldcrest-transcribe moonshine.gcst --live\n",
      "0 done, 1 failed, 2 bad usage, 3 some clips failed.",
      "Each clip gives one line of text. A clip that is longer than the model takes is cut where it is most quiet. "
      "Standard input is cut at pauses of 0.7 s, and each utterance gives its line as soon as it ends; so are clips "
      "with --timestamps, --srt and --json. Times and numbers of several clips go on from "
      "one to the next, except in JSON. Ctrl-C prints the text so far.\n"
      "--live repeats the run every half second of sound, or less often, so that it takes at most half of the time. A "
      "later run may change these words. A terminal shows them in the line that the utterance's text then replaces; "
      "elsewhere they are a line that begins with \"... \", or with --json an object with \"partial\": true.\n"});
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  arguments.finds_words = arguments.words || arguments.format == Format::kSrt || arguments.format == Format::kVtt;
  arguments.drafts = arguments.live;
  if (arguments.live && !arguments.clips.empty())
    return ExitStatus(print_answer(kProgram, app.refuse("--live: reads standard input, so it takes no CLIP")));
  return {};
}
