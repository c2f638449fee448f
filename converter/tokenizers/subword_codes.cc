// SPDX-License-Identifier: Apache-2.0
// apply_bpe.py of subword-nmt 0.3.8 (BPE.__init__): lines of two symbols separated by a space; the second may end with
// </w>. All lines are checked before any is used.
#include "tokenizers/subword_codes.h"
#include <algorithm>
#include <functional>
#include <unordered_set>
#include "base/bounds.h"
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr std::string_view kVersionMark = "#version:", kWordEnd = "</w>";

// Removes from a line's ends what Python's strip removes.
std::string_view stripped(std::string_view line) {
  constexpr const char* kEnds = "\r\n ";
  const size_t begin = std::min(line.find_first_not_of(kEnds), line.size());
  return line.substr(begin, line.find_last_not_of(kEnds) + 1 - begin);
}

std::string_view first_line(std::string_view content) { return content.substr(0, content.find('\n')); }

// Returns "0.2" for "#version: 0.2"; trailing ".0" are ignored.
std::string_view version_of(std::string_view line) {
  std::string_view version = stripped(line);
  version.remove_prefix(version.find_last_of(" :") + 1);
  while (version.ends_with(".0")) version.remove_suffix(2);
  return version;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

struct Symbols {
  std::string_view left, right;
  std::string_view count;  // fastBPE's; else empty
};

class CodesFile {
 public:
  CodesFile(std::string_view content, const std::string& where) : content_(content), where_(where) {}

  SubwordCodes read() {
    if (content_.empty()) throw Error("{}: the file is empty; download it again", where_);
    SubwordCodes codes;
    codes.where = where_;
    codes.word_end_apart = !read_version();
    std::unordered_set<std::string_view> known;
    for_each_line(
        [this](const Symbols& symbols, std::string_view line, size_t number) { check(symbols, line, number); });
    for_each_line([&](const Symbols& symbols, std::string_view line, size_t) {
      const std::string_view both = line.substr(0, symbols.left.size() + 1 + symbols.right.size());
      if (!known.insert(both).second) return;
      const bool ends_word = symbols.right.ends_with(kWordEnd);
      std::string right(symbols.right.substr(0, symbols.right.size() - (ends_word ? kWordEnd.size() : 0)));
      if (ends_word) right += ' ';
      codes.merges.push_back({std::string(symbols.left), std::move(right)});
    });
    return codes;
  }
 private:
  // Consumes the line with the version. Returns true if a word's end is part of its last character, as it is since 0.2.
  bool read_version() {
    const std::string_view line = first_line(content_);
    if (!line.starts_with(kVersionMark)) {
      has_counts_ = is_number(split(stripped(line), 1).count);
      return has_counts_;
    }
    const std::string_view version = version_of(line);
    if (version != "0.1" && version != "0.2") {
      throw Error(
          "{}: line 1: the version is {}, and codes of versions 0.1 and 0.2 are read", where_, in_quotes(version));
    }
    content_.remove_prefix(std::min(line.size() + 1, content_.size()));
    first_number_ = 2;
    return version == "0.2";
  }

  Symbols split(std::string_view line, size_t number) const {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) refuse(line, number);
    const size_t second = std::min(line.find(' ', space + 1), line.size());
    return {line.substr(0, space), line.substr(space + 1, second - space - 1),
        line.substr(std::min(second + 1, line.size()))};
  }

  [[noreturn]] void refuse(std::string_view line, size_t number) const {
    throw Error("{}: line {}: found {}, expected two symbols with a space between them{}", where_, number,
        in_quotes(line), has_counts_ ? ", and a count" : "");
  }

  void check(const Symbols& symbols, std::string_view line, size_t number) const {
    const bool is_complete =
        has_counts_ ? is_number(symbols.count) : symbols.left.size() + 1 + symbols.right.size() == line.size();
    if (symbols.left.empty() || symbols.right.empty() || !is_complete) refuse(line, number);
    if (line.size() > kMaxPieceBytes)
      throw Error("{}: line {} has {} bytes, expected at most {}", where_, number, line.size(), kMaxPieceBytes);
    if (!is_utf8(line) || line.find('\0') != std::string_view::npos) {
      throw Error(
          "{}: line {}, {}, is not UTF-8 or has a NUL byte: the file is damaged", where_, number, in_quotes(line));
    }
    std::string made = std::string(symbols.left).append(symbols.right);
    if (made.ends_with(kWordEnd) && symbols.right.ends_with(kWordEnd)) made.resize(made.size() - kWordEnd.size());
    if (made.find(kWordEnd) != std::string::npos) {
      throw Error("{}: line {}, {}, makes a text with {} in it, which stands for a word's end", where_, number,
          in_quotes(line), kWordEnd);
    }
  }

  // Line ends at the end of the file are ignored; other empty lines are not valid merges.
  void for_each_line(const std::function<void(const Symbols&, std::string_view, size_t)>& take) const {
    std::string_view rest = content_.substr(0, content_.find_last_not_of('\n') + 1);
    for (size_t number = first_number_;; ++number) {
      const std::string_view line = stripped(first_line(rest));
      take(split(line, number), line, number);
      if (rest.find('\n') == std::string_view::npos) return;
      rest.remove_prefix(rest.find('\n') + 1);
    }
  }

  std::string_view content_;
  const std::string& where_;
  size_t first_number_ = 1;
  bool has_counts_ = false;  // fastBPE's
};
}  // namespace

SubwordCodes parse_subword_codes(std::string_view content, const std::string& where) {
  return CodesFile(content, where).read();
}
}  // namespace goldcrest::converter
