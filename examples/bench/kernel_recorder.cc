// SPDX-License-Identifier: Apache-2.0
#include "kernel_recorder.h"

#include <algorithm>
#include <type_traits>

#include "api/observe.h"

namespace bench {
namespace {

using goldcrest::AttentionArgs;
using goldcrest::EmbedArgs;
using goldcrest::Kernels;
using goldcrest::LayerNormArgs;
using goldcrest::LinearArgs;
using goldcrest::LogitSumsArgs;
using goldcrest::OutputBlockArgs;
using goldcrest::QuantizeRowsArgs;
using goldcrest::RecurrenceArgs;
using goldcrest::TypedKernels;

// float bias; of int8 also float scale and int32 sum
template <typename Element>
constexpr uint64_t kBytesPerOutput = std::is_same_v<Element, float> ? 4 : 12;
constexpr int kTimings = 1001;  // of an empty stopwatch

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

// The engine's own operations for one type of weights.
template <typename Element>
const TypedKernels<Element>& typed_table() {
  if constexpr (std::is_same_v<Element, float>)
    return *recording.table->float32;
  else
    return recording.table->int8;
}

template <typename Element>
uint64_t linear_macs(const LinearArgs<Element>& args) {
  return uint64_t{args.rows} * args.n * args.k;
}

template <typename Element>
uint64_t linear_bytes(const LinearArgs<Element>& args) {
  return args.n * (uint64_t{args.k} * sizeof(Element) + kBytesPerOutput<Element>);
}

template <typename Element>
void quantize_rows(const QuantizeRowsArgs<Element>& args) {
  record(kQuantizeRows, 0, 0, [&] { typed_table<Element>().quantize_rows(args); });
}

template <typename Element>
void linear(const LinearArgs<Element>& args) {
  record(kLinear, linear_macs(args), linear_bytes(args), [&] { typed_table<Element>().linear(args); });
}

template <typename Element>
void embed(const EmbedArgs<Element>& args) {
  record(kEmbed, 0, args.n * sizeof(Element), [&] { typed_table<Element>().embed(args); });
}

template <typename Element>
void attention(const AttentionArgs<Element>& args) {
  // Keys and values; the rows of a call share them, or at least have that many. A key and a value have a scale each.
  const uint64_t pairs = uint64_t{2} * args.n_heads * args.n_keys, products = pairs * args.d_head;
  const uint64_t scales_bytes = std::is_same_v<Element, float> ? 0 : pairs * sizeof(float);
  record(kAttention, args.rows * products, products * sizeof(Element) + scales_bytes,
         [&] { typed_table<Element>().attention(args); });
}

template <typename Element>
void output_block(const OutputBlockArgs<Element>& args) {
  record(kOutputBlock, linear_macs(args.linear), linear_bytes(args.linear),
         [&] { typed_table<Element>().output_block(args); });
}

template <typename Element>
TypedKernels<Element> recorders() {
  static_assert(sizeof(TypedKernels<Element>) == 5 * sizeof(void (*)()), "a slot that is not recorded");
  TypedKernels<Element> table = {};
  table.quantize_rows = quantize_rows;
  table.linear = linear;
  table.embed = embed;
  table.attention = attention;
  table.output_block = output_block;
  return table;
}

void layer_norm(const LayerNormArgs& args) {
  record(kLayerNorm, 0, 0, [&] { recording.table->layer_norm(args); });
}

void logit_sums(const LogitSumsArgs& args) {
  record(kLogitSums, 0, 0, [&] { recording.table->logit_sums(args); });
}

void recurrence(const RecurrenceArgs& args) {
  record(kRecurrence, 0, 0, [&] { recording.table->recurrence(args); });
}

uint32_t next_above(const float* x, uint32_t begin, uint32_t end, float threshold) {
  return record(kNextAbove, 0, 0, [&] { return recording.table->next_above(x, begin, end, threshold); });
}

// The engine's own table with recorders in the slots that searches use. With a slot that is not named this does not
// compile; those of opening a file, and a backend's, stay as they are.
Kernels recording_table(const Kernels& own, const TypedKernels<float>* float32) {
  const auto& [name, cpu_features, own_int8, own_float32, own_layer_norm, own_logit_sums, own_recurrence,
               own_next_above, crc32c, weights_valid, backend, computes_whole] = own;
  return {name,
          cpu_features,
          recorders<int8_t>(),
          own_float32 != nullptr ? float32 : nullptr,
          layer_norm,
          own_logit_sums != nullptr ? logit_sums : nullptr,
          own_recurrence != nullptr ? recurrence : nullptr,
          next_above,
          crc32c,
          weights_valid,
          backend,
          computes_whole};
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
  static constexpr const char* kNames[kSlots] = {"linear", "output_block", "attention",  "quantize_rows", "layer_norm",
                                                 "embed",  "logit_sums",   "recurrence", "next_above"};
  return kNames[slot];
}

KernelRecorder::KernelRecorder(goldcrest_engine* engine)
    : engine_(engine), float_table_(recorders<float>()), clock_s_(stopwatch_seconds()), cost_s_(stopwatch_cost()) {
  recording = {goldcrest::exchange_kernels(engine, nullptr), {}};
  table_ = recording_table(*recording.table, &float_table_);
  goldcrest::exchange_kernels(engine, &table_);
}

KernelRecorder::~KernelRecorder() { goldcrest::exchange_kernels(engine_, recording.table); }

void KernelRecorder::begin() { recording.works = {}; }

Record KernelRecorder::end(double seconds) {
  Record record = {recording.works, 0, 0};
  for (KernelWork& work : record.kernels) {
    work.seconds = std::max(work.seconds - static_cast<double>(work.calls) * clock_s_, 0.0);
  }
  const KernelWork sum = total(record.kernels);
  record.rest_s = std::max(seconds - sum.seconds - static_cast<double>(sum.calls) * cost_s_, 0.0);
  return record;
}

Record difference(const Record& a, const Record& b) {
  Record result = {{}, std::max(a.rest_s - b.rest_s, 0.0), a.spread};
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
