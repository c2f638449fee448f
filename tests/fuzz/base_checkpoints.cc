// SPDX-License-Identifier: Apache-2.0
// The checkpoints that are changed: folders that other tests make, read back, and small ones that no other test makes.
#include "convert/support/ctranslate2_folder.h"
#include "convert/support/native_folder.h"
#include "convert/support/nn_folder.h"
#include "convert/support/toolkit_folder.h"
#include "convert/support/tutorial_folder.h"
#include "converter/dialects/positions.h"
#include "fuzz/checkpoints.h"
#include "sources/files/zip_directory.h"
#include "support/marian_tensors.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
namespace {
CheckpointFiles files_in(const std::filesystem::path& folder) {
  CheckpointFiles files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const converter::InputFile file(entry.path());
    if (!converter::looks_like_zip(file)) {
      files[name] = file.text(0, file.size());
      continue;
    }
    for (const converter::ZipMember& member : converter::read_zip_directory(file))
      files[name + "!" + member.name] = converter::read_member(file, member);
  }
  return files;
}

template <typename Folder> CheckpointFiles loaded(Folder&& folder) {
  folder.load();
  return files_in(folder.folder.path());
}

std::vector<NamedTensor> values_of(const std::map<std::string, NamedTensor>& tensors) {
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : tensors) all.push_back(tensor);
  return all;
}

std::string safetensors_of(const std::vector<NamedTensor>& tensors, converter::ElementType type) {
  std::ostringstream stream;
  write_safetensors(stream, tensors, type);
  return stream.str();
}

// transformers' Marian, with a SentencePiece model's own vocabulary.
CheckpointFiles marian() {
  const std::string pieces = read_bytes(source_path("tests/data/char.model"));
  const converter::TokenizerSpec tokenizer = converter::parse_sentencepiece_model(pieces, "char.model");
  nlohmann::json vocabulary = {{"</s>", 0}};
  for (const converter::Piece& piece : tokenizer.pieces)
    if (!vocabulary.contains(piece.text)) vocabulary[piece.text] = vocabulary.size();
  vocabulary["<pad>"] = vocabulary.size();
  const MarianShape shape = {static_cast<uint32_t>(vocabulary.size()), 8, 1, 1, 2, 2, 12, 12, 16};
  return {{"config.json", marian_config(shape).dump()}, {"vocab.json", vocabulary.dump()}, {"source.spm", pieces},
      {"target.spm", pieces}, {"tokenizer_config.json", R"({"source_lang": "en", "target_lang": "fr"})"},
      {"model.safetensors", safetensors_of(marian_tensors(shape, 1), converter::ElementType::kF16)}};
}

// nn.Transformer in safetensors, and in shards of them.
CheckpointFiles nn_safetensors(size_t n_shards) {
  const NnFolder made;
  const TemporaryFolder folder;
  folder.write("config.json", made.config.dump());
  if (n_shards > 1) write_shards(folder.path(), values_of(made.tensors), n_shards);
  else folder.write("model.safetensors", safetensors_of(values_of(made.tensors), converter::ElementType::kBf16));
  return files_in(folder.path());
}

CheckpointFiles native_binary(BinaryKind kind) {
  const NativeFolder made;
  std::string decoder = made.decoder;
  decoder.replace(decoder.find("model.npz"), 9, "model.bin");
  return {{"vocab.yml", made.folder.read("vocab.yml")}, {"decoder.yml", decoder},
      {"model.bin", binary_bytes(binary_items(made.tensors, made.settings, kind))}};
}

// Returns a SentencePiece model of `texts`, after <unk> and </s>, as if it was trained to this prefix. Every message in
// it is shorter than 128 bytes.
std::string pieces_model(const std::vector<std::string>& texts, const std::string& prefix) {
  const auto field = [](int number, const std::string& bytes) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
  };
  const auto piece = [&](const std::string& text, char type) { return field(1, field(1, text) + "\x18" + type); };
  std::string bytes = piece("<unk>", 2) + piece("</s>", 3);
  for (const std::string& text : texts) bytes += piece(text, 1);
  return bytes + field(2, field(2, prefix)) + field(3, "");
}

const std::vector<std::string> kSourcePieces = {"\u2581", "a", "b", "c", "\u2581a", "bc"},
                               kTargetPieces = {"\u2581", "x", "y", "z", "\u2581x", "yz"};

// Ids of the end, the unknown token, the pieces and the padding: 9.
nlohmann::json ids_of(const std::vector<std::string>& pieces) {
  nlohmann::json ids = {{"</s>", 0}, {"<unk>", 1}};
  for (const std::string& piece : pieces) ids[piece] = ids.size();
  ids["<pad>"] = ids.size();
  return ids;
}

std::vector<std::string> texts_of(const nlohmann::json& ids) {
  std::vector<std::string> texts(ids.size());
  for (const auto& [text, id] : ids.items()) texts[id.get<size_t>()] = text;
  return texts;
}

std::string lines_of(const nlohmann::json& ids) {
  std::string lines;
  for (const std::string& text : texts_of(ids)) lines += text + "\n";
  return lines;
}

// Marian as older versions of transformers saved it: two vocabularies, norms and positions everywhere, nothing tied.
CheckpointFiles marian_of_two_vocabularies() {
  const MarianShape shape = {9, 4, 1, 1, 2, 2, 8, 8, 8};
  nlohmann::json config = marian_config(shape);
  config.update({{"normalize_before", true}, {"normalize_embedding", true}, {"add_final_layer_norm", true},
      {"scale_embedding", false}, {"share_encoder_decoder_embeddings", false}, {"tie_word_embeddings", false},
      {"decoder_vocab_size", 9}});
  TensorList list{marian_tensors(shape, 2)};
  list.tensor("model.shared.weight").name = "model.encoder.embed_tokens.weight";
  list.add("model.decoder.embed_tokens.weight", {9, 4}, 0.5f);
  list.add("lm_head.weight", {9, 4}, 0.25f);
  for (const std::string stack : {"model.encoder", "model.decoder"}) {
    for (const char* norm : {".layernorm_embedding", ".layer_norm"}) {
      list.add(stack + norm + ".weight", {4}, 1);
      list.add(stack + norm + ".bias", {4}, 0);
    }
    list.tensors.push_back(
        {stack + ".embed_positions.weight", {8, 4}, converter::sinusoid_table({}, 8, 4).values.get()});
  }
  return {{"config.json", config.dump()}, {"vocab.json", ids_of(kSourcePieces).dump()},
      {"target_vocab.json", ids_of(kTargetPieces).dump()},
      {"source.spm", pieces_model(kSourcePieces, "work/en-fr/opus.src.spm")},
      {"target.spm", pieces_model(kTargetPieces, "work/en-fr/opus.trg.spm")},
      {"tokenizer_config.json", R"({"source_lang": "en", "target_lang": "fr", "separate_vocabs": true})"},
      {"generation_config.json", R"({"num_beams": 2, "max_new_tokens": 7})"},
      {"model.safetensors", safetensors_of(list.tensors, converter::ElementType::kF64)}};
}

// One table for all embeddings, and a stored table of sinusoids, which --print-config finds in the tensors.
CheckpointFiles nn_of_one_table() {
  NnFolder made;
  for (const char* name : {"source.weight", "target.weight", "head.weight", "head.bias"}) made.tensors.erase(name);
  made.add("embedding.weight", {6, 8});
  made.tensors["positional.pe"] = {
      "positional.pe", {12, 1, 8}, converter::sinusoid_table({false, true, 2, 10000}, 12, 8).values.get()};
  made.config.update({{"shared_embeddings", true}, {"tied_output_projection", true},
      {"source_vocabulary", made.config["target_vocabulary"]}, {"position_encoding", "sinusoidal_concatenated"},
      {"position_denominator", "d_model-2"}, {"position_offset", 2}, {"max_positions", 12},
      {"tensors", {{"source_embedding", "embedding.weight"}}}});
  return {{"config.json", made.config.dump()},
      {"model.safetensors", safetensors_of(values_of(made.tensors), converter::ElementType::kF32)}};
}

// Stacks of two widths, with pieces for one text and merges for the other; positions are learned.
CheckpointFiles nn_of_two_widths() {
  NnFolder made;
  const std::string encoder = "transformer.encoder.", cross = "transformer.decoder.layers.0.multihead_attn.";
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    made.add(encoder + layer + "self_attn.in_proj_weight", {12, 4});
    made.add(encoder + layer + "self_attn.in_proj_bias", {12});
    made.add_pair(encoder + layer + "self_attn.out_proj", {4, 4});
    made.add_pair(encoder + layer + "linear1", {8, 4});
    made.add_pair(encoder + layer + "linear2", {4, 8});
    for (const char* norm : {"norm1", "norm2"}) made.add_pair(encoder + layer + norm, {4});
  }
  made.add_pair(encoder + "norm", {4});
  made.add_pair("norm_in", {8});
  made.tensors.erase(cross + "in_proj_weight");
  made.add(cross + "q_proj_weight", {8, 8});
  for (const char* name : {"k_proj_weight", "v_proj_weight"}) made.add(cross + name, {8, 4});
  made.add("source.weight", {8, 4});
  made.add("source_positions", {10, 4});
  made.add("target_positions", {10, 8});
  made.folder.write("pieces.model", pieces_model(kSourcePieces, "pieces"));
  made.folder.write("codes", "#version: 0.2\na b</w>\n");
  made.folder.write("target.txt", "</s>\n<unk>\n<s>\n<pad>\nab\nb\n");
  made.config.update({{"source_vocabulary", "pieces.model"}, {"source_unit", "sentencepiece"}, {"source_pad_token", 7},
      {"target_vocabulary", "target.txt"}, {"target_unit", "subword"}, {"target_codes", "codes"},
      {"encoder_activation", "gelu"}, {"decoder_norm_first", true}, {"position_encoding", "learned"},
      {"token_biases", nlohmann::json::parse(R"([["b", 0.5]])")}});
  made.config["tensors"].update({{"target_embedding_norm", "norm_in"}, {"source_positions", "source_positions"},
      {"target_positions", "target_positions"}});
  return loaded(std::move(made));
}

// The paper's model: attention without biases, narrow heads, convolutions; token ids only.
CheckpointFiles nn_of_narrow_heads() {
  NnFolder made;
  std::erase_if(made.tensors, [](const auto& entry) { return entry.first.ends_with("bias"); });
  for (const std::string attention : {"encoder.layers.0.self_attn.", "encoder.layers.1.self_attn.",
           "decoder.layers.0.self_attn.", "decoder.layers.0.multihead_attn."}) {
    made.add("transformer." + attention + "in_proj_weight", {22, 8});
    made.add("transformer." + attention + "out_proj.weight", {8, 10});
  }
  for (auto& [name, tensor] : made.tensors)
    if (name.find(".linear") != std::string::npos) tensor.shape.push_back(1);
  for (const char* key :
      {"source_vocabulary", "target_vocabulary", "source_unit", "target_unit", "pad_token", "unk_token"})
    made.config.erase(key);
  made.config.update({{"bos_token", 1}, {"eos_token", 2}});
  return loaded(std::move(made));
}

// Marian's own with norms in front and a SentencePiece model for each side, without settings of a decoder.
CheckpointFiles native_of_pieces() {
  NativeFolder made;
  made.shape = {8, 4, 8, 2, 1, 1, false};
  made.tensors = native_tensors(made.shape, 2);
  made.settings = native_settings(made.shape);
  for (const auto& [key, value] : {std::pair{"transformer-ffn-activation", "swish"}, {"transformer-preprocess", "dn"},
           {"transformer-postprocess", "da"}, {"transformer-postprocess-emb", "nd"},
           {"transformer-postprocess-top", "n"}, {"tied-embeddings-all", "false"}})
    made.set(key, value);
  for (NamedTensor& tensor : made.tensors)
    if (tensor.name.find("_ln_") != std::string::npos) tensor.name += "_pre";
  for (const std::string stack : {"encoder", "decoder"})
    for (const char* end : {"_emb_ln_scale_pre", "_emb_ln_bias_pre", "_top_ln_scale", "_top_ln_bias"})
      made.add(stack + end, {1, 4}, 0.25f);
  made.tensor("Wemb").name = "decoder_Wemb";
  made.add("encoder_Wemb", {8, 4}, 0.25f);
  made.add("decoder_ff_logit_out_W", {4, 8}, 0.125f);
  std::filesystem::remove(made.folder / "vocab.yml");
  made.folder.write("srcvocab.spm", pieces_model(kSourcePieces, "source"));
  made.folder.write("trgvocab.spm", pieces_model(kTargetPieces, "target"));
  made.decoder = "";
  return loaded(std::move(made));
}

// Marian's own as in OPUS-MT: a vocabulary in YAML, and the SentencePiece models that cut texts into its entries.
CheckpointFiles native_of_listed_pieces() {
  const NativeShape shape = {9, 4, 8, 2, 1, 1, true};
  const std::string vocabulary = ids_of(kSourcePieces).dump(), pieces = pieces_model(kSourcePieces, "pieces");
  return {{"opus.vocab.yml", vocabulary}, {"source.spm", pieces}, {"target.spm", pieces},
      {"decoder.yml",
          "relative-paths: true\nmodels: [/elsewhere/model.bin]\nvocabs: [opus.vocab.yml, opus.vocab.yml]\n"
          "beam-size: 3\n"},
      {"model.bin", binary_bytes(binary_items(native_tensors(shape, 3), native_settings(shape), BinaryKind::kFloat))}};
}

// Argos Translate's package, which the message must name.
CheckpointFiles argos_package() {
  const NativeShape shape = {9, 4, 8, 2, 1, 1, false};
  const std::string folder = std::string(kPackage) + "!translate-en_fr/";
  return {{folder + "metadata.json", R"({"from_code": "en", "to_code": "fr", "target_prefix": "bc"})"},
      {folder + "sentencepiece.model", pieces_model(kSourcePieces, "pieces")},
      {folder + "model/config.json", CTranslate2Folder().config.dump()},
      {folder + "model/shared_vocabulary.json", nlohmann::json(texts_of(ids_of(kSourcePieces))).dump()},
      {folder + "model/model.bin", ctranslate2_model(native_tensors(shape, 4), shape, kInt8).bytes()}};
}

// CTranslate2's with a vocabulary of lines and a SentencePiece model for each side.
CheckpointFiles ctranslate2_of_lines() {
  const NativeShape shape = {9, 4, 8, 2, 1, 1, false};
  CTranslate2Model model = ctranslate2_model(native_tensors(shape, 5), shape, kBfloat16);
  model.version = 5;
  return {{"model.bin", model.bytes()}, {"source_vocabulary.txt", lines_of(ids_of(kSourcePieces))},
      {"target_vocabulary.txt", lines_of(ids_of(kTargetPieces))}, {"source.spm", pieces_model(kSourcePieces, "source")},
      {"target.spm", pieces_model(kTargetPieces, "target")}};
}

// The same with merges for each side instead.
CheckpointFiles ctranslate2_of_merges() {
  CheckpointFiles files = ctranslate2_of_lines();
  for (const char* name : {"source.spm", "target.spm"}) files.erase(name);
  files["source_vocabulary.txt"] = "</s>\n<unk>\na@@\nb@@\nab@@\na\nb\nab\nc\n";
  files["target_vocabulary.txt"] = "</s>\n<unk>\nx@@\ny@@\nxy@@\nx\ny\nxy\nz\n";
  files["source.codes"] = "#version: 0.2\na b</w>\na b\n";
  files["target.codes"] = "#version: 0.2\nx y</w>\nx y\n";
  return files;
}

// Marian's own as numpy.savez_compressed writes it.
CheckpointFiles native_compressed() {
  const std::string stored = "model.npz";
  CheckpointFiles files;
  for (auto& [name, content] : loaded(NativeFolder()))
    files[name.starts_with(stored) ? kCompressed + name.substr(stored.size()) : name] = content;
  std::string& decoder = files["decoder.yml"];
  decoder.replace(decoder.find(stored), stored.size(), kCompressed);
  return files;
}

// OpenNMT-py's with SentencePiece models in its folder; positions are computed, sines first.
CheckpointFiles opennmt_of_pieces() {
  ToolkitFolder made({});
  for (const char* stack : {"encoder", "decoder"})
    made.tensors.erase(stack + std::string(".embeddings.make_embedding.pe.pe"));
  made.saved["opt"]["position_encoding_type"] = "SinusoidalConcat";
  made.saved["vocab"]["src"] = {"<unk>", "<blank>", "<s>", "</s>", "\u2581", "a", "b", "c", "bc"};
  made.saved["vocab"]["tgt"] = {"<unk>", "<blank>", "<s>", "</s>", "x", "y", "yz"};
  made.files["src.model"] = pieces_model(kSourcePieces, "source");
  made.files["tgt.model"] = pieces_model(kTargetPieces, "target");
  return loaded(std::move(made));
}

// fairseq's, whose table is also the projection, with merges in its folder.
CheckpointFiles fairseq_of_merges() {
  ToolkitFolder made({.is_fairseq = true, .is_old = true, .is_pre_norm = false});
  made.tensors.erase("decoder.embed_out");
  made.saved["args"].erase("encoder_attention_heads");
  made.saved["args"].update({{"share_decoder_input_output_embed", true}, {"activation_fn", "gelu_fast"},
      {"encoder", {{"attention_heads", 4}}}});
  made.files["dict.de.txt"] = "ab@@ 9\nb 8\nc 7\nmadeupword0000 0\na@@ 5\n";
  made.files["codes"] = "a b 3\n";
  return loaded(std::move(made));
}
}  // namespace

std::vector<CheckpointFiles> good_checkpoints() {
  std::vector<CheckpointFiles> all = {
      marian(), nn_safetensors(1), nn_safetensors(2), loaded(NnFolder()), loaded(NativeFolder())};
  for (const BinaryKind kind : {BinaryKind::kFloat, BinaryKind::kInt8, BinaryKind::kInt8WithAlphas})
    all.push_back(native_binary(kind));
  for (const CTranslate2Type type : {kFloat32, kInt8, kInt16, kFloat16}) all.push_back(loaded(CTranslate2Folder(type)));
  for (const bool is_fairseq : {false, true})
    for (const bool is_old : {false, true})
      all.push_back(loaded(ToolkitFolder({.is_fairseq = is_fairseq, .is_old = is_old})));
  for (const auto& [kind, name] : kTutorials) all.push_back(loaded(TutorialFolder(kind)));
  for (const ToolkitShape& shape : {ToolkitShape{.is_fairseq = true, .is_pre_norm = false},
           ToolkitShape{.is_fairseq = true, .is_old = true, .is_pre_norm = false},
           ToolkitShape{.is_fairseq = true, .is_learned = true, .has_embedding_norm = true},
           ToolkitShape{.is_fairseq = true,
           .is_pre_norm = false,
           .is_learned = true,
           .has_embedding_norm = true,
           .is_scaled = false}})
    all.push_back(loaded(ToolkitFolder(shape)));
  for (const auto make : {marian_of_two_vocabularies, nn_of_one_table, nn_of_two_widths, nn_of_narrow_heads,
           native_of_pieces, native_of_listed_pieces, argos_package, ctranslate2_of_lines, opennmt_of_pieces,
           fairseq_of_merges, ctranslate2_of_merges, native_compressed})
    all.push_back(make());
  return all;
}
}  // namespace goldcrest::test
