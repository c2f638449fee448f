// SPDX-License-Identifier: Apache-2.0
// Small files that make the converter spend much time or memory. Each is refused or converted within a few seconds and
// some hundred megabytes. A sanitizer's own needs are added.
#include <unistd.h>
#include "programs/checkpoint_copy.h"
#include "programs/malformed_cases.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Hostile = InFolder;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr uint64_t kMegabyte = uint64_t{1} << 20;

struct Limits {
  double cpu_seconds;
  uint64_t megabytes;
};

// Returns the converter's message about a checkpoint, without the program's name and the newline.
std::string refusal(const std::filesystem::path& checkpoint, const Limits& limits) {
  const double seconds = kSanitized ? 10 * limits.cpu_seconds : limits.cpu_seconds;
  const uint64_t bytes = (kSanitized ? 3 * limits.megabytes + 512 : limits.megabytes) * kMegabyte;
  RunOptions how = {.max_cpu_seconds = static_cast<unsigned>(seconds) + 1};
  if (!kSanitized) how.max_address_bytes = bytes + 256 * kMegabyte;  // libraries take a part of it
  const Outcome outcome = with_status(1, run(convert_program(), {"-q", checkpoint}, how));
  EXPECT_LT(outcome.cpu_seconds, seconds);
  EXPECT_LT(outcome.most_bytes, bytes);
  const std::string program = "goldcrest-convert: ";
  EXPECT_TRUE(outcome.err.starts_with(program) && outcome.err.ends_with('\n')) << outcome.err;
  return outcome.err.substr(program.size(), outcome.err.size() - program.size() - 1);
}

std::filesystem::path write_zip(const TemporaryFolder& folder, const std::string& pickle) {
  std::ofstream stream(folder / "model.pt", std::ios::binary);
  ZipWriter writer(stream);
  writer.add({"archive/data.pkl", pickle});
  writer.finish();
  return folder / "model.pt";
}

const char* const kNnConfig = R"({"model_type": "nn_transformer"})";

// 270,000 dictionaries under one key of 4096 bytes.
TEST_F(Hostile, APickleWithALongKeyManyTimes) {
  folder.write("config.json", kNnConfig);
  PickleWriter pickle;
  pickle.raw("}").text(std::string(4096, 'k')).raw(std::string_view("q\0", 2));
  std::string members = "}s";
  for (int i = 1; i < 270'000; ++i) members += std::string_view("h\0}s", 4);
  const auto path = write_zip(folder, pickle.raw(members).finish());
  EXPECT_EQ(refusal(path, {3, 200}),
      path.string() +
          ": holds no dictionary from names to tensors; save the weights with torch.save(model.state_dict(), ...)");
}

// Many state dicts under one long key; a message names some of them.
TEST_F(Hostile, APickleWithManyStateDicts) {
  folder.write("config.json", kNnConfig);
  PickleWriter pickle;
  pickle.raw("}").integer(1).tensor({"FloatStorage", "0", 1, 0, {1}, {1}}).raw(std::string_view("q\1s", 3));
  pickle.text(std::string(4096, 'k')).raw(std::string_view("q\0}h\0h\1ss", 9));
  std::string members;
  for (int i = 1; i < 100'000; ++i) members += std::string_view("h\0}h\0h\1ss", 9);
  const auto path = write_zip(folder, pickle.raw(members).finish());
  std::string names;
  for (int i = 0; i < 8; ++i) names += (i == 0 ? "\"" : ", \"") + std::string(100, 'k') + "...\"";
  EXPECT_EQ(refusal(path, {3, 300}),
      path.string() + ": holds several dictionaries of tensors (" + names +
          " and 99992 more), and none has a usual name; save the one to convert with torch.save(checkpoint[...], ...)");
}

// Many members of an object: an earlier reader searched all of them for each one.
TEST_F(Hostile, JsonWithManyObjects) {
  std::string config = "{\"model_type\": \"prophetnet\"";
  for (int i = 0; i < 40'000; ++i) config += ",\"" + std::to_string(i) + "\":{}";
  folder.write("config.json", config + "}");
  folder.write("model.safetensors", safetensors_bytes("{}", ""));
  const std::string text = refusal(folder.path(), {2, 100});
  EXPECT_TRUE(text.starts_with((folder / "config.json").string() + ": setting \"model_type\" is \"prophetnet\""))
      << text;
}

TEST_F(Hostile, ASafetensorsHeaderWithManyTensors) {
  folder.write("config.json", kNnConfig);
  std::string header = "{";
  for (int i = 0; i < 99'900; ++i) {
    const std::string name = std::to_string(i);
    header += (i == 0 ? "\"" : ",\"") + name + std::string(80 - name.size(), 'x') +
              "\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
  }
  folder.write("model.safetensors", safetensors_bytes(header + "}", ""));
  const std::string text = refusal(folder.path(), {10, 500});
  EXPECT_TRUE(text.starts_with((folder / "config.json").string() + ": ")) << text;
}

TEST_F(Hostile, ASafetensorsHeaderWithMoreTensorsThanAny) {
  folder.write("config.json", kNnConfig);
  std::string header = "{\"0\":0";
  for (int i = 1; i < 1'200'000; ++i) header += ",\"" + std::to_string(i) + "\":0";
  const auto path = folder.write("model.safetensors", safetensors_bytes(header + "}", ""));
  EXPECT_EQ(refusal(folder.path(), {10, 500}), path.string() + ": 1200000 tensors, expected at most 100000");
}

TEST_F(Hostile, JsonWithMoreValuesThanAny) {
  std::string config = "{\"model_type\":[";
  for (int i = 0; i < 8'000'000; ++i) config += "{},";
  const auto path = folder.write("config.json", config + "0]}");
  folder.write("model.safetensors", safetensors_bytes("{}", ""));
  EXPECT_EQ(refusal(folder.path(), {5, 400}), path.string() + ": JSON has more than 2000000 values");
}

// Settings that ask for much more than the tensors have.
TEST_F(Hostile, AVocabularyThatTheTensorsDoNotHave) {
  const CheckpointCopy copy("enfr");
  copy.set("config.json", "vocab_size", 1u << 24);
  EXPECT_EQ(refusal(copy.path(), {2, 150}),
      copy.file("model.safetensors").string() +
          ": tensor \"model.shared.weight\" has shape [6000, 256], expected [16777216, 256]");
  copy.edit_tensors([](std::vector<NamedTensor>& tensors) {
    std::erase_if(tensors, [](const NamedTensor& tensor) { return tensor.name == "model.shared.weight"; });
  });
  EXPECT_EQ(
      refusal(copy.path(), {2, 150}), copy.file("model.safetensors").string() +
                                          ": tensor \"final_logits_bias\" has shape [1, 6000], expected [16777216]");
}

TEST_F(Hostile, MorePositionsThanAnyModel) {
  const CheckpointCopy copy("enfr");
  copy.set("config.json", "max_position_embeddings", 1u << 20);
  EXPECT_EQ(refusal(copy.path(), {2, 150}),
      copy.file("config.json").string() +
          ": setting \"max_position_embeddings\" is 1048576, expected at most 65536 for d_model 256");
  const CheckpointCopy words("g2p");
  words.set("config.json", "max_positions", 1u << 20);
  EXPECT_EQ(refusal(words.path(), {2, 150}),
      words.file("config.json").string() +
          ": setting \"max_positions\" is 1048576, expected at most 131072 for d_model 128");
}

// The message about too little memory names the file. Here the model is good and the machine is too small.
TEST_F(Hostile, OutOfMemoryNamesTheFile) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer needs more address space than this";
  }
  RunOptions how = {.max_address_bytes = 24 * kMegabyte};
  const std::filesystem::path checkpoint = checkpoint_folder("enfr"), model = converted_model("enfr");
  EXPECT_EQ(run(convert_program(), {"-q", checkpoint}, how).err,
      "goldcrest-convert: " + checkpoint.string() + ": not enough memory\n");
}

// Bad input of every kind gives one message with the file, what was found and what was expected; status 1; and no
// output file.

class Malformed : public ::testing::TestWithParam<std::vector<MalformedCase> (*)()> {};

std::string with_folder(std::string text, const std::filesystem::path& folder) {
  const size_t at = text.find('@');
  return at == std::string::npos ? text : text.replace(at, 1, folder.string());
}

// Runs the converter and expects the message.
void expect_refusal(const std::string& name, const Arguments& arguments, const std::vector<std::string>& words) {
  const Outcome outcome = run(convert_program(), arguments);
  EXPECT_EQ(outcome.status, 1) << name << ": " << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << name << ": " << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("goldcrest-convert: ")) << name << ": " << outcome.err;
  EXPECT_LT(outcome.err.size(), 2000u) << name;
  for (const std::string& word : words)
    EXPECT_TRUE(has(outcome.err, word)) << name << ": " << outcome.err << "lacks " << word;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST_P(Malformed, IsRefusedAndLeavesNoFile) {
  for (const MalformedCase& c : GetParam()()) {
    const CheckpointCopy copy(c.task);
    c.breaks(copy);
    const TemporaryFolder folder;
    Arguments arguments = {"-q", copy.path(), "-o", folder / "model.gcst"};
    for (const std::string& option : c.options) arguments.push_back(with_folder(option, copy.path()));
    std::vector<std::string> words;
    for (const std::string& word : c.words) words.push_back(with_folder(word, copy.path()));
    expect_refusal(c.name, arguments, words);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>()) << c.name;
    EXPECT_FALSE(std::filesystem::exists("owned")) << c.name;

    folder.write("model.gcst", "what was there before");
    expect_refusal(c.name, arguments, words);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.gcst"}) << c.name;
    EXPECT_EQ(folder.read("model.gcst"), "what was there before") << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, Malformed,
    ::testing::Values(malformed_weight_files, malformed_torch_files, malformed_tensors, malformed_configs,
        malformed_tokenizers, malformed_options));

TEST(MalformedPlaces, ACheckpointThatIsNone) {
  const TemporaryFolder folder;
  const std::filesystem::path output = folder / "model.gcst";
  expect_refusal("no such folder", {"-q", "/no/such/checkpoint", "-o", output}, {"/no/such/checkpoint: no such file"});
  expect_refusal(
      "an empty folder", {"-q", folder.path(), "-o", output}, {(folder / "config.json").string() + ": is missing"});
  expect_refusal("a device", {"-q", "/dev/null", "-o", output}, {"/dev/config.json: is missing"});
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>());
}

TEST(MalformedPlaces, AnOutputThatCannotBeWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder");
  folder.write("file", "kept");
  const std::filesystem::path checkpoint = checkpoint_folder("g2p");
  const auto refuse = [&](const std::filesystem::path& output, const std::string& words) {
    expect_refusal(output, {"-q", checkpoint, "-o", output}, {output.string() + ": ", words});
  };
  refuse(folder / "folder", "is a directory");
  refuse(folder / "nowhere/model.gcst", "opening the directory failed: No such file or directory");
  refuse(folder / "file/model.gcst", "opening the directory failed: Not a directory");
  refuse("/dev/null", "not a regular file");
  refuse("/proc/model.gcst", "creating a file in the directory failed");  // fails even for root
  std::filesystem::permissions(
      folder / "folder", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  if (::geteuid() != 0) refuse(folder / "folder/model.gcst", "Permission denied");
  std::filesystem::permissions(folder / "folder", std::filesystem::perms::owner_all);
  EXPECT_EQ(names_in(folder / "folder"), std::vector<std::string>());
  EXPECT_EQ(names_in(folder.path()).size(), 2u);
  EXPECT_EQ(folder.read("file"), "kept");
}
}}  // namespace goldcrest::test
