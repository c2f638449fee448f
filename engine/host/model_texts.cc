// SPDX-License-Identifier: Apache-2.0
#include "host/model_texts.h"
#include <algorithm>
#include <cctype>
#include "goldcrest/languages.h"
#include "goldcrest/tokens.h"
#include "host/messages.h"
#include "host/printable.h"
#include "host/text_lines.h"
#include "host/wording.h"

namespace {
void add_code(void* context, const char* code, size_t code_bytes, int32_t) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(code, code_bytes);
}

std::string in_quotes(const std::string& text) { return '"' + goldcrest::printable(text) + '"'; }

// Describes what a user asked for: an option, what its value is, and how to see all values of a model.
struct Asked {
  const char *option, *kind, *lister;
};

std::string named(const std::vector<std::string>& languages, const char* lister) {
  constexpr size_t kMostNamed = 12;
  std::string text;
  for (size_t i = 0; i < std::min(languages.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + in_quotes(languages[i]);
  if (languages.size() > kMostNamed) text += " and " + std::to_string(languages.size() - kMostNamed) + " more" + lister;
  return text;
}

// Returns, for example: --target-lang "de": the model's target languages are "fra", "ita"
std::string refusal(const Asked& what, const std::string& asked, const std::vector<std::string>& found) {
  std::string text = std::string(what.option) + " " + in_quotes(asked) + ": the model's " + what.kind +
                     (found.size() > 1 ? "s are " : " is ");
  if (found.size() == 1 && found[0].empty()) return text + "not stated";
  return text + named(found, what.lister) + goldcrest::guess_languages(asked, found);
}

constexpr Asked kSource = {"--source-lang", "source language", ", which goldcrest-inspect lists"};
constexpr Asked kTarget = {"--target-lang", "target language", ", which goldcrest-inspect lists"};

// Returns the problem of one side: `only` is the name of its language if there is no table.
std::string side_problem(
    const Asked& side, const std::string& asked, std::vector<std::string> found, const char* only) {
  if (found.empty()) found = {only};
  const bool is_known = asked.empty() || std::find(found.begin(), found.end(), asked) != found.end();
  return is_known ? "" : refusal(side, asked, found);
}

using ListFunction = int (*)(const void*, size_t, goldcrest_language_function, void*, goldcrest_detail*);

std::vector<std::string> listed(ListFunction list, const void* model, size_t model_bytes) {
  std::vector<std::string> codes;
  const int n = list(model, model_bytes, add_code, &codes, nullptr);
  if (n < 0) codes.clear();
  return codes;
}

void add_entry(void* context, const goldcrest_token* token) {
  const std::string_view text(token->text, token->text_bytes);
  const bool is_entry = token->kind == GOLDCREST_TOKEN_CONTROL && text.size() >= 5 && text.substr(0, 2) == "<|" &&
                        text.substr(text.size() - 2) == "|>";
  if (!is_entry) return;
  auto* entries = static_cast<SpeechEntries*>(context);
  if (text == "<|translate|>") entries->translate = token->id;
  if (text == "<|transcribe|>") entries->transcribe = token->id;
  if (text == "<|startofprev|>") entries->previous = token->id;
  if (text == "<|nospeech|>" || text == "<|nocaptions|>") entries->no_speech = token->id;
  constexpr size_t kLongest = 7;  // <|haw|>
  if (text.size() > kLongest) return;
  entries->codes.emplace_back(text.substr(2, text.size() - 4));
  entries->ids.push_back(token->id);
}
}  // namespace

std::vector<std::string> source_languages(const void* model, size_t model_bytes) {
  return listed(goldcrest_source_languages, model, model_bytes);
}

std::vector<std::string> target_languages(const void* model, size_t model_bytes) {
  return listed(goldcrest_target_languages, model, model_bytes);
}

std::string languages_problem(const goldcrest::Session& session, const std::string& source, const std::string& target) {
  const goldcrest_info& info = session.info();
  const std::string problem =
      side_problem(kSource, source, source_languages(session.model(), session.model_bytes()), info.source_language);
  if (!problem.empty()) return problem;
  return side_problem(kTarget, target, target_languages(session.model(), session.model_bytes()), info.target_language);
}

std::string missing_language(const goldcrest::Session& session, const std::string& source, const std::string& target) {
  const std::string end = " is missing: the model has several ";
  if (source.empty() && session.traits().lacks_source_default != 0)
    return "--source-lang" + end +
           "source languages: " + named(source_languages(session.model(), session.model_bytes()), kSource.lister);
  if (target.empty() && session.traits().lacks_target_default != 0)
    return "--target-lang" + end +
           "target languages: " + named(target_languages(session.model(), session.model_bytes()), kTarget.lister);
  return "";
}

std::string code_warning(goldcrest::Session* session, bool has_code, const std::string& text) {
  const std::string code(goldcrest::leading_language_code(text));
  if (code.empty()) return "";
  std::vector<int32_t> ids, ids_of_nothing;
  std::vector<std::string> pieces;
  session->tokenize(code, &ids, &pieces);
  session->tokenize("", &ids_of_nothing, &pieces);
  const size_t n_of_code = ids_of_nothing.size() + (has_code ? 0 : 1);  // the text's code replaces the model's
  if (ids.size() == n_of_code && (ids.empty() ? -1 : ids[0]) != session->info().unknown_id) return "";
  return in_quotes(code) + " is not an entry of the model's vocabulary; it is read as text";
}

int choose_first_languages(goldcrest_engine* engine, const void* model, size_t model_bytes) {
  goldcrest_text_traits traits = {};
  const int status = goldcrest_get_text_traits(model, model_bytes, &traits, nullptr);
  if (status < 0) return status;
  std::vector<std::string> sources, targets;
  if (traits.lacks_source_default != 0) sources = source_languages(model, model_bytes);
  if (traits.lacks_target_default != 0) targets = target_languages(model, model_bytes);
  return goldcrest_set_languages(
      engine, sources.empty() ? nullptr : sources[0].c_str(), targets.empty() ? nullptr : targets[0].c_str());
}

SpeechEntries speech_entries(const goldcrest::Session& session) {
  SpeechEntries entries;
  const int n = goldcrest_target_tokens(session.model(), session.model_bytes(), add_entry, &entries, nullptr);
  return n < 0 ? SpeechEntries() : entries;  // read_info has accepted the file
}

std::string SpeechEntries::code_of(int32_t id) const {
  const auto found = std::find(ids.begin(), ids.end(), id);
  return found == ids.end() ? "" : codes[static_cast<size_t>(found - ids.begin())];
}

std::string task_prompt(const goldcrest::Session& session, const SpeechTask& task, TaskPrompt* prompt) {
  *prompt = {};
  const SpeechEntries entries = speech_entries(session);
  const uint32_t n_forced = session.traits().n_forced;
  const std::vector<int32_t> forced(session.traits().forced, session.traits().forced + n_forced);
  const auto is_language = [&](int32_t id) { return !entries.code_of(id).empty(); };
  // An English Whisper has the entries, too; but none in its prompt.
  const bool has_languages =
      session.info().prompt_tokens > n_forced || std::any_of(forced.begin(), forced.end(), is_language);
  if (task.translates && (entries.translate < 0 || !has_languages))
    return "--translate: the file has no entry <|translate|>; convert a multilingual Whisper again, whose entry "
           "goldcrest-convert keeps since this option exists";
  const Asked what = {"--language", "language", ""};
  if (!has_languages) {
    const std::string only = session.info().target_language;
    const std::string asked = goldcrest::language_code(task.language);
    return asked.empty() || asked == only ? "" : refusal(what, task.language, {only});
  }
  prompt->ids.push_back(-1);
  for (const int32_t id : forced)
    if (is_language(id)) prompt->ids.front() = id;
    else prompt->ids.push_back(task.translates && id == entries.transcribe ? entries.translate : id);
  std::vector<int32_t>& named = prompt->languages;
  for (size_t at = 0, end = 0; at < task.language.size(); at = end + 1) {
    end = std::min(task.language.find(',', at), task.language.size());
    const std::string language = task.language.substr(at, end - at);
    const auto found = std::find(entries.codes.begin(), entries.codes.end(), goldcrest::language_code(language));
    if (found == entries.codes.end()) return refusal(what, language, entries.codes);
    named.push_back(entries.ids[static_cast<size_t>(found - entries.codes.begin())]);
  }
  if (!named.empty()) prompt->ids.front() = named.size() == 1 ? named[0] : -1;
  if (named.size() == 1) named.clear();
  return "";
}

namespace {
constexpr std::string_view kPieceSpace = "\xe2\x96\x81";  // U+2581, which stands for a space in pieces
}  // namespace

TextCutter::TextCutter(const goldcrest::Session& session) {
  const uint8_t kind = session.traits().target;
  has_pieces_ = kind == GOLDCREST_CUT_UNIGRAM || kind == GOLDCREST_CUT_BPE;
  has_words_ = kind == GOLDCREST_CUT_WORDS;
  adds_space_ = session.traits().target_adds_space != 0;
  const auto visit = [](void* cutter, const goldcrest_token* token) { static_cast<TextCutter*>(cutter)->add(*token); };
  goldcrest_detail detail = {"", -1};
  const int n = goldcrest_target_tokens(session.model(), session.model_bytes(), visit, this, &detail);
  if (n < 0) problem_ = describe_error(n, detail);
}

void TextCutter::add(const goldcrest_token& token) {
  const bool is_byte = token.kind == GOLDCREST_TOKEN_BYTE;
  const bool is_text = token.kind == GOLDCREST_TOKEN_NORMAL || token.kind == GOLDCREST_TOKEN_USER_DEFINED || is_byte;
  if (!is_text || token.text_bytes == 0) return;
  has_bytes_ = has_bytes_ && is_byte;
  // A byte's piece and a normal one can have the same text; the normal one is meant.
  const auto [found, is_new] = ids_.emplace(std::string_view(token.text, token.text_bytes), token.id);
  if (!is_new && !is_byte) found->second = token.id;
  longest_ = std::max(longest_, token.text_bytes);
}

std::string TextCutter::cut(const std::string& text, std::vector<int32_t>* ids) const {
  if (!problem_.empty()) return problem_;
  if (has_words_) return cut_words(text, ids);
  if (!has_pieces_) return "the model's results are not made of SentencePiece's pieces or of words; give it as ids";
  std::string spaced = adds_space_ ? std::string(kPieceSpace) : "";
  for (const char c : text) spaced += c == ' ' ? std::string(kPieceSpace) : std::string(1, c);
  const size_t n = spaced.size(), none = n + 1;
  std::vector<size_t> fewest(n + 1, none), next(n + 1, 0);  // pieces from a byte on; the end of the first of them
  fewest[n] = 0;
  for (size_t begin = n; begin-- > 0;) {
    for (size_t end = std::min(n, begin + longest_); end > begin; --end) {
      if (fewest[end] + 1 >= fewest[begin]) continue;
      if (ids_.count(std::string_view(spaced).substr(begin, end - begin)) == 0) continue;
      fewest[begin] = fewest[end] + 1;
      next[begin] = end;
    }
  }
  if (fewest[0] == none) return no_pieces(text);
  for (size_t begin = 0; begin < n; begin = next[begin])
    ids->push_back(ids_.at(std::string_view(spaced).substr(begin, next[begin] - begin)));
  return "";
}

std::string TextCutter::cut_words(const std::string& text, std::vector<int32_t>* ids) const {
  for (size_t begin = 0, end = 0; (begin = text.find_first_not_of(' ', end)) != std::string::npos;) {
    end = std::min(text.find(' ', begin), text.size());
    const auto found = ids_.find(std::string_view(text).substr(begin, end - begin));
    if (found == ids_.end()) return no_pieces(text);
    ids->push_back(found->second);
  }
  return "";
}

namespace {
// Returns the end of the part of a text that begins at `begin`, as GPT-2's expression cuts it: a space and letters,
// digits or marks, or the end of a contraction. Characters that are not ASCII are letters.
size_t end_of_part(std::string_view text, size_t begin) {
  for (const std::string_view end : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(begin, end.size()) == end) return begin + end.size();
  const auto kind_of = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalpha(byte) != 0) return 1;
    return std::isdigit(byte) != 0 ? 2 : std::isspace(byte) != 0 ? 0 : 3;
  };
  size_t at = begin + (text[begin] == ' ' && begin + 1 < text.size() ? 1 : 0);
  const int kind = kind_of(text[at]);
  while (at < text.size() && kind_of(text[at]) == kind) ++at;
  return at;
}
}  // namespace

// Appends the ids of a part: the pair of pieces with the lowest merged id becomes one, until no pair has a piece.
bool TextCutter::merge_part(std::string_view part, std::vector<int32_t>* ids) const {
  std::vector<std::string_view> pieces;
  for (size_t begin = 0, end = 0; begin < part.size(); begin = end) {
    end = begin + 1;
    while (!has_bytes_ && end < part.size() && (part[end] & 0xC0) == 0x80) ++end;
    if (ids_.count(part.substr(begin, end - begin)) == 0) end = begin + 1;
    if (ids_.count(part.substr(begin, end - begin)) == 0) return false;
    pieces.push_back(part.substr(begin, end - begin));
  }
  for (;;) {
    size_t best = pieces.size();
    int32_t lowest = 0;
    std::string_view merged;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const std::string_view both(pieces[i].data(), pieces[i].size() + pieces[i + 1].size());
      const auto found = ids_.find(both);
      if (found == ids_.end() || (best < pieces.size() && found->second >= lowest)) continue;
      best = i;
      lowest = found->second;
      merged = both;
    }
    if (best == pieces.size()) break;
    pieces[best] = merged;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  for (const std::string_view piece : pieces) ids->push_back(ids_.at(piece));
  return true;
}

std::string TextCutter::cut_by_merges(const std::string& text, std::vector<int32_t>* ids) const {
  if (!problem_.empty()) return problem_;
  std::string spaced = adds_space_ ? std::string(kPieceSpace) : "";
  if (has_bytes_) spaced = text;
  else
    for (const char c : text) spaced += c == ' ' ? std::string(kPieceSpace) : std::string(1, c);
  for (size_t begin = 0, end = 0; begin < spaced.size(); begin = end) {
    end = has_bytes_ ? end_of_part(spaced, begin) : spaced.size();
    if (!merge_part(std::string_view(spaced).substr(begin, end - begin), ids)) return no_pieces(text);
  }
  return "";
}

std::string TextCutter::no_pieces(const std::string& text) {
  return "the model's vocabulary has no pieces for \"" + goldcrest::printable(text) + "\"";
}
