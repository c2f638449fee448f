// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <algorithm>
#include <cstring>

#include "spec/format_text.h"

namespace predictions {
namespace {

using goldcrest::converter::format_text;

// The cycle models leave out cache misses (except for weights that do not fit), mispredicted branches and the operating
// system. For the A76 they use the latencies of Neoverse N1. So silicon is more likely slower than faster.
constexpr double kFaster = 1.25, kSlower = 1.5;

// Returns the band around a model's cycles for each instruction.
constexpr Band modelled(double cycles) { return {cycles / kFaster, cycles, cycles * kSlower}; }

// The bytes of weights that a word's calls read, for the shape of examples/models/g2p. A matrix of n outputs and k
// inputs has n * (k + 12) bytes. A word takes 5.2 passes over the encoder with two rows at a time. Greedy search
// takes 9.6 positions, beam 4 takes 8.8.
constexpr double kEncoderBytes = 3 * (4 * 128 * 140 + 512 * 140 + 128 * 524) + 2 * 256 * 140;
constexpr double kPositionBytes = 2 * (6 * 128 * 140 + 512 * 140 + 128 * 524) + 80 * 140;
double weight_bytes(const Word& word) {
  return 5.2 * kEncoderBytes + (word.beam_size == 1 ? 9.6 : 8.8) * kPositionBytes;
}

// Returns the bytes a cycle of memory outside of the chip, of 0.2 to 0.5 GB/s.
constexpr Band outside(double clock_hz) { return {0.2e9 / clock_hz, 0.3e9 / clock_hz, 0.5e9 / clock_hz}; }

// A clip of a speech model: the instructions of a Cortex-M55, and the bytes of weights that the calls read. The
// encoder's include the keys and values of the source; they are read once for 32 rows, the decoder's once an id.
struct Clip {
  const char* model;
  double instructions, weight_bytes;
};

constexpr double kMoonshineEncoderBytes =
    288 * 140 + 576 * 2028 + 288 * 1740 + 6 * (3 * 384 * 300 + 288 * 396 + 1152 * 300 + 288 * 1164) + 6 * 2 * 384 * 300;
constexpr double kMoonshineIdBytes = 6 * (4 * 384 * 300 + 2 * 288 * 396 + 2304 * 300 + 288 * 1164) + 32768 * 300;

constexpr double kWhisperEncoderBytes =
    384 * 252 + 384 * 1164 + 4 * (4 * 384 * 396 + 1536 * 396 + 384 * 1548) + 4 * 2 * 384 * 396;
constexpr double kWhisperIdBytes = 4 * (6 * 384 * 396 + 1536 * 396 + 384 * 1548) + 50363 * 396;
constexpr double kWhisperIds = 21;  // the prompt's first

// Returns the work for a window of Whisper tiny.en. Windows of 100 and 300 rows were counted, step by step.
constexpr Clip whisper(const char* model, double rows) {
  const double encoding = rows * (2.41e6 + 3860 * rows), id = 6.02e6 + 3860 * rows;
  return {model, encoding + kWhisperIds * id, rows / 32 * kWhisperEncoderBytes + kWhisperIds * kWhisperIdBytes};
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{"g2p", 3, 2, 128, 512, 73},      {"enfr", 4, 2, 256, 1024, 6000},
                                         {"tiny", 3, 2, 128, 512, 4000},   {"small", 4, 2, 256, 1024, 8000},
                                         {"base", 6, 6, 512, 2048, 32000}, {"opus", 6, 6, 512, 2048, 58101}};
  return all;
}

// The figures come from tests/arm_cycles/run.sh --models, as in the table of its README.md. They assume that memory
// delivers 2 (Pi 3), 3 (Pi 4) or 3.8 (Pi 5) bytes a cycle. Windows of 2, 4 and 8 s gave Whisper's figures: encoding
// grows with the rows and with their square, an id with the rows.
const std::vector<Computer>& computers() {
  static const std::vector<Computer> all = {{"Raspberry Pi 3",
                                             "Raspberry Pi 3",
                                             "Cortex-A53",
                                             1.2e9,
                                             {{"g2p", 1, 2531},
                                              {"g2p", 4, 1099},
                                              {"enfr", 1, 475},
                                              {"enfr", 4, 206},
                                              {"tiny", 1, 1617},
                                              {"tiny", 4, 601},
                                              {"small", 1, 433},
                                              {"small", 4, 183},
                                              {"base", 1, 50.1},
                                              {"base", 4, 21.6},
                                              {"opus", 1, 38.8},
                                              {"opus", 4, 16.3}},
                                             {{"moonshine-tiny 2 s", 0.454},
                                              {"moonshine-tiny 5 s", 1.2},
                                              {"whisper-tiny 15 s", 3.65},
                                              {"whisper-tiny 30 s", 9.33}}},
                                            {"Raspberry Pi 4",
                                             "Raspberry Pi 4",
                                             "Cortex-A72",
                                             1.5e9,
                                             {{"g2p", 1, 6665},
                                              {"g2p", 4, 2484},
                                              {"enfr", 1, 926},
                                              {"enfr", 4, 445},
                                              {"tiny", 1, 3167},
                                              {"tiny", 4, 1335},
                                              {"small", 1, 844},
                                              {"small", 4, 402},
                                              {"base", 1, 96.3},
                                              {"base", 4, 47.1},
                                              {"opus", 1, 74.3},
                                              {"opus", 4, 35.6}},
                                             {{"moonshine-tiny 2 s", 0.206},
                                              {"moonshine-tiny 5 s", 0.541},
                                              {"whisper-tiny 15 s", 1.71},
                                              {"whisper-tiny 30 s", 4.41}}},
                                            {"Raspberry Pi 5",
                                             "Raspberry Pi 5",
                                             "Cortex-A76",
                                             2.4e9,
                                             {{"g2p", 1, 33968},
                                              {"g2p", 4, 12697},
                                              {"enfr", 1, 2258},
                                              {"enfr", 4, 1900},
                                              {"tiny", 1, 26556},
                                              {"tiny", 4, 6939},
                                              {"small", 1, 2007},
                                              {"small", 4, 1630},
                                              {"base", 1, 218},
                                              {"base", 4, 196},
                                              {"opus", 1, 164},
                                              {"opus", 4, 147}},
                                             {{"moonshine-tiny 2 s", 0.053},
                                              {"moonshine-tiny 5 s", 0.134},
                                              {"whisper-tiny 15 s", 0.388},
                                              {"whisper-tiny 30 s", 1.04}}}};
  return all;
}

// bytes_a_cycle: The H743 reads a flash word of 32 bytes, a cache line, in LATENCY + 1 cycles of its bus and transfers
// it in four (RM0433). LATENCY is 7 after reset and 4 at 480 MHz, where the bus has half the CPU's clock. The RP2350's
// cache reads 8 bytes, over one data line in 96 cycles of the flash's clock, over four in 28. The flash's clock is the
// CPU's divided by 2 to 12 (RP2350 datasheet). The Ensemble's SRAM0 has a bus of 64 bits (Alif, "RAM Regions").
const std::vector<Microcontroller>& microcontrollers() {
  static const std::vector<Microcontroller> all = {
      {"nucleo-h743zi", "nucleo-h743zi", "Cortex-M7", "flash, as board.c leaves it", 64e6, {2.0, 2.7, 3.2}},
      {"nucleo-h743zi at 480 MHz", "nucleo-h743zi", "Cortex-M7", "flash", 480e6, {1.2, 1.8, 2.5}},
      {"rpi-pico2", "rpi-pico2", "Cortex-M33", "flash, one line", 150e6, {0.007, 0.02, 0.042}},
      {"rpi-pico2 with four lines", "rpi-pico2", "Cortex-M33", "flash, four lines", 150e6, {0.09, 0.14, 0.25}},
      {"Alif Ensemble E7", "alif-e7", "Cortex-M55", "SRAM0", 400e6, {1.0, 2.0, 4.0}}};
  return all;
}

// Instructions: counted by benchmark_firmware in QEMU on mps2-an500, mps2-an505 and mps3-an547, with GCC 12.2. Cycles
// for each instruction: from tests/arm_cycles/words.sh, which fails if it finds others. The M33 has no model: it issues
// one instruction a cycle; loads and taken branches take two or three cycles.
const std::vector<Word>& words() {
  constexpr Band kM33 = {1.0, 1.25, 1.6};
  static const std::vector<Word> all = {
      {"Cortex-M7", 1, 14005800, modelled(0.70)}, {"Cortex-M7", 4, 24783120, modelled(0.85)},
      {"Cortex-M33", 1, 14276350, kM33},          {"Cortex-M33", 4, 25334150, kM33},
      {"Cortex-M55", 1, 2621594, modelled(1.18)}, {"Cortex-M55", 4, 5247219, modelled(1.21)}};
  return all;
}

// Moonshine tiny hears 2 s and writes 10 ids, or 5 s and 20 ids; Whisper tiny.en writes 20 ids behind its prompt. 32
// encoder rows at a time; the weights are outside of the chip. tests/boards/real_speech.sh counts the instructions of
// the M55. The M7 takes 5.34 times as many, as for a word; its emulator has no memory for these models. Cycles for each
// instruction are those of a word.
const std::vector<ClipWork>& clips() {
  static const std::vector<ClipWork> all = [] {
    std::vector<ClipWork> works;
    const Clip heard[] = {
        {"moonshine-tiny 2 s", 2 * 173.6e6, 3 * kMoonshineEncoderBytes + 10 * kMoonshineIdBytes},
        {"moonshine-tiny 5 s", 1.024e9, 7 * kMoonshineEncoderBytes + 20 * kMoonshineIdBytes},
        whisper("whisper-tiny 15 s", 750),
        whisper("whisper-tiny 30 s", 1500),
    };
    for (const Clip& clip : heard) {
      works.push_back({"nucleo-h743zi at 480 MHz", "Cortex-M7", clip.model, 480e6, 5.34 * clip.instructions,
                       clip.weight_bytes, modelled(0.70), outside(480e6)});
    }
    for (const Clip& clip : heard) {
      works.push_back({"Alif Ensemble E7", "Cortex-M55", clip.model, 400e6, clip.instructions, clip.weight_bytes,
                       modelled(1.18), outside(400e6)});
    }
    return works;
  }();
  return all;
}

Band tokens_per_s(const Computer::Speed& speed) {
  return {speed.tokens_per_s / kSlower, speed.tokens_per_s, speed.tokens_per_s * kFaster};
}

// Returns cycles in units. The low end assumes that reading overlaps with computing; the middle and the high end add
// the two times.
static Band computed_and_read(double instructions, const Band& core, double bytes, const Band& memory, double unit) {
  return {std::max(instructions * core.low, bytes / memory.high) * unit,
          (instructions * core.middle + bytes / memory.middle) * unit,
          (instructions * core.high + bytes / memory.low) * unit};
}

Band milliseconds_a_word(const Microcontroller& part, const Word& word) {
  return computed_and_read(word.instructions, word.cycles_an_instruction, weight_bytes(word), part.bytes_a_cycle,
                           1e3 / part.clock_hz);
}

Band seconds_a_clip(const ClipWork& work) {
  return computed_and_read(work.instructions, work.cycles_an_instruction, work.weight_bytes, work.bytes_a_cycle,
                           1 / work.clock_hz);
}

std::string digits(double figure) {
  return figure < 100 ? format_text("{:.3g}", figure) : format_text("{:.0f}", figure);
}

std::string table() {
  std::string text = "machine,cpu,MHz,model,beam,unit,predicted,low,high\n";
  const auto add = [&](const auto& machine, const char* model, uint32_t beam_size, const char* unit, const Band& band) {
    text += format_text("{},{},{:.0f},{},{},{},{},{},{}\n", machine.name, machine.cpu, machine.clock_hz / 1e6, model,
                        beam_size, unit, digits(band.middle), digits(band.low), digits(band.high));
  };
  for (const Computer& computer : computers()) {
    for (const Computer::Speed& speed : computer.speeds)
      add(computer, speed.model, speed.beam_size, "tokens/s", tokens_per_s(speed));
  }
  for (const Microcontroller& part : microcontrollers()) {
    for (const Word& word : words()) {
      if (std::strcmp(word.cpu, part.cpu) == 0)
        add(part, "g2p", word.beam_size, "ms a word", milliseconds_a_word(part, word));
    }
  }
  for (const Computer& computer : computers()) {
    for (const Computer::Clip& clip : computer.clips)
      add(computer, clip.model, 1, "s a clip", {clip.seconds / kFaster, clip.seconds, clip.seconds * kSlower});
  }
  for (const ClipWork& work : clips()) add(work, work.model, 1, "s a clip", seconds_a_clip(work));
  return text;
}

}  // namespace predictions
