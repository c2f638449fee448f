/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the checksums of a model file slice by slice. Use it in a program's idle time, for memory that may have
 * changed since goldcrest_init has read it, or while a file arrives.
 */
#ifndef GOLDCREST_CHECK_H_
#define GOLDCREST_CHECK_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The progress of a check; start with all zeros. Programs may read checked_bytes, and write no field. */
typedef struct goldcrest_check {
  uint64_t checked_bytes; /* of the file, from its start */
  uint64_t ends[5];       /* bytes: the ends of metadata and sections, once they are known */
  uint32_t checksums[5];  /* the ones that metadata and sections must have */
  uint32_t crc32c;        /* of the current part, up to checked_bytes */
  uint32_t part;          /* the current one */
} goldcrest_check;

/* Continues the check of a file up to its byte end_bytes. The parts are the trailer (checked at every call), the
 * metadata, the weights and the other sections. Once all metadata is read, one call reads it again to check its
 * structure. Apart from this, a call with end_bytes = check->checked_bytes + n reads at most n further bytes.
 * At or after end_bytes only the trailer is read, the file's last 64 bytes. So if the trailer arrives first, you can
 * check a file while the rest arrives. Returns WORKING while bytes are left, and DONE if the whole file is intact.
 * After DONE and after an error, *check is all zeros, and the next call starts over. detail may be null.
 * The check needs no engine and changes none. It finds all damage; goldcrest_init also checks values.
 * Errors: those of goldcrest_model_info; ERROR_ARGUMENT (check is null or was left by no call). */
GOLDCREST_MUST_CHECK int goldcrest_check_weights(
    const void *model, size_t model_bytes, size_t end_bytes, goldcrest_check *check, goldcrest_detail *detail);

#ifdef __cplusplus
}
#endif

#endif
