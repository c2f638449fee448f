// SPDX-License-Identifier: Apache-2.0
// Opens a checkpoint and hands it to the dialect of its container, or to the one that its config.json names.
#include "dialects/dialect.h"

#include <algorithm>

#include "dialects/ctranslate2.h"
#include "dialects/provenance.h"
#include "dialects/shape.h"
#include "sources/json_text.h"
#include "sources/messages.h"
#include "sources/sha256.h"
#include "sources/sniff.h"
#include "sources/yaml_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

struct Dialect {
  const char* model_type;
  const char* description;
  ModelSpec (*load)(const Checkpoint&);
  std::vector<ShapedTensor> (*tensors)(const Config&);
  void (*name_tensors)(nlohmann::json&);  // null: the names are always the same
};

constexpr Dialect kDialects[] = {
    {"marian", "Hugging Face Marian, OPUS-MT", load_marian, marian_tensors, nullptr},
    {"nn_transformer", "PyTorch nn.Transformer", load_nn_transformer, nn_transformer_tensors,
     name_nn_transformer_tensors},
};

std::string supported() {
  std::string text;
  for (const Dialect& dialect : kDialects) {
    text += fmt::format("{}\"{}\" ({})", text.empty() ? "" : ", ", dialect.model_type, dialect.description);
  }
  return text;
}

std::filesystem::path directory_of(const std::filesystem::path& checkpoint) {
  std::error_code error;
  const auto status = std::filesystem::status(checkpoint, error);
  if (!std::filesystem::exists(status)) {
    throw Error("{}: no such file or directory; expected a checkpoint's directory or its weight file",
                checkpoint.string());
  }
  if (std::filesystem::is_directory(status)) return checkpoint;
  const std::filesystem::path directory = checkpoint.parent_path();
  return directory.empty() ? "." : directory;
}

std::filesystem::path config_path_of(const std::filesystem::path& directory, const std::filesystem::path& given) {
  std::error_code error;
  if (given.empty()) return directory / "config.json";
  return std::filesystem::is_directory(given, error) ? given / "config.json" : given;
}

// Why there is no config.json to read, and how to come to one.
Error missing_config(const std::filesystem::path& config, const std::filesystem::path& checkpoint,
                     const Sniffed& sniffed) {
  if (sniffed.use == Use::kOtherFamily || sniffed.use == Use::kNoWeights) return Error("{}", sniffed.text());
  if (sniffed.what == kMarianTensors.what) {
    return Error(
        "{}: is missing; it tells what the weights of this Marian model cannot. Download it from where they came from, "
        "with generation_config.json, tokenizer_config.json, vocab.json, source.spm and target.spm",
        config.string());
  }
  if (sniffed.what == kNnTransformer.what) {
    return Error(
        "{}: is missing; it tells what the weights of this nn.Transformer cannot. `goldcrest-convert --print-config "
        "{}` begins one (converter/dialects/NN_TRANSFORMER.md lists its settings)",
        config.string(), checkpoint.string());
  }
  return Error(
      "{}: is missing; it tells what the weights cannot. Download it with the checkpoint, or write it for a "
      "PyTorch nn.Transformer (converter/dialects/NN_TRANSFORMER.md lists its settings)",
      config.string());
}

// What else is known of a model_type that no dialect has.
std::string known_of(const std::string& model_type) {
  const Kind* const family = family_of_type(model_type);
  return family == nullptr ? "" : fmt::format("; {}; {}", family->what, family->advice);
}

// The dialect that config.json names.
const Dialect& dialect_of(const Config& config) {
  const std::string model_type = config.text_or("model_type", "");
  const auto* const dialect = std::find_if(std::begin(kDialects), std::end(kDialects),
                                           [&](const Dialect& d) { return d.model_type == model_type; });
  if (dialect == std::end(kDialects)) {
    throw Error("{} is {}, which is not supported; supported: {}{}", config.where("model_type"),
                model_type.empty() ? "missing" : in_quotes(model_type), supported(), known_of(model_type));
  }
  return *dialect;
}

std::unique_ptr<TensorSource> counted(std::unique_ptr<TensorSource> tensors, const LoadOptions& options) {
  return options.progress ? count_loads(std::move(tensors), options.progress) : std::move(tensors);
}

void describe_source(const Checkpoint& checkpoint, const char* dialect, ModelSpec& spec) {
  spec.dialect = dialect;
  std::vector<std::filesystem::path> hashed = checkpoint.tensors->files();
  hashed.insert(hashed.end(), spec.tokenizer_files.begin(), spec.tokenizer_files.end());
  spec.checkpoint_sha256 = sha256_of_files(hashed);
  fill_provenance(checkpoint, spec);
}

// Marian's own model: its settings are in it.
ModelSpec load_native(const std::filesystem::path& path, const LoadOptions& options) {
  std::unique_ptr<TensorSource> tensors = counted(open_tensors(path), options);
  const std::filesystem::path file = tensors->files()[0];
  if (tensors->settings().empty()) {
    throw Error("{}: has no special:model.yml, which tells the graph of its weights", file.string());
  }
  const std::string where = file.string() + ": special:model.yml";
  const Checkpoint checkpoint{directory_of(path), Config(parse_yaml_settings(tensors->settings(), where), where, file),
                              std::move(tensors), false, options.config};
  ModelSpec spec = load_marian_native(checkpoint);
  describe_source(checkpoint, "marian_native", spec);
  return spec;
}

// CTranslate2's model, whose config.json tells the special tokens alone.
ModelSpec load_ctranslate2_files(const std::filesystem::path& path, const LoadOptions& options) {
  const CTranslate2Files files = find_ctranslate2_files(path);
  std::unique_ptr<TensorSource> tensors = counted(open_ctranslate2(files.model.open(files.weights)), options);
  Config config = ctranslate2_config(files, *tensors, options.config);
  const std::filesystem::path& named = files.package ? files.package->path() : files.model.path();
  const Checkpoint checkpoint{named, std::move(config), std::move(tensors)};
  ModelSpec spec = load_ctranslate2(checkpoint, files);
  describe_source(checkpoint, "ctranslate2", spec);
  return spec;
}

}  // namespace

ModelSpec load_checkpoint(const std::filesystem::path& path, const LoadOptions& options) {
  const std::filesystem::path directory = directory_of(path);
  const Sniffed sniffed = sniff(path);
  if (sniffed.use == Use::kRefused) throw Error("{}", sniffed.text());
  if (is_marian_native(sniffed)) return load_native(path, options);
  if (is_ctranslate2(sniffed)) return load_ctranslate2_files(path, options);
  const std::filesystem::path config_path = config_path_of(directory, options.config);
  std::error_code error;
  if (!std::filesystem::exists(config_path, error) && !std::filesystem::is_symlink(config_path, error)) {
    throw missing_config(config_path, path, sniffed);
  }
  Checkpoint checkpoint{directory, Config(config_path), nullptr};
  const Dialect& dialect = dialect_of(checkpoint.config);
  checkpoint.tensors = counted(open_tensors(path), options);
  ModelSpec spec = dialect.load(checkpoint);
  describe_source(checkpoint, dialect.model_type, spec);
  return spec;
}

ModelSpec load_shape(const std::filesystem::path& path, uint64_t most) {
  const std::filesystem::path directory = directory_of(path);
  const std::filesystem::path config_path = config_path_of(directory, path);
  nlohmann::json settings = read_json_object(config_path);
  const Dialect& dialect = dialect_of(Config(settings, config_path.string(), config_path));
  if (dialect.name_tensors != nullptr) dialect.name_tensors(settings);
  Checkpoint checkpoint{directory, Config(std::move(settings), config_path.string(), config_path), nullptr, true};
  checkpoint.tensors = shape_tensors(dialect.tensors(checkpoint.config), config_path, most);
  checkpoint.config.find("model_type");  // is known
  ModelSpec spec = dialect.load(checkpoint);
  spec.dialect = dialect.model_type;
  spec.checkpoint_sha256 = std::string(64, '0');  // as long as that of weights
  fill_provenance(checkpoint, spec);
  return spec;
}

}  // namespace goldcrest::converter
