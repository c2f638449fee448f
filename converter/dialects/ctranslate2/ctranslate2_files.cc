// SPDX-License-Identifier: Apache-2.0
// The files of a CTranslate2 model: a folder, or a package of Argos Translate (argostranslate/package.py).
#include "dialects/ctranslate2/ctranslate2.h"
#include "sources/files/input_file.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
namespace fs = std::filesystem;

constexpr const char* kWeights = "model.bin";
constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

CTranslate2Files files_in_zip(const fs::path& zip) {
  const std::string end = std::string("model/") + kWeights;
  for (const ZipMember& member : read_zip_directory(InputFile(zip))) {
    if (member.name != end && !member.name.ends_with("/" + end)) continue;
    const std::string package = member.name.substr(0, member.name.size() - end.size());
    return {InputFolder(zip, package + "model/"), kWeights, InputFolder(zip, package)};
  }
  throw Error("{}: has no model/{}, which a package of Argos Translate has", zip.string(), kWeights);
}

// Replaces settings by those of config.json that have the same key.
void update(Value& settings, const std::string& text, const std::string& where) {
  const Value own = parse_json(text, 4, where);
  if (!own.is_map()) throw Error("{}: found a JSON {}, expected an object", where, own.type_name());
  update(settings, own);
}

// The settings of models before binary version 6 (src/models/sequence_to_sequence.cc, initialize).
Value settings_in(const Config& scalars) {
  const auto flag = [&](const char* key, uint32_t usual) { return scalars.count_or(key, usual, 0, 1) != 0; };
  const std::string bos = scalars.text_or("bos_token", "<s>"), eos = scalars.text_or("eos_token", "</s>");
  Value settings = {{"unk_token", scalars.text_or("unk_token", "<unk>")}, {"bos_token", bos}, {"eos_token", eos},
      {"add_source_bos", flag("with_source_bos", 0)}, {"add_source_eos", flag("with_source_eos", 0)},
      {"decoder_start_token", flag("with_target_bos", 1) ? bos : eos}};
  if (flag("user_decoder_start_tokens", 0)) settings["decoder_start_token"] = nullptr;
  return settings;
}
}  // namespace

CTranslate2Files find_ctranslate2_files(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && InputFile(path).text(0, 2) == "PK") return files_in_zip(path);
  fs::path folder = is_folder ? path : path.parent_path();
  if (folder.empty()) folder = ".";
  const std::string weights = is_folder ? kWeights : path.filename().string();
  if (!is_there(folder / weights) && is_there(folder / "model" / weights))
    return {InputFolder(folder / "model"), weights, InputFolder(folder)};
  CTranslate2Files files{InputFolder(folder), weights, std::nullopt};
  const fs::path above = fs::absolute(folder).lexically_normal().parent_path();
  if (folder.filename() == "model" && is_there(folder / ".." / "metadata.json")) files.package.emplace(above);
  return files;
}

Config ctranslate2_scalars(const TensorSource& tensors) {
  const std::string file = tensors.file("").string();
  // Through JSON, which replaces bytes that are not UTF-8, and makes infinities null.
  return Config(parse_json(write_json(tensors.settings()), 1, file), file, file);
}

Config ctranslate2_config(const CTranslate2Files& files, const TensorSource& tensors, const fs::path& given) {
  constexpr uint32_t kFirstWithConfig = 6;
  const Config scalars = ctranslate2_scalars(tensors);
  const bool is_old = scalars.count("binary_version", 0, UINT32_MAX) < kFirstWithConfig;
  Value settings = is_old ? settings_in(scalars) : Value::map();
  fs::path path = files.model.where("config.json");
  if (!given.empty()) {
    std::error_code error;
    path = fs::is_directory(given, error) ? given / "config.json" : given;
    update(settings, read_small_file(path, kMaxConfigBytes), path.string());
  } else if (files.model.has("config.json")) {
    update(settings, files.model.read("config.json", kMaxConfigBytes), path.string());
  } else if (!is_old) {
    throw Error(
        "{}: is missing; it tells the model's special tokens: copy it from where the model came from", path.string());
  }
  // A zip's contents have no folder that could name the model.
  if (files.model.is_zip() && !settings.contains("name")) settings["name"] = files.model.path().stem().string();
  return Config(std::move(settings), path.string(), path);
}
}  // namespace goldcrest::converter
