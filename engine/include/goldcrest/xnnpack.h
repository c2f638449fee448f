/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the linear layers of the same models with XNNPACK's kernels, on machines with an operating system. Link
 * libgoldcrest_xnnpack.a in front of libgoldcrest.a, then XNNPACK and pthreadpool (CMake: goldcrest::xnnpack, from
 * find_package(goldcrest COMPONENTS xnnpack)).
 *
 *   1. goldcrest_xnnpack_plan_memory   how many bytes
 *   2. goldcrest_xnnpack_open          once for a model: packs its weights
 *   3. goldcrest_init                  for each engine, with goldcrest_config.backend, .backend_memory and .kernels =
 *                                      "xnnpack" or "fastest"
 *
 * Results are close to those of the exact tables but not the same. XNNPACK rounds a layer's outputs in another order,
 * which depends on the CPU (engine/kernels/kernels.h has the bound). Use goldcrest_self_test and logits_hash only with
 * the exact tables. The best exact table computes everything that is not a linear layer.
 *
 * Goldcrest promises that packed weights and operators are stored in the memory given here, that nothing is allocated
 * after goldcrest_init, and that the sizes are exact. XNNPACK sets these limits to the promise:
 *   - XNNPACK is initialized once in a process, and all users share its first caller's allocator. The allocator of
 *     goldcrest_xnnpack_open uses the memory given here, and malloc for other users of XNNPACK in the program. If
 *     another part of the program initialized XNNPACK before, the function returns GOLDCREST_ERROR_STATE.
 *   - Initializing it takes some KB of the heap (cpuinfo), once in a process; nothing frees them.
 *   - Sizes depend on the CPU and on XNNPACK's version: ask on the machine that runs the model.
 *   - Its kernels read up to 16 bytes after their input, for which the engine's plan has room, and treat denormals as
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
  uint64_t packing_bytes; /* used only by goldcrest_xnnpack_open; afterwards the memory can be an arena */
  uint64_t engine_bytes;  /* for each engine: goldcrest_config.backend_bytes */
} goldcrest_xnnpack_memory;

/* Computes the bytes that a model and engines with these limits (null: all defaults) need on this machine. Initializes
 * XNNPACK; reads no weights. detail may be null.
 * Errors: those of goldcrest_plan_memory; ERROR_ARGUMENT (memory null), ERROR_UNSUPPORTED (XNNPACK does not run on this
 * CPU), ERROR_STATE (see above). */
GOLDCREST_MUST_CHECK int goldcrest_xnnpack_plan_memory(const void *model, size_t model_bytes,
    const goldcrest_limits *limits, goldcrest_xnnpack_memory *memory, goldcrest_detail *detail);

typedef struct goldcrest_xnnpack_config {
  const void *model; /* as in goldcrest_config; the same bytes as the engines' */
  size_t model_bytes;
  void *weights; /* GOLDCREST_ALIGN; must outlive all engines */
  size_t weights_bytes;
  void *packing; /* GOLDCREST_ALIGN */
  size_t packing_bytes;
  goldcrest_detail *detail; /* optional; filled on an error */
} goldcrest_xnnpack_config;

/* Checks the model and packs its weights. *backend, which is stored in `weights`, serves as goldcrest_config.backend of
 * any number of engines of this model, one after another or at the same time.
 * Errors: those of goldcrest_xnnpack_plan_memory, now for the whole file; ERROR_ARGUMENT (backend or config null;
 * weights or packing null or misaligned), ERROR_ARENA_TOO_SMALL (weights or packing; detail.index: the bytes needed),
 * ERROR_UNSUPPORTED (XNNPACK cannot pack a layer). */
GOLDCREST_MUST_CHECK int goldcrest_xnnpack_open(
    const goldcrest_backend **backend, const goldcrest_xnnpack_config *config);

/* Use it as goldcrest_config.parallel_for, with a pthreadpool_t as parallel_context: the engine and XNNPACK then share
 * one pool. With any other parallel_for XNNPACK's kernels run on the threads that call them. */
void goldcrest_xnnpack_parallel_for(
    void *pthreadpool, void (*task)(void *task_context, size_t i), void *task_context, size_t n);

#ifdef __cplusplus
}
#endif

#endif
