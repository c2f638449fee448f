// SPDX-License-Identifier: Apache-2.0
// Writes the figures as tables for people and as JSON for scripts, each with its spread.
#pragma once

#include <string>
#include <vector>
#include "measurements.h"

namespace bench {
inline double per_second(uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

// Returns the spread of every timing of the report.
std::vector<double> spreads_of(const Report& report);

// Returns a warning line if some timings of the report have a spread above kLargeSpread; else empty.
constexpr double kLargeSpread = 0.1;
std::string spread_warning(const Report& report);

// The version of the JSON's schema. It changes if a field changes its meaning or is removed; new fields do not change
// it.
constexpr int kSchemaVersion = 1;

// Return which part of the machine's bound encoding and decoding reach: the bound's time over theirs. Take cases that
// have a bound.
inline double encode_share(const Case& measured) {
  return measured.bound->encode.seconds() / measured.speed.encode.median_s;
}
inline double decode_share(const Case& measured, uint32_t target_tokens) {
  const double decode_s = measured.speed.position_s * target_tokens;
  return decode_s > 0 ? measured.bound->decode.seconds() / decode_s : 0;
}

// Returns the seconds of computing for a second of sound.
inline double real_time_factor(const Settings& settings, const Speed& speed) {
  return speed.run.median_s / (settings.audio_seconds * speed.batch);
}

std::string report_text(const Settings& settings, const Report& report);
std::string report_json(const Settings& settings, const Report& report);  // README.md has its fields
}  // namespace bench
