// SPDX-License-Identifier: Apache-2.0
// Messages about the files that a folder has and lacks.
#include <gtest/gtest.h>

#include <sstream>

#include "sources/sniffing/sniff.h"
#include "support/checkpoint_writer.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using namespace std::string_literals;
using test::TemporaryFolder;

const char* const kLookedFor =
    "model.safetensors, pytorch_model.bin, an index.json of their shards, or one other .safetensors, .pt, .pth, .bin "
    "or .npz file";

std::string tensors() {
  std::ostringstream stream;
  test::write_safetensors(stream, {{"w", {1}, {1}}}, ElementType::kF32);
  return stream.str();
}

TEST(SniffFolder, NamesTheFamilyOfItsConfig) {
  const std::pair<const char*, const char*> cases[] = {
      {"prophetnet", "this is another encoder-decoder of Hugging Face; its family is not supported"},
      {"bert",
       "this is an encoder without a decoder (as BERT is); Goldcrest runs encoder-decoder Transformers; it cannot be "
       "converted"},
      {"llama",
       "this is a decoder-only language model (as GPT and Llama are); Goldcrest runs encoder-decoder Transformers; it "
       "cannot be converted"},
      {"gpt2",
       "this is a decoder-only language model (as GPT and Llama are); Goldcrest runs encoder-decoder Transformers; it "
       "cannot be converted"}};
  for (const auto& [model_type, text] : cases) {
    const TemporaryFolder folder;
    folder.write("model.safetensors", tensors());
    const std::filesystem::path config =
        folder.write("config.json", "{\"d_model\": 8, \"model_type\": \"" + std::string(model_type) + "\"}");
    const Sniffed sniffed = sniff(folder.path());
    EXPECT_EQ(sniffed.use, Use::kOtherFamily);
    EXPECT_EQ(sniffed.text(), config.string() + ": " + text);
  }
}

TEST(SniffFolder, KnowsWhatIsConverted) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", tensors());
  EXPECT_EQ(sniff(folder.path()).use, Use::kConvert);
  for (const char* config :
       {"{}", "{\"model_type\": \"marian\"}", "{\"model_type\": \"nn_transformer\"}", "{\"model_type\":"}) {
    folder.write("config.json", config);
    EXPECT_EQ(sniff(folder.path()).use, Use::kConvert) << config;
  }
  EXPECT_EQ(sniff(folder / "absent").use, Use::kUnknown);
}

TEST(SniffFolder, NamesTheFileThatIsSomethingElse) {
  struct FolderCase {
    const char* file;
    std::string bytes;
    const char* text;
  };
  const FolderCase cases[] = {
      {"model.bin", "\6\0\0\0\x17\0TransformerDecoderSpec\0\7\0\0\0"s,
       "this is a CTranslate2 model of a decoder-only language model; Goldcrest runs encoder-decoder Transformers; it "
       "cannot be converted"},
      {"saved_model.pb", "\x08\x01\x12\x04\x0a\x02\x0a\0"s,
       "this is a TensorFlow SavedModel; TensorFlow's weights are not read: copy them to a PyTorch nn.Transformer"},
      {"decoder.onnx", "\x08\x08\x3a\x04\x0a\x02\x0a\0"s,
       "this is an ONNX model, a graph; convert the PyTorch or Hugging Face checkpoint that it was exported from"},
      {"pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\n",
       "this is a Git LFS pointer, not the file itself; run `git lfs pull` in its repository, or download the file"}};
  for (const FolderCase& c : cases) {
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    const std::filesystem::path file = folder.write(c.file, c.bytes);
    folder.write("vocabulary.txt", "x");
    const Sniffed sniffed = sniff(folder.path());
    EXPECT_EQ(sniffed.use == Use::kRefused ? sniffed.text() : "", file.string() + ": " + c.text);
  }
}

TEST(SniffFolder, AnUnpackedPackageOfArgosTranslate) {
  const TemporaryFolder folder;
  folder.write("metadata.json", "{}");
  std::filesystem::create_directories(folder / "model");
  const std::filesystem::path file = folder.write("model/model.bin", "\6\0\0\0\x10\0TransformerSpec\0\7\0\0\0"s);
  EXPECT_EQ(sniff(folder.path()).text(),
            file.string() +
                ": this is a CTranslate2 model; goldcrest-convert converts it to a .gcst file, "
                "with the config.json and the vocabularies next to it");
  EXPECT_EQ(sniff(folder / "model").use, Use::kConvert);
}

TEST(SniffFolder, ListsWhatItHasInPlaceOfACheckpoint) {
  const TemporaryFolder folder;
  const std::string config = (folder / "config.json").string();
  const std::string expected =
      ": is missing; the folder holds no weights either: expected config.json (of a PyTorch nn.Transformer: converter/dialects/NN_TRANSFORMER.md), and "s +
      kLookedFor;
  EXPECT_EQ(sniff(folder.path()).text(), config + expected + "; it is empty");
  folder.write("source.spm", "x");
  folder.write("a\nb", "x");
  EXPECT_EQ(sniff(folder.path()).text(), config + expected + R"(; it holds "a\x0ab", "source.spm")");
  std::filesystem::create_directories(folder / "epoch_3");
  folder.write("epoch_3/config.json", "{}");
  folder.write("epoch_3/model.safetensors", tensors());
  EXPECT_EQ(
      sniff(folder.path()).text(),
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

TEST(SniffFolder, FindsWeightsByTheirUsualNames) {
  const TemporaryFolder folder;
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
TEST(SniffFolder, AShortlistIsNoModel) {
  using Paths = std::vector<std::filesystem::path>;
  const TemporaryFolder folder;
  const std::filesystem::path shortlist =
      folder.write("lex.bin", "\xf5\x17\x34\x01\xd5\x48\x1a\xf1" + std::string(40, '\0'));
  EXPECT_EQ(find_weights(folder.path()), Paths{shortlist});
  EXPECT_EQ(
      sniff(folder.path()).text(),
      shortlist.string() +
          ": this is a lexical shortlist of Marian, not a model; give the model, and this file with --shortlist FILE");
  const std::filesystem::path arrays = folder.write("model.npz", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{arrays});
  const std::filesystem::path model = folder.write("model.bin", "x");
  EXPECT_EQ(find_weights(folder.path()), Paths{model});
}

}  // namespace
}  // namespace goldcrest::converter
