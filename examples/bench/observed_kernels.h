// SPDX-License-Identifier: Apache-2.0
// A kernel table that calls another table and reports each call to an observer (engine/api/observe.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include "kernels/kernels.h"
#include "model/packed.h"

namespace bench {
// The observed slots. With float32 files quantize_rows copies the rows. Both kinds of rows count in it and in
// attention.
enum Slot {
  kLinear,
  kOutputBlock,
  kAttention,
  kQuantizeRows,
  kLayerNorm,
  kEmbed,
  kLogitSums,
  kFinishFine,
  kRecurrence,
  kListLargest,
  kSlots
};

inline const char* slot_name(size_t slot) {
  static constexpr const char* kNames[kSlots] = {"linear", "output_block", "attention", "quantize_rows", "layer_norm",
      "embed", "logit_sums", "finish_fine", "recurrence", "list_largest"};
  return kNames[slot];
}

struct CallWork {
  Slot slot;
  uint64_t macs;   // multiply-accumulates
  uint64_t bytes;  // weights, their scales, biases and sums, or keys, values and their scales; each counts once
  uint64_t exponentials = 0;
};

template <typename Element> CallWork linear_work(Slot slot, const goldcrest::LinearArgs<Element>& args) {
  // The parameters are a float bias; int8 also has a float scale and an int32 sum.
  const uint64_t output_bytes = args.k * sizeof(Element) + (sizeof(Element) == 1 ? 12 : 4);
  const bool has_exponentials =
      args.activation != goldcrest::Activation::kNone && args.activation != goldcrest::Activation::kRelu;
  return {slot, uint64_t{args.rows} * args.n * args.k, args.n * output_bytes,
      has_exponentials ? uint64_t{args.rows} * args.n : 0};
}

// Keys and values, each with a scale if they are integers. The rows of a call share them, or have at least this many.
// products, bytes: of a column of a key and its value
template <typename Element>
CallWork attention_work(const goldcrest::AttentionArgs<Element>& args, uint64_t products, uint64_t bytes) {
  const uint64_t keys = uint64_t{args.n_heads} * args.n_keys, columns = keys * args.d_head;
  const uint64_t scales_bytes = sizeof(Element) == 1 ? 2 * keys * sizeof(float) : 0;
  return {kAttention, args.rows * columns * products, columns * bytes + scales_bytes, args.rows * keys};
}

// Kernels are plain functions, so all members of an observer are static:
//   static const goldcrest::Kernels* table;        the engine's own
//   static auto observe(const CallWork&, call, const goldcrest::LargestNumbers* list = nullptr);
//     returns call(); a second call finds other numbers in the list and takes another time, if they are not restored
template <typename Observer, typename Element> struct ObservedTypedKernels {
  static goldcrest::TypedKernels<Element> table() {
    static_assert(sizeof(goldcrest::TypedKernels<Element>) == 5 * sizeof(void (*)()), "a slot that is not observed");
    goldcrest::TypedKernels<Element> kernels = {};
    kernels.quantize_rows = quantize_rows;
    kernels.linear = linear;
    kernels.embed = embed;
    kernels.attention = attention;
    kernels.output_block = output_block;
    return kernels;
  }
 private:
  using LinearArgs = goldcrest::LinearArgs<Element>;
  static constexpr bool kScaled = !std::is_same_v<Element, float>;

  static const goldcrest::TypedKernels<Element>& own() {
    if constexpr (kScaled) return Observer::table->int8;
    else return *Observer::table->float32;
  }

  static void quantize_rows(const goldcrest::QuantizeRowsArgs<Element>& args) {
    Observer::observe({kQuantizeRows, 0, 0}, [&] { own().quantize_rows(args); });
  }

  static void linear(const LinearArgs& args) {
    Observer::observe(linear_work(kLinear, args), [&] { own().linear(args); });
  }

  static void embed(const goldcrest::EmbedArgs<Element>& args) {
    Observer::observe({kEmbed, 0, args.n * sizeof(Element)}, [&] { own().embed(args); });
  }

  static void attention(const goldcrest::AttentionArgs<Element>& args) {
    Observer::observe(attention_work(args, 2, 2 * sizeof(Element)), [&] { own().attention(args); });
  }

  static void output_block(const goldcrest::OutputBlockArgs<Element>& args) {
    CallWork work = linear_work(kOutputBlock, args.linear);
    if (args.block_max != nullptr) work.exponentials = uint64_t{args.linear.rows} * args.count;
    Observer::observe(work, [&] { own().output_block(args); });
  }
};

template <typename Observer> struct ObservedKernels {
  // Returns `own` with observers in the slots that searches use. Slots for opening a file and for backends stay as they
  // are. Every slot is named, so that a new one breaks the build here. float32: the observed float32 table; null if
  // `own` has none.
  static goldcrest::Kernels table(const goldcrest::Kernels& own, const goldcrest::TypedKernels<float>* float32) {
    const auto& [name, cpu_features, own_int8, own_float32, own_layer_norm, own_logit_sums, own_finish_fine,
        own_quantize_fine_inputs, own_linear_fine, own_quantize_fine, own_fine_attention, own_linear_packed,
        own_recurrence, own_list_largest, crc32c, weights_valid, backend, parallelizes_itself] = own;
    return {name, cpu_features, ObservedTypedKernels<Observer, int8_t>::table(),
        own_float32 != nullptr ? float32 : nullptr, layer_norm, own_logit_sums != nullptr ? logit_sums : nullptr,
        own_finish_fine != nullptr ? finish_fine : nullptr,
        own_quantize_fine_inputs != nullptr ? quantize_fine_inputs : nullptr,
        own_linear_fine != nullptr ? linear_fine : nullptr, own_quantize_fine != nullptr ? quantize_fine : nullptr,
        own_fine_attention != nullptr ? fine_attention : nullptr,
        own_linear_packed != nullptr ? linear_packed : nullptr, own_recurrence != nullptr ? recurrence : nullptr,
        list_largest, crc32c, weights_valid, backend, parallelizes_itself};
  }
 private:
  static void layer_norm(const goldcrest::LayerNormArgs& args) {
    Observer::observe({kLayerNorm, 0, 0}, [&] { Observer::table->layer_norm(args); });
  }

  static void logit_sums(const goldcrest::LogitSumsArgs& args) {
    Observer::observe({kLogitSums, 0, 0, uint64_t{args.rows} * args.count}, [&] { Observer::table->logit_sums(args); });
  }

  static void finish_fine(const goldcrest::LinearArgs<int8_t>& args, const float* products) {
    Observer::observe({kFinishFine, 0, 0}, [&] { Observer::table->finish_fine(args, products); });
  }

  static void quantize_fine_inputs(const goldcrest::QuantizeRowsArgs<int8_t>& args, float* remainders) {
    Observer::observe({kQuantizeRows, 0, 0}, [&] { Observer::table->quantize_fine_inputs(args, remainders); });
  }

  static void linear_fine(const goldcrest::LinearArgs<int8_t>& args) {
    CallWork work = linear_work(kLinear, args);
    work.macs *= 2;  // inputs and remainders
    Observer::observe(work, [&] { Observer::table->linear_fine(args); });
  }

  static void quantize_fine(const goldcrest::QuantizeRowsArgs<int8_t>& args) {
    Observer::observe({kQuantizeRows, 0, 0}, [&] { Observer::table->quantize_fine(args); });
  }

  static void fine_attention(
      const goldcrest::AttentionArgs<int8_t>& args) {  // three products with keys, two with values
    Observer::observe(attention_work(args, 5, 4), [&] { Observer::table->fine_attention(args); });
  }

  static void linear_packed(const goldcrest::LinearArgs<int8_t>& args) {
    CallWork work = linear_work(kLinear, args);
    work.bytes -= uint64_t{args.n} * args.k - goldcrest::packed_bytes(args.n, args.k);
    Observer::observe(work, [&] { Observer::table->linear_packed(args); });
  }

  static void recurrence(const goldcrest::RecurrenceArgs& args) {
    Observer::observe({kRecurrence, 0, 0}, [&] { Observer::table->recurrence(args); });
  }

  static void list_largest(const goldcrest::ListLargestArgs& args) {
    Observer::observe(
        {kListLargest, 0, 0}, [&] { Observer::table->list_largest(args); }, &args.list);
  }
};
}  // namespace bench
