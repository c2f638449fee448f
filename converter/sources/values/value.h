// SPDX-License-Identifier: Apache-2.0
// A value of a settings file or a report: the common ground of JSON, YAML and the settings inside a pickle.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace goldcrest::converter {
class Value {
 public:
  enum class Kind : uint8_t { kNull, kFlag, kInteger, kNumber, kText, kList, kMap };
  struct Member;
  class Members;

  Value() = default;
  Value(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): a value is written as what it is, as below
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Value(T value) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) set_flag(value);
    else if constexpr (std::is_floating_point_v<T>) set_number(static_cast<double>(value));
    else set_integer(static_cast<uint64_t>(value), value < T{0});
  }
  Value(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}     // NOLINT(google-explicit-constructor)
  Value(const char* text) : kind_(Kind::kText), text_(text) {}                // NOLINT(google-explicit-constructor)
  template <typename T> Value(const std::vector<T>& items) : Value(list()) {  // NOLINT(google-explicit-constructor)
    for (const T& item : items) push_back(Value(item));
  }

  Value(std::initializer_list<Member> members);  // a map: {{"a", 1}, {"b", "two"}}

  Value(const Value& other);
  Value(Value&& other) noexcept = default;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept = default;
  ~Value() = default;

  static Value list(std::initializer_list<Value> items = {});
  static Value map();

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_flag() const { return kind_ == Kind::kFlag; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_natural() const { return is_integer() && !is_negative_; }  // an integer from 0 to 2^64 - 1
  bool is_number() const { return is_integer() || kind_ == Kind::kNumber; }
  bool is_text() const { return kind_ == Kind::kText; }
  bool is_list() const { return kind_ == Kind::kList; }
  bool is_map() const { return kind_ == Kind::kMap; }
  const char* type_name() const;  // JSON's: "null", "boolean", "number", "string", "array", "object"

  // Call each only on a value of that kind.
  bool flag() const { return bits_ != 0; }
  uint64_t natural() const { return bits_; }
  int64_t integer() const { return static_cast<int64_t>(bits_); }
  double number() const;  // also for an integer
  const std::string& text() const { return text_; }

  // For a list or a map; 0 for any other value.
  size_t size() const { return values_ ? values_->size() : 0; }
  bool empty() const { return size() == 0; }
  // A list's items, or a map's values in insertion order.
  const std::vector<Value>& items() const;
  std::vector<Value>& items() { return *values_; }
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> const Value& operator[](T index) const {
    return items()[static_cast<size_t>(index)];
  }
  // A template, so that a literal 0 cannot be taken for a null key.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> Value& operator[](T index) {
    return items()[static_cast<size_t>(index)];
  }
  const Value& front() const { return items().front(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  // Appends to a list; null becomes a list. The reference is valid until the next call.
  Value& push_back(Value item);

  // A map's keys, in the order of items(). For keys and values together: for (const auto& [key, value] :
  // map.members()).
  const std::vector<std::string>& keys() const;
  Members members() const;
  // Returns null if the key is missing or this is not a map.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Value& operator[](std::string_view key) const { return *find(key); }  // the key must exist
  // Returns the value of a key. A new key's value is null; null becomes a map. The reference is valid until the next
  // new key.
  Value& operator[](std::string_view key);

  // Equal kinds and contents, whatever the order of a map. An integer equals the same number as a double.
  bool operator==(const Value& other) const;
 private:
  struct Keys;
  struct DropKeys {
    void operator()(Keys* keys) const;
  };

  void set_flag(bool value);
  void set_integer(uint64_t bits, bool is_negative);
  void set_number(double value);

  Kind kind_ = Kind::kNull;
  bool is_negative_ = false;
  uint64_t bits_ = 0;  // a flag, an integer in two's complement, or a double
  std::string text_;
  std::unique_ptr<std::vector<Value>> values_;  // a list's or map's
  std::unique_ptr<Keys, DropKeys> keys_;        // a map's
};

struct Value::Member {
  std::string key;
  Value value;
};

class Value::Members {
 public:
  struct Reference {
    const std::string& key;
    const Value& value;
  };
  struct Iterator {
    const Value& map;
    size_t index;
    Reference operator*() const { return {map.keys()[index], map.items()[index]}; }
    Iterator& operator++() {
      ++index;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index != other.index; }
  };
  explicit Members(const Value& map) : map_(map) {}
  Iterator begin() const { return {map_, 0}; }
  Iterator end() const { return {map_, map_.keys().size()}; }
 private:
  const Value& map_;
};

inline Value::Members Value::members() const { return Members(*this); }

// Members of `changes` replace those in `settings`. Where both have a map, the two are merged by the same rule.
void update(Value& settings, const Value& changes);
}  // namespace goldcrest::converter
