// SPDX-License-Identifier: Apache-2.0
#include "fuzz/text_checks.h"

#include <cstring>

#include "fuzz/script.h"
#include "goldcrest/goldcrest.h"
#include "support/guarded_buffer.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "unit/text/counted_trie.h"

namespace goldcrest::test {
namespace {

// One call, in room that grows until the text fits; before, errors change nothing.
void append_text(const DetokenizerView& view, goldcrest_text_state& state, const int32_t* ids, size_t n,
                 std::string& text) {
  for (size_t room = 0;; room = 2 * room + 1) {
    require(room < size_t{1} << 24, "detokenize: needs bounded room");
    GuardedBuffer<char> out(room);
    const goldcrest_text_state before = state;
    const int64_t bytes = detokenize(view, &state, ids, n, out.get(), room);
    require(out.intact(), "detokenize: within its room");
    if (bytes >= 0) {
      require(static_cast<size_t>(bytes) <= room, "detokenize: the bytes that it says");
      text.append(out.get(), static_cast<size_t>(bytes));
      return;
    }
    require(bytes == GOLDCREST_ERROR_TRUNCATED, "detokenize: errors");
    require(std::memcmp(&before, &state, sizeof state) == 0, "detokenize: an error changes nothing");
  }
}

}  // namespace

std::vector<int32_t> checked_ids(const TokenizerView& view, std::string_view text) {
  const ScratchSize size = tokenizer_scratch(view.kind);
  const size_t scratch_bytes = size.constant + size_t{size.per_byte} * text.size();
  GuardedBuffer<uint32_t> scratch((scratch_bytes + 3) / 4);
  GuardedBuffer<int32_t> ids(2 * text.size() + 4);
  GuardedBuffer<char> copy(text.size());
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
  return {ids.get(), ids.get() + n};
}

std::string checked_text(const DetokenizerView& view, const std::vector<int32_t>& ids) {
  std::string at_once, one_by_one;
  goldcrest_text_state state = {};
  append_text(view, state, ids.data(), ids.size(), at_once);
  append_text(view, state, nullptr, 0, at_once);
  state = {};
  for (const int32_t& id : ids) append_text(view, state, &id, 1, one_by_one);
  append_text(view, state, nullptr, 0, one_by_one);
  require(at_once == one_by_one, "detokenize: the same text however the ids come");
  return at_once;
}

}  // namespace goldcrest::test
