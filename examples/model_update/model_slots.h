/* SPDX-License-Identifier: Apache-2.0
 *
 * Two places for a model in flash, of which a record names the one that starts. A record is written whole or not at
 * all, so that whenever the power goes, one model or the other starts, and it is whole.
 */
#ifndef GOLDCREST_MODELSLOTS_H_
#define GOLDCREST_MODELSLOTS_H_

#include "flash_device.h"
#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first two sectors hold a record each; slots 0 and 1 have half of the others each. */
typedef struct ModelSlots {
  const FlashDevice *flash;
  /* The boot loader's own check of who made a model, before anything else is believed of it; null: none. */
  bool (*accepts)(void *context, const uint8_t *model, size_t model_bytes);
  void *context;
} ModelSlots;

typedef enum ModelState {
  kSettled = 0,
  kOnTrial = 1, /* installed, and not started yet */
  kStarted = 2  /* started, and not confirmed yet: the next start goes back to the other model, if that starts */
} ModelState;

typedef struct ModelRecord {
  uint32_t sequence;       /* the record with the larger one counts */
  uint32_t slot;           /* whose model starts */
  uint32_t state;          /* ModelState */
  uint32_t model_bytes[2]; /* of each slot; 0: nothing to start there */
  uint32_t reserved[3];
} ModelRecord;

size_t slot_bytes(const ModelSlots *slots);
const uint8_t *slot_model(const ModelSlots *slots, uint32_t slot);
/* Where a slot begins, in the device. */
size_t slot_offset(const ModelSlots *slots, uint32_t slot);

/* The newest record. False where there is none: no model was installed yet. */
bool read_record(const ModelSlots *slots, ModelRecord *record);

/* Puts the record, with the next sequence number, in the place of the older one. False where the flash failed. */
bool write_record(const ModelSlots *slots, ModelRecord *record);

/* Starts an engine with the model that the newest record names, or, where that was started once without being
 * confirmed, or is refused, or fails its self-test, with the other one, which is then the one that starts. A model is
 * given up when the other has started, not before: one that nobody confirmed is better than none. config says
 * everything but the model, which this sets. Returns a status of the engine's; ERROR_STATE where no model is installed
 * or the flash failed, ERROR_ARGUMENT where `accepts` refuses. */
int start_model(const ModelSlots *slots, goldcrest_config *config, goldcrest_engine **engine);

/* The program has found that the model that it started is good: it stays. Returns OK or ERROR_STATE. */
int confirm_model(const ModelSlots *slots, goldcrest_detail *detail);

/* Fills *detail and returns the status. */
int model_error(goldcrest_detail *detail, goldcrest_status status, const char *message, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_MODELSLOTS_H_ */
