// SPDX-License-Identifier: Apache-2.0
// Images to text (transformers/models/{vision_encoder_decoder,vit,deit,trocr,bert}/modeling_*.py at v5.24): the encoder
// of ViT or DeiT, the decoder of TrOCR or BERT.
#include <algorithm>
#include <cmath>
#include <set>
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
#include "dialects/text/tokenizer_json.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kUsualSide = 224, kUsualPatch = 16, kUsualPositions = 512, kTrocrOffset = 2;

[[noreturn]] void refuse(const Config& config, const char* key, const std::string& expected) {
  const Value* const found = config.find(key);
  throw Error("{} is {}, expected {}", config.where(key), found == nullptr ? "missing" : write_json(*found), expected);
}

struct Size {
  uint32_t height = 0, width = 0;
  bool operator==(const Size&) const = default;
  std::string text() const { return format_text("{} x {}", height, width); }
};

// Reads a side, [height, width], or {"height": h, "width": w}.
Size size_of(const Config& config, const char* key, uint32_t usual) {
  const Value* const found = config.find(key);
  if (found == nullptr) return {usual, usual};
  const bool is_pair = found->is_list() && found->size() == 2;
  Value value = *found;
  if (!found->is_map())
    value = Value{{"height", is_pair ? (*found)[0] : *found}, {"width", is_pair ? (*found)[1] : *found}};
  const Config sides(value, config.where(key), config.path());
  if (sides.keys() != std::vector<std::string>{"height", "width"}) refuse(config, key, "\"height\" and \"width\"");
  return {sides.count("height", 1, kMaxImageSide), sides.count("width", 1, kMaxImageSide)};
}

// The parts of an image that the encoder reads.
struct Patches {
  Size image, patch;
  uint32_t colours = 0, tokens = 0;  // `tokens` counts the rows before the patches
  uint32_t count() const { return (image.height / patch.height) * (image.width / patch.width); }
  uint32_t values() const { return colours * patch.height * patch.width; }
};

Patches patches_of(const Config& encoder) {
  const std::string type = encoder.text_or("model_type", "");
  if (type != "vit" && type != "deit") refuse(encoder, "model_type", "\"vit\" or \"deit\"");
  const Patches patches = {size_of(encoder, "image_size", kUsualSide), size_of(encoder, "patch_size", kUsualPatch),
      encoder.count_or("num_channels", 3, 1, 3), type == "deit" ? 2u : 1u};
  if (patches.colours == 2) refuse(encoder, "num_channels", "1 or 3");
  if (patches.image.height % patches.patch.height != 0 || patches.image.width % patches.patch.width != 0)
    refuse(encoder, "image_size", "multiples of the patch, " + patches.patch.text());
  if (patches.values() > kMaxWidth || patches.count() >= kMaxPositions)
    refuse(encoder, "patch_size", format_text("{} values and {} rows at most", kMaxWidth, kMaxPositions));
  return patches;
}

// One number, or one of each colour.
double number_of_colour(const Config& settings, const char* key, size_t colour, uint32_t colours, double least) {
  const Value* const value = settings.find(key);
  if (value == nullptr) return 0.5;
  if (value->is_list() && value->size() != colours) refuse(settings, key, format_text("{} numbers", colours));
  const Value of = value->is_list() ? (*value)[std::min<size_t>(colour, colours - 1)] : *value;
  return Config({{key, of}}, settings.path().string(), {}).number_or(key, 0.5, least, 1e3);
}

// Reads the settings of ViTImageProcessor or DeiTImageProcessor, and refuses any other one that asks for something.
ImageSpec read_settings(const Config& settings, const Patches& patches) {
  const char* const kind = settings.has("image_processor_type") ? "image_processor_type" : "feature_extractor_type";
  const std::string type = settings.text_or(kind, "ViT");
  const bool is_deit = type.starts_with("DeiT");
  if (!is_deit && !type.starts_with("ViT")) refuse(settings, kind, "\"ViTImageProcessor\" or \"DeiTImageProcessor\"");
  const bool is_cropped = settings.flag_or("do_center_crop", is_deit),
             is_normal = settings.flag_or("do_normalize", true);
  const Size resized = size_of(settings, "size", is_deit ? 256 : kUsualSide);
  const Size used = is_cropped ? size_of(settings, "crop_size", kUsualSide) : resized;
  if (used != patches.image)
    refuse(settings, is_cropped ? "crop_size" : "size", patches.image.text() + ", the encoder's \"image_size\"");
  if (resized.height < used.height || resized.width < used.width)
    refuse(settings, "size", used.text() + " or more, as \"crop_size\"");
  if (!settings.flag_or("do_resize", true)) refuse(settings, "do_resize", "true");
  const uint32_t resample = settings.count_or("resample", is_deit ? 3 : 2, 0, 5);
  if (resample != 2 && resample != 3) refuse(settings, "resample", "2 (bilinear) or 3 (bicubic)");
  ImageSpec image = {
      used.height, used.width, resized.height, resized.width, patches.patch.height, patches.patch.width, resample == 3};
  const double stored = settings.number_or("rescale_factor", 1.0 / 255, 1e-6, 1e3);
  const double factor = settings.flag_or("do_rescale", true) ? stored : 1;
  for (size_t i = 0; i < 3; ++i) {
    const double mean = number_of_colour(settings, "image_mean", i, patches.colours, -1e3);
    const double deviation = number_of_colour(settings, "image_std", i, patches.colours, 1e-3);
    image.scale[i] = static_cast<float>(is_normal ? factor / deviation : factor);
    image.offset[i] = static_cast<float>(is_normal ? 0 - mean / deviation : 0);
  }
  static const std::set<std::string> kOtherSettings = {"auto_map", "crop_size", "data_format", "default_to_square",
      "device", "disable_grouping", "do_convert_rgb", "feature_extractor_type", "input_data_format", "processor_class",
      "return_tensors"};
  for (const std::string& key : settings.unread()) {
    const Value* const value = settings.find(key);
    if (value != nullptr && *value != false && !kOtherSettings.contains(key))
      refuse(settings, key.c_str(), "no such setting of images, which is not known");
  }
  return image;
}

// transformers 5 stores them in processor_config.json, as "image_processor".
ImageSpec read_processor(const Checkpoint& checkpoint, const Patches& patches) {
  const Config own = side_config(checkpoint, "preprocessor_config.json");
  const Config both = side_config(checkpoint, "processor_config.json").object_or_empty("image_processor");
  const Config& found = own.keys().empty() ? both : own;
  if (!found.keys().empty()) return read_settings(found, patches);
  if (!checkpoint.is_shape)
    throw Error("{}: is missing; it tells how images become pixels. Copy it from where the checkpoint came from",
        own.path().string());
  const Value size = {{"height", patches.image.height}, {"width", patches.image.width}};
  return read_settings(Config({{"size", size}}, own.path().string(), own.path()), patches);
}

class VisionReader {
 public:
  VisionReader(const Config& config, TensorReader& tensors, ModelSpec& spec)
      : encoder_(config.object_or_empty("encoder")),
        decoder_(config.object_or_empty("decoder")),
        tensors_(tensors),
        spec_(spec),
        patches_(patches_of(encoder_)) {}

  const Patches& patches() const { return patches_; }

  void read() {
    read_encoder();
    decoder_.text_or("model_type", "") == "bert" ? read_bert() : read_trocr();
    tensors_.check_missing();
    std::vector<std::string> unused = tensors_.unused();
    std::erase_if(unused, [](const std::string& name) {
      return name.starts_with("encoder.pooler.") || name == "decoder.cls.predictions.decoder.bias" ||
             name == "decoder.bert.embeddings.position_ids";
    });
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }
 private:
  LinearSpec linear(const std::string& prefix, uint32_t outputs, uint32_t inputs, bool has_bias = true) {
    return tensors_.linear(prefix, outputs, inputs, has_bias);
  }
  NormSpec norm(const std::string& prefix, uint32_t width, double epsilon) {
    return tensors_.norm(prefix, width, true, static_cast<float>(epsilon));
  }
  // A matrix, or one with an axis before it.
  std::shared_ptr<const Matrix> matrix(const std::string& name, uint32_t rows, uint32_t columns) {
    const auto table = tensors_.has(name) ? tensors_.table(name, columns) : tensors_.matrix(name, rows, columns);
    if (table->rows == rows) return table;
    throw Error("{} has {} rows, expected {}", tensors_.describe(name), table->rows, rows);
  }

  void set_heads(const Config& config, const char* heads, StackSpec& stack) {
    stack.n_heads = config.count(heads, 1, kMaxHeads);
    if (stack.d_model % stack.n_heads != 0) refuse(config, heads, format_text("a divisor of {}", stack.d_model));
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
    const double epsilon = encoder_.number_or("layer_norm_eps", 1e-12, 1e-12, 1);
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
    ConvolutionSpec patch = {tensors_.window(prefix + "patch_embeddings.projection", d, patches_.values()),
        patches_.values(), 1, 1, 0, Activation::kNone};
    patch.linear.fine_input = true;
    stack.positions = *matrix(prefix + "position_embeddings", rows, d);
    const char* const names[] = {"cls_token", "distillation_token"};
    for (uint32_t token = 0; token < patches_.tokens; ++token) {
      const auto added = matrix(prefix + names[token], 1, d);
      const bool is_shape = stack.positions.same_rows || stack.positions.values.empty();
      if (is_shape || added->values.empty() || patch.linear.bias.empty()) continue;
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
    const std::string prefix = "decoder.model.decoder.";
    if (decoder_.text_or("model_type", "") != "trocr") refuse(decoder_, "model_type", "\"trocr\" or \"bert\"");
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
    check_source_width("cross_attention_hidden_size", shape.source_width);
    const uint32_t layers = decoder_.count("decoder_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string name = format_text("{}layers.{}", prefix, i);
      stack.layers.push_back(read_layer(name, shape, tensors_));
    }
    read_projection("decoder.output_projection.weight", std::vector<float>(vocabulary, 0.0f));
  }

  // There is a layer between encoder and decoder if they have other widths.
  void check_source_width(const char* key, uint32_t width) const {
    const uint32_t expected = spec_.encoder.d_model;
    if (width != expected) refuse(decoder_, key, format_text("{}, the encoder's \"hidden_size\"", expected));
  }

  void read_projection(const char* name, std::vector<float> bias) {
    const auto& words = spec_.decoder.embedding;
    const bool is_stored = tensors_.has(name), is_tied = !is_stored && decoder_.flag_or("tie_word_embeddings", true);
    const auto own = is_tied ? words : matrix(name, words->rows, spec_.decoder.d_model);
    spec_.projection = {is_stored ? tensors_.share_if_equal(words, own) : own, std::move(bias)};
  }

  void read_bert() {
    const std::string prefix = "decoder.bert.", inputs = prefix + "embeddings.", head = "decoder.cls.predictions.";
    StackSpec& stack = spec_.decoder;
    const uint32_t d = stack.d_model = decoder_.count("hidden_size", 2, kMaxWidth);
    check_source_width("hidden_size", d);
    if (decoder_.text_or("position_embedding_type", "absolute") != "absolute")
      refuse(decoder_, "position_embedding_type", "\"absolute\"");
    stack.d_ff = decoder_.count("intermediate_size", 1, kMaxWidth);
    set_heads(decoder_, "num_attention_heads", stack);
    stack.activation = read_activation(decoder_, "hidden_act");
    const double epsilon = decoder_.number_or("layer_norm_eps", 1e-12, 1e-12, 1);
    const uint32_t vocabulary = decoder_.count("vocab_size", 1, kMaxVocabulary);
    stack.embedding = matrix(inputs + "word_embeddings.weight", vocabulary, d);
    const uint32_t rows = decoder_.count_or("max_position_embeddings", kUsualPositions, 1, kMaxPositions);
    stack.positions = *matrix(inputs + "position_embeddings.weight", rows, d);
    const auto type =
        matrix(inputs + "token_type_embeddings.weight", decoder_.count_or("type_vocab_size", 2, 1, kMaxVocabulary), d);
    const bool has_values = !type->values.empty() && !stack.positions.values.empty() && !stack.positions.same_rows;
    for (size_t i = 0; has_values && i < size_t{rows} * d; ++i) stack.positions.values.edit()[i] += type->values[i % d];
    stack.embedding_norm = norm(inputs + "LayerNorm", d, epsilon);
    const auto attention = [&](const std::string& name) {
      const std::string self = name + ".self.", out = name + ".output.";
      return AttentionSpec{linear(self + "query", d, d), linear(self + "key", d, d), linear(self + "value", d, d),
          linear(out + "dense", d, d), norm(out + "LayerNorm", d, epsilon)};
    };
    for (uint32_t i = 0; i < decoder_.count("num_hidden_layers", 1, kMaxLayers); ++i) {
      const std::string name = format_text("{}encoder.layer.{}.", prefix, i);
      LayerSpec layer;
      layer.self_attention = attention(name + "attention");
      layer.cross_attention = attention(name + "crossattention");
      layer.feed_forward = {linear(name + "intermediate.dense", stack.d_ff, d),
          linear(name + "output.dense", d, stack.d_ff), norm(name + "output.LayerNorm", d, epsilon)};
      stack.layers.push_back(std::move(layer));
    }
    stack.head = linear(head + "transform.dense", d, d);
    stack.final_norm = norm(head + "transform.LayerNorm", d, epsilon);
    read_projection("decoder.cls.predictions.decoder.weight", tensors_.vector(head + "bias", vocabulary));
  }

  void read_trocr_positions(const std::string& name, StackSpec& stack) {
    const uint32_t rows = decoder_.count_or("max_position_embeddings", kUsualPositions, 1, kMaxPositions - 2);
    if (decoder_.flag_or("use_learned_position_embeddings", true)) {
      const auto stored = matrix(name, rows + kTrocrOffset, stack.d_model);
      stack.positions = *slice_rows(stored, kTrocrOffset, rows + kTrocrOffset);
      return;
    }
    const uint32_t pad = decoder_.count_or("pad_token_id", 1, 0, kMaxVocabulary);
    if (pad == spec_.generation.decoder_start_id)
      refuse(decoder_, "pad_token_id", "another id than that of the start, because padding has no position");
    check_position_rows(decoder_.where("max_position_embeddings"), rows, stack.d_model);
    if (stack.d_model % 2 != 0) refuse(decoder_, "d_model", "an even number");
    stack.positions = sinusoid_table({false, true, pad + 1}, rows, stack.d_model);
  }

  const Config encoder_, decoder_;
  TensorReader& tensors_;
  ModelSpec& spec_;
  const Patches patches_;
};

// BERT's pieces: "##" continues a word. Japanese has no spaces between words.
TokenizerSpec bert_tokenizer(const Checkpoint& checkpoint, const Vocabulary& vocabulary) {
  const Config settings = side_config(checkpoint, "tokenizer_config.json");
  const bool has_spaces = !settings.text_or("tokenizer_class", "").starts_with("BertJapanese");
  TokenizerSpec spec;
  spec.kind = TokenizerKind::kBpe;
  spec.vocab_size = static_cast<uint32_t>(vocabulary.id_to_text.size());
  spec.unknown_surface = "";
  for (const std::string& text : vocabulary.id_to_text) {
    const bool is_special =
        text.empty() || std::set<std::string>{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}.contains(text);
    const bool goes_on = text.size() > 2 && text.starts_with("##");
    spec.pieces.push_back({goes_on ? text.substr(2) : (has_spaces && !is_special ? "\u2581" : "") + text, 0,
        is_special ? PieceType::kControl : PieceType::kNormal});
  }
  return spec;
}

// XLM-RoBERTa's pieces, or byte-level BPE. A file of images has no tokenizer, only a detokenizer.
void read_vision_text(const Checkpoint& checkpoint, ModelSpec& spec) {
  const uint32_t rows = spec.decoder.embedding->rows;
  std::error_code error;
  const auto exists = [&](const char* name) { return std::filesystem::exists(side_file(checkpoint, name), error); };
  if (spec.decoder.head && exists("vocab.txt")) {
    spec.tokenizer_files = {side_file(checkpoint, "vocab.txt")};
    spec.target_tokenizer = bert_tokenizer(checkpoint, read_vocabulary(spec.tokenizer_files[0], rows));
    return;
  }
  const bool has_json = exists("tokenizer.json"), has_entries = exists("vocab.json");
  const bool has_pieces = exists("sentencepiece.bpe.model");
  if (has_pieces ||
      (has_json && !has_entries && !read_tokenizer_json(side_file(checkpoint, "tokenizer.json")).is_byte_level))
    return read_family_text(checkpoint, {FamilyText::kXlmRoberta, rows, spec.generation.end_id}, spec);
  if (has_json || has_entries) {
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
  Value settings = read_json_object(config.path());
  const Config decoder = config.object_or_empty("decoder");
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
  VisionReader reader(config, tensors, spec);
  reader.read();
  spec.encoder.frontend->image = read_processor(checkpoint, reader.patches());
  read_vision_text(checkpoint, spec);
  return spec;
}

std::vector<ShapedTensor> vision_tensors(const Config& config) {
  ModelSpec spec;
  TensorReader lister;
  VisionReader(config, lister, spec).read();
  return lister.listed();
}
}  // namespace

const ConfigFamily kVisionFamily = {"vision-encoder-decoder", "TrOCR, manga-ocr", load_vision, vision_tensors, nullptr,
    nullptr,
    {"TrOCR and manga-ocr of Hugging Face: images to text",
        "safetensors (also sharded), `pytorch_model.bin`; [details of images](converter/dialects/IMAGES.md)"}};
}  // namespace goldcrest::converter
