/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores a new model that arrives in chunks in the slot that is not in use, and checks it while it arrives. The running
 * model goes on.
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

/* Begins anew with a model of this many bytes. trailer: [64], its last bytes. Returns OK or an error, with details in
 * update->detail: ERROR_STATE (the running model is not confirmed; the flash failed), ERROR_TOO_LONG (the model does
 * not fit a slot), ERROR_MODEL_CORRUPT, ERROR_MODEL_VERSION, ERROR_ARGUMENT (pages of an unsupported size). */
int begin_update(ModelUpdate *update, const ModelSlots *slots, size_t model_bytes, const uint8_t *trailer);

/* Takes the next n bytes of the model, any number, up to its trailer. Returns OK; ERROR_MODEL_CORRUPT or
 * ERROR_UNSUPPORTED as soon as the arrived bytes show it; ERROR_TOO_LONG, ERROR_STATE (the flash failed). After an
 * error begin anew. */
int write_update(ModelUpdate *update, const uint8_t *bytes, size_t n);

/* Installs the complete model: the next start_model starts it, on trial. Returns OK; ERROR_STATE (the model has not
 * arrived whole; start_model has given up the running model since begin_update; the flash failed); ERROR_ARGUMENT
 * (slots->accepts refuses it). */
int finish_update(ModelUpdate *update);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_MODELUPDATE_H_ */
