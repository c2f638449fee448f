// SPDX-License-Identifier: Apache-2.0
// Finds the state dict in what torch.save wrote, and checks each tensor's place in its storage.
#include "sources/containers/state_dict.h"
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMaxStateTensors = 100'000, kMaxRank = 16;
constexpr int kMaxStateDepth = 4;  // dictionaries around the state dict

// In order of preference.
const char* const kUsualNames[] = {"state_dict", "model_state_dict", "model", "module", "net", "network", "weights"};

// A dictionary with tensors, and the path that leads to it. Keys may be long and repeated, so no name is copied before
// a message needs it.
struct Candidate {
  PickleRef dict = 0;
  PickleRef key = 0;                  // its name in the dictionary around it; unused for the root
  const Candidate* around = nullptr;  // null: the root
};

bool has_tensors(const PickleDocument& document, const PickleNode& dict) {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (document.node(dict.items[i]).kind == PickleKind::kText &&
        document.node(dict.items[i + 1]).kind == PickleKind::kTensor)
      return true;
  return false;
}

// The dictionaries of a document, outer ones first. Each is visited once, because a pickle may contain itself.
class Dictionaries {
 public:
  explicit Dictionaries(const PickleDocument& document) : document_(document), visited_(document.nodes.size(), false) {
    add({document.root, 0, nullptr});
    size_t begin = 0;
    for (int depth = 0; depth < kMaxStateDepth; ++depth) {
      const size_t end = all_.size();
      for (; begin < end; ++begin) add_members(all_[begin]);
    }
    for (const Candidate& candidate : all_)
      if (has_tensors(document, document.node(candidate.dict))) found_.push_back(&candidate);
  }

  const std::vector<const Candidate*>& with_tensors() const { return found_; }

  std::string_view name(const Candidate& candidate) const {
    return candidate.around == nullptr ? std::string_view() : document_.node(candidate.key).text;
  }
  std::string path(const Candidate& candidate) const {
    const std::string own(name(candidate));
    const bool is_outermost = candidate.around == nullptr || candidate.around->around == nullptr;
    return is_outermost ? own : path(*candidate.around) + "." + own;
  }
 private:
  void add(const Candidate& candidate) {
    if (document_.node(candidate.dict).kind != PickleKind::kDict || visited_[candidate.dict]) return;
    visited_[candidate.dict] = true;
    all_.push_back(candidate);
  }

  void add_members(const Candidate& around) {
    const std::vector<PickleRef>& items = document_.node(around.dict).items;
    for (size_t i = 0; i + 1 < items.size(); i += 2)
      if (document_.node(items[i]).kind == PickleKind::kText) add({items[i + 1], items[i], &around});
  }

  const PickleDocument& document_;
  std::vector<bool> visited_;  // [nodes]
  std::deque<Candidate> all_;  // a deque, so that pointers to its elements stay valid
  std::vector<const Candidate*> found_;
};

PickleRef choose(const PickleDocument& document, const std::string& where) {
  constexpr size_t kMostNamed = 8;
  const Dictionaries dictionaries(document);
  const std::vector<const Candidate*>& found = dictionaries.with_tensors();
  for (const char* name : kUsualNames) {
    const auto chosen =
        std::find_if(found.begin(), found.end(), [&](const Candidate* c) { return dictionaries.name(*c) == name; });
    if (chosen != found.end()) return (*chosen)->dict;
  }
  const bool root_has_tensors = !found.empty() && found[0]->dict == document.root;
  if (found.size() == 1 || root_has_tensors) return found[0]->dict;
  if (found.empty()) {
    throw Error(
        "{}: holds no dictionary from names to tensors; save the weights with torch.save(model.state_dict(), ...)",
        where);
  }
  std::vector<std::string> paths;
  for (size_t i = 0; i < std::min(found.size(), kMostNamed); ++i) paths.push_back(dictionaries.path(*found[i]));
  std::string text = list_in_quotes(paths, kMostNamed);
  if (found.size() > kMostNamed) text += format_text(" and {} more", found.size() - kMostNamed);
  throw Error(
      "{}: holds several dictionaries of tensors ({}), and none has a usual name; save the one to convert with "
      "torch.save(checkpoint[...], ...)",
      where, text);
}

std::vector<uint64_t> sizes(const PickleDocument& document, PickleRef ref, const std::string& subject) {
  const PickleNode& tuple = document.node(ref);
  if (tuple.kind != PickleKind::kTuple || tuple.items.size() > kMaxRank)
    throw Error("{}: expected a tuple of at most {} integers", subject, kMaxRank);
  std::vector<uint64_t> result;
  for (const PickleRef item : tuple.items) {
    const PickleNode& value = document.node(item);
    if (value.kind != PickleKind::kInteger || value.integer < 0)
      throw Error("{}: expected non-negative integers", subject);
    result.push_back(static_cast<uint64_t>(value.integer));
  }
  return result;
}

// Throws Error unless every element is inside the storage and has a place of its own.
void check_extent(const StoredTensor& tensor, const std::string& subject) {
  if (tensor.shape.size() != tensor.strides.size())
    throw Error("{}: {} sizes but {} strides", subject, tensor.shape.size(), tensor.strides.size());
  const auto count = element_count(tensor.shape);
  if (!count || *count > tensor.storage_elements) {
    throw Error("{}: shape {} has more elements than its storage, {}", subject, shape_text(tensor.shape),
        tensor.storage_elements);
  }
  if (*count == 0) return;
  std::vector<std::pair<uint64_t, uint64_t>> axes;  // stride, size
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    if (tensor.shape[i] > 1) axes.emplace_back(tensor.strides[i], tensor.shape[i]);
  std::sort(axes.begin(), axes.end());
  uint64_t span = 1;  // elements from the first to the last
  for (const auto& [stride, size] : axes) {
    if (stride < span) {
      throw Error("{}: strides {} let elements share a place; save tensor.contiguous() instead", subject,
          shape_text(tensor.strides));
    }
    if (stride > tensor.storage_elements / (size - 1)) {
      span = tensor.storage_elements + 1;
      break;
    }
    span += stride * (size - 1);
  }
  if (tensor.offset > tensor.storage_elements || span > tensor.storage_elements - tensor.offset) {
    throw Error("{}: shape {} with strides {} at offset {} does not fit its storage of {} elements", subject,
        shape_text(tensor.shape), shape_text(tensor.strides), tensor.offset, tensor.storage_elements);
  }
}

StoredTensor read_tensor(
    const PickleDocument& document, const std::string& name, const PickleNode& node, const std::string& where) {
  const std::string subject = format_text("{}: tensor {}", where, in_quotes(name));
  const PickleNode& storage = document.node(node.items[0]);
  const PickleNode& offset = document.node(node.items[1]);
  if (storage.kind != PickleKind::kStorage || offset.kind != PickleKind::kInteger || offset.integer < 0)
    throw Error("{}: it has no storage or its offset is not a non-negative integer", subject);
  StoredTensor tensor;
  tensor.name = name;
  tensor.type = storage_type(document.node(storage.items[0]).text, subject);
  tensor.storage = storage.text;
  tensor.storage_elements = static_cast<uint64_t>(storage.integer);
  tensor.offset = static_cast<uint64_t>(offset.integer);
  tensor.shape = sizes(document, node.items[2], subject + ": shape");
  tensor.strides = sizes(document, node.items[3], subject + ": strides");
  check_extent(tensor, subject);
  return tensor;
}
}  // namespace

ElementType storage_type(const std::string& global, const std::string& subject) {
  static const std::map<std::string, ElementType> kTypes = {{"torch DoubleStorage", ElementType::kF64},
      {"torch FloatStorage", ElementType::kF32}, {"torch HalfStorage", ElementType::kF16},
      {"torch BFloat16Storage", ElementType::kBf16}, {"torch LongStorage", ElementType::kI64},
      {"torch IntStorage", ElementType::kI32}, {"torch ShortStorage", ElementType::kI16},
      {"torch CharStorage", ElementType::kI8}, {"torch ByteStorage", ElementType::kU8},
      {"torch BoolStorage", ElementType::kBool}};
  const auto found = kTypes.find(global);
  if (found == kTypes.end()) {
    throw Error(
        "{}: its storage is of type {}, expected float32, float16, bfloat16, float64 or an integer type; convert "
        "it first, for instance with tensor.float()",
        subject, in_quotes(global));
  }
  return found->second;
}

std::vector<StoredTensor> find_state_dict(const PickleDocument& document, const std::string& where) {
  std::vector<StoredTensor> tensors;
  std::set<std::string> names;
  const auto add = [&](const PickleNode& dict, const std::string& prefix) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleNode& key = document.node(dict.items[i]);
      const PickleNode& value = document.node(dict.items[i + 1]);
      if (key.kind != PickleKind::kText || value.kind != PickleKind::kTensor) continue;
      const std::string name = prefix + key.text;
      if (tensors.size() == kMaxStateTensors) throw Error("{}: has more than {} tensors", where, kMaxStateTensors);
      if (!names.insert(name).second) throw Error("{}: has the tensor {} twice", where, in_quotes(name));
      tensors.push_back(read_tensor(document, name, value, where));
    }
  };
  const PickleRef chosen = choose(document, where);
  add(document.node(chosen), "");
  const PickleNode& root = document.node(document.root);
  const PickleNode* const generator = document.member(root, "generator");
  const bool is_opennmt = document.member(root, "opt") != nullptr && document.member(root, "vocab") != nullptr &&
                          document.member(root, "model") == &document.node(chosen);
  if (is_opennmt && generator != nullptr && generator->kind == PickleKind::kDict) add(*generator, "generator.");
  return tensors;
}
}  // namespace goldcrest::converter
