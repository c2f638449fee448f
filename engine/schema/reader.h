// SPDX-License-Identifier: Apache-2.0
// Reads FlatBuffers in place: the base types for the accessors of model.fbs, which make_reader.pl makes. They read
// without checks, so model/structure.cc checks a file first. A FlatBuffer is a tree of tables
// (https://flatbuffers.dev/internals/): a table begins with the distance back to its vtable; a vtable has its own size,
// the table's size, then the place of each field in the table, 0 if the field is absent. Fields of tables, strings and
// vectors have the distance to their content. All numbers are aligned and little-endian.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The converter has classes of the same names, which flatc makes. The inner namespace keeps the two apart in a program.
namespace goldcrest::format { inline namespace reader {
using Slot = uint16_t;  // the place of a field's entry in a vtable, bytes

// Distances in a file are below this number of bytes.
constexpr uint32_t kMaxBufferBytes = 0x7fffffff;

template <typename T> T read(const uint8_t* at) { return *reinterpret_cast<const T*>(at); }

// A vector of numbers.
template <typename T> class Vector {
 public:
  uint32_t size() const { return n_; }
  const T* data() const { return reinterpret_cast<const T*>(&n_ + 1); }
  T at(uint32_t i) const { return data()[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + n_; }
 private:
  uint32_t n_;
};

// A vector of tables, or of texts: of the distances to them.
template <typename T> class References {
 public:
  class Iterator {
   public:
    explicit Iterator(const uint8_t* place) : place_(place) {}
    const T* operator*() const { return reinterpret_cast<const T*>(place_ + read<uint32_t>(place_)); }
    void operator++() { place_ += sizeof(uint32_t); }
    bool operator!=(const Iterator& other) const { return place_ != other.place_; }
   private:
    const uint8_t* place_;
  };

  uint32_t size() const { return n_; }
  const T* at(uint32_t i) const { return *Iterator(places() + i * sizeof(uint32_t)); }
  Iterator begin() const { return Iterator(places()); }
  Iterator end() const { return Iterator(places() + n_ * sizeof(uint32_t)); }
 private:
  const uint8_t* places() const { return reinterpret_cast<const uint8_t*>(&n_ + 1); }

  uint32_t n_;
};

// A text, which ends with a NUL.
class String : public Vector<char> {};

class Table {
 public:
  const uint8_t* vtable() const { return bytes_ - read<int32_t>(bytes_); }

  // Returns the place of a field in the table, or 0 if the field is absent. Inlined in every file, so that copies of
  // the functions below need the same stack, whichever copy is linked.
  [[gnu::always_inline]] uint16_t place_of(Slot slot) const {
    const uint8_t* const entries = vtable();
    return slot < read<uint16_t>(entries) ? read<uint16_t>(entries + slot) : uint16_t{0};
  }

  template <typename T> T number(Slot slot, T otherwise) const {
    const uint16_t place = place_of(slot);
    return place != 0 ? read<T>(bytes_ + place) : otherwise;
  }

  // The same for a field that is 0 if it is absent.
  template <typename T> T number(Slot slot) const {
    const uint16_t place = place_of(slot);
    return place != 0 ? read<T>(bytes_ + place) : T{0};
  }

  // Returns the content to which a field refers, or nullptr.
  template <typename T> const T* content(Slot slot) const { return reinterpret_cast<const T*>(content_at(slot)); }
 private:
  // Not inlined, because its copies take 650 bytes of flash on a Cortex-M.
  [[gnu::noinline]] const uint8_t* content_at(Slot slot) const {
    const uint16_t place = place_of(slot);
    return place != 0 ? bytes_ + place + read<uint32_t>(bytes_ + place) : nullptr;
  }

  uint8_t bytes_[1];
};

// The fields of a table in kFieldKinds, in the order of their slots.
struct TableFields {
  uint16_t first;
  uint16_t n;
};

// A field in kFieldKinds; the features of which a file with it needs one, in kFeatureSets; the value of a number that
// is as good as absent, in kDefaults.
struct FeatureField {
  uint8_t field, set, absent;
};
constexpr uint32_t kDefaults[] = {0, 1, 0x3f800000};  // the last one: 1.0f

// The kind of a field. Numbers have the binary logarithm of their bytes, 0 to 3. Tables have kTableKind plus their
// index in kTables. Vectors have kVectorKind in addition.
constexpr uint8_t kStringKind = 4, kTableKind = 8, kVectorKind = 128;

// Returns the slot of a field.
constexpr Slot slot_of(uint32_t field) { return static_cast<Slot>(4 + 2 * field); }
}}  // namespace goldcrest::format::reader
