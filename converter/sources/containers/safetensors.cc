// SPDX-License-Identifier: Apache-2.0
// safetensors: 8 bytes of header length, a JSON header, then the tensors' bytes without gaps or overlaps
// (https://github.com/huggingface/safetensors, "Format").
#include <algorithm>
#include <map>
#include <optional>
#include "host/wording.h"
#include "sources/containers/element_type.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/input_file.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxHeaderBytes = uint64_t{16} << 20;
constexpr size_t kMaxTensors = 100'000;
constexpr int kMaxHeaderDepth = 8;

struct Entry {
  std::optional<ElementType> type;  // nothing: a type that has no meaning as float
  std::string type_name;
  std::vector<uint64_t> shape;
  uint64_t begin = 0, end = 0;  // byte offsets in the file
};

std::optional<ElementType> element_type(const std::string& name) {
  static const std::map<std::string, ElementType> kTypes = {{"F64", ElementType::kF64}, {"F32", ElementType::kF32},
      {"F16", ElementType::kF16}, {"BF16", ElementType::kBf16}, {"I64", ElementType::kI64}, {"I32", ElementType::kI32},
      {"I16", ElementType::kI16}, {"I8", ElementType::kI8}, {"U64", ElementType::kU64}, {"U32", ElementType::kU32},
      {"U16", ElementType::kU16}, {"U8", ElementType::kU8}, {"BOOL", ElementType::kBool}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

// Returns an array of non-negative integers. Throws Error for any other value; `subject` begins its message.
std::vector<uint64_t> integers(const Value& value, const std::string& subject) {
  if (!value.is_list()) throw Error("{} is a JSON {}, expected an array of integers", subject, value.type_name());
  std::vector<uint64_t> result;
  for (const auto& element : value) {
    if (!element.is_natural()) throw Error("{} has an element that is not a non-negative integer", subject);
    result.push_back(element.natural());
  }
  return result;
}

Entry read_entry(const Value& value, const std::string& tensor, uint64_t data_begin, uint64_t file_bytes) {
  if (!value.is_map() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets") || !value["dtype"].is_text())
    throw Error("{}: its header entry is not an object of dtype, shape and data_offsets", tensor);
  Entry entry;
  entry.type_name = value["dtype"].text();
  entry.type = element_type(entry.type_name);
  entry.shape = integers(value["shape"], tensor + ": shape");
  const std::vector<uint64_t> offsets = integers(value["data_offsets"], tensor + ": data_offsets");
  const uint64_t data_bytes = file_bytes - data_begin;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
    throw Error(
        "{}: data_offsets are {}, expected two ascending offsets within the {} bytes of data that the file has; "
        "it is truncated or damaged, download it again",
        tensor, shape_text(offsets), data_bytes);
  }
  entry.begin = data_begin + offsets[0];
  entry.end = data_begin + offsets[1];
  const auto count = element_count(entry.shape);
  if (!count) throw Error("{}: shape {} is too large", tensor, shape_text(entry.shape));
  if (entry.type && *count * element_bytes(*entry.type) != entry.end - entry.begin) {
    throw Error("{}: shape {} of {} needs {} bytes, but data_offsets give it {}", tensor, shape_text(entry.shape),
        entry.type_name, *count * element_bytes(*entry.type), entry.end - entry.begin);
  }
  return entry;
}

class SafetensorsFile : public TensorSource {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path) : file_(path) {
    refuse_stand_in(file_);
    const Value header = read_header();
    for (const auto& [name, value] : header.members()) {
      if (name == "__metadata__") continue;
      entries_.emplace(name, read_entry(value, tensor_text(name), data_begin_, file_.size()));
      names_.push_back(name);
    }
    std::sort(names_.begin(), names_.end(), [this](const std::string& a, const std::string& b) {
      const Entry &first = entries_.at(a), &second = entries_.at(b);
      return std::tie(first.begin, first.end, a) < std::tie(second.begin, second.end, b);
    });
    check_no_holes();
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return entries_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return entry(name).shape; }
  std::filesystem::path file(const std::string&) const override { return file_.path(); }
  std::vector<std::filesystem::path> files() const override { return {file_.path()}; }

  Tensor load(const std::string& name) const override {
    const Entry& found = entry(name);
    if (!found.type) {
      throw Error("{}: its type {} cannot be converted; expected F32, F16, BF16, F64 or an integer type",
          tensor_text(name), in_quotes(found.type_name));
    }
    Tensor tensor{name, found.shape, zeros(found.shape)};
    read_elements(file_, found.begin, *found.type, tensor.values);
    return tensor;
  }
 private:
  std::string tensor_text(const std::string& name) const {
    return format_text("{}: tensor {}", file_.path().string(), in_quotes(name));
  }

  const Entry& entry(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw Error("{} is missing", tensor_text(name));
    return found->second;
  }

  Value read_header() {
    const std::string path = file_.path().string();
    if (file_.size() < 8) throw Error("{}: has {} bytes, too few for a safetensors file", path, file_.size());
    uint64_t header_bytes = 0;
    file_.read(0, 8, &header_bytes);
    if (header_bytes > kMaxHeaderBytes || header_bytes > file_.size() - 8) {
      throw Error(
          "{}: header of {} bytes, expected at most {} and within the file's {} bytes; it is truncated or not "
          "a safetensors file",
          path, header_bytes, kMaxHeaderBytes, file_.size());
    }
    data_begin_ = 8 + header_bytes;
    const std::string text = file_.text(8, header_bytes);
    if (!text.starts_with('{')) throw Error("{}: the safetensors header does not start with {{", path);
    Value header = parse_json(text, kMaxHeaderDepth, path + ": safetensors header");
    if (header.size() > kMaxTensors)
      throw Error("{}: {} tensors, expected at most {}", path, header.size(), kMaxTensors);
    return header;
  }

  // Throws Error unless every byte after the header belongs to exactly one tensor.
  void check_no_holes() const {
    uint64_t end = data_begin_;
    for (const std::string& name : names_) {
      const Entry& next = entries_.at(name);
      if (next.begin != end) {
        throw Error("{}: its bytes start at {}, expected {}: tensors {}", tensor_text(name), next.begin, end,
            next.begin < end ? "overlap" : "leave a hole");
      }
      end = next.end;
    }
    if (end != file_.size())
      throw Error("{}: has {} bytes, but its tensors end at {}", file_.path().string(), file_.size(), end);
  }

  InputFile file_;
  uint64_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> names_;
};
}  // namespace

std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& path) {
  return std::make_unique<SafetensorsFile>(path);
}
}  // namespace goldcrest::converter
