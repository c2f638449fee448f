// SPDX-License-Identifier: Apache-2.0
// When a beam search ends.
#pragma once

#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// The setting "early_stopping": false (the default), true or "never". Throws Error on anything else.
EarlyStopping read_early_stopping(const Config& config);

}  // namespace goldcrest::converter
