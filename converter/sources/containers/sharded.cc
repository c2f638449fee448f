// SPDX-License-Identifier: Apache-2.0
// A checkpoint in several files. An index.json tells which file has which tensor.
#include <algorithm>
#include <map>
#include <set>
#include "host/wording.h"
#include "sources/containers/tensor_source.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMaxShards = 10'000;

class ShardedSource : public TensorSource {
 public:
  explicit ShardedSource(const std::filesystem::path& index) : index_(index) {
    const Value json = read_json_object(index);
    const Value* const map = json.find("weight_map");
    if (map == nullptr || !map->is_map()) throw Error("{}: has no object \"weight_map\"", index.string());
    for (const auto& [tensor, file] : map->members()) {
      if (!file.is_text()) throw Error("{}: the file of tensor {} is not a text", index.string(), in_quotes(tensor));
      home_[tensor] = file.text();
      check_file_name(home_[tensor]);
      shards_[home_[tensor]] = nullptr;
    }
    if (shards_.empty() || shards_.size() > kMaxShards)
      throw Error("{}: weight_map names {} files, expected 1 to {}", index.string(), shards_.size(), kMaxShards);
    for (auto& [file, shard] : shards_) shard = open_shard(file);
    for (const auto& [tensor, file] : home_) {
      if (!shards_[file]->has(tensor)) {
        throw Error("{}: tensor {} is missing, but {} says that it is there", (index.parent_path() / file).string(),
            in_quotes(tensor), index.filename().string());
      }
    }
    for (const auto& [file, shard] : shards_) {
      for (const std::string& tensor : shard->names()) {
        const auto home = home_.find(tensor);
        if (home != home_.end() && home->second == file) names_.push_back(tensor);
      }
    }
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return home_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return shard(name).shape(name); }
  Tensor load(const std::string& name) const override { return shard(name).load(name); }
  std::filesystem::path file(const std::string& name) const override {
    return has(name) ? shard(name).file(name) : index_;
  }

  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> result;
    for (const auto& [file, shard] : shards_) result.push_back(index_.parent_path() / file);
    return result;
  }
 private:
  // A shard is stored next to its index; its name must not lead anywhere else.
  void check_file_name(const std::string& name) const {
    if (name.empty() || name == "." || name == ".." || name.find_first_of(std::string("/\\\0", 3)) != name.npos) {
      throw Error("{}: weight_map names the file {}, expected a plain file name without a folder", index_.string(),
          in_quotes(name));
    }
  }

  std::unique_ptr<TensorSource> open_shard(const std::string& name) const {
    const std::filesystem::path path = index_.parent_path() / name;
    if (name.ends_with(".json") || !std::filesystem::is_regular_file(path)) {
      throw Error("{}: is missing, but {} names it; download all files of the checkpoint", path.string(),
          index_.filename().string());
    }
    return open_tensors(path);
  }

  const TensorSource& shard(const std::string& name) const {
    const auto home = home_.find(name);
    if (home == home_.end()) throw Error("{}: tensor {} is missing", index_.string(), in_quotes(name));
    return *shards_.at(home->second);
  }

  std::filesystem::path index_;
  std::map<std::string, std::string> home_;  // tensor to file name
  std::map<std::string, std::unique_ptr<TensorSource>> shards_;
  std::vector<std::string> names_;
};
}  // namespace

std::unique_ptr<TensorSource> open_sharded(const std::filesystem::path& index) {
  return std::make_unique<ShardedSource>(index);
}
}  // namespace goldcrest::converter
