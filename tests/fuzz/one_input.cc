// SPDX-License-Identifier: Apache-2.0
// The call of libFuzzer and of replay.cc.
#include "fuzz/script.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  goldcrest::test::run_input({bytes, n});
  return 0;
}
