/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts a text into sentences, white space and line ends, for models that were trained on single sentences. It needs no
 * model, no engine and no memory:
 *
 *     goldcrest_part part;
 *     for (; goldcrest_next_part(text, text_bytes, &options, &part) > 0; text += part.bytes, text_bytes -= part.bytes)
 *       if (part.kind == GOLDCREST_PART_SENTENCE) ... translate part.bytes bytes from text on ...
 *       else                                      ... copy them ...
 */
#ifndef GOLDCREST_SENTENCES_H_
#define GOLDCREST_SENTENCES_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum goldcrest_part_kind {
  GOLDCREST_PART_NONE = 0,     /* the text is empty */
  GOLDCREST_PART_SENTENCE = 1, /* a sentence, or a piece of a long one; no white space at its ends */
  GOLDCREST_PART_SPACE = 2,    /* white space within a line */
  GOLDCREST_PART_LINE_END = 3  /* one line end: LF, CR, CR LF, U+2028 or U+2029 */
} goldcrest_part_kind;

/* Options of the cutting. All zeros: no abbreviations, no limit. */
typedef struct goldcrest_part_options {
  /* UTF-8 text: words, white space between them, in any order. A full stop after one of these words, which the list
   * leaves out, does not end a sentence. A word that begins with a small letter also stands for the capitalized one.
   * "no#": only where a digit follows. "-str": every word with this end. "#": a full stop after a number of one or two
   * digits does not end a sentence either, as in German dates. May be null where abbreviations_bytes is 0. */
  const char *abbreviations;
  size_t abbreviations_bytes;
  size_t max_bytes; /* of a part; 0: no limit */
} goldcrest_part_options;

typedef struct goldcrest_part {
  size_t bytes;
  uint32_t kind; /* goldcrest_part_kind */
} goldcrest_part;

/* Fills *part with the first part of the text and returns its kind; the next part begins after it. options may be
 * null: all zeros. The parts together are the text, whatever bytes it has; a byte that is no UTF-8 is a character.
 *
 * A sentence ends at a line end, or at an end mark (. ! ? and those of other scripts) and the quotes and brackets that
 * close after it, if white space follows (Chinese and Japanese marks need none) and then no small letter. A full stop
 * does not end a sentence after a listed abbreviation, after a single capital letter, or after the number that a
 * part begins with. A sentence of more than max_bytes is cut after the last of ; : , and the dash, if more than a
 * quarter of max_bytes is before it; else at the last white space, else between two characters. No part is longer than
 * max_bytes, or it is one character.
 *
 * Work: linear in the part and max_bytes, and the list once for each full stop. All calls for a text read each byte at
 * most four times, and 250 bytes more for each end mark.
 * Errors: ERROR_ARGUMENT (part null; text null and text_bytes not 0; the list null and its bytes not 0). */
GOLDCREST_MUST_CHECK int goldcrest_next_part(
    const char *text, size_t text_bytes, const goldcrest_part_options *options, goldcrest_part *part);

#ifdef __cplusplus
}
#endif

#endif
