// SPDX-License-Identifier: Apache-2.0
// Identifies files that need more than their first bytes: zips, pickles, protobufs, safetensors, Marian's binaries.
#include <algorithm>
#include <cctype>
#include <string>
#include "sources/sniffing/peek.h"
#include "sources/sniffing/sniff.h"
#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {
bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Identifies a pickle of torch.save: by what it holds other than weights, else by the family of its tensors, else
// kUnknown.
KindId kind_of_pickle(std::string_view pickle) {
  const KindId family = family_of_names(pickle);
  if (family == KindId::kOpenNmtPy) return family;
  const bool has_settings =
      holds(pickle, "cargparse\nNamespace") || holds(pickle, "comegaconf") || holds(pickle, "fairseq");
  const bool has_buffers = holds(pickle, "embed_positions._float_tensor") || holds(pickle, "encoder.version");
  if (holds(pickle, "encoder.embed_tokens.weight") && holds(pickle, "encoder_attn") && (has_settings || has_buffers))
    return KindId::kFairseq;
  if (holds(pickle, "ctorch.nn.modules.")) return KindId::kWholeModule;
  return family;
}

KindId kind_of_zip(const Peek& file) {
  const std::vector<PeekedMember> members = peek_zip(file);
  const auto find = [&](std::string_view end) {
    return std::find_if(members.begin(), members.end(), [&](const PeekedMember& m) { return m.name.ends_with(end); });
  };
  const auto has = [&](std::string_view end) { return find(end) != members.end(); };
  if (has("/constants.pkl")) return KindId::kTorchScript;
  if (has("serialized_exported_program.json") || has("models/model.json")) return KindId::kTorchExport;
  if (has("special:model.yml.npy") || has("special:model.yml")) return KindId::kMarianNpz;
  if (has("model/model.bin") && has("metadata.json")) return KindId::kArgosPackage;
  if (has("model.weights.h5") && has("config.json")) return KindId::kKerasZip;
  for (const char* name : {"model.safetensors", "pytorch_model.bin", "saved_model.pb", "model.bin", ".pt", ".npz"})
    if (has(name)) return KindId::kZippedCheckpoint;
  if (has(".npy")) return KindId::kNumpyZip;
  const auto pickle = find("data.pkl");
  if (pickle == members.end()) return KindId::kUnknown;
  const KindId kind = kind_of_pickle(peek_member(file, *pickle));
  return kind != KindId::kUnknown ? kind : KindId::kTorchZip;
}

bool is_within(uint64_t number, std::initializer_list<uint64_t> numbers) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Identifies ONNX, SavedModel, SentencePiece and frozen graphs: protobuf messages, which have no magic number.
KindId kind_of_protobuf(const Peek& file) {
  const std::vector<PeekedField> fields = peek_fields(file, 0, file.size());
  if (fields.empty()) return KindId::kUnknown;
  const auto all = [&](std::initializer_list<uint64_t> numbers) {
    return std::all_of(
        fields.begin(), fields.end(), [&](const PeekedField& f) { return is_within(f.number, numbers); });
  };
  const auto has = [&](uint64_t number, unsigned wire_type) {
    return std::any_of(fields.begin(), fields.end(),
        [&](const PeekedField& f) { return f.number == number && f.wire_type == wire_type; });
  };
  // onnx.proto's ModelProto: 1 ir_version, 7 graph; saved_model.proto: 1 schema version, 2 meta_graphs.
  if (has(1, 0) && has(7, 2) && all({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})) return KindId::kOnnx;
  if (has(1, 0) && has(2, 2) && all({1, 2})) return KindId::kSavedModel;
  if (fields[0].number != 1 || fields[0].wire_type != 2) return KindId::kUnknown;
  // sentencepiece_model.proto: 1 pieces {1 piece, 2 score}; graph.proto: 1 node {1 name, 2 op}.
  const std::vector<PeekedField> first = peek_fields(file, fields[0].begin, fields[0].end);
  if (first.size() < 2 || first[0].number != 1 || first[0].wire_type != 2 || first[1].number != 2)
    return KindId::kUnknown;
  if (first[1].wire_type == 5) return KindId::kSentencePiece;
  return first[1].wire_type == 2 ? KindId::kTensorFlowGraph : KindId::kUnknown;
}

// Marian's binary.cpp, version 1: u64 version, u64 n, n x {u64 name, type, shape, data bytes}, the names.
KindId kind_of_marian(const Peek& file, std::string_view head) {
  constexpr uint64_t kMaxItems = 100'000, kItemBytes = 32, kIntgemm8 = 0x4101;
  const uint64_t n = little_endian(head, 8, 8);
  if (little_endian(head, 0, 8) != 1 || n == 0 || n > kMaxItems) return KindId::kUnknown;
  const std::string items = file.text(16, n * kItemBytes);
  uint64_t name_bytes = 0;
  bool is_intgemm = false;
  for (uint64_t i = 0; i < n; ++i) {
    name_bytes += std::min<uint64_t>(little_endian(items, i * kItemBytes, 8), kMaxPeekBytes);
    is_intgemm = is_intgemm || (little_endian(items, i * kItemBytes + 8, 8) & 0x4100) == (kIntgemm8 & 0x4100);
  }
  const std::string names = file.text(16 + n * kItemBytes, name_bytes);
  if (!holds(names, "Wemb") && !holds(names, "special:model.yml")) return KindId::kUnknown;
  return is_intgemm ? KindId::kMarianIntgemm : KindId::kMarianBinary;
}

// Returns a text stored as a u16 length and the bytes, the last of them NUL. Returns "" unless it has 5 to 128 bytes.
std::string_view counted_text(std::string_view head, size_t at) {
  constexpr size_t kMaxName = 128;
  const auto length = static_cast<size_t>(little_endian(head, at, 2));
  if (length < 5 || length > kMaxName || head.size() < at + 2 + length || head[at + 1 + length] != '\0') return {};
  return head.substr(at + 2, length - 1);
}

// CTranslate2's model.bin: u32 version, and since version 2 the name of a specification. In version 1 a u32 number of
// variables follows, whose names are OpenNMT-tf's.
KindId kind_of_ctranslate2(std::string_view head) {
  constexpr size_t kMaxVersion = 32;
  const uint64_t version = little_endian(head, 0, 4);
  if (version == 1) return counted_text(head, 8).starts_with("transformer/") ? KindId::kCTranslate2 : KindId::kUnknown;
  const std::string_view name = counted_text(head, 4);
  if (version < 1 || version > kMaxVersion ||
      !(name.ends_with("Spec") || name == "TransformerBase" || name == "TransformerBig"))
    return KindId::kUnknown;
  if (name == "TransformerDecoderSpec") return KindId::kCTranslate2Decoder;
  if (name == "TransformerEncoderSpec") return KindId::kCTranslate2Encoder;
  return name.starts_with("Wav2Vec2") ? KindId::kCTranslate2Speech : KindId::kCTranslate2;
}

// safetensors: 8 bytes of header length, then a JSON header.
KindId kind_of_safetensors(const Peek& file, std::string_view head) {
  const uint64_t length = little_endian(head, 0, 8);
  if (head.size() < 10 || head[8] != '{' || length < 2 || length > file.size() - 8) return KindId::kUnknown;
  const KindId family = family_of_names(file.text(8, length));
  return family != KindId::kUnknown ? family : KindId::kSafetensors;
}

KindId kind_of_json(const Peek& file) {
  const std::string json = file.text(0, kMaxPeekBytes);
  if (holds(json, "\"weight_map\"")) return KindId::kShards;
  return json_text_of(json, "model_type").empty() ? KindId::kJsonFile : KindId::kConfigFile;
}

// TensorFlow's index is a leveldb table, which has its magic number at the end.
KindId kind_of_table(const Peek& file) {
  constexpr uint64_t kMagic = 0xdb4775248b80fb57;
  if (file.size() < 48 || little_endian(file.text(file.size() - 8, 8), 0, 8) != kMagic) return KindId::kUnknown;
  return holds(file.text(0, kMaxPeekBytes), "examples_inputter") ? KindId::kOpenNmtTf : KindId::kTensorFlowIndex;
}

KindId kind_of(const Peek& file) {
  constexpr uint64_t kHeadBytes = 512;
  const std::string head = file.text(0, kHeadBytes);
  // Before pickles, because the header's length may begin with a pickle's first two bytes.
  for (const KindId kind : {kind_of_safetensors(file, head), kind_of_head(head)})
    if (kind != KindId::kUnknown) return kind;
  if (head.starts_with("PK\3\4")) return kind_of_zip(file);
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    const KindId kind = kind_of_pickle(file.text(0, kMaxPeekBytes));
    return kind != KindId::kUnknown ? kind : KindId::kLegacyPickle;
  }
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && head[start] == '{') return kind_of_json(file);
  for (const KindId kind : {kind_of_ctranslate2(head), kind_of_marian(file, head), kind_of_table(file)})
    if (kind != KindId::kUnknown) return kind;
  return kind_of_protobuf(file);
}
}  // namespace

Sniffed sniffed_as(KindId id, const std::filesystem::path& where) {
  const Kind& kind = kind_of_id(id);
  return {id, kind.use, where, kind.description, kind.advice};
}

bool is_ctranslate2(KindId kind) { return kind == KindId::kCTranslate2 || kind == KindId::kArgosPackage; }

bool is_marian_native(KindId kind) {
  return kind == KindId::kMarianNpz || kind == KindId::kMarianBinary || kind == KindId::kMarianIntgemm;
}

Sniffed sniff_file(const std::filesystem::path& file) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(file, error);
  return sniffed_as(is_file ? kind_of(Peek(file)) : KindId::kUnknown, file);
}

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
