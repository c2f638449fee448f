// SPDX-License-Identifier: Apache-2.0
// The files that tracer.c writes, read back.
#pragma once

#include <string>
#include <vector>

#include "arm_cycles/core.h"

namespace arm_cycles {

// The traced sections, from PREFIX.blocks, PREFIX.runs and PREFIX.listing, objdump's text of PREFIX.code. Throws
// std::runtime_error.
std::vector<Trace> read_traces(const std::string& prefix);

}  // namespace arm_cycles
