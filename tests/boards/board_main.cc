// SPDX-License-Identifier: Apache-2.0
// The main of a program that passes or fails.
#include "board_api.h"

namespace goldcrest::test {
bool passes();
}

int main() {
  board_init();
  return goldcrest::test::passes() ? 0 : 1;
}
