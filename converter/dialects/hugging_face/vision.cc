// SPDX-License-Identifier: Apache-2.0
// Images to text (transformers/models/{vision_encoder_decoder,vit,deit,trocr}/modeling_*.py at v5.24): the encoder of
// ViT or DeiT, the decoder of TrOCR.
#include <algorithm>
#include <cmath>

#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/families.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/seq2seq_graph.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/positions.h"
#include "dialects/speech/parts.h"
#include "dialects/tensor_reader.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kUsualSide = 224, kUsualPatch = 16, kUsualPositions = 512, kTrocrOffset = 2;
constexpr double kVisionEpsilon = 1e-12;

struct Size {
  uint32_t height = 0, width = 0;
  bool operator==(const Size&) const = default;
};

// Reads a side, [height, width], or {"height": h, "width": w}.
Size size_of(const Config& config, const char* key, uint32_t usual) {
  const Value* const value = config.find(key);
  if (value == nullptr) return {usual, usual};
  Config sides(Value::map(), "", {});
  if (value->is_map()) {
    sides = Config(*value, config.where(key), config.path());
  } else {
    const bool is_pair = value->is_list() && value->size() == 2;
    sides = Config({{"height", is_pair ? (*value)[0] : *value}, {"width", is_pair ? (*value)[1] : *value}},
        config.where(key), config.path());
  }
  if (sides.keys() != std::vector<std::string>{"height", "width"})
    throw Error("{}: found {}, expected \"height\" and \"width\"", config.where(key), list_in_quotes(sides.keys(), 4));
  return {sides.count("height", 1, kMaxImageSide), sides.count("width", 1, kMaxImageSide)};
}

// What the encoder reads of an image.
struct Patches {
  Size image, patch;
  uint32_t colours = 0, tokens = 0;  // tokens: rows before the patches
  uint32_t count() const { return (image.height / patch.height) * (image.width / patch.width); }
  uint32_t values() const { return colours * patch.height * patch.width; }
};

Patches patches_of(const Config& encoder) {
  const std::string type = encoder.text_or("model_type", "");
  if (type != "vit" && type != "deit")
    throw Error("{} is {}, expected \"vit\" or \"deit\"", encoder.where("model_type"), in_quotes(type));
  Patches patches = {size_of(encoder, "image_size", kUsualSide), size_of(encoder, "patch_size", kUsualPatch),
      encoder.count_or("num_channels", 3, 1, 3), type == "deit" ? 2u : 1u};
  if (patches.colours == 2) throw Error("{} is 2, expected 1 or 3", encoder.where("num_channels"));
  if (patches.image.height % patches.patch.height != 0 || patches.image.width % patches.patch.width != 0) {
    throw Error("{}: {} x {} pixels, expected multiples of the patch, {} x {}", encoder.where("image_size"),
        patches.image.height, patches.image.width, patches.patch.height, patches.patch.width);
  }
  return patches;
}

// Reads the settings of ViTImageProcessor or DeiTImageProcessor. Throws Error for any other setting that asks for
// something.
class ProcessorReader {
 public:
  ProcessorReader(const Config& settings, const Patches& patches) : settings_(settings), patches_(patches) {
    std::string type = settings.text_or("image_processor_type", settings.text_or("feature_extractor_type", ""));
    for (const char* end : {"Fast", "Pil", "ImageProcessor", "FeatureExtractor"})
      if (type.ends_with(end)) type.resize(type.size() - std::string_view(end).size());
    is_deit_ = type == "DeiT";
    if (!is_deit_ && type != "ViT" && !type.empty()) {
      throw Error("{} is {}, expected \"ViTImageProcessor\" or \"DeiTImageProcessor\"",
          settings.where("image_processor_type"), in_quotes(type));
    }
  }

  ImageSpec read() const {
    const Size resized = size_of(settings_, "size", is_deit_ ? 256 : kUsualSide);
    const bool is_cropped = settings_.flag_or("do_center_crop", is_deit_);
    const Size cropped = size_of(settings_, "crop_size", kUsualSide), used = is_cropped ? cropped : resized;
    if (used != patches_.image) {
      throw Error("{}: images become {} x {} pixels, expected {} x {}, the encoder's \"image_size\"",
          settings_.where(is_cropped ? "crop_size" : "size"), used.height, used.width, patches_.image.height,
          patches_.image.width);
    }
    if (resized.height < used.height || resized.width < used.width)
      throw Error("{}: is larger than \"size\", {} x {}", settings_.where("crop_size"), resized.height, resized.width);
    if (!settings_.flag_or("do_resize", true)) throw Error("{} is false, expected true", settings_.where("do_resize"));
    const uint32_t resample = settings_.count_or("resample", is_deit_ ? 3 : 2, 0, 5);
    if (resample != 2 && resample != 3)
      throw Error("{} is {}, expected 2 (bilinear) or 3 (bicubic)", settings_.where("resample"), resample);
    ImageSpec image = {used.height, used.width, resized.height, resized.width, patches_.patch.height,
        patches_.patch.width, resample == 3};
    const double factor = settings_.number_or("rescale_factor", 1.0 / 255, 1e-6, 1e3);
    const bool is_rescaled = settings_.flag_or("do_rescale", true), is_normal = settings_.flag_or("do_normalize", true);
    for (size_t i = 0; i < 3; ++i) {
      const double mean = is_normal ? of_colour("image_mean", i, -1e3) : 0;
      const double deviation = is_normal ? of_colour("image_std", i, 1e-3) : 1;
      image.scale[i] = static_cast<float>((is_rescaled ? factor : 1) / deviation);
      image.offset[i] = static_cast<float>(-mean / deviation + 0.0);  // no -0
    }
    refuse_others();
    return image;
  }

 private:
  // One number, or one of each colour.
  double of_colour(const char* key, size_t colour, double least) const {
    const Value* const value = settings_.find(key);
    if (value == nullptr) return 0.5;
    if (value->is_list() && value->size() != patches_.colours)
      throw Error("{} has {} numbers, expected {}", settings_.where(key), value->size(), patches_.colours);
    const size_t place = std::min<size_t>(colour, patches_.colours - 1);
    const Value of = value->is_list() ? (*value)[place] : *value;
    return Config({{key, of}}, settings_.path().string(), {}).number_or(key, 0.5, least, 1e3);
  }

  void refuse_others() const {
    static const std::vector<std::string> kIgnoredOfImages = {"_processor_class", "auto_map", "data_format",
        "default_to_square", "device", "disable_grouping", "do_convert_rgb", "feature_extractor_type",
        "image_processor_type", "image_seq_length", "input_data_format", "processor_class", "return_tensors"};
    for (const std::string& key : settings_.unread()) {
      const Value* const value = settings_.find(key);
      if (value == nullptr || *value == false || std::ranges::find(kIgnoredOfImages, key) != kIgnoredOfImages.end())
        continue;
      throw Error("{} is {}: this setting of images is not known", settings_.where(key), write_json(*value));
    }
  }

  const Config& settings_;
  const Patches& patches_;
  bool is_deit_ = false;
};

// transformers 5 stores them in processor_config.json, as "image_processor".
ImageSpec read_processor(const Checkpoint& checkpoint, const Patches& patches) {
  const Config own = side_config(checkpoint, "preprocessor_config.json");
  const Config both = side_config(checkpoint, "processor_config.json").object_or_empty("image_processor");
  const Config& found = own.keys().empty() ? both : own;
  if (!found.keys().empty()) return ProcessorReader(found, patches).read();
  if (!checkpoint.is_shape)
    throw Error("{}: is missing; it tells how images become pixels. Copy it from where the checkpoint came from",
        own.path().string());
  const Value size = {{"height", patches.image.height}, {"width", patches.image.width}};
  return ProcessorReader(Config({{"size", size}}, own.path().string(), own.path()), patches).read();
}

// Reads the tensors; without a TensorReader lists them.
class VisionReader {
 public:
  VisionReader(const Config& config, TensorReader* tensors, ModelSpec& spec)
      : encoder_(config.object_or_empty("encoder")),
        decoder_(config.object_or_empty("decoder")),
        tensors_(tensors),
        spec_(spec),
        patches_(patches_of(encoder_)) {}

  const Patches& patches() const { return patches_; }

  std::vector<ShapedTensor> read() {
    read_encoder();
    read_trocr();
    if (tensors_ == nullptr) return std::move(shapes_);
    std::vector<std::string> unused = tensors_->unused();
    std::erase_if(unused, [](const std::string& name) { return name.starts_with("encoder.pooler."); });
    if (tensors_->has("enc_to_dec_proj.weight")) {
      throw Error(
          "{}: a layer between encoder and decoder is not supported; expected a decoder with "
          "\"cross_attention_hidden_size\"",
          tensors_->describe("enc_to_dec_proj.weight"));
    }
    tensors_->check_missing();
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
    return {};
  }

 private:
  LinearSpec linear(const std::string& prefix, uint32_t outputs, uint32_t inputs, bool has_bias = true) {
    if (tensors_ != nullptr) return tensors_->linear(prefix, outputs, inputs, has_bias);
    shapes_.push_back({prefix + ".weight", {outputs, inputs}});
    if (has_bias) shapes_.push_back({prefix + ".bias", {outputs}});
    return {};
  }

  NormSpec norm(const std::string& prefix, uint32_t width, double epsilon) {
    if (tensors_ != nullptr) return tensors_->norm(prefix, width, true, static_cast<float>(epsilon));
    add_norm_tensors(prefix, width, shapes_);
    return {};
  }

  std::shared_ptr<const Matrix> matrix(const std::string& name, uint32_t rows, uint32_t columns) {
    if (tensors_ == nullptr) return shapes_.push_back({name, {rows, columns}}), std::make_shared<const Matrix>();
    const auto table = tensors_->has(name) ? tensors_->table(name, columns) : tensors_->matrix(name, rows, columns);
    if (table->rows == rows) return table;
    throw Error("{} has {} rows, expected {}", tensors_->describe(name), table->rows, rows);
  }

  void set_heads(const Config& config, const char* heads, StackSpec& stack) {
    stack.n_heads = config.count(heads, 1, kMaxHeads);
    if (stack.d_model % stack.n_heads != 0)
      throw Error("{} is {}, expected a divisor of {}", config.where(heads), stack.n_heads, stack.d_model);
    stack.d_head = stack.d_model / stack.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
  }

  void read_encoder() {
    StackSpec& stack = spec_.encoder;
    stack.d_model = encoder_.count("hidden_size", 2, kMaxWidth);
    stack.d_ff = encoder_.count("intermediate_size", 1, kMaxWidth);
    set_heads(encoder_, "num_attention_heads", stack);
    stack.activation = read_activation(encoder_, "hidden_act");
    stack.pre_norm = true;
    const double epsilon = encoder_.number_or("layer_norm_eps", kVisionEpsilon, 1e-12, 1);
    const bool has_bias = encoder_.flag_or("qkv_bias", true);
    const uint32_t d = stack.d_model, layers = encoder_.count("num_hidden_layers", 1, kMaxLayers);
    read_patches(stack);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string prefix = format_text("encoder.encoder.layer.{}.", i), inner = prefix + "attention.attention.";
      LayerSpec layer;
      layer.self_attention = {linear(inner + "query", d, d, has_bias), linear(inner + "key", d, d, has_bias),
          linear(inner + "value", d, d, has_bias), linear(prefix + "attention.output.dense", d, d),
          norm(prefix + "layernorm_before", d, epsilon)};
      layer.feed_forward = {linear(prefix + "intermediate.dense", stack.d_ff, d),
          linear(prefix + "output.dense", d, stack.d_ff), norm(prefix + "layernorm_after", d, epsilon)};
      stack.layers.push_back(std::move(layer));
    }
    stack.final_norm = norm("encoder.layernorm", d, epsilon);
  }

  // Tokens become rows of zeros before the patches. The convolution adds its bias to them, so their positions lack it.
  void read_patches(StackSpec& stack) {
    const std::string prefix = "encoder.embeddings.";
    const uint32_t d = stack.d_model, rows = patches_.tokens + patches_.count();
    if (patches_.values() > kMaxWidth || rows > kMaxPositions)
      throw Error("{}: patches of {} values, {} rows", encoder_.where("patch_size"), patches_.values(), rows);
    ConvolutionSpec patch = {linear(prefix + "patch_embeddings.projection", d, patches_.values()), patches_.values(), 1,
        1, 0, Activation::kNone};
    patch.linear.fine_input = true;
    stack.positions = *matrix(prefix + "position_embeddings", rows, d);
    const char* const names[] = {"cls_token", "distillation_token"};
    for (uint32_t token = 0; token < patches_.tokens; ++token) {
      const auto added = matrix(prefix + names[token], 1, d);
      if (added->values.empty() || stack.positions.values.empty() || patch.linear.bias.empty()) continue;
      float* const row = stack.positions.values.edit().data() + size_t{token} * d;
      for (uint32_t i = 0; i < d; ++i) row[i] += added->values[i] - patch.linear.bias[i];
    }
    FrontendSpec& frontend = stack.frontend.emplace();
    frontend.input = FrontendInput::kFrames;
    frontend.channels = patches_.values();
    frontend.fixed_window = true;
    frontend.convolutions.push_back(std::move(patch));
  }

  void read_trocr() {
    const std::string type = decoder_.text_or("model_type", ""), prefix = "decoder.model.decoder.";
    if (type != "trocr") throw Error("{} is {}, expected \"trocr\"", decoder_.where("model_type"), in_quotes(type));
    StackSpec& stack = spec_.decoder;
    const uint32_t d = stack.d_model = decoder_.count("d_model", 4, kMaxWidth);
    stack.d_ff = decoder_.count("decoder_ffn_dim", 1, kMaxWidth);
    set_heads(decoder_, "decoder_attention_heads", stack);
    stack.activation = read_activation(decoder_, "activation_function");
    if (decoder_.flag_or("scale_embedding", false)) stack.embedding_scale = std::sqrt(static_cast<float>(d));
    const uint32_t vocabulary = decoder_.count("vocab_size", 1, kMaxVocabulary);
    stack.embedding = matrix(prefix + "embed_tokens.weight", vocabulary, d);
    read_trocr_positions(prefix + "embed_positions.weight", stack);
    if (decoder_.flag_or("layernorm_embedding", true))
      stack.embedding_norm = norm(prefix + "layernorm_embedding", d, kSeq2SeqNormEpsilon);
    LayerShape shape = {d, stack.d_ff, kSeq2SeqNormEpsilon, true};
    shape.source_width = decoder_.count_or("cross_attention_hidden_size", d, 1, kMaxWidth);
    if (shape.source_width != spec_.encoder.d_model) {
      throw Error("{} is {}, expected {}, the encoder's \"hidden_size\"", decoder_.where("cross_attention_hidden_size"),
          shape.source_width, spec_.encoder.d_model);
    }
    const uint32_t layers = decoder_.count("decoder_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string name = format_text("{}layers.{}", prefix, i);
      if (tensors_ == nullptr) add_layer_tensors(name, shape, shapes_);
      if (tensors_ != nullptr) stack.layers.push_back(read_layer(name, shape, *tensors_));
    }
    const char* const head = "decoder.output_projection.weight";
    const bool has_head = tensors_ != nullptr && tensors_->has(head);
    const bool is_tied = !has_head && decoder_.flag_or("tie_word_embeddings", true);
    const auto own = is_tied ? stack.embedding : matrix(head, vocabulary, d);
    spec_.projection = {
        has_head ? tensors_->share_if_equal(stack.embedding, own) : own, std::vector<float>(vocabulary, 0.0f)};
  }

  void read_trocr_positions(const std::string& name, StackSpec& stack) {
    const uint32_t rows = decoder_.count_or("max_position_embeddings", kUsualPositions, 1, kMaxPositions - 2);
    if (decoder_.flag_or("use_learned_position_embeddings", true)) {
      const auto stored = matrix(name, rows + kTrocrOffset, stack.d_model);
      if (tensors_ != nullptr) stack.positions = *slice_rows(stored, kTrocrOffset, rows + kTrocrOffset);
      return;
    }
    const uint32_t pad = decoder_.count_or("pad_token_id", 1, 0, kMaxVocabulary);
    if (pad == spec_.generation.decoder_start_id)
      throw Error("{} is {}, which starts texts too: transformers gives padding no position",
          decoder_.where("pad_token_id"), pad);
    check_position_rows(decoder_.where("max_position_embeddings"), rows, stack.d_model);
    if (stack.d_model % 2 != 0)
      throw Error("{} is {}, expected an even number", decoder_.where("d_model"), stack.d_model);
    stack.positions = sinusoid_table({false, true, pad + 1}, rows, stack.d_model);
  }

  const Config encoder_, decoder_;
  TensorReader* const tensors_;
  ModelSpec& spec_;
  const Patches patches_;
  std::vector<ShapedTensor> shapes_;
};

// XLM-RoBERTa's pieces, or byte-level BPE. A file of images has no tokenizer, only a detokenizer.
void read_vision_text(const Checkpoint& checkpoint, ModelSpec& spec) {
  const uint32_t rows = spec.decoder.embedding->rows;
  std::error_code error;
  const auto exists = [&](const char* name) { return std::filesystem::exists(side_file(checkpoint, name), error); };
  if (exists("sentencepiece.bpe.model"))
    return read_family_text(checkpoint, {FamilyText::kXlmRoberta, rows, spec.generation.end_id}, spec);
  if (exists("vocab.json") || exists("tokenizer.json")) {
    if (!exists("vocab.json") && !read_json_object(side_file(checkpoint, "tokenizer.json"))["model"].contains("merges"))
      return read_family_text(checkpoint, {FamilyText::kXlmRoberta, rows, spec.generation.end_id}, spec);
    Vocabulary vocabulary = read_byte_level_vocabulary(checkpoint, rows, spec);
    for (const char* text : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"})
      if (const auto id = find_id(vocabulary, text)) vocabulary.control_ids.push_back(*id);
    spec.target_tokenizer = speech_tokenizer(vocabulary, rows, SpeechText::kByteLevel);
    return;
  }
  if (!checkpoint.is_shape) {
    spec.warnings.push_back(side_file(checkpoint, "tokenizer.json").string() +
                            ": is missing; results are ids. Copy it from where the checkpoint came from");
  }
}

// Ids of the decoder's settings count where the model has none.
Config with_ids_of_decoder(const Config& config) {
  Value settings = Value::map();
  const Config decoder = config.object_or_empty("decoder");
  for (const std::string& key : config.keys()) settings[key] = config.has(key) ? *config.find(key) : Value();
  for (const char* key : {"eos_token_id", "pad_token_id", "bos_token_id", "decoder_start_token_id"})
    if (!config.has(key) && decoder.has(key)) settings[key] = *decoder.find(key);
  return Config(std::move(settings), config.path().string(), config.path());
}

ModelSpec load_vision(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Config config = with_ids_of_decoder(checkpoint.config), decoder = config.object_or_empty("decoder");
  const Config generation = side_config(checkpoint, "generation_config.json");
  const uint32_t vocabulary = decoder.count("vocab_size", 1, kMaxVocabulary);
  GenerationBounds bounds = {vocabulary, decoder.count_or("max_position_embeddings", kUsualPositions, 1, kMaxPositions),
      !generation.keys().empty()};
  const Config& of_start = generation.has("bos_token_id") ? generation : config;
  bounds.usual_start = of_start.optional_count("bos_token_id", 0, vocabulary - 1);
  spec.generation = hugging_face_generation(generation, config, bounds, spec.warnings);
  TensorReader tensors(checkpoint.tensors);
  VisionReader reader(config, &tensors, spec);
  reader.read();
  spec.encoder.frontend->image = read_processor(checkpoint, reader.patches());
  read_vision_text(checkpoint, spec);
  return spec;
}

std::vector<ShapedTensor> vision_tensors(const Config& config) {
  ModelSpec spec;
  return VisionReader(config, nullptr, spec).read();
}
}  // namespace

const ConfigFamily kVisionFamily = {"vision-encoder-decoder", "TrOCR", load_vision, vision_tensors, nullptr, nullptr,
    {"TrOCR of Hugging Face: images to text",
        "safetensors (also sharded), `pytorch_model.bin`; [details of images](converter/dialects/IMAGES.md)"}};
}  // namespace goldcrest::converter
