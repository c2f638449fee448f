// SPDX-License-Identifier: Apache-2.0
// Checks the checksums of a file slice by slice.
#include "base/exact_floats.h"
#include "goldcrest/check.h"
#include "api/engine_plan.h"
#include "base/status.h"

using namespace goldcrest;

extern "C" int goldcrest_check_weights(
    const void* model, size_t model_bytes, size_t end_bytes, goldcrest_check* check, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(check != nullptr, GOLDCREST_ERROR_ARGUMENT, "check: null", -1);
  VerifyFunctions functions;
  if (const int status = metadata_functions(&functions, detail); status < 0) {
    *check = {};
    return status;
  }
  return check_slice({static_cast<const uint8_t*>(model), model_bytes, end_bytes}, functions, check, detail);
}
