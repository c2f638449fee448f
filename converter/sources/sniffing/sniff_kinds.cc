// SPDX-License-Identifier: Apache-2.0
// The clauses of every kind, in the order of the ids.
#include "sources/sniffing/sniff_kinds.h"
#include <algorithm>
#include <iterator>

namespace goldcrest::converter {
namespace {
constexpr const char* kWithItsFolder =
    "goldcrest-convert makes a .gcst of it, with the config.json and the tokenizer's files of its repository";
constexpr const char* kUnplanned = "its family is not supported";
constexpr const char* kWithPrintedConfig =
    "goldcrest-convert converts it to a .gcst file, with the config.json that goldcrest-convert --print-config begins";

constexpr Kind kKinds[] = {
    {KindId::kUnknown, Use::kUnknown, "", ""},
    {KindId::kNoWeights, Use::kNoWeights, "", ""},
    {KindId::kEmptyFile, Use::kRefused, "the file is empty", "download it again"},
    {KindId::kLfsPointer, Use::kRefused, "this is a Git LFS pointer, not the file itself",
        "run `git lfs pull` in its repository, or download the file"},
    {KindId::kWebPage, Use::kRefused,
        "this is a web page (HTML or XML), probably an error or sign-in page that a download saved in the file's place",
        "download it again"},
    {KindId::kConfigFile, Use::kRefused, "this is a config.json, not weights",
        "give its folder, or the weights with --config"},
    {KindId::kJsonFile, Use::kRefused, "this is a JSON file, not weights",
        "give the folder with the model's weights and config.json"},
    {KindId::kSentencePiece, Use::kRefused, "this is a SentencePiece tokenizer, not a model",
        "give the folder with the model's weights and config.json; the tokenizer belongs next to them"},
    {KindId::kMarianShortlist, Use::kRefused, "this is a lexical shortlist of Marian, not a model",
        "give the model, and this file with --shortlist FILE"},
    {KindId::kModelFile, Use::kModelFile, "this is a Goldcrest model file",
        "goldcrest-inspect shows what it holds, goldcrest-translate runs it"},
    {KindId::kSafetensors, Use::kConvert, "this is a safetensors file",
        "goldcrest-convert converts it to a .gcst file"},
    {KindId::kTorchZip, Use::kConvert, "this is what torch.save wrote",
        "goldcrest-convert converts it to a .gcst file"},
    {KindId::kShards, Use::kConvert, "this is the index of weights in several files",
        "goldcrest-convert converts them to a .gcst file"},
    {KindId::kLegacyPickle, Use::kConvert, "this is what torch.save wrote before version 1.6",
        "goldcrest-convert converts it to a .gcst file"},
    {KindId::kLegacyTar, Use::kRefused,
        "this is a tar of pickles, PyTorch's format from before version 0.2, which is not read",
        "load it in PyTorch and save it again with torch.save, or convert it to safetensors"},
    {KindId::kWholeModule, Use::kRefused,
        "this is a whole PyTorch module that was pickled, a program and not only weights",
        "nothing in it is executed: load it where it was made and save torch.save(model.state_dict(), ...)"},
    {KindId::kTorchScript, Use::kRefused, "this is a TorchScript archive, a program",
        "save the weights instead: torch.save(torch.jit.load(...).state_dict(), ...)"},
    {KindId::kTorchExport, Use::kRefused, "this is a torch.export archive (.pt2), a program",
        "save the weights instead: torch.save(torch.export.load(...).state_dict, ...)"},
    {KindId::kNumpyZip, Use::kRefused, "this is an archive of NumPy arrays (.npz)",
        "save the arrays as safetensors, with a config.json that tells what they are"},
    {KindId::kNumpyArray, Use::kRefused, "this is one NumPy array (.npy)",
        "save all tensors of the model in one safetensors file"},
    {KindId::kZippedCheckpoint, Use::kRefused, "this is a zip with a checkpoint in it",
        "unpack it and give the folder"},
    {KindId::kTarredCheckpoint, Use::kRefused, "this is a tar archive",
        "unpack it with `tar -xf` and give the folder with the checkpoint"},
    {KindId::kCompressed, Use::kRefused, "this is a compressed archive (gzip, bzip2, xz, zstd, 7z or rar)",
        "unpack it and give the folder or file with the checkpoint"},
    {KindId::kOnnx, Use::kRefused, "this is an ONNX model, a graph",
        "convert the PyTorch or Hugging Face checkpoint that it was exported from"},
    {KindId::kGguf, Use::kRefused, "this is a GGUF file of llama.cpp",
        "its weights are quantized for another engine: convert the original checkpoint"},
    {KindId::kGgml, Use::kRefused, "this is a GGML file of llama.cpp or whisper.cpp",
        "its weights are made for another engine: convert the original checkpoint"},
    {KindId::kTfLite, Use::kRefused, "this is a TensorFlow Lite model, a graph",
        "convert the checkpoint that it was exported from"},
    {KindId::kHdf5, Use::kRefused, "this is an HDF5 file, as Keras and TensorFlow write them (.h5)",
        "save the model with PyTorch: transformers' from_pretrained(..., from_tf=True) of version 4 reads a "
        "tf_model.h5"},
    {KindId::kKerasZip, Use::kRefused, "this is a Keras model (.keras)",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kSavedModel, Use::kRefused, "this is a TensorFlow SavedModel",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kTensorFlowGraph, Use::kRefused, "this is a frozen TensorFlow graph (.pb)",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kTensorFlowIndex, Use::kRefused, "this is a TensorFlow checkpoint (.index and .data)",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kCheckpointNote, Use::kRefused, "this is TensorFlow's note of which checkpoint is the latest",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kOpenNmtTf, Use::kRefused, "this is an OpenNMT-tf checkpoint of TensorFlow (.index and .data)",
        "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
    {KindId::kFairseq, Use::kConvert, "this is a fairseq checkpoint",
        "goldcrest-convert converts it to a .gcst file, with the dict.SOURCE.txt and dict.TARGET.txt next to it"},
    {KindId::kOpenNmtPy, Use::kConvert, "this is an OpenNMT-py checkpoint",
        "goldcrest-convert converts it to a .gcst file"},
    {KindId::kMarianNpz, Use::kConvert, "this is a Marian model in Marian's own format (.npz)",
        "goldcrest-convert converts it to a .gcst file, with the vocabularies next to it"},
    {KindId::kMarianBinary, Use::kConvert, "this is a Marian model in Marian's binary format (.bin)",
        "goldcrest-convert converts it to a .gcst file, with the vocabularies next to it"},
    {KindId::kMarianIntgemm, Use::kConvert,
        "this is a Marian model with the 8-bit weights of intgemm (.bin), as Firefox has them",
        "goldcrest-convert converts it to a .gcst file, with the vocabularies next to it"},
    {KindId::kCTranslate2, Use::kConvert, "this is a CTranslate2 model",
        "goldcrest-convert converts it to a .gcst file, with the config.json and the vocabularies next to it"},
    {KindId::kArgosPackage, Use::kConvert, "this is a package of Argos Translate with a CTranslate2 model",
        "goldcrest-convert converts it to a .gcst file"},
    {KindId::kCTranslate2Speech, Use::kRefused, "this is a CTranslate2 model of speech without a decoder (Wav2Vec2)",
        "Goldcrest runs encoder-decoder Transformers; it cannot be converted"},
    {KindId::kCTranslate2Encoder, Use::kRefused, "this is a CTranslate2 model of an encoder without a decoder",
        "Goldcrest runs encoder-decoder Transformers; it cannot be converted"},
    {KindId::kCTranslate2Decoder, Use::kRefused, "this is a CTranslate2 model of a decoder-only language model",
        "Goldcrest runs encoder-decoder Transformers; it cannot be converted"},
    {KindId::kNnTransformer, Use::kConvert, "this is a state dict of PyTorch's nn.Transformer", kWithPrintedConfig},
    {KindId::kAnnotatedTensors, Use::kConvert, "this is a model of the Annotated Transformer", kWithPrintedConfig},
    {KindId::kSeq2SeqTensors, Use::kConvert, "this is a Seq2SeqTransformer of PyTorch's translation tutorial",
        kWithPrintedConfig},
    {KindId::kTrevettTensors, Use::kConvert, "this is a Transformer of Ben Trevett's tutorial 6", kWithPrintedConfig},
    {KindId::kMarianTensors, Use::kConvert, "this is a Marian / OPUS-MT model of Hugging Face",
        "goldcrest-convert converts it to a .gcst file, with the config.json, vocab.json, source.spm and target.spm of "
        "its repository"},
    {KindId::kT5, Use::kConvert, "this is a T5 model (T5, mT5, FLAN-T5, ByT5 ...)", kWithItsFolder},
    {KindId::kBart, Use::kConvert, "this is a BART model", kWithItsFolder},
    {KindId::kMBart, Use::kConvert, "this is an mBART model", kWithItsFolder},
    {KindId::kM2m, Use::kConvert, "this is an M2M-100 or NLLB model", kWithItsFolder},
    {KindId::kPegasus, Use::kConvert, "this is a Pegasus model", kWithItsFolder},
    {KindId::kWhisper, Use::kConvert, "this is a Whisper model", kWithItsFolder},
    {KindId::kOpenAiWhisper, Use::kOtherFamily, "this is a Whisper model in OpenAI's own layout",
        "transformers' convert_openai_to_hf.py makes a folder of it that goldcrest-convert reads"},
    {KindId::kMoonshine, Use::kConvert, "this is a Moonshine model", kWithItsFolder},
    {KindId::kOtherSeq2Seq, Use::kOtherFamily, "this is another encoder-decoder of Hugging Face", kUnplanned},
    {KindId::kEncoderOnly, Use::kOtherFamily, "this is an encoder without a decoder (as BERT is)",
        "Goldcrest runs encoder-decoder Transformers; it cannot be converted"},
    {KindId::kDecoderOnly, Use::kOtherFamily, "this is a decoder-only language model (as GPT and Llama are)",
        "Goldcrest runs encoder-decoder Transformers; it cannot be converted"},
};

constexpr bool is_in_order() {
  size_t place = 0;
  return std::all_of(
      std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return static_cast<size_t>(kind.id) == place++; });
}
static_assert(is_in_order() && kKinds[std::size(kKinds) - 1].id == KindId::kDecoderOnly);
}  // namespace

const Kind& kind_of_id(KindId id) { return kKinds[static_cast<size_t>(id)]; }
}  // namespace goldcrest::converter
