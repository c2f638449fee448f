// SPDX-License-Identifier: Apache-2.0
// Fills in name, licence and attribution from the checkpoint's own metadata.
#include "dialects/provenance.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "host/printable.h"
#include "sources/files/input_file.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

std::string trimmed(std::string text) {
  const auto is_filler = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\''; };
  while (!text.empty() && is_filler(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_filler));
  return text;
}

// Returns the plain "key: value" lines between the first two "---" of a README.md.
std::map<std::string, std::string> front_matter(const std::filesystem::path& readme) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  std::map<std::string, std::string> values;
  std::error_code error;
  if (!std::filesystem::is_regular_file(readme, error)) return values;
  const InputFile file(readme);
  std::istringstream lines(file.text(0, std::min(file.size(), kMaxBytes)));
  std::string line;
  if (!std::getline(lines, line) || trimmed(line) != "---") return values;
  while (std::getline(lines, line) && trimmed(line) != "---") {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && line[0] != ' ' && line[0] != '-') {
      values[line.substr(0, colon)] = trimmed(line.substr(colon + 2));
    }
  }
  return values;
}

// A folder models--OWNER--NAME/snapshots/HASH of the Hugging Face cache gives OWNER/NAME; any other folder gives its
// own name.
std::string folder_name(const std::filesystem::path& directory) {
  std::filesystem::path folder = std::filesystem::absolute(directory).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  const std::filesystem::path repository = folder.parent_path().parent_path().filename();
  if (folder.parent_path().filename() == "snapshots" && repository.string().starts_with("models--")) {
    std::string name = repository.string().substr(std::string("models--").size());
    for (size_t at; (at = name.find("--")) != std::string::npos;) name.replace(at, 2, 1, '/');
    return name;
  }
  return folder.filename().string();
}

// Other programs print a file's metadata, so this removes all that could harm a terminal.
void clean(const char* field, std::string& text, std::vector<std::string>& warnings) {
  const std::string cleaned = clean_metadata(text);
  if (cleaned == text) return;
  warnings.push_back(format_text(
      "the checkpoint's {} has control characters, bytes that are not UTF-8 or more than {} bytes; the file "
      "has \"{}\"",
      field, kMaxMetadataBytes, cleaned));
  text = cleaned;
}

}  // namespace

void fill_provenance(const Checkpoint& checkpoint, ModelSpec& spec) {
  const Config& config = checkpoint.config;
  const std::string recorded = config.text_or("_name_or_path", "");
  const bool is_path =
      recorded.empty() || recorded.find_first_of("/.") == 0 || recorded.find('\\') != std::string::npos;
  spec.name = config.text_or("name", is_path ? folder_name(checkpoint.directory) : recorded);
  std::map<std::string, std::string> card = front_matter(checkpoint.directory / "README.md");
  const std::string card_license =
      card["license"] == "other" && card.contains("license_name") ? card["license_name"] : card["license"];
  spec.license = config.text_or("license", card_license);
  spec.attribution = config.text_or("attribution", card["attribution"]);
  clean("name", spec.name, spec.warnings);
  clean("license", spec.license, spec.warnings);
  clean("attribution", spec.attribution, spec.warnings);
  clean("source language", spec.source_language, spec.warnings);
  clean("target language", spec.target_language, spec.warnings);
}

}  // namespace goldcrest::converter
