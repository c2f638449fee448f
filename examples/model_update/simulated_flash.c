/* SPDX-License-Identifier: Apache-2.0
 *
 * Behaves like NOR flash: programming clears bits within a page, erasing sets the bits of a sector.
 */
#include "simulated_flash.h"

#include <string.h>

/* Returns how many of n bytes this write changes. Switches the power off if it is to fail during this write. */
static size_t bytes_through(SimulatedFlash *flash, size_t n) {
  ++flash->n_writes;
  flash->is_off = flash->n_writes == flash->cut_at;
  return flash->is_off && flash->cut_bytes < n ? flash->cut_bytes : n;
}

static bool erase(void *context, uint32_t sector) {
  SimulatedFlash *flash = context;
  if (flash->is_off) return false;
  const size_t n = flash->device.sector_bytes, through = bytes_through(flash, n);
  uint8_t *bytes = flash->memory + sector * n;
  memset(bytes, 0xFF, through);
  if (through < n) bytes[through] |= 0x55;
  return !flash->is_off;
}

static bool program(void *context, size_t offset, const uint8_t *bytes, size_t n) {
  SimulatedFlash *flash = context;
  if (flash->is_off) return false;
  const size_t page = flash->device.page_bytes;
  flash->is_misused |= n == 0 || offset % 64 != 0 || n % 64 != 0 || offset / page != (offset + n - 1) / page;
  const size_t through = bytes_through(flash, n);
  uint8_t *memory = flash->memory + offset;
  for (size_t i = 0; i < n; ++i) flash->is_misused |= (memory[i] & bytes[i]) != bytes[i];
  for (size_t i = 0; i < through; ++i) memory[i] &= bytes[i];
  if (through < n) memory[through] &= bytes[through] | 0x55;
  return !flash->is_off;
}

void make_simulated_flash(SimulatedFlash *flash, uint8_t *memory, const FlashDevice *layout) {
  memset(flash, 0, sizeof *flash);
  flash->memory = memory;
  flash->device = *layout;
  flash->device.memory = memory;
  flash->device.erase = erase;
  flash->device.program = program;
  flash->device.context = flash;
  memset(memory, 0xFF, (size_t)layout->n_sectors * layout->sector_bytes);
}

void simulated_power_on(SimulatedFlash *flash, uint32_t cut_at, size_t cut_bytes) {
  flash->n_writes = 0;
  flash->cut_at = cut_at;
  flash->cut_bytes = cut_bytes;
  flash->is_off = false;
}
