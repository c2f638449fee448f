// SPDX-License-Identifier: Apache-2.0
#include "evaluate/clip_file.h"

#include "host/wav.h"
#include "spec/error.h"

namespace goldcrest::converter {

std::vector<int16_t> read_clip(const std::filesystem::path& path, uint32_t sample_rate) {
  std::vector<int16_t> samples;
  const std::string problem = host::read_wav(path.string(), sample_rate, &samples);
  if (!problem.empty()) throw Error("{}: {}", path.string(), problem);
  return samples;
}

std::string spoken_words(const std::string& text) {
  std::string words;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z', is_digit = c >= '0' && c <= '9';
    const bool is_letter = is_upper || (c >= 'a' && c <= 'z') || (static_cast<uint8_t>(c) & 0x80) != 0;
    if (is_letter || is_digit) {
      words += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if ((c == ' ' || c == '\t' || c == '-') && !words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace goldcrest::converter
