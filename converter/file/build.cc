// SPDX-License-Identifier: Apache-2.0
// Walks the model in the order of the file: encoder, decoder, projection. A tensor's metadata and bytes are made at the
// same place.
#include "file/build.h"
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include "base/build_options.h"
#include "base/hash.h"
#include "file/activation.h"
#include "file/fine_inputs.h"
#include "file/format.h"
#include "file/frontend_section.h"
#include "file/metadata.h"
#include "file/section_writer.h"
#include "file/shortlist_section.h"
#include "file/tokenizer_section.h"
#include "host/printable.h"
#include "model/model_view.h"
#include "quantize/pack_rows.h"
#include "quantize/quantize.h"
#include "spec/error.h"
#include "spec/layer_blocks.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter {
namespace {
using format::SectionKind;

// Consecutive rows of one stored matrix.
struct LinearParts {
  std::vector<LinearPart> parts;
  Placement rows;  // each part's place
  Placement columns;
};

Placement placement_of(const Groups& groups) { return {groups.count, groups.elements, groups.stored_elements}; }

void refuse_both(const std::string& name, bool refined, bool packed) {
  if (refined && packed)
    throw Error("{}: --pack gives it weights of 4 bits, and --accuracy or --matrices weights of 16; choose one",
        printable(name));
}

std::string bias_name(const Matrix& weight) { return format_text("bias of tensor '{}'", printable(weight.name)); }

class Builder {
 public:
  Builder(const ModelSpec& spec, const BuildOptions& options) : spec_(spec), options_(options) {}

  Payload run();
 private:
  // A table that embeddings and projection may share.
  struct Table {
    Layout layout = Layout::kRowMajor;
    uint32_t weights = 0, scale = 0;  // units
    std::vector<int32_t> weight_sum;  // empty: float
    bool refined = false, packed = false;
  };

  std::unique_ptr<format::StackT> stack(const std::string& name, const StackSpec& stack);
  std::unique_ptr<format::FrontendT> frontend(const FrontendSpec& frontend);
  std::unique_ptr<format::LayerT> layer(const std::string& name, const LayerSpec& layer, const StackSpec& stack);
  std::unique_ptr<format::EmbeddingT> embedding(const Matrix& matrix);
  // Returns whether the matrix gets a second one. One that keeps its integers leaves no remainder.
  bool refines(const std::string& name, const Matrix& of) {
    return has_second(name) && of.stored_scale.empty() && !name.ends_with(".head");
  }
  bool has_second(const std::string& name) { return (levels_.terms_of(name) & kSecondMatrix) != 0; }
  // Returns whether the matrix has weights of 4 bits. Convolutions keep 8: they are small, and every row depends on
  // them.
  bool packs(const std::string& name) {
    return name.find(".convolutions.") == name.npos && (packed_.terms_of(name) & kPackedWeights) != 0;
  }
  // Returns whether a table, which several may share, has something that `asks` says of one of its names.
  template <typename Asks> bool any_name_of(const Matrix& table, const Asks& asks) const;
  // Quantizes `parts`, which are rows of `matrix` one after another, or takes a kept matrix. Returns the ratio of each.
  std::vector<std::optional<double>> quantize_parts(const std::string& name, std::span<const Matrix* const> parts,
      const Placement& rows, const Placement& columns, bool packed, QuantizedMatrix& matrix) const;
  std::unique_ptr<format::LinearT> projection();
  std::unique_ptr<format::LinearT> linear(const std::string& name, const LinearParts& from);
  // Records the parts of a matrix with `rows` rows. sqnr_db: of each; none: float. Returns the biases [rows].
  std::vector<float> record_parts(
      const LinearParts& from, uint64_t row_bytes, uint32_t rows, std::span<const std::optional<double>> sqnr_db);
  std::unique_ptr<format::NormT> norm(const std::string& name, const NormSpec& norm);
  std::unique_ptr<format::AttentionBiasT> bias(const std::string& name, uint32_t heads, const AttentionBiasSpec& bias);
  const Table& table(const Matrix& matrix);
  Table quantized_table(const Matrix& matrix);
  Table float_table(const Matrix& matrix);
  bool is_projected(const Matrix& matrix) const { return &matrix == spec_.projection.weight.get(); }
  // These return the array's offset in units.
  uint32_t positions(const std::string& name, const StackSpec& stack);
  uint32_t floats(const std::string& name, std::span<const float> values);
  uint32_t weights(const QuantizedMatrix& matrix, Layout layout);
  uint32_t weights(const FloatMatrix& matrix);

  void choose_attention_weights(format::ModelT& metadata) const;

  // Reports progress after a layer or a table.
  void advance();
  void record(const std::string& name, uint32_t rows, uint32_t columns, uint64_t bytes, std::optional<double> sqnr_db);

  const ModelSpec& spec_;
  const BuildOptions& options_;
  MatrixLevels levels_{options_.accuracy}, packed_{options_.pack, "--pack"};
  SectionWriter weights_{SectionKind::Weights}, parameters_{SectionKind::Parameters};
  SectionWriter positions_{SectionKind::Positions}, tokenizer_{SectionKind::Tokenizer};
  std::map<const Matrix*, Table> tables_;
  std::map<const AttentionBiasSpec*, uint32_t> biases_;  // units
  uint32_t encoder_positions_ = 0;                       // units
  uint64_t weights_hash_ = kHashStart;
  std::string group_;  // the tensors now being written
  std::vector<TensorRecord> tensors_;
  size_t n_done_ = 0;
};

void Builder::advance() {
  constexpr size_t kTables = 3;  // two embeddings and the projection
  const size_t total = spec_.encoder.layers.size() + spec_.decoder.layers.size() + kTables;
  if (options_.progress) options_.progress(++n_done_, total);
}

void Builder::record(
    const std::string& name, uint32_t rows, uint32_t columns, uint64_t bytes, std::optional<double> sqnr_db) {
  tensors_.push_back({name, group_, rows, columns, bytes, sqnr_db});
}

uint32_t Builder::weights(const QuantizedMatrix& matrix, Layout layout) {
  weights_hash_ = hash_int8(weights_hash_, matrix.weights.data(), matrix.weights.size());
  if (!matrix.multipliers.empty()) return weights_.append(pack_nibbles(matrix, layout));
  return weights_.append(pack(matrix.weights, matrix.stored_rows(), matrix.columns, layout));
}

uint32_t Builder::weights(const FloatMatrix& matrix) {
  weights_hash_ = hash_floats(weights_hash_, matrix.weights.data(), matrix.weights.size());
  return weights_.append(matrix.weights);
}

uint32_t Builder::floats(const std::string& name, std::span<const float> values) {
  const auto n = static_cast<uint32_t>(values.size());
  std::vector<float> padded(pad16(n));
  copy_floats(values, Placement::in_order(n), name, padded.data());
  return parameters_.append(padded);
}

std::unique_ptr<format::NormT> Builder::norm(const std::string& name, const NormSpec& norm) {
  auto out = std::make_unique<format::NormT>();
  out->gamma = floats(name + ".gamma", norm.gamma);
  out->beta = floats(name + ".beta", norm.beta);
  out->epsilon = norm.epsilon;
  const auto d_model = static_cast<uint32_t>(norm.gamma.size());
  record(name, 2, d_model, 2 * sizeof(float) * pad16(d_model), {});
  return out;
}

std::vector<float> Builder::record_parts(
    const LinearParts& from, uint64_t row_bytes, uint32_t rows, std::span<const std::optional<double>> sqnr_db) {
  std::vector<float> bias(rows);
  const uint32_t part_rows = from.rows.placed_size();
  for (uint32_t i = 0; i < from.parts.size(); ++i) {
    const LinearSpec& part = *from.parts[i].linear;
    copy_floats(part.bias, from.rows, bias_name(*part.weight), &bias[size_t{i} * part_rows]);
    record(part.weight->name, part.weight->rows, part.weight->columns,
        (from.parts.size() == 1 ? rows : part_rows) * row_bytes, sqnr_db.empty() ? std::nullopt : sqnr_db[i]);
  }
  return bias;
}

std::unique_ptr<format::LinearT> Builder::linear(const std::string& name, const LinearParts& from) {
  auto out = std::make_unique<format::LinearT>();
  out->n = static_cast<uint32_t>(from.parts.size()) * from.rows.placed_size();
  out->k = from.columns.placed_size();
  out->fine_input = options_.weights == Weights::kInt8 && from.parts[0].linear->fine_input;
  if (options_.weights == Weights::kFloat32) {
    FloatMatrix matrix(out->n, out->k);
    for (uint32_t i = 0; i < from.parts.size(); ++i)
      store_rows(*from.parts[i].linear->weight, {from.rows, from.columns, i * from.rows.placed_size()}, matrix);
    const std::vector<float> bias = record_parts(from, (matrix.columns + 1) * sizeof(float), matrix.rows, {});
    out->weights = weights(matrix);
    out->bias = parameters_.append(bias);
    return out;
  }
  const Matrix& first = *from.parts[0].linear->weight;
  out->refined = refines(name, first);
  out->packed = packs(name);
  refuse_both(name, out->refined, out->packed);
  QuantizedMatrix matrix(out->n, out->k, out->refined);
  std::vector<const Matrix*> parts;
  for (const LinearPart& part : from.parts) parts.push_back(part.linear->weight.get());
  const auto sqnr_db = quantize_parts(name, parts, from.rows, from.columns, out->packed, matrix);
  const std::vector<float> bias = record_parts(from, matrix.linear_row_bytes(), matrix.rows, sqnr_db);
  out->layout = static_cast<format::Layout>(options_.layout);
  out->weights = weights(matrix, options_.layout);
  out->scale = parameters_.append(matrix.scale);
  out->bias = parameters_.append(bias);
  out->weight_sum = parameters_.append(matrix.weight_sum);
  return out;
}

template <typename Asks> bool Builder::any_name_of(const Matrix& table, const Asks& asks) const {
  bool any = is_projected(table) && asks("projection");
  for (const auto& [name, stack] :
      {std::pair{"encoder.embedding", &spec_.encoder}, {"decoder.embedding", &spec_.decoder}})
    if (stack->embedding.get() == &table) any = asks(name) || any;
  return any;
}

std::vector<std::optional<double>> Builder::quantize_parts(const std::string& name,
    std::span<const Matrix* const> parts, const Placement& rows, const Placement& columns, bool packed,
    QuantizedMatrix& matrix) const {
  KeptMatrices* const kept = options_.kept;
  const std::pair key(parts[0], packed);
  if (kept != nullptr && kept->contains(key)) {
    matrix = kept->at(key).matrix;
    return kept->at(key).sqnr_db;
  }
  std::optional<RowPacker> packer;
  if (packed) {
    matrix.multipliers.assign(size_t{matrix.rows} * packed_groups(matrix.columns), 1);
    packer.emplace(options_.products ? options_.products(*parts[0]) : std::vector<float>(), columns);
  }
  std::vector<std::optional<double>> sqnr_db;
  for (uint32_t i = 0; i < parts.size(); ++i)
    sqnr_db.push_back(
        store_rows(*parts[i], {rows, columns, i * rows.placed_size(), packer ? &*packer : nullptr}, matrix));
  if (kept != nullptr) kept->emplace(key, KeptMatrix{name, matrix, sqnr_db});
  return sqnr_db;
}

Builder::Table Builder::quantized_table(const Matrix& matrix) {
  std::string name;
  const bool packed = any_name_of(matrix, [&](const char* given) {
    name = given;
    return packs(name);
  });
  QuantizedMatrix quantized(
      matrix.rows, matrix.columns, any_name_of(matrix, [&](const char* of) { return refines(of, matrix); }));
  refuse_both(matrix.name, quantized.has_second, packed);
  const Matrix* const only = &matrix;
  const std::optional<double> sqnr_db = quantize_parts(
      name, {&only, 1}, Placement::in_order(matrix.rows), Placement::in_order(matrix.columns), packed, quantized)[0];
  const uint64_t row_bytes = is_projected(matrix) ? quantized.linear_row_bytes() : quantized.row_bytes();
  record(matrix.name, matrix.rows, matrix.columns, quantized.rows * row_bytes, sqnr_db);
  Table stored;
  stored.refined = quantized.has_second;
  stored.packed = packed;
  stored.layout = is_projected(matrix) ? options_.layout : Layout::kRowMajor;
  stored.weights = weights(quantized, stored.layout);
  stored.scale = parameters_.append(quantized.scale);
  stored.weight_sum = std::move(quantized.weight_sum);
  return stored;
}

Builder::Table Builder::float_table(const Matrix& matrix) {
  FloatMatrix copied(matrix.rows, matrix.columns);
  store_rows(matrix, {Placement::in_order(matrix.rows), Placement::in_order(matrix.columns), 0}, copied);
  const uint64_t row_floats = copied.columns + (is_projected(matrix) ? 1 : 0);
  record(matrix.name, matrix.rows, matrix.columns, copied.rows * row_floats * sizeof(float), {});
  Table stored;
  stored.weights = weights(copied);
  return stored;
}

// Stores the table on first use.
const Builder::Table& Builder::table(const Matrix& matrix) {
  if (const auto found = tables_.find(&matrix); found != tables_.end()) return found->second;
  Table stored = options_.weights == Weights::kFloat32 ? float_table(matrix) : quantized_table(matrix);
  return tables_.emplace(&matrix, std::move(stored)).first->second;
}

std::unique_ptr<format::EmbeddingT> Builder::embedding(const Matrix& matrix) {
  const Table& stored = table(matrix);
  auto out = std::make_unique<format::EmbeddingT>();
  out->vocab_size = matrix.rows;
  out->d_model = matrix.columns;
  out->layout = static_cast<format::Layout>(stored.layout);
  out->weights = stored.weights;
  out->scale = stored.scale;
  out->refined = stored.refined;
  out->packed = stored.packed;
  return out;
}

std::unique_ptr<format::LinearT> Builder::projection() {
  group_ = "projection";
  const Matrix& matrix = *spec_.projection.weight;
  const Table& stored = table(matrix);
  auto out = std::make_unique<format::LinearT>();
  out->n = matrix.rows;
  out->k = matrix.columns;
  out->layout = static_cast<format::Layout>(stored.layout);
  out->weights = stored.weights;
  out->scale = stored.scale;
  out->refined = stored.refined;
  out->packed = stored.packed;
  out->bias = floats(bias_name(matrix), spec_.projection.bias);
  out->weight_sum = parameters_.append(stored.weight_sum);
  return out;
}

// If a stack uses no positions, writes one row of zeros for all of them.
uint32_t Builder::positions(const std::string& name, const StackSpec& stack) {
  const StackSpec& encoder = spec_.encoder;
  const Matrix none = {"", 1, stack.d_model, std::vector<float>(stack.d_model)};
  const Matrix& positions = stack.positions_used ? stack.positions : none;
  if (!stack.positions_used && &stack != &encoder && !encoder.positions_used &&
      pad16(stack.d_model) == pad16(encoder.d_model))
    return encoder_positions_;
  if (&stack != &encoder && stack.positions_used && encoder.positions_used &&
      positions.rows == encoder.positions.rows && positions.columns == encoder.d_model &&
      positions.values == encoder.positions.values)
    return encoder_positions_;
  const uint32_t stride = pad16(positions.columns);
  std::vector<float> padded(size_t{positions.rows} * stride);
  for (uint32_t p = 0; p < positions.rows; ++p) {
    copy_floats({positions.row(p), positions.columns}, Placement::in_order(positions.columns),
        format_text("{}: position {}", name, p), &padded[size_t{p} * stride]);
  }
  record(positions.name.empty() ? name : positions.name, positions.rows, positions.columns,
      padded.size() * sizeof(float), {});
  return positions_.append(padded);
}

// Stores the biases on first use.
std::unique_ptr<format::AttentionBiasT> Builder::bias(
    const std::string& name, uint32_t n_heads, const AttentionBiasSpec& bias) {
  auto out = std::make_unique<format::AttentionBiasT>();
  out->before = bias.before;
  out->after = bias.after;
  if (const auto found = biases_.find(&bias); found != biases_.end()) {
    out->table = found->second;
    return out;
  }
  const uint32_t n = bias.before + 1 + bias.after, stride = pad16(n) + 16;
  std::vector<float> padded(size_t{n_heads} * stride);
  for (uint32_t head = 0; head < n_heads; ++head) {
    copy_floats({bias.row(head), n}, Placement::in_order(n), format_text("{}: biases of head {}", name, head),
        &padded[size_t{head} * stride]);
  }
  record(bias.name, n_heads, n, padded.size() * sizeof(float), {});
  out->table = biases_.emplace(&bias, positions_.append(padded)).first->second;
  return out;
}

std::unique_ptr<format::LayerT> Builder::layer(
    const std::string& name, const LayerSpec& layer, const StackSpec& stack) {
  group_ = name;
  const StackGroups groups = groups_of(stack, spec_.encoder.d_model);
  const auto store = [&](const MatrixEntry& entry, const auto& given, auto& stored) {
    const std::vector<LinearPart> parts = parts_of(entry, given);
    stored = linear(matrix_name(name, entry), {parts, placement_of(groups_of_part(entry.n, groups, parts.size())),
                                                  placement_of(groups_of_part(entry.k, groups, 1))});
  };
  auto out = std::make_unique<format::LayerT>();
  for_each_block(
      [&](auto block, const auto& of_layer, auto& stored) {
        const auto* const given = given_block(of_layer);
        if (given == nullptr) return;
        stored = std::make_unique<typename std::remove_reference_t<decltype(stored)>::element_type>();
        block.for_each_matrix(store, *given, *stored);
        stored->norm = norm(format_text("{}.{}.norm", name, block.kName), given->norm);
        if constexpr (kCanHaveBias<std::decay_t<decltype(*stored)>>) {
          if (given->bias) stored->bias = bias(name, stack.n_heads, *given->bias);
        }
      },
      layer, *out);
  return out;
}

std::unique_ptr<format::FrontendT> Builder::frontend(const FrontendSpec& frontend) {
  size_t n_stored = 0;
  const auto store = [&](const LinearSpec& of, const Placement& columns) {
    return linear(format_text("encoder.convolutions.{}", n_stored++),
        {{{"convolution", &of}}, Placement::in_order(of.weight->rows), columns});
  };
  return write_frontend(
      frontend, {store, [this](const std::string& name, const NormSpec& of) { return norm(name, of); }, parameters_});
}

std::unique_ptr<format::StackT> Builder::stack(const std::string& name, const StackSpec& stack) {
  group_ = name;
  auto out = std::make_unique<format::StackT>();
  out->d_model = stack.d_model;
  out->d_ff = stack.d_ff;
  out->n_heads = stack.n_heads;
  out->d_head = pad16(stack.d_head);
  out->attention_scale = stack.attention_scale;
  out->activation = stored_activation(stack.activation);
  out->pre_norm = stack.pre_norm;
  if (stack.frontend) out->frontend = frontend(*stack.frontend);
  if (stack.embedding) out->embedding = embedding(*stack.embedding);
  advance();
  out->embedding_scale = stack.embedding_scale;
  out->positions = positions(name + ".positions", stack);
  out->max_positions = stack.positions.rows;
  out->centred = stack.centred;
  out->gated = stack.gated;
  out->positions_used = stack.positions_used;
  out->fine_attention = has_second(name + ".attention");
  if (stack.rotary) out->rotary = write_rotary(name + ".rotary", *stack.rotary, positions_);
  if (stack.embedding_norm) out->embedding_norm = norm(name + ".embedding_norm", *stack.embedding_norm);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    out->layers.push_back(layer(format_text("{}.layers.{}", name, i), stack.layers[i], stack));
    advance();
  }
  group_ = name;
  if (stack.head) {
    const Placement in_order = Placement::in_order(stack.d_model);
    out->head = linear(name + ".head", {{{"head", &*stack.head}}, in_order, in_order});
  }
  if (stack.final_norm) out->final_norm = norm(name + ".final_norm", *stack.final_norm);
  return out;
}

// Throws Error if integer weights were asked for and the file cannot have them.
void Builder::choose_attention_weights(format::ModelT& metadata) const {
  const bool is_asked = options_.attention == AttentionWeights::kInteger;
  if (!is_asked && (options_.attention == AttentionWeights::kFloat || !spec_.encoder.frontend)) return;
  format::StackT &encoder = *metadata.encoder, &decoder = *metadata.decoder;
  const bool is_fine = encoder.fine_attention || decoder.fine_attention;
  const uint32_t positions = std::max(encoder.max_positions, decoder.max_positions);
  if (is_asked && is_fine)
    throw Error(
        "--attention integer: queries, keys and values of this file have 16 bits; expected 8; leave out --attention "
        "integer, or --accuracy exact and the 'attention' of --matrices");
  if (is_asked && positions > kMostIntegerKeys)
    throw Error("--attention integer: the model has {} positions; expected at most {}; leave it out", positions,
        kMostIntegerKeys);
  if (is_fine || positions > kMostIntegerKeys || options_.weights == Weights::kFloat32) return;
  encoder.integer_attention = decoder.integer_attention = true;
  metadata.features |= kFeatureIntegerAttention;
}

Payload Builder::run() {
  const goldcrest_limits limits = resolve_limits(spec_, options_.limits);
  Payload payload;
  payload.metadata.reset(new format::ModelT);
  format::ModelT& metadata = *payload.metadata;
  metadata.format_version = GOLDCREST_FORMAT_VERSION;
  if (options_.weights == Weights::kFloat32) metadata.features |= kFeatureFloat32;
  metadata.features |= block_features(spec_);
  const auto is_subword = [](const auto& tokenizer) { return tokenizer && tokenizer->kind == TokenizerKind::kSubword; };
  if (is_subword(spec_.source_tokenizer) || is_subword(spec_.target_tokenizer)) metadata.features |= kFeatureSubword;
  metadata.encoder = stack("encoder", spec_.encoder);
  encoder_positions_ = metadata.encoder->positions;
  metadata.decoder = stack("decoder", spec_.decoder);
  choose_attention_weights(metadata);
  metadata.projection = projection();
  advance();
  if (!spec_.voice.empty()) {
    metadata.voice = floats("the voice detector", spec_.voice);
    metadata.features |= kFeatureVoice;
    record("voice detector", 1, static_cast<uint32_t>(spec_.voice.size()), sizeof(float) * spec_.voice.size(), {});
  }
  if (!options_.accuracy.empty()) set_fine_inputs(levels_, metadata);
  levels_.check();
  packed_.check();
  metadata.features |= refined_features(metadata);
  set_search(spec_, limits, metadata);
  if (spec_.source_tokenizer) metadata.tokenizer = write_tokenizer(pack_tokenizer(*spec_.source_tokenizer), tokenizer_);
  if (metadata.tokenizer && !metadata.tokenizer->added.empty()) metadata.features |= kFeatureAddedTokens;
  if (spec_.target_tokenizer)
    metadata.detokenizer = write_detokenizer(pack_detokenizer(*spec_.target_tokenizer), tokenizer_);
  write_lists(spec_, tokenizer_, &metadata);
  metadata.provenance = make_provenance(spec_, options_.license, options_.attribution);
  metadata.weights_hash_low = static_cast<uint32_t>(weights_hash_);
  metadata.weights_hash_high = static_cast<uint32_t>(weights_hash_ >> 32);
  for (SectionWriter* section : {&weights_, &parameters_, &positions_, &tokenizer_})
    payload.sections.push_back(section->take());
  payload.tensors = std::move(tensors_);
  return payload;
}
}  // namespace

void DeleteMetadata::operator()(format::ModelT* metadata) const { delete metadata; }

std::vector<const Matrix*> packed_inputs(const ModelSpec& spec, const std::vector<MatrixLevel>& pack) {
  MatrixLevels levels(pack, "--pack");
  std::vector<const Matrix*> matrices;
  const auto add = [&](const std::string& name, const LinearSpec& linear) {
    if ((levels.terms_of(name) & kPackedWeights) != 0) matrices.push_back(linear.weight.get());
  };
  for (const auto& [stack_name, stack] : {std::pair{"encoder", &spec.encoder}, {"decoder", &spec.decoder}}) {
    (void)levels.terms_of(format_text("{}.embedding", stack_name));
    for (size_t i = 0; i < stack->layers.size(); ++i) {
      const std::string layer = format_text("{}.layers.{}", stack_name, i);
      for_each_block(
          [&](auto block, const auto& of_layer) {
            const auto* const given = given_block(of_layer);
            if (given == nullptr) return;
            block.for_each_matrix(
                [&](const MatrixEntry& entry, const auto& matrix) {
                  add(matrix_name(layer, entry), *parts_of(entry, matrix)[0].linear);
                },
                *given);
          },
          stack->layers[i]);
    }
  }
  add("projection", spec.projection);
  levels.check();
  return matrices;
}

Payload build_payload(const ModelSpec& spec, const BuildOptions& options) {
  validate_spec(spec);
  return Builder(spec, options).run();
}
}  // namespace goldcrest::converter
