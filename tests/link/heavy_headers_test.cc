// SPDX-License-Identifier: Apache-2.0
// Headers of some libraries take the compiler seconds in each file that includes them. Only listed files of the
// converter and of the examples may include them. If a header of ours wraps a library, its own users are listed, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "source_tree.h"

namespace goldcrest {
namespace {

// A heavy header and the files that may include it.
struct Door {
  std::string header;              // as in an include; a name that ends with / covers all headers that begin with it
  std::vector<std::string> files;  // sorted
};

const std::vector<Door> kDoors = {
    {"CLI/",
     {"converter/cli/command_line.cc", "examples/bench/options.cc", "examples/inspect/options.cc",
      "examples/predictions/options.cc", "examples/translate/options.cc"}},
    {"Eigen/", {"converter/math/ordered_sums.h"}},
    {"math/ordered_sums.h",
     {"converter/math/ordered_sums.cc", "converter/reference/frontend.h", "converter/reference/operations.h",
      "converter/reference/reference.cc"}},
    {"flatbuffers/", {}},
    {"model_generated.h", {"converter/file/format.h"}},
    {"file/format.h",
     {"converter/cli/convert_checkpoint.cc", "converter/cli/in_memory_model.cc", "converter/file/activation.h",
      "converter/file/build.cc", "converter/file/frontend_section.cc", "converter/file/metadata.cc",
      "converter/file/relayout.cc", "converter/file/shortlist_section.cc", "converter/file/tokenizer_section.cc",
      "converter/file/write.cc", "converter/report/work.cc"}},
    {"fmt/", {"converter/spec/format_text.cc"}},
    {"nlohmann/",
     {"converter/sources/values/json_text.cc", "converter/sources/values/write_json.cc",
      "examples/predictions/predictions.cc"}},
    {"openssl/", {"converter/sources/files/sha256.cc"}},
    {"yaml-cpp/", {"converter/sources/values/yaml_text.cc"}},
    {"zlib.h", {"converter/sources/files/inflate.cc"}},
};

bool is_meant(const Door& door, const std::string& path) {
  return door.header.ends_with('/') ? path.starts_with(door.header) : path == door.header;
}

bool names(const fs::path& file, const Door& door) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);)
    if (is_meant(door, included_path(line))) return true;
  return false;
}

// Returns the files of converter/ and examples/ in `root` that include a header without being listed, and the listed
// files that do not include it.
std::vector<std::string> problems_in(const fs::path& root, const std::vector<Door>& doors) {
  std::vector<fs::path> files;
  for (const char* tree : {"converter", "examples"})
    for (const fs::path& file : sources_in(root / tree)) files.push_back(tree / file);
  std::vector<std::string> problems;
  for (const Door& door : doors) {
    std::vector<std::string> found;
    for (const fs::path& file : files)
      if (names(root / file, door)) found.push_back(file.string());
    for (const std::string& file : found)
      if (!std::ranges::count(door.files, file)) problems.push_back(file + " includes " + door.header + ": not listed");
    for (const std::string& file : door.files)
      if (!std::ranges::count(found, file)) problems.push_back(file + " is listed for " + door.header);
  }
  return problems;
}

TEST(HeavyHeaders, AreNamedByTheListedFilesAlone) {
  for (const std::string& problem : problems_in(GOLDCREST_SOURCE_DIR, kDoors)) ADD_FAILURE() << problem;
}

TEST(HeavyHeaders, EveryOtherUseIsFound) {
  const Tree tree;
  const std::vector<Door> doors = {{"heavy/", {"converter/math/door.h"}},
                                   {"math/door.h", {"converter/math/door.cc", "examples/bench/user.cc"}}};
  tree.write("converter/math/door.h", "#include <heavy/all.h>\n");
  tree.write("converter/math/door.cc", "#include \"math/door.h\"\n");
  tree.write("converter/math/light.cc", "#include <heavyweight.h>\n// #include <heavy/all.h>\n#include \"door.h\"\n");
  tree.write("examples/bench/user.cc", "#include \"math/door.h\"\n");
  EXPECT_EQ(problems_in(tree.path(), doors), std::vector<std::string>{});

  tree.write("converter/cli/second.cc", "#include \"spec/spec.h\"\n  #  include <heavy/part.h>\n");
  tree.write("converter/spec/spreads.h", "#include \"math/door.h\"\n");
  tree.write("examples/bench/user.cc", "int x;\n");
  EXPECT_EQ(problems_in(tree.path(), doors), (std::vector<std::string>{
                                                 "converter/cli/second.cc includes heavy/: not listed",
                                                 "converter/spec/spreads.h includes math/door.h: not listed",
                                                 "examples/bench/user.cc is listed for math/door.h",
                                             }));
}

}  // namespace
}  // namespace goldcrest
