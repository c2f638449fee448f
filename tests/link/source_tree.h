// SPDX-License-Identifier: Apache-2.0
// The files of a source tree with their includes, and small trees for tests of the rules.
#pragma once

#include <unistd.h>
#include "support/test.h"

namespace goldcrest {
namespace fs = std::filesystem;

// Folders from left to right.
using Line = std::vector<std::string>;

inline size_t place_of(const Line& line, const std::string& folder) {
  return static_cast<size_t>(std::find(line.begin(), line.end(), folder) - line.begin());
}

// Returns part `i` of a path, or nothing if the path has fewer parts.
inline std::string part_of(const fs::path& path, size_t i) {
  for (const fs::path& part : path)
    if (i-- == 0) return part;
  return "";
}

// Returns the path of a line like  #include "memory/plan.h"  or  #include <cstring>, and nothing for other lines.
inline std::string included_path(const std::string& line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return "";
  const size_t begin = line.find_first_of("\"<", word), end = line.find_first_of("\">", begin + 1);
  return begin == std::string::npos || end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

inline bool is_source(const fs::path& file) {
  for (const char* extension : {".cc", ".h", ".hpp", ".c"})
    if (file.extension() == extension) return true;
  return false;
}

// Returns the sources of a tree, by their paths inside it.
inline std::vector<fs::path> sources_in(const fs::path& tree) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree))
    if (is_source(entry.path())) files.push_back(fs::relative(entry.path(), tree));
  std::sort(files.begin(), files.end());
  return files;
}

// A tree of files that the destructor removes.
class Tree {
 public:
  Tree() : path_(fs::path(testing::TempDir()) / ("goldcrest_includes_" + std::to_string(getpid()))) {}
  ~Tree() { fs::remove_all(path_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  const fs::path& path() const { return path_; }
 private:
  fs::path path_;
};
}  // namespace goldcrest
