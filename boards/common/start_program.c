/* SPDX-License-Identifier: Apache-2.0
 *
 * From a CPU's start-up code to main and to the end of the program.
 */
#include "board_api.h"
#include "common/linker_symbols.h"

int main(void);

void board_start_program(void) {
  const uint32_t *from = board_data_load;
  for (uint32_t *to = board_data_start; to < board_data_end; ++to, ++from) *to = *from;
  for (uint32_t *to = board_bss_start; to < board_bss_end; ++to) *to = 0;
  for (void (*const *constructor)(void) = board_init_array_start; constructor < board_init_array_end; ++constructor)
    (*constructor)();
  board_exit(main());
}
