// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "host/command_line.h"
#include "host/messages.h"

using goldcrest::Option;

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  goldcrest::CommandLine app(kProgram,
                             "Turns speech into text with a .gcst model that takes samples (Moonshine, Whisper).");
  arguments.limits.threads = 1;
  app.version("goldcrest-transcribe " GOLDCREST_VERSION);
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_option(
      "CLIP", arguments.clips,
      "WAV files: PCM or float, 8 to 192 kHz, of several channels the mean; none: standard input, a WAV file "
      "or raw samples (signed, 16 bits, low byte first, one channel, at the model's samples a second)");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size,
                 "hypotheses, 1 to 16; 1 is greedy; 0: the model's default")
      ->check_range(0, 16);
  app.add_option("--max-seconds", arguments.max_seconds,
                 "most seconds that the model hears at once: less takes less memory [the model's]")
      ->check_range(0.1, 600.0);
  app.add_option(
      "--language", arguments.language,
      "language of the speech, a code or an English name such as fr or french [the file's, or what a model hears]");
  app.add_option("--max-target", arguments.limits.max_target_tokens, "most tokens of a text (0: the model's)");
  Option* timestamps = app.add_flag(
      "--timestamps", [&arguments] { arguments.format = Format::kTimestamps; },
      "a line for each utterance, with its begin and end");
  Option* srt = app.add_flag(
      "--srt", [&arguments] { arguments.format = Format::kSrt; }, "subtitles in SubRip's format");
  Option* json = app.add_flag(
      "--json", [&arguments] { arguments.format = Format::kJson; },
      "a JSON object for each utterance, one a line: clip, begin and end in seconds, text, cut: "
      "whether a limit of tokens ended it");
  timestamps->excludes(srt)->excludes(json);
  srt->excludes(json);
  app.add_flag("--live", arguments.live,
               "standard input: while an utterance goes on, also print the words in which two runs over it agree")
      ->excludes(srt);
  app.add_flag("--no-gate", arguments.no_gate, "transcribe silence and noise too; models write words into them");
  app.add_flag("--ffmpeg", arguments.ffmpeg, "let ffmpeg convert clips that are not such WAV files");
  app.add_flag("--keep-controls", arguments.keep_controls,
               "print control characters and line ends of a text as they are, not as spaces");
  app.add_option("--threads", arguments.limits.threads, "threads; 0: one for each CPU")->check_range(0, 64);
  app.add_option("--kernels", arguments.kernels, "force a kernel table by its name (an unknown one lists them)");
  app.add_flag("--stats", arguments.stats, "print seconds of sound, time and memory to standard error at the end");
  app.footer(
      "Each clip gives one line of text. A clip that is longer than the model takes is cut where it is most quiet. "
      "Standard input is cut at pauses of 0.7 s, and each utterance gives its line as soon as it ends; so are clips "
      "with --timestamps, --srt and --json. Times and numbers of several clips go on from "
      "one to the next, except in JSON. Ctrl-C prints the text so far.\n"
      "    arecord -q -f S16_LE -r 16000 | goldcrest-transcribe MODEL --live\n"
      "--live repeats the run every half second of sound, or less often, so that it takes at most half of the time. A "
      "later run may change these words. A terminal shows them in the line that the utterance's text then replaces; "
      "elsewhere they are a line that begins with \"... \", or with --json an object with \"partial\": true.\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 some clips failed.");
  if (const auto answer = app.parse(argc, argv)) return ExitStatus(print_answer(kProgram, *answer));
  if (arguments.live && !arguments.clips.empty())
    return ExitStatus(print_answer(kProgram, app.refuse("--live: reads standard input, so it takes no CLIP")));
  return {};
}
