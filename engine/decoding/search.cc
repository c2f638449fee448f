// SPDX-License-Identifier: Apache-2.0
#include "decoding/search.h"

#include "base/hash.h"
#include "decoding/rules.h"

namespace goldcrest {

static_assert(sizeof(SentenceState) == 24 && sizeof(LiveSentence) == 24 && sizeof(Hypothesis) == 16,
              "the plan is the same on every machine");

namespace {

// How the next token of every hypothesis of a sentence comes about. A forced one costs no log-probability.
enum class NextToken { kChosen, kForcedFirst, kForcedEnd };

NextToken next_token(const Search& search, uint32_t sentence) {
  if (kHasInspection && search.follows_targets) return NextToken::kChosen;
  if (forces_end(search.options) && is_last_position(search, sentence)) return NextToken::kForcedEnd;
  if (search.position == 0 && search.runtime->generation.forced_first_id >= 0) return NextToken::kForcedFirst;
  return NextToken::kChosen;
}

// What the current position needs: a hash is of every position's logits, an alignment of every token, also where it is
// forced.
void start_position(Search& search) {
  search.n_rows = 0;
  search.runs_output = hashes_logits(search);
  search.runs_layers = search.runs_output || keeps_alignments(search.runtime->limits);
  for (uint32_t sentence = 0; sentence < search.batch->n_sentences; ++sentence) {
    const uint32_t n_live = sentence_view(search, sentence).state->n_live;
    if (n_live == 0) continue;
    search.n_rows += n_live;
    const NextToken next = next_token(search, sentence);
    search.runs_layers |= next != NextToken::kForcedEnd;
    search.runs_output |= next == NextToken::kChosen;
  }
}

// The same token for every live hypothesis of a sentence. Returns it.
int32_t force_token(const Search& search, uint32_t sentence, const SentenceView& view, NextToken next) {
  const GenerationView& generation = search.runtime->generation;
  const int32_t token =
      next == NextToken::kForcedEnd ? static_cast<int32_t>(generation.end_id) : generation.forced_first_id;
  const bool finishes = ends_text(search, sentence, token);
  for (uint32_t b = 0; b < view.state->n_live; ++b) {
    if (finishes) {
      finish_hypothesis(search, view, {view.scores[b], 0.0f, b, token});
      continue;
    }
    view.tokens[(search.position + 1) * view.n_slots + b] = token;
    if constexpr (kHasInspection) keep_log_prob(search, view, b, 0.0f);
  }
  if (finishes) view.state->n_live = 0;
  return token;
}

// Embeds the input tokens of the current position.
void embed_rows(const Search& search) {
  const Runtime& runtime = *search.runtime;
  const TargetRows rows = target_rows(search);
  const int32_t* tokens = runtime.buffer<int32_t>(search.refs.tokens) + search.position * rows.n_slots;
  const Split split = split_rows(runtime, search.n_rows);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t) {
    const Range part = split.part_of(rows.n_sentences, piece);
    for (uint32_t i = part.first; i < part.first + part.count; ++i) {
      const LiveSentence& sentence = rows.sentences[i];
      for (uint32_t b = 0; b < sentence.n_rows; ++b) {
        decoder_embed(runtime, search.decoder, search.position, sentence.first_row + b,
                      static_cast<uint32_t>(tokens[sentence.first_slot + b]));
      }
    }
  });
}

}  // namespace

SearchRefs plan_search(Plan& plan, const ModelView& model) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH,
                    kTarget = GOLDCREST_FACTOR_TARGET_TOKENS;
  const Phase decode = Phase::kDecode;
  SearchRefs refs;
  refs.sentences =
      plan.add("search.sentences", Phase::kAlways, Region::kMain, {0, sizeof(SentenceState), {kBatch, 0, 0, 0}});
  refs.live = plan.add("search.targets", decode, Region::kMain, {0, sizeof(LiveSentence), {kBatch, 0, 0, 0}});
  refs.tokens = plan.add("search.tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.ancestor =
      plan.add("search.ancestor", decode, Region::kMain, {0, 1, {kTarget, kBeam, kBatch, GOLDCREST_FACTOR_BEAM_USED}});
  refs.scores = plan.add("search.scores", decode, Region::kMain, {0, 4, {kBeam, kBatch, 0, 0}});
  refs.hypotheses =
      plan.add("search.hypotheses", decode, Region::kMain, {0, sizeof(Hypothesis), {kBeam, kBatch, 0, 0}});
  refs.hypothesis_tokens =
      plan.add("search.hypothesis_tokens", decode, Region::kMain, {0, 4, {kTarget, kBeam, kBatch, 0}});
  refs.candidates = plan_candidates(plan, model);
  if constexpr (kHasShortlist) refs.shortlist = plan_shortlist(plan, model);
  if constexpr (kHasInspection) refs.inspection = plan_inspection(plan);
  return refs;
}

void search_start(Search& search) {
  search.strategy = &strategy_for(search.options);
  if constexpr (kHasInspection) {
    if (search.follows_targets) search.strategy = &kGivenTarget;
    if (keeps_token_scores(search.runtime->limits)) search.options.flags |= GOLDCREST_SEARCH_SCORES;
  }
  search.position = 0;
  for (uint32_t sentence = 0; sentence < search.batch->n_sentences; ++sentence) {
    const SentenceView view = sentence_view(search, sentence);
    view.state->n_live = 1;
    view.state->n_finished = 0;
    view.state->logits_hash = kHashStart;
    view.tokens[0] = static_cast<int32_t>(search.runtime->generation.decoder_start_id);
    view.scores[0] = 0.0f;
  }
  start_position(search);
}

void search_embed(Search& search) {
  const goldcrest_limits& limits = search.runtime->limits;
  LiveSentence* live = search.runtime->buffer<LiveSentence>(search.refs.live);
  uint32_t first_row = 0;
  search.n_live = 0;
  for (uint32_t sentence = 0; sentence < search.batch->n_sentences; ++sentence) {
    const SentenceView view = sentence_view(search, sentence);
    if (view.state->n_live == 0) continue;
    const uint32_t first_slot = sentence * limits.beam_size;
    live[search.n_live++] = {search.batch->sentences[sentence], first_row, view.state->n_live, first_slot,
                             first_slot * limits.max_target_tokens};
    view.state->first_row = first_row;
    for (uint32_t b = 0; b < view.state->n_live && view.ancestor != nullptr; ++b) {
      view.ancestor[search.position * limits.beam_size + b] = static_cast<uint8_t>(b);
    }
    first_row += view.state->n_live;
  }
  embed_rows(search);
}

TargetRows target_rows(const Search& search) {
  const Runtime& runtime = *search.runtime;
  TargetRows rows = {};
  rows.sentences = runtime.buffer<LiveSentence>(search.refs.live);
  rows.ancestor = runtime.limits.beam_size > 1 ? runtime.buffer<uint8_t>(search.refs.ancestor) : nullptr;
  rows.n_sentences = search.n_live;
  rows.n_rows = search.n_rows;
  rows.position = search.position;
  rows.beam_size = runtime.limits.beam_size;
  rows.n_slots = count_slots(runtime.limits);
  rows.position_capacity = runtime.limits.max_target_tokens;
  rows.source_capacity = search.batch->row_capacity;
  return rows;
}

int32_t search_advance(Search& search) {
  int32_t first_token = -1;
  const auto advance = [&](uint32_t sentence) {
    const SentenceView view = sentence_view(search, sentence);
    if (view.state->n_live == 0) return;
    const NextToken next = next_token(search, sentence);
    const int32_t token = next == NextToken::kChosen ? search.strategy->advance(search, sentence)
                                                     : force_token(search, sentence, view, next);
    if (sentence == 0) first_token = token;
  };
  const Split split = split_rows(*search.runtime, search.n_rows);
  run_pieces(*search.runtime, split, [&](uint32_t piece, uint32_t) {
    const Range part = split.part_of(search.batch->n_sentences, piece);
    for (uint32_t sentence = part.first; sentence < part.first + part.count; ++sentence) advance(sentence);
  });
  ++search.position;
  start_position(search);
  return first_token;
}

}  // namespace goldcrest
