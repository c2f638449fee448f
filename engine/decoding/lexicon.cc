// SPDX-License-Identifier: Apache-2.0
// Every index that a lexicon's arrays give is checked where it is used, and read once: the caller may change them.
#include "decoding/lexicon.h"

#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

namespace {

class LexiconReader {
 public:
  explicit LexiconReader(const SearchOptions& options) : tables_(*options.lexicon), options_(options) {}

  // Returns the lowest token from `from` on that is allowed at a node; kNoId if there is none.
  uint32_t next_allowed(uint32_t node, uint32_t from) const {
    uint32_t next = token_from(edges_of(node), from);
    if (!ends_entry(node)) return next;
    if (has_words()) next = smaller(next, token_from(edges_of(0), from));
    const GenerationView& generation = *options_.generation;
    const auto consider = [&](uint32_t end) {
      if (end >= from && end < next) next = end;
    };
    consider(generation.end_id);
    for (uint32_t i = 0; kHasRules && i < generation.n_more_ends; ++i) consider(generation.more_end_ids[i]);
    return next;
  }

  // Returns the node behind a token.
  uint32_t node_behind(uint32_t node, uint32_t token) const {
    const uint32_t child = child_of(node, token);
    return child == kNoNode && has_words() && ends_entry(node) ? child_of(0, token) : child;
  }

 private:
  static uint32_t read(const uint32_t& value) { return static_cast<const volatile uint32_t&>(value); }

  bool has_words() const { return (tables_.flags & GOLDCREST_LEXICON_WORDS) != 0; }

  Range edges_of(uint32_t node) const {
    if (node >= tables_.n_nodes) return {0, 0};
    const uint32_t first = read(tables_.first_edge[node]);
    const uint32_t end = smaller(read(tables_.first_edge[node + 1]), tables_.n_edges);
    return {first, end > first ? end - first : 0};
  }

  bool ends_entry(uint32_t node) const {
    const Range edges = edges_of(node);
    return edges.count > 0 && read(tables_.edges[edges.first + edges.count - 1].token) == GOLDCREST_LEXICON_END;
  }

  // Returns the first of these edges whose token is at least `token`, or their end.
  uint32_t find(Range edges, uint32_t token) const {
    uint32_t low = edges.first, high = edges.first + edges.count;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (read(tables_.edges[middle].token) < token)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  uint32_t token_from(Range edges, uint32_t from) const {
    const uint32_t edge = find(edges, from);
    if (edge == edges.first + edges.count) return kNoId;
    const uint32_t token = read(tables_.edges[edge].token);
    return token >= from && token < options_.model->vocab_size ? token : kNoId;
  }

  uint32_t child_of(uint32_t node, uint32_t token) const {
    const Range edges = edges_of(node);
    const uint32_t edge = find(edges, token);
    if (edge == edges.first + edges.count || read(tables_.edges[edge].token) != token) return kNoNode;
    return read(tables_.edges[edge].child);
  }

  const goldcrest_lexicon& tables_;
  const SearchOptions& options_;
};

// Adds a value to the sum of exp(value - *largest).
void add_exponential(float value, float* largest, float* sum) {
  float difference = value > *largest ? *largest - value : value - *largest;
  reference_exponentials(&difference, 1, 0.0f);
  if (value > *largest) {
    *sum = *sum * difference + 1.0f;
    *largest = value;
  } else {
    *sum += difference;
  }
}

// Returns the number of the ids before the lexicon's entry.
uint32_t count_before(const SearchOptions& options, const SentenceState& state) {
  if constexpr (kHasPrompt) return prompt_of(options, state.prefix).n_file;
  return options.generation->forced_first_id >= 0 ? 1 : 0;
}

// Returns the nodes [slots] of an even or odd position.
uint32_t* nodes_at(const OutputStep& step, uint32_t position) {
  return step.lexicon_nodes + position % 2 * step.rows.n_slots;
}

// Sets the bit of every token that is allowed at a node. Returns false if there are more than `most`.
bool choose_allowed(const LexiconReader& lexicon, uint32_t node, uint32_t most, uint32_t* chosen) {
  uint32_t n = 0;
  for (uint32_t id = lexicon.next_allowed(node, 0); id != kNoId; id = lexicon.next_allowed(node, id + 1)) {
    if (n++ == most) return false;
    choose_candidate(chosen, id);
  }
  return true;
}

}  // namespace

[[gnu::cold]] BufferRef plan_lexicon(Plan& plan) {
  if (plan.limits().lexicon == 0) return {};
  return plan.add("lexicon.nodes", Phase::kDecode, Region::kMain,
                  {0, 2 * sizeof(uint32_t), {GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0, 0}});
}

[[gnu::cold]] void follow_lexicon(const OutputStep& step, bool runs_output) {
  const LexiconReader lexicon(step.options);
  const TargetRows& rows = step.rows;
  uint32_t* const nodes = nodes_at(step, rows.position);
  const uint32_t* const nodes_before = nodes_at(step, rows.position + 1);
  for (uint32_t i = 0; i < rows.n_sentences; ++i) {
    const LiveSentence& live = rows.sentences[i];
    const uint32_t sentence = step.sentence_of(live), n_before = count_before(step.options, step.sentences[sentence]);
    bool gathers = runs_output && step.options.uses_shortlist && rows.position >= n_before;
    if (gathers) clear_candidates(step.runtime, step.shortlist);
    for (uint32_t slot = live.first_slot; slot < live.first_slot + live.n_rows; ++slot) {
      nodes[slot] = 0;
      if (rows.position > n_before) {
        uint32_t parent = slot;
        if (rows.ancestor != nullptr) {
          const size_t at = live.first_past + (size_t{rows.position} - 1) * rows.beam_size + (slot - live.first_slot);
          parent = live.first_slot + rows.ancestor[at];
        }
        const int32_t token = step.tokens[rows.position * rows.n_slots + slot];
        nodes[slot] = lexicon.node_behind(nodes_before[parent], static_cast<uint32_t>(token));
      }
      gathers =
          gathers && choose_allowed(lexicon, nodes[slot], step.runtime.limits.max_candidates, step.shortlist.chosen);
    }
    step.sentences[sentence].n_candidates = gathers ? gather_chosen(step.runtime, step.shortlist, sentence) : 0;
  }
}

bool KeepAllowed::run(const LogitBlock& block) const {
  const LiveSentence* sentence = step_.rows.sentences;
  while (block.row >= sentence->first_row + sentence->n_rows) ++sentence;
  const uint32_t node = nodes_at(step_, step_.rows.position)[sentence->first_slot + block.row - sentence->first_row];
  const LexiconReader lexicon(step_.options);
  const TopTokens& lists = block.lists;
  float* const largest = lists.block_max + size_t{block.row} * lists.block_stride;
  float* const sum = lists.block_sum + size_t{block.row} * lists.block_stride;
  // Gathered outputs of 256 tokens may be in two blocks, so their first block begins all sums.
  const bool is_gathered = block.set.ids != nullptr;
  const Range begun = is_gathered ? Range{0, block.index() == 0 ? lists.block_stride : 0} : Range{block.index(), 1};
  for (uint32_t b = begun.first; b < begun.first + begun.count; ++b) {
    largest[b] = kNever;
    sum[b] = 0.0f;
  }
  uint32_t allowed = lexicon.next_allowed(node, output_token(block.set, block.outputs.first));
  for (uint32_t i = 0; i < block.outputs.count; ++i) {
    const uint32_t token = output_token(block.set, block.outputs.first + i);
    if (token > allowed) allowed = lexicon.next_allowed(node, token);
    float& value = block.values[i];
    if (token != allowed) {
      value = kNever;
    } else if (step_.options.needs_sums && value > kNever) {
      add_exponential(value, largest + token / kOutputBlock, sum + token / kOutputBlock);
    }
  }
  return true;
}

}  // namespace goldcrest
