// SPDX-License-Identifier: Apache-2.0
// What is predicted, of which machine and from what: no figure here was measured on hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace predictions {

// A figure and the band in which it is expected.
struct Band {
  double low, middle, high;
};

// A Linux machine, of which whole models were modelled (tests/arm_cycles).
struct Computer {
  const char *name, *board, *cpu;  // board: how the device tree's model begins
  double clock_hz;
  struct Speed {
    const char* model;  // of kShapes
    uint32_t beam_size;
    double tokens_per_s;  // modelled: one thread, 32 source and 64 target tokens, encoding included
  };
  std::vector<Speed> speeds;
};

// What a model's speed depends on.
struct Shape {
  const char* name;
  uint32_t encoder_layers, decoder_layers, d_model, d_ff, target_vocab_size;
};

// A microcontroller; its work is that of benchmark_firmware, counted in QEMU for its core.
struct Microcontroller {
  const char *name, *board, *cpu, *memory;
  double clock_hz;
  Band bytes_a_cycle;  // of weights
};

// One word of benchmark_firmware, the mean over its five.
struct Word {
  const char* cpu;
  uint32_t beam_size;
  double instructions;
  Band cycles_an_instruction;
};

const std::vector<Shape>& shapes();
const std::vector<Computer>& computers();
const std::vector<Microcontroller>& microcontrollers();
const std::vector<Word>& words();

Band tokens_per_s(const Computer::Speed& speed);
Band milliseconds_a_word(const Microcontroller& part, const Word& word);

// Three of them, or all before the point.
std::string digits(double figure);

// All predictions as CSV.
std::string table();

}  // namespace predictions
