// SPDX-License-Identifier: Apache-2.0
// The memory plan of an engine. The size query and the engine use the same plan.
#pragma once

#include "backends/backend.h"
#include "base/status.h"
#include "decoding/search/buffers.h"
#include "model/validate.h"

namespace goldcrest {
struct EngineRefs {
  BufferRef engine;
  BufferRef source_ids;    // int32 [source tokens, batch], sentences one after another; of models without a frontend
  BufferRef clips;         // Clip [batch], of models with a frontend
  BufferRef sentences;     // Sentence [batch]
  BufferRef text_scratch;  // for the tokenizer
  EncoderRefs encoder;
  DecoderRefs decoder;
  SearchRefs search;
};

// Collects the buffers of all layers of `file`.
EngineRefs plan_engine(Plan& plan, const ModelView& model, const void* file);

// Writes the byte counts of a finished plan to *memory; leaves its figures of work as they are.
void fill_memory(const Plan& plan, const goldcrest_limits& limits, goldcrest_memory* memory);

// *functions <- the metadata checks of the best kernels of this machine. ERROR_ARGUMENT if GOLDCREST_KERNELS names a
// table that this build or CPU lacks.
inline int metadata_functions(VerifyFunctions* functions, goldcrest_detail* detail) {
  const Kernels* kernels = choose_kernels(nullptr).native;
  GOLDCREST_REQUIRE(
      kernels != nullptr, GOLDCREST_ERROR_ARGUMENT, "GOLDCREST_KERNELS: no such table for this build and CPU", -1);
  *functions = {kernels->crc32c, nullptr, kernels->float32 != nullptr, true};
  return GOLDCREST_OK;
}
}  // namespace goldcrest
