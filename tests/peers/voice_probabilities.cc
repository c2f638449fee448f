// SPDX-License-Identifier: Apache-2.0
// Prints the voice detector's probabilities of WAV files, a line each, for each kernel table that this CPU runs.
// Usage: voice_probabilities MODEL CLIP...
#include <cstdio>
#include <string>
#include <vector>
#include "goldcrest/voice.h"
#include "host/session.h"
#include "host/speech/wav.h"

int main(int argc, char** argv) {
  std::vector<std::string> first(static_cast<size_t>(argc));
  std::string problem = argc < 3 ? "usage: voice_probabilities MODEL CLIP..." : "";
  for (uint32_t table = 0; const char* kernels = goldcrest_kernels_at(table); ++table) {
    goldcrest::Session session;
    if (problem.empty()) problem = session.open(argv[1], 1);
    if (problem.empty()) problem = session.read_info();
    if (problem.empty()) problem = session.start({kernels, false, false, false, {}, {}}, {});
    for (int i = 2; i < argc && problem.empty(); ++i) {
      std::vector<int16_t> samples;
      goldcrest_voice voice;
      problem = goldcrest::host::read_wav(argv[i], session.info().sample_rate, &samples);
      if (!problem.empty()) break;
      const int status = goldcrest_voice_begin(&voice, session.engine());
      if (status < 0) problem = session.describe(status);
      std::string line;
      for (size_t at = 0; status >= 0 && at + GOLDCREST_VOICE_SAMPLES <= samples.size();
           at += GOLDCREST_VOICE_SAMPLES) {
        char text[32];
        std::snprintf(
            text, sizeof text, "%.9g ", static_cast<double>(goldcrest_voice_probability(&voice, &samples[at])));
        line += text;
      }
      if (table == 0) std::printf("%s\n", line.c_str());
      if (table == 0) first[static_cast<size_t>(i)] = line;
      if (line != first[static_cast<size_t>(i)]) problem = std::string(argv[i]) + ": " + kernels + " has other numbers";
    }
  }
  if (problem.empty()) return 0;
  std::fprintf(stderr, "voice_probabilities: %s\n", problem.c_str());
  return 1;
}
