// SPDX-License-Identifier: Apache-2.0
// PyTorch's zip: NAME/data.pkl lists the tensors, and NAME/data/KEY has the bytes of a storage. And the stream of
// pickles and storages that torch.save wrote before version 1.6.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include "host/wording.h"
#include "sources/containers/element_type.h"
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

[[noreturn]] void refuse_big_endian(const std::string& path) {
  throw Error("{}: it was saved on a big-endian machine; save it again on a little-endian one", path);
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

// The bytes of a storage.
struct StorageBytes {
  std::string name;  // for messages
  uint64_t offset = 0, size = 0;
};

// The tensors of a state dict in a file. Derived classes find the bytes of its storages.
class TorchFile : public TensorSource {
 public:
  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return tensors_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return tensor(name).shape; }
  std::filesystem::path file(const std::string&) const override { return file_.path(); }
  std::vector<std::filesystem::path> files() const override { return {file_.path()}; }
  std::string stored_name(const std::string& name) const override { return stored_names_.at(place_of(tensor(name))); }

  Tensor load(const std::string& name) const override {
    const StoredTensor& stored = tensor(name);
    Tensor result{name, stored.shape, zeros(stored.shape)};
    if (result.values.empty()) return result;
    const StorageBytes storage = find_storage(stored.storage);
    if (checked_.insert(stored.storage).second) check_bytes(stored.storage);
    if (is_contiguous(stored))
      read_elements(file_, storage.offset + stored.offset * element_bytes(stored.type), stored.type, result.values);
    else gather(stored, file_.text(storage.offset, storage.size).data(), result.values);
    return result;
  }
 protected:
  explicit TorchFile(const std::filesystem::path& path) : file_(path) { refuse_stand_in(file_); }

  // Throws Error if there is none.
  virtual StorageBytes find_storage(const std::string& key) const = 0;
  virtual void check_bytes(const std::string&) const {}

  void take_tensors(const PickleDocument& document) {
    for (StoredTensor& tensor : find_state_dict(document, path())) {
      check_storage(tensor);
      names_.push_back(tensor.name);
      tensors_.emplace(tensor.name, std::move(tensor));
    }
    for (const std::string& name : names_) stored_names_.emplace(place_of(tensors_.at(name)), name);
  }

  const InputFile& file() const { return file_; }
  std::string path() const { return file_.path().string(); }
 private:
  // Tied weights are one place with several names.
  using Place = std::tuple<std::string, ElementType, uint64_t, std::vector<uint64_t>, std::vector<uint64_t>>;
  static Place place_of(const StoredTensor& tensor) {
    return {tensor.storage, tensor.type, tensor.offset, tensor.shape, tensor.strides};
  }

  const StoredTensor& tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Error("{}: tensor {} is missing", path(), in_quotes(name));
    return found->second;
  }

  void check_storage(const StoredTensor& tensor) const {
    const StorageBytes storage = find_storage(tensor.storage);
    if (tensor.storage_elements > storage.size / element_bytes(tensor.type)) {
      throw Error("{}: tensor {} needs {} elements of {} bytes, but {} has {} bytes", path(), in_quotes(tensor.name),
          tensor.storage_elements, element_bytes(tensor.type), storage.name, storage.size);
    }
  }

  InputFile file_;
  std::map<std::string, StoredTensor> tensors_;
  mutable std::set<std::string> checked_;  // storages whose bytes are checked
  std::vector<std::string> names_;
  std::map<Place, std::string> stored_names_;  // the first name of each place
};

class TorchZip : public TorchFile {
 public:
  explicit TorchZip(const std::filesystem::path& path) : TorchFile(path) {
    const std::vector<ZipMember> directory = read_zip_directory(file());
    for (const ZipMember& entry : directory) members_.emplace(entry.name, entry);
    refuse_compressed(file(), directory);
    find_prefix();
    take_tensors(document());
  }

  // Reads the pickle again, because most callers never ask for settings.
  Value settings() const override { return saved_settings(document(), member(prefix_ + "data.pkl").size, path()); }
 private:
  StorageBytes find_storage(const std::string& key) const override {
    const ZipMember& found = member(prefix_ + "data/" + key);
    return {"the zip member " + in_quotes(found.name), found.offset, found.size};
  }
  void check_bytes(const std::string& key) const override { check_stored(file(), member(prefix_ + "data/" + key)); }

  PickleDocument document() const {
    const ZipMember& pickle = member(prefix_ + "data.pkl");
    if (pickle.size > kMaxPickleBytes)
      throw Error("{}: data.pkl has {} bytes, expected at most {}", path(), pickle.size, kMaxPickleBytes);
    return read_pickle(read_member(file(), pickle), path() + ": the pickle data.pkl");
  }

  const ZipMember& member(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) throw Error("{}: the zip has no member {}", path(), in_quotes(name));
    return found->second;
  }

  // The folder inside the zip, with its slash. It is the archive's name at the time of saving.
  void find_prefix() {
    std::vector<std::string> prefixes;
    for (const auto& [name, entry] : members_) {
      const size_t folder_bytes = name.rfind('/') + 1;
      if (name.substr(folder_bytes) == "data.pkl") prefixes.push_back(name.substr(0, folder_bytes));
    }
    if (prefixes.size() != 1)
      throw Error("{}: a zip with {} members data.pkl, expected one, as torch.save writes it", path(), prefixes.size());
    prefix_ = prefixes[0];
    const auto order = members_.find(prefix_ + "byteorder");
    if (order == members_.end()) return;
    if (order->second.size > 16 || read_member(file(), order->second) != "little") refuse_big_endian(path());
  }

  std::map<std::string, ZipMember> members_;
  std::string prefix_;
};

// The format of torch.save before version 1.6: a magic number, the pickles of a version, the machine, the object and
// the storages' keys, then for each key its elements as a 64-bit number and their bytes (torch/serialization.py,
// _legacy_save).
class TorchStream : public TorchFile {
 public:
  explicit TorchStream(const std::filesystem::path& path) : TorchFile(path) {
    const std::string start = file().text(0, std::min(file().size(), kMaxPickleBytes));
    std::string_view rest = start;
    const auto read = [&](const char* what) {
      return read_first_pickle(&rest, this->path() + ": the pickle of " + what);
    };
    if (!rest.starts_with(kMagic))
      throw Error(
          "{}: is a pickle, but begins without torch.save's magic number; save the weights with "
          "torch.save(model.state_dict(), ...)",
          this->path());
    rest.remove_prefix(kMagic.size());
    const PickleDocument version = read("its version"), machine = read("its machine");
    if (version.node(version.root).kind != PickleKind::kInteger || version.node(version.root).integer != kVersion)
      throw Error("{}: is not of version {}, which torch.save writes", this->path(), kVersion);
    const PickleNode* const is_little = machine.member(machine.node(machine.root), "little_endian");
    if (is_little == nullptr || is_little->kind != PickleKind::kBool || is_little->integer == 0)
      refuse_big_endian(this->path());
    const size_t before = rest.size();
    document_ = read("its tensors");
    pickle_bytes_ = before - rest.size();
    const PickleDocument keys = read("its storages");
    place_storages(keys, start.size() - rest.size());
    take_tensors(document_);
  }

  Value settings() const override { return saved_settings(document_, pickle_bytes_, path()); }
 private:
  static constexpr std::string_view kMagic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
  static constexpr int64_t kVersion = 1001;

  StorageBytes find_storage(const std::string& key) const override {
    const auto found = storages_.find(key);
    if (found == storages_.end()) throw Error("{}: has no storage {}", path(), in_quotes(key));
    return found->second;
  }

  void place_storages(const PickleDocument& keys, uint64_t at) {
    std::map<std::string_view, const PickleNode*> known;
    for (const PickleNode& node : document_.nodes)
      if (node.kind == PickleKind::kStorage) known.emplace(node.text, &node);
    const PickleNode& list = keys.node(keys.root);
    if (list.kind != PickleKind::kList) throw Error("{}: its storages are not a list", path());
    for (const PickleRef item : list.items) {
      const auto found = known.find(keys.node(item).text);
      if (found == known.end())
        throw Error("{}: no tensor has the storage {}", path(), in_quotes(keys.node(item).text));
      const PickleNode& storage = *found->second;
      const std::string name = "the storage " + in_quotes(storage.text);
      const ElementType type = storage_type(document_.node(storage.items[0]).text, path() + ": " + name);
      uint64_t n = 0;
      file().read(at, sizeof n, &n);
      at += sizeof n;
      if (n != static_cast<uint64_t>(storage.integer) || n > (file().size() - at) / element_bytes(type)) {
        throw Error("{}: {} has {} elements, but its tensors say {}, and {} bytes are left: it is truncated or damaged",
            path(), name, n, storage.integer, file().size() - at);
      }
      storages_[storage.text] = {name, at, n * element_bytes(type)};
      at += n * element_bytes(type);
    }
    if (at != file().size()) throw Error("{}: has {} bytes after its last storage", path(), file().size() - at);
  }

  PickleDocument document_;
  size_t pickle_bytes_ = 0;
  std::map<std::string, StorageBytes> storages_;
};
}  // namespace

std::unique_ptr<TensorSource> open_torch_file(const std::filesystem::path& path) {
  if (looks_like_zip(InputFile(path))) return std::make_unique<TorchZip>(path);
  return std::make_unique<TorchStream>(path);
}
}  // namespace goldcrest::converter
