// SPDX-License-Identifier: Apache-2.0
// A small checkpoint of each family and each container as texts by the files' names, and changes of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/script.h"

namespace goldcrest::test {

// By the file's name; of a zip each member by "zip!member", so that a changed one can be put into a right zip.
using CheckpointFiles = std::map<std::string, std::string>;

// A package of Argos Translate, whose members are deflated. Not the folder that it is in, it is what is converted.
inline constexpr const char* kPackage = "package.argosmodel";
// An archive of numpy's whose members are deflated.
inline constexpr const char* kCompressed = "compressed.npz";

// Each converts as it is.
std::vector<CheckpointFiles> good_checkpoints();

// One change of one file: bytes, a number or a word of a text, a part taken from another file, the file itself gone.
void change_checkpoint(Script& script, CheckpointFiles& files);

// `text` as a file's name that leads to no other folder.
std::string file_name(std::string_view text);

// Changes of named files, which may be new: a part replaced, another length, another name, gone. So that a script can
// make any folder of another.
void edit_checkpoint(Script& script, CheckpointFiles& files);

// Changes of bytes where weights lie, which most often leave a model.
void change_weights(Script& script, CheckpointFiles& files);

// Content that begins so is a symbolic link to what follows, as caches of downloads have them.
inline constexpr std::string_view kLink = "-> ";

// The files as they lie in a folder, with their zips made.
CheckpointFiles pack(const CheckpointFiles& files);

// Names may have folders before them.
void write_checkpoint(const CheckpointFiles& files, const std::filesystem::path& folder);

}  // namespace goldcrest::test
