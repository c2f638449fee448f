// SPDX-License-Identifier: Apache-2.0
#include "decoding/search.h"

#include <cstring>

#include "base/hash.h"
#include "kernels/reference/math.h"

namespace goldcrest {

static_assert(sizeof(SentenceState) == 24 && sizeof(TargetSentence) == 24 && sizeof(Hypothesis) == 16,
              "the plan is the same on every machine");

namespace {

constexpr float kNever = -__builtin_huge_valf();

bool greedy(const Search& search) { return search.options.beam_size == 1; }

size_t count_slots(const Search& search) { return size_t{search.limits.batch} * search.limits.beam_size; }

// Removes the tokens that may not be chosen now from a block of logits.
void mask(const GenerationView& generation, bool end_allowed, float* logits, uint32_t first, uint32_t count) {
  const auto remove = [&](uint32_t id) {
    if (id >= first && id - first < count) logits[id - first] = kNever;
  };
  for (uint32_t i = 0; i < generation.n_suppressed; ++i) remove(generation.suppressed_ids[i]);
  if (!end_allowed) remove(generation.end_id);
}

// The same token for every live hypothesis, at no cost in log-probability.
void force_token(const Runtime& runtime, const Search& search, uint32_t sentence, int32_t token, bool is_end) {
  const SentenceView view = sentence_view(runtime, search, sentence);
  for (uint32_t b = 0; b < view.state->n_live; ++b) {
    if (is_end)
      finish_hypothesis(runtime, search, sentence, b, token, view.scores[b]);
    else
      view.tokens[(search.position + 1) * view.n_slots + b] = token;
  }
  if (is_end) view.state->n_live = 0;
}

// Embeds the input tokens of the current position.
void embed_targets(const Runtime& runtime, const Search& search) {
  const TargetRows rows = target_rows(runtime, search);
  const int32_t* tokens = runtime.buffer<int32_t>(search.refs.tokens) + search.position * rows.n_slots;
  const uint32_t n_tasks = count_row_tasks(runtime, search.n_rows);
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    const Range part = part_of(rows.n_sentences, task, n_tasks);
    for (uint32_t i = part.first; i < part.first + part.count; ++i) {
      const TargetSentence& target = rows.sentences[i];
      for (uint32_t b = 0; b < target.n_rows; ++b) {
        decoder_embed(runtime, search.decoder, rows, target.first_row + b,
                      static_cast<uint32_t>(tokens[target.first_slot + b]));
      }
    }
  });
}

// The output layer at the current position.
class OutputLayer {
 public:
  OutputLayer(const Runtime& runtime, const Search& search)
      : runtime_(runtime),
        search_(search),
        generation_(view_generation(runtime.file)),
        end_allowed_(search.position + 1 >= search.options.min_target_tokens),
        wants_sums_(!greedy(search) || (search.options.flags & GOLDCREST_SEARCH_SCORES) != 0) {}

  Candidates lists(uint32_t task) const {
    return candidates(runtime_, search_.refs.candidates, greedy(search_) ? 1 : 2 * search_.options.beam_size, task);
  }
  uint32_t n_blocks() const { return (runtime_.model.vocab_size + kOutputBlock - 1) / kOutputBlock; }

  // Candidates of some rows among some blocks of outputs, into the lists of `task`; with them the rows' log-sum-exp
  // parts and logits hashes.
  void run(Range rows, Range blocks, uint32_t task) const {
    const Candidates lists = this->lists(task);
    memset(lists.counts + rows.first, 0, rows.count * sizeof *lists.counts);
    for (uint32_t block = blocks.first; block < blocks.first + blocks.count; ++block) {
      float* logits = lists.logits + size_t{rows.first} * kOutputBlock;
      const size_t first_sum = size_t{rows.first} * lists.n_blocks + block;
      const uint32_t count = output_block(runtime_, search_.decoder, rows, block, logits,
                                          wants_sums_ ? lists.block_max + first_sum : nullptr,
                                          lists.block_sum + first_sum, lists.n_blocks);
      trace_rows(runtime_, "logits", static_cast<int32_t>(block), search_.position, logits, rows.count, count,
                 kOutputBlock);
      for (uint32_t row = rows.first; row < rows.first + rows.count; ++row, logits += kOutputBlock) {
        if (hashes_logits(search_.options)) hash(row, logits, count);
        if (wants_sums_ && !may_enter(lists, row, block)) continue;
        mask(generation_, end_allowed_, logits, block * kOutputBlock, count);
        collect(runtime_, lists, row, block * kOutputBlock, count);
      }
    }
  }

 private:
  // Greedy: row i belongs to the i-th live sentence.
  void hash(uint32_t row, const float* logits, uint32_t count) const {
    const uint32_t slot = runtime_.buffer<TargetSentence>(search_.refs.targets)[row].first_slot;
    SentenceState& state = runtime_.buffer<SentenceState>(search_.refs.sentences)[slot / search_.limits.beam_size];
    state.logits_hash = hash_floats(state.logits_hash, logits, count);
  }

  const Runtime& runtime_;
  const Search& search_;
  GenerationView generation_;
  bool end_allowed_, wants_sums_;
};

}  // namespace

SearchRefs plan_search(Plan& plan, const ModelView& model) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH,
                    kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  const Phase decode = Phase::kDecode;
  SearchRefs refs;
  refs.sentences =
      plan.add("search.sentences", Phase::kAlways, Region::kMain, {0, sizeof(SentenceState), {kBatch, 0, 0, 0}});
  refs.targets = plan.add("search.targets", decode, Region::kMain, {0, sizeof(TargetSentence), {kBatch, 0, 0, 0}});
  refs.tokens = plan.add("search.tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.ancestor =
      plan.add("search.ancestor", decode, Region::kMain, {0, 1, {kTarget, kBeam, kBatch, GOLDCREST_FACTOR_BEAM_USED}});
  refs.scores = plan.add("search.scores", decode, Region::kMain, {0, 4, {kBeam, kBatch, 0, 0}});
  refs.hypotheses =
      plan.add("search.hypotheses", decode, Region::kMain, {0, sizeof(Hypothesis), {kBeam, kBatch, 0, 0}});
  refs.hypothesis_tokens =
      plan.add("search.hypothesis_tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.candidates = plan_candidates(plan, model);
  return refs;
}

SentenceView sentence_view(const Runtime& runtime, const Search& search, uint32_t sentence) {
  const size_t beam_size = search.limits.beam_size, first_slot = sentence * beam_size;
  const size_t target_tokens = search.limits.max_target_tokens;
  SentenceView view;
  view.state = runtime.buffer<SentenceState>(search.refs.sentences) + sentence;
  view.ancestor = beam_size > 1 ? runtime.buffer<uint8_t>(search.refs.ancestor) + first_slot * target_tokens : nullptr;
  view.tokens = runtime.buffer<int32_t>(search.refs.tokens) + first_slot;
  view.scores = runtime.buffer<float>(search.refs.scores) + first_slot;
  view.hypotheses = runtime.buffer<Hypothesis>(search.refs.hypotheses) + first_slot;
  view.hypothesis_tokens = runtime.buffer<int32_t>(search.refs.hypothesis_tokens) + first_slot * target_tokens;
  view.n_slots = count_slots(search);
  return view;
}

Choice next_choice(const Runtime& runtime, const Search& search) {
  if (search.position + 1 == search.options.max_target_tokens) return Choice::kForcedEnd;
  if (search.position == 0 && view_generation(runtime.file).forced_first_id >= 0) return Choice::kForcedFirst;
  return Choice::kByScore;
}

void search_start(const Runtime& runtime, Search& search) {
  const int32_t start = static_cast<int32_t>(view_generation(runtime.file).decoder_start_id);
  search.position = 0;
  for (uint32_t sentence = 0; sentence < search.n_sentences; ++sentence) {
    const SentenceView view = sentence_view(runtime, search, sentence);
    view.state->n_live = 1;
    view.state->n_finished = 0;
    view.state->logits_hash = kHashStart;
    view.tokens[0] = start;
    view.scores[0] = 0.0f;
  }
}

void search_embed(const Runtime& runtime, Search& search) {
  TargetSentence* targets = runtime.buffer<TargetSentence>(search.refs.targets);
  const Source* sources = runtime.buffer<Source>(search.sources);
  const uint32_t beam_size = search.limits.beam_size;
  search.n_rows = 0;
  search.n_targets = 0;
  for (uint32_t sentence = 0; sentence < search.n_sentences; ++sentence) {
    const SentenceView view = sentence_view(runtime, search, sentence);
    if (view.state->n_live == 0) continue;
    const uint32_t first_slot = sentence * beam_size;
    targets[search.n_targets++] = {sources[sentence], search.n_rows, view.state->n_live, first_slot,
                                   first_slot * search.limits.max_target_tokens};
    view.state->first_row = search.n_rows;
    for (uint32_t b = 0; b < view.state->n_live && view.ancestor != nullptr; ++b) {
      view.ancestor[search.position * beam_size + b] = static_cast<uint8_t>(b);
    }
    search.n_rows += view.state->n_live;
  }
  embed_targets(runtime, search);
}

TargetRows target_rows(const Runtime& runtime, const Search& search) {
  TargetRows rows = {};
  rows.sentences = runtime.buffer<TargetSentence>(search.refs.targets);
  rows.ancestor = search.limits.beam_size > 1 ? runtime.buffer<uint8_t>(search.refs.ancestor) : nullptr;
  rows.n_sentences = search.n_targets;
  rows.n_rows = search.n_rows;
  rows.position = search.position;
  rows.beam_size = search.limits.beam_size;
  rows.n_slots = count_slots(search);
  rows.position_capacity = search.limits.max_target_tokens;
  rows.source_capacity = size_t{search.limits.max_source_tokens} * search.limits.batch;
  return rows;
}

void search_output(const Runtime& runtime, const Search& search) {
  const uint32_t n_rows = search.n_rows, row_tasks = count_row_tasks(runtime, n_rows);
  const OutputLayer layer(runtime, search);
  if (row_tasks > 1) {
    run_tasks(runtime, row_tasks, [&](uint32_t task) {
      const Range rows = part_of(n_rows, task, row_tasks);
      output_begin(runtime, search.decoder, rows);
      layer.run(rows, {0, layer.n_blocks()}, 0);
    });
    return;
  }

  const LinearView& projection = runtime.model.projection;
  const uint64_t macs = linear_macs(n_rows, projection.n, projection.k);
  const uint32_t most = layer.n_blocks() < runtime.threads ? layer.n_blocks() : runtime.threads;
  const uint32_t n_tasks = hashes_logits(search.options) ? 1 : count_tasks(macs, most);  // a hash is of blocks in order
  output_begin(runtime, search.decoder, {0, n_rows});
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    layer.run({0, n_rows}, part_of(layer.n_blocks(), task, n_tasks), task);
  });
  for (uint32_t task = 1; task < n_tasks; ++task) {
    for (uint32_t row = 0; row < n_rows; ++row) merge_candidates(layer.lists(0), layer.lists(task), row);
  }
}

int32_t search_advance(const Runtime& runtime, Search& search, Choice choice) {
  const GenerationView generation = view_generation(runtime.file);
  int32_t first_token = -1;
  const auto advance = [&](uint32_t sentence) {
    const SentenceView view = sentence_view(runtime, search, sentence);
    if (view.state->n_live == 0) return;
    int32_t token = -1;
    if (choice == Choice::kByScore) {
      if (greedy(search))
        token = greedy_advance(runtime, search, sentence);
      else
        beam_advance(runtime, search, sentence);
    } else {
      token = choice == Choice::kForcedEnd ? static_cast<int32_t>(generation.end_id) : generation.forced_first_id;
      force_token(runtime, search, sentence, token, token == static_cast<int32_t>(generation.end_id));
    }
    if (sentence == 0) first_token = token;
  };
  const uint32_t n_tasks = count_row_tasks(runtime, search.n_rows);
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    const Range part = part_of(search.n_sentences, task, n_tasks);
    for (uint32_t sentence = part.first; sentence < part.first + part.count; ++sentence) advance(sentence);
  });
  ++search.position;
  search.n_rows = 0;
  for (uint32_t sentence = 0; sentence < search.n_sentences; ++sentence) {
    search.n_rows += sentence_view(runtime, search, sentence).state->n_live;
  }
  return first_token;
}

float hypothesis_score(const goldcrest_search& options, float log_prob, uint32_t n_tokens) {
  const float n = static_cast<float>(n_tokens);
  return (log_prob - options.word_penalty * n) / pow_float(n, options.length_penalty);
}

void finish_hypothesis(const Runtime& runtime, const Search& search, uint32_t sentence, uint32_t b, int32_t last,
                       float log_prob) {
  const SentenceView view = sentence_view(runtime, search, sentence);
  const uint32_t n_tokens = search.position + 1, beam_size = search.options.beam_size;
  const float score = hypothesis_score(search.options, log_prob, n_tokens);
  uint32_t& n_finished = view.state->n_finished;
  uint32_t storage = n_finished;
  if (n_finished == beam_size) {
    if (!(score > view.hypotheses[n_finished - 1].score)) return;
    storage = view.hypotheses[--n_finished].storage;
  }
  uint32_t at = n_finished++;
  for (; at > 0 && view.hypotheses[at - 1].score < score; --at) view.hypotheses[at] = view.hypotheses[at - 1];
  view.hypotheses[at] = {score, log_prob, n_tokens, storage};

  int32_t* tokens = view.hypothesis_tokens + size_t{storage} * search.limits.max_target_tokens;
  for (uint32_t t = 1; t <= search.position; ++t) {
    // At the current position hypothesis b has slot b; the table does not say so yet when the end is forced.
    const uint32_t slot = view.ancestor && t < search.position ? view.ancestor[t * search.limits.beam_size + b] : b;
    tokens[t - 1] = view.tokens[t * view.n_slots + slot];
  }
  tokens[search.position] = last;
}

}  // namespace goldcrest
