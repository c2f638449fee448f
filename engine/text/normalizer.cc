// SPDX-License-Identifier: Apache-2.0
// Makes one pass over the text. It looks at each replacement as a whole, because the rules for spaces apply after
// rewriting.
#include "base/exact_floats.h"
#include "text/normalizer.h"
#include <string.h>
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "goldcrest/goldcrest.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {
constexpr uint8_t kPlainSpace[1] = {' '};

struct Replacement {
  TextSpan by;        // may be empty
  uint32_t consumed;  // bytes of the text, at least 1
};
constexpr Replacement kInvalidByte = {{kReplacementSymbol, sizeof(kReplacementSymbol)}, 1};

class Output {
 public:
  Output(const TokenizerView& view, uint8_t* bytes, uint32_t capacity)
      : bytes_(bytes), capacity_(capacity), escape_whitespace_(view.escape_whitespace) {}

  bool full() const { return full_; }
  uint32_t n() const { return n_; }

  void put(TextSpan text) {
    for (uint32_t i = 0; i < text.n && !full_; ++i)
      if (text.bytes[i] == ' ') put_space();
      else append(&text.bytes[i], 1);
  }

  void put_space() {
    const TextSpan space = space_mark();
    append(space.bytes, space.n);
  }

  // Removes every space symbol at the end, also those that the text itself contained.
  void strip_spaces() {
    const TextSpan space = space_mark();
    while (n_ >= space.n && memcmp(bytes_ + n_ - space.n, space.bytes, space.n) == 0) n_ -= space.n;
  }
 private:
  TextSpan space_mark() const {
    if (escape_whitespace_) return {kSpaceSymbol, sizeof(kSpaceSymbol)};
    return {kPlainSpace, sizeof(kPlainSpace)};
  }

  void append(const uint8_t* bytes, uint32_t n) {
    full_ = full_ || n > capacity_ - n_;
    if (full_) return;
    memcpy(bytes_ + n_, bytes, n);
    n_ += n;
  }

  uint8_t* bytes_;
  uint32_t capacity_;
  uint32_t n_ = 0;
  bool escape_whitespace_;
  bool full_ = false;
};

// *replacement <- the longest rule of the map that the text starts with. Returns false if there is none. The search
// ends at kMaxRuleBytes, which bounds its work even with a cycle in the trie or a long text.
bool find_rule(const TokenizerView& view, TextSpan text, Replacement* replacement) {
  const DoubleArray trie = {view.normalizer_trie, view.normalizer_trie_units};
  uint32_t node = 0, value = 0, longest = 0, begin = 0;
  const uint32_t most = smaller(text.n, kMaxRuleBytes);
  for (uint32_t i = 0; i < most && step_trie(trie, text.bytes[i], &node); ++i) {
    if (view_trie_value(trie, node, &value)) {
      longest = i + 1;
      begin = value;
    }
  }
  if (longest == 0 || begin >= view.normalizer_text_bytes) return false;
  const uint8_t* by = reinterpret_cast<const uint8_t*>(view.normalizer_text) + begin;
  const uint32_t most_by = smaller(view.normalizer_text_bytes - begin, kMaxRuleBytes);
  uint32_t n = 0;
  while (n < most_by && by[n] != 0) ++n;
  *replacement = {{by, n}, longest};
  return true;
}

// Returns the replacement of the start of a text, which must not be empty.
Replacement replace_prefix(const TokenizerView& view, TextSpan text) {
  const uint32_t kept = user_defined_bytes(view, text);
  if (kept > 0) return {{text.bytes, kept}, kept};
  Replacement replacement = {};
  if (find_rule(view, text, &replacement)) return replacement;
  const uint32_t n = valid_char_bytes(text);
  if (n > 0) return {{text.bytes, n}, n};
  return kInvalidByte;
}

bool is_space(TextSpan text) { return text.n == 1 && text.bytes[0] == ' '; }

TextSpan skip_leading_spaces(const TokenizerView& view, TextSpan text) {
  while (text.n > 0) {
    const Replacement replacement = replace_prefix(view, text);
    if (!is_space(replacement.by)) break;
    text = text.from(replacement.consumed);
  }
  return text;
}
}  // namespace

int normalize(const TokenizerView& view, TextSpan text, uint8_t* out, uint32_t capacity) {
  if (view.remove_extra_whitespace) text = skip_leading_spaces(view, text);
  if (text.n == 0) return 0;  // an empty text gets no dummy prefix
  Output output(view, out, capacity);
  if (view.add_dummy_prefix && !view.whitespace_as_suffix) output.put_space();

  bool after_space = view.remove_extra_whitespace;
  while (text.n > 0 && !output.full()) {
    Replacement replacement = replace_prefix(view, text);
    TextSpan by = replacement.by;
    while (after_space && by.n > 0 && by.bytes[0] == ' ') by = by.from(1);
    if (by.n > 0) {
      output.put(by);
      after_space = view.remove_extra_whitespace && by.bytes[by.n - 1] == ' ';
    }
    text = text.from(replacement.consumed);
  }

  if (view.remove_extra_whitespace) output.strip_spaces();
  if (view.add_dummy_prefix && view.whitespace_as_suffix) output.put_space();
  return output.full() ? static_cast<int>(GOLDCREST_ERROR_TOO_LONG) : static_cast<int>(output.n());
}

int rewrite(const TokenizerView& view, TextSpan text, uint8_t* out, uint32_t capacity) {
  const bool joins_spaces = kHasText && (view.added[kAddedFlags] & kAddedKeepSpace) != 0;
  uint32_t n = 0;
  while (text.n > 0) {
    const Replacement replacement = replace_prefix(view, text);
    for (uint32_t i = 0; i < replacement.by.n; ++i) {
      const uint8_t byte = replacement.by.bytes[i];
      if (joins_spaces && byte == ' ' && n > 0 && out[n - 1] == ' ') continue;
      if (n == capacity) return GOLDCREST_ERROR_TOO_LONG;
      out[n++] = byte;
    }
    text = text.from(replacement.consumed);
  }
  return static_cast<int>(n);
}
}  // namespace goldcrest
