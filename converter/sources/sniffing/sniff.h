// SPDX-License-Identifier: Apache-2.0
// What a file or a folder is, by its contents, and what can be done with it. It needs the C++ standard library alone
// and never throws on contents, so that every program can ask it before anything else is read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {

struct Sniffed {
  KindId kind = KindId::kUnknown;
  Use use = Use::kUnknown;
  std::filesystem::path where;      // the file or folder that the rest is about
  std::string description, advice;  // as Kind's

  std::string text() const { return where.string() + ": " + description + "; " + advice; }
};

// With the clauses of the kind.
Sniffed sniffed_as(KindId kind, const std::filesystem::path& where);

// Whether it is one of Marian's own models, .npz or .bin.
bool is_marian_native(KindId kind);

// Whether it is CTranslate2's, a package of Argos Translate among them.
bool is_ctranslate2(KindId kind);

// Of a folder: its weights, the model that its config.json names, or what it lacks.
Sniffed sniff(const std::filesystem::path& path);
Sniffed sniff_file(const std::filesystem::path& file);

// The weights that a folder has under the usual names, safetensors first: one path, or several that are equally good.
std::vector<std::filesystem::path> find_weights(const std::filesystem::path& folder);
// Names in a folder in their order, at most 1,000; none when it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace goldcrest::converter
