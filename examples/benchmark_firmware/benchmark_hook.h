/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a power meter or a logic analyser learns what the benchmark is doing: functions that do nothing unless you
 * define them, for example to set a pin and to clear it. Their own time is not measured.
 */
#ifndef GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_
#define GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_

/* `part` is what is measured between the two calls, a name as the table prints it. */
void benchmark_begin(const char *part);
void benchmark_end(const char *part);

#endif /* GOLDCREST_EXAMPLES_BENCHMARK_HOOK_H_ */
