/* SPDX-License-Identifier: Apache-2.0
 *
 * Selects languages by name in models that translate between several. Such a model has a table of languages (NLLB,
 * M2M-100, mBART), or its sources begin with an entry >>xxx<< of the vocabulary (OPUS-MT). Builds without
 * GOLDCREST_TEXT refuse files with a table.
 */
#ifndef GOLDCREST_LANGUAGES_H_
#define GOLDCREST_LANGUAGES_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*goldcrest_language_function)(void *context, const char *code, size_t code_bytes, int32_t id);

/* Lists the source languages of a model whose table has several. Calls visit (may be null) for each, with its name (no
 * terminator) and its id, in the order of the names. Returns their number; 0 if all sources have the same
 * language, which goldcrest_info.source_language names.
 * Work: that of a size query. Errors: those of goldcrest_model_info. */
GOLDCREST_MUST_CHECK int goldcrest_source_languages(const void *model, size_t model_bytes,
    goldcrest_language_function visit, void *visit_context, goldcrest_detail *detail);

/* The same for target languages: those of the table, or the entries >>xxx<< of the source vocabulary by their xxx.
 * Work: that of a size query, and 256 steps for each unit of the tokenizer's trie.
 * Errors: those of goldcrest_model_info (ERROR_MODEL_CORRUPT also if the tokenizer's trie is no tree). */
GOLDCREST_MUST_CHECK int goldcrest_target_languages(const void *model, size_t model_bytes,
    goldcrest_language_function visit, void *visit_context, goldcrest_detail *detail);

/* Sets the languages of the sources that follow, by the model's own names; null: the model's default, as after init. On
 * a side with one language the name must be that of goldcrest_info.
 * With a table, each source keeps the languages that were set when it was given, so a batch may mix them. The tokenizer
 * puts the entries of a text's languages into its ids; ids that you give must contain them. The target's language is
 * forced as the first token or is the start token if the table says so, for sources of ids too. If the table has no
 * default, a source without a chosen language is refused with ERROR_STATE.
 * With entries >>xxx<<, a text without a code of its own is read as if it began with >>target<<. Sources of ids do not
 * change.
 * Work: the codes of the table. Errors: ERROR_ARGUMENT (engine null; a language that the model lacks on that side),
 * which changes nothing. */
GOLDCREST_MUST_CHECK int goldcrest_set_languages(goldcrest_engine *engine, const char *source, const char *target);

#ifdef __cplusplus
}
#endif

#endif
