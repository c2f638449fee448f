// SPDX-License-Identifier: Apache-2.0
// A reader of the pickles that torch.save writes. It builds plain values and executes nothing: no name is ever
// resolved.
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
  kNumber,   // a float or a wide integer; its value is not kept
  kText,     // text
  kTuple,    // items
  kList,     // items
  kDict,     // items: key, value, key, value ...
  kGlobal,   // text: "module name", one of the few that are known
  kStorage,  // text: key of the zip member; integer: elements; items: the kGlobal that gives the type
  kTensor,   // items: storage, offset, sizes, strides, as found
};

using PickleRef = uint32_t;  // index into PickleDocument::nodes

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;
  std::string text;
  std::vector<PickleRef> items;
};

struct PickleDocument {
  std::vector<PickleNode> nodes;  // may refer to each other in circles
  PickleRef root = 0;
  const PickleNode& node(PickleRef ref) const { return nodes[ref]; }
};

// Throws Error on every opcode and every name outside of what a state dict needs. `where` begins the message.
PickleDocument read_pickle(std::string_view bytes, const std::string& where);

}  // namespace goldcrest::converter
