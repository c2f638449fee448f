// SPDX-License-Identifier: Apache-2.0
// Writes a model as C source: its bytes, and a header with the memory that chosen limits need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {
struct EmitOptions {
  std::string name;     // see c_name
  std::string section;  // empty: .rodata, followed by the model's name for the assembler
  bool array = false;   // an array in C, not .incbin
};

// Returns "model_" and `name`, with '_' in place of every character that a C identifier cannot have. Throws Error if
// nothing is left.
std::string c_name(const std::string& name);

// Throws Error if an assembler would not accept `section` unchanged.
void check_section_name(const std::string& section);

// Writes NAME.h and NAME.S with NAME.gcst, or NAME.h and NAME.c, into `folder`, the header last. Creates the folder if
// it is missing. Returns the paths. Throws Error.
std::vector<std::filesystem::path> emit_c(const std::filesystem::path& folder, const EmitOptions& options,
    std::span<const uint8_t> model, const goldcrest_memory& memory);
}  // namespace goldcrest::converter
