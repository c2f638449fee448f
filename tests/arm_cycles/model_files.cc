// SPDX-License-Identifier: Apache-2.0
// Writes the models whose speed is modelled into a folder, with seeded random weights: model_files FOLDER MODEL... The
// source's vocabulary is small, because its size costs a translation nothing. base+all is base with fine inputs in all
// matrices, base+decoder in the decoder's; base+all+all has second matrices and fine attention, too.
#include "support/program.h"
#include "support/tiny_model.h"

namespace {
// Shapes of tests/peers/checkpoints.py; opus has the vocabulary of OPUS-MT en-de.
struct Shape {
  const char* name;
  uint32_t d_model, d_ff, n_heads, layers[2], vocab_size;  // layers: the encoder's, the decoder's
};
constexpr Shape kShapes[] = {{"base", 512, 2048, 8, {6, 6}, 32000}, {"opus", 512, 2048, 8, {6, 6}, 58101},
    {"small", 256, 1024, 4, {4, 2}, 8000}, {"tiny", 128, 512, 2, {3, 2}, 4000}};

// fine, refine: names of the matrices with inputs and with weights of 16 bits, as goldcrest-convert --matrices has them
void write(const std::string& path, const Shape& shape, const std::string& fine, const std::string& refine) {
  goldcrest::test::TinyOptions options;
  for (goldcrest::test::TinyStack* stack : {&options.encoder, &options.decoder}) {
    stack->d_model = shape.d_model;
    stack->d_ff = shape.d_ff;
    stack->n_heads = shape.n_heads;
    stack->d_head = shape.d_model / shape.n_heads;
    stack->n_layers = shape.layers[stack == &options.encoder ? 0 : 1];
    stack->positions = 128;
  }
  options.source_vocab_size = 1000;
  options.target_vocab_size = shape.vocab_size;
  options.tied = true;
  auto image = goldcrest::test::fine_tiny_file(goldcrest::test::tiny_spec(options), {}, fine, refine);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.bytes()), static_cast<std::streamsize>(image.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void write_named(const std::string& folder, const std::string& model) {
  std::istringstream parts(model);
  std::string name, fine = "none", refine = "none";
  std::getline(std::getline(std::getline(parts, name, '+'), fine, '+'), refine, '+');
  for (const Shape& shape : kShapes)
    if (shape.name == name) return write(folder + "/" + model + ".gcst", shape, fine, refine);
  throw std::runtime_error("no model is named " + name);
}
}  // namespace

int main(int argc, char** argv) {
  return goldcrest::test::report_errors("model_files", [&] {
    for (int i = 2; i < argc; ++i) write_named(argv[1], argv[i]);
  });
}
