// SPDX-License-Identifier: Apache-2.0
// Orders the weights of a model file for another processor. Everything else, and the weights' hash, stays the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include "file/write.h"
#include "quantize/quantize.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// True if `path` names a model file and not a checkpoint, by its ending or its identifier. False if it cannot be read.
bool is_model_file(const std::filesystem::path& path);

// Returns the bytes of a model file, unchecked. Throws Error.
FileImage read_model_file(const std::filesystem::path& path);

// Returns `image` with its linear layers in `layout`, if that is given: the same bytes that a conversion of the
// checkpoint to `layout` gives. If `widens`, weights of 4 bits become the int8 weights that they are. The engine must
// have accepted `image` in full verification. Throws Error naming `file`.
FileImage relay_out(const FileImage& image, std::optional<Layout> layout, const std::string& file, bool widens = false);

// The rules of a model file's search.
RulesSpec rules_of(const FileImage& image);

// Returns the CMake options of the engine that a model file needs, such as "GOLDCREST_SEARCH"; firmware has none by
// default.
std::vector<std::string> engine_options(const FileImage& image);
}  // namespace goldcrest::converter
