// SPDX-License-Identifier: Apache-2.0
// CTranslate2's model.bin (python/ctranslate2/specs/model_spec.py and src/models/model.cc at 0d8bcd36): u32 version,
// the specification's name and u32 revision, u32 n, n x {name, u8 axes, u32 sizes, u8 type, u32 bytes, bytes}, and
// since version 3 u32 n, n x {alias, name}. A text is a u16 count of bytes and the bytes, with a final NUL.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include "host/wording.h"
#include "sources/containers/element_type.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/input_file.h"
#include "sources/sniffing/peek.h"
#include "sources/values/value.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxItems = 100'000, kMaxNameBytes = 1024, kMaxAxes = 8, kMaxTextBytes = 1024;
constexpr uint64_t kLeastItemBytes = 9;  // an empty variable takes them
constexpr uint64_t kLeastVersion = 2, kMostVersion = 6, kFirstWithAliases = 3, kFirstWithTypes = 4;
constexpr float kOldInt16Scale = 1000;  // for weights that were saved without their scale

struct Item {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  uint64_t offset = 0, elements = 0;
  const Item* scale = nullptr;  // scales integers that stand for floats
  uint64_t bytes() const { return elements * element_bytes(type); }
};

bool is_integer(ElementType type) {
  return type == ElementType::kI8 || type == ElementType::kI16 || type == ElementType::kI32;
}

// CTranslate2 stores the tensors with these names as int8 or int16.
bool is_weight(const std::string& name) { return name.ends_with("weight"); }

class CTranslate2Binary : public TensorSource {
 public:
  explicit CTranslate2Binary(std::unique_ptr<const InputFile> file) : file_(std::move(file)) {
    refuse_stand_in(*file_);
    read_head();
    read_items();
    if (version_ >= kFirstWithAliases) read_aliases();
    if (at_ != file_->size())
      throw Error("{}: has {} bytes after its last variable: it is damaged", file_->name(), file_->size() - at_);
    find_scales();
    list_names();
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return tensors_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return item(name).shape; }
  std::filesystem::path file(const std::string&) const override { return file_->name(); }
  std::vector<std::filesystem::path> files() const override { return {file_->path()}; }
  std::string stored_name(const std::string& name) const override { return item(name).name; }
  Value settings() const override { return settings_; }

  Tensor load(const std::string& name) const override {
    const Item& from = item(name);
    Tensor tensor{name, from.shape, widened(from)};
    if (from.type == ElementType::kI8 && from.scale != nullptr) return scaled_by_row(from, std::move(tensor));
    const float divisor = from.scale != nullptr                               ? scales_of(from)[0]
                          : from.type == ElementType::kI16 && is_weight(name) ? kOldInt16Scale
                                                                              : 1;
    if (divisor != 1)
      for (float& value : tensor.values) value *= 1 / divisor;
    return tensor;
  }
 private:
  std::string where(const std::string& name) const { return file_->name() + ": variable " + in_quotes(name); }

  uint64_t number(size_t bytes) {
    const uint64_t value = little_endian(file_->text(at_, bytes), 0, bytes);
    at_ += bytes;
    return value;
  }

  // `subject` is for messages, for instance "the name of variable 3".
  std::string text(const std::string& subject) {
    const uint64_t bytes = number(2);
    if (bytes < 2 || bytes > kMaxNameBytes)
      throw Error("{}: {} has {} bytes, expected 2 to {}: it is damaged", file_->name(), subject, bytes, kMaxNameBytes);
    std::string name = file_->text(at_, bytes);
    at_ += bytes;
    if (name.find('\0') != bytes - 1) throw Error("{}: {} does not end in NUL: it is damaged", file_->name(), subject);
    name.pop_back();
    return name;
  }

  void read_head() {
    version_ = number(4);
    if (version_ < kLeastVersion || version_ > kMostVersion) {
      throw Error("{}: is of binary version {}, expected {} to {}; convert the model again with a CTranslate2 of these",
          file_->name(), version_, kLeastVersion, kMostVersion);
    }
    settings_["binary_version"] = version_;
    settings_["spec"] = text("the specification's name");
    settings_["revision"] = number(4);
  }

  uint64_t count(const char* subject, uint64_t least_bytes) {
    const uint64_t n = number(4);
    if (n > kMaxItems || n > (file_->size() - at_) / least_bytes) {
      throw Error("{}: claims to hold {} {}, more than the {} bytes after it can: it is truncated or damaged",
          file_->name(), n, subject, file_->size() - at_);
    }
    return n;
  }

  void read_items() {
    const uint64_t n = count("variables", kLeastItemBytes);
    for (uint64_t i = 0; i < n; ++i) {
      Item item;
      item.name = text(format_text("the name of variable {}", i));
      read_shape(item);
      read_type(item);
      item.offset = at_;
      at_ += item.bytes();
      order_.push_back(item.name);
      const std::string name = item.name;
      if (!items_.emplace(name, std::move(item)).second) throw Error("{}: appears twice: it is damaged", where(name));
    }
  }

  void read_shape(Item& item) {
    const uint64_t axes = number(1);
    if (axes > kMaxAxes)
      throw Error("{}: has {} axes, expected at most {}: it is damaged", where(item.name), axes, kMaxAxes);
    for (uint64_t axis = 0; axis < axes; ++axis) item.shape.push_back(number(4));
  }

  // Before version 4 a variable has the width and number of its elements, and the width tells the type.
  void read_type(Item& item) {
    constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kI8, ElementType::kI16, ElementType::kI32,
        ElementType::kF16, ElementType::kBf16};
    const uint64_t id = number(1);
    uint64_t bytes = number(4);
    if (version_ >= kFirstWithTypes) {
      if (id >= std::size(kTypes)) {
        throw Error(
            "{}: has the type {}, expected 0 (float32), 1 (int8), 2 (int16), 3 (int32), 4 (float16) or 5 (bfloat16)",
            where(item.name), id);
      }
      item.type = kTypes[id];
    } else {
      if (id != 1 && id != 2 && id != 4)
        throw Error("{}: has elements of {} bytes, expected 1 (int8), 2 (int16) or 4 (float32)", where(item.name), id);
      item.type = id == 1 ? ElementType::kI8 : id == 2 ? ElementType::kI16 : ElementType::kF32;
      bytes *= id;
    }
    const std::optional<uint64_t> n = element_count(item.shape);
    if (!n || *n * element_bytes(item.type) != bytes) {
      throw Error("{}: has {} bytes, but its shape {} needs {}: it is damaged", where(item.name), bytes,
          shape_text(item.shape), n ? std::to_string(*n * element_bytes(item.type)) : "more than any file has");
    }
    if (bytes > file_->size() - at_) {
      throw Error("{}: has {} bytes at byte {} of a file of {}: it is truncated or damaged; download it again",
          where(item.name), bytes, at_, file_->size());
    }
    item.elements = *n;
  }

  void read_aliases() {
    const uint64_t n = count("aliases", 6);
    for (uint64_t i = 0; i < n; ++i) {
      const std::string alias = text(format_text("alias {}", i)),
                        target = text(format_text("the target of alias {}", i));
      if (items_.contains(alias) || aliases_.contains(alias))
        throw Error("{}: appears twice: it is damaged", where(alias));
      const auto other = aliases_.find(target);
      const std::string& stored = other == aliases_.end() ? target : other->second;
      if (!items_.contains(stored))
        throw Error("{}: is an alias of {}, which is missing: it is damaged", where(alias), in_quotes(target));
      aliases_.emplace(alias, stored);
      order_.push_back(alias);
    }
  }

  // A variable's scale is named after it. It is a single number, or one for each row.
  void find_scales() {
    for (auto& [name, item] : items_) {
      if (item.type != ElementType::kI8 && item.type != ElementType::kI16) continue;
      const auto scale = items_.find(name + "_scale");
      if (scale == items_.end()) {
        if (item.type == ElementType::kI8 && is_weight(name))
          throw Error("{}: is int8, and its scale {} is missing", where(name), in_quotes(name + "_scale"));
        continue;
      }
      const uint64_t rows = item.shape.empty() ? 1 : item.shape[0];
      const bool is_by_row = item.type == ElementType::kI8 && scale->second.elements == rows;
      if (is_integer(scale->second.type) || (scale->second.elements != 1 && !is_by_row)) {
        throw Error("{}: has the shape {}, expected floats, {} for {} of the shape {}", where(scale->first),
            shape_text(scale->second.shape), item.type == ElementType::kI8 ? "one, or one per row" : "one",
            in_quotes(name), shape_text(item.shape));
      }
      item.scale = &scale->second;
    }
  }

  // Lists the names of the tensors. Scalars and texts are settings, and scales are neither.
  void list_names() {
    std::set<const Item*> scales;
    for (const auto& [name, item] : items_) scales.insert(item.scale);
    for (const std::string& name : order_) {
      const Item& found = item(name);
      if (scales.contains(&found)) continue;
      const bool is_text = found.type == ElementType::kI8 && found.scale == nullptr && found.shape.size() == 1;
      if (is_text) {
        if (found.elements > kMaxTextBytes)
          throw Error("{}: is a text of {} bytes, expected at most {}", where(name), found.elements, kMaxTextBytes);
        settings_[name] = file_->text(found.offset, found.elements);
      } else if (found.shape.empty()) {
        set_scalar(name, found);
      } else {
        names_.push_back(name);
        tensors_.insert(name);
      }
    }
  }

  void set_scalar(const std::string& name, const Item& found) {
    const float value = widened(found)[0];
    if (!std::isfinite(value)) throw Error("{}: is {}, expected a finite number", where(name), value);
    if (!is_integer(found.type)) settings_[name] = value;
    else if (value >= 0) settings_[name] = static_cast<uint32_t>(value);
    else settings_[name] = static_cast<int32_t>(value);
  }

  const Item& item(const std::string& name) const {
    const auto alias = aliases_.find(name);
    const auto found = items_.find(alias == aliases_.end() ? name : alias->second);
    if (found == items_.end()) throw Error("{} is missing", where(name));
    return found->second;
  }

  std::vector<float> widened(const Item& from) const {
    std::vector<float> values = zeros(from.shape);
    read_elements(*file_, from.offset, from.type, values);
    return values;
  }

  std::vector<float> scales_of(const Item& from) const {
    std::vector<float> scales = widened(*from.scale);
    for (const float scale : scales)
      if (!(scale >= kLeastScale) || std::isinf(scale))
        throw Error("{}: has the value {}, expected finite numbers of at least 2^-16", where(from.scale->name), scale);
    return scales;
  }

  // w = q / scale, computed with the reciprocal as CTranslate2 does. Rows below the smallest scale that a file can hold
  // become zeros.
  Tensor scaled_by_row(const Item& from, Tensor tensor) const {
    const auto worst = std::find(tensor.values.begin(), tensor.values.end(), -128.0f);
    if (worst != tensor.values.end()) {
      throw Error(
          "{}: byte {} is -128, expected -127 to 127: it is damaged", where(from.name), worst - tensor.values.begin());
    }
    tensor.stored_scale = scales_of(from);
    for (float& scale : tensor.stored_scale) scale = scale > kMostScale ? 0 : 1 / scale;
    const size_t row = tensor.values.size() / std::max<size_t>(tensor.stored_scale.size(), 1);
    for (size_t i = 0; i < tensor.values.size(); ++i) tensor.values[i] *= tensor.stored_scale[i / row];
    std::replace(tensor.stored_scale.begin(), tensor.stored_scale.end(), 0.0f, 1.0f);
    return tensor;
  }

  static constexpr float kLeastScale = 0x1p-16f, kMostScale = 0x1p47f;  // FORMAT.md, section 4: of a scale's inverse

  std::unique_ptr<const InputFile> file_;
  uint64_t at_ = 0, version_ = 0;
  std::map<std::string, Item> items_;
  std::map<std::string, std::string> aliases_;  // alias to stored name
  std::vector<std::string> order_, names_;
  std::set<std::string> tensors_;  // those of names_
  Value settings_;
};
}  // namespace

std::unique_ptr<TensorSource> open_ctranslate2(std::unique_ptr<const InputFile> file) {
  return std::make_unique<CTranslate2Binary>(std::move(file));
}
}  // namespace goldcrest::converter
