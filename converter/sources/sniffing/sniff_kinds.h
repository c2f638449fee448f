// SPDX-License-Identifier: Apache-2.0
// The kinds of files that people have, each with one clause on what it is and one on what can be done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goldcrest::converter {

enum class Use {
  kUnknown,
  kConvert,      // weights that the converter reads
  kOtherFamily,  // a container that the converter reads, with a model that it does not
  kModelFile,    // a .gcst
  kNoWeights,    // a folder that has none
  kRefused,
};

enum class KindId : uint8_t {
  kUnknown,
  kNoWeights,  // a folder that has none
  // Files that are no model.
  kEmptyFile,
  kLfsPointer,
  kWebPage,
  kConfigFile,
  kJsonFile,
  kSentencePiece,
  kMarianShortlist,
  // Goldcrest's own.
  kModelFile,
  // Containers that are read, of no family that the names in them tell.
  kSafetensors,
  kTorchZip,
  kShards,
  // PyTorch's that are not read.
  kLegacyPickle,
  kLegacyTar,
  kWholeModule,
  kTorchScript,
  kTorchExport,
  // Archives.
  kNumpyZip,
  kNumpyArray,
  kZippedCheckpoint,
  kTarredCheckpoint,
  kCompressed,
  // Other frameworks and engines.
  kOnnx,
  kGguf,
  kGgml,
  kTfLite,
  kHdf5,
  kKerasZip,
  kSavedModel,
  kTensorFlowGraph,
  kTensorFlowIndex,
  kCheckpointNote,
  kOpenNmtTf,
  // Containers that tell their family.
  kFairseq,
  kOpenNmtPy,
  kMarianNpz,
  kMarianBinary,
  kMarianIntgemm,
  kCTranslate2,
  kArgosPackage,
  kCTranslate2Speech,
  kCTranslate2Encoder,
  kCTranslate2Decoder,
  // Families by the names of their tensors.
  kNnTransformer,
  kAnnotatedTensors,
  kSeq2SeqTensors,
  kTrevettTensors,
  kMarianTensors,
  // Families that are not converted, also by config.json's model_type.
  kT5,
  kBart,
  kMBart,
  kM2m,
  kPegasus,
  kWhisper,
  kMoonshine,
  kOtherSeq2Seq,
  kEncoderOnly,
  kDecoderOnly,
};

struct Kind {
  KindId id;
  Use use;
  const char* description;  // "this is an ONNX model"
  const char* advice;       // "convert the checkpoint that it was exported from"
};

// Of any id but kNoWeights, whose clauses name the folder's files. Of kUnknown they are empty.
const Kind& kind_of_id(KindId id);

// Kinds of files, by their first bytes only.
KindId kind_of_head(std::string_view head);

// The family of a Hugging Face model by its config.json's model_type; kUnknown also for one that is converted.
KindId family_of_type(std::string_view model_type);
// By the names of its tensors, which stand somewhere in `names`.
KindId family_of_names(std::string_view names);

// Names of the families that are known and not converted, with commas: those that are planned, or the others.
std::string refused_families(bool planned);

}  // namespace goldcrest::converter
