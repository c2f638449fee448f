// SPDX-License-Identifier: Apache-2.0
// Marian's .bin, version 1 (marian-dev, src/common/binary.cpp and src/tensors/cpu/expression_graph_packable.h at
// 2781d735): u64 version, u64 n, n x {u64 name bytes, type, axes, data bytes}, names with a final NUL, axes (i32), u64
// padding bytes, padding, data.
#include <algorithm>
#include <cstring>
#include <map>
#include "host/wording.h"
#include "sources/containers/element_type.h"
#include "sources/containers/marian_items.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/input_file.h"
#include "sources/sniffing/peek.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxMarianItems = 100'000, kHeadBytes = 32, kMaxMarianNameBytes = 1024, kMaxMarianAxes = 8;

enum Type : uint64_t {
  kInt8 = 0x101,
  kFloat16 = 0x402,
  kFloat32 = 0x404,
  kFloat64 = 0x408,
  kPacked = 0x800,  // a bit: FBGEMM's weights, in an order of their own
  kIntgemm8 = 0x4101,
  kIntgemm16 = 0x4102,
};

struct MarianItem {
  std::string name;
  uint64_t type = 0, offset = 0, bytes = 0;
  std::vector<uint64_t> shape;
};

// Marian's rule: among the int8 matrices, only embeddings are stored as their shape says.
bool is_transposed(const std::string& name) { return name.find("Wemb") == std::string::npos; }

class MarianBinary : public TensorSource {
 public:
  explicit MarianBinary(const std::filesystem::path& path) : file_(path) {
    refuse_stand_in(file_);
    read_items();
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return items_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return item(name).shape; }
  std::filesystem::path file(const std::string&) const override { return file_.path(); }
  std::vector<std::filesystem::path> files() const override { return {file_.path()}; }
  Value settings() const override { return settings_; }

  Tensor load(const std::string& name) const override {
    const MarianItem& from = item(name);
    if (from.type == kIntgemm8) return load_int8(from);
    const ElementType type = element_type(from.type);
    Tensor tensor{name, from.shape, zeros(from.shape)};
    read_elements(file_, from.offset, type, tensor.values);
    return tensor;
  }
 private:
  std::string where(const std::string& name) const { return file_.path().string() + ": tensor " + in_quotes(name); }

  static ElementType element_type(uint64_t type) {
    return type == kFloat16 ? ElementType::kF16 : type == kFloat64 ? ElementType::kF64 : ElementType::kF32;
  }

  void read_items() {
    const std::string start = file_.text(0, 16);
    const uint64_t version = little_endian(start, 0, 8), n = little_endian(start, 8, 8);
    if (version != 1) throw Error("{}: is of version {}, expected 1", file_.path().string(), version);
    if (n > kMaxMarianItems || n > file_.size() / kHeadBytes) {
      throw Error("{}: claims to hold {} tensors, more than its {} bytes can: it is truncated or damaged",
          file_.path().string(), n, file_.size());
    }
    const std::string heads = file_.text(16, n * kHeadBytes);
    std::vector<MarianItem> items(n);
    uint64_t at = 16 + n * kHeadBytes;
    for (uint64_t i = 0; i < n; ++i) at += read_name(heads, i, at, items[i]);
    for (uint64_t i = 0; i < n; ++i) at += read_shape(little_endian(heads, i * kHeadBytes + 16, 8), at, items[i]);
    const uint64_t padding = little_endian(file_.text(at, 8), 0, 8);
    if (padding > file_.size() - at - 8) {
      throw Error(
          "{}: its data should begin {} bytes after its names, but the file ends before that: it is truncated or "
          "damaged",
          file_.path().string(), padding);
    }
    at += 8 + padding;
    for (MarianItem& item : items) {
      item.offset = at;
      if (item.bytes > file_.size() - at) {
        throw Error("{}: has {} bytes at byte {} of a file of {}: it is truncated or damaged; download it again",
            where(item.name), item.bytes, at, file_.size());
      }
      at += item.bytes;
      add(std::move(item));
    }
    if (at != file_.size())
      throw Error("{}: has {} bytes after its last tensor: it is damaged", file_.path().string(), file_.size() - at);
  }

  // Also reads the type and size of the data. Returns the bytes of the name in the file.
  uint64_t read_name(const std::string& heads, uint64_t i, uint64_t at, MarianItem& item) const {
    const uint64_t bytes = little_endian(heads, i * kHeadBytes, 8);
    if (bytes < 2 || bytes > kMaxMarianNameBytes) {
      throw Error("{}: the name of tensor {} has {} bytes, expected 2 to {}: it is damaged", file_.path().string(), i,
          bytes, kMaxMarianNameBytes);
    }
    item.name = file_.text(at, bytes);
    if (item.name.find('\0') != bytes - 1)
      throw Error("{}: the name of tensor {} does not end in NUL: it is damaged", file_.path().string(), i);
    item.name.pop_back();
    item.type = little_endian(heads, i * kHeadBytes + 8, 8);
    item.bytes = little_endian(heads, i * kHeadBytes + 24, 8);
    return bytes;
  }

  uint64_t read_shape(uint64_t axes, uint64_t at, MarianItem& item) const {
    if (axes > kMaxMarianAxes)
      throw Error("{}: has {} axes, expected at most {}: it is damaged", where(item.name), axes, kMaxMarianAxes);
    const std::string sizes = file_.text(at, 4 * axes);
    for (uint64_t axis = 0; axis < axes; ++axis) {
      const uint64_t size = little_endian(sizes, 4 * axis, 4);
      if (size > INT32_MAX) throw Error("{}: has a negative size: it is damaged", where(item.name));
      item.shape.push_back(size);
    }
    return 4 * axes;
  }

  // Returns the bytes that the shape needs. Throws Error if the type is not supported.
  uint64_t needed_bytes(const MarianItem& item) const {
    const std::optional<uint64_t> n = element_count(item.shape);
    if (!n) throw Error("{}: has the shape {}: it is damaged", where(item.name), shape_text(item.shape));
    if (item.type == kFloat32 || item.type == kFloat16 || item.type == kFloat64)
      return *n * element_bytes(element_type(item.type));
    if (item.type == kIntgemm8 && item.shape.size() == 2) return *n + sizeof(float);
    if (item.type & kPacked) {
      throw Error("{}: is packed for one processor (type {:#x}); convert the .npz that the file was made from",
          where(item.name), item.type);
    }
    if (item.type == kIntgemm16) {
      throw Error("{}: has intgemm's 16-bit weights, which are not read; convert the .npz that the file was made from",
          where(item.name));
    }
    throw Error("{}: has the type {:#x} and the shape {}; float32 (0x404) and intgemm8 (0x4101) are read",
        where(item.name), item.type, shape_text(item.shape));
  }

  void add(MarianItem item) {
    if (item.name == kMarianSettings) {
      if (item.type != kInt8 || item.bytes > kMaxMarianSettings) {
        throw Error("{}: has {} bytes of type {:#x}, expected at most {} of type {:#x}", where(item.name), item.bytes,
            item.type, kMaxMarianSettings, static_cast<uint64_t>(kInt8));
      }
      settings_ = marian_text(file_.text(item.offset, item.bytes));
    }
    if (!is_marian_weight(item.name)) return;
    const uint64_t needed = needed_bytes(item);
    if (item.bytes < needed) {
      throw Error("{}: has {} bytes, but its shape {} needs {}: it is damaged", where(item.name), item.bytes,
          shape_text(item.shape), needed);
    }
    const std::string name = item.name;
    if (!items_.emplace(name, std::move(item)).second) throw Error("{}: appears twice", where(name));
    names_.push_back(name);
  }

  Tensor load_int8(const MarianItem& from) const {
    const uint64_t rows = from.shape[0], columns = from.shape[1], n = rows * columns;
    const std::string bytes = file_.text(from.offset, n + sizeof(float));
    float multiplier = 0;
    std::memcpy(&multiplier, bytes.data() + n, sizeof multiplier);
    if (!(multiplier >= kLeastMultiplier && multiplier <= kMostMultiplier)) {
      throw Error(
          "{}: its quantization multiplier is {}, expected a number from 2^-16 to 2^47", where(from.name), multiplier);
    }
    const size_t worst = bytes.substr(0, n).find('\x80');
    if (worst != std::string::npos)
      throw Error("{}: byte {} is -128, expected -127 to 127: it is damaged", where(from.name), worst);
    Tensor tensor{from.name, from.shape, zeros(from.shape)};
    const float scale = 1 / multiplier;
    tensor.stored_scale = {scale};
    const bool transposed = is_transposed(from.name);
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t c = 0; c < columns; ++c) {
        const auto q = static_cast<int8_t>(bytes[transposed ? c * rows + r : r * columns + c]);
        tensor.values[r * columns + c] = static_cast<float>(q) * scale;
      }
    }
    return tensor;
  }

  const MarianItem& item(const std::string& name) const {
    const auto found = items_.find(name);
    if (found == items_.end()) throw Error("{} is missing", where(name));
    return found->second;
  }

  static constexpr float kLeastMultiplier = 0x1p-16f, kMostMultiplier = 0x1p47f;  // FORMAT.md, section 4: of a scale

  InputFile file_;
  std::map<std::string, MarianItem> items_;
  std::vector<std::string> names_;
  Value settings_;  // a text, or null
};
}  // namespace

std::unique_ptr<TensorSource> open_marian_binary(const std::filesystem::path& path) {
  return std::make_unique<MarianBinary>(path);
}
}  // namespace goldcrest::converter
