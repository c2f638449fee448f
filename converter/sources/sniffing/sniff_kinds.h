// SPDX-License-Identifier: Apache-2.0
// The kinds of files that users have. Each has a clause that describes it and a clause that says what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goldcrest::converter {
enum class Use {
  kUnknown,
  kConvert,      // weights that the converter reads
  kOtherFamily,  // a container that the converter reads, with a model that it does not convert
  kModelFile,    // a .gcst
  kNoWeights,    // a folder without weights
  kRefused,
};

enum class KindId : uint8_t {
  kUnknown,
  kNoWeights,  // a folder without weights
  // Files that are not models.
  kEmptyFile,
  kLfsPointer,
  kWebPage,
  kConfigFile,
  kJsonFile,
  kSentencePiece,
  kMarianShortlist,
  // Goldcrest's own files.
  kModelFile,
  // Containers that are read, with tensor names that belong to no known family.
  kSafetensors,
  kTorchZip,
  kShards,
  // PyTorch's containers that are not read.
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
  // Containers that identify their family.
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
  // Families identified by the names of their tensors.
  kNnTransformer,
  kAnnotatedTensors,
  kSeq2SeqTensors,
  kTrevettTensors,
  kMarianTensors,
  // Families that are not converted; config.json's model_type identifies them too.
  kT5,
  kBart,
  kMBart,
  kM2m,
  kPegasus,
  kWhisper,
  kOpenAiWhisper,
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

// `id` must not be kNoWeights, because those clauses name the folder's files. The clauses of kUnknown are empty.
const Kind& kind_of_id(KindId id);

// Identifies a file by its first bytes only.
KindId kind_of_head(std::string_view head);

// Returns the family of a Hugging Face model by its config.json's model_type, or kUnknown, also if the model is
// converted.
KindId family_of_type(std::string_view model_type);
// Identifies a family by its tensors' names, which appear anywhere in `names`.
KindId family_of_names(std::string_view names);

// Returns the names of known families that are not converted, separated by commas.
std::string refused_families();
}  // namespace goldcrest::converter
