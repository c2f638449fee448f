/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives firmware everything that it must refuse: damaged models, wrong memory, words that no model takes, and features
 * of options that the build lacks: GOLDCREST_SEARCH, _INSPECTION and _ACCURACY. Each
 * time the console says why, and the firmware continues.
 */
#include <stddef.h>
#include <stdint.h>
#include "board_api.h"
#include "console_text.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "model_g2p.h"
#include "model_refined.h"
#include "model_ruled.h"

static _Alignas(GOLDCREST_ALIGN) uint8_t model_copy[MODEL_G2P_BYTES];
static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES + GOLDCREST_ALIGN];
static goldcrest_detail detail;
static int n_accepted;

static goldcrest_config good_config(void) {
  const goldcrest_config config = {
      .model = model_g2p,
      .model_bytes = MODEL_G2P_BYTES,
      .arena = arena,
      .arena_bytes = MODEL_G2P_ARENA_BYTES,
      .limits = MODEL_G2P_LIMITS,
      .detail = &detail,
  };
  return config;
}

/* Writes the reason of the error `status`; a success fails this test. `config` is goldcrest_init's, or null. */
static void expect_refusal_of(const goldcrest_config *config, const char *what, int64_t status) {
  if (status >= 0) {
    put_text(what);
    put_text(": accepted\n");
    ++n_accepted;
  } else if (config != NULL) {
    put_init_error(what, (int)status, config);
  } else {
    put_error(what, (int)status, &detail);
  }
  detail = (goldcrest_detail){"", -1};
}

static void expect_refusal(const char *what, int64_t status) { expect_refusal_of(NULL, what, status); }

static void refuse_config(const char *what, const goldcrest_config *config) {
  goldcrest_engine *engine;
  expect_refusal_of(config, what, goldcrest_init(&engine, config));
}

/* Changes one bit of the model's byte at `offset`. */
static void refuse_damage(const char *what, size_t offset) {
  for (size_t i = 0; i < sizeof model_copy; ++i) model_copy[i] = model_g2p[i];
  model_copy[offset] ^= 1;
  goldcrest_config config = good_config();
  config.model = model_copy;
  refuse_config(what, &config);
}

static void refuse_models(void) {
  refuse_damage("first byte", 0);
  refuse_damage("byte in the middle", MODEL_G2P_BYTES / 2);
  refuse_damage("last byte", MODEL_G2P_BYTES - 1);
  goldcrest_config config = good_config();
  config.model_bytes -= 1;
  refuse_config("model cut off", &config);
  config = good_config();
  config.model = model_copy + 1;
  config.model_bytes -= 1;
  refuse_config("model misaligned", &config);
}

static void refuse_arenas(void) {
  goldcrest_config config = good_config();
  config.arena_bytes -= 1;
  refuse_config("arena too small", &config);
  config = good_config();
  config.arena = arena + 8;
  refuse_config("arena misaligned", &config);
}

static void refuse_features(goldcrest_engine *engine) {
  const int32_t target[] = {5, 2};
  const goldcrest_alignment wanted = {.layer = -1, .head = -1};
  float weights[4];
  goldcrest_search search = {.length_penalty = 1};
  goldcrest_config config = good_config();
  config.model = model_ruled;
  config.model_bytes = MODEL_RULED_BYTES;
  refuse_config("a model with rules", &config);
  config.model = model_refined;
  config.model_bytes = MODEL_REFINED_BYTES;
  refuse_config("a refined model", &config);
  search.no_repeat_ngram = 2;
  expect_refusal("a search with rules", goldcrest_set_search(engine, &search));
  expect_refusal("a target to score", goldcrest_score(engine, 0, target, 2));
  expect_refusal("an alignment", goldcrest_get_alignment(engine, &wanted, weights, 4));
}

static void pronounce(goldcrest_engine *engine, const char *word, size_t n_letters) {
  char phonemes[128];
  const int64_t n = goldcrest_translate(engine, word, n_letters, phonemes, sizeof phonemes);
  if (n < 0) {
    put_error(word, (int)n, &detail);
    board_exit(1);
  }
  put_text(word);
  put_text(": ");
  put_text(phonemes);
  put_text("\n");
}

/* After each refusal the engine takes the next word. */
static void refuse_words(goldcrest_engine *engine) {
  static const char kLong[] = "pneumonoultramicroscopics";
  const int32_t wrong_id = INT32_MAX;
  char little[4];
  expect_refusal("a word of 25 letters", goldcrest_begin_text(engine, kLong, sizeof kLong - 1));
  pronounce(engine, "hello", 5);
  goldcrest_reset(engine);
  expect_refusal("step without a word", goldcrest_step(engine, NULL));
  expect_refusal("a token id outside of the vocabulary", goldcrest_begin(engine, &wrong_id, 1));
  expect_refusal("little room for phonemes", goldcrest_translate(engine, "world", 5, little, sizeof little));
  pronounce(engine, "world", 5);
}

/* The engine finds an unknown letter before the search. */
static void find_unknown_letter(goldcrest_engine *engine, int32_t unknown_id) {
  static const char kWord[] = "na\xC3\xAFve";
  const int32_t *ids = NULL;
  int n = goldcrest_begin_text(engine, kWord, sizeof kWord - 1);
  if (n >= 0) n = goldcrest_get_source(engine, 0, &ids);
  for (int i = 0; i < n; ++i) {
    if (ids[i] != unknown_id) continue;
    put_text("unknown letter, number ");
    put_unsigned((uint64_t)i + 1);
    put_text("\n");
  }
  pronounce(engine, "naive", 5);
}

int main(void) {
  board_init();
  refuse_models();
  refuse_arenas();
  const goldcrest_config config = good_config();
  goldcrest_engine *engine;
  goldcrest_info model;
  int status = goldcrest_model_info(model_g2p, MODEL_G2P_BYTES, &model, &detail);
  if (status >= 0) status = goldcrest_init(&engine, &config);
  if (status < 0) {
    put_error("the good model", status, &detail);
    board_exit(1);
  }
  refuse_features(engine);
  refuse_words(engine);
  find_unknown_letter(engine, model.unknown_id);
  board_exit(n_accepted);
}
