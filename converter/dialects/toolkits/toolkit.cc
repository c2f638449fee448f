// SPDX-License-Identifier: Apache-2.0
#include "dialects/toolkits/toolkit.h"
#include <algorithm>
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/text/subword_text.h"
#include "host/wording.h"
#include "sources/sniffing/sniff.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
namespace fs = std::filesystem;

// Reads the config.json that the user gave, or the one next to the checkpoint.
Value given_settings(const Toolkit& toolkit, const fs::path& checkpoint, const fs::path& given) {
  std::error_code error;
  fs::path path = given.empty() ? checkpoint.parent_path() : given;
  if (given.empty() || fs::is_directory(path, error)) path /= "config.json";
  if (given.empty() && !fs::exists(path, error)) return Value::map();
  Value settings = read_json_object(path);
  const Config config(settings, path.string(), path);
  const std::string model_type = config.text_or("model_type", toolkit.model_type);
  if (model_type != toolkit.model_type) {
    throw Error("{} is {}, but {}: expected {}", config.where("model_type"), in_quotes(model_type),
        kind_of_id(toolkit.kind).description, in_quotes(toolkit.model_type));
  }
  return settings;
}

Value saved_in(const TensorSource& tensors) {
  const Value settings = tensors.settings();
  return settings.is_map() ? settings : Value::map();
}

// Sets the unit of both sides, and the file that it needs under the setting `key`.
void set_unit(const char* unit, const char* key, const std::pair<std::string, std::string>& files, Value& settings) {
  settings["source_unit"] = settings["target_unit"] = unit;
  settings[std::string("source_") + key] = files.first;
  settings[std::string("target_") + key] = files.second;
}

// Finds the files next to the checkpoint that cut its texts.
void find_pieces(const fs::path& file, ToolkitModel& model) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::vector<std::string> pieces, codes;
  for (const std::string& name : names_in(folder)) {
    if (is_pieces_name(name)) pieces.push_back(name);
    if (is_codes_name(name)) codes.push_back(name);
  }
  const std::string where = folder.string();
  const auto pieces_of = source_and_target_files(pieces, "SentencePiece models cuts", where);
  const auto codes_of = source_and_target_files(codes, "files of subword-nmt's merges cut", where);
  if (pieces_of) {
    set_unit("sentencepiece", "sentencepiece", {pieces[pieces_of->first], pieces[pieces_of->second]}, model.settings);
  } else if (codes_of) {
    set_unit("subword", "codes", {codes[codes_of->first], codes[codes_of->second]}, model.settings);
  } else {
    model.settings["source_unit"] = model.settings["target_unit"] = "word";
    model.warnings.push_back(
        words_warning(file.string(), model.vocabularies.empty() ? "its vocabulary" : model.vocabularies[0].string()));
  }
}

// Limits max_length to the positions that exist; the usual length may need more.
void bound_length(Value& settings) {
  for (const char* key : {"decoder_max_positions", "max_positions"}) {
    const auto positions = settings.find(key);
    if (positions == nullptr || !positions->is_natural()) continue;
    settings["max_length"] = std::min(settings["max_length"].natural(), positions->natural());
    return;
  }
}

std::string shown_value(const Value& value) {
  if (value.is_text()) return in_quotes(value.text());
  return value.is_list() || value.is_map() ? std::string("a JSON ") + value.type_name() : write_json(value);
}

std::string one_of(const Value& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : " or ") + write_json(value);
  return text.empty() ? "none" : text;
}

// `given` is a config.json or its folder, whose settings override the checkpoint's own; empty: the one next to the
// checkpoint, if there is one. SentencePiece models or merges next to the checkpoint become settings.
ToolkitModel read_toolkit(
    const Toolkit& toolkit, const std::shared_ptr<const TensorSource>& tensors, const fs::path& given) {
  const fs::path file = tensors->files()[0];
  TensorReader reader(tensors);
  const SavedModel saved{file, saved_in(*tensors), given_settings(toolkit, file, given), reader};
  ToolkitModel model = toolkit.read(saved);
  if (!saved.given.contains("source_unit")) find_pieces(file, model);
  update(model.settings, saved.given);
  if (!saved.given.contains("max_length")) bound_length(model.settings);
  return model;
}

OpenedCheckpoint open_toolkit(const LoadRequest& request) {
  const Toolkit& toolkit = *toolkit_of(request.sniffed.kind);
  const std::shared_ptr<const TensorSource> tensors = counted(open_tensors(request.path), request.options);
  const fs::path file = tensors->files()[0];
  ToolkitModel model = read_toolkit(toolkit, tensors, request.options.config);
  Checkpoint checkpoint{request.directory, Config(std::move(model.settings), file.string(), file), tensors};
  checkpoint.config.find("model_type");  // marks it as read
  const auto load = [file, model = std::move(model)](const Checkpoint& opened) {
    ModelSpec spec = load_named(opened, model.names);
    std::erase(spec.tokenizer_files, file);  // it may have the vocabularies, and is hashed already
    spec.tokenizer_files.insert(spec.tokenizer_files.end(), model.vocabularies.begin(), model.vocabularies.end());
    spec.warnings.insert(spec.warnings.end(), model.warnings.begin(), model.warnings.end());
    return spec;
  };
  return {std::move(checkpoint), toolkit.model_type, load};
}
}  // namespace

const Toolkit* toolkit_of(KindId kind) {
  for (const Toolkit* toolkit : {&kFairseqToolkit, &kOpenNmtPyToolkit})
    if (kind == toolkit->kind) return toolkit;
  return nullptr;
}

const WayIn kToolkitWay = {[](KindId kind) { return toolkit_of(kind) != nullptr; }, open_toolkit,
    [] {
      return std::vector<ListedFamily>{kFairseqToolkit.listed, kOpenNmtPyToolkit.listed};
    }};

void check_options(const Config& options, std::span<const AllowedOption> allowed) {
  for (const AllowedOption& option : allowed) {
    const Value* const found = options.find(option.key);
    const Value values = parse_json(option.values, kSettingsDepth, option.key);
    if (found == nullptr || std::find(values.begin(), values.end(), *found) != values.end()) continue;
    const std::string why = option.why;
    throw Error("{} is {}, expected {}{}", options.where(option.key), shown_value(*found), one_of(values),
        why.empty() ? "" : ": " + why);
  }
}
}  // namespace goldcrest::converter
