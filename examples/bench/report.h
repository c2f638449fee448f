// SPDX-License-Identifier: Apache-2.0
// The figures as tables for people and as JSON for scripts.
#pragma once

#include <string>

#include "measurements.h"

namespace bench {

std::string report_text(const Settings& settings, const Report& report);
std::string report_json(const Settings& settings, const Report& report);  // sizes in bytes, times in seconds

}  // namespace bench
