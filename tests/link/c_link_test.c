/* SPDX-License-Identifier: Apache-2.0
 *
 * A C99 program that includes only goldcrest.h and sentences.h and links without a C++ runtime. It calls every
 * function; each that takes a model or an engine must refuse the lack of one.
 */
#include <stdio.h>
#include "goldcrest/goldcrest.h"
#include "goldcrest/sentences.h"

#define GOLDCREST_EXPECT(condition)    \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

/* Returns the line of the first failure, or 0. */
static int test(void) {
  goldcrest_engine *engine = NULL;
  goldcrest_config config = {0};
  goldcrest_info info;
  goldcrest_memory memory;
  goldcrest_result result;
  goldcrest_text_state state = {0};
  goldcrest_detail detail = {0};
  const int32_t *source = NULL;
  const int32_t ids[1] = {0};
  char text[4];
  goldcrest_part part;

  GOLDCREST_EXPECT(goldcrest_next_part("Go. On", 6, NULL, &part) == GOLDCREST_PART_SENTENCE && part.bytes == 3);
  config.detail = &detail;
  GOLDCREST_EXPECT(goldcrest_model_info(NULL, 0, &info, &detail) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(detail.message != NULL);
  GOLDCREST_EXPECT(goldcrest_plan_memory(NULL, 0, NULL, &memory, NULL, NULL, NULL) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_arena_bytes(NULL, 0, NULL) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_init(&engine, &config) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(engine == NULL);
  GOLDCREST_EXPECT(goldcrest_kernels_at(0) != NULL);
  GOLDCREST_EXPECT(goldcrest_kernels_built(0) != NULL);
  GOLDCREST_EXPECT(goldcrest_kernels_name(NULL)[0] == '\0');
  GOLDCREST_EXPECT(goldcrest_set_search(NULL, NULL) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_begin(NULL, ids, 1) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_add(NULL, ids, 1) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_begin_text(NULL, "a", 1) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_add_text(NULL, "a", 1) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_get_source(NULL, 0, &source) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_step(NULL, NULL) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_run(NULL) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_get_result(NULL, 0, 0, &result) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_detokenize(NULL, &state, ids, 1, text, sizeof text) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_translate(NULL, "a", 1, text, sizeof text) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_self_test(NULL, &detail) == GOLDCREST_ERROR_ARGUMENT);
  GOLDCREST_EXPECT(goldcrest_status_string(GOLDCREST_OK)[0] != '\0');
  goldcrest_reset(NULL);
  return 0;
}

int main(void) {
  const int line = test();
  if (line != 0) printf("%s:%d: expectation failed\n", __FILE__, line);
  return line == 0 ? 0 : 1;
}
