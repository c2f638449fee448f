/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware whose model is stored outside of its image and is replaced while it runs. It shows four updates: one that a
 * power loss cuts short, one that arrives damaged, one that is given up because nobody confirmed it, and one that
 * stays. The flash is simulated in RAM, and two arrays of the image replace the line that would bring models.
 */
#include <stddef.h>
#include <stdint.h>

#include "board_api.h"
#include "console_text.h"
#include "model_g2p.h"
#include "model_small.h"
#include "model_update.h"
#include "simulated_flash.h"

enum { kSectorBytes = 4096, kPageBytes = 256, kChunkBytes = 100 };
enum { kSlotSectors = (MODEL_G2P_BYTES + kSectorBytes - 1) / kSectorBytes, kSectors = 2 + 2 * kSlotSectors };

_Static_assert(MODEL_G2P_BYTES >= MODEL_SMALL_BYTES && MODEL_G2P_ARENA_BYTES >= MODEL_SMALL_ARENA_BYTES,
    "the slots and the arena fit the larger model");

#ifdef FLASH_SECTION
__attribute__((section(FLASH_SECTION)))
#endif
static _Alignas(GOLDCREST_ALIGN) uint8_t flash_memory[(size_t)kSectors * kSectorBytes];
static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];

static goldcrest_detail detail;

/* On your board, ask the boot loader whether it knows the signer of this model. */
static bool accept_any(void *context, const uint8_t *model, size_t model_bytes) {
  (void)context;
  return model != NULL && model_bytes > 0;
}

/* Receives a model as from a line: the trailer, then chunks. Damages a byte of the chunk that has byte `damaged_byte`.
 */
static void receive(const ModelSlots *slots, const uint8_t *model, size_t model_bytes, size_t damaged_byte) {
  static ModelUpdate update; /* it holds a page */
  uint8_t chunk[kChunkBytes];
  const size_t rest = model_bytes - kTrailerBytes;
  int status = begin_update(&update, slots, model_bytes, model + rest);
  size_t at = 0;
  while (status >= 0 && at < rest) {
    size_t n = 0;
    for (; n < kChunkBytes && at < rest; ++n, ++at) chunk[n] = (uint8_t)(model[at] ^ (at == damaged_byte));
    status = write_update(&update, chunk, n);
  }
  if (status >= 0) status = finish_update(&update);
  put_unsigned(at);
  put_text(" of ");
  put_unsigned(rest);
  put_text(" bytes have arrived");
  if (status < 0) {
    put_text("; ");
    put_error("refused", status, &update.detail);
  } else {
    put_text(".\n");
  }
}

/* Resets: the model that starts pronounces a word. */
static void start(const ModelSlots *slots) {
  goldcrest_config config = {
      .arena = arena, .arena_bytes = sizeof arena, .limits = MODEL_G2P_LIMITS, .detail = &detail};
  goldcrest_engine *engine;
  const int status = start_model(slots, &config, &engine);
  if (status < 0) {
    put_init_error("no model can be used", status, &config);
    board_exit(1);
  }
  put_start(engine, config.model_bytes, sizeof arena);
  char phonemes[128];
  const int64_t n = goldcrest_translate(engine, "renewal", 7, phonemes, sizeof phonemes);
  put_text(config.model == slot_model(slots, 0) ? "slot 0: " : "slot 1: ");
  put_text(n < 0 ? goldcrest_status_string((int)n) : phonemes);
  put_text("\n");
}

static void confirm(const ModelSlots *slots) {
  const int status = confirm_model(slots, &detail);
  if (status < 0)
    put_error("confirm", status, &detail);
  else
    put_text("It is confirmed.\n");
}

int main(void) {
  board_init();
  static SimulatedFlash flash;
  const FlashDevice layout = {.n_sectors = kSectors, .sector_bytes = kSectorBytes, .page_bytes = kPageBytes};
  make_simulated_flash(&flash, flash_memory, &layout);
  const ModelSlots slots = {.flash = &flash.device, .accepts = accept_any};
  const size_t nowhere = (size_t)-1;

  put_text("A first model arrives.\n");
  receive(&slots, model_small, MODEL_SMALL_BYTES, nowhere);
  start(&slots);
  confirm(&slots);

  put_text("\nA new model arrives, and the power goes.\n");
  simulated_power_on(&flash, 2000, kPageBytes / 2);
  receive(&slots, model_g2p, MODEL_G2P_BYTES, nowhere);
  simulated_power_on(&flash, 0, 0);
  start(&slots);

  put_text("\nIt arrives with a wrong byte.\n");
  receive(&slots, model_g2p, MODEL_G2P_BYTES, 1000);
  start(&slots);

  put_text("\nIt arrives whole, and a reset comes before it is confirmed.\n");
  receive(&slots, model_g2p, MODEL_G2P_BYTES, nowhere);
  start(&slots);
  start(&slots);

  put_text("\nIt arrives whole, and stays.\n");
  receive(&slots, model_g2p, MODEL_G2P_BYTES, nowhere);
  start(&slots);
  confirm(&slots);
  start(&slots);
  board_exit(flash.is_misused);
}
