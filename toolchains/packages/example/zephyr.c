/* SPDX-License-Identifier: Apache-2.0
 *
 * Goldcrest in Zephyr: prints how English words are pronounced. prj.conf gives the main thread its stack.
 */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#include "model_g2p_small.h"
#include "pronounce.h"

static void print(const char *text) { printk("%s", text); }

#if defined(CONFIG_SMP)
/* A thread that the scheduler runs on another core while the main thread is busy. */
K_THREAD_STACK_DEFINE(helper_stack, 8192);
static struct k_thread helper;
static K_SEM_DEFINE(work_is_there, 0, 1);
static K_SEM_DEFINE(work_is_done, 0, 1);
static struct {
  void (*task)(void *context, size_t i);
  void *context;
} work;

static void help(void *a, void *b, void *c) {
  ARG_UNUSED(a);
  ARG_UNUSED(b);
  ARG_UNUSED(c);
  for (;;) {
    k_sem_take(&work_is_there, K_FOREVER);
    work.task(work.context, 1);
    k_sem_give(&work_is_done);
  }
}

static void on_two_cores(void *context, void (*task)(void *task_context, size_t i), void *task_context, size_t n) {
  ARG_UNUSED(context);
  work.task = task;
  work.context = task_context;
  if (n > 1) k_sem_give(&work_is_there);
  task(task_context, 0);
  if (n > 1) k_sem_take(&work_is_done, K_FOREVER);
}
#endif

int main(void) {
  goldcrest_parallel_for parallel_for = NULL;
#if defined(CONFIG_SMP)
  k_thread_create(&helper, helper_stack, K_THREAD_STACK_SIZEOF(helper_stack), help, NULL, NULL, NULL, K_PRIO_PREEMPT(0),
      0, K_NO_WAIT);
  parallel_for = on_two_cores;
#endif
  return pronounce_words(model_g2p_small, MODEL_G2P_SMALL_BYTES, parallel_for, print);
}
