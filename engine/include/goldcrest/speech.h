/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources that are sound: models that take samples, or rows of features, in place of ids and texts. goldcrest_info says
 * what a model takes:
 *
 *   sample_rate        samples a second, mono; 0: the model takes no samples
 *   feature_channels   values of a feature row; 0: the model takes no feature rows
 *   first_row_samples  samples (or feature rows, if the model takes no samples) that the first encoder row needs
 *   row_samples        samples (or feature rows) from one encoder row to the next
 *   fixed_window       1: each clip has exactly limits.max_source_tokens rows; it is cut, or filled up with zeros
 *
 * limits.max_source_tokens counts encoder rows. A clip of n samples has (n - first_row_samples) / row_samples + 1 of
 * them, rounded down. goldcrest_search.max_length_factor counts them too, and leaves 3 tokens or more. All other calls
 * work as for texts: goldcrest_step, goldcrest_run, goldcrest_get_result, goldcrest_detokenize. goldcrest_begin and
 * goldcrest_begin_text return ERROR_UNSUPPORTED for such a model, and the functions here for any other model and in
 * builds without GOLDCREST_SPEECH.
 */
#ifndef GOLDCREST_SPEECH_H_
#define GOLDCREST_SPEECH_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts over with one clip of n samples at goldcrest_info.sample_rate. goldcrest_step reads them where they are, so
 * keep them unchanged until the first GOLDCREST_TOKEN or GOLDCREST_DONE: if they change, goldcrest_step returns
 * ERROR_STATE and forgets the sources. Reads the samples once, for a checksum. Returns the source's index, 0.
 * Errors: ERROR_ARGUMENT (engine or samples null; fewer samples than first_row_samples), ERROR_UNSUPPORTED (the model
 * takes no samples), ERROR_TOO_LONG (more rows than limits.max_source_tokens). */
GOLDCREST_MUST_CHECK int goldcrest_begin_audio(goldcrest_engine *engine, const int16_t *samples, size_t n);

/* The same with n feature rows of feature_channels floats each, as the first convolution reads them. A model with a
 * log-mel takes such rows too; row_samples is then the hop times the rows of one encoder row.
 * Errors: ERROR_ARGUMENT (engine or features null; fewer rows than the first encoder row needs), ERROR_UNSUPPORTED (the
 * model takes no feature rows), ERROR_TOO_LONG (more encoder rows than limits.max_source_tokens). */
GOLDCREST_MUST_CHECK int goldcrest_begin_features(goldcrest_engine *engine, const float *features, size_t n);

/* Adds a clip to the batch before its first step. Returns its index, 1, 2, ...
 * Errors: those of goldcrest_begin_audio, or of goldcrest_begin_features; ERROR_STATE (before begin, or after the first
 * step), ERROR_TOO_LONG (more sources than limits.batch). */
GOLDCREST_MUST_CHECK int goldcrest_add_audio(goldcrest_engine *engine, const int16_t *samples, size_t n);
GOLDCREST_MUST_CHECK int goldcrest_add_features(goldcrest_engine *engine, const float *features, size_t n);

/* Turns samples into text: begin_audio, run, detokenize the best hypothesis. Writes a terminating zero to out. Returns
 * the bytes of the text without it.
 * Errors: those of goldcrest_begin_audio and goldcrest_run; ERROR_ARGUMENT (out null, or out_bytes 0);
 * ERROR_UNSUPPORTED (the model has no detokenizer); ERROR_TRUNCATED (out too small: the whole characters that fit are
 * written and terminated). */
GOLDCREST_MUST_CHECK int64_t goldcrest_transcribe(
    goldcrest_engine *engine, const int16_t *samples, size_t n, char *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif

#endif
