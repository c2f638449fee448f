// SPDX-License-Identifier: Apache-2.0
// A small checkpoint of each family and each container, as texts by the files' names, and changes of them.
#pragma once

#include "fuzz/script.h"

namespace goldcrest::test {
// Contents by the file's name. Each member of a zip is "zip!member", so that a changed member is put into a valid zip.
using CheckpointFiles = std::map<std::string, std::string>;

// A package of Argos Translate, whose members are deflated. The package is converted, not its folder.
inline constexpr const char* kPackage = "package.argosmodel";
// An archive of numpy's whose members are deflated.
inline constexpr const char* kCompressed = "compressed.npz";

// Checkpoints that convert unchanged.
std::vector<CheckpointFiles> good_checkpoints();

// Changes one file: bytes, a number or a word of a text, a part copied from another file, or removes the file.
void change_checkpoint(Script& script, CheckpointFiles& files);

// Makes of `text` a file's name that leads to no other folder.
std::string file_name(std::string_view text);

// Changes named files, which may be new: replaces a part, changes the length or the name, or removes the file. So a
// script can turn any folder into any other.
void edit_checkpoint(Script& script, CheckpointFiles& files);

// Changes bytes in weights; most often the result is still a model.
void change_weights(Script& script, CheckpointFiles& files);

// Content that begins with this is a symbolic link to the rest, as in caches of downloads.
inline constexpr std::string_view kLink = "-> ";

// Packs the members of zips; returns the files of a folder.
CheckpointFiles pack(const CheckpointFiles& files);

// Writes the files into the folder. Names may contain folders.
void write_checkpoint(const CheckpointFiles& files, const std::filesystem::path& folder);
}  // namespace goldcrest::test
