// SPDX-License-Identifier: Apache-2.0
// Makes every check on an untrusted model file, in one place. Afterwards code may trust the views.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "goldcrest/check.h"
#include "goldcrest/decoding.h"
#include "model/idle_weights.h"
#include "model/model_view.h"

namespace goldcrest {
// The scope of the checks, and the kernels that read bytes. The kernels come as function pointers because model/ must
// not include kernels/.
struct VerifyFunctions {
  uint32_t (*crc32c)(uint32_t crc, const void* bytes, size_t n);
  // Null: the weights' bytes stay unread (GOLDCREST_VERIFY_STRUCTURE).
  bool (*weights_valid)(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);
  bool float32;                // whether there are kernels for float32 files
  bool metadata_only = false;  // the sections' bytes stay unread; only their bounds are checked
  IdleWeights idle = {};       // with weights_valid: receives the weights that are not read before the first source
};

// Checks the trailer, the checksums, the FlatBuffers structure, then the meaning. One pass over the weights checks both
// their checksum and their values. Returns GOLDCREST_OK, or ERROR_ARGUMENT, ERROR_MODEL_CORRUPT, ERROR_MODEL_VERSION or
// ERROR_UNSUPPORTED; *detail (may be null) then names the fault.
int validate_model(const void* model, size_t model_bytes, const VerifyFunctions& functions, goldcrest_detail* detail);

// Checks a lexicon for a target vocabulary of this size. Returns GOLDCREST_OK or `bad`; with ERROR_ARGUMENT as `bad`
// also ERROR_TOKEN_RANGE.
int check_lexicon(
    const goldcrest_lexicon& lexicon, uint32_t vocab_size, goldcrest_status bad, goldcrest_detail* detail);

// Checks the structure of the metadata's FlatBuffer: every table, vector and string is inside it and aligned. If it
// returns true, the generated accessors are safe on file[0..metadata_bytes). metadata_bytes >= 16.
// *lacks_feature (may be null) <- whether the file has a field of a feature whose bit it lacks.
bool metadata_is_sound(const uint8_t* file, size_t metadata_bytes, bool* lacks_feature = nullptr);

// Returns the index of the first sequence that is empty, or has an id outside the vocabulary or a bias out of range;
// sequences.n if the ids are not those of the n sequences; -1: all are good.
int32_t find_bad_sequence(const goldcrest_sequences& sequences, uint32_t vocab_size);

// A file whose bytes up to end_bytes, and whose trailer, may be read.
struct FileSlice {
  const uint8_t* file;  // [file_bytes]
  size_t file_bytes, end_bytes;
};

// Implements goldcrest_check_weights; functions.metadata_only must be set.
int check_slice(
    const FileSlice& slice, const VerifyFunctions& functions, goldcrest_check* check, goldcrest_detail* detail);
}  // namespace goldcrest
