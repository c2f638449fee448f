/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and numbers on a board's console.
 */
#include "console_text.h"

#include <stddef.h>

#include "board_api.h"

void put_text(const char *text) {
  for (; *text != '\0'; ++text) board_write(text, 1);
}

void put_unsigned(uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  board_write(digits + first, sizeof digits - first);
}

void put_error(const char *who, int status, const goldcrest_detail *detail) {
  put_text(who);
  put_text(": ");
  put_text(goldcrest_status_string(status));
  if (detail != NULL && detail->message != NULL && detail->message[0] != '\0') {
    put_text(": ");
    put_text(detail->message);
    if (detail->index >= 0) {
      put_text(" (");
      put_unsigned((uint64_t)detail->index);
      put_text(")");
    }
  }
  put_text("\n");
}
