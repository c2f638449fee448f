// SPDX-License-Identifier: Apache-2.0
// Changes of a checkpoint's files, and a folder with them.
#include "fuzz/checkpoints.h"
#include <cctype>
#include "support/checkpoint_writer.h"

namespace goldcrest::test {
namespace {
// Finds a place at or after `from` where a number or a word begins; `end` gets its end.
size_t find_token(const std::string& text, size_t from, size_t& end) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  while (from < text.size() && !is_part(text[from])) ++from;
  for (end = from; end < text.size() && is_part(text[end]);) ++end;
  return from;
}

const char* const kTokens[] = {"0", "1", "-1", "2", "3", "15", "16", "255", "65536", "2147483647", "4294967296",
    "18446744073709551615", "1e39", "0.5", "-0.0", "null", "true", "false", "{}", "[]", "\"\"", "[0]", "F16", "I64",
    "relu", "gelu"};

void change_file(Script& script, const CheckpointFiles& files, std::string& file) {
  const size_t at = (script.below(2) == 0 ? script.half() : script.word()) % (file.size() + 1);
  switch (script.below(9)) {
    case 0:
      if (at < file.size()) file[at] = static_cast<char>(script.byte());
      return;
    case 1: {
      const uint32_t word = script.word();
      if (at + 4 <= file.size()) std::memcpy(file.data() + at, &word, 4);
      return;
    }
    case 2: file.insert(at, script.text()); return;
    case 3: file.erase(at, script.byte()); return;
    case 4:
      if (script.one_in(4)) file.resize(at);
      return;
    case 5: file.insert(at, file.substr(script.half() % (file.size() + 1), script.byte())); return;
    case 6: {
      const std::string& other = std::next(files.begin(), script.below(static_cast<uint32_t>(files.size())))->second;
      file.replace(at, script.byte(), other.substr(script.half() % (other.size() + 1), script.byte()));
      return;
    }
    default: {
      size_t end = 0;
      const size_t begin = find_token(file, at, end);
      const uint32_t which = script.below(static_cast<uint32_t>(std::size(kTokens)) + 1);
      file.replace(begin, end - begin, which < std::size(kTokens) ? kTokens[which] : std::string(script.text()));
    }
  }
}
}  // namespace

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_usual = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-!:", c) != nullptr;
    const bool may_follow = (c == '.' || c == '/') && !name.empty() && name.back() != '/' && name.back() != '.';
    if (is_usual || may_follow) name += c;
  }
  while (name.ends_with('/') || name.ends_with('.')) name.pop_back();
  return name.empty() ? "a" : name;
}

void edit_checkpoint(Script& script, CheckpointFiles& files) {
  for (uint32_t i = 1 + script.below(64); i > 0; --i) {
    const uint8_t which = script.byte();
    auto file =
        which < files.size() ? std::next(files.begin(), which) : files.try_emplace(file_name(script.text())).first;
    const uint32_t choice = script.below(4);
    if (choice == 0) {
      const size_t at = std::min<size_t>(script.half(), file->second.size()), n_erased = script.half();
      const uint16_t n = script.half();
      file->second.replace(at, n_erased, script.text_of(n));
    } else if (choice == 1) {
      file->second.resize(script.half());
    } else {
      std::string content = std::move(file->second);
      files.erase(file);
      if (choice == 2) files[file_name(script.text())] = std::move(content);
    }
    if (files.empty()) return;
  }
}

void change_checkpoint(Script& script, CheckpointFiles& files) {
  if (files.empty()) return;
  const auto file = std::next(files.begin(), script.byte() % static_cast<uint32_t>(files.size()));
  if (files.size() > 1 && script.one_in(32)) files.erase(file);
  else change_file(script, files, file->second);
}

void change_weights(Script& script, CheckpointFiles& files) {
  const auto by_size = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  std::string& file = std::max_element(files.begin(), files.end(), by_size)->second;
  for (uint32_t i = script.below(4); i > 0; --i) {
    const size_t from_end = 1 + script.half() % (file.size() / 4 + 1);
    if (from_end > file.size()) continue;
    char& byte = file[file.size() - from_end];
    byte = static_cast<char>(byte ^ script.below(4));  // low bits, which can be those of a float's exponent
  }
}

CheckpointFiles pack(const CheckpointFiles& files) {
  CheckpointFiles packed;
  for (auto file = files.begin(); file != files.end();) {
    const size_t mark = file->first.find('!');
    if (mark == std::string::npos) {
      packed.insert(*file++);
      continue;
    }
    const std::string zip = file->first.substr(0, mark + 1);
    std::ostringstream stream;
    ZipWriter writer(stream);
    const bool is_deflated = zip.starts_with(kPackage) || zip.starts_with(kCompressed);
    for (; file != files.end() && file->first.starts_with(zip); ++file) {
      std::string name = file->first.substr(mark + 1);
      writer.add(is_deflated ? deflated(std::move(name), file->second) : ZipEntry{std::move(name), file->second});
    }
    writer.finish();
    packed[zip.substr(0, mark)] = stream.str();
  }
  return packed;
}

void write_checkpoint(const CheckpointFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, content] : files) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;  // one file's name can be another's folder
    if (name.find('/') != std::string::npos) std::filesystem::create_directories(path.parent_path(), ignored);
    if (content.starts_with(kLink))
      std::filesystem::create_symlink(file_name(std::string_view(content).substr(kLink.size())), path, ignored);
    else std::ofstream(path, std::ios::binary) << content;
  }
}
}  // namespace goldcrest::test
