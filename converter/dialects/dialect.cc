// SPDX-License-Identifier: Apache-2.0
// Opens a checkpoint by the way that recognises it, and lists the families of all ways.
#include "dialects/dialect.h"
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include "dialects/ctranslate2/ctranslate2.h"
#include "dialects/marian/marian_native.h"
#include "dialects/text/subword_text.h"
#include "dialects/toolkits/toolkit.h"
#include "dialects/way_in.h"
#include "host/printable.h"
#include "sources/files/input_file.h"
#include "sources/files/sha256.h"
#include "sources/sniffing/peek.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"
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
    if (colon != std::string::npos && line[0] != ' ' && line[0] != '-')
      values[line.substr(0, colon)] = trimmed(line.substr(colon + 2));
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
      "the checkpoint's {} has control characters, bytes that are not UTF-8 or more than {} bytes; the file has \"{}\"",
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

namespace {
// In the order of --list. A config.json may stand next to any checkpoint, so the last that recognises one opens it.
constexpr const WayIn* kWaysIn[] = {&kConfigWay, &kMarianNativeWay, &kCTranslate2Way, &kToolkitWay};

const WayIn& way_of(KindId kind) {
  return **std::find_if(
      std::rbegin(kWaysIn), std::rend(kWaysIn), [&](const WayIn* way) { return way->recognises(kind); });
}

void describe_source(const Checkpoint& checkpoint, const char* dialect, ModelSpec& spec) {
  spec.dialect = dialect;
  std::vector<std::filesystem::path> hashed = checkpoint.tensors->files();
  hashed.insert(hashed.end(), spec.tokenizer_files.begin(), spec.tokenizer_files.end());
  spec.checkpoint_sha256 = sha256_of_files(hashed);
  fill_provenance(checkpoint, spec);
}

// Warns of files next to the model that cut or change texts, if no such file was read.
void warn_of_unread(const std::filesystem::path& path, const std::filesystem::path& directory, ModelSpec& spec) {
  const std::filesystem::path type = path.extension();
  if (type == ".argosmodel" || type == ".zip") return;  // other models' files may be in the package's folder
  std::vector<std::string> read;
  for (const std::filesystem::path& file : spec.tokenizer_files) read.push_back(file.filename().string());
  const auto cuts = [](const std::string& name) {
    return is_pieces_name(name) || is_codes_name(name) || name == "tokenizer.json" || name == "merges.txt";
  };
  const bool has_cutter = std::ranges::any_of(read, cuts);  // others are other forms of it
  for (const std::string& name : names_in(directory)) {
    const bool is_unread = std::ranges::find(read, name) == read.end();
    if (is_unread && name.ends_with(".tcmodel")) {
      spec.warnings.push_back(format_text(
          "{}: is not read: Moses's truecaser goes over the model's texts before them, and Goldcrest has none",
          (directory / name).string()));
    } else if (is_unread && !has_cutter && (is_pieces_name(name) || is_codes_name(name))) {
      spec.warnings.push_back(
          format_text("{}: is not read: if it cuts the model's texts into pieces, give it the name that the model's "
                      "page in converter/README.md has",
              (directory / name).string()));
    }
  }
}

// Returns the checkpoint at a path: for the folder of a model in Hugging Face's cache its snapshot. Throws Error naming
// what the path has if that is never a checkpoint.
std::filesystem::path checkpoint_at(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    if (sniff_file(path).kind != KindId::kUnknown) return path;
    const std::string head = Peek(path).text(0, 512);
    const bool is_sound = head.starts_with("RIFF") || head.starts_with("fLaC") || head.starts_with("OggS");
    const bool is_text = !head.empty() && head[0] != '{' && head.find('\0') == head.npos &&
                         valid_utf8_prefix(head) + 4 > head.size() && path.extension() != ".json";
    if (is_sound || is_text) {
      throw Error("{}: is {}, not weights; expected a checkpoint's directory or its weight file", path.string(),
          is_sound ? "sound" : "text");
    }
    return path;
  }
  if (std::filesystem::exists(path / "adapter_config.json", error) &&
      !std::filesystem::exists(path / "config.json", error)) {
    throw Error(
        "{}: is an adapter (adapter_config.json) without the model's own weights: merge the adapter first, with "
        "merge_and_unload() and save_pretrained() of peft",
        path.string());
  }
  const std::filesystem::path snapshots = path / "snapshots";
  if (!std::filesystem::is_directory(snapshots, error)) return path;
  const std::vector<std::string> names = names_in(snapshots);
  const std::string main = Peek(path / "refs" / "main").text(0, 64);
  if (std::ranges::find(names, main) != names.end()) return snapshots / main;
  if (names.size() == 1) return snapshots / names[0];
  throw Error("{}: has {} snapshots; give the folder of one", snapshots.string(), names.size());
}

std::string row(const std::string& family, const std::string& verdict, const std::string& from) {
  return format_text("\n| {} | {} | {} |", family, verdict, from);
}

// Removes Markdown: [text](page) becomes "text (page)", `code` loses its quotes.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '`' || c == '[' || (c == '(' && result.ends_with('('))) continue;
    if (c == ']') result += " (";
    else result += c;
  }
  return result;
}

// Breaks a text into lines of at most `columns`, each after `indent` spaces. A longer word has its own line.
std::string wrapped(const std::string& text, size_t indent, size_t columns) {
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > columns)
      lines += std::string(indent, ' ') + std::exchange(line, "") + '\n';
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + std::string(indent, ' ') + line + '\n';
}
}  // namespace

std::filesystem::path directory_of(const std::filesystem::path& checkpoint) {
  std::error_code error;
  const auto status = std::filesystem::status(checkpoint, error);
  if (!std::filesystem::exists(status)) {
    const std::string given = checkpoint.string(), hub = "https://huggingface.co/";
    const std::string name = given.substr(given.starts_with(hub) ? hub.size() : 0);
    const bool may_be_hub = std::ranges::count(name, '/') == 1 && name.find_first_of("./~") == name.find('/');
    throw Error("{}: no such file or directory; expected a checkpoint's directory or its weight file{}", given,
        may_be_hub ? "; a model of Hugging Face is downloaded with: hf download " + name + " --local-dir model" : "");
  }
  if (std::filesystem::is_directory(status)) return checkpoint;
  const std::filesystem::path directory = checkpoint.parent_path();
  return directory.empty() ? "." : directory;
}

std::unique_ptr<TensorSource> counted(std::unique_ptr<TensorSource> tensors, const LoadOptions& options) {
  return options.progress ? count_loads(std::move(tensors), options.progress) : std::move(tensors);
}

std::string list_families() {
  std::string text = "| family | | from |\n|---|---|---|";
  for (const WayIn* way : kWaysIn)
    for (const ListedFamily& listed : way->listed()) text += row(listed.family, "yes", listed.from);
  return text + row(refused_families(), "no", "refused by name");
}

std::string list_families(size_t columns) {
  std::string text = "converted\n";
  for (const WayIn* way : kWaysIn)
    for (const ListedFamily& listed : way->listed())
      text += wrapped(plain(listed.family), 2, columns) + wrapped(plain(listed.from), 6, columns);
  text += "refused by name\n" + wrapped(refused_families(), 2, columns);
  text.pop_back();  // the program ends it
  return text;
}

bool tells_its_settings(KindId kind) { return &way_of(kind) != &kConfigWay; }

ModelSpec load_checkpoint(const std::filesystem::path& given, const LoadOptions& options) {
  const std::filesystem::path path = checkpoint_at(given), directory = directory_of(path);
  const Sniffed sniffed = sniff(path);
  if (sniffed.use == Use::kRefused) throw Error("{}", sniffed.text());
  if (options.choices.max_positions != 0 && tells_its_settings(sniffed.kind))
    throw Error("--max-positions is for models without a last position (T5); {}", sniffed.text());
  OpenedCheckpoint opened = way_of(sniffed.kind).open({path, directory, options, sniffed});
  opened.checkpoint.choices = options.choices;
  ModelSpec spec = opened.load(opened.checkpoint);
  describe_source(opened.checkpoint, opened.dialect, spec);
  warn_of_unread(path, opened.checkpoint.directory, spec);
  return spec;
}
}  // namespace goldcrest::converter
