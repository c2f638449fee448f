// SPDX-License-Identifier: Apache-2.0
// The parts of the ctranslate2 dialect: its files, its settings, the variables that it may have, and its texts.
#pragma once

#include <optional>
#include <string>
#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/files/input_folder.h"

namespace goldcrest::converter {
// Recognises a CTranslate2 model. Its config.json tells only the special tokens.
extern const WayIn kCTranslate2Way;

struct CTranslate2Files {
  InputFolder model;
  std::string weights;                 // usually model.bin
  std::optional<InputFolder> package;  // Argos Translate's, with its metadata.json; the model is its folder model/
};

// `path` is the folder with model.bin, model.bin itself, or a package of Argos Translate, unpacked or as a zip.
CTranslate2Files find_ctranslate2_files(const std::filesystem::path& path);

// Returns the settings that model.bin holds next to its tensors.
Config ctranslate2_scalars(const TensorSource& tensors);

// Reads config.json, or `given` in its place. Before binary version 6 its keys are variables of model.bin.
Config ctranslate2_config(
    const CTranslate2Files& files, const TensorSource& tensors, const std::filesystem::path& given);

// Throws Error naming a variable that asks for a computation that Goldcrest lacks.
void refuse_unsupported(const TensorReader& tensors, const Config& scalars);

// Whisper's specification, whose encoder begins with convolutions.
bool is_whisper(const Config& scalars);

// Reads Whisper's vocabulary, special ids and prompt. Needs the graph.
void read_ctranslate2_whisper(
    const CTranslate2Files& files, const Config& config, const OpenChoices& options, ModelSpec& spec);

// Throws Error naming the first variable or setting that nothing has read.
void refuse_unread(const TensorReader& tensors, const Config& scalars, const Config& config);

// Reads vocabularies, tokenizers, special ids and CTranslate2's own search. Needs the positions, and the tables without
// a start row. `starts_from_zero`: the decoder's first input is the zero vector.
void read_ctranslate2_text(const CTranslate2Files& files, const Config& config, bool starts_from_zero, ModelSpec& spec);
}  // namespace goldcrest::converter
