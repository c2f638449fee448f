// SPDX-License-Identifier: Apache-2.0
#include "host/marks/marked_text.h"
#include <algorithm>
#include <utility>
#include "host/printable.h"

namespace goldcrest::host {
namespace {
enum class Letter { kSpace, kMark, kOfWord, kWord };  // kWord: of a script without spaces

struct Range {
  uint32_t first, last;
};
constexpr Range kSpaces[] = {{9, 13}, {32, 32}, {0x85, 0x85}, {0xA0, 0xA0}, {0x2000, 0x200B}, {0x2028, 0x202F},
    {0x205F, 0x205F}, {0x3000, 0x3000}};
constexpr Range kMarks[] = {{0, 0x2F}, {0x3A, 0x40}, {0x5B, 0x60}, {0x7B, 0xA9}, {0xAB, 0xB4}, {0xB6, 0xB9},
    {0xBB, 0xBF}, {0xD7, 0xD7}, {0xF7, 0xF7}, {0x2010, 0x206F}, {0x2E00, 0x2E7F}, {0x3001, 0x303F}, {0xFF00, 0xFF0F},
    {0xFF1A, 0xFF20}, {0xFFF0, 0xFFFF}};
constexpr Range kWholeWords[] = {
    {0xE00, 0xEFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x2E80, 0xA4CF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};

template <size_t kN> bool is_in(const Range (&ranges)[kN], uint32_t c) {
  return std::any_of(ranges, ranges + kN, [c](const Range& range) { return range.first <= c && c <= range.last; });
}

// Returns the bytes of the letter at `at`, and its kind.
size_t read_letter(std::string_view text, size_t at, Letter* letter) {
  const size_t n = std::max<size_t>(utf8_length(text.substr(at)), 1);
  uint32_t c = static_cast<unsigned char>(text[at]);
  if (n > 1) c &= 0x3FU >> (n - 1);
  for (size_t i = 1; i < n; ++i) c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  *letter = is_in(kSpaces, c)       ? Letter::kSpace
            : is_in(kMarks, c)      ? Letter::kMark
            : is_in(kWholeWords, c) ? Letter::kWord
                                    : Letter::kOfWord;
  return n;
}

Letter letter_at(std::string_view text, size_t at) {
  Letter letter = Letter::kSpace;
  if (at < text.size()) read_letter(text, at, &letter);
  return letter;
}

// The place of the letter before `at`, which is not 0.
size_t before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

constexpr std::string_view kPieceSpace = "\xe2\x96\x81", kCutWord = "@@";

// A piece without what tells where words begin and end.
std::string_view letters_of(std::string_view piece) {
  while (piece.substr(0, kPieceSpace.size()) == kPieceSpace) piece.remove_prefix(kPieceSpace.size());
  if (piece.size() > kCutWord.size() && piece.substr(piece.size() - kCutWord.size()) == kCutWord)
    piece.remove_suffix(kCutWord.size());
  return piece;
}

// Finds the bytes of a source that each piece of it stands for. Pieces are normalized: if a word has other bytes than
// its pieces, or a text other words, the pieces share its bytes by their lengths.
std::vector<Word> places_of(std::string_view source, const std::vector<std::string>& pieces) {
  std::vector<Word> places(pieces.size());
  std::vector<size_t> letters, word_ends, group_ends;  // bytes of the source; letters; pieces
  for (size_t at = 0, n = 0; at < source.size(); at += n) {
    Letter letter = Letter::kSpace;
    n = read_letter(source, at, &letter);
    const bool is_space = letter == Letter::kSpace;
    if (is_space && !letters.empty() && (word_ends.empty() || word_ends.back() < letters.size()))
      word_ends.push_back(letters.size());
    for (size_t i = 0; i < n && !is_space; ++i) letters.push_back(at + i);
  }
  if (word_ends.empty() || word_ends.back() < letters.size()) word_ends.push_back(letters.size());
  for (size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].compare(0, kPieceSpace.size(), kPieceSpace) == 0) group_ends.push_back(i);
  group_ends.push_back(pieces.size());
  if (group_ends.size() != word_ends.size()) group_ends = {pieces.size()}, word_ends = {letters.size()};
  letters.push_back(source.size());
  for (size_t group = 0, piece = 0, first = 0; group < group_ends.size(); first = word_ends[group++]) {
    size_t n = 0, done = 0;
    for (size_t i = piece; i < group_ends[group]; ++i) n += letters_of(pieces[i]).size();
    const size_t n_letters = word_ends[group] - first;
    const auto letter = [&](size_t bytes) { return first + (n == 0 ? n_letters : bytes * n_letters / n); };
    for (; piece < group_ends[group]; ++piece) {
      const size_t bytes = letters_of(pieces[piece]).size();
      if (bytes > 0 && letter(done + bytes) > letter(done))
        places[piece] = {letters[letter(done)], letters[letter(done + bytes) - 1] + 1};
      done += bytes;
    }
  }
  return places;
}

// The words that share bytes with a place.
Word words_in(const std::vector<Word>& words, Word place) {
  const auto ends = [](const Word& word, size_t at) { return word.end <= at; };
  const auto begins = [](const Word& word, size_t at) { return word.begin < at; };
  const auto first = std::lower_bound(words.begin(), words.end(), place.begin, ends);
  const auto last = std::lower_bound(first, words.end(), place.end, begins);
  const Word found = {static_cast<size_t>(first - words.begin()), static_cast<size_t>(last - words.begin())};
  return place.begin < place.end ? found : Word{found.begin, found.begin};
}

// Names, numbers and marks mean the same on both sides.
bool means_itself(std::string_view word) {
  const bool has_digit = std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return has_digit || letter_at(word, 0) == Letter::kMark || (word.size() > 1 && (word[0] < 'a' || word[0] > 'z'));
}

constexpr const char* kStandIns[] = {"Tom", "Boston", "Tokyo", "Paris", "Mary", "London"};

// The first letter from `at` on that is no white space.
size_t skip_spaces(std::string_view text, size_t at) {
  for (Letter letter = Letter::kSpace; at < text.size();) {
    const size_t n = read_letter(text, at, &letter);
    if (letter != Letter::kSpace) break;
    at += n;
  }
  return at;
}

size_t skip_spaces_back(std::string_view text, size_t at) {
  while (at > 0 && letter_at(text, before(text, at)) == Letter::kSpace) at = before(text, at);
  return at;
}
}  // namespace

std::vector<Mark>::const_iterator MarkedText::first_mark(size_t begin) const {
  const auto comes_before = [](const Mark& mark, size_t at) { return mark.at < at; };
  return std::lower_bound(marks.begin(), marks.end(), begin, comes_before);
}

bool MarkedText::has_marks(size_t begin, size_t bytes) const {
  const auto first = first_mark(begin);
  return first != marks.end() && first->at <= begin + bytes;
}

bool MarkedText::is_kept(size_t begin, size_t bytes) const {
  if (!has_marks(begin, bytes)) return false;
  auto mark = first_mark(begin);
  for (const Word& word : words_of(std::string_view(text).substr(begin, bytes))) {
    while (mark != marks.end() && mark->at + mark->bytes <= begin + word.begin) ++mark;
    const bool is_in_mark = mark != marks.end() && mark->at <= begin + word.begin;
    if (!is_in_mark && letter_at(text, begin + word.begin) != Letter::kMark) return false;
  }
  return true;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  Letter last = Letter::kSpace;
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    Letter letter = Letter::kSpace;
    n = read_letter(text, at, &letter);
    if (letter == Letter::kOfWord && last == letter) words.back().end = at + n;
    else if (letter != Letter::kSpace) words.push_back({at, at + n});
    last = letter;
  }
  return words;
}

void append_printed(std::string_view text, bool is_html, std::string* out) {
  if (!is_html) *out += text;
  for (size_t i = 0; is_html && i < text.size(); ++i) {
    const char c = text[i];
    const bool is_hard = text.compare(i, 2, "\xc2\xa0") == 0;
    *out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : is_hard ? "&nbsp;" : std::string(1, c);
    i += is_hard ? 1 : 0;
  }
}

WordAlignment align_words(std::string_view source, const Sentence& sentence) {
  const Found& found = sentence.found[0];
  WordAlignment a = {words_of(source), words_of(found.text), {}, {}};
  const size_t n = a.source.size(), n_ids = sentence.source.size();
  const std::vector<Word> places = places_of(source, sentence.pieces);
  std::vector<size_t> n_tokens(a.target.size());
  a.weights.resize(n * a.target.size());
  for (size_t i = 0, begin = 0; i < found.ends.size() && found.attention.size() >= (i + 1) * n_ids;
       begin = found.ends[i++]) {
    const Word to = words_in(a.target, {begin, found.ends[i]});
    for (size_t t = to.begin; t < to.end; ++t) ++n_tokens[t];
    for (size_t j = 0; j < std::min(n_ids, places.size()); ++j) {
      const Word from = words_in(a.source, places[j]);
      for (size_t t = to.begin; t < to.end; ++t)
        for (size_t s = from.begin; s < from.end; ++s) a.weights[t * n + s] += found.attention[i * n_ids + j];
    }
  }
  const auto text_of = [](std::string_view text, const Word& word) {
    return text.substr(word.begin, word.end - word.begin);
  };
  for (size_t i = 0; i < a.weights.size(); ++i)
    a.weights[i] /= static_cast<float>(std::max<size_t>(n_tokens[i / n], 1));
  for (size_t s = 0; s < n; ++s) {
    const std::string_view word = text_of(source, a.source[s]);
    const auto is_same = [&](const Word& other) { return text_of(found.text, other) == word; };
    if (!means_itself(word) || std::none_of(a.target.begin(), a.target.end(), is_same)) continue;
    for (size_t t = 0; t < a.target.size(); ++t) {
      float* const weight = &a.weights[t * n + s];
      *weight = is_same(a.target[t]) ? *weight + 1 : 0;
    }
  }
  for (size_t t = 0; t < a.target.size() && n > 0; ++t) {
    const auto weights = a.weights.begin() + static_cast<ptrdiff_t>(t * n);
    const auto best = std::max_element(weights, weights + static_cast<ptrdiff_t>(n));
    a.best.push_back(*best >= 0.05F ? static_cast<size_t>(best - weights) : n);
  }
  a.best.resize(a.target.size(), n);
  return a;
}

void put_stand_ins(const KeepPatterns& patterns, MarkedText* text) {
  const std::string source = std::move(text->text);
  std::vector<Mark> marks;
  size_t next = 0, done = 0, n_names = 0;
  text->text.clear();
  const auto copy = [&](size_t end) { text->text.append(source, done, end - done), done = end; };
  const auto copy_marks = [&](size_t end) {  // those before `end`
    for (; next < text->marks.size() && text->marks[next].at < end; ++next) {
      Mark& mark = marks.emplace_back(std::move(text->marks[next]));
      copy(mark.at);
      mark.at = text->text.size();
      if (mark.kind != Mark::kKept) continue;
      const char* name = kStandIns[n_names++ % std::size(kStandIns)];
      for (size_t i = 1; i < std::size(kStandIns) && source.find(name) != std::string::npos; ++i)
        name = kStandIns[n_names++ % std::size(kStandIns)];
      done += mark.bytes;
      text->text += name;
      mark.bytes = text->text.size() - mark.at;
    }
  };
  for (size_t from = 0; from < source.size();) {
    const KeepPatterns::Match match = patterns.find(source, from);
    size_t begin = match.begin, end = begin + match.bytes;
    if (match.bytes == 0) break;
    while (begin > from && letter_at(source, before(source, begin)) == Letter::kOfWord) begin = before(source, begin);
    while (letter_at(source, end) == Letter::kOfWord) end += std::max<size_t>(utf8_length(source.substr(end)), 1);
    from = end;
    copy_marks(begin);
    size_t first = next;  // after the marks at its begin
    while (first < text->marks.size() && text->marks[first].at == begin && text->marks[first].kind != Mark::kKept)
      ++first;
    if (first < text->marks.size() && text->marks[first].at < end) continue;
    Mark kept = {Mark::kKept, begin, "", end - begin};
    append_printed(std::string_view(source).substr(begin, end - begin), text->is_html, &kept.text);
    text->marks.insert(text->marks.begin() + static_cast<ptrdiff_t>(first), std::move(kept));
    copy_marks(begin + 1);
  }
  copy_marks(source.size() + 1);
  copy(source.size());
  text->marks = std::move(marks);
}

namespace {
// An element, a point or a kept text of a sentence, and its place in the translation.
struct Node {
  const Mark *open = nullptr, *close = nullptr;  // one of an element is null if that is not in the sentence
  Word source = {};                              // bytes
  Word words = {};                               // the source's
  Word place = {};                               // words of the target, from parent's; begin == end: between two
  Word bytes = {};                               // the target's
  bool is_after = false;                         // between two words: next to the first of them
  std::vector<size_t> children = {};
  bool is_element() const { return open == nullptr || open->kind == Mark::kOpen; }
};

class Placer {
 public:
  Placer(const MarkedText& text, const Sentence& sentence)
      : is_html_(text.is_html),
        begin_(sentence.begin),
        source_(std::string_view(text.text).substr(sentence.begin, sentence.bytes)),
        target_(sentence.found[0].text),
        alignment_(align_words(source_, sentence)) {}

  void add_marks(const Mark* first, const Mark* last);
  void place_all();
  void write(std::string* out) const;
  size_t n_unplaced = 0;
 private:
  size_t add(const Mark* mark, size_t parent);
  void place(const Node& parent, Node* node);
  bool place_words(const Node& parent, Node* node);
  void place_point(const Node& parent, Node* node) const;
  void part(Node* first, Node* second) const;
  void set_bytes(const Node& parent, Node* node) const;
  float weight_of(size_t target, Word words) const;
  bool is_of(size_t target, Word words) const {
    return alignment_.best[target] >= words.begin && alignment_.best[target] < words.end;
  }
  Word around(const Node& kept) const;

  bool is_html_;
  size_t begin_;
  std::string_view source_, target_;
  WordAlignment alignment_;
  std::vector<Node> nodes_ = {{}};  // the first one is the sentence
};

size_t Placer::add(const Mark* mark, size_t parent) {
  const size_t begin = mark->at - begin_;
  nodes_.push_back({mark, nullptr, {begin, std::min(begin + mark->bytes, source_.size())}});
  nodes_[parent].children.push_back(nodes_.size() - 1);
  return nodes_.size() - 1;
}

void Placer::add_marks(const Mark* first, const Mark* last) {
  nodes_[0].source = {0, source_.size()};
  std::vector<size_t> open = {0};
  for (const Mark* mark = first; mark != last; ++mark) {
    if (mark->kind != Mark::kClose) {
      const size_t node = add(mark, open.back());
      if (mark->kind == Mark::kOpen) open.push_back(node);
      continue;
    }
    const size_t at = mark->at - begin_;
    if (open.size() > 1) {
      Node& node = nodes_[open.back()];
      node.close = mark;
      node.source.end = at;
      open.pop_back();
      continue;
    }
    Node node = {nullptr, mark, {0, at}};  // it began before the sentence, so all before it is in it
    node.children = std::exchange(nodes_[0].children, {nodes_.size()});
    nodes_.push_back(std::move(node));
  }
  for (size_t i = 1; i < open.size(); ++i) nodes_[open[i]].source.end = source_.size();
}

float Placer::weight_of(size_t target, Word words) const {
  float sum = 0;
  for (size_t s = words.begin; s < words.end; ++s) sum += alignment_.weights[target * alignment_.source.size() + s];
  return sum;
}

// Finds the words of an element or of a kept text. Returns false if none is aligned.
bool Placer::place_words(const Node& parent, Node* node) {
  constexpr float kLeast = 0.1F;
  size_t best = parent.place.end;
  Word hull = {parent.place.end, parent.place.begin};
  for (size_t t = parent.place.begin; t < parent.place.end; ++t) {
    if (best == parent.place.end || weight_of(t, node->words) > weight_of(best, node->words)) best = t;
    if (is_of(t, node->words)) hull = {std::min(hull.begin, t), t + 1};
  }
  if (best == parent.place.end || weight_of(best, node->words) < kLeast) return false;
  if (node->is_element()) node->place = hull.begin < hull.end ? hull : Word{best, best + 1};
  else node->place = {best, is_of(best, node->words) ? best + 1 : best};  // it replaces only what stands for it
  return true;
}

// A point stands before the translation of the next word, or after that of the word that it touches.
void Placer::place_point(const Node& parent, Node* node) const {
  const size_t at = node->source.begin;
  const bool touches =
      at > 0 && letter_at(source_, before(source_, at)) != Letter::kSpace && letter_at(source_, at) == Letter::kSpace;
  const size_t next = words_in(alignment_.source, {at, at + 1}).begin;
  const bool is_last = next >= parent.words.end;
  node->is_after = next > parent.words.begin && (touches || is_last);
  const size_t word = node->is_after ? next - 1 : next;
  size_t best = parent.place.end;
  for (size_t t = parent.place.begin; t < parent.place.end && word < alignment_.source.size(); ++t)
    if (alignment_.best[t] == word && (best == parent.place.end || node->is_after)) best = t;
  if (next <= parent.words.begin && !is_last) best = parent.place.begin;
  node->is_after = node->is_after && best < parent.place.end;
  node->place.begin = node->place.end = node->is_after ? best + 1 : best;
}

void Placer::place(const Node& parent, Node* node) {
  node->words = words_in(alignment_.source, node->source);
  node->place = {parent.place.end, parent.place.end};
  if (node->words.begin == node->words.end) place_point(parent, node);
  else if (!place_words(parent, node)) ++n_unplaced;
  if (!node->is_element()) return;
  if (node->open == nullptr) node->place.begin = parent.place.begin;
  if (node->close == nullptr) node->place.end = parent.place.end;
}

// Parts two neighbours that share words, so that the fewest words are in the wrong one. A kept text and a point stay
// whole.
void Placer::part(Node* first, Node* second) const {
  if (!second->is_element() || second->place.begin == second->place.end) {
    if (second->open->kind == Mark::kKept) first->place.end = second->place.begin;
    second->place.begin = std::max(second->place.begin, first->place.end);
    second->place.end = std::max(second->place.end, second->place.begin);
    return;
  }
  if (!first->is_element() || first->place.begin == first->place.end) {
    second->place.begin = std::max(second->place.begin, first->place.end);
    second->place.end = std::max(second->place.end, second->place.begin);
    return;
  }
  const size_t begin = std::max(first->place.begin, second->place.begin);
  const size_t end = std::min(first->place.end, second->place.end);
  ptrdiff_t wrong = 0, fewest = 0;
  size_t cut = begin;
  for (size_t t = begin; t < end; ++t) {
    wrong += (is_of(t, second->words) ? 1 : 0) - (is_of(t, first->words) ? 1 : 0);
    if (wrong < fewest) fewest = wrong, cut = t + 1;
  }
  first->place.end = cut;
  second->place.begin = cut;
  second->place.end = std::max(second->place.end, cut);
}

void Placer::set_bytes(const Node& parent, Node* node) const {
  const std::vector<Word>& words = alignment_.target;
  Word& place = node->place;
  if (place.begin < place.end) {
    node->bytes = {words[place.begin].begin, words[place.end - 1].end};
  } else {
    const bool is_after = place.begin > parent.place.begin && (node->is_after || place.begin == parent.place.end);
    const size_t at = is_after                         ? words[place.begin - 1].end
                      : place.begin < parent.place.end ? words[place.begin].begin
                                                       : parent.bytes.begin;
    node->bytes = {at, at};
  }
  if (node->is_element() && node->open == nullptr) node->bytes.begin = parent.bytes.begin;
  if (node->is_element() && node->close == nullptr) node->bytes.end = parent.bytes.end;
}

void Placer::place_all() {
  nodes_[0].words = {0, alignment_.source.size()};
  nodes_[0].place = {0, alignment_.target.size()};
  nodes_[0].bytes = {0, target_.size()};
  std::vector<size_t> waiting = {0};
  while (!waiting.empty()) {
    const size_t n = waiting.back();
    waiting.pop_back();
    std::vector<size_t>& children = nodes_[n].children;
    for (const size_t child : children) place(nodes_[n], &nodes_[child]);
    const auto middle = [this](size_t i) { return nodes_[i].place.begin + nodes_[i].place.end; };
    std::stable_sort(children.begin(), children.end(), [&](size_t a, size_t b) { return middle(a) < middle(b); });
    Node* last = nullptr;
    for (const size_t child : children) {
      Node& node = nodes_[child];
      if (last != nullptr && node.place.begin < last->place.end) part(last, &node);
      set_bytes(nodes_[n], &node);
      if (last != nullptr) set_bytes(nodes_[n], last);
      last = &node;
      waiting.push_back(child);
    }
    for (size_t i = 1; i < children.size(); ++i) {
      Word& bytes = nodes_[children[i]].bytes;
      bytes.begin = std::max(bytes.begin, nodes_[children[i - 1]].bytes.end);
      bytes.end = std::max(bytes.begin, bytes.end);
    }
  }
}

// The bytes that a kept text replaces: with white space next to it if the source has none before the same mark.
Word Placer::around(const Node& kept) const {
  Word bytes = kept.bytes;
  const Word spaces = {skip_spaces_back(target_, bytes.begin), skip_spaces(target_, bytes.end)};
  const size_t end = kept.source.end;
  if (kept.source.begin > 0 && spaces.begin > 0 && source_[kept.source.begin - 1] == target_[spaces.begin - 1])
    bytes.begin = spaces.begin;
  if (end < source_.size() && spaces.end < target_.size() && source_[end] == target_[spaces.end])
    bytes.end = spaces.end;
  return bytes;
}

void Placer::write(std::string* out) const {
  struct Step {
    size_t node, next_child;
  };
  size_t at = 0;
  const auto copy = [&](size_t end) {
    if (end > at) append_printed(target_.substr(at, end - at), is_html_, out);
    at = std::max(at, end);
  };
  std::vector<Step> steps = {{0, 0}};
  while (!steps.empty()) {
    Step& step = steps.back();
    const Node& node = nodes_[step.node];
    if (step.next_child == 0 && node.open != nullptr) {
      const bool is_kept = node.open->kind == Mark::kKept;
      const Word bytes = is_kept ? around(node) : node.bytes;
      copy(bytes.begin);
      const auto is_letter = [&](size_t place) { return letter_at(target_, place) == Letter::kOfWord; };
      if (is_kept && at > 0 && is_letter(before(target_, at))) *out += ' ';
      *out += node.open->text;
      if (is_kept) at = std::max(at, bytes.end);
      if (is_kept && is_letter(at)) *out += ' ';
    }
    if (step.next_child < node.children.size()) {
      steps.push_back({node.children[step.next_child++], 0});
      continue;
    }
    copy(node.bytes.end);
    if (node.close != nullptr) *out += node.close->text;
    steps.pop_back();
  }
}
}  // namespace

// Copies the text up to `end` with its marks; with_end: also those at `end`, else only the elements that end there.
void MarkWriter::copy_until(size_t end, bool with_end, std::string* out) {
  if (!std::exchange(is_begun_, true)) *out += text_.before;
  const auto copy = [&](size_t to) {
    if (to > at_) append_printed(std::string_view(text_.text).substr(at_, to - at_), text_.is_html, out);
    at_ = std::max(at_, to);
  };
  for (; next_mark_ < text_.marks.size(); ++next_mark_) {
    const Mark& mark = text_.marks[next_mark_];
    if (mark.at > end || (mark.at == end && !with_end && mark.kind != Mark::kClose)) break;
    copy(mark.at);
    *out += mark.text;
    at_ += mark.bytes;
  }
  copy(end);
}

void MarkWriter::add(const Sentence& sentence, std::string* out) {
  copy_until(sentence.begin, false, out);
  const size_t end = sentence.begin + sentence.bytes;
  if (sentence.found.empty()) return copy_until(end, false, out);
  const size_t first = next_mark_;
  while (next_mark_ < text_.marks.size() &&
         (text_.marks[next_mark_].at < end ||
             (text_.marks[next_mark_].at == end && text_.marks[next_mark_].kind == Mark::kClose)))
    ++next_mark_;
  at_ = end;
  if (first == next_mark_) return append_printed(sentence.found[0].text, text_.is_html, out);
  Placer placer(text_, sentence);
  placer.add_marks(text_.marks.data() + first, text_.marks.data() + next_mark_);
  placer.place_all();
  placer.write(out);
  n_unplaced_ += placer.n_unplaced;
}
}  // namespace goldcrest::host
