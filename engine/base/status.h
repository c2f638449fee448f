// SPDX-License-Identifier: Apache-2.0
// Statuses inside the engine: the integers of the C API, one way to make an error and one way to pass it on.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest {
// Fills `detail` and returns `status`. `message` must be a string literal.
inline int fail(goldcrest_detail& detail, goldcrest_status status, const char* message, int32_t index = -1) {
#ifndef GOLDCREST_NO_DETAIL
  detail.message = message;
  detail.index = index;
#else
  (void)detail, (void)message, (void)index;
#endif
  return status;
}

// The same for a detail that may be null.
inline int fail(goldcrest_detail* detail, goldcrest_status status, const char* message, int32_t index = -1) {
  return detail != nullptr ? fail(*detail, status, message, index) : status;
}

// Returns a count of bytes as the index of a detail; -1 if it does not fit.
inline int32_t byte_index(uint64_t bytes) { return bytes > INT32_MAX ? -1 : static_cast<int32_t>(bytes); }
}  // namespace goldcrest

// Passes a negative status on to the caller.
#define GOLDCREST_TRY(expression)                        \
  do {                                                   \
    const int try_status = static_cast<int>(expression); \
    if (try_status < 0) return try_status;               \
  } while (0)

// Checks data from outside (model/validate/, api/); needs `detail` in scope.
#define GOLDCREST_REQUIRE(condition, status, message, index)                    \
  do {                                                                          \
    if (!(condition)) return ::goldcrest::fail(detail, status, message, index); \
  } while (0)

// Checks a model file in the same way.
#define GOLDCREST_REQUIRE_INTACT(condition, message, index) \
  GOLDCREST_REQUIRE(condition, GOLDCREST_ERROR_MODEL_CORRUPT, message, index)
