// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include "../support/messages.h"
#include "sources/messages/choices.h"

using goldcrest::converter::usage_message;

std::optional<ExitStatus> parse_options(int argc, const char* const* argv, Arguments& arguments) {
  CLI::App app{"Turns speech into text with a .gcst model that takes samples (Moonshine, Whisper).", kProgram};
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) { return usage_message(*failed, error); });
  arguments.limits.threads = 1;
  app.set_version_flag("--version", std::string("goldcrest-transcribe " GOLDCREST_VERSION));
  app.add_option("MODEL", arguments.model, "a file that goldcrest-convert wrote")->required();
  app.add_option("CLIP", arguments.clips,
                 "WAV files of 16-bit PCM, at the model's samples a second; none: standard input, a WAV file or raw "
                 "samples (signed, 16 bits, low byte first, one channel)");
  app.add_option("--beam-size,--beam", arguments.limits.beam_size,
                 "hypotheses, 1 to 16; 1 is greedy; 0: the model's default")
      ->check(CLI::Range(0, 16));
  app.add_option("--max-seconds", arguments.max_seconds,
                 "most seconds that the model hears at once: less takes less memory [the model's]")
      ->check(CLI::Range(0.1, 600.0));
  app.add_option("--max-target", arguments.limits.max_target_tokens, "most tokens of a text (0: the model's)");
  CLI::Option* timestamps = app.add_flag_callback(
      "--timestamps", [&arguments] { arguments.format = Format::kTimestamps; },
      "a line for each utterance, with its begin and end");
  CLI::Option* srt = app.add_flag_callback(
      "--srt", [&arguments] { arguments.format = Format::kSrt; }, "subtitles in SubRip's format");
  CLI::Option* json = app.add_flag_callback(
      "--json", [&arguments] { arguments.format = Format::kJson; },
      "a JSON object for each utterance, one a line: clip, begin and end in seconds, text");
  timestamps->excludes(srt)->excludes(json);
  srt->excludes(json);
  app.add_flag("--no-gate", arguments.no_gate, "transcribe silence and noise too; models write words into them");
  app.add_option("--threads", arguments.limits.threads, "threads; 0: one for each CPU")->check(CLI::Range(0, 64));
  app.add_option("--kernels", arguments.kernels, "force a kernel table by its name (an unknown one lists them)");
  app.add_flag("--stats", arguments.stats, "print seconds of sound, time and memory to standard error at the end");
  app.footer(
      "Each clip gives one line of text. A clip that is longer than the model takes is cut where it is most quiet. "
      "Standard input is cut at pauses of 0.7 s, and each utterance gives its line as soon as it ends; so are clips "
      "with --timestamps, --srt and --json. Clips of another rate are refused with the command that converts them: a "
      "resampler of the user's choice does this better than one that is built in.\n"
      "    arecord -q -f S16_LE -r 16000 | goldcrest-transcribe MODEL\n"
      "Exit status: 0 done, 1 failed, 2 bad usage, 3 some clips failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kBadUsage;
    return finish_output(kProgram) ? kSuccess : kFailed;
  }
  return {};
}
