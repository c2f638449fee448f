/* SPDX-License-Identifier: Apache-2.0
 *
 * Images as a model takes them that reads text from pixels: resized, cut, and in patches, which are rows of features
 * (goldcrest/speech.h). The pixels are those of Pillow's resize, and the same numbers on every machine. It works row by
 * row in the caller's memory; firmware that does not call these functions does not contain them.
 *
 *   goldcrest_image image = {.width = 640, .height = 48, .format = GOLDCREST_RGB};
 *   goldcrest_image_begin(&image, engine, memory, bytes);      bytes: goldcrest_image_bytes(&image, engine)
 *   goldcrest_image_row(&image, row);                          for each row, from the top
 *   goldcrest_begin_features(engine, image.features, image.n); then goldcrest_run and so on
 */
#ifndef GOLDCREST_IMAGE_H_
#define GOLDCREST_IMAGE_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 8 bits a value; RGBA is shown on white. */
typedef enum goldcrest_pixels { GOLDCREST_GREY, GOLDCREST_RGB, GOLDCREST_BGR, GOLDCREST_RGBA } goldcrest_pixels;

/* The caller owns it, and sets the first three fields. */
typedef struct goldcrest_image {
  uint32_t width, height; /* 1 to 65,535 pixels each, together fewer than 100,000,000 */
  uint32_t format;        /* goldcrest_pixels */
  /* From goldcrest_image_begin on; complete after the last row. Both are in the memory. */
  float *features;
  size_t n; /* rows of features */
  /* The functions' own. */
  const void *settings;
  uint32_t channels, colours, next_in, next_out;
} goldcrest_image;

/* Returns the bytes of memory for such an image: the features, weights of pixels, and as many rows as one of the
 * resized image reads. 0: the model takes no images, or none of this size and format. */
uint64_t goldcrest_image_bytes(const goldcrest_image *image, const goldcrest_engine *engine);

/* Starts an image. The memory, aligned to 4 bytes, must stay until the engine has read the features.
 * Errors: ERROR_ARGUMENT (a null pointer; memory misaligned or too small), ERROR_UNSUPPORTED (no images, or none of
 * this size and format; a build without GOLDCREST_SPEECH), ERROR_TOO_LONG (limits.max_source_tokens below an image's
 * rows). */
GOLDCREST_MUST_CHECK int goldcrest_image_begin(
    goldcrest_image *image, const goldcrest_engine *engine, void *memory, size_t bytes);

/* Takes the next row of pixels. Errors: ERROR_ARGUMENT (a null pointer), ERROR_STATE (no image has begun, or it has all
 * its rows). */
GOLDCREST_MUST_CHECK int goldcrest_image_row(goldcrest_image *image, const uint8_t *pixels);

#ifdef __cplusplus
}
#endif

#endif
