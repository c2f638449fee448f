/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a flash memory that the update calls. The flash must be mapped: the update and the engine read a
 * model in place.
 */
#ifndef GOLDCREST_FLASHDEVICE_H_
#define GOLDCREST_FLASHDEVICE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FlashDevice {
  const uint8_t *memory; /* [n_sectors * sector_bytes], aligned to GOLDCREST_ALIGN */
  uint32_t n_sectors, sector_bytes;
  uint32_t page_bytes; /* a multiple of 64, at most kMaxPageBytes; a sector is a multiple of it */
  /* Sets all bits of a sector to one. Returns false if the device reports a failure. */
  bool (*erase)(void *context, uint32_t sector);
  /* Clears bits. bytes: [n] within one page; n and the offset are multiples of 64. Returns false like erase. */
  bool (*program)(void *context, size_t offset, const uint8_t *bytes, size_t n);
  void *context;
} FlashDevice;

enum { kMaxPageBytes = 1024 };

#ifdef __cplusplus
}
#endif

#endif /* GOLDCREST_FLASHDEVICE_H_ */
