// SPDX-License-Identifier: Apache-2.0
// The tables of a stem and of rotary positions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include "file/section_writer.h"
#include "quantize/quantize.h"
#include "spec/spec.h"

namespace goldcrest::format {
struct FrontendT;
struct LinearT;
struct LogMelT;
struct NormT;
struct RotaryT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
// Stores the parts of a stem that other tables have too.
struct FrontendParts {
  std::function<std::unique_ptr<format::LinearT>(const LinearSpec& linear, const Placement& columns)> linear;
  std::function<std::unique_ptr<format::NormT>(const std::string& name, const NormSpec& norm)> norm;
  SectionWriter& parameters;
};

std::unique_ptr<format::FrontendT> write_frontend(const FrontendSpec& frontend, const FrontendParts& parts);

std::unique_ptr<format::RotaryT> write_rotary(
    const std::string& name, const RotarySpec& rotary, SectionWriter& positions);
}  // namespace goldcrest::converter
