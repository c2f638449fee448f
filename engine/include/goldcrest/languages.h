/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects languages by name in models that translate into several. A source of such an OPUS-MT model begins with an
 * entry >>xxx<< of its vocabulary.
 */
#ifndef GOLDCREST_LANGUAGES_H_
#define GOLDCREST_LANGUAGES_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*goldcrest_language_function)(void *context, const char *code, size_t code_bytes, int32_t id);

/* Lists the target languages of a model that has several: the entries >>xxx<< of the source vocabulary. Calls visit
 * (may be null) for every entry, with the code xxx (no terminator) and the entry's id, in the order of the codes.
 * Returns their number; 0 for a model with one target language, whose name is goldcrest_info.target_language.
 * Work: that of a size query, and 256 steps for each unit of the tokenizer's trie.
 * Errors: those of goldcrest_model_info (ERROR_MODEL_CORRUPT also if the tokenizer's trie is no tree). */
GOLDCREST_MUST_CHECK int goldcrest_target_languages(const void *model, size_t model_bytes,
                                                    goldcrest_language_function visit, void *visit_context,
                                                    goldcrest_detail *detail);

/* Sets the languages of the following texts, by the model's own names; null: the model's default, as after init.
 * source must be goldcrest_info.source_language. If the model has several target languages, target is one of
 * goldcrest_target_languages. A text without a code of its own is then read as if it began with >>target<<. With only
 * one target language, target must be goldcrest_info.target_language. Sources given as ids do not change.
 * Errors: ERROR_ARGUMENT (engine null; a language that the model lacks), which changes nothing. */
GOLDCREST_MUST_CHECK int goldcrest_set_languages(goldcrest_engine *engine, const char *source, const char *target);

#ifdef __cplusplus
}
#endif

#endif
