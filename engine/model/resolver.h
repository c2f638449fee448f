// SPDX-License-Identifier: Apache-2.0
// Turns the schema's tables into views. Only the sources that make views include it, after the schema's reader. Each
// has functions of its own, so that in a build with one such source the compiler knows all callers.
#pragma once

#include "base/build_options.h"
#include "model/model_view.h"
#include "model/packed.h"

namespace goldcrest {
// The starts of a file's sections, in units from its own start, and the type of its weights.
struct Sections {
  uint32_t weights, parameters, positions;
  bool is_float32;
};

// Make the views of matrices and of blocks' norms: one function costs less flash than a copy for each. Defined in
// views.cc.
LinearView shared_linear(const Sections& sections, const format::Linear& table);
NormView shared_norm(const Sections& sections, const format::Norm* table);

namespace {
// Returns the start of the section of a kind, in units from the start of the file. Sections are in the order of their
// kinds.
uint32_t section_offset(const format::Model& model, format::SectionKind kind) {
  return model.sections()->at(static_cast<uint32_t>(kind))->offset();
}

// Returns whether a matrix has inputs of 16 bits.
bool has_fine_input(const format::Linear& table) { return kHasAccuracy && table.fine_input(); }

// Returns ModelView::refined_tables.
template <typename Model> [[maybe_unused]] uint8_t refined_tables(const Model& model) {
  const auto* const source = model.encoder()->embedding();
  return static_cast<uint8_t>(
      (source != nullptr && is_refined(*source) ? 1 : 0) | (is_refined(*model.decoder()->embedding()) ? 2 : 0));
}

// Turns the tables' offsets inside sections into offsets inside the file.
struct Resolver : Sections {
  // cppcheck-suppress uninitDerivedMemberVar ; the constructor sets all members of its base
  explicit Resolver(const format::Model& model)
      : Sections{section_offset(model, format::SectionKind::Weights),
            section_offset(model, format::SectionKind::Parameters),
            section_offset(model, format::SectionKind::Positions),
            kHasFloat32 && has_feature(model.features(), kFeatureFloat32)} {}
  // cppcheck-suppress uninitDerivedMemberVar ; the same
  explicit Resolver(const Sections& sections) : Sections(sections) {}

  [[gnu::always_inline]] LinearView linear(const format::Linear& table) const {
    const uint32_t n = pad16(table.n()), k = pad16(table.k());
    return {weights + table.weights(), parameters + table.scale(), parameters + table.bias(),
        parameters + table.weight_sum(), n, k, is_float32 ? WeightType::kFloat32 : WeightType::kInt8,
        has_fine_input(table), is_refined(table) ? static_cast<uint16_t>(n / 16) : uint16_t{0},
        static_cast<Layout>(table.layout()), is_packed(table) ? n * packed_groups(k) : 0};
  }

  NormView norm(const format::Norm* table) const {
    if (table == nullptr) return {0, 0, 0.0f};
    return {parameters + table->gamma(), parameters + table->beta(), table->epsilon()};
  }

  template <typename Block, typename Table, typename View> void block(Block, const Table& table, View& view) const {
    Block::for_each_matrix(
        [this](const MatrixEntry&, const format::Linear* from, LinearView& to) { to = shared_linear(*this, *from); },
        table, view);
    view.norm = shared_norm(*this, table.norm());
    if constexpr (kHasLayers && kCanHaveBias<Table>) view.bias = bias(table);
  }

  template <typename Table> [[gnu::noinline]] AttentionBiasView bias(const Table& block) const {
    const format::AttentionBias* table = bias_of(block);
    if (table == nullptr) return {0, 0, 0};
    return {positions + table->table(), table->before(), pad16(table->before() + 1 + table->after()) + 16};
  }

  StackView stack(const format::Stack& table) const {
    StackView view = {};
    view.d_model = table.d_model();
    view.d_model_padded = pad16(table.d_model());
    view.d_ff = table.d_ff();
    view.n_heads = table.n_heads();
    view.d_head = table.d_head();
    view.n_layers = table.layers()->size();
    view.cache_type = kHasAccuracy && table.fine_attention() ? CacheType::kFine : CacheType::kInt8;
    if (is_float32) view.cache_type = CacheType::kFloat32;
    view.integer_attention = kHasAccuracy && table.integer_attention();
    view.input_type = is_float32 ? InputType::kFloat32 : InputType::kInt8;
    view.max_positions = table.max_positions();
    view.positions = positions + table.positions();
    view.activation = static_cast<Activation>(table.activation());
    view.pre_norm = table.pre_norm();
    view.gated = is_gated(table);
    view.centred = is_centred(table);
    view.positions_used = uses_positions(table);
    view.attention_scale = table.attention_scale();
    view.embedding_scale = table.embedding_scale();
    const format::Embedding* embedding = table.embedding();
    if (!kHasSpeech || embedding != nullptr) {
      view.embedding = {weights + embedding->weights(), parameters + embedding->scale(), embedding->vocab_size(),
          static_cast<Layout>(embedding->layout()), is_packed(*embedding)};
    }
    const format::Rotary* rotary = table.rotary();
    if (kHasLayers && rotary != nullptr) view.rotary = {positions + rotary->table(), rotary->half()};
    view.embedding_norm = norm(table.embedding_norm());
    view.final_norm = norm(table.final_norm());
    return view;
  }
};
}  // namespace
}  // namespace goldcrest
