// SPDX-License-Identifier: Apache-2.0
// The list of each block's matrices, and the walks over a layer's blocks. All code that needs every matrix walks here.
// A list serves every type of its block: the schema's table, that table's object (FeedForwardT), the view, and the
// converter's spec. The spec has the parts of a matrix that a checkpoint stores separately.
#pragma once

#include <stdint.h>
#include "base/align.h"
#include "base/build_options.h"
#include "base/types.h"
#include "model/linear_view.h"

namespace goldcrest {
// The widths whose multiples are the dimensions of matrices.
enum class Width : uint8_t {
  kModel,        // d_model
  kHeads,        // n_heads * d_head
  kInner,        // d_ff
  kGatedInner,   // d_ff, or twice that with padding in a gated stack
  kSourceModel,  // the encoder's d_model
  kPaddedModel,  // d_model, always padded
};
constexpr uint32_t kWidths = 6;

// Elements of a stored matrix, by Width.
struct BlockWidths {
  uint32_t values[kWidths];
  constexpr uint32_t of(Width width) const { return values[static_cast<int>(width)]; }
};

struct Dimension {
  uint8_t times;
  Width width;
  constexpr uint32_t in(const BlockWidths& widths) const { return times * widths.of(width); }
};

// One linear layer of a block.
struct MatrixEntry {
  const char* name;  // in errors
  Dimension n, k;    // outputs, inputs
  // Returns whether its inputs are the encoder's outputs. Then it is computed once for each source, not for each target
  // position.
  constexpr bool reads_source() const { return k.width == Width::kSourceModel; }
};

// Returns a member of `object`: the result of a table's accessor (a pointer), or the data member itself. One small
// function serves all walks.
template <auto kAccessor, typename Object>
[[gnu::noinline]] auto member_of(const Object& object) -> decltype((object.*kAccessor)()) {
  return (object.*kAccessor)();
}
template <auto kMember, typename Object>
[[gnu::always_inline]] inline auto member_of(Object& object) -> decltype((object.*kMember)) {
  return object.*kMember;
}

// The same for a number, inlined.
template <auto kMember, typename Object> [[gnu::always_inline]] inline uint32_t number_of(const Object& object) {
  if constexpr (kIsMemberFunction<decltype(kMember)>) return (object.*kMember)();
  else return object.*kMember;
}

// The elements of a dimension, in groups. A file can pad each group separately, as it does with heads.
struct Groups {
  uint32_t count, elements;
  uint32_t stored_elements;  // with padding
};

struct StackGroups {
  Groups values[kWidths];
  constexpr const Groups& of(Width width) const { return values[static_cast<int>(width)]; }
};

// Returns whether the stack's feed-forward blocks have a gate.
template <typename Stack> [[gnu::always_inline]] inline bool is_gated(const Stack& stack) {
  return kHasLayers && number_of<&Stack::gated>(stack) != 0;
}

// Returns whether a second matrix follows the first, of a matrix or a table of embeddings.
template <typename Table> [[gnu::always_inline]] inline bool is_refined(const Table& table) {
  return kHasAccuracy && table.refined();
}

template <typename Table> [[gnu::always_inline]] inline bool is_packed(const Table& table) {
  return has_packed(table.packed());
}

// Returns whether the stack has a row of its own for each position.
template <typename Stack> [[gnu::always_inline]] inline bool uses_positions(const Stack& stack) {
  return number_of<&Stack::positions_used>(stack) != 0;
}

// Returns whether the stack's norms subtract the mean.
template <typename Stack> [[gnu::always_inline]] inline bool is_centred(const Stack& stack) {
  return number_of<&Stack::centred>(stack) != 0;
}

// Returns a block's biases; null if it has none or its type of block cannot have any.
template <typename Block, typename = void> constexpr bool kCanHaveBias = false;
template <typename Block> constexpr bool kCanHaveBias<Block, IfValid<decltype(&Block::bias)>> = true;

template <typename Block> auto bias_of([[maybe_unused]] const Block& block) {
  if constexpr (kCanHaveBias<Block>) return member_of<&Block::bias>(block);
  else return nullptr;
}

// Returns the widths of a stack: the schema's table or object, a view, or the converter's spec. Only here does a choice
// of a stack change the shape of a matrix. source_d_model: the encoder's d_model.
template <typename Stack>
[[gnu::always_inline]] inline StackGroups groups_of(const Stack& stack, uint32_t source_d_model) {
  const uint32_t d_model = number_of<&Stack::d_model>(stack), d_ff = number_of<&Stack::d_ff>(stack),
                 n_heads = number_of<&Stack::n_heads>(stack), d_head = number_of<&Stack::d_head>(stack);
  const Groups gated = {2, d_ff, pad16(d_ff)}, inner = {1, d_ff, d_ff};
  return {{{1, d_model, d_model}, {n_heads, d_head, pad16(d_head)}, inner, is_gated(stack) ? gated : inner,
      {1, source_d_model, source_d_model}, {1, d_model, pad16(d_model)}}};
}

template <typename Stack>
[[gnu::always_inline]] inline BlockWidths widths_of(const Stack& stack, uint32_t source_d_model) {
  const StackGroups groups = groups_of(stack, source_d_model);
  BlockWidths widths = {};
  for (uint32_t i = 0; i < kWidths; ++i) widths.values[i] = groups.values[i].count * groups.values[i].stored_elements;
  return widths;
}

// The kind of a layer, which decides its blocks.
struct LayerKind {
  bool is_decoder, has_cells;
  uint32_t features;  // the file's
  // Returns whether a recurrent block stands in the place of self-attention.
  constexpr bool is_recurrent() const { return kHasLayers && has_cells; }
};

// Each block has: its name; the feature that a file with it needs (0: none); its errors if it is missing or misplaced
// (null: never); whether it belongs in a layer; its matrices in the file's order; its member of a layer; and a walk
// that calls visit(entry, matrix of each of `blocks`) for these matrices. A walk takes several blocks in parallel, such
// as a table and its view.
struct SelfAttentionView {
  LinearView query_key_value;  // [3 * n_heads * d_head, d_model]
  LinearView out;              // [d_model, n_heads * d_head]
  NormView norm;
  AttentionBiasView bias;
};
struct SelfAttentionBlock {
  static constexpr const char* kName = "self_attention";
  static constexpr uint32_t kFeature = 0;
  static constexpr const char* kMissing = "layers.self_attention: missing";
  static constexpr const char* kNorm = "layers.self_attention.norm";
  static constexpr const char* kMisplaced = nullptr;
  static constexpr bool belongs(const LayerKind& layer) { return !layer.is_recurrent(); }
  static constexpr MatrixEntry kMatrices[] = {
      {"layers.self_attention.query_key_value", {3, Width::kHeads}, {1, Width::kModel}},
      {"layers.self_attention.out", {1, Width::kModel}, {1, Width::kHeads}}};
  template <typename Layer> static auto of(Layer& layer) -> decltype(member_of<&Layer::self_attention>(layer)) {
    return member_of<&Layer::self_attention>(layer);
  }
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kMatrices[0], member_of<&Blocks::query_key_value>(blocks)...);
    visit(kMatrices[1], member_of<&Blocks::out>(blocks)...);
  }
};

// Replaces self-attention in layers of the decoder: f = sigmoid(forget(x)), cell = f * cell + (1 - f) * input(x)
struct RecurrentView {
  LinearView input_forget;  // [2 * d_model padded, d_model]
  NormView norm;
};
struct RecurrentBlock {
  static constexpr const char* kName = "recurrent";
  static constexpr uint32_t kFeature = kFeatureRecurrent;
  static constexpr const char* kMissing = nullptr;
  static constexpr const char* kNorm = "layers.recurrent.norm";
  static constexpr const char* kMisplaced = "layers.recurrent: not expected";
  static constexpr bool belongs(const LayerKind& layer) { return layer.is_recurrent(); }
  static constexpr MatrixEntry kMatrices[] = {
      {"layers.recurrent.input_forget", {2, Width::kPaddedModel}, {1, Width::kModel}}};
  template <typename Layer> static auto of(Layer& layer) -> decltype(member_of<&Layer::recurrent>(layer)) {
    return member_of<&Layer::recurrent>(layer);
  }
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kMatrices[0], member_of<&Blocks::input_forget>(blocks)...);
  }
};

struct CrossAttentionView {
  LinearView query;      // [n_heads * d_head, d_model]
  LinearView key_value;  // [2 * n_heads * d_head, encoder's d_model]
  LinearView out;        // [d_model, n_heads * d_head]
  NormView norm;
};
struct CrossAttentionBlock {
  static constexpr const char* kName = "cross_attention";
  static constexpr uint32_t kFeature = 0;
  static constexpr const char* kMissing = "layers.cross_attention: missing";
  static constexpr const char* kNorm = "layers.cross_attention.norm";
  static constexpr const char* kMisplaced = "encoder.layers.cross_attention";
  static constexpr bool belongs(const LayerKind& layer) { return layer.is_decoder; }
  static constexpr MatrixEntry kMatrices[] = {{"layers.cross_attention.query", {1, Width::kHeads}, {1, Width::kModel}},
      {"layers.cross_attention.key_value", {2, Width::kHeads}, {1, Width::kSourceModel}},
      {"layers.cross_attention.out", {1, Width::kModel}, {1, Width::kHeads}}};
  template <typename Layer> static auto of(Layer& layer) -> decltype(member_of<&Layer::cross_attention>(layer)) {
    return member_of<&Layer::cross_attention>(layer);
  }
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kMatrices[0], member_of<&Blocks::query>(blocks)...);
    visit(kMatrices[1], member_of<&Blocks::key_value>(blocks)...);
    visit(kMatrices[2], member_of<&Blocks::out>(blocks)...);
  }
};

struct FeedForwardView {
  LinearView in;   // [d_ff, d_model]; gated [2 * d_ff padded, d_model]
  LinearView out;  // [d_model, d_ff]
  NormView norm;
};
struct FeedForwardBlock {
  static constexpr const char* kName = "feed_forward";
  static constexpr uint32_t kFeature = 0;
  static constexpr const char* kMissing = "layers.feed_forward: missing";
  static constexpr const char* kNorm = "layers.feed_forward.norm";
  static constexpr const char* kMisplaced = nullptr;
  static constexpr bool belongs(const LayerKind&) { return true; }
  static constexpr MatrixEntry kMatrices[] = {{"layers.feed_forward.in", {1, Width::kGatedInner}, {1, Width::kModel}},
      {"layers.feed_forward.out", {1, Width::kModel}, {1, Width::kInner}}};
  template <typename Layer> static auto of(Layer& layer) -> decltype(member_of<&Layer::feed_forward>(layer)) {
    return member_of<&Layer::feed_forward>(layer);
  }
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kMatrices[0], member_of<&Blocks::in>(blocks)...);
    visit(kMatrices[1], member_of<&Blocks::out>(blocks)...);
  }
};

// The views of an encoder's and of a decoder's layer, with all blocks that such a layer can have.
struct EncoderLayerView {
  LayerKind kind;
  SelfAttentionView self_attention;
  FeedForwardView feed_forward;
};
struct DecoderLayerView {
  LayerKind kind;
  union {
    SelfAttentionView self_attention;
    RecurrentView recurrent;  // if kind.is_recurrent()
  };
  CrossAttentionView cross_attention;
  FeedForwardView feed_forward;
  // The number of earlier decoder layers of the same kind, recurrent or not; only in builds that run recurrent layers.
  uint32_t index_among_kind;
};

// Tells whether a type of layer can hold a block.
template <typename Block, typename Layer, typename = void> constexpr bool kCanHold = false;
template <typename Block, typename Layer>
constexpr bool kCanHold<Block, Layer, IfValid<decltype(Block::of(*static_cast<Layer*>(nullptr)))>> = true;

template <typename... Blocks> struct BlockList {
  template <typename Visit, typename... Layers>
  [[gnu::always_inline]] static inline void for_each(Visit&& visit, Layers&... layers) {
    (visit_one<Blocks>(visit, layers...), ...);
  }
 private:
  template <typename Block, typename Visit, typename... Layers>
  [[gnu::always_inline]] static inline void visit_one(
      [[maybe_unused]] Visit& visit, [[maybe_unused]] Layers&... layers) {
    if constexpr ((Block::kFeature & ~kSupportedFeatures) == 0 && (kCanHold<Block, Layers> && ...))
      visit(Block{}, Block::of(layers)...);
  }
};

// All blocks in the order of their computation, which is also the order of a file's matrices.
using AllBlocks = BlockList<SelfAttentionBlock, RecurrentBlock, CrossAttentionBlock, FeedForwardBlock>;

// Calls visit(block, that block of each of `layers`) for every block that all of these types of layer can hold. Without
// layers it calls visit(block).
template <typename Visit, typename... Layers>
[[gnu::always_inline]] inline void for_each_block(Visit&& visit, Layers&... layers) {
  AllBlocks::for_each(visit, layers...);
}

// Returns whether a layer (the schema's table) has a recurrent block.
template <typename Table> bool has_recurrent(const Table& layer) {
  return kHasLayers && member_of<&Table::recurrent>(layer) != nullptr;
}

// Calls visit(entry, linear) for every matrix of the layers of a stack (the schema's object).
template <typename Stack, typename Visit> void for_each_linear(Stack& stack, const Visit& visit) {
  for (auto& layer : stack.layers) {
    for_each_block(
        [&](auto block, auto& of_layer) {
          if (of_layer == nullptr) return;
          block.for_each_matrix([&](const MatrixEntry& entry, auto& linear) { visit(entry, *linear); }, *of_layer);
        },
        *layer);
  }
}
}  // namespace goldcrest
