/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking inside: scores of given targets, and what the decoder attended to. Builds without the CMake option
 * GOLDCREST_INSPECTION answer ERROR_UNSUPPORTED. Token scores of results: goldcrest_result.token_log_probs.
 */
#ifndef GOLDCREST_INSPECTION_H_
#define GOLDCREST_INSPECTION_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives a stored source, before the first step, a target to score: n ids in [0, target_vocab_size), the end token
 * included where it is to count. The steps then follow the target in place of a search, and the result is the target
 * with its log_prob: the sum of the model's own log-probabilities, to which no rule of the search applies (no id is
 * forced or suppressed, none is free). Token scores and alignments are the target's. Replaces a target given before.
 * All sources of a batch need one; the next begin forgets them. limits.inspection needs GOLDCREST_INSPECT_TARGETS.
 * Errors: ERROR_ARGUMENT (engine or target null; n is 0; no such sentence), ERROR_STATE (no source was given, or the
 * steps have begun), ERROR_TOO_LONG (n above limits.max_target_tokens), ERROR_TOKEN_RANGE (detail.index: which id),
 * ERROR_UNSUPPORTED (limits.inspection lacks the bit, or this build GOLDCREST_INSPECTION). */
GOLDCREST_MUST_CHECK int goldcrest_score(goldcrest_engine *engine, uint32_t sentence, const int32_t *target, size_t n);

/* Which cross-attention: of a result's token, of a decoder layer's head. */
typedef struct goldcrest_alignment {
  uint32_t sentence, rank; /* the result, as in goldcrest_get_result */
  uint32_t token;          /* its index among the result's, < n_tokens */
  int32_t layer;           /* from 0, a bit of limits.alignment_layers; -1: the mean of all these layers */
  int32_t head;            /* from 0; -1: the mean of the layer's heads */
} goldcrest_alignment;

/* How much the decoder attended to each id of the source when it chose a token: weights [source ids] that sum to 1, the
 * soft-max that the layer itself used. Computes them from the caches: a few multiply-accumulates a source id. After
 * DONE; needs limits.alignment_layers. Returns the number of source ids.
 * Errors: ERROR_ARGUMENT (a null pointer; no such sentence, rank, token or head; a layer that is not kept), ERROR_STATE
 * (not done), ERROR_TRUNCATED (n_weights below the number of source ids; nothing was written), ERROR_UNSUPPORTED
 * (limits.alignment_layers is 0, or this build lacks GOLDCREST_INSPECTION). */
GOLDCREST_MUST_CHECK int goldcrest_get_alignment(const goldcrest_engine *engine, const goldcrest_alignment *wanted,
                                                 float *weights, size_t n_weights);

#ifdef __cplusplus
}
#endif

#endif
