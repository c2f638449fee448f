// SPDX-License-Identifier: Apache-2.0
// Any bytes as an HTML document, any pattern, any translation that attends anywhere: each tag is written once,
// documents that were well-formed stay so, and a document without translations says the same when it is read again.
#include "fuzz/script.h"
#include "host/marks/html.h"
#include "host/marks/keep_patterns.h"
#include "host/marks/marked_text.h"

namespace goldcrest::test {
namespace {
using host::HtmlReader;
using host::KeepPatterns;
using host::MarkedText;
using host::MarkWriter;

std::vector<MarkedText> read_texts(std::string_view document, size_t step, size_t* n_problems) {
  HtmlReader reader;
  std::vector<MarkedText> texts;
  for (size_t at = 0; at < document.size(); at += step) reader.push(document.substr(at, step));
  reader.finish();
  for (MarkedText text; reader.next(&text);) texts.push_back(text);
  *n_problems = reader.n_problems();
  return texts;
}

bool is_same(const std::vector<MarkedText>& a, const std::vector<MarkedText>& b) {
  const auto same_mark = [](const host::Mark& x, const host::Mark& y) {
    return x.kind == y.kind && x.at == y.at && x.text == y.text && x.bytes == y.bytes;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const MarkedText& x, const MarkedText& y) {
    return x.before == y.before && x.text == y.text &&
           std::equal(x.marks.begin(), x.marks.end(), y.marks.begin(), y.marks.end(), same_mark);
  });
}

// A sentence with a translation of short words. Its pieces and weights are random.
host::Sentence translated(size_t begin, size_t bytes, Script& script) {
  host::Sentence sentence;
  sentence.begin = begin;
  sentence.bytes = bytes;
  for (size_t i = script.below(6) + 1; i-- > 0;)
    sentence.pieces.push_back(script.one_in(2) ? "\xe2\x96\x81"
                                                 "a"
                                               : "b.");
  sentence.source.resize(sentence.pieces.size());
  host::Found& found = sentence.found.emplace_back();
  for (size_t i = script.below(6); i-- > 0;) {
    found.text += script.one_in(2) ? " Tom" : script.one_in(2) ? "," : "a";
    found.ends.push_back(found.text.size());
  }
  found.ids.resize(found.ends.size());
  for (size_t i = 0; i < found.ids.size() * sentence.source.size(); ++i)
    found.attention.push_back(static_cast<float>(script.below(8)) / 8);
  return sentence;
}

size_t n_tags(std::string_view text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '<')); }

// Writes the texts, with translations of some sentences unless the script is null.
std::string written(std::vector<MarkedText> texts, const KeepPatterns& patterns, Script* script) {
  std::string out;
  for (MarkedText& text : texts) {
    if (script != nullptr) put_stand_ins(patterns, &text);
    size_t n = n_tags(text.before);
    for (const host::Mark& mark : text.marks) n += n_tags(mark.text);
    const size_t begin = out.size();
    MarkWriter writer(text);
    for (size_t at = 0; script != nullptr && at < text.text.size();) {
      const size_t end = std::min(text.text.find(' ', at + script->below(32)), text.text.size());
      if (end > at && script->one_in(2)) writer.add(translated(at, end - at, *script), &out);
      at = end + 1;
    }
    writer.finish(&out);
    require(n_tags(std::string_view(out).substr(begin)) == n, "each tag is written once");
  }
  return out;
}
}  // namespace

void run_input(Script script) {
  Script choices = script;
  KeepPatterns patterns;
  if (script.one_in(2)) patterns.add_built_in();
  const std::string_view pattern = script.text_of(script.below(24));
  patterns.add(pattern);
  KeepPatterns others;
  others.add(pattern);
  const size_t step = script.one_in(4) ? 1 : 1 + script.below(64);
  const std::string document(script.rest());
  for (size_t at = 0; !others.empty() && at < document.size();) {
    const KeepPatterns::Match match = others.find(document, at);
    require(match.begin >= at && match.begin + match.bytes <= document.size(), "a match is in the text");
    at = match.bytes == 0 ? document.size() : match.begin + match.bytes;
  }
  size_t n_problems = 0, n_again = 0;
  const std::vector<MarkedText> texts = read_texts(document, step, &n_problems);
  require(is_same(texts, read_texts(document, document.size() + 1, &n_again)), "the bytes may come in any parts");
  const std::string copy = written(texts, {}, nullptr);
  require(is_same(texts, read_texts(copy, step, &n_again)), "an untranslated document says the same");
  read_texts(written(texts, patterns, &choices), step, &n_again);
  require(n_problems > 0 || n_again == 0, "a well-formed document stays well-formed");
}
}  // namespace goldcrest::test
