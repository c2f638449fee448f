// SPDX-License-Identifier: Apache-2.0
// What a new user meets first: any path, any file, any mistake ends in a model or in one sentence on what to do.
#include <gtest/gtest.h>

#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "programs/process.h"

namespace goldcrest::test {
namespace {

TEST(FrontDoor, APathNeedsNoSlash) {
  const CheckpointCopy copy("g2p");
  const Outcome outcome = run(convert_program(), {"-q", "model.safetensors", "-o", "a.gcst"}, {.folder = copy.path()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Outcome whole = run(convert_program(), {"-q", copy.path(), "-o", copy.file("b.gcst")});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(read_file(copy.file("a.gcst")), read_file(copy.file("b.gcst")));
}

TEST(FrontDoor, BothProgramsSayWhatAFileIs) {
  const TemporaryFolder folder;
  const std::string path = folder.write("model.gguf", "GGUF").string();
  const std::string text = path +
                           ": this is a GGUF file of llama.cpp; its weights are quantized for another engine: convert "
                           "the original checkpoint\n";
  const Outcome converted = run(convert_program(), {"-q", path, "-o", folder / "a.gcst"});
  EXPECT_EQ(converted.status, 1);
  EXPECT_EQ(converted.err, "goldcrest-convert: " + text);
  const Outcome inspected = run(inspect_program(), {path});
  EXPECT_EQ(inspected.status, 1);
  EXPECT_EQ(inspected.err, "goldcrest-inspect: " + text);
  EXPECT_EQ(run(inspect_program(), {checkpoint_folder("g2p")}).err,
            "goldcrest-inspect: " + (checkpoint_folder("g2p") / "model.safetensors").string() +
                ": this is a state dict of PyTorch's nn.Transformer; goldcrest-convert makes a .gcst of it, with the "
                "config.json that goldcrest-convert --print-config begins\n");
}

TEST(FrontDoor, AnotherFamilyIsNamed) {
  const CheckpointCopy copy("enfr");
  copy.set("config.json", "model_type", "t5");
  EXPECT_EQ(run(convert_program(), {"-q", copy.path()}).err,
            "goldcrest-convert: " + copy.file("config.json").string() +
                ": setting \"model_type\" is \"t5\", which is not supported; supported: \"marian\" (Hugging Face "
                "Marian, OPUS-MT), \"nn_transformer\" (PyTorch nn.Transformer); this is a T5 model (T5, mT5, FLAN-T5, "
                "ByT5 ...); its family is planned; it cannot be converted yet\n");
}

TEST(FrontDoor, AMissingConfigSaysWhereToGetOne) {
  const CheckpointCopy g2p("g2p"), enfr("enfr");
  g2p.remove("config.json");
  enfr.remove("config.json");
  EXPECT_EQ(run(convert_program(), {"-q", g2p.path()}).err,
            "goldcrest-convert: " + g2p.file("config.json").string() +
                ": is missing; it tells what the weights of this nn.Transformer cannot. `goldcrest-convert "
                "--print-config " +
                g2p.path().string() + "` begins one (converter/dialects/NN_TRANSFORMER.md lists its settings)\n");
  EXPECT_EQ(run(convert_program(), {"-q", enfr.path()}).err,
            "goldcrest-convert: " + enfr.file("config.json").string() +
                ": is missing; it tells what the weights of this Marian model cannot. Download it from where they came "
                "from, with generation_config.json, tokenizer_config.json, vocab.json, source.spm and target.spm\n");
}

}  // namespace
}  // namespace goldcrest::test
