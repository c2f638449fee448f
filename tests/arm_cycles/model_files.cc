// SPDX-License-Identifier: Apache-2.0
// Writes the models whose speed is modelled into a folder, with seeded random weights: model_files FOLDER MODEL... The
// source's vocabulary is small, because its size costs a translation nothing. base+all is base with fine inputs in all
// matrices, base+decoder in the decoder's; base+all+all has second matrices and fine attention, too.
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/tiny_model.h"

namespace {

using goldcrest::test::TinyOptions;
using goldcrest::test::TinyStack;

struct Shape {
  const char* name;
  uint32_t d_model, d_ff, n_heads, encoder_layers, decoder_layers, vocab_size;
};

// Shapes of tests/peers/checkpoints.py; opus has the vocabulary of OPUS-MT en-de.
constexpr Shape kShapes[] = {{"base", 512, 2048, 8, 6, 6, 32000},
                             {"opus", 512, 2048, 8, 6, 6, 58101},
                             {"small", 256, 1024, 4, 4, 2, 8000},
                             {"tiny", 128, 512, 2, 3, 2, 4000}};

TinyStack stack(const Shape& shape, uint32_t n_layers) {
  TinyStack stack;
  stack.d_model = shape.d_model;
  stack.d_ff = shape.d_ff;
  stack.n_heads = shape.n_heads;
  stack.d_head = shape.d_model / shape.n_heads;
  stack.n_layers = n_layers;
  stack.positions = 128;
  return stack;
}

const Shape& shape_named(const std::string& name) {
  for (const Shape& shape : kShapes) {
    if (shape.name == name) return shape;
  }
  throw std::runtime_error("no model is named " + name);
}

// fine, refine: what goldcrest-convert --fine and --refine take
void write(const std::string& path, const Shape& shape, const std::string& fine, const std::string& refine) {
  TinyOptions options;
  options.encoder = stack(shape, shape.encoder_layers);
  options.decoder = stack(shape, shape.decoder_layers);
  options.source_vocab_size = 1000;
  options.target_vocab_size = shape.vocab_size;
  options.tied = true;
  auto image = goldcrest::test::fine_tiny_file(goldcrest::test::tiny_spec(options), {}, fine, refine);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.bytes()), static_cast<std::streamsize>(image.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: model_files FOLDER MODEL...\n";
    return 2;
  }
  try {
    for (int i = 2; i < argc; ++i) {
      const std::string model = argv[i];
      std::istringstream parts(model);
      std::string name, fine = "none", refine = "none";
      std::getline(parts, name, '+');
      std::getline(parts, fine, '+');
      std::getline(parts, refine, '+');
      write(std::string(argv[1]) + "/" + model + ".gcst", shape_named(name), fine, refine);
    }
  } catch (const std::exception& error) {
    std::cerr << "model_files: " << error.what() << "\n";
    return 1;
  }
}
