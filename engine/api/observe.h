// SPDX-License-Identifier: Apache-2.0
// The seam for observers. A program of this project exchanges an engine's table to count or time its kernels. The slots
// of the new table keep the books and call the old one.
#pragma once

#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"

namespace goldcrest {
// Gives the engine another kernel table, which must outlive its use, and returns the former one. Call it only between
// steps, from the thread that calls goldcrest_step.
const Kernels* exchange_kernels(goldcrest_engine* engine, const Kernels* kernels);
}  // namespace goldcrest
