// SPDX-License-Identifier: Apache-2.0
// The measurements of goldcrest-bench; each fills a table of its report. Times are medians.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "kernel_recorder.h"
#include "machine.h"
#include "model_runner.h"
#include "timing.h"

namespace bench {
struct Settings {
  std::string model, kernels;
  std::string against;  // kernels that each case of speed is compared with; empty: none
  uint32_t source_tokens = 32, target_tokens = 64;
  double audio_seconds = 0;  // the clip's, for models that take samples; 0: sources are ids
  std::vector<uint32_t> beam_sizes, batches;
  Patience patience;
  uint64_t seed = 1;
  ThreadPool* pool = nullptr;  // the program's, already started
  bool low_memory = false;     // ModelRunner::Options
};

// From a mapped file in the page cache to a started engine, and on to the first token.
struct OpenCost {
  Timing full, structure;            // verification of everything, and without the weights' bytes
  Timing first_token;                // full verification, encoding and one position of greedy search
  Timing first_sentence;             // the same with all of a sentence's target tokens
  uint64_t peak_resident_bytes = 0;  // the process' up to its first sentences, including mapped pages
};

struct Speed {
  uint32_t beam_size = 0, batch = 0;
  uint64_t arena_bytes = 0;
  Timing encode, run;              // run includes encoding
  double tokens_per_s = 0;         // target tokens of all sentences, including encoding
  double decode_tokens_per_s = 0;  // without encoding
  double position_s = 0;           // one target position of the whole batch
};

// The same case with other kernels, in turns, so that a change of the machine's speed falls on both.
struct Comparison {
  std::string kernels;  // the other kernels
  Timing run;           // theirs, encoding included
  double ratio = 0;     // their time over ours, the median of the pairs
  double spread = 0;    // spread of the pairs' ratios, as Timing::spread
};

// The cost of a target position in a short and in a long translation.
struct LengthCost {
  uint32_t beam_size = 0, short_tokens = 0, long_tokens = 0;
  Timing short_position, long_position;
};

// The work of one translation of the batch. Seconds are medians over whole translations.
struct CaseWork {
  Record encode, decode;
};

// The roofline of a case (Williams, Waterman, Patterson 2009): this machine, at its measured speeds, needs at least
// this time for the case's multiply-accumulates and for reading its bytes.

// A part of a translation that reads the same bytes in several passes.
struct Roofline {
  uint64_t macs = 0, bytes = 0;  // all passes together
  double macs_per_s = 0;         // the machine's
  double bytes_per_s = 0;        // the machine's, for a buffer with as many bytes as one pass reads

  double compute_s() const { return static_cast<double>(macs) / macs_per_s; }
  double memory_s() const { return static_cast<double>(bytes) / bytes_per_s; }
  double seconds() const { return compute_s() > memory_s() ? compute_s() : memory_s(); }
  const char* limit() const { return compute_s() > memory_s() ? "arithmetic" : "memory"; }
};

inline Roofline roofline(const KernelWorks& works, uint64_t passes, Machine& machine) {
  const KernelWork sum = total(works);
  return {sum.macs, sum.bytes, machine.macs_per_s().per_s,
      machine.bytes_per_s(static_cast<size_t>(sum.bytes / passes)).per_s};
}

// The least seconds of each part of some work, one part after the other. It is nearer than the roofline: parts that are
// no products of matrices take the time that their kernels take with all operands in the caches.
struct Parts {
  double matrices_s = 0;      // linear layers and output layer, without exponentials: their roofline
  double exponentials_s = 0;  // for the output layer's sums and for activations, at the machine's speed
  double attention_s = 0;
  double rows_s = 0;    // norms, quantization, embedding and whatever else passes over rows
  double choice_s = 0;  // lists of top tokens; all outside of kernels: their merging, the reorder, calls

  double seconds() const { return matrices_s + exponentials_s + attention_s + rows_s + choice_s; }
};

inline Parts parts_of(const Record& record, uint64_t passes, Machine& machine) {
  KernelWorks matrices = {};
  Parts parts;
  uint64_t exponentials = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const KernelWork& work = record.kernels[slot];
    if (slot == kLinear || slot == kOutputBlock) {
      matrices[slot] = work;
      exponentials += work.exponentials;
    } else if (slot == kLogitSums) {
      exponentials += work.exponentials;
    } else {
      (slot == kAttention ? parts.attention_s : slot == kListLargest ? parts.choice_s : parts.rows_s) += work.again_s;
    }
  }
  if (total(matrices).bytes > 0) parts.matrices_s = roofline(matrices, passes, machine).seconds();
  if (exponentials > 0) parts.exponentials_s = static_cast<double>(exponentials) / machine.exponentials_per_s().per_s;
  parts.choice_s += record.rest_s;
  return parts;
}

// Decoding follows encoding, so their times add up.
struct Bound {
  Roofline encode, decode;
  double tokens_per_s = 0;  // encoding included
  Parts encode_parts, decode_parts;
  double parts_tokens_per_s = 0;  // likewise; 0 with several threads, because kernels are recorded on one
};

// One beam size with one batch.
struct Case {
  Speed speed;
  std::optional<Comparison> against;
  std::optional<CaseWork> work;
  std::optional<Bound> bound;
};

// The time of a greedy translation of one sentence, step by step.
struct Breakdown {
  Timing embed;                       // all source positions
  std::vector<Timing> encoder_layer;  // all source positions
  Timing memory;                      // cross-attention's keys and values of all decoder layers
  std::optional<Timing> candidates;   // their choice by a shortlist, and the copy of their weights
  std::vector<Timing> decoder_layer;  // one target position, the middle one; the first layer with the embedding
  Timing output;                      // output layer and choice, one position
};

// The speeds at which the machine reads, by the size of the buffer, and multiplies.
struct MachineSpeeds {
  struct Reading {
    uint64_t bytes = 0;
    Rate speed;  // bytes
  };
  std::vector<Reading> readings;
  Rate macs, exponentials;
  Ratio attention, integer_attention;  // Machine::attention_over_linear
};

struct Report {
  std::string command;
  Host host;
  goldcrest_info model = {};  // strings are not valid
  std::string kernels;
  uint32_t threads = 1, target_tokens = 0;
  uint64_t position_bytes = 0;  // weights, scales, biases and sums that one target position reads
  std::optional<OpenCost> open;
  std::vector<Case> cases;
  std::vector<LengthCost> lengths;
  std::optional<Breakdown> breakdown;
  std::optional<MachineSpeeds> machine;
};

OpenCost measure_open(const Settings& settings);
Speed measure_speed(const Settings& settings, uint32_t beam_size, uint32_t batch);
Comparison compare_kernels(const Settings& settings, uint32_t beam_size, uint32_t batch);
CaseWork measure_work(const Settings& settings, uint32_t beam_size, uint32_t batch);
LengthCost measure_length(const Settings& settings, uint32_t beam_size, uint32_t short_tokens, uint32_t long_tokens);
Breakdown measure_breakdown(const Settings& settings);
MachineSpeeds measure_machine(Machine& machine, uint64_t position_bytes);
Bound bound_of(const Settings& settings, const Speed& speed, const CaseWork& work, Machine& machine);

// Counts Report::position_bytes.
uint64_t position_bytes(const Settings& settings);
}  // namespace bench
