// SPDX-License-Identifier: Apache-2.0
// Opens a checkpoint and hands it to the dialect that its config.json names.
#include "dialects/dialect.h"

#include <algorithm>

#include "dialects/provenance.h"
#include "sources/messages.h"
#include "sources/sha256.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

struct Dialect {
  const char* model_type;
  const char* description;
  ModelSpec (*load)(const Checkpoint&);
};

constexpr Dialect kDialects[] = {
    {"marian", "Hugging Face Marian, OPUS-MT", load_marian},
    {"nn_transformer", "PyTorch nn.Transformer", load_nn_transformer},
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
  return std::filesystem::is_directory(status) ? checkpoint : checkpoint.parent_path();
}

}  // namespace

ModelSpec load_checkpoint(const std::filesystem::path& path, const LoadOptions& options) {
  const std::filesystem::path directory = directory_of(path);
  const std::filesystem::path config_path = options.config.empty() ? directory / "config.json" : options.config;
  std::error_code error;
  if (!std::filesystem::exists(config_path, error) && !std::filesystem::is_symlink(config_path, error)) {
    throw Error(
        "{}: is missing; it tells what the weights cannot. Download it with the checkpoint, or write it for a "
        "PyTorch nn.Transformer (converter/dialects/NN_TRANSFORMER.md lists its settings)",
        config_path.string());
  }
  Checkpoint checkpoint{directory, Config(config_path), nullptr};
  const std::string model_type = checkpoint.config.text_or("model_type", "");
  const auto* const dialect = std::find_if(std::begin(kDialects), std::end(kDialects),
                                           [&](const Dialect& d) { return d.model_type == model_type; });
  if (dialect == std::end(kDialects)) {
    throw Error("{} is {}, which is not supported; supported: {}", checkpoint.config.where("model_type"),
                model_type.empty() ? "missing" : in_quotes(model_type), supported());
  }
  checkpoint.tensors = open_tensors(path);
  if (options.progress) checkpoint.tensors = count_loads(std::move(checkpoint.tensors), options.progress);
  ModelSpec spec = dialect->load(checkpoint);
  spec.dialect = dialect->model_type;
  spec.checkpoint_sha256 = sha256_of_files(checkpoint.tensors->files());
  fill_provenance(checkpoint, spec);
  return spec;
}

}  // namespace goldcrest::converter
