// SPDX-License-Identifier: Apache-2.0
#include "sources/values/value.h"
#include <bit>
#include <map>
#include <utility>

namespace goldcrest::converter {
struct Value::Keys {
  std::vector<std::string> ordered;
  std::map<std::string, size_t, std::less<>> index;  // into `ordered`
};

void Value::DropKeys::operator()(Keys* keys) const { delete keys; }

void Value::set_flag(bool value) {
  kind_ = Kind::kFlag;
  bits_ = value ? 1 : 0;
}

void Value::set_integer(uint64_t bits, bool is_negative) {
  kind_ = Kind::kInteger;
  bits_ = bits;
  is_negative_ = is_negative;
}

void Value::set_number(double value) {
  kind_ = Kind::kNumber;
  bits_ = std::bit_cast<uint64_t>(value);
}

Value::Value(const Value& other)
    : kind_(other.kind_),
      is_negative_(other.is_negative_),
      bits_(other.bits_),
      text_(other.text_),
      values_(other.values_ ? std::make_unique<std::vector<Value>>(*other.values_) : nullptr),
      keys_(other.keys_ ? new Keys(*other.keys_) : nullptr) {}

Value& Value::operator=(const Value& other) {
  if (this != &other) *this = Value(other);
  return *this;
}

Value Value::list(std::initializer_list<Value> items) {
  Value value;
  value.kind_ = Kind::kList;
  value.values_ = std::make_unique<std::vector<Value>>(items);
  return value;
}

Value Value::map() {
  Value value;
  value.kind_ = Kind::kMap;
  value.values_ = std::make_unique<std::vector<Value>>();
  value.keys_.reset(new Keys);
  return value;
}

Value::Value(std::initializer_list<Member> members) : Value(map()) {
  for (const Member& member : members) (*this)[member.key] = member.value;
}

const char* Value::type_name() const {
  switch (kind_) {
    case Kind::kNull: return "null";
    case Kind::kFlag: return "boolean";
    case Kind::kInteger:
    case Kind::kNumber: return "number";
    case Kind::kText: return "string";
    case Kind::kList: return "array";
    default: return "object";
  }
}

double Value::number() const {
  if (kind_ == Kind::kNumber) return std::bit_cast<double>(bits_);
  return is_negative_ ? static_cast<double>(integer()) : static_cast<double>(bits_);
}

const std::vector<Value>& Value::items() const {
  static const std::vector<Value> none;
  return values_ ? *values_ : none;
}

Value& Value::push_back(Value item) {
  if (is_null()) *this = list();
  return values_->emplace_back(std::move(item));
}

const std::vector<std::string>& Value::keys() const {
  static const std::vector<std::string> none;
  return keys_ ? keys_->ordered : none;
}

const Value* Value::find(std::string_view key) const {
  if (!keys_) return nullptr;
  const auto found = keys_->index.find(key);
  return found == keys_->index.end() ? nullptr : &(*values_)[found->second];
}

Value* Value::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

Value& Value::operator[](std::string_view key) {
  if (is_null()) *this = map();
  if (Value* const found = find(key)) return *found;
  keys_->index.emplace(key, keys_->ordered.size());
  keys_->ordered.emplace_back(key);
  return values_->emplace_back();
}

bool Value::operator==(const Value& other) const {
  if (is_number() && other.is_number()) {
    if (is_integer() && other.is_integer()) return bits_ == other.bits_ && is_negative_ == other.is_negative_;
    return number() == other.number();
  }
  if (kind_ != other.kind_ || size() != other.size()) return false;
  if (!is_map()) return bits_ == other.bits_ && text_ == other.text_ && items() == other.items();
  for (const auto& [key, value] : members()) {
    const Value* const same = other.find(key);
    if (same == nullptr || !(*same == value)) return false;
  }
  return true;
}

void update(Value& settings, const Value& changes) {
  for (const auto& [key, value] : changes.members()) {
    Value& setting = settings[key];
    if (setting.is_map() && value.is_map()) update(setting, value);
    else setting = value;
  }
}
}  // namespace goldcrest::converter
