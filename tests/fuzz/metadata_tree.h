// SPDX-License-Identifier: Apache-2.0
// A file's metadata as a tree that knows the schema's fields by their numbers alone: what is absent can be set and what
// is there left out, and a new field of the schema is a field of the tree.
#pragma once

#include <string>
#include <vector>

#include "fuzz/script.h"
#include "model_generated.h"

namespace goldcrest::test {

struct MetadataTable;

// A scalar's bytes, a string's, or those of a vector's elements; or tables: one, or a vector's.
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
// Scalars that are there are written, also where they are the default.
flatbuffers::DetachedBuffer write_metadata(const MetadataTable& model);

// One change of one field of any table: another value, one more or less, absent, present.
void change_metadata(Script& script, MetadataTable& model);

}  // namespace goldcrest::test
