// SPDX-License-Identifier: Apache-2.0
// converter/sources/ and converter/dialects/ have rooms. The rooms of sources/ form a line, and so do the shared rooms
// of dialects/. Rooms of families do not include one another.
#include "source_tree.h"

namespace goldcrest { namespace {
// Every file of sources/ is in one of these rooms.
const Line kSources = {"sniffing", "files", "values", "containers"};
// The rooms that all families share; the first is dialects/ itself.
const Line kSharedDialects = {"", "text", "shortlist", "speech"};
// A family includes what is shared and no other family. The exceptions are tutorials and toolkits, which include
// nn_transformer; its reader reads their tables of names.
const Line kFamilies = {"nn_transformer", "hugging_face", "marian", "ctranslate2", "tutorials", "toolkits"};
const Line kOverNnTransformer = {"tutorials", "toolkits"};
// The files that may include every family.
const Line kRegistry = {"dialects/config_template.cc", "dialects/config_way.cc", "dialects/dialect.cc"};

bool is_in(const Line& line, const std::string& folder) { return place_of(line, folder) < line.size(); }

// The room of a path like dialects/marian/marian_native.h; empty for dialects/dialect.h.
std::string room_of(const fs::path& path) { return part_of(path, 2).empty() ? "" : part_of(path, 1); }

// Returns the problem with a file of dialects/ that includes another one.
std::string problem_between_dialects(const fs::path& file, const std::string& path) {
  const std::string room = room_of(file), other = room_of(path);
  if (is_in(kRegistry, file) || room == other) return "";
  if (is_in(kFamilies, room)) {
    const bool fine = is_in(kSharedDialects, other) || (other == "nn_transformer" && is_in(kOverNnTransformer, room));
    return fine ? "" : "of another family";
  }
  if (is_in(kFamilies, other)) return "of a family, which is not shared";
  return place_of(kSharedDialects, other) <= place_of(kSharedDialects, room) ? "" : "its room is to the right";
}

// `file` is its path inside converter/.
std::string problem_with_include(const fs::path& file, const std::string& path) {
  const std::string folder = part_of(file, 0), included = part_of(path, 0);
  if (included == "dialects") {
    if (folder == "dialects") return problem_between_dialects(file, path);
    return is_in(kFamilies, room_of(path)) ? "only dialects/ may" : "";
  }
  if (included != "sources" || folder != "sources") return "";
  return place_of(kSources, room_of(path)) <= place_of(kSources, room_of(file)) ? "" : "its room is to the right";
}

std::string problem_with_room(const fs::path& file) {
  const std::string folder = part_of(file, 0), room = room_of(file);
  const bool unknown = (folder == "sources" && !is_in(kSources, room)) ||
                       (folder == "dialects" && !is_in(kSharedDialects, room) && !is_in(kFamilies, room));
  return unknown ? "is in no room of " + folder + "/" : "";
}

std::vector<std::string> problems_in(const fs::path& converter) {
  std::vector<std::string> problems;
  for (const fs::path& file : sources_in(converter)) {
    const std::string problem = problem_with_room(file);
    if (!problem.empty()) problems.push_back(file.string() + " " + problem);
    std::ifstream text(converter / file);
    for (std::string line; std::getline(text, line);) {
      const std::string path = included_path(line), broken = path.empty() ? "" : problem_with_include(file, path);
      if (!broken.empty()) problems.push_back(file.string() + " includes " + path + ": " + broken);
    }
  }
  return problems;
}

const fs::path kRepository = GOLDCREST_SOURCE_DIR;

TEST(Rooms, OneWayThroughTheRooms) {
  ASSERT_TRUE(fs::exists(kRepository / "converter/dialects/dialect.cc"));
  for (const std::string& problem : problems_in(kRepository / "converter")) ADD_FAILURE() << problem;
}

TEST(Rooms, EveryBrokenRuleIsFound) {
  const Tree tree;
  const auto problems = [&] { return problems_in(tree.path()); };
  tree.write("sources/values/good.h", "#include \"sources/files/any.h\"\n#include \"sources/values/any.h\"\n");
  tree.write("dialects/dialect.cc", "#include \"dialects/marian/any.h\"\n#include \"dialects/text/any.h\"\n");
  tree.write("dialects/text/good.h", "#include \"dialects/config.h\"\n#include \"dialects/text/any.h\"\n");
  tree.write("dialects/marian/good.h", "#include \"dialects/shortlist/any.h\"\n#include \"sources/files/any.h\"\n");
  tree.write("dialects/toolkits/good.h", "#include \"dialects/nn_transformer/any.h\"\n");
  tree.write("cli/good.cc", "#include \"dialects/text/any.h\"\n#include \"sources/files/any.h\"\n");
  EXPECT_EQ(problems(), std::vector<std::string>{});

  tree.write("sources/files/bad.h", "#include \"sources/values/any.h\"\n");
  tree.write("sources/loose.cc", "int x;\n");
  tree.write("dialects/attic/any.cc", "int x;\n");
  tree.write("dialects/config.cc", "#include \"dialects/marian/any.h\"\n#include \"dialects/text/any.h\"\n");
  tree.write("dialects/text/bad.h", "#include \"dialects/shortlist/any.h\"\n#include \"dialects/toolkits/any.h\"\n");
  tree.write("dialects/marian/bad.h", "#include \"dialects/hugging_face/any.h\"\n");
  tree.write("dialects/hugging_face/bad.h", "#include \"dialects/nn_transformer/any.h\"\n");
  tree.write("cli/bad.cc", "#include \"dialects/tutorials/any.h\"\n");
  EXPECT_EQ(problems(), (std::vector<std::string>{
                            "cli/bad.cc includes dialects/tutorials/any.h: only dialects/ may",
                            "dialects/attic/any.cc is in no room of dialects/",
                            "dialects/config.cc includes dialects/marian/any.h: of a family, which is not shared",
                            "dialects/config.cc includes dialects/text/any.h: its room is to the right",
                            "dialects/hugging_face/bad.h includes dialects/nn_transformer/any.h: of another family",
                            "dialects/marian/bad.h includes dialects/hugging_face/any.h: of another family",
                            "dialects/text/bad.h includes dialects/shortlist/any.h: its room is to the right",
                            "dialects/text/bad.h includes dialects/toolkits/any.h: of a family, which is not shared",
                            "sources/files/bad.h includes sources/values/any.h: its room is to the right",
                            "sources/loose.cc is in no room of sources/",
                        }));
}

// Headers of some libraries take the compiler seconds in each file that includes them. Only listed files of the
// converter and of the examples may include them. If a header of ours wraps a library, its own users are listed, too.

// A heavy header and the files that may include it.
struct Door {
  std::string header;              // as in an include; a name that ends with / covers all headers that begin with it
  std::vector<std::string> files;  // sorted
};

const std::vector<Door> kDoors = {
    {"Eigen/", {"converter/math/ordered_sums.h"}},
    {"math/ordered_sums.h",
        {"converter/math/ordered_sums.cc", "converter/reference/frontend.h", "converter/reference/input_products.h",
            "converter/reference/operations.h", "converter/reference/reference.cc"}},
    {"flatbuffers/", {}},
    {"model_generated.h", {"converter/file/format.h"}},
    {"file/format.h",
        {"converter/cli/choose_fine_inputs.cc", "converter/cli/convert_checkpoint.cc",
            "converter/cli/in_memory_model.cc", "converter/cli/write_outputs.cc", "converter/file/activation.h",
            "converter/file/build.cc", "converter/file/fine_inputs.cc", "converter/file/frontend_section.cc",
            "converter/file/metadata.cc", "converter/file/relayout.cc", "converter/file/shortlist_section.cc",
            "converter/file/tokenizer_section.cc", "converter/file/write.cc", "converter/report/work.cc"}},
    {"fmt/", {"converter/spec/format_text.cc"}},
    {"nlohmann/",
        {"converter/sources/values/json_text.cc", "converter/sources/values/write_json.cc", "examples/serve/http.h",
            "examples/serve/options.cc", "examples/serve/wyoming_events.h", "examples/transcribe/transcript.cc"}},
    {"openssl/", {"converter/sources/files/sha256.cc"}},
    {"yaml-cpp/", {"converter/sources/values/yaml_text.cc"}},
    {"zlib.h", {"converter/sources/files/zip_directory.cc", "examples/serve/openai.cc"}},
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
  for (const char* tree : {"converter", "engine/host", "examples"})
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
  const std::vector<Door> doors = {
      {"heavy/", {"converter/math/door.h"}}, {"math/door.h", {"converter/math/door.cc", "examples/bench/user.cc"}}};
  tree.write("converter/math/door.h", "#include <heavy/all.h>\n");
  tree.write("converter/math/door.cc", "#include \"math/door.h\"\n");
  tree.write("engine/host/light.h", "");
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
}}  // namespace goldcrest
