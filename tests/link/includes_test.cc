// SPDX-License-Identifier: Apache-2.0
// The folders of engine/ form a line: a file includes its own folder and folders to its left, nothing else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace goldcrest {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"base",   "schema",   "model", "memory", "kernels",
                                           "layers", "decoding", "text",  "api"};
constexpr size_t kLongestFile = 500;  // lines

// The folder's place in the line; kFolders.size() for any other.
size_t place_of(const std::string& folder) {
  return static_cast<size_t>(std::find(kFolders.begin(), kFolders.end(), folder) - kFolders.begin());
}

// The path of a line like  #include "memory/plan.h"  or  #include <cstring>; empty for other lines.
std::string included_path(const std::string& line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return "";
  const size_t begin = line.find_first_of("\"<", word), end = line.find_first_of("\">", begin + 1);
  return begin == std::string::npos || end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

std::string problem_with_include(const fs::path& file, const std::string& path) {
  const std::string folder = file.parent_path().filename();
  const bool reads_flatbuffers = path.find("flatbuffers") != std::string::npos || path == "model_generated.h";
  if (reads_flatbuffers) return folder == "model" && file.extension() == ".cc" ? "" : "only model/*.cc may";
  if (path.starts_with("goldcrest/")) return "";
  const size_t slash = path.find('/');
  // A header of the language, or of an instruction set.
  if (slash == std::string::npos) return path.ends_with(".h") && folder != "kernels" ? "no folder is named" : "";
  const std::string included = path.substr(0, slash);
  // The operating system's, for the one file that asks it for the CPU.
  if ((included == "sys" || included == "asm") && file.filename() == "select_runtime.cc") return "";
  if (place_of(included) == kFolders.size()) return "not a folder of engine/";
  return place_of(included) <= place_of(folder) ? "" : "it lies to the right";
}

// Sources of an engine tree that break a rule, with the reason.
std::vector<std::string> problems_in(const fs::path& engine) {
  std::vector<std::string> problems;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(engine)) {
    const fs::path& file = entry.path();
    if (file.extension() != ".cc" && file.extension() != ".h") continue;
    const std::string name = fs::relative(file, engine);
    const bool is_public = name.starts_with("include/");
    if (!is_public && place_of(file.parent_path().filename()) == kFolders.size()) {
      problems.push_back(name + " is in no folder of the line");
    }
    std::ifstream text(file);
    std::string line;
    size_t n = 0;
    for (; std::getline(text, line); ++n) {
      const std::string path = included_path(line);
      if (path.empty() || is_public) continue;
      const std::string problem = problem_with_include(file, path);
      if (!problem.empty()) problems.push_back(name + " includes " + path + ": " + problem);
    }
    if (n > kLongestFile) problems.push_back(name + " has " + std::to_string(n) + " lines");
  }
  std::sort(problems.begin(), problems.end());
  return problems;
}

TEST(Includes, OneWayThroughTheFolders) {
  const fs::path engine = fs::path(GOLDCREST_SOURCE_DIR) / "engine";
  ASSERT_TRUE(fs::exists(engine / "layers" / "encoder.cc"));
  for (const std::string& problem : problems_in(engine)) ADD_FAILURE() << problem;
}

// A small tree with one file for each rule.
TEST(Includes, EveryBrokenRuleIsFound) {
  const fs::path tree = fs::path(testing::TempDir()) / ("goldcrest_includes_" + std::to_string(getpid()));
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((tree / name).parent_path());
    std::ofstream(tree / name) << text;
  };
  write("base/good.h", "#include <cstddef>\n#include \"goldcrest/goldcrest.h\"\n");
  write("model/good.cc",
        "#include \"base/good.h\"\n#include \"model_generated.h\"\n#include \"flatbuffers/flatbuffers.h\"\n");
  write("kernels/good.cc", "#include <immintrin.h>\n#include \"kernels/kernels.h\"\n");
  EXPECT_EQ(problems_in(tree), std::vector<std::string>{});

  write("layers/right.cc", "// #include \"api/engine.h\"\n  #  include \"decoding/search.h\"\n");
  write("model/view.h", "#include \"model_generated.h\"\n");
  write("api/flat.cc", "#include <flatbuffers/flatbuffers.h>\n");
  write("memory/plain.cc", "#include \"plan.h\"\n");
  write("base/other.cc", "#include \"converter/spec.h\"\n");
  write("extra/file.cc", "int x;\n");
  std::string lines;
  for (size_t i = 0; i <= kLongestFile; ++i) lines += "\n";
  write("text/long.cc", lines);
  EXPECT_EQ(problems_in(tree), (std::vector<std::string>{
                                   "api/flat.cc includes flatbuffers/flatbuffers.h: only model/*.cc may",
                                   "base/other.cc includes converter/spec.h: not a folder of engine/",
                                   "extra/file.cc is in no folder of the line",
                                   "layers/right.cc includes decoding/search.h: it lies to the right",
                                   "memory/plain.cc includes plan.h: no folder is named",
                                   "model/view.h includes model_generated.h: only model/*.cc may",
                                   "text/long.cc has 501 lines",
                               }));
  fs::remove_all(tree);
}

}  // namespace
}  // namespace goldcrest
