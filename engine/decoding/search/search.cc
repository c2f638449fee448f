// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/search/search.h"
#include "base/hash.h"
#include "decoding/outputs/output_choice.h"
#include "decoding/outputs/output_layer.h"
#include "decoding/search/hypotheses.h"

namespace goldcrest {
namespace {
// *step <- the step of `position`; decides which layers run at it. Hashes cover every position and alignments every
// token, forced ones included.
void start_position(const SearchOptions& options, const SearchBuffers& buffers, uint32_t position, SearchStep* step) {
  step->position = position;
  step->n_rows = 0;
  step->runs_output = hashes_logits(options);
  step->runs_layers = step->runs_output || options.records_alignments;
  for (uint32_t sentence = 0; sentence < options.n_sentences; ++sentence) {
    const uint32_t n_live = buffers.sentences[sentence].n_live;
    if (n_live == 0) continue;
    step->n_rows += n_live;
    const ForcedToken forced = forced_token(options, sentence_view(buffers, sentence), position);
    step->runs_layers |= forced.needs_layers();
    step->runs_output |= forced.needs_output();
  }
}

// Continues every live hypothesis of a sentence with the forced token.
void take_forced(const SearchOptions& options, uint32_t position, const SentenceView& sentence,
    const ForcedToken& forced, const TopTokens& lists) {
  // Alternatives that end before they could differ are one.
  const bool is_one =
      forced.ends && expands_alternatives(options) && position <= first_free_position(options, sentence);
  const uint32_t n_rows = is_one ? 1 : sentence.state->n_live;
  for (uint32_t b = 0; b < n_rows; ++b) {
    float log_prob = 0.0f;
    if (scores_targets(options) && forced.scored) {
      const uint32_t row = sentence.state->first_row + b;
      log_prob = *lists.row_values(row) - row_normalizer(options, lists, row);
      sentence.scores[b] += log_prob;
    }
    if (forced.ends) finish_hypothesis(options, sentence, position, {sentence.scores[b], log_prob, b, forced.token});
    else feed_token(sentence, position, b, forced.token, log_prob);
  }
  if (forced.ends) sentence.state->n_live = 0;
}

// Returns the best of the file's first choices; the first of them if none has a value.
int32_t first_choice(const SearchOptions& options, const TopTokens& lists, uint32_t row) {
  return lists.counts[row] > 0 ? *lists.row_tokens(row)
                               : static_cast<int32_t>(options.generation->first_choices.ids[0]);
}

// Continues one sentence. With one hypothesis, returns its token.
int32_t advance_sentence(
    const SearchOptions& options, const SearchBuffers& buffers, uint32_t position, uint32_t sentence) {
  const SentenceView view = sentence_view(buffers, sentence);
  const TopTokens lists = top_tokens(buffers.top_tokens, options.list_size, count_summed(options, *view.state), 0);
  ForcedToken forced = forced_token(options, view, position);
  if (!forced.exists) return options.strategy->choose(options, position, view, lists);
  if (kHasPrompt && forced.is_first_choice()) forced.token = first_choice(options, lists, view.state->first_row);
  take_forced(options, position, view, forced, lists);
  return forced.token;
}

// Returns whether the search is one that can check a draft: greedy, of one sentence, whose rows depend on no state that
// a wrong guess or the caller would change between two positions. Rules do not change the scores of a target.
bool checks_drafts(const SearchOptions& options, const SearchBuffers& buffers) {
  return options.n_sentences == 1 && options.strategy == &kGreedySearch && buffers.n_slots > 1 &&
         !hashes_logits(options) && options.model->count_recurrent() == 0 &&
         (scores_targets(options) || (!has_lexicon(options) && !has_sequences(options)));
}

// Feeds the draft's next ids, or any of a target, to rows after that of step->position, at which a token is chosen.
void feed_draft(const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step) {
  const Draft& draft = step->draft;
  const SentenceView view = sentence_view(buffers, 0);
  const Prompt prompt = prompt_of(options, view.state->prefix);
  const uint32_t position = step->position;
  const bool searches = !scores_targets(options);
  // The masks of earlier positions depend on the position.
  if (searches && (!step->runs_output || position <= prompt.n)) return;
  if (searches && position + 1 < options.min_target_tokens + prompt.n_uncounted) return;
  const size_t most =
      smaller(smaller(buffers.n_slots, size_t{kMostDraftRows}), size_t{buffers.target_tokens - position});
  for (uint32_t i = searches ? draft.next : position; i < draft.n && step->n_ahead + 1 < most; ++i) {
    const int32_t id = draft.ids[i];
    if (searches && (static_cast<uint32_t>(id) >= options.model->vocab_size || is_end(*options.generation, id))) return;
    view.tokens[(position + ++step->n_ahead) * view.n_slots] = id;
  }
}

// Follows the token that was chosen at the position before step->position. `fed`: the token that the next row has read.
void follow_draft(const SearchOptions& options, const SearchBuffers& buffers, int32_t fed, SearchStep* step) {
  const SentenceView view = sentence_view(buffers, 0);
  if (view.state->n_live == 0) return;
  const int32_t* const token = view.tokens + step->position * view.n_slots;
  if (!scores_targets(options) && step->position > first_free_position(options, view))
    follow_token(*(token - view.n_slots), *token, &step->draft);
  if (step->n_ahead > 0 && *token == fed) {
    ++view.state->first_row;
    --step->n_ahead;
    step->runs_layers = step->runs_output = false;
    return;
  }
  step->n_ahead = 0;
  feed_draft(options, buffers, step);
}

// Returns the start token of a sentence: the file's, or the sentence's language.
int32_t start_id(const GenerationView& generation, const SentenceState& state) {
  const TargetLanguage language = state.language;
  return language.is_start() ? language.start_id() : static_cast<int32_t>(generation.decoder_start_id);
}
}  // namespace

void start_search(const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step) {
  for (uint32_t sentence = 0; sentence < options.n_sentences; ++sentence) {
    SentenceState& state = buffers.sentences[sentence];
    state.n_live = 1;
    state.n_finished = 0;
    state.logits_hash = kHashStart;
    const size_t first_slot = size_t{sentence} * buffers.beam_size;
    uint32_t b = 0;
    do {
      buffers.tokens[first_slot + b] = start_id(*options.generation, state);
      buffers.scores[first_slot + b] = 0.0f;
      if (!draws_tokens(options)) break;
      buffers.samples[first_slot + b] = {buffers.samples[first_slot].stream, b};
      state.n_live = static_cast<uint8_t>(++b);
    } while (b < options.sampling->n_samples);
  }
  start_position(options, buffers, 0, step);
  if (!kHasDrafts) return;
  step->n_ahead = 0;
  const Target target = scores_targets(options) ? buffers.targets.of(0) : Target();
  if (target.n != nullptr) step->draft = {target.ids, *target.n - 1, 0, 0, 0};  // no row reads the last id
  if (!checks_drafts(options, buffers)) step->draft = {};
  feed_draft(options, buffers, step);
}

void list_rows(const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step) {
  uint32_t first_row = 0;
  step->n_live = 0;
  for (uint32_t sentence = 0; sentence < options.n_sentences; ++sentence) {
    SentenceState& state = buffers.sentences[sentence];
    if (state.n_live == 0) continue;
    const uint32_t first_slot = sentence * buffers.beam_size;
    const uint32_t first_past = first_slot * buffers.target_tokens;
    buffers.live[step->n_live++] = {buffers.sources[sentence], first_row, state.n_live, first_slot, first_past};
    state.first_row = static_cast<uint16_t>(first_row);
    if (buffers.ancestor != nullptr) {
      uint8_t* const ancestor = buffers.ancestor + first_past + size_t{step->position} * buffers.beam_size;
      for (uint32_t b = 0; b < state.n_live; ++b) ancestor[b] = static_cast<uint8_t>(b);
    }
    first_row += state.n_live;
  }
  if (!kHasDrafts || step->n_ahead == 0) return;
  buffers.live->n_rows += step->n_ahead;
  for (uint32_t i = 1; buffers.ancestor != nullptr && i <= step->n_ahead; ++i)
    buffers.ancestor[size_t{step->position + i} * buffers.beam_size] = 0;
}

TargetRows target_rows(const SearchBuffers& buffers, const SearchStep& step) {
  TargetRows rows = {};
  rows.sentences = buffers.live;
  rows.ancestor = buffers.ancestor;
  rows.n_sentences = step.n_live;
  rows.checks_draft = kHasDrafts && step.n_ahead > 0;
  rows.n_rows = rows.is_draft() ? step.n_rows + step.n_ahead : step.n_rows;
  rows.position = step.position;
  rows.beam_size = buffers.beam_size;
  rows.n_slots = buffers.n_slots;
  rows.position_capacity = buffers.target_tokens;
  rows.source_capacity = buffers.source_rows;
  return rows;
}

void embed_rows(const Runtime& runtime, const DecoderRefs& decoder, const TargetRows& rows, const int32_t* tokens) {
  const Split split = split_rows(runtime, rows.n_rows);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t) {
    const Range part = split.part_of(rows.n_sentences, piece);
    for (uint32_t i = part.first; i < part.first + part.count; ++i) {
      const LiveSentence& sentence = rows.sentences[i];
      for (uint32_t b = 0; b < sentence.n_rows; ++b) {
        const uint32_t position = rows.position_of(b);
        const int32_t token = tokens[position * rows.n_slots + sentence.first_slot + rows.slot_of(b)];
        decoder_embed(runtime, decoder, position, sentence.first_row + b, static_cast<uint32_t>(token));
      }
    }
  });
}

int32_t advance_search(
    const Runtime& runtime, const SearchOptions& options, const SearchBuffers& buffers, SearchStep* step) {
  int32_t first_token = -1;
  const uint32_t position = step->position;
  const int32_t fed = kHasDrafts && step->n_ahead > 0 ? buffers.tokens[(position + 1) * buffers.n_slots] : -1;
  const Split split = split_rows(runtime, step->n_rows);
  run_pieces(runtime, split, [&](uint32_t piece, uint32_t) {
    const Range part = split.part_of(options.n_sentences, piece);
    for (uint32_t sentence = part.first; sentence < part.first + part.count; ++sentence) {
      if (buffers.sentences[sentence].n_live == 0) continue;
      const int32_t token = advance_sentence(options, buffers, position, sentence);
      if (sentence == 0) first_token = token;
    }
  });
  start_position(options, buffers, position + 1, step);
  if (kHasDrafts && step->draft.n > 0) follow_draft(options, buffers, fed, step);
  return first_token;
}
}  // namespace goldcrest
