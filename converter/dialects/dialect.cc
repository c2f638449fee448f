// SPDX-License-Identifier: Apache-2.0
// Opens a checkpoint and hands it to the dialect of its container, or to the one that its config.json names.
#include "dialects/dialect.h"

#include <algorithm>

#include "dialects/ctranslate2/ctranslate2.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/provenance.h"
#include "dialects/shape.h"
#include "dialects/toolkits/toolkit.h"
#include "dialects/tutorials/tutorial.h"
#include "sources/files/sha256.h"
#include "sources/messages/messages.h"
#include "sources/sniffing/sniff.h"
#include "sources/values/json_text.h"
#include "sources/values/yaml_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// A row of --list.
struct Listed {
  const char *family, *from;
};

constexpr const char* kTutorialsFrom =
    "safetensors (also sharded), `torch.save` state dict; [a short config.json](converter/dialects/TUTORIALS.md), for "
    "which `--print-config` makes the draft";

struct Dialect {
  const char* model_type;
  const char* description;
  ModelSpec (*load)(const Checkpoint&);
  std::vector<ShapedTensor> (*tensors)(const Config&);
  void (*name_tensors)(nlohmann::json&);  // null: the names are always the same
  const Tutorial* tutorial;               // whose code tells what a config.json leaves out; or null
  Listed listed;
};

constexpr Dialect kDialects[] = {
    {"marian",
     "Hugging Face Marian, OPUS-MT",
     load_marian,
     marian_tensors,
     nullptr,
     nullptr,
     {"OPUS-MT and other Marian models of Hugging Face", "safetensors (also sharded), `pytorch_model.bin`"}},
    {"nn_transformer",
     "PyTorch nn.Transformer",
     load_nn_transformer,
     nn_transformer_tensors,
     name_nn_transformer_tensors,
     nullptr,
     {"your own PyTorch `nn.Transformer`",
      "safetensors, `torch.save` state dict; [a config.json](converter/dialects/NN_TRANSFORMER.md), for which "
      "`--print-config` makes the draft"}},
    {"annotated_transformer",
     "the Annotated Transformer",
     load_annotated_transformer,
     nn_transformer_tensors,
     name_nn_transformer_tensors,
     &kAnnotatedTransformer,
     {"the Annotated Transformer of Harvard NLP", kTutorialsFrom}},
    {"seq2seq_transformer",
     "PyTorch's translation tutorial",
     load_seq2seq_transformer,
     nn_transformer_tensors,
     name_nn_transformer_tensors,
     &kSeq2SeqTransformer,
     {"`Seq2SeqTransformer` of PyTorch's translation tutorial", kTutorialsFrom}},
    {"trevett_transformer",
     "Ben Trevett's tutorial 6",
     load_trevett_transformer,
     nn_transformer_tensors,
     name_nn_transformer_tensors,
     &kTrevettTransformer,
     {"Ben Trevett's tutorial 6, \"Attention is All You Need\"", kTutorialsFrom}},
};

// Those whose containers tell that they are in them.
constexpr Listed kContainers[] = {
    {"Firefox's translation students and other models of Marian's own",
     "`.npz`, `.bin`, with their YAML, vocabularies and shortlists; [what of them](converter/dialects/MARIAN.md)"},
    {"CTranslate2 encoder–decoders, packages of Argos Translate",
     "directories of every compute type, `.argosmodel`; [what of them](converter/dialects/CTRANSLATE2.md)"},
    {"fairseq's Transformers (`transformer`, `transformer_...`)",
     "`.pt` with its `dict.*.txt`; [what of them](converter/dialects/FAIRSEQ.md)"},
    {"OpenNMT-py's Transformers", "`.pt`; [what of them](converter/dialects/OPENNMT_PY.md)"},
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
  // A training's folder, of which one checkpoint must be chosen: opening it says so.
  const std::vector<std::filesystem::path> weights = find_weights(checkpoint);
  if (weights.size() > 1 && toolkit_of(sniff_file(weights[0]).kind) != nullptr) open_tensors(checkpoint);
  if (sniffed.kind == KindId::kMarianTensors) {
    return Error(
        "{}: is missing; it tells what the weights of this Marian model cannot. Download it from where they came from, "
        "with generation_config.json, tokenizer_config.json, vocab.json, source.spm and target.spm",
        config.string());
  }
  const bool is_tutorial = tutorial_of(sniffed.kind) != nullptr;
  if (is_tutorial || sniffed.kind == KindId::kNnTransformer) {
    return Error(
        "{}: is missing; it tells what the weights of this {} cannot. `goldcrest-convert --print-config {}` begins one "
        "(converter/dialects/{}.md lists its settings)",
        config.string(), is_tutorial ? "model" : "nn.Transformer", checkpoint.string(),
        is_tutorial ? "TUTORIALS" : "NN_TRANSFORMER");
  }
  return Error(
      "{}: is missing; it tells what the weights cannot. Download it with the checkpoint, or write it for a "
      "PyTorch nn.Transformer (converter/dialects/NN_TRANSFORMER.md lists its settings)",
      config.string());
}

// What else is known of a model_type that no dialect has.
std::string known_of(const std::string& model_type) {
  const Kind& family = kind_of_id(family_of_type(model_type));
  return family.id == KindId::kUnknown ? "" : fmt::format("; {}; {}", family.description, family.advice);
}

// The dialect that config.json names; without a name a tutorial's, where the tensors are of one.
const Dialect& dialect_of(const Config& config, const Tutorial* of_tensors) {
  const std::string known = of_tensors == nullptr ? "" : of_tensors->model_type;
  const std::string model_type = config.text_or("model_type", known);
  const auto* const dialect = std::find_if(std::begin(kDialects), std::end(kDialects),
                                           [&](const Dialect& d) { return d.model_type == model_type; });
  if (dialect == std::end(kDialects)) {
    throw Error("{} is {}, which is not supported; supported: {}{}", config.where("model_type"),
                model_type.empty() ? "missing" : in_quotes(model_type), supported(), known_of(model_type));
  }
  // A Seq2SeqTransformer is an nn.Transformer with names of its own, the others are not.
  const bool is_its_own = model_type == known || (of_tensors == &kSeq2SeqTransformer && model_type == "nn_transformer");
  if (of_tensors != nullptr && !is_its_own) {
    throw Error("{} is {}, but {}: expected {}", config.where("model_type"), in_quotes(model_type),
                kind_of_id(of_tensors->kind).description, in_quotes(known));
  }
  return *dialect;
}

// `settings`, with those that the tutorial's code tells where it has no others, and what `tensors` tell when there are.
nlohmann::json completed(nlohmann::json settings, const Tutorial* tutorial,
                         const std::shared_ptr<const TensorSource>& tensors) {
  if (tutorial == nullptr) return settings;
  nlohmann::json all = tensors == nullptr ? nlohmann::json::parse(tutorial->settings)
                                          : tutorial_settings(*tutorial, TensorReader(tensors));
  all.update(settings, true);
  return all;
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

// A toolkit's checkpoint, which tells its settings itself.
ModelSpec load_toolkit(const Toolkit& toolkit, const std::filesystem::path& path, const LoadOptions& options) {
  const std::shared_ptr<const TensorSource> tensors = counted(open_tensors(path), options);
  const std::filesystem::path file = tensors->files()[0];
  ToolkitModel model = read_toolkit(toolkit, tensors, options.config);
  const Checkpoint checkpoint{directory_of(path), Config(std::move(model.settings), file.string(), file), tensors};
  checkpoint.config.find("model_type");  // is known
  ModelSpec spec = load_named(checkpoint, model.names);
  std::erase(spec.tokenizer_files, file);  // which may have the vocabularies, and is hashed already
  spec.tokenizer_files.insert(spec.tokenizer_files.end(), model.vocabularies.begin(), model.vocabularies.end());
  spec.warnings.insert(spec.warnings.end(), model.warnings.begin(), model.warnings.end());
  describe_source(checkpoint, toolkit.model_type, spec);
  return spec;
}

std::string row(const std::string& family, const std::string& verdict, const std::string& from) {
  return fmt::format("\n| {} | {} | {} |", family, verdict, from);
}

}  // namespace

std::string list_families() {
  std::string text = "| family | | from |\n|---|---|---|";
  for (const Dialect& dialect : kDialects) text += row(dialect.listed.family, "yes", dialect.listed.from);
  for (const Listed& listed : kContainers) text += row(listed.family, "yes", listed.from);
  text += row(refused_families(true), "planned", "refused today, by name");
  return text + row(refused_families(false), "no", "refused by name");
}

ModelSpec load_checkpoint(const std::filesystem::path& path, const LoadOptions& options) {
  const std::filesystem::path directory = directory_of(path);
  const Sniffed sniffed = sniff(path);
  if (sniffed.use == Use::kRefused) throw Error("{}", sniffed.text());
  if (is_marian_native(sniffed.kind)) return load_native(path, options);
  if (is_ctranslate2(sniffed.kind)) return load_ctranslate2_files(path, options);
  if (const Toolkit* toolkit = toolkit_of(sniffed.kind)) return load_toolkit(*toolkit, path, options);
  const std::filesystem::path config_path = config_path_of(directory, options.config);
  std::error_code error;
  if (!std::filesystem::exists(config_path, error) && !std::filesystem::is_symlink(config_path, error)) {
    throw missing_config(config_path, path, sniffed);
  }
  nlohmann::json settings = read_json_object(config_path);
  const Dialect& dialect = dialect_of(Config(settings, config_path.string(), config_path), tutorial_of(sniffed.kind));
  const std::shared_ptr<const TensorSource> tensors = counted(open_tensors(path), options);
  settings = completed(std::move(settings), dialect.tutorial, tensors);
  const Checkpoint checkpoint{directory, Config(std::move(settings), config_path.string(), config_path), tensors};
  checkpoint.config.find("model_type");  // is known
  ModelSpec spec = dialect.load(checkpoint);
  describe_source(checkpoint, dialect.model_type, spec);
  return spec;
}

ModelSpec load_shape(const std::filesystem::path& path, uint64_t most) {
  const std::filesystem::path directory = directory_of(path);
  const std::filesystem::path config_path = config_path_of(directory, path);
  nlohmann::json settings = read_json_object(config_path);
  const Dialect& dialect = dialect_of(Config(settings, config_path.string(), config_path), nullptr);
  settings = completed(std::move(settings), dialect.tutorial, nullptr);
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
