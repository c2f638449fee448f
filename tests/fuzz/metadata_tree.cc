// SPDX-License-Identifier: Apache-2.0
// Reads, changes and writes metadata by the schema's type tables, which model/structure.cc uses for its checks.
#include "fuzz/metadata_tree.h"
#include "base/bounds.h"

namespace goldcrest::test {
namespace {
using flatbuffers::TypeCode;
using flatbuffers::uoffset_t;

// Bytes of a flatbuffers::ElementaryType, up to ET_DOUBLE.
constexpr uint8_t kScalarBytes[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

bool is_table(TypeCode code) { return code.base_type == flatbuffers::ET_SEQUENCE; }
bool is_string(TypeCode code) { return code.base_type == flatbuffers::ET_STRING; }
size_t element_bytes(TypeCode code) { return is_string(code) ? 1 : kScalarBytes[code.base_type]; }
bool is_scalar(TypeCode code) { return !is_table(code) && !is_string(code) && code.is_repeating == 0; }

const uint8_t* behind(const uint8_t* reference) { return reference + flatbuffers::ReadScalar<uoffset_t>(reference); }

MetadataTable read_table(const flatbuffers::TypeTable* type, const uint8_t* start) {
  MetadataTable table = {type, std::vector<MetadataField>(type->num_elems)};
  for (uint16_t i = 0; i < type->num_elems; ++i) {
    const TypeCode code = type->type_codes[i];
    const uint8_t* at =
        reinterpret_cast<const flatbuffers::Table*>(start)->GetAddressOf(flatbuffers::FieldIndexToOffset(i));
    if (at == nullptr) continue;
    MetadataField& field = table.fields[i];
    field.is_present = true;
    if (is_scalar(code)) {
      field.bytes.assign(reinterpret_cast<const char*>(at), element_bytes(code));
      continue;
    }
    const uint8_t* content = behind(at);
    if (is_table(code) && code.is_repeating == 0) {
      field.tables.push_back(read_table(type->type_refs[code.sequence_ref](), content));
      continue;
    }
    const auto n = flatbuffers::ReadScalar<uoffset_t>(content);
    content += sizeof n;
    if (!is_table(code)) field.bytes.assign(reinterpret_cast<const char*>(content), n * element_bytes(code));
    for (uoffset_t k = 0; is_table(code) && k < n; ++k)
      field.tables.push_back(read_table(type->type_refs[code.sequence_ref](), behind(content + k * sizeof n)));
  }
  return table;
}

class Writer {
 public:
  flatbuffers::DetachedBuffer write(const MetadataTable& model) {
    builder_.ForceDefaults(true);
    builder_.Finish(flatbuffers::Offset<void>(write_table(model)), format::ModelIdentifier());
    return builder_.Release();
  }
 private:
  uoffset_t write_table(const MetadataTable& table) {
    std::vector<uoffset_t> children(table.fields.size());
    for (size_t i = 0; i < children.size(); ++i)
      if (table.fields[i].is_present) children[i] = write_child(table.type->type_codes[i], table.fields[i]);
    const uoffset_t start = builder_.StartTable();
    for (size_t i = 0; i < children.size(); ++i) {
      const auto slot = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
      if (children[i] != 0) builder_.AddOffset(slot, flatbuffers::Offset<void>(children[i]));
      if (table.fields[i].is_present && is_scalar(table.type->type_codes[i])) add(slot, table.fields[i].bytes);
    }
    return builder_.EndTable(start);
  }

  // Writes the value that a field refers to and returns its offset; 0 for a scalar.
  uoffset_t write_child(TypeCode code, const MetadataField& field) {
    if (is_scalar(code)) return 0;
    if (is_string(code)) return builder_.CreateString(field.bytes).o;
    if (!is_table(code)) {
      const size_t bytes = element_bytes(code);
      builder_.StartVector(field.bytes.size() / bytes, bytes);
      builder_.PushBytes(reinterpret_cast<const uint8_t*>(field.bytes.data()), field.bytes.size() / bytes * bytes);
      return builder_.EndVector(field.bytes.size() / bytes);
    }
    if (code.is_repeating == 0) return write_table(field.tables[0]);
    std::vector<flatbuffers::Offset<void>> tables;
    for (const MetadataTable& table : field.tables) tables.emplace_back(write_table(table));
    return builder_.CreateVector(tables).o;
  }

  void add(flatbuffers::voffset_t slot, const std::string& bytes) {
    switch (bytes.size()) {
      case 1: return add_as<uint8_t>(slot, bytes);
      case 2: return add_as<uint16_t>(slot, bytes);
      case 4: return add_as<uint32_t>(slot, bytes);
      default: return add_as<uint64_t>(slot, bytes);
    }
  }
  template <typename Value> void add_as(flatbuffers::voffset_t slot, const std::string& bytes) {
    builder_.AddElement(slot, flatbuffers::ReadScalar<Value>(bytes.data()));
  }

  flatbuffers::FlatBufferBuilder builder_;
};

struct Place {
  TypeCode code;
  const flatbuffers::TypeTable* type;  // for a field of tables: their type
  MetadataField* field;
};

void list_places(MetadataTable& table, std::vector<Place>& places) {
  for (size_t i = 0; i < table.fields.size(); ++i) {
    const TypeCode code = table.type->type_codes[i];
    places.push_back({code, is_table(code) ? table.type->type_refs[code.sequence_ref]() : nullptr, &table.fields[i]});
    for (MetadataTable& child : table.fields[i].tables) list_places(child, places);
  }
}

// Values around bounds, or any value.
uint64_t new_scalar(Script& script, uint64_t old, size_t bytes) {
  constexpr uint64_t kValues[] = {0, 1, 2, 15, 16, 17, 255, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffff0,
      0xffffffff, uint64_t{1} << 32, UINT64_MAX / 64, UINT64_MAX, 0x7f800000 /* infinity */, 0x7fc00000 /* NaN */,
      0x80800000 /* -2^-126 */};
  switch (script.below(6)) {
    case 0: return old + script.byte();
    case 1: return old - script.byte();
    case 2: return kValues[script.below(std::size(kValues))];
    case 3: return old ^ (uint64_t{1} << script.below(static_cast<uint32_t>(8 * bytes)));
    case 4: return script.byte();
    default: return script.word();
  }
}

void change_scalar(Script& script, char* at, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  value = new_scalar(script, value, bytes);
  std::memcpy(at, &value, bytes);
}

void change_tables(Script& script, const Place& place, const std::vector<Place>& all) {
  std::vector<MetadataTable>& tables = place.field->tables;
  if (place.code.is_repeating != 0 && !tables.empty() && script.one_in(2)) {
    tables.erase(tables.begin() + script.below(static_cast<uint32_t>(tables.size())));
    return;
  }
  // Adds a copy of any table of the same type, an empty table, or 32 copies of the first. A mask of 32 bits cannot
  // cover these.
  MetadataTable made = {place.type, std::vector<MetadataField>(place.type->num_elems)};
  std::vector<const MetadataTable*> others;
  for (const Place& other : all) {
    for (const MetadataTable& table : other.field->tables)
      if (other.type == place.type) others.push_back(&table);
  }
  const uint32_t choice = script.below(static_cast<uint32_t>(others.size()) + 2);
  if (choice > others.size() && !tables.empty()) {
    if (place.code.is_repeating != 0 && tables.size() < 300) tables.insert(tables.end(), 32, MetadataTable(tables[0]));
    return;
  }
  if (choice > 0 && choice <= others.size()) made = *others[choice - 1];
  if (place.code.is_repeating == 0) tables.clear();
  if (tables.size() < 300) tables.push_back(std::move(made));
}

void change_elements(Script& script, const Place& place) {
  std::string& elements = place.field->bytes;
  const size_t bytes = element_bytes(place.code);
  const uint32_t choice = script.below(4);
  if (choice == 0) {
    const size_t n = script.below(64);
    // Also a count of more than 16 bits, and one more than the most positions.
    return elements.resize((n == 63 ? 70'000 : n == 62 && bytes == 4 ? kMaxPositions + 1 : n) * bytes);
  }
  if (choice == 1) elements.append(bytes, '\0');
  if (elements.size() < bytes) return;
  const size_t i =
      choice == 1 ? elements.size() / bytes - 1 : script.below(static_cast<uint32_t>(elements.size() / bytes));
  change_scalar(script, elements.data() + i * bytes, bytes);
}
}  // namespace

MetadataTable read_metadata(const uint8_t* file) { return read_table(format::ModelTypeTable(), behind(file)); }

flatbuffers::DetachedBuffer write_metadata(const MetadataTable& model) { return Writer().write(model); }

void change_metadata(Script& script, MetadataTable& model) {
  std::vector<Place> places;
  list_places(model, places);
  const Place place = places[script.below(65536) % places.size()];
  MetadataField& field = *place.field;
  if (field.is_present && script.one_in(8)) {
    field = {};
    return;
  }
  field.is_present = true;
  if (is_table(place.code)) return change_tables(script, place, places);
  if (!is_scalar(place.code)) return change_elements(script, place);
  field.bytes.resize(element_bytes(place.code));
  change_scalar(script, field.bytes.data(), field.bytes.size());
}
}  // namespace goldcrest::test
