// SPDX-License-Identifier: Apache-2.0
// The figures as tables for people and as JSON for scripts.
#pragma once

#include <string>

#include "measurements.h"

namespace bench {

inline double per_second(uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

std::string report_text(const Settings& settings, const Report& report);
std::string report_json(const Settings& settings, const Report& report);  // sizes in bytes, times in seconds

}  // namespace bench
