// SPDX-License-Identifier: Apache-2.0
// Writes good checkpoints, and from their parts broken ones: safetensors, shards, and torch.save's zip.
#include "support/checkpoint_writer.h"
#include <zlib.h>
#include <bit>
#include <nlohmann/json.hpp>
#include "converter/sources/files/zip_directory.h"
#include "spec/format_text.h"

namespace goldcrest::test {
namespace {
using converter::ElementType;

template <typename Integer> std::string little_endian(Integer value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename Element> std::string cast_all(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += little_endian(static_cast<Element>(value));
  return bytes;
}

// Converts binary32 to binary16, rounding to nearest even. Values that are too large become infinite.
uint16_t to_half(float value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00);
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7C00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);               // magnitude < 2^exponent
  const int unit = std::max(exponent - 11, -24);  // exponent of the last of 11 bits
  const float steps = std::nearbyint(std::ldexp(magnitude, -unit));
  const float rounded = std::ldexp(steps, unit);
  if (rounded < 0x1p-14f) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::ldexp(rounded, 24)));
  const uint32_t bits = std::bit_cast<uint32_t>(rounded);
  return static_cast<uint16_t>(sign | (((bits >> 23) - 112) << 10) | ((bits >> 13) & 0x3FF));
}

uint16_t to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

const char* safetensors_name(ElementType type) {
  static const std::map<ElementType, const char*> kNames = {{ElementType::kF64, "F64"}, {ElementType::kF32, "F32"},
      {ElementType::kF16, "F16"}, {ElementType::kBf16, "BF16"}, {ElementType::kI64, "I64"}, {ElementType::kI32, "I32"},
      {ElementType::kI16, "I16"}, {ElementType::kI8, "I8"}, {ElementType::kU64, "U64"}, {ElementType::kU32, "U32"},
      {ElementType::kU16, "U16"}, {ElementType::kU8, "U8"}, {ElementType::kBool, "BOOL"}};
  return kNames.at(type);
}

const char* storage_name(ElementType type) {
  static const std::map<ElementType, const char*> kNames = {{ElementType::kF64, "DoubleStorage"},
      {ElementType::kF32, "FloatStorage"}, {ElementType::kF16, "HalfStorage"}, {ElementType::kBf16, "BFloat16Storage"},
      {ElementType::kI64, "LongStorage"}, {ElementType::kI32, "IntStorage"}, {ElementType::kI16, "ShortStorage"},
      {ElementType::kI8, "CharStorage"}, {ElementType::kU8, "ByteStorage"}, {ElementType::kBool, "BoolStorage"}};
  return kNames.at(type);
}

std::vector<uint64_t> row_major_strides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size());
  uint64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  return strides;
}
}  // namespace

std::string element_bytes_of(const std::vector<float>& values, ElementType type) {
  std::string bytes;
  switch (type) {
    case ElementType::kF64: return cast_all<double>(values);
    case ElementType::kF32: return cast_all<float>(values);
    case ElementType::kF16:
      for (const float value : values) bytes += little_endian(to_half(value));
      return bytes;
    case ElementType::kBf16:
      for (const float value : values) bytes += little_endian(to_bfloat16(value));
      return bytes;
    case ElementType::kI64: return cast_all<int64_t>(values);
    case ElementType::kI32: return cast_all<int32_t>(values);
    case ElementType::kI16: return cast_all<int16_t>(values);
    case ElementType::kI8: return cast_all<int8_t>(values);
    case ElementType::kU64: return cast_all<uint64_t>(values);
    case ElementType::kU32: return cast_all<uint32_t>(values);
    case ElementType::kU16: return cast_all<uint16_t>(values);
    case ElementType::kU8:
    case ElementType::kBool: return cast_all<uint8_t>(values);
  }
  return bytes;
}

std::string safetensors_bytes(std::string_view header, std::string_view elements) {
  return little_endian(uint64_t{header.size()}).append(header).append(elements);
}

void write_safetensors(std::ostream& stream, const std::vector<NamedTensor>& tensors, ElementType type) {
  nlohmann::json header;
  uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    const uint64_t bytes = tensor.values.size() * converter::element_bytes(type);
    header[tensor.name] = {
        {"dtype", safetensors_name(type)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  stream << safetensors_bytes(text, {});
  for (const NamedTensor& tensor : tensors) stream << element_bytes_of(tensor.values, type);
}

void write_shards(const std::filesystem::path& directory, const std::vector<NamedTensor>& tensors, size_t n_shards) {
  nlohmann::json index;
  for (size_t shard = 0; shard < n_shards; ++shard) {
    const std::string name = converter::format_text("model-{:05}-of-{:05}.safetensors", shard + 1, n_shards);
    std::vector<NamedTensor> part;
    for (size_t i = shard; i < tensors.size(); i += n_shards) {
      part.push_back(tensors[i]);
      index["weight_map"][tensors[i].name] = name;
    }
    std::ofstream stream(directory / name, std::ios::binary);
    write_safetensors(stream, part, ElementType::kF32);
  }
  std::ofstream(directory / "model.safetensors.index.json") << index.dump();
}

ZipEntry deflated(std::string name, std::string contents) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  std::string stored(deflateBound(&stream, contents.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(contents.data());
  stream.avail_in = static_cast<uInt>(contents.size());
  stream.next_out = reinterpret_cast<Bytef*>(stored.data());
  stream.avail_out = static_cast<uInt>(stored.size());
  const int status = deflate(&stream, Z_FINISH);
  stored.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  ZipEntry entry{std::move(name), std::move(stored), 8};
  entry.contents = std::move(contents);
  return entry;
}

void ZipWriter::put(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  offset_ += bytes.size();
}

void ZipWriter::add(const ZipEntry& entry) {
  const auto size = static_cast<uint32_t>(static_cast<int64_t>(entry.bytes.size()) + entry.extra_size);
  const auto central_size = static_cast<uint32_t>(size + entry.extra_central_size);
  const std::string& contents = entry.contents ? *entry.contents : entry.bytes;
  const auto plain_growth = static_cast<uint32_t>(
      static_cast<int64_t>(contents.size()) + entry.extra_contents_size - static_cast<int64_t>(entry.bytes.size()));
  const uint32_t crc = converter::zip_crc32(contents) ^ (entry.crc_is_wrong ? 1u : 0u);
  const auto offset = static_cast<uint32_t>(entry.is_hidden_start ? 0 : offset_);
  const auto name_bytes = static_cast<uint16_t>(entry.name.size());
  const auto common = [&](uint32_t bytes) {
    return little_endian(uint16_t{20}) + little_endian(entry.flags) + little_endian(entry.method) +
           std::string(4, '\0') + little_endian(crc) + little_endian(bytes) + little_endian(bytes + plain_growth) +
           little_endian(name_bytes) + std::string(2, '\0');
  };
  put("PK\x03\x04" + common(size) + entry.name);
  put(entry.bytes);
  directory_ += "PK\x01\x02" + little_endian(uint16_t{20}) + common(central_size) + std::string(10, '\0') +
                little_endian(offset) + entry.name;
  ++n_entries_;
}

void ZipWriter::finish(std::string_view comment) {
  const auto directory_offset = static_cast<uint32_t>(offset_);
  put(directory_);
  const auto n = little_endian(static_cast<uint16_t>(n_entries_));
  put(std::string("PK\x05\x06\0\0\0\0", 8) + n + n + little_endian(static_cast<uint32_t>(directory_.size())) +
      little_endian(directory_offset) + little_endian(static_cast<uint16_t>(comment.size())) + std::string(comment));
}

PickleWriter::PickleWriter() : bytes_("\x80\x02") {}

PickleWriter& PickleWriter::raw(std::string_view opcodes) {
  bytes_ += opcodes;
  return *this;
}

PickleWriter& PickleWriter::text(std::string_view value) {
  return raw("X").raw(little_endian(static_cast<uint32_t>(value.size()))).raw(value);
}

PickleWriter& PickleWriter::integer(int64_t value) { return raw("\x8a\x08").raw(little_endian(value)); }

PickleWriter& PickleWriter::global(std::string_view module, std::string_view name) {
  return raw("c").raw(module).raw("\n").raw(name).raw("\n");
}

PickleWriter& PickleWriter::tuple(const std::vector<uint64_t>& values) {
  raw("(");
  for (const uint64_t value : values) integer(static_cast<int64_t>(value));
  return raw("t");
}

PickleWriter& PickleWriter::storage(std::string_view type, std::string_view key, uint64_t elements) {
  return raw("(")
      .text("storage")
      .global("torch", type)
      .text(key)
      .text("cpu")
      .integer(static_cast<int64_t>(elements))
      .raw("tQ");
}

PickleWriter& PickleWriter::tensor(const Tensor& tensor) {
  global("torch._utils", "_rebuild_tensor_v2").raw("(").storage(tensor.type, tensor.key, tensor.elements);
  integer(static_cast<int64_t>(tensor.offset)).tuple(tensor.shape).tuple(tensor.strides).raw("\x89");
  return global("collections", "OrderedDict").raw(")RtR");
}

std::string PickleWriter::finish() { return std::exchange(bytes_, {}) + "."; }

void write_torch_zip(std::ostream& stream, const std::vector<NamedTensor>& tensors, ElementType type,
    const std::vector<Alias>& aliases) {
  PickleWriter pickle;
  pickle.raw("}(");
  const auto add = [&](const std::string& name, size_t i) {
    const NamedTensor& tensor = tensors[i];
    pickle.text(name).tensor({storage_name(type), std::to_string(i), tensor.values.size(), 0, tensor.shape,
        row_major_strides(tensor.shape)});
  };
  for (size_t i = 0; i < tensors.size(); ++i) add(tensors[i].name, i);
  for (const Alias& alias : aliases) add(alias.name, alias.tensor);
  ZipWriter zip(stream);
  zip.add({"archive/data.pkl", pickle.raw("u").finish()});
  zip.add({"archive/byteorder", "little"});
  for (size_t i = 0; i < tensors.size(); ++i)
    zip.add({"archive/data/" + std::to_string(i), element_bytes_of(tensors[i].values, type)});
  zip.add({"archive/version", "3\n"});
  zip.finish();
}
}  // namespace goldcrest::test
