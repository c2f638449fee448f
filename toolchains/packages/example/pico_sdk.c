/* SPDX-License-Identifier: Apache-2.0
 *
 * Goldcrest with the Pico SDK: prints how English words are pronounced, again and again.
 */
#include <stdio.h>
#include "model_g2p_small.h"
#include "pico/multicore.h"
#include "pico/stdlib.h"
#include "pronounce.h"

/* The SDK's own stacks have 2 KB. The engine's core needs GOLDCREST_STACK_BYTES and room for printf: core 1 runs it, on
 * a stack of this program. Core 0 helps with parts of a call, on the stack that CMakeLists.txt sets. */
static uint32_t stack_of_core1[8192 / sizeof(uint32_t)];

typedef struct {
  void (*task)(void *context, size_t i);
  void *context;
} Work;

static void on_two_cores(void *context, void (*task)(void *task_context, size_t i), void *task_context, size_t n) {
  (void)context;
  Work work = {task, task_context};
  if (n > 1) multicore_fifo_push_blocking((uint32_t)(uintptr_t)&work);
  task(task_context, 0);
  if (n > 1) multicore_fifo_pop_blocking();
}

static void print(const char *text) { fputs(text, stdout); }

static void run_core1(void) {
  for (;;) {
    /* The array is in .rodata, which the chip reads from flash in place. */
    pronounce_words(model_g2p_small, MODEL_G2P_SMALL_BYTES, on_two_cores, print);
    sleep_ms(5000);
  }
}

int main(void) {
  stdio_init_all();
  multicore_launch_core1_with_stack(run_core1, stack_of_core1, sizeof stack_of_core1);
  for (;;) {
    const Work *work = (const Work *)(uintptr_t)multicore_fifo_pop_blocking();
    work->task(work->context, 1);
    multicore_fifo_push_blocking(0);
  }
}
