/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells programs what the tokens of a model file are: their kinds and texts, and the ids around them. Shows the tokens
 * of a source, and takes the text of one in a result's text, for programs that replace unknown tokens.
 */
#ifndef GOLDCREST_TOKENS_H_
#define GOLDCREST_TOKENS_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which a text is cut into tokens: schema/model.fbs's TokenizerKind, and one more for none. In the pieces of
 * SentencePiece (UNIGRAM, BPE) U+2581 stands for a space. */
typedef enum goldcrest_cutting {
  GOLDCREST_CUT_NOT = 0, /* the file has no table of tokens on this side */
  GOLDCREST_CUT_UNIGRAM = 1,
  GOLDCREST_CUT_BPE = 2,
  GOLDCREST_CUT_WORDS = 3,
  GOLDCREST_CUT_CHARACTERS = 4,
  GOLDCREST_CUT_SUBWORDS = 5 /* words between spaces, cut by subword-nmt's merges */
} goldcrest_cutting;

typedef struct goldcrest_text_traits {
  uint8_t source, target;       /* goldcrest_cutting */
  uint8_t target_adds_space;    /* the first piece of a result begins with a space, which its text leaves out */
  uint8_t has_codes;            /* a text of a source may begin with >>xxx<< */
  uint8_t lacks_source_default; /* texts need a source language of goldcrest_set_languages */
  uint8_t lacks_target_default;
  uint8_t target_acts_on_ids; /* the target language acts on sources of ids too */
  uint32_t unknown_heads; /* not 0: texts are made for a program that replaces unknown tokens by the source token with
                           * the largest attention: the mean of this many first heads of a decoder layer */
  uint32_t unknown_layer; /* from 0; of unknown_heads */
  const uint32_t *source_end; /* [n_source_end] the ids that end a source, in the file */
  const uint32_t *forced;     /* [n_forced] the ids that the file forces after a first one that is chosen */
  uint32_t n_source_end, n_forced;
  const uint32_t *alignment_heads; /* [n_alignment_heads] those that follow the speech: layer * decoder_heads + head */
  uint32_t n_alignment_heads;      /* 0: the file does not say */
  uint32_t first_timestamp; /* with GOLDCREST_SEARCH_TIMESTAMPS the id of 0 s, the next ones are an encoder row each; 0:
                             * results have no times */
} goldcrest_text_traits;

/* *traits <- what the file says of texts. Work: that of a size query.
 * Errors: those of goldcrest_model_info; ERROR_ARGUMENT (traits null). */
GOLDCREST_MUST_CHECK int goldcrest_get_text_traits(
    const void *model, size_t model_bytes, goldcrest_text_traits *traits, goldcrest_detail *detail);

/* SentencePiece's kinds. A surface token stands only for its whole text. */
typedef enum goldcrest_token_kind {
  GOLDCREST_TOKEN_NORMAL = 1,
  GOLDCREST_TOKEN_UNKNOWN = 2,
  GOLDCREST_TOKEN_CONTROL = 3,
  GOLDCREST_TOKEN_USER_DEFINED = 4,
  GOLDCREST_TOKEN_UNUSED = 5,
  GOLDCREST_TOKEN_BYTE = 6,
  GOLDCREST_TOKEN_SURFACE = 7
} goldcrest_token_kind;

/* A token. The text has no terminator; that of a result's token is in the file. */
typedef struct goldcrest_token {
  int32_t id;
  uint32_t kind; /* goldcrest_token_kind */
  const char *text;
  size_t text_bytes;
} goldcrest_token;

typedef void (*goldcrest_token_function)(void *context, const goldcrest_token *token);

/* Calls visit for each token of results, in the order of ids. Returns their number; 0 without a detokenizer.
 * Work: that of a size query and a call a token.
 * Errors: those of goldcrest_model_info (ERROR_MODEL_CORRUPT also if a text is outside of the texts). */
GOLDCREST_MUST_CHECK int goldcrest_target_tokens(const void *model, size_t model_bytes, goldcrest_token_function visit,
    void *visit_context, goldcrest_detail *detail);

/* The same as goldcrest_begin_text. It also calls visit for each token of the source, in order: its id, and its text
 * until visit returns, as it was normalized, also where the vocabulary lacks it (kind UNKNOWN). The ids of languages
 * and those around a text have the kind CONTROL and no text. If there is an error, it may have called visit for some
 * tokens. Errors: those of goldcrest_begin_text; ERROR_UNSUPPORTED (this build lacks GOLDCREST_INSPECTION). */
GOLDCREST_MUST_CHECK int goldcrest_begin_tokens(
    goldcrest_engine *engine, const char *text, size_t text_bytes, goldcrest_token_function visit, void *visit_context);

/* The same as goldcrest_detokenize for a token that the vocabulary need not have: only its text counts. A token of
 * goldcrest_begin_tokens fits if the model cuts sources and results in the same way.
 * Errors: those of goldcrest_detokenize. */
GOLDCREST_MUST_CHECK int64_t goldcrest_detokenize_token(const goldcrest_engine *engine, goldcrest_text_state *state,
    const goldcrest_token *token, char *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif

#endif
