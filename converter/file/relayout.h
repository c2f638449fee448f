// SPDX-License-Identifier: Apache-2.0
// A model file in another processor's order of weights: all else in it, and the weights' hash, stay the same.
#pragma once

#include <filesystem>
#include <string>

#include "file/write.h"
#include "quantize/pack.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// Whether `path` names a model file and not a checkpoint: by its ending or by its identifier. False when it cannot be
// read.
bool is_model_file(const std::filesystem::path& path);

// The bytes of a model file, not yet checked. Throws Error.
FileImage read_model_file(const std::filesystem::path& path);

// `image`, which the engine has accepted in full verification, with its linear layers in `layout`: the bytes that
// converting the checkpoint to `layout` gives. Throws Error naming `file`.
FileImage relay_out(const FileImage& image, Layout layout, const std::string& file);

// The rules of a model file's search.
RulesSpec rules_of(const FileImage& image);

}  // namespace goldcrest::converter
