// SPDX-License-Identifier: Apache-2.0
#include "support/voice_tensors.h"
#include <numbers>
#include "support/rng.h"

namespace goldcrest::test {
std::vector<NamedTensor> random_detector(uint64_t seed) {
  Rng rng(seed);
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, std::vector<uint64_t> shape, double scale) {
    NamedTensor& tensor = tensors.emplace_back(NamedTensor{"model." + name, std::move(shape), {}});
    size_t n = 1;
    for (const uint64_t size : tensor.shape) n *= size;
    for (size_t i = 0; i < n; ++i) tensor.values.push_back(static_cast<float>(scale) * rng.uniform());
  };
  add("stft.forward_basis_buffer", {258, 1, 256}, 0);
  for (size_t k = 0; k < 258; ++k) {
    for (size_t i = 0; i < 256; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 256, turn = static_cast<double>(k % 129);
      const double wave = k < 129 ? std::cos(turn * angle) : -std::sin(turn * angle);
      tensors[0].values[k * 256 + i] = static_cast<float>((0.5 - 0.5 * std::cos(angle)) * wave);
    }
  }
  const uint64_t shapes[][2] = {{128, 129}, {64, 128}, {64, 64}, {128, 64}};
  for (size_t i = 0; i < 4; ++i) {
    const std::string name = "encoder." + std::to_string(i) + ".reparam_conv.";
    add(name + "weight", {shapes[i][0], shapes[i][1], 3}, 0.2);
    add(name + "bias", {shapes[i][0]}, 0.5);
  }
  for (const char* side : {"ih", "hh"}) {
    add(std::string("decoder.rnn.weight_") + side, {512, 128}, 0.3);
    add(std::string("decoder.rnn.bias_") + side, {512}, 0.3);
  }
  add("decoder.decoder.2.weight", {1, 128, 1}, 0.5);
  add("decoder.decoder.2.bias", {1}, 0.5);
  return tensors;
}
}  // namespace goldcrest::test
