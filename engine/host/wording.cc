// SPDX-License-Identifier: Apache-2.0
// Shows names and shapes from an untrusted file in messages.
#include "host/wording.h"
#include <algorithm>
#include <cctype>
#include <utility>
#include "host/printable.h"

namespace goldcrest {
std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kMaxBytes = 100;
  std::string result = "\"";
  size_t n = std::min(text.size(), kMaxBytes);
  while (n < text.size() && n > 0 && (text[n] & 0xC0) == 0x80) --n;  // never cuts a UTF-8 character
  for (const char c : text.substr(0, n)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr char kDigits[] = "0123456789abcdef";
      result += std::string("\\x") + kDigits[static_cast<unsigned char>(c) >> 4] + kDigits[c & 15];
    } else {
      result += c;
    }
  }
  return result + (n < text.size() ? "...\"" : "\"");
}

std::string list_in_quotes(const std::vector<std::string>& texts, size_t most) {
  std::string result;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) result += (i ? ", " : "") + in_quotes(texts[i]);
  if (texts.size() > most) result += " and " + std::to_string(texts.size() - most) + " more";
  return result;
}

namespace {
constexpr size_t kMaxNames = 10'000, kMaxBytes = 200, kMaxEdits = 3;

// True if one name is the other with a prefix that ends in a dot.
bool differ_in_prefix(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return a.size() < b.size() && b.substr(b.size() - a.size()) == a && b[b.size() - a.size() - 1] == '.';
}
}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min(replaced, std::min(row[j], row[j - 1]) + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  size_t least = std::min(kMaxEdits, std::max<size_t>(name.size() / 4, 1)) + 1;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    const std::string& other = names[i];
    if (differ_in_prefix(name, other)) return other;
    const size_t difference = std::max(name.size(), other.size()) - std::min(name.size(), other.size());
    if (difference >= least || std::max(name.size(), other.size()) > kMaxBytes) continue;
    const size_t n = edit_distance(name, other);
    if (n < least) {
      least = n;
      best = other;
    }
  }
  return best;
}

std::string guess(std::string_view name, const std::vector<std::string>& names) {
  const std::string meant = nearest(name, names);
  return meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?";
}

namespace {
// Returns the part of a language's code that names the language, "zho" of "zho_Hans".
std::string_view stem_of(std::string_view code) { return code.substr(0, code.find_first_of("_-")); }
}  // namespace

std::string guess_languages(std::string_view code, const std::vector<std::string>& codes) {
  constexpr size_t kMostGuessed = 3;
  const size_t most_edits = std::min(kMaxEdits, std::max<size_t>(code.size() / 4, 1));
  const std::string_view stem = stem_of(code);
  std::vector<std::pair<size_t, std::string>> near;  // by edits
  for (size_t i = 0; i < std::min(codes.size(), kMaxNames); ++i) {
    if (std::max(code.size(), codes[i].size()) > kMaxBytes) continue;
    const size_t n = edit_distance(code, codes[i]);
    const std::string_view other = stem_of(codes[i]);
    const bool has_stem = std::min(stem.size(), other.size()) >= 2 &&
                          (other.substr(0, stem.size()) == stem || stem.substr(0, other.size()) == other);
    if (n <= most_edits || has_stem) near.emplace_back(n, in_quotes(codes[i]));
  }
  std::sort(near.begin(), near.end());
  near.resize(std::min(near.size(), kMostGuessed));
  std::vector<std::string> words;
  for (const auto& [n, word] : near) words.push_back(word);
  return words.empty() ? "" : "; did you mean " + list_choices(words) + "?";
}

namespace {
// The names of Whisper's languages (transformers 5.24, TO_LANGUAGE_CODE of tokenization_whisper.py).
constexpr std::string_view kLanguageNames =
    ",afrikaans:af,albanian:sq,amharic:am,arabic:ar,armenian:hy,assamese:as,azerbaijani:az,bashkir:ba,basque:eu,belar"
    "usian:be,bengali:bn,bosnian:bs,breton:br,bulgarian:bg,burmese:my,cantonese:yue,castilian:es,catalan:ca,chinese:z"
    "h,croatian:hr,czech:cs,danish:da,dutch:nl,english:en,estonian:et,faroese:fo,finnish:fi,flemish:nl,french:fr,gali"
    "cian:gl,georgian:ka,german:de,greek:el,gujarati:gu,haitian:ht,haitian creole:ht,hausa:ha,hawaiian:haw,hebrew:he,"
    "hindi:hi,hungarian:hu,icelandic:is,indonesian:id,italian:it,japanese:ja,javanese:jw,kannada:kn,kazakh:kk,khmer:k"
    "m,korean:ko,lao:lo,latin:la,latvian:lv,letzeburgesch:lb,lingala:ln,lithuanian:lt,luxembourgish:lb,macedonian:mk,"
    "malagasy:mg,malay:ms,malayalam:ml,maltese:mt,mandarin:zh,maori:mi,marathi:mr,moldavian:ro,moldovan:ro,mongolian:"
    "mn,myanmar:my,nepali:ne,norwegian:no,nynorsk:nn,occitan:oc,panjabi:pa,pashto:ps,persian:fa,polish:pl,portuguese:"
    "pt,punjabi:pa,pushto:ps,romanian:ro,russian:ru,sanskrit:sa,serbian:sr,shona:sn,sindhi:sd,sinhala:si,sinhalese:si"
    ",slovak:sk,slovenian:sl,somali:so,spanish:es,sundanese:su,swahili:sw,swedish:sv,tagalog:tl,tajik:tg,tamil:ta,tat"
    "ar:tt,telugu:te,thai:th,tibetan:bo,turkish:tr,turkmen:tk,ukrainian:uk,urdu:ur,uzbek:uz,valencian:ca,vietnamese:v"
    "i,welsh:cy,yiddish:yi,yoruba:yo,";
}  // namespace

std::string language_code(std::string_view language) {
  std::string text(language);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.size() > 4 && text.substr(0, 2) == "<|" && text.substr(text.size() - 2) == "|>")
    return text.substr(2, text.size() - 4);
  const size_t at = text.find_first_of(",:") == text.npos ? kLanguageNames.find("," + text + ":") : text.npos;
  if (at == text.npos) return text;
  const size_t begin = at + text.size() + 2;
  return std::string(kLanguageNames.substr(begin, kLanguageNames.find(',', begin) - begin));
}

std::string language_name(const std::string& code) {
  const std::string end = ":" + code + ",";
  for (size_t at = 0; !code.empty() && (at = kLanguageNames.find(end, at)) != kLanguageNames.npos; ++at) {
    const size_t begin = kLanguageNames.rfind(',', at) + 1;
    std::string name(kLanguageNames.substr(begin, at - begin));
    if (name == "castilian" || name == "letzeburgesch" || name == "moldavian" || name == "moldovan") continue;
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name;
  }
  return code;
}

std::string why_ignored(std::string_view name, const std::vector<std::string>& names) {
  const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
  return is_known ? " has no effect with the other settings and was ignored"
                  : " is not known and was ignored" + guess(name, names);
}

std::string join_words(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string list_choices(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::string choice_problem(std::string_view word, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return "";
  return in_quotes(word) + " is not one of its words: " + list_choices(words) + guess(word, words);
}

std::string quoted_for_shell(const std::string& text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=:+-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::string command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + quoted_for_shell(argv[i]);
  return line;
}
}  // namespace goldcrest
