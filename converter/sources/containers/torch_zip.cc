// SPDX-License-Identifier: Apache-2.0
// PyTorch's zip: NAME/data.pkl lists the tensors, and NAME/data/KEY has the bytes of a storage.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "host/wording.h"
#include "sources/containers/read_elements.h"
#include "sources/containers/state_dict.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/zip_directory.h"
#include "sources/values/saved_settings.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{64} << 20;

bool is_contiguous(const StoredTensor& tensor) {
  uint64_t stride = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] > 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

// Copies a tensor to `values` in row-major order; its last index need not be the fastest in the storage.
void gather(const StoredTensor& tensor, const char* storage, std::vector<float>& values) {
  const uint64_t bytes = element_bytes(tensor.type);
  std::vector<uint64_t> index(tensor.shape.size(), 0);
  uint64_t place = tensor.offset;
  for (float& value : values) {
    widen(tensor.type, storage + place * bytes, 1, &value);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += tensor.strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      place -= tensor.strides[axis] * tensor.shape[axis];
      index[axis] = 0;
    }
  }
}

class TorchZip : public TensorSource {
 public:
  explicit TorchZip(const std::filesystem::path& path) : file_(path) {
    refuse_stand_in(file_);
    const std::vector<ZipMember> directory = read_zip_directory(file_);
    for (const ZipMember& entry : directory) members_.emplace(entry.name, entry);
    refuse_compressed(file_, directory);
    find_prefix();
    for (StoredTensor& tensor : find_state_dict(document(), file_.path().string())) {
      check_storage(tensor);
      names_.push_back(tensor.name);
      tensors_.emplace(tensor.name, std::move(tensor));
    }
    for (const std::string& name : names_) stored_names_.emplace(place_of(tensors_.at(name)), name);
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return tensors_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return tensor(name).shape; }
  std::filesystem::path file(const std::string&) const override { return file_.path(); }
  std::vector<std::filesystem::path> files() const override { return {file_.path()}; }
  std::string stored_name(const std::string& name) const override { return stored_names_.at(place_of(tensor(name))); }
  // Reads the pickle again, because most callers never ask for settings.
  Value settings() const override {
    return saved_settings(document(), member(prefix_ + "data.pkl").size, file_.path().string());
  }

  Tensor load(const std::string& name) const override {
    const StoredTensor& stored = tensor(name);
    Tensor result{name, stored.shape, zeros(stored.shape)};
    if (result.values.empty()) return result;
    const ZipMember& storage = member(prefix_ + "data/" + stored.storage);
    if (is_contiguous(stored)) {
      if (checked_.insert(storage.name).second) check_stored(file_, storage);
      read_elements(file_, storage.offset + stored.offset * element_bytes(stored.type), stored.type, result.values);
    } else {
      gather(stored, read_member(file_, storage).data(), result.values);
    }
    return result;
  }

 private:
  // Tied weights are one place with several names.
  using Place = std::tuple<std::string, ElementType, uint64_t, std::vector<uint64_t>, std::vector<uint64_t>>;
  static Place place_of(const StoredTensor& tensor) {
    return {tensor.storage, tensor.type, tensor.offset, tensor.shape, tensor.strides};
  }

  PickleDocument document() const {
    const ZipMember& pickle = member(prefix_ + "data.pkl");
    if (pickle.size > kMaxPickleBytes) {
      throw Error("{}: data.pkl has {} bytes, expected at most {}", file_.path().string(), pickle.size,
                  kMaxPickleBytes);
    }
    return read_pickle(read_member(file_, pickle), file_.path().string() + ": the pickle data.pkl");
  }

  const StoredTensor& tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Error("{}: tensor {} is missing", file_.path().string(), in_quotes(name));
    return found->second;
  }

  const ZipMember& member(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) throw Error("{}: the zip has no member {}", file_.path().string(), in_quotes(name));
    return found->second;
  }

  // The folder inside the zip, with its slash. It is the archive's name at the time of saving.
  void find_prefix() {
    const std::string path = file_.path().string();
    std::vector<std::string> prefixes;
    for (const auto& [name, entry] : members_) {
      const size_t folder_bytes = name.rfind('/') + 1;
      if (name.substr(folder_bytes) == "data.pkl") prefixes.push_back(name.substr(0, folder_bytes));
    }
    if (prefixes.size() != 1) {
      throw Error("{}: a zip with {} members data.pkl, expected one, as torch.save writes it", path, prefixes.size());
    }
    prefix_ = prefixes[0];
    const auto order = members_.find(prefix_ + "byteorder");
    if (order == members_.end()) return;
    if (order->second.size > 16 || read_member(file_, order->second) != "little") {
      throw Error("{}: it was saved on a big-endian machine; save it again on a little-endian one", path);
    }
  }

  void check_storage(const StoredTensor& tensor) const {
    const ZipMember& storage = member(prefix_ + "data/" + tensor.storage);
    if (tensor.storage_elements > storage.size / element_bytes(tensor.type)) {
      throw Error("{}: tensor {} needs {} elements of {} bytes, but the zip member {} has {} bytes",
                  file_.path().string(), in_quotes(tensor.name), tensor.storage_elements, element_bytes(tensor.type),
                  in_quotes(storage.name), storage.size);
    }
  }

  InputFile file_;
  std::map<std::string, ZipMember> members_;
  std::string prefix_;
  std::map<std::string, StoredTensor> tensors_;
  mutable std::set<std::string> checked_;  // members whose CRC-32 is checked
  std::vector<std::string> names_;
  std::map<Place, std::string> stored_names_;  // the first name of each place
};

}  // namespace

std::unique_ptr<TensorSource> open_torch_zip(const std::filesystem::path& path) {
  return std::make_unique<TorchZip>(path);
}

}  // namespace goldcrest::converter
