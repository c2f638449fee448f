/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells a power meter or a logic analyser what the benchmark is doing. These functions do nothing unless you define
 * them, for example to set a pin and to clear it. Their own time is not measured.
 */
#ifndef GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_
#define GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_

/* `part` is the part that is measured between the two calls, by its name in the printed table. */
void benchmark_begin(const char *part);
void benchmark_end(const char *part);

#endif /* GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_ */
