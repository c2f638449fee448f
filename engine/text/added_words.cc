// SPDX-License-Identifier: Apache-2.0
// Copies a text into items: tokens, and the text between them. The longest token at a place is taken.
#include "base/exact_floats.h"

#include "base/bounds.h"
#include "base/status.h"
#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {

// Flags of a value of the trie.
constexpr uint32_t kStripLeft = 1u << 24, kStripRight = 1u << 25, kSingleWord = 1u << 26;

// An item begins with one of these, which are in no UTF-8. Text gets another such byte in their place.
constexpr uint8_t kText = 0xFF, kToken = 0xFE, kNoMark = 0xFD;

// Returns the bytes of the character at the text's start if it is in the runs of `word`; else 0.
uint32_t starts_with(const TokenizerView& view, AddedWord word, TextSpan text) {
  if (text.n == 0) return 0;
  const uint32_t n = first_char_bytes(text);
  uint32_t key = 0;
  for (uint32_t i = 0; i < 4; ++i) key = key << 8 | (i < n ? text.bytes[i] : 0u);
  const uint32_t* const runs = view.added + kAddedHeader + (word == kAddedLetters ? view.added[kAddedSpaces] : 0);
  uint32_t low = 0, high = view.added[word];
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (runs[middle] <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low % 2 != 0 ? n : 0;
}

// The same of the character at its end.
uint32_t ends_with(const TokenizerView& view, AddedWord word, TextSpan text) {
  uint32_t n = text.n > 0 ? 1 : 0;
  while (n < 4 && n < text.n && (text.bytes[text.n - n] & 0xC0) == 0x80) ++n;
  return starts_with(view, word, text.from(text.n - n)) == n ? n : 0;
}

class Items {
 public:
  // bytes: [capacity]. Items are written as soon as they are complete if `writes`, else they stay.
  Items(const TokenizeArgs& args, AddedPlace place, bool writes, TokenWriter* writer)
      : args_(args), view_(*args.view), place_(place), writes_(writes), writer_(writer) {}

  void use(uint8_t* bytes, uint32_t capacity) {
    bytes_ = bytes;
    capacity_ = capacity;
  }
  TextSpan all() const { return {bytes_, n_}; }
  int split(TextSpan text);
  int write(TextSpan item);
  int flush();

 private:
  int begin(uint8_t mark);
  int append(TextSpan text);
  int put_token(TextSpan token, uint32_t value, bool space_behind);

  const TokenizeArgs& args_;
  const TokenizerView& view_;
  const AddedPlace place_;
  const bool writes_;
  TokenWriter* const writer_;
  uint8_t* bytes_ = nullptr;
  uint32_t capacity_ = 0, n_ = 0;
  uint32_t item_ = 0;          // the current item's mark
  uint8_t next_mark_ = kText;  // before further text; kNoMark: it belongs to the current item
  bool joins_ = false;         // a token joins the current item
};

// Writes the ids of an item.
int Items::write(TextSpan item) {
  const TextSpan text = item.from(1);
  uint32_t value = 0;
  if ((item.bytes[0] == kToken || has_flag(view_, kAddedByItems)) && text.n > 0 &&
      longest_added_token(view_, place_, text, &value) == text.n) {
    writer_->set_text(text);
    return writer_->put_entry(value & kAddedIdMask);
  }
  return tokenize_between(args_, text, writer_);
}

int Items::flush() {
  const uint32_t n = n_;
  n_ = 0;
  return n > 0 ? write({bytes_, n}) : static_cast<int>(GOLDCREST_OK);
}

int Items::append(TextSpan text) {
  if (text.n > capacity_ - n_) return GOLDCREST_ERROR_TOO_LONG;
  for (uint32_t i = 0; i < text.n; ++i) bytes_[n_++] = text.bytes[i] < kToken ? text.bytes[i] : kNoMark;
  return GOLDCREST_OK;
}

int Items::begin(uint8_t mark) {
  if (writes_) GOLDCREST_TRY(flush());
  if (n_ == capacity_) return GOLDCREST_ERROR_TOO_LONG;
  item_ = n_;
  bytes_[n_++] = mark;
  next_mark_ = kNoMark;
  return GOLDCREST_OK;
}

// By items, a token that must be a word of its own joins the item before it, or the one after it, unless there is a
// space between them.
int Items::put_token(TextSpan token, uint32_t value, bool space_behind) {
  const bool is_single = has_flag(view_, kAddedByItems) && (value & kSingleWord) != 0;
  const bool is_open = n_ > item_ + 1 && bytes_[n_ - 1] != ' ';
  if ((value & kStripLeft) != 0 && next_mark_ == kNoMark) {
    while (const uint32_t n = ends_with(view_, kAddedSpaces, {bytes_ + item_ + 1, n_ - item_ - 1})) n_ -= n;
  }
  if (is_single && is_open) {
    GOLDCREST_TRY(append(token));
    return begin(kText);
  }
  joins_ = is_single && !space_behind;
  GOLDCREST_TRY(begin(joins_ ? kText : kToken));
  if (!joins_) next_mark_ = kText;
  return append(token);
}

int Items::split(TextSpan text) {
  for (uint32_t i = 0; i < text.n;) {
    uint32_t value = 0;
    TextSpan token = {text.bytes + i, longest_added_token(view_, place_, text.from(i), &value)};
    const TextSpan rest = text.from(i + token.n);
    bool is_token = token.n > 0 && !joins_;
    if ((value & kSingleWord) != 0 && !has_flag(view_, kAddedByItems))
      is_token = ends_with(view_, kAddedLetters, {text.bytes, i}) + starts_with(view_, kAddedLetters, rest) == 0;
    const bool ends_item = joins_ && token.n > 0;
    joins_ = false;
    if (is_token) {
      GOLDCREST_TRY(put_token(token, value, rest.n == 0 || rest.bytes[0] == ' '));
      i += token.n;
      const uint32_t before = i;
      while (const uint32_t n = (value & kStripRight) != 0 ? starts_with(view_, kAddedSpaces, text.from(i)) : 0) i += n;
      // The text after the token has become empty, if it was only spaces. It stays an item.
      if (i > before && next_mark_ != kNoMark) GOLDCREST_TRY(begin(next_mark_));
    } else {
      if (token.n == 0) token.n = 1;
      if (next_mark_ != kNoMark) GOLDCREST_TRY(begin(next_mark_));
      GOLDCREST_TRY(append(token));
      i += token.n;
      if (ends_item) next_mark_ = kText;
    }
  }
  return writes_ ? flush() : static_cast<int>(GOLDCREST_OK);
}

}  // namespace

int tokenize_added_words(const TokenizeArgs& args, TextSpan text, uint32_t capacity, TokenWriter* writer) {
  TokenizerView view = *args.view;
  TokenizeArgs part_args = args;
  part_args.view = &view;
  uint8_t* const end = static_cast<uint8_t*>(args.scratch) + args.scratch_bytes;
  const bool has_normalized = has_flag(view, kAddedNormalized);
  part_args.scratch_bytes -= (has_normalized ? 3 : 1) * size_t{capacity};
  Items items(part_args, AddedPlace::kInText, !has_normalized, writer);
  items.use(end - capacity, capacity);
  GOLDCREST_TRY(items.split(text));
  view.normalizer_trie_units = 0;
  for (TextSpan rest = items.all(); rest.n > 0;) {
    TextSpan item = {rest.bytes, 1};
    while (item.n < rest.n && rest.bytes[item.n] < kToken) ++item.n;
    rest = rest.from(item.n);
    if (item.bytes[0] == kToken) {
      GOLDCREST_TRY(items.write(item));
      continue;
    }
    const int n = rewrite(*args.view, item.from(1), end - 2 * capacity, capacity);
    GOLDCREST_TRY(n);
    Items parts(part_args, AddedPlace::kInNormalized, true, writer);
    parts.use(end - 3 * capacity, capacity);
    GOLDCREST_TRY(parts.split({end - 2 * capacity, static_cast<uint32_t>(n)}));
  }
  return GOLDCREST_OK;
}

}  // namespace goldcrest
