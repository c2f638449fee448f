// SPDX-License-Identifier: Apache-2.0
#include "kernel_recorder.h"

#include <algorithm>

#include "api/engine.h"

namespace bench {
namespace {

using goldcrest::AttentionArgs;
using goldcrest::EmbedArgs;
using goldcrest::Kernels;
using goldcrest::LayerNormArgs;
using goldcrest::LinearArgs;
using goldcrest::OutputBlockArgs;
using goldcrest::QuantizeRowsArgs;

constexpr uint64_t kBytesPerOutput = 12;  // float scale, float bias, int32 sum
constexpr int kTimings = 1001;            // of an empty stopwatch

// Kernels are plain functions, so what they write to is here.
struct Recording {
  const Kernels* table = nullptr;  // the engine's own
  KernelWorks works;
};
Recording recording;

template <typename Call>
auto record(Slot slot, uint64_t macs, uint64_t bytes, const Call& call) {
  KernelWork& work = recording.works[slot];
  ++work.calls;
  work.macs += macs;
  work.bytes += bytes;
  const Stopwatch watch(work.seconds);
  return call();
}

uint64_t linear_macs(const LinearArgs& args) { return uint64_t{args.rows} * args.n * args.k; }
uint64_t linear_bytes(const LinearArgs& args) { return args.n * (args.k + kBytesPerOutput); }

void linear(const LinearArgs& args) {
  record(kLinear, linear_macs(args), linear_bytes(args), [&] { recording.table->linear(args); });
}

void output_block(const OutputBlockArgs& args) {
  record(kOutputBlock, linear_macs(args.linear), linear_bytes(args.linear),
         [&] { recording.table->output_block(args); });
}

void attention(const AttentionArgs& args) {
  // Keys and values; the rows of a call share them, or at least have that many.
  const uint64_t products = uint64_t{2} * args.n_heads * args.n_keys * args.d_head;
  const uint64_t scales_bytes = uint64_t{2} * args.n_heads * args.n_keys * sizeof(float);
  record(kAttention, args.rows * products, products + scales_bytes, [&] { recording.table->attention(args); });
}

void quantize_rows(const QuantizeRowsArgs& args) {
  record(kQuantizeRows, 0, 0, [&] { recording.table->quantize_rows(args); });
}

void layer_norm(const LayerNormArgs& args) {
  record(kLayerNorm, 0, 0, [&] { recording.table->layer_norm(args); });
}

void embed(const EmbedArgs& args) {
  record(kEmbed, 0, args.n, [&] { recording.table->embed(args); });
}

uint32_t next_above(const float* x, uint32_t begin, uint32_t end, float threshold) {
  return record(kNextAbove, 0, 0, [&] { return recording.table->next_above(x, begin, end, threshold); });
}

// The same slots for float32 files.
goldcrest::FloatKernels record_float32() {
  goldcrest::FloatKernels table = {};
  table.copy_rows = [](const goldcrest::CopyRowsArgs& args) {
    record(kQuantizeRows, 0, 0, [&] { recording.table->float32->copy_rows(args); });
  };
  table.linear = [](const goldcrest::LinearFloatArgs& args) {
    record(kLinear, uint64_t{args.rows} * args.n * args.k, (uint64_t{args.k} + 1) * args.n * sizeof(float),
           [&] { recording.table->float32->linear(args); });
  };
  table.embed = [](const goldcrest::EmbedFloatArgs& args) {
    record(kEmbed, 0, args.n * sizeof(float), [&] { recording.table->float32->embed(args); });
  };
  table.attention = [](const goldcrest::AttentionFloatArgs& args) {
    const uint64_t products = uint64_t{2} * args.n_heads * args.n_keys * args.d_head;
    record(kAttention, args.rows * products, products * sizeof(float),
           [&] { recording.table->float32->attention(args); });
  };
  table.logit_sums = [](const goldcrest::LogitSumsArgs& args) {
    record(kOutputBlock, 0, 0, [&] { recording.table->float32->logit_sums(args); });
  };
  return table;
}

// Seconds that a stopwatch shows around nothing.
double stopwatch_seconds() {
  std::vector<double> times(kTimings, 0.0);
  for (double& seconds : times) const Stopwatch watch(seconds);
  return median(std::move(times));
}

// Seconds that a stopwatch takes.
double stopwatch_cost() {
  double shown = 0;
  const double seconds = time_once([&] {
    for (int i = 0; i < kTimings; ++i) const Stopwatch watch(shown);
  });
  return seconds / kTimings;
}

}  // namespace

const char* slot_name(size_t slot) {
  static constexpr const char* kNames[kSlots] = {"linear",     "output_block", "attention", "quantize_rows",
                                                 "layer_norm", "embed",        "next_above"};
  return kNames[slot];
}

KernelRecorder::KernelRecorder(goldcrest_engine* engine)
    : engine_(engine), table_(*engine->runtime.kernels), clock_s_(stopwatch_seconds()), cost_s_(stopwatch_cost()) {
  recording = {engine->runtime.kernels, {}};
  table_.linear = linear;
  table_.output_block = output_block;
  table_.attention = attention;
  table_.quantize_rows = quantize_rows;
  table_.layer_norm = layer_norm;
  table_.embed = embed;
  table_.next_above = next_above;
  if (table_.float32 != nullptr) {
    float_table_ = record_float32();
    table_.float32 = &float_table_;
  }
  engine->runtime.kernels = &table_;
}

KernelRecorder::~KernelRecorder() { engine_->runtime.kernels = recording.table; }

void KernelRecorder::begin() { recording.works = {}; }

Record KernelRecorder::end(double seconds) {
  Record record = {recording.works, 0};
  for (KernelWork& work : record.kernels) {
    work.seconds = std::max(work.seconds - static_cast<double>(work.calls) * clock_s_, 0.0);
  }
  const KernelWork sum = total(record.kernels);
  record.rest_s = std::max(seconds - sum.seconds - static_cast<double>(sum.calls) * cost_s_, 0.0);
  return record;
}

Record difference(const Record& a, const Record& b) {
  Record result = {{}, std::max(a.rest_s - b.rest_s, 0.0)};
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const KernelWork &x = a.kernels[slot], &y = b.kernels[slot];
    result.kernels[slot] = {x.calls - y.calls, x.macs - y.macs, x.bytes - y.bytes,
                            std::max(x.seconds - y.seconds, 0.0)};
  }
  return result;
}

KernelWork total(const KernelWorks& works) {
  KernelWork sum;
  for (const KernelWork& work : works) {
    sum.calls += work.calls;
    sum.macs += work.macs;
    sum.bytes += work.bytes;
    sum.seconds += work.seconds;
  }
  return sum;
}

}  // namespace bench
