/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which model starts, and changes it.
 */
#include "model_slots.h"

#include <string.h>

/* A record in flash has its words, then their complements. Programming only clears bits and erasing only sets them, so
 * after a write that a power loss cut short some bit is the same in both. */
enum { kWords = sizeof(ModelRecord) / sizeof(uint32_t) };
_Static_assert(2 * sizeof(ModelRecord) == 64, "the smallest unit that a device can program");

static const char kNoRecord[] = "flash: a record could not be written";

int model_error(goldcrest_detail *detail, goldcrest_status status, const char *message, size_t index) {
  if (detail != NULL) *detail = (goldcrest_detail){message, (int32_t)index};
  return status;
}

size_t slot_bytes(const ModelSlots *slots) {
  return (size_t)(slots->flash->n_sectors - 2) / 2 * slots->flash->sector_bytes;
}

size_t slot_offset(const ModelSlots *slots, uint32_t slot) {
  return 2 * (size_t)slots->flash->sector_bytes + slot * slot_bytes(slots);
}

const uint8_t *slot_model(const ModelSlots *slots, uint32_t slot) {
  return slots->flash->memory + slot_offset(slots, slot);
}

/* *record <- the record of a sector. Returns false if it is not whole. */
static bool read_sector(const ModelSlots *slots, uint32_t sector, ModelRecord *record) {
  uint32_t words[2 * kWords];
  memcpy(words, slots->flash->memory + (size_t)sector * slots->flash->sector_bytes, sizeof words);
  for (int i = 0; i < kWords; ++i)
    if (words[i] != ~words[kWords + i]) return false;
  memcpy(record, words, sizeof *record);
  return record->slot <= 1 && record->state <= kStarted && record->model_bytes[0] <= slot_bytes(slots) &&
         record->model_bytes[1] <= slot_bytes(slots);
}

bool read_record(const ModelSlots *slots, ModelRecord *record) {
  ModelRecord other;
  const bool has_other = read_sector(slots, 1, &other);
  if (!read_sector(slots, 0, record) || (has_other && other.sequence > record->sequence)) {
    *record = other;
    return has_other;
  }
  return true;
}

bool write_record(const ModelSlots *slots, ModelRecord *record) {
  const FlashDevice *flash = slots->flash;
  uint32_t words[2 * kWords];
  ++record->sequence;
  memcpy(words, record, sizeof *record);
  for (int i = 0; i < kWords; ++i) words[kWords + i] = ~words[i];
  const uint32_t sector = record->sequence % 2; /* not the newest record's */
  const size_t offset = (size_t)sector * flash->sector_bytes;
  return flash->erase(flash->context, sector) &&
         flash->program(flash->context, offset, (const uint8_t *)words, sizeof words) &&
         memcmp(flash->memory + offset, words, sizeof words) == 0;
}

/* Starts the slot's model after three checks, in this order: its signature, every byte, its results on this device. */
static int start_slot(const ModelSlots *slots, const ModelRecord *record, uint32_t slot, goldcrest_config *config,
    goldcrest_engine **engine) {
  config->model = slot_model(slots, slot);
  config->model_bytes = record->model_bytes[slot];
  config->verify = GOLDCREST_VERIFY_FULL;
  if (slots->accepts != NULL && !slots->accepts(slots->context, config->model, config->model_bytes))
    return model_error(config->detail, GOLDCREST_ERROR_ARGUMENT, "signature: refused", slot);
  const int status = goldcrest_init(engine, config);
  return status < 0 ? status : goldcrest_self_test(*engine, config->detail);
}

/* Starts the record's model, or else the other one. If the record's was started once already, the other one is tried
 * first. If the other model starts, it replaces the record's, which never starts again. */
static int start_either(
    const ModelSlots *slots, ModelRecord *record, goldcrest_config *config, goldcrest_engine **engine) {
  const uint32_t named = record->slot, other = named ^ 1;
  const bool has_other = record->model_bytes[other] != 0, other_first = has_other && record->state == kStarted;
  uint32_t slot = other_first ? other : named;
  int status = start_slot(slots, record, slot, config, engine);
  if (status < 0 && has_other) {
    slot ^= 1;
    status = start_slot(slots, record, slot, config, engine);
  }
  if (status < 0 || slot == named) return status;
  *record = (ModelRecord){.sequence = record->sequence, .slot = other, .state = kSettled};
  record->model_bytes[other] = (uint32_t)config->model_bytes;
  if (write_record(slots, record)) return status;
  return model_error(config->detail, GOLDCREST_ERROR_STATE, kNoRecord, (size_t)-1);
}

int start_model(const ModelSlots *slots, goldcrest_config *config, goldcrest_engine **engine) {
  ModelRecord record;
  *engine = NULL;
  if (!read_record(slots, &record))
    return model_error(config->detail, GOLDCREST_ERROR_STATE, "slots: no model is installed", (size_t)-1);
  if (record.state == kOnTrial) { /* from here on it has had its chance */
    ModelRecord started = record;
    started.state = kStarted;
    if (!write_record(slots, &started))
      return model_error(config->detail, GOLDCREST_ERROR_STATE, kNoRecord, (size_t)-1);
    record.sequence = started.sequence;
  }
  const int status = start_either(slots, &record, config, engine);
  if (status < 0) *engine = NULL;
  return status;
}

int confirm_model(const ModelSlots *slots, goldcrest_detail *detail) {
  ModelRecord record;
  if (!read_record(slots, &record) || record.state == kOnTrial)
    return model_error(detail, GOLDCREST_ERROR_STATE, "slots: no model was started", (size_t)-1);
  if (record.state == kSettled) return GOLDCREST_OK;
  record.state = kSettled;
  if (write_record(slots, &record)) return GOLDCREST_OK;
  return model_error(detail, GOLDCREST_ERROR_STATE, kNoRecord, (size_t)-1);
}
