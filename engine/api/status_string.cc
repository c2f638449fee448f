// SPDX-License-Identifier: Apache-2.0
// Describes a status in words.
#include "base/exact_floats.h"
#include "goldcrest/goldcrest.h"

extern "C" const char* goldcrest_status_string(int status) {
  switch (status) {
    case GOLDCREST_OK: return "ok";
    case GOLDCREST_WORKING: return "working";
    case GOLDCREST_TOKEN: return "token";
    case GOLDCREST_DONE: return "done";
    case GOLDCREST_ERROR_ARGUMENT: return "bad argument";
    case GOLDCREST_ERROR_MODEL_CORRUPT: return "model file corrupt";
    case GOLDCREST_ERROR_MODEL_VERSION: return "model file of an unknown format version";
    case GOLDCREST_ERROR_UNSUPPORTED: return "not supported by this build";
    case GOLDCREST_ERROR_ARENA_TOO_SMALL: return "arena too small";
    case GOLDCREST_ERROR_TOKEN_RANGE: return "token id out of range";
    case GOLDCREST_ERROR_TOO_LONG: return "input too long for the limits";
    case GOLDCREST_ERROR_TRUNCATED: return "output buffer too small";
    case GOLDCREST_ERROR_STATE: return "call does not fit the engine's state";
    case GOLDCREST_ERROR_BUILD: return "this build computes wrong bits (compiler flags)";
    case GOLDCREST_ERROR_SELF_TEST: return "self-test failed";
    default: return "unknown status";
  }
}
