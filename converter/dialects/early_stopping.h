// SPDX-License-Identifier: Apache-2.0
// The setting that decides when a beam search ends.
#pragma once

#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// Reads "early_stopping": false (the default), true or "never". Throws Error on any other value.
EarlyStopping read_early_stopping(const Config& config);

}  // namespace goldcrest::converter
