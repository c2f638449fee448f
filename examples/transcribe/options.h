// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-transcribe.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include "host/speech/subtitles.h"
#include "host/speech/transcriber.h"

constexpr const char* kProgram = "goldcrest-transcribe";

enum ExitStatus { kSuccess = 0, kFailed = 1, kBadUsage = 2, kClipsFailed = 3 };

enum class Format { kText, kTimestamps, kSrt, kVtt, kJson };

struct TranscribeArguments : TranscriberOptions {
  std::vector<std::string> clips;
  Format format = Format::kText;
  bool words = false;  // printed with their times
  SubtitleLimits subtitles;
  bool no_gate = false;
  bool no_voice = false;  // the file's voice detector is not asked
  bool drop_uncertain = false;
  bool ffmpeg = false;
  bool live = false;
  bool keep_controls = false;  // texts keep line ends and control characters
  bool stats = false;
};

// Fills `arguments` from the command line. Returns an exit status if the program is to end: after printing help or the
// version, or an error of the command line.
std::optional<ExitStatus> parse_options(int argc, const char* const* argv, TranscribeArguments& arguments);
