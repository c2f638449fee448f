/* SPDX-License-Identifier: Apache-2.0
 *
 * Two places for a model in flash. A record names the one that starts. A record is written whole or not at all, so at
 * any power loss one of the two models starts, and it is whole.
 */
#ifndef GOLDCREST_MODELSLOTS_H_
#define GOLDCREST_MODELSLOTS_H_

#include "flash_device.h"
#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first two sectors hold one record each. Slots 0 and 1 share the other sectors equally. */
typedef struct ModelSlots {
  const FlashDevice *flash;
  /* The boot loader's own check of a model's signature, before anything else trusts the model; null: no check. */
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
/* Returns the offset of a slot in the device. */
size_t slot_offset(const ModelSlots *slots, uint32_t slot);

/* *record <- the newest record. Returns false if there is none, because no model was installed yet. */
bool read_record(const ModelSlots *slots, ModelRecord *record);

/* Writes the record over the older one, with the next sequence number. Returns false if the flash failed. */
bool write_record(const ModelSlots *slots, ModelRecord *record);

/* Starts an engine with the model that the newest record names. If that model was started once without being confirmed,
 * is refused, or fails its self-test, starts the other model, which the record then names. A model is given up only
 * after the other has started: an unconfirmed model is better than none. config needs everything except the model,
 * which this sets. Returns a status of the engine; ERROR_STATE if no model is installed or the flash failed,
 * ERROR_ARGUMENT if `accepts` refuses. */
int start_model(const ModelSlots *slots, goldcrest_config *config, goldcrest_engine **engine);

/* Confirms the started model, so that it stays. Returns OK or ERROR_STATE. */
int confirm_model(const ModelSlots *slots, goldcrest_detail *detail);

/* Fills *detail and returns the status. */
int model_error(goldcrest_detail *detail, goldcrest_status status, const char *message, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_MODELSLOTS_H_ */
