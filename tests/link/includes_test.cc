// SPDX-License-Identifier: Apache-2.0
// The folders of engine/ and of converter/ each form a line: a file includes only its own folder and folders to its
// left. No files of engine/ include one another in a circle, and no two sources share a name.
#include "source_tree.h"

namespace goldcrest { namespace {
const Line kEngine = {"base", "schema", "model", "memory", "kernels", "layers", "decoding", "text", "backends", "api"};
const Line kConverter = {"math", "spec", "sources", "tokenizers", "dialects", "quantize", "file", "reference",
    "evaluate", "report", "cli", "python"};
// Folders of kernels/, one for each instruction set. They may include the rooms of kernels/ but not one another.
const Line kInstructionSets = {"x86", "arm", "cortexm", "riscv", "wasm"};
// Headers by which the engine asks the system for the CPU and the environment.
const std::set<std::string> kOfTheCpu = {"cpuid.h", "fcntl.h", "sched.h", "stdlib.h", "unistd.h", "windows.h"};

// `file` is its path inside engine/.
std::string problem_with_engine_include(const fs::path& file, const std::string& path) {
  const std::string folder = part_of(file, 0), included = part_of(path, 0);
  // The engine does not include host/, which is for machines with an operating system.
  const bool is_ours = path.find('/') != std::string::npos && place_of(kEngine, included) < kEngine.size();
  if (folder == "host") return is_ours ? "host/ takes public headers" : "";
  const bool in_validate = file.parent_path() == "model/validate";
  if (path == "schema/model_reader_generated.h")
    return in_validate || (folder == "model" && file.extension() == ".cc") ? "" : "only model/*.cc may";
  // The folder's header reads the schema's tables for its own files.
  if (path.starts_with("model/validate/") && folder != "model") return "only model/ may";
  if (path.starts_with("goldcrest/")) return "";
  if (path == "xnnpack.h" || path == "pthreadpool.h")
    return file == "backends/xnnpack/adapter.cc" ? "" : "only backends/xnnpack/adapter.cc may";
  // A header of the language or of an instruction set.
  if (path.find('/') == std::string::npos) {
    const bool for_instructions = place_of(kInstructionSets, part_of(file, 1)) < kInstructionSets.size();
    const bool asks_the_cpu = file == "kernels/select_runtime.cc" && kOfTheCpu.count(path) != 0;
    const bool reads_the_clock = folder == "backends" && path == "time.h";
    const bool of_c = path == "stddef.h" || path == "stdint.h" || path == "string.h";
    if (!path.ends_with(".h")) return file.parent_path() == "backends/xnnpack" ? "" : "a header of C++";
    return of_c || for_instructions || asks_the_cpu || reads_the_clock ? "" : "no folder is named";
  }
  // A header of the operating system, for the one file that asks it about the CPU.
  if ((included == "sys" || included == "asm") && file == "kernels/select_runtime.cc") return "";
  if (place_of(kEngine, included) == kEngine.size()) return "not a folder of engine/";
  if (place_of(kEngine, included) > place_of(kEngine, folder)) return "it is to the right";
  const std::string room = part_of(file, 1), other = part_of(path, 1);
  const bool foreign = folder == "kernels" && included == "kernels" && room != other &&
                       place_of(kInstructionSets, other) < kInstructionSets.size();
  return foreign ? "of another instruction set" : "";
}

// `file` is its path inside converter/. Headers of libraries and of engine/ are not checked here.
std::string problem_with_converter_include(const fs::path& file, const std::string& path) {
  const size_t from = place_of(kConverter, part_of(file, 0)), to = place_of(kConverter, part_of(path, 0));
  if (to == kConverter.size() || file == "main.cc") return "";
  return to <= from ? "" : "it is to the right";
}

// Returns the broken rules of a tree of `line`, with the reasons.
template <typename Problem>
std::vector<std::string> problems_in(const fs::path& tree, const Line& line, const Problem& problem_with_include) {
  std::vector<std::string> problems;
  for (const fs::path& file : sources_in(tree)) {
    const std::string folder = part_of(file, 0);
    if (folder == "include") continue;  // the public headers
    if (file != "main.cc" && folder != "host" && place_of(line, folder) == line.size())
      problems.push_back(file.string() + " is in no folder of the line");
    std::ifstream text(tree / file);
    for (std::string text_line; std::getline(text, text_line);) {
      const std::string path = included_path(text_line);
      const std::string problem = path.empty() ? "" : problem_with_include(file, path);
      if (!problem.empty()) problems.push_back(file.string() + " includes " + path + ": " + problem);
    }
  }
  return problems;
}

// Returns sources that include another file before the one that keeps the bits of floats.
std::vector<std::string> late_floats_in(const fs::path& tree) {
  std::vector<std::string> problems;
  for (const fs::path& file : sources_in(tree)) {
    if (file.extension() != ".cc" || part_of(file, 0) == "host") continue;
    std::ifstream text(tree / file);
    std::string first;
    for (std::string line; first.empty() && std::getline(text, line);) first = included_path(line);
    if (first != "base/exact_floats.h") problems.push_back(file.string() + " begins with " + first);
  }
  return problems;
}

// Returns sources that share a name: a build that puts all objects into one folder would lose one of them.
std::vector<std::string> equal_names_in(const fs::path& tree) {
  std::map<std::string, fs::path> known;
  std::vector<std::string> problems;
  for (const fs::path& file : sources_in(tree)) {
    if (file.extension() != ".cc") continue;
    const auto [other, is_new] = known.emplace(file.filename(), file);
    if (!is_new) problems.push_back(file.string() + " has the name of " + other->second.string());
  }
  return problems;
}

// The includes of a tree, by path. A .cc and the .h of its name are one unit, whose name has no extension.
using Includes = std::map<std::string, std::set<std::string>>;

std::string unit_of(const fs::path& file) { return fs::path(file).replace_extension(); }
// Returns the folder with its rooms.
std::string folder_of(const fs::path& file) { return part_of(file, 0); }

// `name_of` returns the unit, or the folder, of a file.
template <typename Name> Includes includes_in(const fs::path& tree, const Name& name_of) {
  Includes includes;
  for (const fs::path& file : sources_in(tree)) {
    std::set<std::string>& included = includes[name_of(file)];
    std::ifstream text(tree / file);
    for (std::string line; std::getline(text, line);) {
      const std::string path = included_path(line);
      if (path.find('/') != std::string::npos) included.insert(name_of(path));
    }
    included.erase(name_of(file));
  }
  return includes;
}

// Removes names that include no other or that no other includes, again and again. The rest are in circles, or between
// two of them.
std::vector<std::string> circles_of(Includes includes) {
  for (size_t before = 0; before != includes.size();) {
    before = includes.size();
    std::set<std::string> wanted;
    for (const auto& [name, others] : includes) wanted.insert(others.begin(), others.end());
    std::erase_if(includes, [&](const auto& entry) { return !wanted.contains(entry.first); });
    for (auto& [name, others] : includes)
      std::erase_if(others, [&](const std::string& other) { return !includes.contains(other); });
    std::erase_if(includes, [](const auto& entry) { return entry.second.empty(); });
  }
  std::vector<std::string> names;
  for (const auto& [name, others] : includes) names.push_back(name);
  return names;
}

const fs::path kSource = GOLDCREST_SOURCE_DIR;

TEST(Includes, OneWayThroughTheEngine) {
  ASSERT_TRUE(fs::exists(kSource / "engine/layers/encoder.cc"));
  for (const std::string& problem : problems_in(kSource / "engine", kEngine, problem_with_engine_include))
    ADD_FAILURE() << problem;
}

TEST(Includes, OneWayThroughTheConverter) {
  ASSERT_TRUE(fs::exists(kSource / "converter/main.cc"));
  for (const std::string& problem : problems_in(kSource / "converter", kConverter, problem_with_converter_include))
    ADD_FAILURE() << problem;
}

TEST(Includes, NoCircleInTheEngine) {
  for (const std::string& name : circles_of(includes_in(kSource / "engine", unit_of))) ADD_FAILURE() << name;
}

TEST(Includes, NoCircleAmongTheFoldersOfTheEngine) {
  for (const std::string& name : circles_of(includes_in(kSource / "engine", folder_of))) ADD_FAILURE() << name;
}

TEST(Includes, NoTwoSourcesOfTheEngineHaveOneName) {
  for (const std::string& problem : equal_names_in(kSource / "engine")) ADD_FAILURE() << problem;
}

TEST(Includes, EverySourceOfTheEngineKeepsTheBitsOfFloats) {
  for (const std::string& problem : late_floats_in(kSource / "engine")) ADD_FAILURE() << problem;
}

TEST(Includes, EveryBrokenRuleOfTheEngineIsFound) {
  const Tree tree;
  const auto problems = [&] { return problems_in(tree.path(), kEngine, problem_with_engine_include); };
  tree.write("base/good.h", "#include <stddef.h>\n#include \"goldcrest/goldcrest.h\"\n");
  tree.write("model/good.cc", "#include \"base/good.h\"\n#include \"schema/model_reader_generated.h\"\n");
  tree.write(
      "model/validate/good.h", "#include \"schema/model_reader_generated.h\"\n#include \"model/validate/good.h\"\n");
  tree.write("kernels/x86/good.cc", "#include <immintrin.h>\n#include \"kernels/kernels.h\"\n");
  tree.write("kernels/arm/good.h", "#include \"kernels/vector/any-inl.h\"\n#include \"kernels/arm/any.h\"\n");
  tree.write("backends/xnnpack/adapter.cc", "#include <xnnpack.h>\n#include <vector>\n");
  tree.write("host/good.cc", "#include \"host/good.h\"\n#include <sys/mman.h>\n#include \"goldcrest/resample.h\"\n");
  EXPECT_EQ(problems(), std::vector<std::string>{});

  tree.write("layers/right.cc", "// #include \"api/engine.h\"\n  #  include \"decoding/search/search.h\"\n");
  tree.write("model/view.h", "#include \"schema/model_reader_generated.h\"\n");
  tree.write("text/words.cc", "#include <cstring>\n");
  tree.write("api/flat.cc", "#include <flatbuffers/flatbuffers.h>\n");
  tree.write("api/inner.cc", "#include \"model/validate/good.h\"\n");
  tree.write("memory/plain.cc", "#include \"plan.h\"\n");
  tree.write("base/other.cc", "#include \"converter/spec.h\"\n");
  tree.write("kernels/arm/other.cc", "#include \"kernels/x86/avx2.h\"\n");
  tree.write("kernels/vector/linear.h", "#include <immintrin.h>\n");
  tree.write("backends/xnnpack/table.cc", "#include <xnnpack.h>\n");
  tree.write("extra/file.cc", "int x;\n");
  tree.write("host/deep.cc", "#include \"model/view.h\"\n");
  tree.write("text/host.cc", "#include \"host/good.h\"\n");
  EXPECT_EQ(problems(), (std::vector<std::string>{
                            "api/flat.cc includes flatbuffers/flatbuffers.h: not a folder of engine/",
                            "api/inner.cc includes model/validate/good.h: only model/ may",
                            "backends/xnnpack/table.cc includes xnnpack.h: only backends/xnnpack/adapter.cc may",
                            "base/other.cc includes converter/spec.h: not a folder of engine/",
                            "extra/file.cc is in no folder of the line",
                            "host/deep.cc includes model/view.h: host/ takes public headers",
                            "kernels/arm/other.cc includes kernels/x86/avx2.h: of another instruction set",
                            "kernels/vector/linear.h includes immintrin.h: no folder is named",
                            "layers/right.cc includes decoding/search/search.h: it is to the right",
                            "memory/plain.cc includes plan.h: no folder is named",
                            "model/view.h includes schema/model_reader_generated.h: only model/*.cc may",
                            "text/host.cc includes host/good.h: not a folder of engine/",
                            "text/words.cc includes cstring: a header of C++",
                        }));
}

TEST(Includes, EveryBrokenRuleOfTheConverterIsFound) {
  const Tree tree;
  tree.write("main.cc", "#include \"cli/command_line.h\"\n");
  tree.write(
      "dialects/good.cc", "#include \"sources/files/open.h\"\n#include \"fmt/format.h\"\n#include \"base/align.h\"\n");
  tree.write("sources/bad.cc", "#include \"file/write.h\"\n");
  tree.write("loose.cc", "int x;\n");
  EXPECT_EQ(problems_in(tree.path(), kConverter, problem_with_converter_include),
      (std::vector<std::string>{
          "loose.cc is in no folder of the line", "sources/bad.cc includes file/write.h: it is to the right"}));
}

TEST(Includes, ACircleIsFound) {
  const Tree tree;
  tree.write("base/low.h", "#include <cstddef>\n");
  tree.write("model/view.h", "#include \"base/low.h\"\n#include \"model/names.h\"\n");
  tree.write("model/names.h", "#include \"base/low.h\"\n");
  tree.write("model/view.cc", "#include \"model/view.h\"\n");
  EXPECT_EQ(circles_of(includes_in(tree.path(), unit_of)), std::vector<std::string>{});
  EXPECT_EQ(circles_of(includes_in(tree.path(), folder_of)), std::vector<std::string>{});

  // A source closes the circle, as a header would.
  tree.write("model/names.cc", "#include \"model/names.h\"\n#include \"model/view.h\"\n");
  EXPECT_EQ(circles_of(includes_in(tree.path(), unit_of)), (std::vector<std::string>{"model/names", "model/view"}));
  EXPECT_EQ(circles_of(includes_in(tree.path(), folder_of)), std::vector<std::string>{});
  // Here folders form a circle, and files do not.
  tree.write("base/high.cc", "#include \"model/checks/any.h\"\n");
  tree.write("model/checks/any.h", "#include \"base/low.h\"\n");
  EXPECT_EQ(circles_of(includes_in(tree.path(), folder_of)), (std::vector<std::string>{"base", "model"}));
}

TEST(Includes, AnEqualNameIsFound) {
  const Tree tree;
  tree.write("base/other.cc", "");
  tree.write("base/list.h", "");
  tree.write("model/list.h", "");
  tree.write("base/list.cc", "");
  EXPECT_EQ(equal_names_in(tree.path()), std::vector<std::string>{});
  tree.write("model/list.cc", "");
  EXPECT_EQ(equal_names_in(tree.path()), std::vector<std::string>{"model/list.cc has the name of base/list.cc"});
}

TEST(Includes, ASourceThatIncludesAnotherFileFirstIsFound) {
  const Tree tree;
  tree.write("base/list.h", "int x;\n");
  tree.write("base/list.cc", "// A list.\n#include \"base/exact_floats.h\"\n\n#include \"base/list.h\"\n");
  tree.write("text/none.cc", "int y;\n");
  tree.write("text/late.cc", "#include <string.h>\n#include \"base/exact_floats.h\"\n");
  EXPECT_EQ(late_floats_in(tree.path()),
      (std::vector<std::string>{"text/late.cc begins with string.h", "text/none.cc begins with "}));
}
}}  // namespace goldcrest
