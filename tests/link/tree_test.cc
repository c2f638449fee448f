// SPDX-License-Identifier: Apache-2.0
// The trees of the repository, and the folders from which each may include. The engine's own line is in
// includes_test.cc, and the rooms of the converter are in rooms_test.cc. Tests may include everything.
#include "source_tree.h"

namespace goldcrest { namespace {
// Every file may include the public headers and its own folder; programs may include the host's headers, too. The
// converter shares the engine's bounds, views, reference formulas and tokenizer. goldcrest-bench measures kernels.
const Line kSharedWithConverter = {"base", "model", "kernels", "text"};
const std::string kMeasuresKernels = "examples/bench/";

// A file and a folder from which it includes, although it should not.
using Departures = std::set<std::pair<std::string, std::string>>;

// Returns the tree of each folder by whose name files include: engine/base/ is base/, examples/bench/ is bench/.
std::map<std::string, std::string> folders_in(const fs::path& root) {
  std::map<std::string, std::string> trees;
  for (const char* tree : {"engine", "converter", "examples"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(root / tree))
      if (entry.is_directory()) trees[entry.path().filename()] = tree;
  }
  return trees;
}

// Returns the folder of an include by its path inside its tree. It may be ../support/messages.h, as seen from `file`.
std::string folder_of_include(const fs::path& file, const std::string& path) {
  if (!path.starts_with("../")) return path.find('/') == std::string::npos ? "" : part_of(path, 0);
  return part_of((file.parent_path() / path).lexically_normal(), 1);
}

bool may_include(const fs::path& file, const std::string& folder, const std::string& tree_of_folder) {
  const std::string tree = part_of(file, 0), own = part_of(file, 1);
  if (folder == own || file.string().starts_with(kMeasuresKernels)) return true;
  if (folder == "host") return tree == "converter" || tree == "examples";
  return tree == "converter" && (tree_of_folder == tree || place_of(kSharedWithConverter, folder) < 4);
}

Departures departures_in(const fs::path& root) {
  const std::map<std::string, std::string> trees = folders_in(root);
  Departures departures;
  for (const char* tree : {"engine/host", "converter", "boards", "examples", "toolchains"}) {
    if (!fs::exists(root / tree)) continue;
    for (const fs::path& inside : sources_in(root / tree)) {
      const fs::path file = tree / inside;
      std::ifstream text(root / file);
      for (std::string line; std::getline(text, line);) {
        const std::string folder = folder_of_include(file, included_path(line));
        const auto found = trees.find(folder);
        if (found != trees.end() && !may_include(file, folder, found->second)) departures.emplace(file, folder);
      }
    }
  }
  return departures;
}

// Reads lines of a file and a folder. tests/weight.pl counts them.
Departures read_departures(const fs::path& list) {
  Departures departures;
  std::ifstream text(list);
  for (std::string file, folder; text >> file >> folder;) departures.emplace(file, folder);
  return departures;
}

TEST(Tree, EveryFileIncludesWhatItMay) {
  const fs::path root = GOLDCREST_SOURCE_DIR;
  const Departures found = departures_in(root), listed = read_departures(root / "tests/link/departures.txt");
  for (const auto& [file, folder] : found)
    if (!listed.contains({file, folder})) {
      ADD_FAILURE() << file << " includes " << folder << "/, which it may not";
    }
  for (const auto& [file, folder] : listed) {
    if (found.contains({file, folder})) continue;
    ADD_FAILURE() << file << " no longer includes " << folder << "/: remove its line from tests/link/departures.txt";
  }
}

TEST(Tree, EveryDepartureIsFound) {
  const Tree tree;
  tree.write("engine/base/a.h", "");
  tree.write("engine/api/a.h", "");
  tree.write("engine/host/a.h", "#include \"goldcrest/goldcrest.h\"\n#include \"host/b.h\"\n#include \"plain.h\"\n");
  tree.write("converter/spec/a.h", "#include \"base/a.h\"\n#include \"cli/a.h\"\n#include <sys/stat.h>\n");
  tree.write("converter/cli/a.cc", "#include \"host/a.h\"\n");
  tree.write("boards/one/board.c", "#include \"common/cortexm/systick.h\"\n#include \"board_api.h\"\n");
  tree.write("examples/support/a.h", "#include \"goldcrest/goldcrest.h\"\n");
  tree.write("examples/translate/a.cc", "#include \"host/a.h\"\n#include \"translate/b.h\"\n#include \"b.h\"\n");
  tree.write("examples/bench/a.cc", "#include \"kernels/kernels.h\"\n#include \"../support/a.h\"\n");
  tree.write("toolchains/packages/a.c", "#include \"pronounce.h\"\n");
  EXPECT_EQ(departures_in(tree.path()), Departures{});

  tree.write("engine/host/b.cc", "#include \"base/a.h\"\n#include \"support/a.h\"\n");
  tree.write("converter/spec/b.h", "#include \"api/a.h\"\n#include \"translate/b.h\"\n");
  tree.write("boards/one/b.c", "#include \"host/a.h\"\n");
  tree.write(
      "examples/translate/b.cc", "#include \"../support/a.h\"\n  # include <spec/a.h>\n// #include \"api/a.h\"\n");
  tree.write("toolchains/packages/b.c", "#include \"support/a.h\"\n");
  EXPECT_EQ(departures_in(tree.path()),
      (Departures{{"engine/host/b.cc", "base"}, {"engine/host/b.cc", "support"}, {"converter/spec/b.h", "api"},
          {"converter/spec/b.h", "translate"}, {"boards/one/b.c", "host"}, {"examples/translate/b.cc", "support"},
          {"examples/translate/b.cc", "spec"}, {"toolchains/packages/b.c", "support"}}));
}
}}  // namespace goldcrest
