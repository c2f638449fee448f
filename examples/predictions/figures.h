// SPDX-License-Identifier: Apache-2.0
// The predictions, their machines and their inputs. No figure here was measured on hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace predictions {

// A predicted figure and the band around it.
struct Band {
  double low, middle, high;
};

// A Linux machine for which tests/arm_cycles models whole translations.
struct Computer {
  const char *name, *board, *cpu;  // board: prefix of the device tree's model
  double clock_hz;
  struct Speed {
    const char* model;  // of kShapes
    uint32_t beam_size;
    double tokens_per_s;  // modelled: one thread, 32 source and 64 target tokens, including encoding
  };
  std::vector<Speed> speeds;
  struct Clip {
    const char* model;  // and the sound's length
    double seconds;     // modelled: one thread
  };
  std::vector<Clip> clips;
};

// The dimensions that a model's speed depends on.
struct Shape {
  const char* name;
  uint32_t encoder_layers, decoder_layers, d_model, d_ff, target_vocab_size;
};

// A microcontroller. Its instructions are those of benchmark_firmware, counted in QEMU for its core.
struct Microcontroller {
  const char *name, *board, *cpu, *memory;
  double clock_hz;
  Band bytes_a_cycle;  // of weights
};

// The work for a word of benchmark_firmware, the mean over its five words.
struct Word {
  const char* cpu;
  uint32_t beam_size;
  double instructions;
  Band cycles_an_instruction;
};

// The work for a clip of a speech model, whose weights are in memory outside of a microcontroller.
struct ClipWork {
  const char *name, *cpu, *model;  // name: the machine's
  double clock_hz, instructions, weight_bytes;
  Band cycles_an_instruction, bytes_a_cycle;
};

const std::vector<Shape>& shapes();
const std::vector<Computer>& computers();
const std::vector<Microcontroller>& microcontrollers();
const std::vector<Word>& words();
const std::vector<ClipWork>& clips();

Band tokens_per_s(const Computer::Speed& speed);
Band milliseconds_a_word(const Microcontroller& part, const Word& word);
Band seconds_a_clip(const ClipWork& work);

// Returns the figure with three digits, or with all digits before the point if there are more.
std::string digits(double figure);

// Returns all predictions as CSV.
std::string table();

}  // namespace predictions
