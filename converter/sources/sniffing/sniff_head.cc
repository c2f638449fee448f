// SPDX-License-Identifier: Apache-2.0
// Identifies files by their first bytes.
#include <algorithm>
#include <cctype>
#include <string>

#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {

struct Magic {
  size_t at;
  std::string_view bytes;
  KindId kind;
};

constexpr Magic kMagics[] = {
    {0, "version https://git-lfs.github.com/spec/", KindId::kLfsPointer},
    {4, "GCST", KindId::kModelFile},
    {0, "GGUF", KindId::kGguf},
    {0, "lmgg", KindId::kGgml},
    {0, "fmgg", KindId::kGgml},
    {0, "tjgg", KindId::kGgml},
    {0, "algg", KindId::kGgml},
    {4, "TFL3", KindId::kTfLite},
    {0, "\x89HDF\r\n\x1a\n", KindId::kHdf5},
    {0, "\x93NUMPY", KindId::kNumpyArray},
    {0, "\xf5\x17\x34\x01\xd5\x48\x1a\xf1", KindId::kMarianShortlist},
    {0, "\x1f\x8b", KindId::kCompressed},
    {0, "BZh", KindId::kCompressed},
    {0, {"\xfd\x37zXZ\0", 6}, KindId::kCompressed},
    {0, "\x28\xb5\x2f\xfd", KindId::kCompressed},
    {0, "7z\xbc\xaf\x27\x1c", KindId::kCompressed},
    {0, "Rar!\x1a\x07", KindId::kCompressed},
    {0, "model_checkpoint_path:", KindId::kCheckpointNote},
};

// The names of the first files in a tar that PyTorch wrote before it used zips.
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

KindId kind_of_head(std::string_view head) {
  if (head.empty()) return KindId::kEmptyFile;
  for (const Magic& magic : kMagics)
    if (head.size() >= magic.at && head.substr(magic.at).starts_with(magic.bytes)) return magic.kind;
  if (is_web_page(head)) return KindId::kWebPage;
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    const std::string_view name = head.substr(0, head.find('\0'));
    const bool is_legacy =
        std::find(std::begin(kLegacyMembers), std::end(kLegacyMembers), name) != std::end(kLegacyMembers);
    return is_legacy ? KindId::kLegacyTar : KindId::kTarredCheckpoint;
  }
  return KindId::kUnknown;
}

}  // namespace goldcrest::converter
