/* SPDX-License-Identifier: Apache-2.0
 *
 * board_exit for emulators: with semihosting (Arm IHI 0100, SYS_EXIT_EXTENDED) the emulator exits with the program's
 * status. On hardware it needs a debugger that knows semihosting.
 */
#include "board_api.h"

void board_exit(int status) {
  const uint32_t parameters[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, (uint32_t)status};
  register uint32_t operation __asm__("r0") = 0x20u;
  register const uint32_t *block __asm__("r1") = parameters;
  __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(block) : "memory");
  for (;;) __asm__ volatile("wfi");
}
