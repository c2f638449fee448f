// SPDX-License-Identifier: Apache-2.0
// What goldcrest-bench measures, each with the figures of one table of its report. Times are medians.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model_runner.h"
#include "timing.h"

namespace bench {

struct Settings {
  std::string model, kernels;
  uint32_t source_tokens = 32, target_tokens = 64;
  std::vector<uint32_t> beam_sizes, batches;
  Patience patience;
  uint64_t seed = 1;
};

// From a mapped file in the page cache to a started engine, and on to the first token.
struct OpenCost {
  Timing full, structure;            // verification of everything, and without the weights' bytes
  Timing first_token;                // full verification, encoding and one position of greedy search
  uint64_t peak_resident_bytes = 0;  // of the process so far, mapped pages counted
};

struct Speed {
  uint32_t beam_size = 0, batch = 0;
  uint64_t arena_bytes = 0;
  Timing encode, run;              // run: encoding included
  double tokens_per_s = 0;         // target tokens of all sentences, encoding included
  double decode_tokens_per_s = 0;  // without encoding
  double position_s = 0;           // one target position of the whole batch
};

// One target position's cost in a short and in a long translation.
struct LengthCost {
  uint32_t beam_size = 0, short_tokens = 0, long_tokens = 0;
  double short_position_s = 0, long_position_s = 0;
};

// Where the time of a greedy translation goes.
struct Breakdown {
  double encode_s = 0;          // all of it
  std::vector<double> layer_s;  // each decoder layer, one position; the first with the embedding
  double output_s = 0;          // output layer and choice, one position
};

struct Bandwidth {
  uint64_t memory_bytes = 0, streamed_bytes = 0;  // sizes of the buffers; the second as large as the streamed weights
  double memory_per_s = 0, streamed_per_s = 0;    // bytes per second
};

struct Report {
  goldcrest_info model = {};  // strings are not valid
  std::string kernels;
  uint64_t decoder_bytes = 0;  // weights, scales, biases and sums that one target position reads
  std::optional<OpenCost> open;
  std::vector<Speed> speeds;
  std::vector<LengthCost> lengths;
  std::optional<Breakdown> breakdown;
  std::optional<Bandwidth> bandwidth;
};

// Bytes that one target position reads of decoder and output layer, when n_heads * d_head = d_model (the interface does
// not tell d_head).
uint64_t decoder_bytes(const goldcrest_info& model);

OpenCost measure_open(const Settings& settings);
Speed measure_speed(const Settings& settings, uint32_t beam_size, uint32_t batch);
LengthCost measure_length(const Settings& settings, uint32_t beam_size, uint32_t short_tokens, uint32_t long_tokens);
Breakdown measure_breakdown(const Settings& settings);
Bandwidth measure_bandwidth(const Settings& settings, uint64_t streamed_bytes);

}  // namespace bench
