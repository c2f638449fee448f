// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace goldcrest::converter {
// goldcrest-convert. Returns the exit status.
int run_program(int argc, char** argv);
}  // namespace goldcrest::converter
