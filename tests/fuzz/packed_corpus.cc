// SPDX-License-Identifier: Apache-2.0
#include "fuzz/packed_corpus.h"
#include <charconv>

namespace goldcrest::test {
namespace {
constexpr std::string_view kLicence = "# SPDX-License-Identifier: Apache-2.0";
constexpr std::string_view kBeforeCount = "# Inputs of a fuzz target, one a line in hexadecimal: ";
constexpr std::string_view kDigits = "0123456789abcdef";

// `line` and `column` begin with 1; column 0 is the whole line.
struct Place {
  const std::filesystem::path& file;
  size_t line, column;
};

[[noreturn]] void refuse(const Place& place, const std::string& found, const std::string& expected) {
  std::string message = place.file.string() + ": line " + std::to_string(place.line);
  if (place.column > 0) message += ", column " + std::to_string(place.column);
  throw std::runtime_error(message + ": found " + found + ", expected " + expected);
}

std::string quoted(std::string_view text) {
  std::string shown = "\"";
  for (const char byte : text.substr(0, 80)) shown += byte >= ' ' && byte <= '~' ? byte : '?';
  return shown + (text.size() > 80 ? "...\"" : "\"");
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(file.string() + ": cannot be opened");
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) throw std::runtime_error(file.string() + ": cannot be read");
  return bytes;
}

std::vector<std::string_view> lines_of(const std::filesystem::path& file, std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos)
      refuse({file, lines.size() + 1, text.size() + 1}, "the file's end", "a line break");
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

size_t count_of(const std::filesystem::path& file, std::string_view line) {
  size_t n = 0;
  if (line.starts_with(kBeforeCount)) {
    const std::string_view digits = line.substr(kBeforeCount.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
  }
  if (line != std::string(kBeforeCount) + std::to_string(n))
    refuse({file, kCorpusHeaderLines, 0}, quoted(line), quoted(kBeforeCount) + " and the number of inputs");
  return n;
}

std::string input_of(Place place, std::string_view line) {
  std::string input(line.size() / 2, '\0');
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t digit = kDigits.find(line[i]);
    place.column = i + 1;
    if (digit == std::string_view::npos) refuse(place, quoted(line.substr(i, 1)), "a digit from 0 to 9 or a to f");
    if (i / 2 == input.size()) refuse(place, "one digit of a byte", "two");
    input[i / 2] = static_cast<char>(static_cast<unsigned char>(input[i / 2]) << 4 | digit);
  }
  return input;
}
}  // namespace

void write_corpus(const std::filesystem::path& file, std::vector<std::string> inputs) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  std::ofstream stream(file, std::ios::binary);
  stream << kLicence << '\n' << kBeforeCount << inputs.size() << '\n';
  for (const std::string& input : inputs) {
    for (const char c : input) {
      const auto byte = static_cast<unsigned char>(c);
      stream << kDigits[byte >> 4] << kDigits[byte & 15];
    }
    stream << '\n';
  }
  if (!stream.flush()) throw std::runtime_error(file.string() + ": cannot be written");
}

std::vector<std::string> read_corpus(const std::filesystem::path& file) {
  const std::string text = bytes_of(file);
  const std::vector<std::string_view> lines = lines_of(file, text);
  if (lines.empty() || lines[0] != kLicence)
    refuse({file, 1, 0}, lines.empty() ? "the file's end" : quoted(lines[0]), quoted(kLicence));
  const size_t n = count_of(file, lines.size() < kCorpusHeaderLines ? "" : lines[1]);
  if (lines.size() - kCorpusHeaderLines != n) {
    refuse({file, kCorpusHeaderLines, 0}, std::to_string(lines.size() - kCorpusHeaderLines) + " inputs after the line",
        std::to_string(n));
  }
  std::vector<std::string> inputs;
  for (size_t i = kCorpusHeaderLines; i < lines.size(); ++i) {
    inputs.push_back(input_of({file, i + 1, 0}, lines[i]));
    if (inputs.size() > 1 && inputs.back() <= inputs[inputs.size() - 2])
      refuse({file, i + 1, 0}, "an input that does not follow the one before", "ascending order");
  }
  return inputs;
}
}  // namespace goldcrest::test
