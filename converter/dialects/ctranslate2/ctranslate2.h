// SPDX-License-Identifier: Apache-2.0
// The parts of the ctranslate2 dialect: where its files are, its settings, the variables that it may have, and texts.
#pragma once

#include <optional>
#include <string>

#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/files/input_folder.h"

namespace goldcrest::converter {

// By a CTranslate2 model, whose config.json tells the special tokens only.
extern const WayIn kCTranslate2Way;

struct CTranslate2Files {
  InputFolder model;
  std::string weights;                 // usually model.bin
  std::optional<InputFolder> package;  // of Argos Translate, with its metadata.json; the model is its folder model/
};

// `path`: the folder with model.bin, model.bin itself, or a package of Argos Translate, unpacked or as its zip.
CTranslate2Files find_ctranslate2_files(const std::filesystem::path& path);

// What model.bin holds beside tensors.
Config ctranslate2_scalars(const TensorSource& tensors);

// config.json, or `given` in its place. Before binary version 6 its keys are variables.
Config ctranslate2_config(const CTranslate2Files& files, const TensorSource& tensors,
                          const std::filesystem::path& given);

// Throws Error naming a variable that asks for what Goldcrest does not compute.
void refuse_unsupported(const TensorReader& tensors, const Config& scalars);

// Throws Error naming the first of the variables and settings that nothing has read.
void refuse_unread(const TensorReader& tensors, const Config& scalars, const Config& config);

// Vocabularies, tokenizers, special ids and CTranslate2's own search. Needs the tables, without a start row, and the
// positions. `starts_from_zero`: the decoder's first input is the zero vector.
void read_ctranslate2_text(const CTranslate2Files& files, const Config& config, bool starts_from_zero, ModelSpec& spec);

}  // namespace goldcrest::converter
