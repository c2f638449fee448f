// SPDX-License-Identifier: Apache-2.0
// Does a neutral model fit together, and does it fit a file? After it, the packer indexes blindly.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Checks every shape against the dimensions, and dimensions, scalars and ids against FORMAT.md's bounds. Throws Error
// with the tensor's or setting's name, what was found and what was expected.
void validate_spec(const ModelSpec& spec);

}  // namespace goldcrest::converter
