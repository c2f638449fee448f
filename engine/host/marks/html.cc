// SPDX-License-Identifier: Apache-2.0
// Names of elements and entities are those of the HTML Living Standard, sections 4, 13.1.2 and 13.5.
#include "host/marks/html.h"
#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include "host/printable.h"
#include "host/wording.h"

namespace goldcrest::host {
namespace {
constexpr size_t kMostText = size_t{1} << 20;  // a longer text ends at its next white space

// Lists of names with spaces around each.
constexpr std::string_view kInline =
    " a abbr acronym b bdi bdo big bpt bx cite code data del dfn em ept ex font g i img input ins it kbd label mark "
    "math meter mrk nobr object output ph progress q rp rt ruby s samp script small span strike strong style sub sup "
    "svg template time tt u var wbr x ";
constexpr std::string_view kVoid = " area base br bx col embed ex hr img input link meta param source track wbr x ";
constexpr std::string_view kRaw = " code kbd math pre samp script style svg template textarea ";
constexpr std::string_view kUnseen = " script style template ";  // they are no word of a sentence
constexpr std::string_view kOptionalEnd =
    " body colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr ";

bool is_in(std::string_view list, const std::string& name) { return list.find(' ' + name + ' ') != list.npos; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Returns the name of a tag in small letters.
std::string name_of(std::string_view tag) {
  std::string name;
  for (size_t i = tag.substr(0, 2) == "</" ? 2 : 1; i < tag.size(); ++i) {
    if (is_space(tag[i]) || tag[i] == '/' || tag[i] == '>') break;
    name += lower(tag[i]);
  }
  return name;
}

// Entities of U+00A0 and the following, and others with their letters.
constexpr std::string_view kLatin =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute "
    "micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig "
    "Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash "
    "Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute "
    "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc "
    "uuml yacute thorn yuml ";
struct Entity {
  std::string_view name;
  uint32_t letter;
};
constexpr Entity kEntities[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"OElig", 0x152},
    {"oelig", 0x153}, {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"sbquo", 0x201A},
    {"ldquo", 0x201C}, {"rdquo", 0x201D}, {"bdquo", 0x201E}, {"bull", 0x2022}, {"hellip", 0x2026}, {"lsaquo", 0x2039},
    {"rsaquo", 0x203A}, {"euro", 0x20AC}, {"trade", 0x2122}};

// Returns the letter of an entity's name, such as "amp", "#38" or "#x26"; 0 if it has none.
uint32_t letter_of(std::string_view name) {
  if (name.substr(0, 1) == "#") {
    const bool is_hex = name.size() > 1 && lower(name[1]) == 'x';
    const char *const first = name.data() + (is_hex ? 2 : 1), *const last = name.data() + name.size();
    uint32_t letter = 0;
    const auto [stop, error] = std::from_chars(first, last, letter, is_hex ? 16 : 10);
    const bool is_letter = error == std::errc() && stop == last && letter < 0x110000 && (letter & ~0x7FFU) != 0xD800;
    return is_letter && letter > 32 ? letter : 0;  // white space stays an entity
  }
  for (const Entity& entity : kEntities)
    if (entity.name == name) return entity.letter;
  uint32_t letter = 0xA0;
  for (size_t at = 0, end = 0; (end = kLatin.find(' ', at)) != kLatin.npos; at = end + 1, ++letter)
    if (kLatin.substr(at, end - at) == name) return letter;
  return 0;
}

void append_letter(uint32_t letter, std::string* text) {
  const size_t n = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  *text += static_cast<char>(kFirst[n] | letter >> (6 * n));
  for (size_t i = n; i-- > 0;) *text += static_cast<char>(0x80 | (letter >> (6 * i) & 0x3F));
}

constexpr std::string_view kSoftHyphen = "\xc2\xad", kKept = "\xef\xbf\xbc";  // U+FFFC stands for an object
}  // namespace

void HtmlReader::problem(const std::string& what) {
  if (n_problems_++ == 0) first_problem_ = "line " + std::to_string(line_) + ": " + what;
}

void HtmlReader::push(std::string_view bytes) {
  for (const char c : bytes) {
    push(c);
    line_ += c == '\n' ? 1 : 0;
  }
}

void HtmlReader::push(char c) {
  switch (state_) {
    case State::kText: {
      const bool is_end = c == '\n' && n_blocks_ == 0;
      const bool is_long = run_.size() + part_.text.size() >= kMostText && is_space(c);
      if (c == '<') {
        pending_ = c;
        state_ = State::kTagOpen;
        return;
      }
      run_ += c;
      if (is_end || is_long) end_part();
      return;
    }
    case State::kTagOpen:
      if (is_letter(c) || c == '/' || c == '!' || c == '?') {
        pending_ += c;
        quote_ = last_ = '\0';
        state_ = c == '!' || c == '?' ? State::kDeclaration : State::kTag;
        return;
      }
      problem("< without a tag");
      run_ += std::exchange(pending_, "");
      state_ = State::kText;
      return push(c);
    case State::kTag: return push_tag(c);
    case State::kDeclaration: {
      pending_ += c;
      const std::string_view text = pending_;
      const std::string_view end = text.substr(0, 4) == "<!--" ? "-->" : text.substr(0, 9) == "<![CDATA[" ? "]]>" : ">";
      if (text.size() < end.size() + 2 || text.substr(text.size() - end.size()) != end) return;
      if (text.substr(0, 4) == "<!--" && text.size() < 7) return;
      add_text(std::exchange(run_, ""));
      state_ = State::kText;
      return add_tag(text.substr(0, 3) != "<!-" && text.substr(0, 3) != "<![", Mark::kPoint);
    }
    case State::kRaw: return push_raw(c);
  }
}

void HtmlReader::push_tag(char c) {
  if (c == '<' && quote_ == '\0') {  // what came so far is no tag
    problem("< without a tag");
    run_ += std::exchange(pending_, "<");
    state_ = State::kTagOpen;
    return;
  }
  pending_ += c;
  if (quote_ != '\0') {
    if (c == quote_) quote_ = '\0';
  } else if ((c == '"' || c == '\'') && last_ == '=') {
    quote_ = c;
  } else if (c == '>') {
    state_ = State::kText;
    return end_tag();
  }
  if (!is_space(c)) last_ = c;
}

// Ends the element that is kept at its own end tag.
void HtmlReader::push_raw(char c) {
  if (c == '<') raw_tag_ = pending_.size();
  pending_ += c;
  if (c != '>' || raw_tag_ == 0) return;
  const std::string_view tag = std::string_view(pending_).substr(raw_tag_);
  raw_tag_ = 0;
  if (name_of(tag) != raw_name_) return;
  const bool nests = !is_in(kUnseen, raw_name_);
  if (tag.substr(0, 2) == "</") --raw_depth_;
  else if (nests && tag.substr(tag.size() - 2) != "/>") ++raw_depth_;
  if (raw_depth_ > 0) return;
  state_ = State::kText;
  const bool is_unseen = is_in(kUnseen, raw_name_), is_block = !is_in(kInline, raw_name_);
  add_tag(is_block, is_unseen ? Mark::kPoint : Mark::kKept);
}

bool HtmlReader::begins_raw(const std::string& name) const {
  if (is_in(kRaw, name)) return true;
  std::string tag = pending_;
  std::transform(tag.begin(), tag.end(), tag.begin(), lower);
  for (const char* const no : {" translate=\"no\"", " translate=no", " translate='no'"})
    if (tag.find(no) != tag.npos) return true;
  return false;
}

void HtmlReader::end_tag() {
  add_text(std::exchange(run_, ""));
  const std::string name = name_of(pending_);
  const bool is_block = !is_in(kInline, name);
  if (pending_[1] == '/') return end_element(name, is_block);
  const bool is_empty = is_in(kVoid, name) || pending_[pending_.size() - 2] == '/';
  if (!is_empty && begins_raw(name)) {
    state_ = State::kRaw;
    raw_name_ = name;
    raw_depth_ = 1;
    raw_tag_ = 0;
    return;
  }
  begin_element(name, is_block, is_empty);
}

void HtmlReader::begin_element(const std::string& name, bool is_block, bool is_empty) {
  if (is_block && !is_empty && !open_.empty() && (open_.back().name == "p" || open_.back().name == name) &&
      is_in(kOptionalEnd, open_.back().name))
    pop(true);
  add_tag(is_block, is_empty ? Mark::kPoint : Mark::kOpen);
  if (is_empty) return;
  open_.push_back({name, is_block, n_parts_, part_.marks.size() - (is_block ? 0 : 1)});
  ++n_open_[name];
  n_blocks_ += is_block ? 1 : 0;
}

void HtmlReader::end_element(const std::string& name, bool is_block) {
  const auto found = n_open_.find(name);
  if (found == n_open_.end()) {
    problem("</" + printable(name) + "> ends no element");
    return add_tag(is_block, Mark::kPoint);
  }
  while (open_.back().name != name) pop(false);
  pop(true);
  add_tag(is_block, Mark::kClose);
}

// Takes the innermost open element away.
void HtmlReader::pop(bool is_closed) {
  const Open element = std::move(open_.back());
  open_.pop_back();
  const auto found = n_open_.find(element.name);
  if (--found->second == 0) n_open_.erase(found);
  n_blocks_ -= element.is_block ? 1 : 0;
  if (is_closed || is_in(kOptionalEnd, element.name)) return;
  problem("<" + printable(element.name) + "> is not closed");
  if (!element.is_block && element.part == n_parts_) part_.marks[element.mark].kind = Mark::kPoint;
}

// Adds the tag that is pending: a mark, or the end of the text.
void HtmlReader::add_tag(bool is_block, Mark::Kind kind) {
  if (!is_block) return add_mark(kind, std::exchange(pending_, ""));
  end_part();
  part_.before += std::exchange(space_, "") + std::exchange(pending_, "");
}

void HtmlReader::add_space() {
  if (part_.text.empty() && part_.marks.empty()) part_.before += space_;
  else part_.text += !has_letters_ || space_.find('\n') == space_.npos ? space_ : " ";
  space_.clear();
}

void HtmlReader::add_mark(Mark::Kind kind, std::string text) {
  if (!space_.empty()) add_space();
  part_.marks.push_back({kind, part_.text.size(), std::move(text), kind == Mark::kKept ? kKept.size() : 0});
  if (kind != Mark::kKept) return;
  part_.text += kKept;
  has_letters_ = true;
}

// Adds text that has no tags. White space waits until it is known what follows it.
void HtmlReader::add_text(std::string_view run) {
  for (size_t i = 0, n = 1; i < run.size(); i += n) {
    n = 1;
    if (is_space(run[i])) {
      space_ += run[i];
      continue;
    }
    if (run.substr(i, kSoftHyphen.size()) == kSoftHyphen) {
      n = kSoftHyphen.size();
      continue;
    }
    if (!space_.empty()) add_space();
    has_letters_ = true;
    if (run[i] == '&') n = add_entity(run.substr(i));
    else part_.text += run[i];
  }
}

// Adds the entity, or the & without one, at the beginning of `run`. Returns its bytes.
size_t HtmlReader::add_entity(std::string_view run) {
  constexpr size_t kLongest = 33;  // the standard's longest name, with & and ;
  size_t n = 1;
  while (n < std::min(run.size(), kLongest) && (is_letter(run[n]) || (run[n] >= '0' && run[n] <= '9') || run[n] == '#'))
    ++n;
  const bool is_entity = n > 1 && n < run.size() && run[n] == ';';
  const uint32_t letter = is_entity ? letter_of(run.substr(1, n - 1)) : uint32_t{'&'};
  if (letter == 0) add_mark(Mark::kPoint, std::string(run.substr(0, n + 1)));
  else if (letter != 0xAD) append_letter(letter, &part_.text);
  return is_entity ? n + 1 : 1;
}

// Ends the text. White space at its end comes before the next one.
void HtmlReader::end_part() {
  add_text(std::exchange(run_, ""));
  if (part_.text.empty() && part_.marks.empty()) {
    part_.before += std::exchange(space_, "");
    if (part_.before.size() < kMostText) return;
  }
  part_.line = line_;
  has_letters_ = false;
  parts_.push_back(std::exchange(part_, MarkedText{std::exchange(space_, ""), {}, {}, true}));
  ++n_parts_;
}

void HtmlReader::finish() {
  if (state_ != State::kText) {
    problem(state_ == State::kRaw ? "<" + printable(raw_name_) + "> is not closed" : "the tag has no end");
    add_text(std::exchange(run_, ""));
    add_tag(false, Mark::kPoint);
    state_ = State::kText;
  }
  end_part();
  while (!open_.empty()) pop(false);
  part_.line = line_;
  if (!part_.before.empty()) parts_.push_back(std::exchange(part_, {{}, {}, {}, true}));
}

bool HtmlReader::next(MarkedText* text) {
  if (parts_.empty()) return false;
  *text = std::move(parts_.front());
  parts_.pop_front();
  return true;
}
}  // namespace goldcrest::host
