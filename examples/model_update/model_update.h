/* SPDX-License-Identifier: Apache-2.0
 *
 * A new model arrives in chunks, in the slot that is not in use, and is checked as far as it is there. The model that
 * runs goes on.
 */
#ifndef GOLDCREST_MODELUPDATE_H_
#define GOLDCREST_MODELUPDATE_H_

#include "goldcrest/check.h"
#include "model_slots.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kTrailerBytes = 64 }; /* the end of a model file, which comes first: it says what the rest must be */

typedef struct ModelUpdate {
  const ModelSlots *slots;
  uint32_t slot; /* in which the model arrives */
  size_t model_bytes;
  size_t arrived_bytes, programmed_bytes; /* from the model's start */
  goldcrest_check check;
  bool whole; /* the last checksum was right */
  goldcrest_detail detail;
  uint8_t page[kMaxPageBytes]; /* [arrived_bytes - programmed_bytes] */
} ModelUpdate;

/* Begins anew with a model of so many bytes. trailer: [64], its last bytes. Returns OK or an error of which
 * update->detail says more: ERROR_STATE (the model that runs is not confirmed; the flash failed), ERROR_TOO_LONG (it
 * does not fit a slot), ERROR_MODEL_CORRUPT, ERROR_MODEL_VERSION, ERROR_ARGUMENT (pages of a size that is not taken).
 */
int begin_update(ModelUpdate *update, const ModelSlots *slots, size_t model_bytes, const uint8_t *trailer);

/* The next n bytes of the model, any number, up to its trailer. Returns OK; ERROR_MODEL_CORRUPT or ERROR_UNSUPPORTED
 * as soon as what has arrived shows it; ERROR_TOO_LONG, ERROR_STATE (the flash failed). After an error begin anew. */
int write_update(ModelUpdate *update, const uint8_t *bytes, size_t n);

/* The model is all there: from the next start_model on it is the one that starts, on trial. Returns OK, or
 * ERROR_STATE (not all of it has arrived whole; since begin_update start_model gave up the model that ran; the flash
 * failed), ERROR_ARGUMENT (slots->accepts refuses it). */
int finish_update(ModelUpdate *update);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_MODELUPDATE_H_ */
