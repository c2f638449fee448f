// SPDX-License-Identifier: Apache-2.0
// CTranslate2's encoder-decoders, TransformerSpec (src/layers/transformer.cc, attention.cc and common.cc at 0d8bcd36).
// Matrices are [outputs, inputs]; queries, keys and values are the rows of one matrix.
#include "dialects/ctranslate2/ctranslate2.h"
#include <algorithm>
#include <cmath>
#include "base/bounds.h"
#include "dialects/positions.h"
#include "dialects/speech/parts.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kWhisperRevision = 3;
constexpr uint32_t kLeastRevision = 2, kMostRevision = 7, kFirstWithHeads = 3, kFirstByStack = 5;
// CTranslate2 reads this many tokens of a source by default.
constexpr uint32_t kMostPositions = 1024;
constexpr float kUsualEpsilon = 1e-5f;

LinearSpec rows_of(const LinearSpec& whole, uint32_t begin, uint32_t end) {
  const bool is_missing = whole.bias.empty();
  return {slice_rows(whole.weight, begin, end),
      is_missing ? whole.bias : std::vector<float>(&whole.bias[begin], &whole.bias[begin] + (end - begin))};
}

// Multiplies each value by the factor; int8 rows keep their integers and get other scales.
std::shared_ptr<const Matrix> times(const std::shared_ptr<const Matrix>& matrix, float factor) {
  Matrix result = *matrix;
  for (float& scale : result.stored_scale) scale *= factor;
  const auto read = [matrix, factor, scales = result.stored_scale] {
    std::vector<float> values = matrix->values.take();
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t row = i / matrix->columns;
      values[i] =
          scales.empty() ? values[i] * factor : std::nearbyint(values[i] / matrix->stored_scale[row]) * scales[row];
    }
    return values;
  };
  result.values = MatrixValues(matrix->values.size(), read);
  return std::make_shared<const Matrix>(std::move(result));
}

// Uses that x sigmoid(1.702 x) is silu(1.702 x) / 1.702.
void make_gelu_of_silu(FeedForwardSpec& block) {
  constexpr float kFactor = 1.702f;
  block.in.weight = times(block.in.weight, kFactor);
  for (float& bias : block.in.bias) bias *= kFactor;
  block.out.weight = times(block.out.weight, 1 / kFactor);
}

class CTranslate2Reader {
 public:
  CTranslate2Reader(const Checkpoint& checkpoint, ModelSpec& spec)
      : config_(checkpoint.config),
        scalars_(ctranslate2_scalars(*checkpoint.tensors)),
        tensors_(checkpoint.tensors),
        spec_(spec),
        is_whisper_(is_whisper(scalars_)) {}

  void read() {
    check_specification();
    refuse_unsupported(tensors_, scalars_);
    epsilon_ =
        static_cast<float>(config_.number_or("layer_norm_epsilon", double{kUsualEpsilon}, kMinEpsilon, kMaxEpsilon));
    if (is_whisper_) read_convolutions();
    read_stack("encoder", spec_.encoder);
    read_stack("decoder", spec_.decoder);
    spec_.projection = linear("decoder/projection", spec_.decoder.embedding->rows, spec_.decoder.d_model);
    starts_from_zero_ = scalars_.count_or("decoder/start_from_zero_embedding", 0, 0, 1) != 0;
    if (!is_whisper_) spec_.generation.unknown = alignment();
    tensors_.check_missing();
    refuse_unread(tensors_, scalars_, config_);
  }

  bool starts_from_zero() const { return starts_from_zero_; }
 private:
  void check_specification() {
    const std::string spec = scalars_.text("spec");
    if (is_whisper_) {
      revision_ = scalars_.count("revision", kWhisperRevision, kWhisperRevision) + kFirstByStack;
      scalars_.find("binary_version");  // marks it as read
      return;
    }
    if (spec != "TransformerSpec" && spec != "TransformerBase" && spec != "TransformerBig") {
      throw Error("{}: is a model of the specification {}, expected \"TransformerSpec\"", scalars_.path().string(),
          in_quotes(spec));
    }
    revision_ = scalars_.count("revision", 0, UINT32_MAX);
    if (revision_ < kLeastRevision || revision_ > kMostRevision) {
      throw Error("{}: is of revision {} of {}, expected {} to {}", scalars_.path().string(), revision_, spec,
          kLeastRevision, kMostRevision);
    }
    usual_heads_ = revision_ < kFirstWithHeads && spec == "TransformerBig" ? 16 : 8;
    scalars_.find("binary_version");  // marks it as read
  }

  // Whisper's stem tells the width of the encoder, which has no embedding.
  void read_convolutions() {
    const std::string first = "encoder/conv1", second = "encoder/conv2";
    const std::vector<uint64_t> shape = tensors_.shape(first + "/weight");
    if (shape.size() != 3 || shape[0] < 4 || shape[0] > kMaxWidth || shape[1] < 1 || shape[1] > kMaxBands) {
      throw Error("{} has shape {}, expected [4 to {}, 1 to {}, {}]", tensors_.describe(first + "/weight"),
          shape_text(shape), kMaxWidth, kMaxBands, kWhisperKernel);
    }
    const auto width = static_cast<uint32_t>(shape[0]), bands = static_cast<uint32_t>(shape[1]);
    const auto convolution = [&](const std::string& name, uint32_t channels) {
      return LinearSpec{tensors_.convolution(name + "/weight", width, channels, kWhisperKernel),
          tensors_.vector(name + "/bias", width)};
    };
    LinearSpec of_bands = convolution(first, bands);
    spec_.encoder.frontend = whisper_frontend(bands, std::move(of_bands), convolution(second, width));
  }

  // Returns "encoder/pre_norm"; in older revisions "pre_norm" of both stacks.
  std::string key(const std::string& stack, const std::string& name) const {
    const std::string own = stack + "/" + name;
    return revision_ < kFirstByStack && !scalars_.has(own) && scalars_.has(name) ? name : own;
  }

  LinearSpec linear(const std::string& prefix, uint32_t outputs, uint32_t inputs) {
    const std::string bias = prefix + "/bias";
    return {tensors_.matrix(prefix + "/weight", outputs, inputs),
        tensors_.has(bias) ? tensors_.vector(bias, outputs) : std::vector<float>(outputs, 0.0f)};
  }

  NormSpec norm(const std::string& prefix, uint32_t d_model) {
    return {tensors_.vector(prefix + "/gamma", d_model), tensors_.vector(prefix + "/beta", d_model), epsilon_};
  }
  std::optional<NormSpec> optional_norm(const std::string& prefix, uint32_t d_model) {
    return tensors_.has(prefix + "/gamma") ? std::optional(norm(prefix, d_model)) : std::nullopt;
  }

  void check_queries_scale(const std::string& prefix, const StackSpec& stack) {
    const std::string name = prefix + "/queries_scale";
    const double expected = stack.attention_scale, found = scalars_.number_or(name, expected, 0, 1e9);
    if (std::fabs(found - expected) > 1e-3 * expected) {
      throw Error(
          "{} is {}, expected {}: other scales of queries are not supported", scalars_.where(name), found, expected);
    }
  }

  AttentionSpec self_attention(const std::string& prefix, const StackSpec& stack) {
    const uint32_t d = stack.d_model;
    check_queries_scale(prefix, stack);
    const LinearSpec fused = linear(prefix + "/linear_0", 3 * d, d);
    return {rows_of(fused, 0, d), rows_of(fused, d, 2 * d), rows_of(fused, 2 * d, 3 * d),
        linear(prefix + "/linear_1", d, d), norm(prefix + "/layer_norm", d)};
  }

  AttentionSpec cross_attention(const std::string& prefix, const StackSpec& stack) {
    const uint32_t d = stack.d_model;
    check_queries_scale(prefix, stack);
    const LinearSpec fused = linear(prefix + "/linear_1", 2 * d, spec_.encoder.d_model);
    return {linear(prefix + "/linear_0", d, d), rows_of(fused, 0, d), rows_of(fused, d, 2 * d),
        linear(prefix + "/linear_2", d, d), norm(prefix + "/layer_norm", d)};
  }

  LayerSpec layer(const std::string& prefix, const StackSpec& stack, bool is_decoder) {
    LayerSpec layer;
    layer.self_attention = self_attention(prefix + "/self_attention", stack);
    if (is_decoder) layer.cross_attention = cross_attention(prefix + "/attention", stack);
    layer.feed_forward = {linear(prefix + "/ffn/linear_0", stack.d_ff, stack.d_model),
        linear(prefix + "/ffn/linear_1", stack.d_model, stack.d_ff), norm(prefix + "/ffn/layer_norm", stack.d_model)};
    return layer;
  }

  void read_dimensions(const std::string& name, StackSpec& stack) {
    const std::string with_number = name + "/embeddings_0/weight";
    const std::string table = stack.frontend              ? name + "/position_encodings/encodings"
                              : tensors_.has(with_number) ? with_number
                                                          : name + "/embeddings/weight";
    const std::vector<uint64_t> shape = tensors_.shape(table),
                                inner = tensors_.shape(name + "/layer_0/ffn/linear_0/weight");
    if (shape.size() != 2 || shape[1] < 4 || shape[1] > kMaxWidth || inner[0] < 1 || inner[0] > kMaxWidth) {
      throw Error("{} has shape {} and the feed-forward network's {}, expected [rows, 4 to {}] and 1 to {} rows",
          tensors_.describe(table), shape_text(shape), shape_text(inner), kMaxWidth, kMaxWidth);
    }
    stack.d_model = static_cast<uint32_t>(shape[1]);
    stack.d_ff = static_cast<uint32_t>(inner[0]);
    if (!stack.frontend) stack.embedding = tensors_.table(table, stack.d_model);
    const std::string heads = key(name, "num_heads");
    stack.n_heads = scalars_.count_or(heads, usual_heads_, 1, kMaxHeads);
    if (stack.d_model % stack.n_heads != 0 || stack.d_model % 2 != 0) {
      throw Error("{} is {}, expected a number that divides the even width {}", scalars_.where(heads), stack.n_heads,
          stack.d_model);
    }
    stack.d_head = stack.d_model / stack.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
  }

  // The setting is a flag or the scale itself. If it is missing, the scale is the root of the width.
  void read_embedding_scale(const std::string& name, StackSpec& stack) {
    if (stack.frontend) return;
    const std::string old = name + "/embeddings/multiply_by_sqrt_depth", own = name + "/scale_embeddings";
    const std::string setting = !scalars_.has(own) && scalars_.has(old) ? old : own;
    const Value* const value = scalars_.find(setting);
    if (value != nullptr && value->is_number() && !value->is_integer()) {
      stack.embedding_scale =
          static_cast<float>(scalars_.number_or(setting, 1, double{kMinEmbeddingScale}, double{kMaxEmbeddingScale}));
    } else if (scalars_.count_or(setting, 1, 0, 1) == 1) {
      stack.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(stack.d_model)));
    }
  }

  // Reads a table, or computes OpenNMT-tf's sinusoids, whose first position is 1.
  void read_positions(const std::string& name, StackSpec& stack) {
    const std::string table = name + "/position_encodings/encodings";
    if (!tensors_.has(table)) {
      Sinusoid sinusoid;
      sinusoid.denominator_minus_two = true;
      sinusoid.first = 1;
      check_position_rows(scalars_.path().string() + ": the number of positions", kMostPositions, stack.d_model);
      stack.positions = sinusoid_table(sinusoid, kMostPositions, stack.d_model);
      return;
    }
    const auto positions = tensors_.table(table, stack.d_model);
    stack.positions =
        *slice_rows(positions, 0, is_whisper_ ? positions->rows : std::min(positions->rows, kMostPositions));
  }

  void read_activation(const std::string& name, StackSpec& stack) {
    constexpr uint32_t kGelu = 3, kGeluOfSilu = 4;
    constexpr Activation kActivations[] = {
        Activation::kRelu, Activation::kGeluTanh, Activation::kSilu, Activation::kGelu, Activation::kSilu};
    const std::string setting = key(name, "activation");
    const uint32_t id = scalars_.count_or(setting, is_whisper_ ? kGelu : 0, 0, UINT32_MAX);
    if (id >= std::size(kActivations)) {
      throw Error("{} is {}{}, expected 0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 4 (GELU by a sigmoid)",
          scalars_.where(setting), id,
          id == 5   ? " (tanh)"
          : id == 6 ? " (a sigmoid)"
                    : "");
    }
    stack.activation = kActivations[id];
    if (id != kGeluOfSilu) return;
    for (LayerSpec& layer : stack.layers) make_gelu_of_silu(layer.feed_forward);
  }

  bool has_layer(const std::string& prefix) const {
    return std::any_of(tensors_.names().begin(), tensors_.names().end(),
        [&](const std::string& name) { return name.starts_with(prefix + "/"); });
  }

  // Returns the heads and the layer of CTranslate2's alignments. No heads are all; layers below 0 count from the end.
  ReplacementSpec alignment() const {
    const uint32_t n_heads = spec_.decoder.n_heads, n_layers = static_cast<uint32_t>(spec_.decoder.layers.size());
    const uint32_t heads = scalars_.count_or(key("decoder", "alignment_heads"), 1, 0, UINT32_MAX);
    const double layer = scalars_.number_or(key("decoder", "alignment_layer"), -1, INT16_MIN, INT16_MAX);
    return {heads == 0 ? n_heads : std::min(heads, n_heads),
        static_cast<uint32_t>(std::clamp(layer < 0 ? layer + n_layers : layer, 0.0, n_layers - 1.0))};
  }

  void read_stack(const std::string& name, StackSpec& stack) {
    read_dimensions(name, stack);
    read_embedding_scale(name, stack);
    stack.pre_norm = scalars_.count_or(key(name, "pre_norm"), 1, 0, 1) != 0;
    read_positions(name, stack);
    stack.embedding_norm = optional_norm(name + "/layernorm_embedding", stack.d_model);
    stack.final_norm = optional_norm(name + "/layer_norm", stack.d_model);
    for (uint32_t i = 0; i < kMaxLayers && has_layer(format_text("{}/layer_{}", name, i)); ++i)
      stack.layers.push_back(layer(format_text("{}/layer_{}", name, i), stack, name == "decoder"));
    tensors_.check_missing();
    read_activation(name, stack);
  }

  const Config& config_;
  const Config scalars_;
  TensorReader tensors_;
  ModelSpec& spec_;
  const bool is_whisper_;
  uint32_t revision_ = 0, usual_heads_ = 8;
  float epsilon_ = kUsualEpsilon;
  bool starts_from_zero_ = false;
};

ModelSpec load_ctranslate2(const Checkpoint& checkpoint, const CTranslate2Files& files) {
  ModelSpec spec;
  CTranslate2Reader reader(checkpoint, spec);
  reader.read();
  if (spec.encoder.frontend) {
    read_ctranslate2_whisper(files, checkpoint.config, checkpoint.choices, spec);
    return spec;
  }
  read_ctranslate2_text(files, checkpoint.config, reader.starts_from_zero(), spec);
  if (reader.starts_from_zero()) add_start_row(spec);
  return spec;
}

OpenedCheckpoint open_ctranslate2_files(const LoadRequest& request) {
  const auto files = std::make_shared<const CTranslate2Files>(find_ctranslate2_files(request.path));
  std::unique_ptr<TensorSource> tensors = counted(open_ctranslate2(files->model.open(files->weights)), request.options);
  Config config = ctranslate2_config(*files, *tensors, request.options.config);
  const std::filesystem::path& named = files->package ? files->package->path() : files->model.path();
  Checkpoint opened{named, std::move(config), std::move(tensors)};
  return {std::move(opened), "ctranslate2",
      [files](const Checkpoint& checkpoint) { return load_ctranslate2(checkpoint, *files); }};
}
}  // namespace

const WayIn kCTranslate2Way = {is_ctranslate2, open_ctranslate2_files, [] {
                                 return std::vector<ListedFamily>{
                                     {"CTranslate2 encoder–decoders, packages of Argos Translate",
                                         "directories of every compute type, `.argosmodel`; [details of CTranslate2 "
                                         "directories](converter/dialects/CTRANSLATE2.md)"}};
                               }};
}  // namespace goldcrest::converter
