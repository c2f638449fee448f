// SPDX-License-Identifier: Apache-2.0
// Copies a text into items: tokens, and the text between them. The longest token at a place is taken.
#include "base/exact_floats.h"
#include "base/arithmetic.h"
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

// Where a character stands, and in which runs it must be.
enum Neighbour : uint32_t { kSpaceAfter, kSpaceBefore, kLetterAfter, kLetterBefore };

struct Items {
  int split(const uint8_t* text, const uint8_t* end);
  int write(const uint8_t* from, const uint8_t* to);
  int put(uint8_t mark, const uint8_t* text, uint32_t n);
  uint32_t next_to(Neighbour wanted, const uint8_t* text, const uint8_t* end) const;
  bool has_flag(uint32_t flag) const { return (added[kAddedFlags] & flag) != 0; }

  const TokenizeArgs& args;
  TokenWriter* const writer;
  const uint32_t* const added;
  uint8_t *begin, *limit;  // around the items' bytes
  uint8_t *item, *end;     // the current item's mark; what follows all items
  AddedPlace place;
  bool writes;        // items as soon as they are complete; else they stay
  uint8_t next_mark;  // before further text; kNoMark: it belongs to the current item
};

// Returns the bytes of the character at the text's start, or at its end, if it is what is wanted; else 0.
uint32_t Items::next_to(Neighbour wanted, const uint8_t* text, const uint8_t* text_end) const {
  const uint8_t* at = text;
  if (wanted % 2 != 0) {
    at = text_end;
    while (at > text && text_end - at < 4 && (*--at & 0xC0) == 0x80) {
    }
  }
  const auto n = static_cast<uint32_t>(text_end - at);
  if (n == 0) return 0;
  const uint32_t n_char = first_char_bytes({at, n});
  if (wanted % 2 != 0 && n != n_char) return 0;
  uint32_t key = 0;
  for (uint32_t i = 0; i < 4; ++i) key = key << 8 | (i < n_char ? at[i] : 0u);
  const uint32_t* const runs = added + kAddedHeader + (wanted / 2 != 0 ? added[kAddedSpaces] : 0);
  uint32_t low = 0, high = added[kAddedSpaces + wanted / 2];
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (runs[middle] <= key) low = middle + 1;
    else high = middle;
  }
  return low % 2 != 0 ? n_char : 0;
}

// Writes the ids of an item, if it has bytes.
int Items::write(const uint8_t* from, const uint8_t* to) {
  if (to - from <= 1) return GOLDCREST_OK;
  const TextSpan text = {from + 1, static_cast<uint32_t>(to - from) - 1};
  uint32_t value = 0;
  if ((*from == kToken || has_flag(kAddedByItems)) && longest_added_token(*args.view, place, text, &value) == text.n) {
    writer->set_text(text);
    return writer->put_entry(value & kAddedIdMask);
  }
  return tokenize_between(args, text, writer);
}

// Begins an item, unless the mark is kNoMark, and appends the text to it.
int Items::put(uint8_t mark, const uint8_t* text, uint32_t n) {
  next_mark = kNoMark;
  if (mark != kNoMark) {
    if (writes) {
      GOLDCREST_TRY(write(begin, end));
      end = begin;
    }
    item = end;
    if (end == limit) return GOLDCREST_ERROR_TOO_LONG;
    *end++ = mark;
  }
  for (; n > 0; --n, ++text) {
    if (end == limit) return GOLDCREST_ERROR_TOO_LONG;
    *end++ = *text < kToken ? *text : kNoMark;
  }
  return GOLDCREST_OK;
}

// By items, a token that must be a word of its own joins the item before it, or the one after it, unless there is a
// space between them.
int Items::split(const uint8_t* text, const uint8_t* text_end) {
  bool joins = false;  // a token joins the current item
  end = item = begin;
  next_mark = kText;
  for (const uint8_t* at = text; at < text_end;) {
    uint32_t value = 0;
    uint32_t n = longest_added_token(*args.view, place, {at, static_cast<uint32_t>(text_end - at)}, &value);
    bool is_token = n > 0 && !joins;
    const bool ends_item = n > 0 && joins;
    joins = false;
    if (n == 0) n = 1;
    const uint8_t* const token = at;
    at += n;
    bool is_single = (value & kSingleWord) != 0;
    if (is_single && !has_flag(kAddedByItems)) {
      is_token = next_to(kLetterBefore, text, token) + next_to(kLetterAfter, at, text_end) == 0;
      is_single = false;
    }
    if (!is_token) {
      GOLDCREST_TRY(put(next_mark, token, n));
      if (ends_item) next_mark = kText;
      continue;
    }
    const bool is_open = end > item + 1 && end[-1] != ' ';
    if ((value & kStripLeft) != 0 && next_mark == kNoMark)
      while (const uint32_t k = next_to(kSpaceBefore, item + 1, end)) end -= k;
    const bool joins_last = is_single && is_open;
    joins = is_single && !is_open && at < text_end && *at != ' ';
    GOLDCREST_TRY(put(joins_last ? kNoMark : joins ? kText : kToken, token, n));
    if (!joins) next_mark = kText;
    bool is_empty = joins_last;  // the text after the token: only spaces, or the joined one's. It stays an item.
    if ((value & kStripRight) != 0) {
      while (const uint32_t k = next_to(kSpaceAfter, at, text_end)) {
        at += k;
        is_empty = true;
      }
    }
    if (is_empty && next_mark != kNoMark) GOLDCREST_TRY(put(kText, nullptr, 0));
  }
  return writes ? write(begin, end) : static_cast<int>(GOLDCREST_OK);
}
}  // namespace

int tokenize_added_words(const TokenizeArgs& args, TextSpan text, uint32_t capacity, TokenWriter* writer) {
  TokenizerView view = *args.view;
  TokenizeArgs part_args = args;
  part_args.view = &view;
  uint8_t* const end = static_cast<uint8_t*>(args.scratch) + args.scratch_bytes;
  uint8_t *const items_begin = end - capacity, *const normalized = items_begin - capacity;
  Items items = {part_args, writer, view.added, items_begin, end, {}, {}, AddedPlace::kInText, true, {}};
  items.writes = !items.has_flag(kAddedNormalized);
  part_args.scratch_bytes -= (items.writes ? 1 : 3) * size_t{capacity};
  int status = items.split(text.bytes, text.bytes + text.n);
  if (items.writes) return status;
  view.normalizer_trie_units = 0;
  items.writes = true;
  items.limit = normalized;
  items.begin = normalized - capacity;
  const uint8_t* const items_end = items.end;
  for (const uint8_t* at = items_begin; status >= 0 && at < items_end;) {
    const uint8_t* const item = at++;
    while (at < items_end && *at < kToken) ++at;
    if (*item == kToken) {
      items.place = AddedPlace::kInText;
      status = items.write(item, at);
    } else {
      items.place = AddedPlace::kInNormalized;
      status = rewrite(*args.view, {item + 1, static_cast<uint32_t>(at - item) - 1}, normalized, capacity);
      if (status >= 0) status = items.split(normalized, normalized + status);
    }
  }
  return status;
}
}  // namespace goldcrest
