// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "text/languages.h"
#include <string.h>
#include "goldcrest/goldcrest.h"
#include "text/double_array.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {
// Takes two steps with the same byte.
bool step_twice(const DoubleArray& trie, uint8_t byte, uint32_t* node) {
  for (int i = 0; i < 2; ++i)
    if (!step_trie(trie, byte, node)) return false;
  return true;
}
}  // namespace

uint32_t language_code_bytes(TextSpan text) {
  if (text.n < 4 || text.bytes[0] != '>' || text.bytes[1] != '>') return 0;
  for (uint32_t i = 2; i + 1 < text.n; ++i)
    if (text.bytes[i] == '<' && text.bytes[i + 1] == '<') return i + 2;
  return 0;
}

uint32_t find_language(const TokenizerView& view, TextSpan code) {
  uint8_t marked[kMaxLanguageBytes + 4] = {'>', '>'};
  if (code.n == 0 || code.n > kMaxLanguageBytes) return kNoEntry;
  memcpy(marked + 2, code.bytes, code.n);
  marked[code.n + 2] = marked[code.n + 3] = '<';
  const TextSpan text = {marked, code.n + 4};
  if (language_code_bytes(text) != text.n) return kNoEntry;
  const uint32_t entry = find_piece(view, text);
  return entry < view.vocab_size ? entry : kNoEntry;
}

// Walks the trie depth first: code[0, n) leads to node[n], and `byte` is the next child to try. It is never 0, because
// that byte ends names elsewhere.
int visit_languages(const TokenizerView& view, LanguageFunction visit, void* context) {
  const DoubleArray trie = piece_trie(view);
  uint8_t code[kMaxLanguageBytes];
  uint32_t node[kMaxLanguageBytes + 1] = {0};
  if (!view.language_codes || !step_twice(trie, '>', &node[0])) return 0;
  uint32_t n = 0, byte = 1, steps = 0;
  int found = 0;
  for (;;) {
    if (byte > 255) {
      if (n == 0) return found;
      byte = code[--n] + 1u;
      continue;
    }
    const bool ends = n > 0 && byte == '<' && code[n - 1] == '<';
    if (n < kMaxLanguageBytes) node[n + 1] = node[n];
    if (n == kMaxLanguageBytes || ends || !step_trie(trie, static_cast<uint8_t>(byte), &node[n + 1])) {
      ++byte;
      continue;
    }
    if (++steps > trie.n_units) return GOLDCREST_ERROR_MODEL_CORRUPT;  // a tree has no more children
    code[n++] = static_cast<uint8_t>(byte);
    const uint32_t entry = find_language(view, {code, n});
    if (entry != kNoEntry) {
      visit(context, reinterpret_cast<const char*>(code), n, static_cast<int32_t>(entry));
      ++found;
    }
    byte = 1;
  }
}
}  // namespace goldcrest
