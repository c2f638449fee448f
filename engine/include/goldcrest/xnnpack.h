/* SPDX-License-Identifier: Apache-2.0
 *
 * XNNPACK's kernels for the linear layers of the same models, on machines with an operating system. Link
 * libgoldcrest_xnnpack.a in front of libgoldcrest.a, then XNNPACK and pthreadpool (CMake: goldcrest::xnnpack, of
 * find_package(goldcrest COMPONENTS xnnpack)).
 *
 *   1. goldcrest_xnnpack_plan_memory   how many bytes
 *   2. goldcrest_xnnpack_open          once for a model: packs its weights
 *   3. goldcrest_init                  for each engine, with goldcrest_config.backend, .backend_memory and .kernels =
 *                                      "xnnpack" or "fastest"
 *
 * Results are close to those of the exact tables and not the same: XNNPACK rounds a layer's outputs in another order
 * (engine/kernels/kernels.h says how far apart), and not in the same one on every CPU. So goldcrest_self_test and
 * logits_hash are for the exact tables. Everything that is not a linear layer is computed by the best of those.
 *
 * What is promised: packed weights and operators lie in the memory given here, there is no allocation after
 * goldcrest_init, and the sizes are exact. What XNNPACK does not let us promise:
 *   - It is initialized once in a process, and its first caller's allocator serves all. goldcrest_xnnpack_open
 *     initializes it with one that uses the memory given here, and malloc for other users of XNNPACK in the program.
 *     Where another part of the program came first, goldcrest_xnnpack_open returns GOLDCREST_ERROR_STATE.
 *   - Initializing it takes some KB of the heap (cpuinfo), once in a process; nothing gives them back.
 *   - Sizes depend on the CPU and on XNNPACK's version: ask on the machine that runs the model.
 *   - Its kernels read up to 16 bytes behind their input, which the engine's plan has room for, and let denormals be
 *     zero while they run.
 */
#ifndef GOLDCREST_XNNPACK_H_
#define GOLDCREST_XNNPACK_H_

#include "goldcrest/goldcrest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct goldcrest_xnnpack_memory {
  uint64_t weights_bytes; /* packed weights, once for a model: all of its engines share them */
  uint64_t packing_bytes; /* used by goldcrest_xnnpack_open alone, then free for anything: an arena will do */
  uint64_t engine_bytes;  /* for each engine: goldcrest_config.backend_bytes */
} goldcrest_xnnpack_memory;

/* The bytes that a model and engines with these limits (null: all defaults) need on this machine. Initializes XNNPACK;
 * reads no weights. detail may be null.
 * Errors: those of goldcrest_plan_memory; ERROR_ARGUMENT (memory null), ERROR_UNSUPPORTED (XNNPACK does not run on this
 * CPU), ERROR_STATE (see above). */
GOLDCREST_MUST_CHECK int goldcrest_xnnpack_plan_memory(const void *model, size_t model_bytes,
                                                       const goldcrest_limits *limits, goldcrest_xnnpack_memory *memory,
                                                       goldcrest_detail *detail);

typedef struct goldcrest_xnnpack_config {
  const void *model; /* as in goldcrest_config; the same bytes as the engines' */
  size_t model_bytes;
  void *weights; /* GOLDCREST_ALIGN; must outlive all engines */
  size_t weights_bytes;
  void *packing; /* GOLDCREST_ALIGN */
  size_t packing_bytes;
  goldcrest_detail *detail; /* optional; filled on an error */
} goldcrest_xnnpack_config;

/* Checks the model and packs its weights. *backend, which lies in `weights`, is for goldcrest_config.backend of any
 * number of engines of this model, one after another or at the same time.
 * Errors: those of goldcrest_xnnpack_plan_memory, now for the whole file; ERROR_ARGUMENT (backend or config null;
 * weights or packing null or misaligned), ERROR_ARENA_TOO_SMALL (weights or packing; detail.index: the bytes needed),
 * ERROR_UNSUPPORTED (XNNPACK cannot pack a layer). */
GOLDCREST_MUST_CHECK int goldcrest_xnnpack_open(const goldcrest_backend **backend,
                                                const goldcrest_xnnpack_config *config);

/* For goldcrest_config.parallel_for, with a pthreadpool_t as parallel_context: one pool for the engine's own work and
 * for XNNPACK's. With any other parallel_for XNNPACK's kernels run on the threads that call them. */
void goldcrest_xnnpack_parallel_for(void *pthreadpool, void (*task)(void *task_context, size_t i), void *task_context,
                                    size_t n);

#ifdef __cplusplus
}
#endif

#endif
