// SPDX-License-Identifier: Apache-2.0
// A reader of the pickles that torch.save writes. It builds plain values and executes nothing: no name is ever
// resolved. Objects of the few classes that it knows are dictionaries of their attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,
  kNumber,   // number; NaN where it is a wide integer, whose value is not kept
  kText,     // text
  kTuple,    // items
  kList,     // items
  kDict,     // items: key, value, key, value ...; text: the class, where these are an object's attributes, else ""
  kGlobal,   // text: "module name", one of the few that are known
  kStorage,  // text: key of the zip member; integer: elements; items: the kGlobal that gives the type
  kTensor,   // items: storage, offset, sizes, strides, as found
  kOther,    // made by a function that is known and does not matter: a type, a scalar of NumPy ...
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
  // The value of a key of a dictionary, the last where there are several; null: it has none, or is no dictionary.
  const PickleNode* member(const PickleNode& dict, std::string_view key) const;
};

// Throws Error on every opcode and every name outside of what a checkpoint needs. `where` begins the message.
PickleDocument read_pickle(std::string_view bytes, const std::string& where);

}  // namespace goldcrest::converter
