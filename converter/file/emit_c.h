// SPDX-License-Identifier: Apache-2.0
// A model as C source: its bytes, and a header with the memory that chosen limits need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {

struct EmitOptions {
  std::string name;     // of c_name
  std::string section;  // empty: .rodata, with the model's name in front of the assembler
  bool array = false;   // an array in C, not .incbin
};

// "model_" and `name` with every character that no C identifier has replaced by '_'. Throws Error where nothing is
// left.
std::string c_name(const std::string& name);

// Throws Error when an assembler would not take `section` as it stands.
void check_section_name(const std::string& section);

// Writes NAME.h and NAME.S with NAME.gcst, or NAME.h and NAME.c, into `folder`, which is made where it is missing; the
// header last. Returns the paths. Throws Error.
std::vector<std::filesystem::path> emit_c(const std::filesystem::path& folder, const EmitOptions& options,
                                          std::span<const uint8_t> model, const goldcrest_memory& memory);

}  // namespace goldcrest::converter
