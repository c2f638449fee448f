// SPDX-License-Identifier: Apache-2.0
// Every check on an untrusted model file, in one place. After it, the views may be used blindly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "goldcrest/check.h"
#include "model/idle_weights.h"
#include "model/model_view.h"

namespace goldcrest {

// What is read, and how. The kernels that read the weights' bytes come as functions: model/ lies left of kernels/.
struct VerifyFunctions {
  uint32_t (*crc32c)(uint32_t crc, const void* bytes, size_t n);
  // Null: the weights' bytes are not read (GOLDCREST_VERIFY_STRUCTURE).
  bool (*weights_valid)(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);
  bool float32;                // whether there are kernels for float32 files
  bool metadata_only = false;  // the sections' bytes are not read, only whether all lies within them
  IdleWeights idle = {};       // with weights_valid: told of weights that are not read again before the first source
};

// Trailer, checksums, FlatBuffers structure, then meaning; the weights' checksum goes with their values, in one pass
// over the memory. GOLDCREST_OK, or ERROR_ARGUMENT, ERROR_MODEL_CORRUPT, ERROR_MODEL_VERSION or ERROR_UNSUPPORTED with
// *detail (may be null) naming what is wrong.
int validate_model(const void* model, size_t model_bytes, const VerifyFunctions& functions, goldcrest_detail* detail);

// A file of which the bytes up to end_bytes, and the trailer, may be read.
struct FileSlice {
  const uint8_t* file;  // [file_bytes]
  size_t file_bytes, end_bytes;
};

// What goldcrest_check_weights does; functions.metadata_only.
int check_slice(const FileSlice& slice, const VerifyFunctions& functions, goldcrest_check* check,
                goldcrest_detail* detail);

}  // namespace goldcrest
