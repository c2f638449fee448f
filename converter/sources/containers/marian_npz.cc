// SPDX-License-Identifier: Apache-2.0
// Marian's .npz: a zip, stored or deflated, with an array NAME.npy for each tensor and special:model.yml as an array of
// bytes.
#include <map>
#include <optional>
#include <set>
#include "host/wording.h"
#include "sources/containers/element_type.h"
#include "sources/containers/marian_items.h"
#include "sources/containers/numpy_array.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/zip_directory.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr std::string_view kExtension = ".npy";

// Maps NumPy's types to ours. Returns nothing for a type that no Marian model has.
std::optional<ElementType> element_type_of(std::string_view type) {
  static const std::map<std::string_view, ElementType> kTypes = {
      {"<f2", ElementType::kF16}, {"<f4", ElementType::kF32}, {"<f8", ElementType::kF64}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_bytes(std::string_view type) {
  return type.size() == 3 && (type.ends_with("i1") || type.ends_with("u1") || type.ends_with("b1"));
}

class MarianNpz : public TensorSource {
 public:
  explicit MarianNpz(const std::filesystem::path& path) : file_(path) {
    refuse_stand_in(file_);
    for (const ZipMember& member : read_zip_directory(file_)) add(member);
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return arrays_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return array(name).header.shape; }
  std::filesystem::path file(const std::string&) const override { return file_.path(); }
  std::vector<std::filesystem::path> files() const override { return {file_.path()}; }
  Value settings() const override { return settings_; }

  Tensor load(const std::string& name) const override {
    const Array& from = array(name);
    Tensor tensor{name, from.header.shape, zeros(from.header.shape)};
    if (from.member.method == 0) {
      if (checked_.insert(name).second) check_stored(file_, from.member);
      read_elements(file_, from.member.offset + from.header.bytes, from.type, tensor.values);
    } else {
      const std::string bytes = read_member(file_, from.member);
      widen(from.type, bytes.data() + from.header.bytes, tensor.values.size(), tensor.values.data());
    }
    return tensor;
  }
 private:
  struct Array {
    ZipMember member;
    NumpyHeader header;
    ElementType type;
  };

  void add(const ZipMember& member) {
    const std::string where = file_.path().string() + ": the zip member " + in_quotes(member.name);
    if (!member.name.ends_with(kExtension))
      throw Error("{}: is not an array (.npy); a Marian model has only arrays", where);
    const std::string name = member.name.substr(0, member.name.size() - kExtension.size());
    const NumpyHeader header = parse_numpy_header(read_member_start(file_, member, kMaxNumpyHeader), where);
    const bool is_settings = name == kMarianSettings;
    const std::optional<ElementType> type =
        is_settings && is_bytes(header.type) ? ElementType::kI8 : element_type_of(header.type);
    if (!type)
      throw Error("{}: has elements of type {}, expected <f4 (float32), <f2 or <f8", where, in_quotes(header.type));
    const std::optional<uint64_t> n = element_count(header.shape);
    if (!n || *n * element_bytes(*type) != member.plain_size - header.bytes) {
      throw Error("{}: has {} bytes after its header, which its shape {} of type {} does not need: it is damaged",
          where, member.plain_size - header.bytes, shape_text(header.shape), in_quotes(header.type));
    }
    if (is_settings) {
      if (member.plain_size > kMaxMarianSettings)
        throw Error("{}: has {} bytes, expected at most {}", where, member.plain_size, kMaxMarianSettings);
      settings_ = marian_text(read_member(file_, member).substr(header.bytes));
    } else if (is_marian_weight(name)) {
      names_.push_back(name);
      arrays_.emplace(name, Array{member, header, *type});
    }
  }

  const Array& array(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw Error("{}: tensor {} is missing", file_.path().string(), in_quotes(name));
    return found->second;
  }

  InputFile file_;
  std::map<std::string, Array> arrays_;
  std::vector<std::string> names_;
  Value settings_;                         // a text, or null
  mutable std::set<std::string> checked_;  // names of arrays
};
}  // namespace

std::unique_ptr<TensorSource> open_marian_npz(const std::filesystem::path& path) {
  return std::make_unique<MarianNpz>(path);
}
}  // namespace goldcrest::converter
