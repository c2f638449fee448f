/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs arriving chunks into pages of flash and checks their checksums.
 */
#include "model_update.h"

#include <string.h>

static int update_error(ModelUpdate *update, goldcrest_status status, const char *message, size_t index) {
  update->model_bytes = 0; /* refuses further chunks */
  update->whole = false;
  return model_error(&update->detail, status, message, index);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Programs bytes of the slot. Erases a sector at its first byte. The last sector is erased for the trailer, which comes
 * first. */
static bool program(const ModelUpdate *update, size_t at, const uint8_t *bytes, size_t n) {
  const FlashDevice *flash = update->slots->flash;
  const size_t offset = slot_offset(update->slots, update->slot) + at;
  const bool is_trailer = at == update->model_bytes - kTrailerBytes;
  const bool in_last_sector = at / flash->sector_bytes == (update->model_bytes - 1) / flash->sector_bytes;
  if (is_trailer || (at % flash->sector_bytes == 0 && !in_last_sector)) {
    if (!flash->erase(flash->context, (uint32_t)(offset / flash->sector_bytes))) return false;
  }
  return flash->program(flash->context, offset, bytes, n) && memcmp(flash->memory + offset, bytes, n) == 0;
}

/* Checks the checksums of the programmed bytes. */
static int check_arrived(ModelUpdate *update) {
  const uint8_t *model = slot_model(update->slots, update->slot);
  const int status =
      goldcrest_check_weights(model, update->model_bytes, update->programmed_bytes, &update->check, &update->detail);
  update->whole = status == GOLDCREST_DONE;
  if (status < 0) update->model_bytes = 0;
  return status < 0 ? status : GOLDCREST_OK;
}

/* *record <- the newest record, which an update reads at its begin and end; before the first model, one that names slot
 * 1 and has no models. Returns false if the model that it names is not confirmed. */
static bool read_settled(const ModelSlots *slots, ModelRecord *record) {
  if (!read_record(slots, record)) *record = (ModelRecord){.slot = 1}; /* the first model comes in slot 0 */
  return record->state == kSettled;
}

int begin_update(ModelUpdate *update, const ModelSlots *slots, size_t model_bytes, const uint8_t *trailer) {
  const FlashDevice *flash = slots->flash;
  ModelRecord record;
  memset(update, 0, sizeof *update);
  update->slots = slots;
  if (flash->page_bytes == 0 || flash->page_bytes > kMaxPageBytes || flash->page_bytes % kTrailerBytes != 0 ||
      flash->sector_bytes % flash->page_bytes != 0)
    return update_error(update, GOLDCREST_ERROR_ARGUMENT, "flash: page_bytes", flash->page_bytes);
  if (!read_settled(slots, &record))
    return update_error(update, GOLDCREST_ERROR_STATE, "update: the model that runs is not confirmed", (size_t)-1);
  update->slot = record.slot ^ 1;
  if (model_bytes > slot_bytes(slots))
    return update_error(update, GOLDCREST_ERROR_TOO_LONG, "update: larger than a slot", slot_bytes(slots));
  if (model_bytes < 2 * (size_t)kTrailerBytes || model_bytes % kTrailerBytes != 0)
    return update_error(update, GOLDCREST_ERROR_MODEL_CORRUPT, "update: no model has such a size", model_bytes);
  update->model_bytes = model_bytes;
  if (!program(update, model_bytes - kTrailerBytes, trailer, kTrailerBytes))
    return update_error(update, GOLDCREST_ERROR_STATE, "flash: the trailer could not be written", (size_t)-1);
  return check_arrived(update);
}

int write_update(ModelUpdate *update, const uint8_t *bytes, size_t n) {
  const size_t page_bytes = update->slots->flash->page_bytes;
  if (update->model_bytes == 0)
    return model_error(&update->detail, GOLDCREST_ERROR_STATE, "update: none is under way", (size_t)-1);
  const size_t end = update->model_bytes - kTrailerBytes;
  if (n > end - update->arrived_bytes)
    return update_error(update, GOLDCREST_ERROR_TOO_LONG, "update: more bytes than were announced", end);
  while (n > 0) {
    const size_t waiting = update->arrived_bytes - update->programmed_bytes, taken = smaller(n, page_bytes - waiting);
    memcpy(update->page + waiting, bytes, taken);
    update->arrived_bytes += taken;
    bytes += taken;
    n -= taken;
    if (waiting + taken < page_bytes && update->arrived_bytes < end) break;
    if (!program(update, update->programmed_bytes, update->page, waiting + taken)) {
      return update_error(
          update, GOLDCREST_ERROR_STATE, "flash: a page could not be written", update->programmed_bytes);
    }
    update->programmed_bytes = update->arrived_bytes;
    const int status = check_arrived(update);
    if (status < 0) return status;
  }
  return GOLDCREST_OK;
}

int finish_update(ModelUpdate *update) {
  if (!update->whole)
    return update_error(update, GOLDCREST_ERROR_STATE, "update: the model has not arrived", update->arrived_bytes);
  const ModelSlots *slots = update->slots;
  const uint8_t *model = slot_model(slots, update->slot);
  if (slots->accepts != NULL && !slots->accepts(slots->context, model, update->model_bytes))
    return update_error(update, GOLDCREST_ERROR_ARGUMENT, "signature: refused", update->slot);
  ModelRecord record;
  if (!read_settled(slots, &record) || record.slot == update->slot)
    return update_error(update, GOLDCREST_ERROR_STATE, "update: another model starts since it began", (size_t)-1);
  record.slot = update->slot;
  record.state = kOnTrial;
  record.model_bytes[record.slot] = (uint32_t)update->model_bytes;
  if (!write_record(slots, &record))
    return update_error(update, GOLDCREST_ERROR_STATE, "flash: a record could not be written", (size_t)-1);
  update->model_bytes = 0;
  update->whole = false;
  return GOLDCREST_OK;
}
