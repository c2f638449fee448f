/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksums of a model file a slice at a time: in a program's idle time, for memory that may have changed since
 * goldcrest_init has read it, or while a file arrives.
 */
#ifndef GOLDCREST_CHECK_H_
#define GOLDCREST_CHECK_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a file is checked; all zeros to start. Programs read checked_bytes and write nothing. */
typedef struct goldcrest_check {
  uint64_t checked_bytes; /* of the file, from its start */
  uint64_t ends[5];       /* of metadata and sections, as far as they are known */
  uint32_t checksums[5];  /* which they must have */
  uint32_t crc32c;        /* of the part that is under way, so far */
  uint32_t part;          /* which that is */
} goldcrest_check;

/* Goes on with the checksums of a file up to its byte end_bytes: the trailer's, at every call; the metadata's, whose
 * structure is checked once all of it is read, which reads it again; the weights' and the other sections'. With
 * end_bytes = check->checked_bytes + n a call reads n bytes more at most, and at one of them the metadata. No byte at
 * or behind end_bytes is read but the last 64, the trailer: a file whose trailer is there first is checked while it
 * arrives. Returns WORKING while some of the file is left, and DONE when all of it is whole; after DONE, as after an
 * error, *check is all zeros and the next call starts over. detail may be null.
 * It needs no engine and changes none. What goldcrest_init checks beyond it are values, not damage.
 * Errors: those of goldcrest_model_info; ERROR_ARGUMENT (check null, or one that no call has left). */
GOLDCREST_MUST_CHECK int goldcrest_check_weights(const void *model, size_t model_bytes, size_t end_bytes,
                                                 goldcrest_check *check, goldcrest_detail *detail);

#ifdef __cplusplus
}
#endif

#endif
