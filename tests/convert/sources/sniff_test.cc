// SPDX-License-Identifier: Apache-2.0
// Names each kind of file that users have, and says what they can do with it.
#include "sources/sniffing/sniff.h"
#include "support/checkpoint_writer.h"
#include "support/test.h"

namespace goldcrest::converter { namespace {
using namespace std::string_literals;
using namespace test;
using SniffFolder = InFolder;

std::string zip(const std::vector<ZipEntry>& entries) {
  std::ostringstream stream;
  ZipWriter writer(stream);
  for (const ZipEntry& entry : entries) writer.add(entry);
  writer.finish();
  return stream.str();
}
// Writes a dictionary with these keys.
PickleWriter& keys(PickleWriter& writer, const std::vector<std::string>& names) {
  writer.raw("}(");
  for (const std::string& name : names) writer.text(name).integer(0);
  return writer.raw("u");
}
std::string pickle_of(const std::vector<std::string>& names) {
  PickleWriter writer;
  return keys(writer, names).finish();
}
std::string torch_zip(const std::string& pickle) { return zip({{"archive/data.pkl", pickle}}); }
std::string little(uint64_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string tensors_of(const std::vector<std::string>& names) {
  std::string header;
  for (const std::string& name : names)
    header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  return safetensors_bytes(header + "}", "");
}
// Marian's binary with one item of this type and name.
std::string marian(uint64_t type, const std::string& name) {
  return little(1, 8) + little(1, 8) + little(name.size() + 1, 8) + little(type, 8) + little(1, 8) + little(4, 8) +
         name + std::string(300, '\0');
}
std::string tar(const std::string& first) {
  std::string bytes(1024, '\0');
  bytes.replace(0, first.size(), first);
  return bytes.replace(257, 5, "ustar");
}
std::string ctranslate2(const std::string& spec) {
  return little(6, 4) + little(spec.size() + 1, 2) + spec + "\0"s + little(7, 4) + little(0, 4);
}
std::string table(const std::string& key) { return key + std::string(64, '\0') + little(0xdb4775248b80fb57, 8); }

struct Case {
  const char* name;
  std::string bytes;
  Use use;
  const char* text;  // after the path
};

void expect_all(const std::vector<Case>& cases) {
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    const std::filesystem::path path = folder.write("file", c.bytes);
    const Sniffed sniffed = sniff(path);
    EXPECT_EQ(sniffed.text(), path.string() + ": " + c.text) << c.name;
    EXPECT_EQ(sniffed.use, c.use) << c.name;
  }
}

TEST(Sniff, WhatLiesInAFilesPlace) {
  expect_all({
      {"empty", "", Use::kRefused, "the file is empty; download it again"},
      {"pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n", Use::kRefused,
          "this is a Git LFS pointer, not the file itself; run `git lfs pull` in its repository, or download the file"},
      {"page", "\xef\xbb\xbf\n <!DOCTYPE html><html>", Use::kRefused,
          "this is a web page (HTML or XML), probably an error or sign-in page that a download saved in the file's "
          "place; download it again"},
      {"gzip", "\x1f\x8b\x08", Use::kRefused,
          "this is a compressed archive (gzip, bzip2, xz, zstd, 7z or rar); unpack it and give the folder or file with "
          "the checkpoint"},
      {"xz", "\xfd\x37zXZ\0\0"s, Use::kRefused,
          "this is a compressed archive (gzip, bzip2, xz, zstd, 7z or rar); unpack it and give the folder or file with "
          "the checkpoint"},
      {"tar", tar("model/config.json"), Use::kRefused,
          "this is a tar archive; unpack it with `tar -xf` and give the folder with the checkpoint"},
      {"zip", zip({{"model/pytorch_model.bin", "x"}, {"model/config.json", "{}"}}), Use::kRefused,
          "this is a zip with a checkpoint in it; unpack it and give the folder"},
      {"SentencePiece",
          "\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02\x0a\x07\x0a\x01"
          "a\x15\0\0\0\0"s,
          Use::kRefused,
          "this is a SentencePiece tokenizer, not a model; give the folder with the model's weights and config.json; "
          "the tokenizer belongs next to them"},
      {"config", R"({"a": {"model_type": "no"}, "model_type" : "marian"})", Use::kRefused,
          "this is a config.json, not weights; give its folder, or the weights with --config"},
      {"vocabulary", R"({"</s>": 0})", Use::kRefused,
          "this is a JSON file, not weights; give the folder with the model's weights and config.json"},
      {"shortlist", little(0xF11A48D5013417F5, 8) + std::string(40, '\0'), Use::kRefused,
          "this is a lexical shortlist of Marian, not a model; give the model, and this file with --shortlist FILE"},
      {"model file", "\x10\0\0\0GCST"s, Use::kModelFile,
          "this is a Goldcrest model file; goldcrest-inspect shows what it holds, goldcrest-translate runs it"},
  });
}

TEST(Sniff, FormatsOfOtherEngines) {
  expect_all({
      {"ONNX", "\x08\x08\x12\x07pytorch\x3a\x04\x0a\x02\x0a\0\x42\x02\x10\x11"s, Use::kRefused,
          "this is an ONNX model, a graph; convert the PyTorch or Hugging Face checkpoint that it was exported from"},
      {"CTranslate2", ctranslate2("TransformerSpec"), Use::kConvert,
          "this is a CTranslate2 model; goldcrest-convert converts it to a .gcst file, with the config.json and the "
          "vocabularies next to it"},
      {"old CTranslate2", ctranslate2("TransformerBase"), Use::kConvert,
          "this is a CTranslate2 model; goldcrest-convert converts it to a .gcst file, with the config.json and the "
          "vocabularies next to it"},
      {"Argos Translate", zip({{"en_fr/metadata.json", "{}"}, {"en_fr/model/model.bin", "x"}}), Use::kConvert,
          "this is a package of Argos Translate with a CTranslate2 model; goldcrest-convert converts it to a .gcst "
          "file"},
      {"CTranslate2 Wav2Vec2", ctranslate2("Wav2Vec2Spec"), Use::kRefused,
          "this is a CTranslate2 model of speech without a decoder (Wav2Vec2); Goldcrest runs encoder-decoder "
          "Transformers; it cannot be converted"},
      {"CTranslate2 encoder", ctranslate2("TransformerEncoderSpec"), Use::kRefused,
          "this is a CTranslate2 model of an encoder without a decoder; Goldcrest runs encoder-decoder Transformers; "
          "it cannot be converted"},
      {"CTranslate2 decoder", ctranslate2("TransformerDecoderSpec"), Use::kRefused,
          "this is a CTranslate2 model of a decoder-only language model; Goldcrest runs encoder-decoder Transformers; "
          "it cannot be converted"},
      {"GGUF", "GGUF\3\0\0\0"s, Use::kRefused,
          "this is a GGUF file of llama.cpp; its weights are quantized for another engine: convert the original "
          "checkpoint"},
      {"GGML", "lmgg\0\0\0\0"s, Use::kRefused,
          "this is a GGML file of llama.cpp or whisper.cpp; its weights are made for another engine: convert the "
          "original checkpoint"},
      {"Marian npz", zip({{"special:model.yml.npy", "x"}, {"Wemb.npy", "x"}}), Use::kConvert,
          "this is a Marian model in Marian's own format (.npz); goldcrest-convert converts it to a .gcst file, with "
          "the vocabularies next to it"},
      {"npz", zip({{"a.npy", "x"}}), Use::kRefused,
          "this is an archive of NumPy arrays (.npz); save the arrays as safetensors, with a config.json that tells "
          "what they are"},
      {"npy", "\x93NUMPY\1\0"s, Use::kRefused,
          "this is one NumPy array (.npy); save all tensors of the model in one safetensors file"},
      {"Marian binary", marian(0x0404, "decoder_Wemb"), Use::kConvert,
          "this is a Marian model in Marian's binary format (.bin); goldcrest-convert converts it to a .gcst file, "
          "with the vocabularies next to it"},
      {"intgemm", marian(0x4101, "Wemb"), Use::kConvert,
          "this is a Marian model with the 8-bit weights of intgemm (.bin), as Firefox has them; goldcrest-convert "
          "converts it to a .gcst file, with the vocabularies next to it"},
  });
}

TEST(Sniff, FormatsOfTensorFlow) {
  expect_all({
      {"TFLite", "\x1c\0\0\0TFL3"s, Use::kRefused,
          "this is a TensorFlow Lite model, a graph; convert the checkpoint that it was exported from"},
      {"HDF5", "\x89HDF\r\n\x1a\n", Use::kRefused,
          "this is an HDF5 file, as Keras and TensorFlow write them (.h5); save the model with PyTorch: transformers' "
          "from_pretrained(..., from_tf=True) of version 4 reads a tf_model.h5"},
      {"Keras", zip({{"metadata.json", "{}"}, {"config.json", "{}"}, {"model.weights.h5", "x"}}), Use::kRefused,
          "this is a Keras model (.keras); TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
      {"SavedModel", "\x08\x01\x12\x04\x0a\x02\x0a\0"s, Use::kRefused,
          "this is a TensorFlow SavedModel; TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
      {"graph",
          "\x0a\x08\x0a\x01x\x12\x03"
          "Add"s,
          Use::kRefused,
          "this is a frozen TensorFlow graph (.pb); TensorFlow's weights are not read: copy them to a PyTorch "
          "nn.Transformer"},
      {"TensorFlow index", table("encoder/kernel"), Use::kRefused,
          "this is a TensorFlow checkpoint (.index and .data); TensorFlow's weights are not read: copy them to a "
          "PyTorch nn.Transformer"},
      {"OpenNMT-tf", table("model/examples_inputter/features_inputter"), Use::kRefused,
          "this is an OpenNMT-tf checkpoint of TensorFlow (.index and .data); TensorFlow's weights are not read: copy "
          "them to a PyTorch nn.Transformer"},
      {"TensorFlow note", "model_checkpoint_path: \"ckpt-9\"\n", Use::kRefused,
          "this is TensorFlow's note of which checkpoint is the latest; TensorFlow's weights are not read: copy them "
          "to a PyTorch nn.Transformer"},
  });
}

TEST(Sniff, WhatTorchWrote) {
  const std::string legacy_text =
      "this is what torch.save wrote before version 1.6; goldcrest-convert converts it to a .gcst file";
  const std::string fairseq_text =
      "this is a fairseq checkpoint; goldcrest-convert converts it to a .gcst file, with the dict.SOURCE.txt and "
      "dict.TARGET.txt next to it";
  const std::string module_text =
      "this is a whole PyTorch module that was pickled, a program and not only weights; nothing in it is executed: "
      "load it where it was made and save torch.save(model.state_dict(), ...)";
  PickleWriter module, fairseq;
  const std::string module_pickle = module.global("torch.nn.modules.linear", "Linear").finish();
  keys(fairseq.global("argparse", "Namespace"),
      {"encoder.embed_tokens.weight", "decoder.layers.0.encoder_attn.k_proj.weight"});
  const std::string fairseq_pickle = fairseq.finish();
  const std::string magic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
  expect_all({
      {"legacy", magic + pickle_of({"weight"}), Use::kConvert, legacy_text.c_str()},
      {"legacy tar", tar("sys_info"), Use::kRefused,
          "this is a tar of pickles, PyTorch's format from before version 0.2, which is not read; load it in PyTorch "
          "and save it again with torch.save, or convert it to safetensors"},
      {"fairseq", torch_zip(fairseq_pickle), Use::kConvert, fairseq_text.c_str()},
      {"legacy fairseq", magic + fairseq_pickle, Use::kConvert, fairseq_text.c_str()},
      {"module", torch_zip(module_pickle), Use::kRefused, module_text.c_str()},
      {"legacy module", magic + module_pickle, Use::kRefused, module_text.c_str()},
      {"OpenNMT-py", torch_zip(pickle_of({"encoder.embeddings.make_embedding.emb_luts.0.weight"})), Use::kConvert,
          "this is an OpenNMT-py checkpoint; goldcrest-convert converts it to a .gcst file"},
      {"TorchScript", zip({{"m/data.pkl", "x"}, {"m/code/__torch__.py", "x"}, {"m/constants.pkl", "x"}}), Use::kRefused,
          "this is a TorchScript archive, a program; save the weights instead: "
          "torch.save(torch.jit.load(...).state_dict(), ...)"},
      {"export", zip({{"m/models/model.json", "{}"}}), Use::kRefused,
          "this is a torch.export archive (.pt2), a program; save the weights instead: "
          "torch.save(torch.export.load(...).state_dict, ...)"},
      {"state dict", torch_zip(pickle_of({"weight"})), Use::kConvert,
          "this is what torch.save wrote; goldcrest-convert converts it to a .gcst file"},
      {"safetensors", tensors_of({"weight"}), Use::kConvert,
          "this is a safetensors file; goldcrest-convert converts it to a .gcst file"},
      {"index", R"({"weight_map": {"a": "b"}})", Use::kConvert,
          "this is the index of weights in several files; goldcrest-convert converts them to a .gcst file"},
  });
}

TEST(Sniff, FamiliesByTheNamesOfTensors) {
  const std::string encoder = "model.encoder.layers.0.self_attn.q_proj.weight",
                    across = "model.decoder.layers.0.encoder_attn.q_proj.weight",
                    embedding_norm = "model.encoder.layernorm_embedding.weight",
                    final_norm = "model.encoder.layer_norm.weight";
  constexpr const char* kEncoder =
      "this is an encoder without a decoder (as BERT is); Goldcrest runs encoder-decoder Transformers; it cannot be "
      "converted";
  constexpr const char* kDecoder =
      "this is a decoder-only language model (as GPT and Llama are); Goldcrest runs encoder-decoder Transformers; it "
      "cannot be converted";
  const auto converted = [](const char* name) {
    return std::string("this is ") + name +
           "; goldcrest-convert makes a .gcst of it, with the config.json and the tokenizer's files of its repository";
  };
  const std::string t5 = converted("a T5 model (T5, mT5, FLAN-T5, ByT5 ...)"), bart = converted("a BART model"),
                    mbart = converted("an mBART model"), m2m = converted("an M2M-100 or NLLB model"),
                    pegasus = converted("a Pegasus model"), whisper = converted("a Whisper model"),
                    moonshine = converted("a Moonshine model");
  expect_all({
      {"T5",
          tensors_of(
              {"encoder.block.0.layer.0.SelfAttention.q.weight", "decoder.block.0.layer.1.EncDecAttention.q.weight"}),
          Use::kConvert, t5.c_str()},
      {"BART", tensors_of({encoder, across, embedding_norm}), Use::kConvert, bart.c_str()},
      {"mBART", tensors_of({encoder, across, embedding_norm, final_norm}), Use::kConvert, mbart.c_str()},
      {"M2M-100", torch_zip(pickle_of({encoder, across, final_norm})), Use::kConvert, m2m.c_str()},
      {"Pegasus", tensors_of({encoder, across, final_norm, "final_logits_bias"}), Use::kConvert, pegasus.c_str()},
      {"Whisper", tensors_of({"model.encoder.conv1.weight", across}), Use::kConvert, whisper.c_str()},
      {"Moonshine", tensors_of({"model.encoder.conv1.weight", "model.encoder.groupnorm.weight", across}), Use::kConvert,
          moonshine.c_str()},
      {"OpenAI's Whisper",
          torch_zip(pickle_of({"encoder.blocks.0.attn.query.weight", "decoder.token_embedding.weight"})),
          Use::kOtherFamily,
          "this is a Whisper model in OpenAI's own layout; transformers' convert_openai_to_hf.py makes a folder of it "
          "that goldcrest-convert reads"},
      {"BERT", tensors_of({"encoder.layer.0.attention.self.query.weight"}), Use::kOtherFamily, kEncoder},
      {"nn.TransformerEncoder", tensors_of({"layers.0.self_attn.in_proj_weight", "layers.0.linear1.weight"}),
          Use::kOtherFamily, kEncoder},
      {"GPT-2", tensors_of({"transformer.h.0.attn.c_attn.weight"}), Use::kOtherFamily, kDecoder},
      {"Llama", tensors_of({"model.layers.0.self_attn.q_proj.weight"}), Use::kOtherFamily, kDecoder},
      {"Marian", tensors_of({encoder, across, "final_logits_bias"}), Use::kConvert,
          "this is a Marian / OPUS-MT model of Hugging Face; goldcrest-convert converts it to a .gcst file, with the "
          "config.json, vocab.json, source.spm and target.spm of its repository"},
  });
}

TEST(Sniff, ModulesByTheNamesOfTensors) {
  expect_all({
      {"nn.Transformer",
          tensors_of({"encoder.layers.0.linear1.weight", "encoder.layers.0.self_attn.in_proj_weight",
              "decoder.layers.0.multihead_attn.in_proj_weight"}),
          Use::kConvert,
          "this is a state dict of PyTorch's nn.Transformer; goldcrest-convert converts it to a .gcst file, with the "
          "config.json that goldcrest-convert --print-config begins"},
      {"the Annotated Transformer",
          torch_zip(
              pickle_of({"encoder.layers.0.self_attn.linears.0.weight", "decoder.layers.0.src_attn.linears.0.weight"})),
          Use::kConvert,
          "this is a model of the Annotated Transformer; goldcrest-convert converts it to a .gcst file, with the "
          "config.json that goldcrest-convert --print-config begins"},
      {"PyTorch's tutorial",
          torch_zip(pickle_of({"transformer.encoder.layers.0.self_attn.in_proj_weight",
              "transformer.decoder.layers.0.multihead_attn.in_proj_weight", "src_tok_emb.embedding.weight",
              "tgt_tok_emb.embedding.weight"})),
          Use::kConvert,
          "this is a Seq2SeqTransformer of PyTorch's translation tutorial; goldcrest-convert converts it to a .gcst "
          "file, with the config.json that goldcrest-convert --print-config begins"},
      {"Ben Trevett's tutorial 6",
          tensors_of({"encoder.layers.0.positionwise_feedforward.fc_1.weight",
              "decoder.layers.0.encoder_attention.fc_q.weight"}),
          Use::kConvert,
          "this is a Transformer of Ben Trevett's tutorial 6; goldcrest-convert converts it to a .gcst file, with the "
          "config.json that goldcrest-convert --print-config begins"},
  });
}

// Cuts every kind of file at every length and changes each byte: no exception, and no bad read that a sanitizer would
// find.
TEST(Sniff, DamagedFilesDoNoHarm) {
  const std::vector<std::string> whole = {
      zip({{"m/data.pkl", pickle_of({"weight"})}, {"m/constants.pkl", "x"}}),
      tensors_of({"weight"}),
      marian(0x4101, "Wemb"),
      ctranslate2("TransformerSpec"),
      "\x08\x08\x12\x07pytorch\x3a\x04\x0a\x02\x0a\0\x42\x02\x10\x11"s,
      R"({"a": {"model_type": "no\""}, "model_type" : "marian"})",
  };
  const TemporaryFolder folder;
  for (const std::string& bytes : whole) {
    for (size_t n = 0; n <= bytes.size(); n += 1 + n / 16) sniff(folder.write("file", bytes.substr(0, n)));
    for (size_t i = 0; i < bytes.size(); i += 1 + i / 16) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(~changed[i]);
      sniff(folder.write("file", changed));
    }
  }
}

// Messages about the files that a folder has and lacks.

using test::TemporaryFolder;

const char* const kLookedFor =
    "model.safetensors, pytorch_model.bin, an index.json of their shards, or one other .safetensors, .pt, .pth, .bin "
    "or .npz file";

std::string tensors() {
  std::ostringstream stream;
  write_safetensors(stream, {{"w", {1}, {1}}}, ElementType::kF32);
  return stream.str();
}

TEST_F(SniffFolder, NamesTheFamilyOfItsConfig) {
  const std::pair<const char*, const char*> cases[] = {
      {"prophetnet", "this is another encoder-decoder of Hugging Face; its family is not supported"},
      {"bert",
          "this is an encoder without a decoder (as BERT is); Goldcrest runs encoder-decoder Transformers; it cannot "
          "be converted"},
      {"llama",
          "this is a decoder-only language model (as GPT and Llama are); Goldcrest runs encoder-decoder Transformers; "
          "it cannot be converted"},
      {"gpt2",
          "this is a decoder-only language model (as GPT and Llama are); Goldcrest runs encoder-decoder Transformers; "
          "it cannot be converted"}};
  for (const auto& [model_type, text] : cases) {
    const TemporaryFolder fresh;
    fresh.write("model.safetensors", tensors());
    const std::filesystem::path config =
        fresh.write("config.json", "{\"d_model\": 8, \"model_type\": \"" + std::string(model_type) + "\"}");
    const Sniffed sniffed = sniff(fresh.path());
    EXPECT_EQ(sniffed.use, Use::kOtherFamily);
    EXPECT_EQ(sniffed.text(), config.string() + ": " + text);
  }
}

TEST_F(SniffFolder, KnowsWhatIsConverted) {
  folder.write("model.safetensors", tensors());
  EXPECT_EQ(sniff(folder.path()).use, Use::kConvert);
  for (const char* config :
      {"{}", "{\"model_type\": \"marian\"}", "{\"model_type\": \"nn_transformer\"}", "{\"model_type\":"}) {
    folder.write("config.json", config);
    EXPECT_EQ(sniff(folder.path()).use, Use::kConvert) << config;
  }
  EXPECT_EQ(sniff(folder / "absent").use, Use::kUnknown);
}

TEST_F(SniffFolder, NamesTheFileThatIsSomethingElse) {
  struct FolderCase {
    const char* file;
    std::string bytes;
    const char* text;
  };
  const FolderCase cases[] = {{"model.bin", "\6\0\0\0\x17\0TransformerDecoderSpec\0\7\0\0\0"s,
                                  "this is a CTranslate2 model of a decoder-only language model; Goldcrest runs "
                                  "encoder-decoder Transformers; it cannot be converted"},
      {"saved_model.pb", "\x08\x01\x12\x04\x0a\x02\x0a\0"s,
          "this is a TensorFlow SavedModel; TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
      {"decoder.onnx", "\x08\x08\x3a\x04\x0a\x02\x0a\0"s,
          "this is an ONNX model, a graph; convert the PyTorch or Hugging Face checkpoint that it was exported from"},
      {"pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\n",
          "this is a Git LFS pointer, not the file itself; run `git lfs pull` in its repository, or download the "
          "file"}};
  for (const FolderCase& c : cases) {
    const TemporaryFolder fresh;
    fresh.write("config.json", "{}");
    const std::filesystem::path file = fresh.write(c.file, c.bytes);
    fresh.write("vocabulary.txt", "x");
    const Sniffed sniffed = sniff(fresh.path());
    EXPECT_EQ(sniffed.use == Use::kRefused ? sniffed.text() : "", file.string() + ": " + c.text);
  }
}

TEST_F(SniffFolder, AnUnpackedPackageOfArgosTranslate) {
  folder.write("metadata.json", "{}");
  std::filesystem::create_directories(folder / "model");
  const std::filesystem::path file = folder.write("model/model.bin", "\6\0\0\0\x10\0TransformerSpec\0\7\0\0\0"s);
  EXPECT_EQ(sniff(folder.path()).text(), file.string() +
                                             ": this is a CTranslate2 model; goldcrest-convert converts it to a .gcst "
                                             "file, with the config.json and the vocabularies next to it");
  EXPECT_EQ(sniff(folder / "model").use, Use::kConvert);
}

TEST_F(SniffFolder, ListsWhatItHasInPlaceOfACheckpoint) {
  const std::string config = (folder / "config.json").string();
  const std::string expected =
      ": is missing; the folder holds no weights either: expected config.json (of a PyTorch nn.Transformer: "
      "converter/dialects/NN_TRANSFORMER.md), and "s +
      kLookedFor;
  EXPECT_EQ(sniff(folder.path()).text(), config + expected + "; it is empty");
  folder.write("source.spm", "x");
  folder.write("a\nb", "x");
  EXPECT_EQ(sniff(folder.path()).text(), config + expected + R"(; it holds "a\x0ab", "source.spm")");
  std::filesystem::create_directories(folder / "epoch_3");
  folder.write("epoch_3/config.json", "{}");
  folder.write("epoch_3/model.safetensors", tensors());
  EXPECT_EQ(sniff(folder.path()).text(),
      config + expected +
          R"(; it holds "a\x0ab", "epoch_3", "source.spm"; there is a checkpoint in "epoch_3": give that folder)");
  std::filesystem::remove_all(folder / "epoch_3");
  std::filesystem::remove(folder / "a\nb");
  folder.write("config.json", "{}");
  EXPECT_EQ(sniff(folder.path()).text(), folder.path().string() + ": holds no weights; expected " + kLookedFor +
                                             R"(; it holds "config.json", "source.spm")");
  folder.write("flax_model.msgpack", "x");
  EXPECT_EQ(sniff(folder.path()).text(),
      folder.path().string() + ": holds weights only in formats that are not read; expected " + kLookedFor +
          R"(; it holds "config.json", "flax_model.msgpack", "source.spm"; save the model with PyTorch)");
}

TEST_F(SniffFolder, FindsWeightsByTheirUsualNames) {
  folder.write("b.pt", "x");
  folder.write("a.pth", "x");
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(find_weights(folder.path()), (Paths{folder / "a.pth", folder / "b.pt"}));
  folder.write("c.safetensors", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{folder / "c.safetensors"});
  folder.write("pytorch_model.bin", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{folder / "pytorch_model.bin"});
  EXPECT_EQ(find_weights(folder / "absent"), Paths{});
}

// Firefox's folders have a .bin of the model and one of its shortlist.
TEST_F(SniffFolder, AShortlistIsNoModel) {
  using Paths = std::vector<std::filesystem::path>;
  const std::filesystem::path shortlist =
      folder.write("lex.bin", "\xf5\x17\x34\x01\xd5\x48\x1a\xf1" + std::string(40, '\0'));
  EXPECT_EQ(find_weights(folder.path()), Paths{shortlist});
  EXPECT_EQ(sniff(folder.path()).text(),
      shortlist.string() +
          ": this is a lexical shortlist of Marian, not a model; give the model, and this file with --shortlist FILE");
  const std::filesystem::path arrays = folder.write("model.npz", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{arrays});
  const std::filesystem::path model = folder.write("model.bin", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{model});
}
}}  // namespace goldcrest::converter
