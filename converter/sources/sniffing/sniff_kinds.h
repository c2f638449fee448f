// SPDX-License-Identifier: Apache-2.0
// The kinds of files that people have, each with one clause on what it is and one on what can be done.
#pragma once

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

struct Kind {
  Use use;
  const char* what;
  const char* advice;
};

// By the first bytes of a file alone; null: none of these.
const Kind* kind_of_head(std::string_view head);

// The family of a Hugging Face model by its config.json's model_type; null: not known, or one that is converted.
const Kind* family_of_type(std::string_view model_type);
// By the names of its tensors, which stand somewhere in `names`; null: not known.
const Kind* family_of_names(std::string_view names);

// Names of the families that are known and not converted, with commas: those that are planned, or the others.
std::string refused_families(bool planned);

inline constexpr Kind kEmptyFile = {Use::kRefused, "the file is empty", "download it again"};
inline constexpr Kind kLfsPointer = {Use::kRefused, "this is a Git LFS pointer, not the file itself",
                                     "run `git lfs pull` in its repository, or download the file"};
inline constexpr Kind kWebPage = {Use::kRefused,
                                  "this is a web page (HTML or XML), probably an error or sign-in page that a download "
                                  "saved in the file's place",
                                  "download it again"};
inline constexpr Kind kSafetensors = {Use::kConvert, "this is a safetensors file",
                                      "goldcrest-convert makes a .gcst of it"};
inline constexpr Kind kTorchZip = {Use::kConvert, "this is what torch.save wrote",
                                   "goldcrest-convert makes a .gcst of it"};
inline constexpr Kind kShards = {Use::kConvert, "this is the index of weights in several files",
                                 "goldcrest-convert makes a .gcst of them"};
inline constexpr Kind kLegacyPickle = {
    Use::kRefused, "this is a pickle without a zip, PyTorch's format from before version 1.6, which is not read",
    "load it in PyTorch and save it again with torch.save, or convert it to safetensors"};
inline constexpr Kind kWholeModule = {
    Use::kRefused, "this is a whole PyTorch module that was pickled, a program and not only weights",
    "nothing in it is executed: load it where it was made and save torch.save(model.state_dict(), ...)"};
inline constexpr Kind kTorchScript = {Use::kRefused, "this is a TorchScript archive, a program",
                                      "save the weights instead: torch.save(torch.jit.load(...).state_dict(), ...)"};
inline constexpr Kind kTorchExport = {Use::kRefused, "this is a torch.export archive (.pt2), a program",
                                      "save the weights instead: torch.save(torch.export.load(...).state_dict, ...)"};
inline constexpr Kind kFairseq = {
    Use::kConvert, "this is a fairseq checkpoint",
    "goldcrest-convert makes a .gcst of it, with the dict.SOURCE.txt and dict.TARGET.txt beside it"};
inline constexpr Kind kOpenNmtPy = {Use::kConvert, "this is an OpenNMT-py checkpoint",
                                    "goldcrest-convert makes a .gcst of it"};
inline constexpr Kind kOnnx = {Use::kRefused, "this is an ONNX model, a graph",
                               "convert the PyTorch or Hugging Face checkpoint that it was exported from"};
inline constexpr Kind kMarianNpz = {Use::kConvert, "this is a Marian model in Marian's own format (.npz)",
                                    "goldcrest-convert makes a .gcst of it, with the vocabularies beside it"};
inline constexpr Kind kMarianBinary = {Use::kConvert, "this is a Marian model in Marian's binary format (.bin)",
                                       "goldcrest-convert makes a .gcst of it, with the vocabularies beside it"};
inline constexpr Kind kMarianIntgemm = {
    Use::kConvert, "this is a Marian model with the 8-bit weights of intgemm (.bin), as Firefox has them",
    "goldcrest-convert makes a .gcst of it, with the vocabularies beside it"};
inline constexpr Kind kMarianShortlist = {Use::kRefused, "this is a lexical shortlist of Marian, not a model",
                                          "give the model; --shortlist FILE takes this beside it"};
inline constexpr Kind kNumpyZip = {Use::kRefused, "this is an archive of NumPy arrays (.npz)",
                                   "save the arrays as safetensors, with a config.json that tells what they are"};
inline constexpr Kind kKerasZip = {Use::kRefused, "this is a Keras model (.keras)",
                                   "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};
inline constexpr Kind kZippedCheckpoint = {Use::kRefused, "this is a zip with a checkpoint in it",
                                           "unpack it and give the folder"};
inline constexpr Kind kTarredCheckpoint = {Use::kRefused, "this is a tar archive",
                                           "unpack it with `tar -xf` and give the folder with the checkpoint"};
inline constexpr Kind kLegacyTar = {
    Use::kRefused, "this is a tar of pickles, PyTorch's format from before version 0.2, which is not read",
    "load it in PyTorch and save it again with torch.save, or convert it to safetensors"};
inline constexpr Kind kCTranslate2 = {
    Use::kConvert, "this is a CTranslate2 model",
    "goldcrest-convert makes a .gcst of it, with the config.json and the vocabularies beside it"};
inline constexpr Kind kArgosPackage = {Use::kConvert, "this is a package of Argos Translate with a CTranslate2 model",
                                       "goldcrest-convert makes a .gcst of it"};
inline constexpr Kind kCTranslate2Speech = {Use::kRefused, "this is a CTranslate2 model of speech (Whisper, Wav2Vec2)",
                                            "its family is planned; it cannot be converted yet"};
inline constexpr Kind kCTranslate2Encoder = {Use::kRefused,
                                             "this is a CTranslate2 model of an encoder without a decoder",
                                             "Goldcrest runs encoder-decoder Transformers; it cannot be converted"};
inline constexpr Kind kCTranslate2Decoder = {Use::kRefused,
                                             "this is a CTranslate2 model of a decoder-only language model",
                                             "Goldcrest runs encoder-decoder Transformers; it cannot be converted"};
inline constexpr Kind kSavedModel = {Use::kRefused, "this is a TensorFlow SavedModel",
                                     "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};
inline constexpr Kind kTensorFlowGraph = {Use::kRefused, "this is a frozen TensorFlow graph (.pb)",
                                          "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};
inline constexpr Kind kTensorFlowIndex = {Use::kRefused, "this is a TensorFlow checkpoint (.index and .data)",
                                          "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};
inline constexpr Kind kOpenNmtTf = {Use::kRefused, "this is an OpenNMT-tf checkpoint of TensorFlow (.index and .data)",
                                    "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};
inline constexpr Kind kSentencePiece = {
    Use::kRefused, "this is a SentencePiece tokenizer, not a model",
    "give the folder with the model's weights and config.json; the tokenizer belongs beside them"};
inline constexpr Kind kConfigFile = {Use::kRefused, "this is a config.json, not weights",
                                     "give its folder, or the weights with --config"};
inline constexpr Kind kJsonFile = {Use::kRefused, "this is a JSON file, not weights",
                                   "give the folder with the model's weights and config.json"};

inline constexpr const char* kWithPrintedConfig =
    "goldcrest-convert makes a .gcst of it, with the config.json that goldcrest-convert --print-config begins";
inline constexpr Kind kNnTransformer = {Use::kConvert, "this is a state dict of PyTorch's nn.Transformer",
                                        kWithPrintedConfig};
inline constexpr Kind kAnnotatedTensors = {Use::kConvert, "this is a model of the Annotated Transformer",
                                           kWithPrintedConfig};
inline constexpr Kind kSeq2SeqTensors = {
    Use::kConvert, "this is a Seq2SeqTransformer of PyTorch's translation tutorial", kWithPrintedConfig};
inline constexpr Kind kTrevettTensors = {Use::kConvert, "this is a Transformer of Ben Trevett's tutorial 6",
                                         kWithPrintedConfig};
inline constexpr Kind kMarianTensors = {
    Use::kConvert, "this is a Marian / OPUS-MT model of Hugging Face",
    "goldcrest-convert makes a .gcst of it, with the config.json, vocab.json, source.spm and target.spm of its "
    "repository"};

}  // namespace goldcrest::converter
