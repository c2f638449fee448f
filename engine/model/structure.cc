// SPDX-License-Identifier: Apache-2.0
// A loop over the kinds of the schema's fields checks a FlatBuffer: afterwards everything that the accessors read is
// inside the file and aligned. It refuses what FlatBuffers' own verifier refuses, in a tenth of that code.
#include "base/exact_floats.h"
#include "base/build_options.h"
#include "model/validate.h"
#include "schema/model_reader_generated.h"

namespace goldcrest {
namespace {
using format::read;

// A table whose first fields are checked, and the tables that the last checked field refers to.
struct OpenTable {
  const uint8_t* start;
  const uint8_t* children;  // distances [n_children], not checked yet; those of a vector, or that of a table field
  uint32_t n_children;
  uint16_t next_field, end_field;  // in kFieldKinds
  uint16_t first_field;
  uint8_t child;  // index in kTables
};

class StructureCheck {
 public:
  StructureCheck(const uint8_t* file, size_t bytes) : file_(file), bytes_(bytes) {}

  bool run() {
    if (!open_table(format::kRootTable, 0)) return false;
    const auto* root = reinterpret_cast<const format::Model*>(open_[0].start);
    const size_t features = place_of(open_[0].start) + root->place_of(format::Model::VT_FEATURES);
    if (holds_number(features, sizeof(uint32_t))) features_ = root->features();
    while (n_open_ > 0) {
      OpenTable& table = open_[n_open_ - 1];
      if (table.n_children > 0) {
        const size_t reference = place_of(table.children);
        table.children += sizeof(uint32_t);
        --table.n_children;
        if (!open_table(table.child, reference)) return false;
      } else if (table.next_field < table.end_field) {
        if (!check_field(table)) return false;
      } else {
        --n_open_;
      }
    }
    return true;
  }

  // Returns whether the file has a field of a feature whose bit it lacks.
  bool lacks_feature() const { return lacks_feature_; }
 private:
  static constexpr uint32_t kMaxDepth = 8, kMaxTables = 8192;

  size_t place_of(const uint8_t* at) const { return static_cast<size_t>(at - file_); }

  // The last byte of the file never belongs to anything: FlatBuffers' verifier compares in the same way.
  bool holds(size_t place, size_t n) const { return n < bytes_ && place <= bytes_ - n; }
  // `n` bytes that are aligned to their size.
  bool holds_number(size_t place, size_t n) const { return (place & (n - 1)) == 0 && holds(place, n); }

  // Returns the distance from `place` to its content, or 0.
  size_t distance_at(size_t place) const {
    if (!holds_number(place, sizeof(uint32_t))) return 0;
    const uint32_t distance = read<uint32_t>(file_ + place);
    return distance <= format::kMaxBufferBytes && holds(place + distance, 1) ? distance : 0;
  }

  // Checks a vector of elements of `element` bytes, or a text without its NUL.
  bool check_vector(size_t place, size_t element) const {
    if (!holds_number(place, sizeof(uint32_t))) return false;
    const uint32_t n = read<uint32_t>(file_ + place);
    return n < format::kMaxBufferBytes / element && holds(place, sizeof(uint32_t) + element * n);
  }

  bool check_string(size_t place) const {
    if (!check_vector(place, 1)) return false;
    const size_t end = place + sizeof(uint32_t) + read<uint32_t>(file_ + place);
    return holds(end, 1) && file_[end] == 0;
  }

  // Checks the texts of a vector.
  bool check_strings(size_t place) const {
    for (uint32_t n = read<uint32_t>(file_ + place); n > 0; --n) {
      place += sizeof(uint32_t);
      const size_t distance = distance_at(place);
      if (distance == 0 || !check_string(place + distance)) return false;
    }
    return true;
  }

  // Opens the table to which the distance at `reference` leads, and checks its vtable.
  bool open_table(uint32_t index, size_t reference) {
    const size_t distance = distance_at(reference), table = reference + distance;
    if (distance == 0 || !holds_number(table, sizeof(int32_t))) return false;
    const size_t vtable = table - static_cast<size_t>(read<int32_t>(file_ + table));
    if (n_open_ == kMaxDepth || ++n_tables_ > kMaxTables || !holds_number(vtable, sizeof(uint16_t))) return false;
    const uint16_t vtable_bytes = read<uint16_t>(file_ + vtable);
    if (vtable_bytes % 2 != 0 || !holds(vtable, vtable_bytes)) return false;
    const format::TableFields fields = format::kTables[index];
    const auto end = static_cast<uint16_t>(fields.first + fields.n);
    open_[n_open_++] = {file_ + table, nullptr, 0, fields.first, end, fields.first, 0};
    return true;
  }

  // The schema has no structs and no unions.
  bool check_field(OpenTable& table) {
    const uint32_t field = table.next_field++;
    const uint32_t kind = format::kFieldKinds[field] & ~uint32_t{format::kVectorKind};
    const bool is_vector = (format::kFieldKinds[field] & format::kVectorKind) != 0;
    const bool is_table = kind >= format::kTableKind, is_string = kind == format::kStringKind;
    const auto* accessor = reinterpret_cast<const format::Table*>(table.start);
    const uint16_t offset = accessor->place_of(format::slot_of(field - table.first_field));
    if (offset == 0) return true;
    const size_t place = place_of(table.start) + offset;
    const bool is_number = kind < format::kStringKind && !is_vector;
    if (is_number && !holds_number(place, size_t{1} << kind)) return false;
    for (const format::FeatureField& needs : format::kFeatureFields) {
      if (needs.field != field || (features_ & format::kFeatureSets[needs.set]) != 0) continue;
      const uint32_t value = !is_number ? UINT32_MAX : kind == 0 ? file_[place] : read<uint32_t>(file_ + place);
      lacks_feature_ |= value != format::kDefaults[needs.absent];
    }
    if (is_number) return true;
    if (is_table) table.child = static_cast<uint8_t>(kind - format::kTableKind);
    if (is_table && !is_vector) {
      table.children = table.start + offset;
      table.n_children = 1;
      return true;
    }
    const size_t distance = distance_at(place), content = place + distance;
    if (distance == 0) return false;
    if (is_string && !is_vector) return check_string(content);
    if (!check_vector(content, is_table || is_string ? sizeof(uint32_t) : size_t{1} << kind)) return false;
    if (is_string) return check_strings(content);
    if (is_table) {
      table.children = file_ + content + sizeof(uint32_t);
      table.n_children = read<uint32_t>(file_ + content);
    }
    return true;
  }

  const uint8_t* file_;
  size_t bytes_;
  OpenTable open_[kMaxDepth] = {};
  uint32_t n_open_ = 0, n_tables_ = 0, features_ = 0;
  bool lacks_feature_ = false;
};
}  // namespace

bool metadata_is_sound(const uint8_t* file, size_t metadata_bytes, bool* lacks_feature) {
  StructureCheck check(file, metadata_bytes);
  const bool is_sound = check.run();
  if (lacks_feature != nullptr) *lacks_feature = check.lacks_feature();
  return is_sound;
}
}  // namespace goldcrest
