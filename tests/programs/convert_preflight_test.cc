// SPDX-License-Identifier: Apache-2.0
// Errors that goldcrest-convert finds before it reads a weight: each test compares the whole message and checks that no
// work was done.
#include <unistd.h>
#include <nlohmann/json.hpp>
#include "convert/support/marian_folder.h"
#include "convert/support/nn_folder.h"
#include "programs/checkpoint_copy.h"

namespace goldcrest::test { namespace {
using ConvertPreflight = InFolder;
using ConvertShape = InFolder;

// Expects the status and exactly this message, before the first word of progress.
void refuse(const Arguments& arguments, int status, const std::string& message) {
  const Outcome outcome = with_status(status, run(convert_program(), arguments));
  EXPECT_EQ(outcome.err, "goldcrest-convert: " + message + "\n");
  EXPECT_EQ(outcome.out, "");
}

TEST_F(ConvertPreflight, PlacesThatCannotBeWritten) {
  const std::string file = folder.write("file", "kept");
  const std::string path = folder.path(), g2p = checkpoint_folder("g2p");
  for (const std::string option : {"-o", "--report"}) {
    refuse({g2p, option, path}, 1, path + ": is a directory; give the name of a file");
    refuse({g2p, option, path + "/none/model.gcst"}, 1,
        path + "/none/model.gcst: opening the directory failed: No such file or directory; the file was not written");
    refuse({g2p, option, file + "/model.gcst"}, 1,
        file + "/model.gcst: opening the directory failed: Not a directory; the file was not written");
    refuse({g2p, option, "/dev/null"}, 1, "/dev/null: is not a regular file; give another name");
    const std::string pipe = "\"$0\" \"$1\" " + option + " /dev/stdout | cat";
    EXPECT_EQ(run("/bin/sh", {"-c", pipe, convert_program(), g2p}).err,
        "goldcrest-convert: /dev/stdout: is not a regular file; give another name\n");
  }
  refuse({g2p, "--emit-c", file}, 1, file + ": " + file + " is not a directory; give another name");
  refuse({g2p, "--emit-c", file + "/a"}, 1, file + "/a: " + file + " is not a directory; give another name");
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
    refuse({g2p, "-o", path + "/model.gcst"}, 1,
        path + "/model.gcst: creating a file in the directory failed: Permission denied; the file was not written");
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
  EXPECT_EQ(folder.read("file"), "kept");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST_F(ConvertPreflight, NothingThatIsReadIsWrittenOver) {
  const CheckpointCopy copy("g2p");
  const std::string path = copy.path(), weights = copy.file("model.safetensors"), config = copy.file("config.json");
  const std::string model = folder / "model.gcst", lines = folder.write("lines", "wren\n");
  std::filesystem::copy_file(converted_model("g2p"), model);
  refuse(
      {path, "-o", weights}, 2, weights + ": belongs to the checkpoint, and -o would overwrite it; give another name");
  refuse({path, "--report", config}, 2,
      config + ": belongs to the checkpoint, and --report would overwrite it; give another name");
  refuse({weights, "-o", weights}, 2, weights + ": is an input, and -o would overwrite it; give another name");
  refuse({model, "-o", model}, 2, model + ": is an input, and -o would overwrite it; give another name");
  refuse({path, "--evaluate", lines, "-o", lines}, 2,
      lines + ": is an input, and -o would overwrite it; give another name");
  refuse({path, "--self-test", lines, "--report", lines}, 2,
      lines + ": is an input, and --report would overwrite it; give another name");
  refuse({path, "-o", model, "--report", model}, 2,
      model + ": is named by -o and by --report; give one of them another name");
  EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
  EXPECT_TRUE(read_file(weights) == read_file(checkpoint_folder("g2p") / "model.safetensors"));
  // A model of an earlier run in the checkpoint's folder is no part of the checkpoint.
  EXPECT_EQ(convert(path, {"-o", copy.file("a.gcst")}).status, 0);
  EXPECT_EQ(convert(path, {"-o", copy.file("a.gcst")}).status, 0);
}

TEST_F(ConvertPreflight, OptionsThatContradict) {
  const std::string g2p = checkpoint_folder("g2p");
  refuse({g2p, "-o", "-"}, 2, "-o -: a model goes to a file, not to standard output; give its name");
  refuse({g2p, "--weights", "float32", "--cpu", "cortex-m55"}, 2,
      "--cpu cortex-m55 orders int8 weights, but float32 weights have a fixed order; leave out --cpu or --weights");
  refuse({g2p, "--beam-size", "2", "--n-best", "3"}, 1, g2p + ": --n-best is 3; expected 1 to 2, the beam size");
  refuse({g2p, "--encoder-rows", "2000"}, 1, g2p + ": --encoder-rows is 2000; expected 1 to 1024, the engine's bound");
}

TEST_F(ConvertPreflight, FilesOfTheChecksThatAreNotThere) {
  const std::string g2p = checkpoint_folder("g2p"), none = folder / "none", lines = folder.write("lines", "wren\n");
  refuse({g2p, "--self-test", none}, 1, none + ": cannot be read");
  refuse({g2p, "--evaluate", none}, 1,
      none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--check", none}, 1,
      none + "/results.jsonl: is missing; --check takes the folder that examples/export_nn_transformer.py writes");
  refuse({g2p, "--evaluate", lines, "--max-loss", "1", "--metric", "chrf"}, 1,
      "--metric chrf: the lines of " + lines + " have no references");
}

TEST_F(ConvertPreflight, FilesOfTheVocabulary) {
  const std::string g2p = checkpoint_folder("g2p"), none = folder / "none", empty = folder.write("empty", "\n\t1\n");
  const std::string lines = folder.write("lines", "wren\nfinch\nwren\n");
  refuse({g2p, "--keep-vocabulary", none}, 1, none + ": cannot be opened for reading; expected one piece a line");
  refuse({g2p, "--keep-vocabulary", empty}, 1, empty + ": no pieces; expected one per line");
  refuse({g2p, "--keep-vocabulary-of", none}, 1,
      none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--make-shortlist", none}, 1,
      none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--make-shortlist", lines}, 1,
      lines + ": 2 different sources; --make-shortlist needs 10, since every tenth is held out");
  refuse({g2p, "--keep-vocabulary", lines, "-o", lines}, 2,
      lines + ": is an input, and -o would overwrite it; give another name");
  const std::string ten = folder.write("ten", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  refuse({g2p, "--make-shortlist", ten, "--report", ten}, 2,
      ten + ": is an input, and --report would overwrite it; give another name");
  refuse({g2p, "--keep-vocabulary", lines, "--evaluate", lines, "--ids"}, 2,
      "--ids: a trimmed vocabulary has new ids; leave out --ids or --keep-vocabulary");
  const std::string model = converted_model("g2p").string();
  refuse({model, "--keep-vocabulary", lines}, 2,
      model + ": --keep-vocabulary works on a checkpoint, not on a .gcst file; give the checkpoint");
}

TEST(ConvertMetadata, TheCommandLinesIsRefusedAndTheCheckpointsCleaned) {
  for (const std::string option : {"--name", "--license", "--attribution"}) {
    const Outcome escape = with_status(2, run(convert_program(), {checkpoint_folder("g2p"), option, "a\x1b[31m\nb"}));
    EXPECT_TRUE(
        has(escape.err, "'a\\x1b[31m\\x0ab' has control characters or is not UTF-8; expected one line of text"));
    const Outcome bytes = run(convert_program(), {checkpoint_folder("g2p"), option, "\xff"});
    EXPECT_TRUE(has(bytes.err, "'\\xff' has control characters or is not UTF-8; expected one line of text"));
    const Outcome length = run(convert_program(), {checkpoint_folder("g2p"), option, std::string(1025, 'x')});
    EXPECT_TRUE(has(length.err, "the text has 1025 bytes, expected at most 1024"));
  }
  const CheckpointCopy copy("g2p");
  const TemporaryFolder folder;
  copy.set("config.json", "attribution", "me\x1b]0;title\x07\nname         another");
  const Outcome outcome = with_status(0, convert(copy.path(), {"-o", folder / "model.gcst"}));
  EXPECT_TRUE(has((outcome.out + outcome.err),
      "the checkpoint's attribution has control characters, bytes that are not UTF-8 or more than 1024 "
      "bytes; the file has \"me\uFFFD]0;title\uFFFD\uFFFDname         another\""))
      << outcome.out;
  const Outcome inspected = run(inspect_program(), {folder / "model.gcst"});
  EXPECT_TRUE(has(inspected.out, "\nattribution  me\uFFFD]0;title\uFFFD\uFFFDname         another\n"));
}

// goldcrest-convert --shape: it prints a model's sizes before there are weights, and its conversion has these sizes.

using Json = nlohmann::json;

Json json_of(const Arguments& arguments) {
  return Json::parse(with_status(0, run(convert_program(), concat({"-q", "--json"}, arguments))).out);
}

// Expects --shape to print the same sizes from config.json as the conversion of these weights.
void expect_same_sizes(const std::filesystem::path& checkpoint, const Arguments& options) {
  const Json shape = json_of(concat({"--shape", checkpoint / "config.json"}, options)),
             converted = json_of(concat({checkpoint}, options));
  for (const char* key : {"file_bytes", "sections", "arena", "limits", "encoder", "decoder", "multiply_accumulates",
           "tokenizer", "self_test_lines"})
    EXPECT_EQ(shape.at(key), converted.at(key)) << checkpoint << " " << key;
}

const std::vector<Arguments> kWeights = {{"--weights", "int8"}, {"--weights", "float32"},
    {"--cpu", "cortex-m55", "--max-target", "9", "--beam-size", "3"}, {"--matrices", "decoder=near"}};

TEST_F(ConvertShape, TheShippedModels) {
  for (const std::string task : {"g2p", "enfr"})
    for (const Arguments& options : kWeights) expect_same_sizes(checkpoint_folder(task), options);
  const Json shape = json_of({"--shape", checkpoint_folder("g2p")});
  EXPECT_EQ(shape.at("file_bytes"), std::filesystem::file_size(converted_model("g2p")));
}

// Sizes do not depend on the weights: greedy searches of three random models end at different places.
TEST_F(ConvertShape, SeededRandomCheckpoints) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MarianFolder marian;
    marian.tensors = marian_tensors(marian.shape, seed);
    if (seed == 2) marian.config["max_position_embeddings"] = 20;
    if (seed == 3) {
      marian.config["tie_word_embeddings"] = false;
      marian.add("lm_head.weight", {6000, 8}, 0.5f);
      marian.add("model.encoder.embed_tokens.weight", {6000, 8}, 0.25f);  // as transformers 5 saves them
      marian.add("model.decoder.embed_tokens.weight", {6000, 8}, 0.75f);
    }
    marian.load();
    for (const Arguments& options : kWeights) expect_same_sizes(marian.folder.path(), options);
  }
}

TEST_F(ConvertShape, NnTransformersOfManySettings) {
  const auto with = [](const std::function<void(NnFolder&)>& change) {
    NnFolder checkpoint;
    checkpoint.config.update(
        {{"d_model", 8}, {"dim_feedforward", 12}, {"num_encoder_layers", 2}, {"num_decoder_layers", 1}});
    change(checkpoint);
    checkpoint.load();
    for (const Arguments& options : kWeights) expect_same_sizes(checkpoint.folder.path(), options);
  };
  with([](NnFolder&) {});
  with([](NnFolder& nn) {  // token ids only
    for (const char* key : {"source_vocabulary", "target_vocabulary", "unk_token"}) nn.config.erase(key);
    nn.config.update(
        {{"pad_token", 0}, {"bos_token", 1}, {"eos_token", 2}, {"source_vocab_size", 5}, {"target_vocab_size", 6}});
  });
  with([](NnFolder& nn) {  // heads of other widths
    nn.config.update({{"d_k", 3}, {"d_v", 5}});
    for (const std::string attention : {"encoder.layers.0.self_attn.", "encoder.layers.1.self_attn.",
             "decoder.layers.0.self_attn.", "decoder.layers.0.multihead_attn."}) {
      nn.add("transformer." + attention + "in_proj_weight", {22, 8});
      nn.add("transformer." + attention + "in_proj_bias", {22});
      nn.add("transformer." + attention + "out_proj.weight", {8, 10});
    }
  });
  with([](NnFolder& nn) {  // tied
    nn.config["tied_output_projection"] = true;
    nn.config["tensors"].erase("output_projection");
    nn.tensors.erase("head.weight");
    nn.tensors.erase("head.bias");
  });
  with([](NnFolder& nn) {  // learned positions, no norm after the encoder
    nn.config["position_encoding"] = "learned";
    nn.config["tensors"]["positions"] = "positions";
    nn.add("positions", {10, 8});
    nn.config["encoder_final_norm"] = false;
    nn.tensors.erase("transformer.encoder.norm.weight");
    nn.tensors.erase("transformer.encoder.norm.bias");
  });
}

TEST_F(ConvertShape, NamesOfTensorsAndATokenizerMayBeMissing) {
  Json config = Json::parse(read_file(checkpoint_folder("g2p") / "config.json"));
  config.erase("tensors");
  const Json named = json_of({"--shape", checkpoint_folder("g2p"), "--name", "g2p"});
  const Json unnamed = json_of({"--shape", folder.write("config.json", config.dump()), "--name", "g2p"});
  EXPECT_EQ(unnamed.at("file_bytes"), named.at("file_bytes"));

  const std::string marian = folder.write("marian.json", read_file(checkpoint_folder("enfr") / "config.json"));
  const Json without = json_of({"--shape", marian});
  EXPECT_EQ(without.at("tokenizer"), false);
  EXPECT_EQ(without.at("sections").at("Tokenizer"), 0);
  EXPECT_EQ(without.at("arena").at("text_steps"), 0);
  EXPECT_EQ(json_of({"--shape", checkpoint_folder("enfr")}).at("arena").at("text_steps"), 458280);
  EXPECT_EQ(without.at("sections").at("Weights"),
      json_of({"--shape", checkpoint_folder("enfr")}).at("sections").at("Weights"));
  const Outcome text = run(convert_program(), {"-q", "--shape", marian});
  EXPECT_TRUE(has(text.out, "\nThese are sizes without a tokenizer.\n"));
  EXPECT_FALSE(has(text.out, "\ntokenizing "));
  const Outcome whole = run(convert_program(), {"-q", "--shape", checkpoint_folder("enfr")});
  EXPECT_TRUE(has(whole.out, "\ntokenizing   458280 steps at most\n"));
}

TEST_F(ConvertShape, WorkIsTheEnginesLargestStep) {
  for (const char* fine : {"all=int8", "decoder=near", "all=near"}) {
    const Json json = json_of({"--shape", checkpoint_folder("g2p"), "--max-source", "7", "--max-target", "9",
        "--beam-size", "1", "--encoder-rows", "1", "--matrices", fine});
    const Json& work = json.at("multiply_accumulates");
    EXPECT_EQ(work.at("token").get<uint64_t>() + (7 + 9) * work.at("token_per_position").get<uint64_t>(),
        json.at("arena").at("step_macs").get<uint64_t>())
        << fine;
  }
}

TEST_F(ConvertShape, AllThatIsMissingIsNamedAtOnce) {
  const std::string config = folder.write("config.json", R"({"model_type": "nn_transformer", "nhead": 4})");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", config}).err,
      "goldcrest-convert: " + config +
          ": 14 settings are not set:\n  \"activation\" is missing; expected \"relu\", \"gelu\", \"gelu_tanh\" or "
          "\"silu\"\n  \"norm_first\" is missing; expected true or false\n  \"scale_embedding\" is missing; expected "
          "true if embeddings are multiplied by sqrt(d_model), else false\n  \"position_encoding\" is missing; "
          "expected \"sinusoidal_interleaved\", \"sinusoidal_concatenated\", \"learned\" or \"stored\"\n  "
          "\"bos_token\" is missing; expected a text of the vocabulary or a token id\n  \"eos_token\" is missing; "
          "expected a text of the vocabulary or a token id\n  \"add_source_eos\" is missing; expected true if the end "
          "token follows a source, else false\n  \"d_model\" is missing; expected an integer\n  \"dim_feedforward\" is "
          "missing; expected an integer\n  \"max_positions\" is missing; expected an integer\n  \"num_encoder_layers\" "
          "is missing; expected an integer\n  \"num_decoder_layers\" is missing; expected an integer\n  "
          "\"source_vocab_size\" is missing; expected an integer\n  \"target_vocab_size\" is missing; expected an "
          "integer\n");
  const std::string marian = folder.write("marian.json", R"({"model_type": "marian", "vocab_size": 9, "d_model": 16,
      "encoder_layers": 1, "encoder_attention_heads": 1, "encoder_ffn_dim": 16, "decoder_layers": 1,
      "eos_token_id": 0})");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", marian}).err,
      "goldcrest-convert: " + marian +
          ": 4 settings are not set:\n  \"decoder_attention_heads\" is missing; expected an integer\n  "
          "\"decoder_ffn_dim\" is missing; expected an integer\n  \"activation_function\" is missing; expected relu, "
          "gelu, gelu_new, gelu_pytorch_tanh, silu or swish\n  \"decoder_start_token_id\" is missing; expected a token "
          "id\n");
}

TEST_F(ConvertShape, WhatIsRefused) {
  const std::string g2p = checkpoint_folder("g2p");
  for (const std::string option : {"--output", "--emit-c", "--check", "--evaluate", "--self-test", "--config"})
    refuse({"--shape", g2p, option, "x"}, 2, option + " needs weights, and --shape has none; leave one of them out");
  refuse({"--shape", converted_model("g2p")}, 2,
      converted_model("g2p").string() + ": --shape works on a checkpoint, not on a .gcst file; give the checkpoint");
  Json config = Json::parse(read_file(checkpoint_folder("enfr") / "config.json"));
  config.update({{"vocab_size", 16777216}, {"d_model", 65536}, {"encoder_attention_heads", 256}});
  const std::string absurd = folder.write("config.json", config.dump());
  refuse({"-q", "--shape", absurd}, 1,
      absurd + ": is a model of 1237760219136 parameters; --shape takes 2147483648 at most");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", checkpoint_folder("g2p"), "--budget", "file=1M"}).status, 5);
}
}}  // namespace goldcrest::test
