// SPDX-License-Identifier: Apache-2.0
// Families that a config.json names by its model_type, and the errors if none is named.
#include <algorithm>
#include "dialects/dialect.h"
#include "dialects/hugging_face/families.h"
#include "dialects/hugging_face/marian.h"
#include "dialects/hugging_face/t5.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/toolkits/toolkit.h"
#include "dialects/tutorials/tutorial.h"
#include "dialects/way_in.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr const ConfigFamily* kFamilies[] = {&kMarianFamily, &kBartFamily, &kMBartFamily, &kPegasusFamily, &kM2mFamily,
    &kBlenderbotFamily, &kFsmtFamily, &kT5Family, &kMT5Family, &kUmT5Family, &kMoonshineFamily, &kWhisperFamily,
    &kVisionFamily, &kNnTransformerFamily, &kAnnotatedFamily, &kSeq2SeqFamily, &kTrevettFamily};

std::string supported() {
  std::string text;
  for (const ConfigFamily* family : kFamilies)
    text += format_text("{}\"{}\" ({})", text.empty() ? "" : ", ", family->model_type, family->description);
  return text;
}

std::filesystem::path config_path_of(const std::filesystem::path& directory, const std::filesystem::path& given) {
  std::error_code error;
  if (given.empty()) return directory / "config.json";
  return std::filesystem::is_directory(given, error) ? given / "config.json" : given;
}

// Says why there is no config.json to read, and how to get one.
Error missing_config(
    const std::filesystem::path& config, const std::filesystem::path& checkpoint, const Sniffed& sniffed) {
  if (sniffed.use == Use::kOtherFamily || sniffed.use == Use::kNoWeights) return Error("{}", sniffed.text());
  // The folder of a training, from which you choose one checkpoint; the error of opening it says so.
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

// Describes a model_type that no dialect reads, if it is known.
std::string known_of(const std::string& model_type) {
  const Kind& family = kind_of_id(family_of_type(model_type));
  return family.id == KindId::kUnknown ? "" : format_text("; {}; {}", family.description, family.advice);
}

// Returns the family that config.json names. Without a name, returns the tutorial's if the tensors belong to one.
const ConfigFamily& family_of(const Config& config, const Tutorial* of_tensors) {
  const std::string known = of_tensors == nullptr ? "" : of_tensors->model_type;
  const std::string model_type = config.text_or("model_type", known);
  const auto* const family = std::find_if(
      std::begin(kFamilies), std::end(kFamilies), [&](const ConfigFamily* f) { return f->model_type == model_type; });
  if (family == std::end(kFamilies)) {
    throw Error("{} is {}, which is not supported; supported: {}{}", config.where("model_type"),
        model_type.empty() ? "missing" : in_quotes(model_type), supported(), known_of(model_type));
  }
  // A Seq2SeqTransformer is an nn.Transformer with other names; the other tutorials' models are not.
  const bool is_its_own = model_type == known || (of_tensors == &kSeq2SeqTransformer && model_type == "nn_transformer");
  if (of_tensors != nullptr && !is_its_own) {
    throw Error("{} is {}, but {}: expected {}", config.where("model_type"), in_quotes(model_type),
        kind_of_id(of_tensors->kind).description, in_quotes(known));
  }
  return **family;
}

// Throws Error if an option gives positions to a model that has a number of its own.
void check_positions(const ConfigFamily& family, uint32_t max_positions) {
  if (max_positions == 0 || family.any_length) return;
  throw Error(
      "--max-positions is for models without a last position (T5); {} has a number of its own", family.description);
}

// Completes `settings` with the defaults of the tutorial's code and with what `tensors`, if any, determine.
Value completed(Value settings, const Tutorial* tutorial, const std::shared_ptr<const TensorSource>& tensors) {
  if (tutorial == nullptr) return settings;
  Value merged = tensors == nullptr ? parse_json(tutorial->settings, kSettingsDepth, tutorial->model_type)
                                    : tutorial_settings(*tutorial, TensorReader(tensors));
  update(merged, settings);
  return merged;
}

OpenedCheckpoint open_by_config(const LoadRequest& request) {
  const std::filesystem::path config_path = config_path_of(request.directory, request.options.config);
  std::error_code error;
  if (!std::filesystem::exists(config_path, error) && !std::filesystem::is_symlink(config_path, error))
    throw missing_config(config_path, request.path, request.sniffed);
  Value settings = read_json_object(config_path);
  const ConfigFamily& family =
      family_of(Config(settings, config_path.string(), config_path), tutorial_of(request.sniffed.kind));
  check_positions(family, request.options.choices.max_positions);
  const std::shared_ptr<const TensorSource> tensors = counted(open_tensors(request.path), request.options);
  settings = completed(std::move(settings), family.tutorial, tensors);
  Checkpoint checkpoint{request.directory, Config(std::move(settings), config_path.string(), config_path), tensors};
  checkpoint.config.find("model_type");  // marks it as read
  return {std::move(checkpoint), family.model_type, family.load};
}

std::vector<ListedFamily> listed_families() {
  std::vector<ListedFamily> rows;
  for (const ConfigFamily* family : kFamilies)
    if (family->listed.family != nullptr) rows.push_back(family->listed);
  return rows;
}
}  // namespace

const WayIn kConfigWay = {[](KindId) { return true; }, open_by_config, listed_families};

ModelSpec load_shape(const std::filesystem::path& path, uint64_t most, const OpenChoices& choices) {
  const std::filesystem::path directory = directory_of(path);
  const std::filesystem::path config_path = config_path_of(directory, path);
  Value settings = read_json_object(config_path);
  const ConfigFamily& family = family_of(Config(settings, config_path.string(), config_path), nullptr);
  check_positions(family, choices.max_positions);
  settings = completed(std::move(settings), family.tutorial, nullptr);
  if (family.name_tensors != nullptr) family.name_tensors(settings);
  Checkpoint checkpoint{directory, Config(std::move(settings), config_path.string(), config_path), nullptr, true};
  checkpoint.choices = choices;
  checkpoint.tensors = shape_tensors(family.tensors(checkpoint.config), config_path, most);
  checkpoint.config.find("model_type");  // marks it as read
  ModelSpec spec = family.load(checkpoint);
  spec.dialect = family.model_type;
  spec.checkpoint_sha256 = std::string(64, '0');  // has the length of a hash of weights
  fill_provenance(checkpoint, spec);
  return spec;
}
}  // namespace goldcrest::converter
