// SPDX-License-Identifier: Apache-2.0
// A reader of the pickles that torch.save writes. It builds plain values and executes nothing: names are never
// resolved. Objects of the few known classes become dictionaries of their attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {
// A name that a pickle may ask for makes one of these. Every other name is refused.
enum class Makes {
  kUnknown,  // refused
  kDict,
  kDictOfDefaults,  // its argument makes missing values
  kObject,          // a dictionary of its attributes
  kFirstArgument,
  kTensor,     // from (storage, offset, sizes, strides, ...)
  kParameter,  // from a tensor; its other arguments do not matter
  kStorage,    // a type of storage
  kOther,      // something that does not matter here
};

// `name`: "module name".
Makes makes_of(std::string_view name);

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kNumber,   // number; NaN for a wide integer, whose value is not kept
  kText,     // text
  kTuple,    // items
  kList,     // items
  kDict,     // items: key, value, key, value ...; text: the class if these are an object's attributes, else ""
  kGlobal,   // text: "module name", one of the few known ones
  kStorage,  // text: its key in the file; integer: elements; items: the kGlobal that gives the type
  kTensor,   // items: storage, offset, sizes, strides, as stored
  kOther,    // made by a known function that does not matter: a type, a scalar of NumPy ...
};

using PickleRef = uint32_t;  // index into PickleDocument::nodes

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;
  std::string text;
  std::vector<PickleRef> items;
  double number = 0;
};

struct PickleDocument {
  std::vector<PickleNode> nodes;  // may refer to each other in circles
  PickleRef root = 0;
  const PickleNode& node(PickleRef ref) const { return nodes[ref]; }
  // Returns the value of a dictionary's key, the last one if the key is repeated. Returns null if the key is missing or
  // `dict` is not a dictionary.
  const PickleNode* member(const PickleNode& dict, std::string_view key) const;
};

// Throws Error on every opcode and name that a checkpoint does not need. `where` begins the message.
PickleDocument read_pickle(std::string_view bytes, const std::string& where);
// Reads the first of several pickles, and removes it from the bytes.
PickleDocument read_first_pickle(std::string_view* bytes, const std::string& where);
}  // namespace goldcrest::converter
