/* SPDX-License-Identifier: Apache-2.0
 *
 * NOR flash in RAM, whose power can fail during any write. On your board, use the driver of your flash instead.
 */
#ifndef GOLDCREST_SIMULATEDFLASH_H_
#define GOLDCREST_SIMULATEDFLASH_H_

#include "flash_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimulatedFlash {
  uint8_t *memory; /* [device.n_sectors * device.sector_bytes] */
  FlashDevice device;
  uint32_t n_writes; /* erases and programs since the power came */
  uint32_t cut_at;   /* during the write of this number, from 1, the power goes; 0: it stays */
  size_t cut_bytes;  /* so many bytes of that write are through, and half of the bits of the next */
  bool is_off;       /* nothing is written any more */
  bool is_misused;   /* a write was across pages, or would have set a bit */
} SimulatedFlash;

/* Makes a flash with all bits one, as from the factory. `layout` has its sizes. memory: [n_sectors * sector_bytes]. */
void make_simulated_flash(SimulatedFlash *flash, uint8_t *memory, const FlashDevice *layout);

/* Switches the power on. It fails again during write number cut_at. */
void simulated_power_on(SimulatedFlash *flash, uint32_t cut_at, size_t cut_bytes);

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_SIMULATEDFLASH_H_ */
