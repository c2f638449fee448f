// SPDX-License-Identifier: Apache-2.0
// Measures the engine's flash in a linked firmware: .text and .rodata of its objects in the linker's map, by folder of
// the engine. Fails beyond the limit. If program and board have a budget, also fails at 2 % beyond it.
//
//   flash_bytes LIMIT_BYTES BUDGETS ENGINE_FOLDER PROGRAM BOARD MAP
//
// BUDGETS has lines "PROGRAM BOARD BYTES"; # begins a comment.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {
namespace fs = std::filesystem;
using BytesOf = std::map<std::string, uint64_t>;  // by folder

std::ifstream open_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return file;
}

// Reads the folders of the engine's sources by file name, "init.cc" in "api". Names are unique (link/includes_test.cc).
std::map<std::string, std::string> read_folders(const fs::path& engine) {
  std::map<std::string, std::string> folders;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(engine)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cc") continue;
    folders[path.filename()] = path.parent_path().filename();
  }
  return folders;
}

// Returns "init.cc" for ".../libgoldcrest.a(init.cc.obj)", and nothing for other objects.
std::string engine_source(const std::string& object) {
  const std::string archive = "libgoldcrest.a(";
  const size_t begin = object.rfind(archive);
  if (begin == std::string::npos) return "";
  const size_t from = begin + archive.size();
  return object.substr(from, object.rfind(".o") - from);
}

// Reads the map's lines of linked sections: section, address, size and object. A long section name has its own line.
BytesOf read_map(const std::string& path, const std::map<std::string, std::string>& folders) {
  std::ifstream file = open_text(path);
  std::string line;
  while (std::getline(file, line) && line.find("Linker script and memory map") == std::string::npos) {
  }
  BytesOf bytes;
  std::string section;
  while (std::getline(file, line)) {
    if (line.size() > 1 && line[0] == ' ' && line[1] == '.') {
      section = line.substr(1, line.find(' ', 1) - 1);
      line.erase(0, section.size() + 1);
    }
    std::istringstream words(line);
    std::string address, size, object;
    if (!(words >> address >> size) || !address.starts_with("0x") || !size.starts_with("0x")) continue;
    std::getline(words >> std::ws, object);
    const std::string source = engine_source(object);
    if (source.empty() || !(section.starts_with(".text") || section.starts_with(".rodata"))) continue;
    const auto folder = folders.find(source);
    if (folder == folders.end())
      throw std::runtime_error("the engine does not have exactly one source named " + source);
    bytes[folder->second] += std::stoull(size, nullptr, 16);
  }
  return bytes;
}

std::optional<uint64_t> read_budget(const std::string& path, const std::string& program, const std::string& board) {
  std::ifstream file = open_text(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string of_program, of_board;
    if (!(words >> of_program)) continue;
    uint64_t bytes = 0;
    if (!(words >> of_board >> bytes)) throw std::runtime_error(path + ": not a budget: " + line);
    if (of_program == program && of_board == board) return bytes;
  }
  return std::nullopt;
}

int run(char** argv) {
  const uint64_t limit = std::stoull(argv[1]);
  const std::string program = argv[4], board = argv[5];
  const std::optional<uint64_t> budget = read_budget(argv[2], program, board);
  const BytesOf folders = read_map(argv[6], read_folders(argv[3]));
  uint64_t total = 0;
  std::printf("%s on %s: flash of the engine\n", program.c_str(), board.c_str());
  for (const auto& [folder, bytes] : folders) {
    std::printf("  %-10s %6llu\n", folder.c_str(), static_cast<unsigned long long>(bytes));
    total += bytes;
  }
  std::printf("  %-10s %6llu bytes, at most %llu", "all", static_cast<unsigned long long>(total),
      static_cast<unsigned long long>(limit));
  if (budget) std::printf(", budget %llu", static_cast<unsigned long long>(*budget));
  std::printf("%s\n", budget ? "" : ", no budget");
  if (total == 0) throw std::runtime_error(std::string(argv[6]) + ": nothing of the engine is linked");
  if (total > limit || (budget && total * 100 > *budget * 102))
    throw std::runtime_error("the engine has grown; find what did, or say why in the budgets");
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: flash_bytes LIMIT_BYTES BUDGETS ENGINE_FOLDER PROGRAM BOARD MAP\n");
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flash_bytes: %s\n", error.what());
    return 1;
  }
}
