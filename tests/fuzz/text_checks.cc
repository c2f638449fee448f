// SPDX-License-Identifier: Apache-2.0
#include "fuzz/text_checks.h"
#include "fuzz/script.h"
#include "goldcrest/goldcrest.h"
#include "support/guarded_buffer.h"
#include "text/bpe.h"
#include "text/detokenizer.h"
#include "text/double_array.h"
#include "text/tokenizer.h"
#include "text/utf8.h"
#include "unit/text/counted.h"

namespace goldcrest::test {
namespace {
constexpr size_t kShortText = 4;  // bytes of a text that is cheap to cut twice

struct Ids {
  const int32_t* ids;  // [n]
  size_t n;
};

int64_t detokenize_into(const DetokenizerView& view, goldcrest_text_state& state, Ids ids, GuardedBuffer<char>& out) {
  const goldcrest_text_state before = state;
  const int64_t bytes = detokenize(view, &state, ids.ids, ids.n, out.get(), out.size());
  require(out.intact(), "detokenize: within its room");
  require(bytes >= 0 || bytes == GOLDCREST_ERROR_TRUNCATED, "detokenize: errors");
  require(bytes <= static_cast<int64_t>(out.size()), "detokenize: the bytes that it says");
  require(bytes >= 0 || std::memcmp(&before, &state, sizeof state) == 0, "detokenize: an error changes nothing");
  return bytes;
}

// Detokenizes in one call. The text must fit into a buffer of its size, and not into one byte less.
std::string text_of(const DetokenizerView& view, goldcrest_text_state& state, Ids ids) {
  const goldcrest_text_state before = state;
  std::string text;
  for (size_t room = 16 * ids.n + 16;; room *= 8) {
    require(room < size_t{1} << 24, "detokenize: needs bounded room");
    GuardedBuffer<char> out(room);
    const int64_t bytes = detokenize_into(view, state, ids, out);
    if (bytes >= 0) {
      text.assign(out.get(), static_cast<size_t>(bytes));
      break;
    }
  }
  const size_t n = text.size();
  if (n == 0) return text;
  goldcrest_text_state again = before;
  GuardedBuffer<char> enough(n), less(n - 1);
  require(detokenize_into(view, again, ids, less) == GOLDCREST_ERROR_TRUNCATED, "detokenize: a byte less");
  require(detokenize_into(view, again, ids, enough) == static_cast<int64_t>(n) &&
              std::memcmp(enough.get(), text.data(), n) == 0 && std::memcmp(&again, &state, sizeof state) == 0,
      "detokenize: the same in exact room");
  return text;
}

// Calls without a valid text: too many bytes, which must not be read; null pointers without memory; an unknown kind.
void misuse(const TokenizerView& view) {
  require(tokenize({&view, "", SIZE_MAX, nullptr, 0, nullptr, 0}) == GOLDCREST_ERROR_TOO_LONG, "tokenize: too long");
  const int n = tokenize({&view, "", 0, nullptr, 0, nullptr, SIZE_MAX});
  const bool needs_scratch = view.kind == TokenizerKind::kUnigram || view.added != nullptr;
  require(n == (needs_scratch ? GOLDCREST_ERROR_TOO_LONG : 0), "tokenize: nothing");
  TokenizerView other = view;
  other.added = nullptr;
  other.kind = static_cast<TokenizerKind>(99);
  require(
      tokenize({&other, "", 0, nullptr, 0, nullptr, 0}) == GOLDCREST_ERROR_UNSUPPORTED, "tokenize: an unknown kind");
  require(valid_char_bytes({nullptr, 0}) == 0, "utf8: no character in nothing");
  uint32_t value = 0;
  require(!view_trie_value({nullptr, 0}, 0, &value), "trie: no string in nothing");
}

// More scratch than merges need gives the same ids.
void check_more_scratch(const TokenizerView& view, std::string_view text, const std::vector<int32_t>& ids) {
  constexpr size_t kBytes = size_t{kBpeScratchPerByte} * (kBpeMaxNormalizedBytes + 4);
  static GuardedBuffer<uint32_t> scratch(kBytes / 4);
  std::vector<int32_t> again(ids.size() + 1);
  const int n = tokenize({&view, text.data(), text.size(), scratch.get(), kBytes, again.data(), again.size()});
  require(scratch.intact() && n == static_cast<int>(ids.size()) && std::equal(ids.begin(), ids.end(), again.begin()),
      "tokenize: the same in more memory");
}
}  // namespace

std::vector<int32_t> checked_ids(const TokenizerView& view, std::string_view text) {
  const ScratchSize size = tokenizer_scratch(view);
  const size_t scratch_bytes = size.constant + size_t{size.per_byte} * text.size();
  GuardedBuffer<uint32_t> scratch((scratch_bytes + 3) / 4);
  GuardedBuffer<int32_t> ids(2 * text.size() + 4);
  GuardedBuffer<char> copy(text.size());
  misuse(view);
  std::memcpy(copy.get(), text.data(), text.size());
  trie_steps = 0;
  const int n = tokenize({&view, copy.get(), text.size(), scratch.get(), scratch_bytes, ids.get(), ids.size()});
  require(trie_steps <= tokenizer_steps(view, static_cast<uint32_t>(text.size())), "tokenize: the stated steps");
  require(scratch.intact() && ids.intact(), "tokenize: within its memory");
  if (n < 0) {
    require(n == GOLDCREST_ERROR_TOO_LONG || n == GOLDCREST_ERROR_MODEL_CORRUPT, "tokenize: errors");
    return {};
  }
  require(static_cast<size_t>(n) <= ids.size(), "tokenize: as many ids as fit");
  for (int i = 0; i < n; ++i) {
    const int32_t id = ids[static_cast<size_t>(i)];
    require(id >= 0 && static_cast<uint32_t>(id) < view.vocab_size, "tokenize: ids in range");
  }
  std::vector<int32_t> chosen(ids.get(), ids.get() + n);
  if (text.size() <= kShortText) check_more_scratch(view, text, chosen);
  return chosen;
}

std::string checked_text(const DetokenizerView& view, const std::vector<int32_t>& ids) {
  goldcrest_text_state state = {};
  std::string text = text_of(view, state, {ids.data(), ids.size()});
  text += text_of(view, state, {nullptr, 0});
  // The same ids one by one, in room for exactly this text.
  GuardedBuffer<char> out(text.size());
  size_t n = 0;
  state = {};
  for (size_t i = 0; i <= ids.size(); ++i) {
    const int64_t bytes =
        detokenize(view, &state, ids.data() + i, i < ids.size() ? 1 : 0, out.get() + n, out.size() - n);
    require(bytes >= 0, "detokenize: the same text one by one");
    n += static_cast<size_t>(bytes);
  }
  require(out.intact() && n == text.size() && std::memcmp(out.get(), text.data(), n) == 0,
      "detokenize: the same text however the ids come");
  return text;
}
}  // namespace goldcrest::test
