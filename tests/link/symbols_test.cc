// SPDX-License-Identifier: Apache-2.0
// The engine's objects need only four functions of the C library, and all their data is constant (no heap, no
// libstdc++, no libm, no constructors).
#include <cctype>
#include "support/test.h"

namespace goldcrest { namespace {
std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
    std::string line = buffer;
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    lines.push_back(line);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return lines;
}

// The symbols that a library's object defines and needs, and its sections' sizes.
struct Object {
  std::set<std::string> undefined, defined;
  std::set<std::string> exported;  // defined and visible to other objects, weak symbols included
  std::map<std::string, size_t> sections;
};

// "member.o:" begins an object in nm's list, "member.o:     file format elf64-x86-64" in objdump's.
std::map<std::string, Object> objects_of(const std::string& library) {
  std::map<std::string, Object> objects;
  Object* object = nullptr;
  for (const std::string& line : lines_of(GOLDCREST_NM " '" + library + "'")) {
    if (line.ends_with(".o:")) object = &objects[line.substr(0, line.size() - 1)];
    if (object == nullptr || line.ends_with(":") || line.empty()) continue;
    std::istringstream words(line[0] == ' ' ? line : line.substr(line.find(' ')));
    std::string kind, name;
    words >> kind >> name;
    (kind == "U" || kind == "w" ? object->undefined : object->defined).insert(name);
    if (kind != "U" && std::isupper(static_cast<unsigned char>(kind[0]))) object->exported.insert(name);
  }
  object = nullptr;
  for (const std::string& line : lines_of(GOLDCREST_OBJDUMP " -h '" + library + "'")) {
    const size_t end = line.find(".o: ");
    if (end != std::string::npos) object = &objects[line.substr(0, end + 2)];
    std::istringstream words(line);
    size_t index = 0;
    std::string name, bytes;
    if (object != nullptr && words >> index >> name >> bytes) object->sections[name] += std::stoul(bytes, nullptr, 16);
  }
  return objects;
}

// The linker fills in the constants of some sections; after that they are read-only.
bool is_forbidden_section(const std::string& name) {
  if (name.starts_with(".data.rel.ro")) return false;
  for (const char* prefix : {".data", ".bss", ".tdata", ".tbss", ".init_array", ".ctors", ".fini_array", ".dtors"})
    if (name == prefix || name.starts_with(std::string(prefix) + ".")) return true;
  return false;
}

// Functions that the compiler itself calls: 64-bit division, float conversions (libgcc, compiler-rt), stack protector,
// trailing zeros where the CPU may lack an instruction for them (RISC-V).
bool is_compiler_helper(const std::string& name) {
  return name.starts_with("__aeabi_") || name == "__stack_chk_fail" || name == "_GLOBAL_OFFSET_TABLE_" ||
         name == "__udivdi3" || name == "__divdi3" || name == "__umoddi3" || name == "__muldi3" || name == "__ctzdi2";
}

std::vector<std::string> problems_of(const std::map<std::string, Object>& objects) {
  std::set<std::string> defined;
  for (const auto& [file, object] : objects) defined.insert(object.defined.begin(), object.defined.end());
  std::vector<std::string> problems;
  for (const auto& [file, object] : objects) {
    std::set<std::string> allowed = {"memcpy", "memmove", "memset", "memcmp"};
    if (file == "avx512vnni.cc.o") allowed.insert({"__cpu_model", "__cpu_features2"});  // names from libgcc
    if (file ==
        "select_runtime.cc.o") {  // libgcc and the kernel tell what the CPU has, if there is an operating system
      allowed.insert({"getenv", "strcmp", "getauxval", "__cpu_model", "__cpu_features2", "__cpu_indicator_init"});
      allowed.insert({"sched_getaffinity", "open", "open64", "read", "close", "strchr"});  // 64-bit Arm
    }
    for (const std::string& name : object.undefined) {
      if (defined.contains(name) || allowed.contains(name) || is_compiler_helper(name)) continue;
      problems.push_back(file + " needs " + name);
    }
    for (const auto& [name, bytes] : object.sections)
      if (is_forbidden_section(name) && bytes > 0) problems.push_back(file + " has " + name);
  }
  return problems;
}

TEST(Symbols, TheEngineNeedsFourFunctionsAndHasNoVariables) {
  const std::map<std::string, Object> objects = objects_of(GOLDCREST_LIBRARY);
  std::set<std::string> defined;
  for (const auto& [file, object] : objects) defined.insert(object.defined.begin(), object.defined.end());
  ASSERT_GE(defined.size(), 20u);
  EXPECT_TRUE(defined.contains("goldcrest_init"));
  ASSERT_TRUE(objects.contains("select_runtime.cc.o"));
  EXPECT_TRUE(objects.at("select_runtime.cc.o").undefined.contains("getenv")) << "nm's list was misread";
  for (const std::string& problem : problems_of(objects)) ADD_FAILURE() << problem;
}

TEST(Symbols, WhatIsForbiddenIsFound) {
  const std::vector<std::string> problems = problems_of(objects_of(GOLDCREST_BAD_LIBRARY));
  const auto found = [&](const std::string& part) {
    for (const std::string& problem : problems)
      if (problem.find(part) != std::string::npos) return true;
    return false;
  };
  for (const char* part : {"needs malloc", "needs powf", "needs _Zn", "has .data", "has .bss", "has .init_array"})
    EXPECT_TRUE(found(part)) << part;
}

// The object of a kernel table exports only the table, or two for the same instructions. Otherwise the linker could
// keep an inline function that was compiled for one CPU as the copy for all.
TEST(Symbols, AKernelFileExportsItsTableAlone) {
  int n_tables = 0;
  const std::map<std::string, Object> objects = objects_of(GOLDCREST_LIBRARY);
  for (const char* room : {"x86", "arm", "cortexm", "riscv", "wasm"}) {
    for (const auto& entry :
        std::filesystem::directory_iterator(GOLDCREST_SOURCE_DIR "/engine/kernels/" + std::string(room))) {
      const auto object = objects.find(entry.path().filename().string() + ".o");
      if (object == objects.end()) continue;  // a header, or a source of another machine
      ++n_tables;
      const std::set<std::string>& exported = object->second.exported;
      const std::string stem = entry.path().stem().string(), table = std::string("kernels_") + room + "_" + stem;
      EXPECT_EQ(exported.size(), stem == "avx512vnni" ? 2u : 1u) << object->first;
      for (const std::string& symbol : exported) EXPECT_NE(symbol.find(table), std::string::npos) << symbol;
    }
  }
  if (n_tables == 0) {
    GTEST_SKIP() << "this build has only the reference";
  }
}
}}  // namespace goldcrest
