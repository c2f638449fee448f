/* SPDX-License-Identifier: Apache-2.0
 *
 * Languages by name, of models that translate into several. OPUS-MT's begin a source with an entry >>xxx<< of their
 * vocabulary.
 */
#ifndef GOLDCREST_LANGUAGES_H_
#define GOLDCREST_LANGUAGES_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*goldcrest_language_function)(void *context, const char *code, size_t code_bytes, int32_t id);

/* The target languages of a model that has several: calls visit (may be null) for every entry >>xxx<< of the source's
 * vocabulary, with the code xxx (no terminator) and the entry's id, in the order of the codes. Returns their number; 0
 * for a model of one target language, whose name is goldcrest_info.target_language.
 * Work: that of a size query, and 256 steps for each unit of the tokenizer's trie.
 * Errors: those of goldcrest_model_info (ERROR_MODEL_CORRUPT also where the tokenizer's trie is no tree). */
GOLDCREST_MUST_CHECK int goldcrest_target_languages(const void *model, size_t model_bytes,
                                                    goldcrest_language_function visit, void *visit_context,
                                                    goldcrest_detail *detail);

/* The languages of the following texts, by the model's own names; null: as the model has it, and as it is at first.
 * source must be goldcrest_info.source_language. target is one of goldcrest_target_languages: a text that does not
 * begin with a code of its own is read as if it began with >>target<<. Where there are none it must be
 * goldcrest_info.target_language. Sources of ids stay as they are.
 * Errors: ERROR_ARGUMENT (engine null; a language that the model has not), which changes nothing. */
GOLDCREST_MUST_CHECK int goldcrest_set_languages(goldcrest_engine *engine, const char *source, const char *target);

#ifdef __cplusplus
}
#endif

#endif
