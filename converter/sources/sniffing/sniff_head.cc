// SPDX-License-Identifier: Apache-2.0
// Kinds of files that their first bytes tell.
#include <algorithm>
#include <cctype>
#include <string>

#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {

constexpr Kind kModelFile = {Use::kModelFile, "this is a Goldcrest model file",
                             "goldcrest-inspect shows what it holds, goldcrest-translate runs it"};
constexpr Kind kGguf = {Use::kRefused, "this is a GGUF file of llama.cpp",
                        "its weights are quantized for another engine: convert the original checkpoint"};
constexpr Kind kGgml = {Use::kRefused, "this is a GGML file of llama.cpp or whisper.cpp",
                        "its weights are made for another engine: convert the original checkpoint"};
constexpr Kind kTfLite = {Use::kRefused, "this is a TensorFlow Lite model, a graph",
                          "convert the checkpoint that it was exported from"};
constexpr Kind kHdf5 = {Use::kRefused, "this is an HDF5 file, as Keras and TensorFlow write them (.h5)",
                        "save the model with PyTorch: transformers' from_pretrained(..., from_tf=True) of version 4 "
                        "reads a tf_model.h5"};
constexpr Kind kNumpyArray = {Use::kRefused, "this is one NumPy array (.npy)",
                              "save all tensors of the model in one safetensors file"};
constexpr Kind kCompressed = {Use::kRefused, "this is a compressed archive (gzip, bzip2, xz, zstd, 7z or rar)",
                              "unpack it and give the folder or file with the checkpoint"};
constexpr Kind kCheckpointNote = {Use::kRefused, "this is TensorFlow's note of which checkpoint is the latest",
                                  "TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"};

struct Magic {
  size_t at;
  std::string_view bytes;
  const Kind* kind;
};

constexpr Magic kMagics[] = {
    {0, "version https://git-lfs.github.com/spec/", &kLfsPointer},
    {4, "GCST", &kModelFile},
    {0, "GGUF", &kGguf},
    {0, "lmgg", &kGgml},
    {0, "fmgg", &kGgml},
    {0, "tjgg", &kGgml},
    {0, "algg", &kGgml},
    {4, "TFL3", &kTfLite},
    {0, "\x89HDF\r\n\x1a\n", &kHdf5},
    {0, "\x93NUMPY", &kNumpyArray},
    {0, "\xf5\x17\x34\x01\xd5\x48\x1a\xf1", &kMarianShortlist},
    {0, "\x1f\x8b", &kCompressed},
    {0, "BZh", &kCompressed},
    {0, {"\xfd\x37zXZ\0", 6}, &kCompressed},
    {0, "\x28\xb5\x2f\xfd", &kCompressed},
    {0, "7z\xbc\xaf\x27\x1c", &kCompressed},
    {0, "Rar!\x1a\x07", &kCompressed},
    {0, "model_checkpoint_path:", &kCheckpointNote},
};

// The names of the first files of a tar that PyTorch wrote before it had zips.
constexpr std::string_view kLegacyMembers[] = {"sys_info", "pickle", "storages", "tensors"};

bool is_web_page(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  std::string start(head.substr(0, 16));
  std::transform(start.begin(), start.end(), start.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* page : {"<!doctype", "<html", "<?xml", "<error"})
    if (start.starts_with(page)) return true;
  return false;
}

}  // namespace

const Kind* kind_of_head(std::string_view head) {
  if (head.empty()) return &kEmptyFile;
  for (const Magic& magic : kMagics)
    if (head.size() >= magic.at && head.substr(magic.at).starts_with(magic.bytes)) return magic.kind;
  if (is_web_page(head)) return &kWebPage;
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    const std::string_view name = head.substr(0, head.find('\0'));
    const bool is_legacy =
        std::find(std::begin(kLegacyMembers), std::end(kLegacyMembers), name) != std::end(kLegacyMembers);
    return is_legacy ? &kLegacyTar : &kTarredCheckpoint;
  }
  return nullptr;
}

}  // namespace goldcrest::converter
