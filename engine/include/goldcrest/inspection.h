/* SPDX-License-Identifier: Apache-2.0
 *
 * Inspection: scores of given targets, and the decoder's attention to the source. Builds without the CMake option
 * GOLDCREST_INSPECTION return ERROR_UNSUPPORTED. goldcrest_result.token_log_probs has the token scores of results.
 */
#ifndef GOLDCREST_INSPECTION_H_
#define GOLDCREST_INSPECTION_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives a stored source a target to score: n ids in [0, target_vocab_size), with the end token if it is to count. Call
 * it before the first step. The steps then score the target instead of searching. The result is the target with its
 * log_prob, the sum of the model's own log-probabilities. No rule of the search applies: no id is forced or suppressed,
 * and none counts as 0. Token scores and alignments are those of the target. A new target replaces an earlier one. All
 * sources of a batch need a target; the next begin discards them. limits.inspection needs GOLDCREST_INSPECT_TARGETS.
 * Errors: ERROR_ARGUMENT (engine or target null; n is 0; no such sentence), ERROR_STATE (no source was given, or the
 * steps have begun), ERROR_TOO_LONG (n above limits.max_target_tokens), ERROR_TOKEN_RANGE (detail.index: which id),
 * ERROR_UNSUPPORTED (limits.inspection lacks the bit, or this build GOLDCREST_INSPECTION). */
GOLDCREST_MUST_CHECK int goldcrest_score(goldcrest_engine *engine, uint32_t sentence, const int32_t *target, size_t n);

/* Selects a cross-attention: of a token of a result, in a decoder layer and head. */
typedef struct goldcrest_alignment {
  uint32_t sentence, rank; /* the result, as in goldcrest_get_result */
  uint32_t token;          /* its index in the result, < n_tokens */
  int32_t layer;           /* from 0; its bit is set in limits.alignment_layers; -1: the mean of all such layers */
  int32_t head;            /* from 0; -1: the mean of the layer's heads */
} goldcrest_alignment;

/* weights [source ids] <- the decoder's attention to each id of the source when it chose a token. The weights sum to 1
 * and are the soft-max that the layer itself used. Computes them from the caches, with a few multiply-accumulates for
 * each source id. Call it after DONE; needs limits.alignment_layers. Returns the number of source ids.
 * Errors: ERROR_ARGUMENT (a null pointer; no such sentence, rank, token or head; a layer without its bit), ERROR_STATE
 * (not done), ERROR_TRUNCATED (n_weights below the number of source ids; nothing was written), ERROR_UNSUPPORTED
 * (limits.alignment_layers is 0, or this build lacks GOLDCREST_INSPECTION). */
GOLDCREST_MUST_CHECK int goldcrest_get_alignment(
    const goldcrest_engine *engine, const goldcrest_alignment *wanted, float *weights, size_t n_weights);

#ifdef __cplusplus
}
#endif

#endif
