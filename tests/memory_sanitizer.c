/* SPDX-License-Identifier: Apache-2.0
 * The engine alone under clang's MemorySanitizer, with memory that nobody has set: no result, and no branch on the way
 * to it, depends on a byte that was not written. Usage: memory_sanitizer MODEL LINES [MOST_LINES] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"

static void *load(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  void *model = aligned_alloc(GOLDCREST_ALIGN, (*bytes + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN);
  if (model == NULL || fread(model, 1, *bytes, file) != *bytes) exit(2);
  fclose(file);
  return model;
}

static int fail(const char *doing, int status, const goldcrest_detail *detail) {
  fprintf(stderr, "memory_sanitizer: %s: %s: %s\n", doing, goldcrest_status_string(status),
          detail->message != NULL ? detail->message : "");
  return 1;
}

/* All that can be seen of a search. Each `if` asks the sanitizer whether the value was written. */
static int look(const goldcrest_engine *engine, unsigned long *sum) {
  goldcrest_result result;
  float weights[1024];
  for (uint32_t rank = 0; goldcrest_get_result(engine, 0, rank, &result) == GOLDCREST_OK; ++rank) {
    if (result.log_prob > 0) ++*sum;
    if (result.score > 0) ++*sum;
    for (uint32_t i = 0; i < result.n_tokens; ++i) {
      *sum = *sum * 31 + (unsigned long)result.tokens[i];
      if (result.tokens[i] < 0 || result.token_log_probs[i] > 1) return 1;
      const goldcrest_alignment wanted = {0, rank, i, -1, -1};
      const int n = goldcrest_get_alignment(engine, &wanted, weights, 1024);
      for (int k = 0; k < n; ++k)
        if (weights[k] < 0) return 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  size_t model_bytes = 0;
  void *model = load(argv[1], &model_bytes);
  goldcrest_detail detail = {0};
  goldcrest_memory memory;
  const goldcrest_limits limits = {.max_source_bytes = 400,
                                   .beam_size = 4,
                                   .n_best = 2,
                                   .inspection = GOLDCREST_INSPECT_TOKEN_SCORES,
                                   .alignment_layers = GOLDCREST_ALL_LAYERS};
  int status = goldcrest_plan_memory(model, model_bytes, &limits, &memory, NULL, NULL, &detail);
  if (status < 0) return fail("plan", status, &detail);
  const goldcrest_config config = {.model = model,
                                   .model_bytes = model_bytes,
                                   .arena = aligned_alloc(GOLDCREST_ALIGN, memory.arena_bytes),
                                   .arena_bytes = memory.arena_bytes,
                                   .limits = limits,
                                   .kernels = "reference",
                                   .detail = &detail};
  goldcrest_engine *engine = NULL;
  status = goldcrest_init(&engine, &config);
  if (status < 0) return fail("init", status, &detail);

  FILE *lines = fopen(argv[2], "r");
  if (lines == NULL) return 2;
  char line[400], out[4000];
  unsigned long sum = 0;
  int n = 0;
  const int most = argc > 3 ? atoi(argv[3]) : 10;
  for (; n < most && fgets(line, sizeof line, lines) != NULL; ++n) {
    const int64_t bytes = goldcrest_translate(engine, line, strcspn(line, "\t\n"), out, sizeof out);
    if (bytes < 0) return fail(line, (int)bytes, &detail);
    for (int64_t i = 0; i < bytes; ++i)
      if (out[i] == '\0') return 1;
    if (look(engine, &sum) != 0) return 1;
  }
  fclose(lines);
  status = goldcrest_self_test(engine, &detail);
  if (status < 0) return fail("self-test", status, &detail);
  printf("%d lines, %lx\n", n, sum);
  free(config.arena);
  free(model);
  return 0;
}
