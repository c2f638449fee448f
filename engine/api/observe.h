// SPDX-License-Identifier: Apache-2.0
// The seam for observers: a program of this project that counts or times an engine's kernels gives it a table of its
// own, whose slots keep the books and call the table that was there before.
#pragma once

#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"

namespace goldcrest {

// Gives the engine another kernel table, which must outlive its use, and returns the one that it had. Between steps
// only, and by the thread that calls goldcrest_step.
const Kernels* exchange_kernels(goldcrest_engine* engine, const Kernels* kernels);

}  // namespace goldcrest
