// SPDX-License-Identifier: Apache-2.0
// The list of each block's matrices, and the walks over a layer's blocks and a model's layers: whoever needs all
// matrices walks here. A list serves every type of its block: the schema's table, that table's object (FeedForwardT),
// the view.
#pragma once

#include <cstdint>
#include <type_traits>

namespace goldcrest {

// What the dimensions of matrices are multiples of.
enum class Width : uint8_t {
  kModel,        // d_model
  kHeads,        // n_heads * d_head
  kInner,        // d_ff
  kSourceModel,  // the encoder's d_model
  kPaddedModel,  // d_model, always padded
};

// By Width; all padded to multiples of 16, or none (but kHeads and kPaddedModel, which always are).
struct BlockWidths {
  uint32_t values[5];
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
  // Its inputs are the encoder's outputs: computed once for a source, not for each target position.
  constexpr bool reads_source() const { return k.width == Width::kSourceModel; }
};

// A member of `object`: what a table's accessor returns (a pointer; one small function serves all walks), or the data
// member itself.
template <auto kAccessor, typename Object>
[[gnu::noinline]] auto member_of(const Object& object) -> decltype((object.*kAccessor)()) {
  return (object.*kAccessor)();
}
template <auto kMember, typename Object>
[[gnu::always_inline]] inline auto member_of(Object& object) -> decltype((object.*kMember)) {
  return object.*kMember;
}

// Each block: its errors where it is missing or does not belong (null: never), whether it belongs in a layer, and
// visit(entry, linear of each of `blocks`) for its matrices in the file's order. Several blocks are walked side by
// side, as a table and its view; without any, visit gets the entries alone.
struct SelfAttentionBlock {
  static constexpr const char* kMissing = "layers.self_attention: missing";
  static constexpr const char* kNorm = "layers.self_attention.norm";
  static constexpr const char* kMisplaced = nullptr;
  static constexpr bool belongs(bool, bool is_recurrent) { return !is_recurrent; }
  static constexpr MatrixEntry kQueryKeyValue = {
      "layers.self_attention.query_key_value", {3, Width::kHeads}, {1, Width::kModel}};
  static constexpr MatrixEntry kOut = {"layers.self_attention.out", {1, Width::kModel}, {1, Width::kHeads}};
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kQueryKeyValue, member_of<&Blocks::query_key_value>(blocks)...);
    visit(kOut, member_of<&Blocks::out>(blocks)...);
  }
};

// In place of self-attention, in layers of the decoder.
struct RecurrentBlock {
  static constexpr const char* kMissing = nullptr;
  static constexpr const char* kNorm = "layers.recurrent.norm";
  static constexpr const char* kMisplaced = "layers.recurrent: not expected";
  static constexpr bool belongs(bool, bool is_recurrent) { return is_recurrent; }
  static constexpr MatrixEntry kInputForget = {
      "layers.recurrent.input_forget", {2, Width::kPaddedModel}, {1, Width::kModel}};
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kInputForget, member_of<&Blocks::input_forget>(blocks)...);
  }
};

struct CrossAttentionBlock {
  static constexpr const char* kMissing = "layers.cross_attention: missing";
  static constexpr const char* kNorm = "layers.cross_attention.norm";
  static constexpr const char* kMisplaced = "encoder.layers.cross_attention";
  static constexpr bool belongs(bool is_decoder, bool) { return is_decoder; }
  static constexpr MatrixEntry kQuery = {"layers.cross_attention.query", {1, Width::kHeads}, {1, Width::kModel}};
  static constexpr MatrixEntry kKeyValue = {
      "layers.cross_attention.key_value", {2, Width::kHeads}, {1, Width::kSourceModel}};
  static constexpr MatrixEntry kOut = {"layers.cross_attention.out", {1, Width::kModel}, {1, Width::kHeads}};
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kQuery, member_of<&Blocks::query>(blocks)...);
    visit(kKeyValue, member_of<&Blocks::key_value>(blocks)...);
    visit(kOut, member_of<&Blocks::out>(blocks)...);
  }
};

struct FeedForwardBlock {
  static constexpr const char* kMissing = "layers.feed_forward: missing";
  static constexpr const char* kNorm = "layers.feed_forward.norm";
  static constexpr const char* kMisplaced = nullptr;
  static constexpr bool belongs(bool, bool) { return true; }
  static constexpr MatrixEntry kIn = {"layers.feed_forward.in", {1, Width::kInner}, {1, Width::kModel}};
  static constexpr MatrixEntry kOut = {"layers.feed_forward.out", {1, Width::kModel}, {1, Width::kInner}};
  template <typename Visit, typename... Blocks>
  [[gnu::always_inline]] static inline void for_each_matrix(Visit&& visit, Blocks&... blocks) {
    visit(kIn, member_of<&Blocks::in>(blocks)...);
    visit(kOut, member_of<&Blocks::out>(blocks)...);
  }
};

// Whether a type of layer can be recurrent: the schema's own in builds that run such layers or convert, the view of a
// decoder layer.
template <typename Layer, typename = void>
constexpr bool kCanRecur = false;
template <typename Layer>
constexpr bool kCanRecur<Layer, std::void_t<decltype(&Layer::recurrent)>> = true;

// Whether a layer, the schema's table, has a recurrent block.
template <typename Table>
bool has_recurrent([[maybe_unused]] const Table& layer) {
  if constexpr (kCanRecur<Table>) return member_of<&Table::recurrent>(layer) != nullptr;
  return false;
}

// visit(block, that block of each of `layers`) for what a layer can hold, in the order of its computation: tables and
// objects of both stacks.
template <typename Visit, typename Layer>
[[gnu::always_inline]] inline void for_each_block(Visit&& visit, Layer& layer) {
  visit(SelfAttentionBlock{}, member_of<&Layer::self_attention>(layer));
  if constexpr (kCanRecur<Layer>) visit(RecurrentBlock{}, member_of<&Layer::recurrent>(layer));
  visit(CrossAttentionBlock{}, member_of<&Layer::cross_attention>(layer));
  visit(FeedForwardBlock{}, member_of<&Layer::feed_forward>(layer));
}

// The same for what an encoder layer does hold, side by side in several types, or in none: the blocks alone.
template <typename Visit, typename... Layers>
[[gnu::always_inline]] inline void for_each_encoder_block(Visit&& visit, Layers&... layers) {
  visit(SelfAttentionBlock{}, member_of<&Layers::self_attention>(layers)...);
  visit(FeedForwardBlock{}, member_of<&Layers::feed_forward>(layers)...);
}

// For a decoder layer with self-attention.
template <typename Visit, typename... Layers>
[[gnu::always_inline]] inline void for_each_decoder_block(Visit&& visit, Layers&... layers) {
  visit(SelfAttentionBlock{}, member_of<&Layers::self_attention>(layers)...);
  visit(CrossAttentionBlock{}, member_of<&Layers::cross_attention>(layers)...);
  visit(FeedForwardBlock{}, member_of<&Layers::feed_forward>(layers)...);
}

// For one that is recurrent.
template <typename Visit, typename... Layers>
[[gnu::always_inline]] inline void for_each_recurrent_block(Visit&& visit, Layers&... layers) {
  visit(RecurrentBlock{}, member_of<&Layers::recurrent>(layers)...);
  visit(CrossAttentionBlock{}, member_of<&Layers::cross_attention>(layers)...);
  visit(FeedForwardBlock{}, member_of<&Layers::feed_forward>(layers)...);
}

// visit(entry, linear) for every matrix of the layers of a stack, the schema's object.
template <typename Stack, typename Visit>
void for_each_linear(Stack& stack, const Visit& visit) {
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
