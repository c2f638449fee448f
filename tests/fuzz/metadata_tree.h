// SPDX-License-Identifier: Apache-2.0
// A file's metadata as a tree that knows the schema's fields only by their numbers. Absent fields can be set, and
// present ones left out. A new field of the schema needs no new code.
#pragma once

#include "fuzz/script.h"
#include "model_generated.h"

namespace goldcrest::test {
struct MetadataTable;

// The bytes of a scalar, of a string or of a vector's elements; or tables: one, or a vector's.
struct MetadataField {
  bool is_present = false;
  std::string bytes;
  std::vector<MetadataTable> tables;
};

struct MetadataTable {
  const flatbuffers::TypeTable* type = nullptr;
  std::vector<MetadataField> fields;  // [type->num_elems]
};

MetadataTable read_metadata(const uint8_t* file);
// Writes every present scalar, even if it has its default value.
flatbuffers::DetachedBuffer write_metadata(const MetadataTable& model);

// Changes one field of any table: another value, one element more or less, absent, present.
void change_metadata(Script& script, MetadataTable& model);
}  // namespace goldcrest::test
