// SPDX-License-Identifier: Apache-2.0
// Writes good checkpoints, and from their parts broken ones: safetensors, shards, and torch.save's zip.
#pragma once

#include <ostream>
#include "converter/sources/containers/element_type.h"
#include "support/standard.h"

namespace goldcrest::test {
struct NamedTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;  // row-major
};

// The values as elements of the type, each rounded to nearest (half to even). Integers are truncated.
std::string element_bytes_of(const std::vector<float>& values, converter::ElementType type);

// Length, header and data of a safetensors file; the header may have any contents.
std::string safetensors_bytes(std::string_view header, std::string_view elements);
void write_safetensors(std::ostream& stream, const std::vector<NamedTensor>& tensors, converter::ElementType type);
// Writes model-00001-of-0000N.safetensors and model.safetensors.index.json; tensor i goes to shard i mod n.
void write_shards(const std::filesystem::path& directory, const std::vector<NamedTensor>& tensors, size_t n_shards);

// A member of a zip. The fields after `bytes` make its headers wrong.
struct ZipEntry {
  std::string name, bytes;
  uint16_t method = 0, flags = 0;
  int64_t extra_size = 0;                              // added to the size in both headers
  int64_t extra_central_size = 0;                      // added to the size only in the directory
  bool crc_is_wrong = false, is_hidden_start = false;  // is_hidden_start: the directory points at the first member
  std::optional<std::string> contents = {};            // a compressed member's, whose `bytes` are stored
  int64_t extra_contents_size = 0;                     // added to the contents' size in both headers
};
// Returns a member that zlib has deflated.
ZipEntry deflated(std::string name, std::string contents);
class ZipWriter {
 public:
  explicit ZipWriter(std::ostream& stream) : stream_(stream) {}
  void add(const ZipEntry& entry);
  void finish(std::string_view comment = {});
 private:
  void put(std::string_view bytes);

  std::ostream& stream_;
  uint64_t offset_ = 0, n_entries_ = 0;
  std::string directory_;
};

// Pickle protocol 2: one call for an opcode, or for a few that belong together.
class PickleWriter {
 public:
  PickleWriter();
  PickleWriter& raw(std::string_view opcodes);
  PickleWriter& text(std::string_view value);
  PickleWriter& integer(int64_t value);
  PickleWriter& global(std::string_view module, std::string_view name);
  PickleWriter& tuple(const std::vector<uint64_t>& values);
  // ('storage', torch.<type>, key, 'cpu', elements) as a persistent id.
  PickleWriter& storage(std::string_view type, std::string_view key, uint64_t elements);
  // A tensor of that storage, by torch._utils._rebuild_tensor_v2.
  struct Tensor {
    std::string_view type, key;
    uint64_t elements, offset;
    std::vector<uint64_t> shape, strides;
  };
  PickleWriter& tensor(const Tensor& tensor);
  std::string finish();  // appends the opcode that stops
 private:
  std::string bytes_;
};

// A second name of a tensor with the same storage, as for tied weights.
struct Alias {
  std::string name;
  size_t tensor = 0;  // index into the tensors
};

// A zip in the format of torch.save(state_dict, "archive.pt").
void write_torch_zip(std::ostream& stream, const std::vector<NamedTensor>& tensors, converter::ElementType type,
    const std::vector<Alias>& aliases = {});
}  // namespace goldcrest::test
