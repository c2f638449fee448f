// SPDX-License-Identifier: Apache-2.0
// fairseq's dict.LANGUAGE.txt (fairseq/data/dictionary.py at 0.12.2, add_from_file).
#include "dialects/toolkits/fairseq_dictionary.h"

#include <algorithm>
#include <map>

#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"
#include "text/utf8.h"

namespace goldcrest::converter {
namespace {

bool is_utf8(const std::string& text) {
  TextSpan rest = {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
  while (rest.n > 0) {
    const uint32_t bytes = valid_char_bytes(rest);
    if (bytes == 0) return false;
    rest = rest.from(bytes);
  }
  return true;
}

bool is_count(const std::string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<std::string> read_fairseq_dictionary(const std::filesystem::path& path) {
  const std::string content = read_small_file(path, kMaxVocabularyBytes);
  std::vector<std::string> texts = {"<s>", "<pad>", "</s>", "<unk>"};
  std::map<std::string, size_t> lines;  // line of each text; 0: not from the file
  for (const std::string& text : texts) lines[text] = 0;
  for (size_t at = 0, line = 1; at < content.size(); ++line) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string row = content.substr(at, end - at);
    at = end + 1;
    while (row.ends_with('\r') || row.ends_with(' ') || row.ends_with('\t')) row.pop_back();
    const auto refuse = [&](const std::string& why) { throw Error("{}: line {} {}", path.string(), line, why); };
    if (row.ends_with(" #fairseq:overwrite")) {
      refuse("has the flag #fairseq:overwrite (a text with two ids), which is not supported");
    }
    const size_t space = row.rfind(' ');
    const bool has_count = space != std::string::npos && space > 0 && is_count(row.substr(space + 1));
    if (!has_count) refuse(format_text("is {}, expected a text, a space and its count", in_quotes(row)));
    const std::string text = row.substr(0, space);
    if (!is_utf8(text)) refuse(format_text("has the text {}, which is not UTF-8", in_quotes(text)));
    const auto [first, is_new] = lines.emplace(text, line);
    if (!is_new) {
      refuse(format_text("has the text {} again, {}", in_quotes(text),
                         first->second == 0 ? "which every dictionary begins with"
                                            : "which line " + std::to_string(first->second) + " has"));
    }
    texts.push_back(text);
  }
  return texts;
}

}  // namespace goldcrest::converter
