// SPDX-License-Identifier: Apache-2.0
// Tells what a file or a folder is, by its contents, and what you can do with it. Needs only the C++ standard library
// and never throws on contents, so every program can call it before it reads anything else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>
#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
struct Sniffed {
  KindId kind = KindId::kUnknown;
  Use use = Use::kUnknown;
  std::filesystem::path where;      // the file or folder that the description is about
  std::string description, advice;  // see Kind

  std::string text() const { return where.string() + ": " + description + "; " + advice; }
};

// Fills in the description and advice of the kind.
Sniffed sniffed_as(KindId kind, const std::filesystem::path& where);

// True for Marian's own models, .npz or .bin.
bool is_marian_native(KindId kind);

// True for CTranslate2's directories and packages of Argos Translate.
bool is_ctranslate2(KindId kind);

// For a folder, the result describes its weights, the model that its config.json names, or what is missing.
Sniffed sniff(const std::filesystem::path& path);
Sniffed sniff_file(const std::filesystem::path& file);

// Returns the weights that a folder has under the usual names, safetensors first: one path, or several that are equally
// good.
std::vector<std::filesystem::path> find_weights(const std::filesystem::path& folder);
// Returns the names in a folder in order, at most 1,000; none if the folder cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);
}  // namespace goldcrest::converter
