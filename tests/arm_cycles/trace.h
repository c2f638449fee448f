// SPDX-License-Identifier: Apache-2.0
// The files that tracer.c writes, read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm_cycles/core.h"

namespace arm_cycles {

// decode or decode_thumb.
using Decoder = Instruction (*)(std::string_view name, std::string_view operands);

// The traced sections, from PREFIX.blocks, PREFIX.runs and PREFIX.listing, objdump's text of PREFIX.code. Throws
// std::runtime_error.
std::vector<Trace> read_traces(const std::string& prefix, Decoder decode);

}  // namespace arm_cycles
