// SPDX-License-Identifier: Apache-2.0
// Writes a checkpoint with the shape, configuration and vocabulary of a real OPUS-MT model (tests/data/opus-mt-en-mg)
// and seeded random weights: make_opus_checkpoint DIR [safetensors|bin] [--dtype F32|F16|BF16]
#include <iostream>
#include "support/marian_tensors.h"
#include "support/program.h"

namespace {
namespace fs = std::filesystem;
using goldcrest::converter::ElementType;

constexpr uint64_t kSeed = 20;

struct Arguments {
  fs::path directory;
  std::string container = "safetensors";
  ElementType type = ElementType::kF32;
};

bool parse(const std::vector<std::string>& words, Arguments& arguments) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--dtype" && i + 1 < words.size()) {
      const std::string& type = words[++i];
      if (type != "F32" && type != "F16" && type != "BF16") return false;
      arguments.type = type == "F32" ? ElementType::kF32 : type == "F16" ? ElementType::kF16 : ElementType::kBf16;
    } else if (words[i] == "safetensors" || words[i] == "bin") {
      arguments.container = words[i];
    } else if (arguments.directory.empty() && !words[i].starts_with("-")) {
      arguments.directory = words[i];
    } else {
      return false;
    }
  }
  return !arguments.directory.empty();
}

void write(const Arguments& arguments) {
  const fs::path source = fs::path(GOLDCREST_SOURCE_DIR) / "tests/data/opus-mt-en-mg";
  fs::create_directories(arguments.directory);
  for (const auto& entry : fs::directory_iterator(source))
    fs::copy_file(entry.path(), arguments.directory / entry.path().filename(), fs::copy_options::overwrite_existing);
  const nlohmann::json config = nlohmann::json::parse(std::ifstream(source / "config.json"));
  goldcrest::test::MarianShape shape = {.vocab_size = config["vocab_size"],
      .d_model = config["d_model"],
      .encoder_layers = config["encoder_layers"],
      .decoder_layers = config["decoder_layers"],
      .encoder_d_ff = config["encoder_ffn_dim"],
      .decoder_d_ff = config["decoder_ffn_dim"]};
  const auto tensors = goldcrest::test::marian_tensors(shape, kSeed);
  const bool is_bin = arguments.container == "bin";
  std::ofstream stream(arguments.directory / (is_bin ? "pytorch_model.bin" : "model.safetensors"), std::ios::binary);
  if (is_bin) {
    // OPUS-MT's files have the tied table under all of its names.
    goldcrest::test::write_torch_zip(stream, tensors, arguments.type,
        {{"model.encoder.embed_tokens.weight", 0}, {"model.decoder.embed_tokens.weight", 0}, {"lm_head.weight", 0}});
  } else {
    goldcrest::test::write_safetensors(stream, tensors, arguments.type);
  }
  if (!stream.flush()) throw std::runtime_error("cannot write into " + arguments.directory.string());
}
}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse({argv + 1, argv + argc}, arguments)) {
    std::cerr << "usage: make_opus_checkpoint DIR [safetensors|bin] [--dtype F32|F16|BF16]\n";
    return 2;
  }
  return goldcrest::test::report_errors("make_opus_checkpoint", [&] { write(arguments); });
}
