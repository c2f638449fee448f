// SPDX-License-Identifier: Apache-2.0
// Every index that a lexicon's arrays give is checked where it is used, and read once: the caller may change them.
#include "base/exact_floats.h"
#include <string.h>
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "decoding/outputs/output_choice.h"

namespace goldcrest {
namespace {
constexpr uint32_t kNoNode = GOLDCREST_LEXICON_STOP - 1;  // this hypothesis has left the lexicon: allows nothing

uint32_t read(const uint32_t& value) { return static_cast<const volatile uint32_t&>(value); }

// Returns the first edge of a node whose token is at least `token`. If there is none: GOLDCREST_LEXICON_END and
// kNoNode.
[[gnu::noinline]] goldcrest_lexicon_edge edge_from(const goldcrest_lexicon& lexicon, uint32_t node, uint32_t token) {
  goldcrest_lexicon_edge found = {GOLDCREST_LEXICON_END, kNoNode};
  if (node >= lexicon.n_nodes) return found;
  uint32_t low = read(lexicon.first_edge[node]);
  uint32_t high = smaller(read(lexicon.first_edge[node + 1]), lexicon.n_edges);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t there = read(lexicon.edges[middle].token);
    if (there < token) {
      low = middle + 1;
    } else {
      found = {there, read(lexicon.edges[middle].child)};
      high = middle;
    }
  }
  return found;
}

uint32_t child_of(const goldcrest_lexicon& lexicon, uint32_t node, uint32_t token) {
  const goldcrest_lexicon_edge edge = edge_from(lexicon, node, token);
  return edge.token == token ? edge.child : kNoNode;
}

// Returns the node where a text goes on that may end at `node`: node 0, or GOLDCREST_LEXICON_STOP. kNoNode: it may not.
uint32_t behind_end(const goldcrest_lexicon& lexicon, uint32_t node) {
  return edge_from(lexicon, node, GOLDCREST_LEXICON_END).child;
}

// Returns the lowest token from `from` on that is allowed at a node; GOLDCREST_LEXICON_END if there is none.
[[gnu::noinline]] uint32_t next_allowed(const SearchOptions& options, uint32_t node, uint32_t from) {
  uint32_t next = edge_from(*options.lexicon, node, from).token;
  const uint32_t again = behind_end(*options.lexicon, node);
  if (again == kNoNode) return next;
  next = smaller(next, edge_from(*options.lexicon, again, from).token);
  const GenerationView& generation = *options.generation;
  const auto consider = [&](uint32_t end) {
    if (end >= from) next = smaller(next, end);
  };
  consider(generation.end_id);
  for (uint32_t i = 0; i < count_more_ends(generation); ++i) consider(generation.more_end_ids[i]);
  return next;
}

// Returns the number of the ids before the lexicon's: the file's, or the caller's in place of the file's prompt.
uint32_t count_before(const SearchOptions& options, const SentenceState& state) {
  const GenerationView& generation = *options.generation;
  const Prompt prompt = prompt_of(options, state.prefix);
  const bool has_prompt = generation.n_prompt > 0 && generation.forced_first_id < 0;
  return has_prompt && prompt.n_file == 0 ? prompt.n : prompt.n_file;
}

// Adds the tokens that are allowed at a node to the chosen outputs. Returns false if there are more than the limits
// have candidates.
bool choose_allowed(const OutputStep& step, uint32_t node) {
  uint32_t n = 0;
  for (uint32_t id = 0; (id = next_allowed(step.options, node, id)) < step.runtime.model.vocab_size; ++id) {
    if (n++ == step.runtime.limits.max_candidates) return false;
    choose_candidate(step.shortlist.chosen, id);
  }
  return true;
}
}  // namespace

void follow_lexicon(const OutputStep& step) {
  const TargetRows& rows = step.rows;
  const goldcrest_lexicon& lexicon = *step.options.lexicon;
  for (const LiveSentence* live = rows.sentences; live < rows.sentences + rows.n_sentences; ++live) {
    const uint32_t sentence = step.sentence_of(*live);
    SentenceState& state = step.sentences[sentence];
    const uint32_t n_before = count_before(step.options, state);
    bool gathers = step.options.uses_shortlist && rows.position >= n_before;
    if (gathers) clear_candidates(step.runtime, step.shortlist);
    uint32_t* const nodes = step.shortlist.lexicon_nodes + live->first_slot;
    uint32_t moved[kMaxBeams];
    for (uint32_t b = 0; b < live->n_rows; ++b) {
      uint32_t node = 0;
      if (rows.position > n_before) {
        const Past past = past_of(step, *live, b);
        const uint32_t token = static_cast<uint32_t>(past.token_at(rows.position));
        const uint32_t parent = nodes[past.slot_at(rows.position - 1)];
        node = child_of(lexicon, parent, token);
        if (node == kNoNode) node = child_of(lexicon, behind_end(lexicon, parent), token);
      }
      moved[b] = node;
      gathers = gathers && choose_allowed(step, node);
    }
    memcpy(nodes, moved, live->n_rows * sizeof *nodes);
    state.n_candidates = gathers ? gather_chosen(step.runtime, step.shortlist, sentence) : 0;
  }
}

void keep_allowed(const OutputStep& step, const LogitBlock& block) {
  const LiveSentence& sentence = sentence_of_row(step, block.row);
  const uint32_t node = step.shortlist.lexicon_nodes[sentence.first_slot + block.row - sentence.first_row];
  const size_t at = size_t{block.row} * block.lists.block_stride;
  float &largest = block.lists.block_max[at], &sum = block.lists.block_sum[at];
  if (step.options.needs_sums && block.outputs.first == 0) {
    largest = kNever;
    sum = 0.0f;
  }
  uint32_t allowed = 0, token = 0;
  for (uint32_t i = 0; i < block.outputs.count; ++i) {
    token = output_token(block.set, block.outputs.first + i);
    if (i == 0 || token > allowed) allowed = next_allowed(step.options, node, token);
    float& value = block.values[i];
    if (token != allowed) {
      value = kNever;
    } else if (step.options.needs_sums && value > kNever) {
      if (value > largest) {
        sum = sum * exponential(largest - value);
        largest = value;
      }
      sum += exponential(value - largest);
    }
  }
}
}  // namespace goldcrest
