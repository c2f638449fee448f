// SPDX-License-Identifier: Apache-2.0
// Tables of bad input; each entry breaks one thing.
#include "programs/malformed_cases.h"

namespace goldcrest::test {
namespace {
using Break = std::function<void(const CheckpointCopy&)>;

const char* const kWeights = "model.safetensors";

// Changes one tensor of the good file.
Break tensor(const std::string& name, const std::function<void(NamedTensor&)>& change) {
  return [=](const CheckpointCopy& copy) {
    copy.edit_tensors([&](std::vector<NamedTensor>& tensors) {
      for (NamedTensor& candidate : tensors)
        if (candidate.name == name) return change(candidate);
      throw std::runtime_error("the checkpoint has no tensor " + name);
    });
  };
}
Break set(const std::string& file, const std::string& key, const nlohmann::json& value) {
  return [=](const CheckpointCopy& copy) { copy.set(file, key, value); };
}
Break config(const std::string& key, const nlohmann::json& value) { return set("config.json", key, value); }
Break write(const std::string& file, const std::string& bytes) {
  return [=](const CheckpointCopy& copy) { copy.write(file, bytes); };
}
Break remove(const std::string& file) {
  return [=](const CheckpointCopy& copy) { copy.remove(file); };
}
void nothing(const CheckpointCopy&) {}

// Writes pytorch_model.bin instead of model.safetensors.
Break zip(const std::vector<ZipEntry>& entries) {
  return [=](const CheckpointCopy& copy) {
    copy.remove(kWeights);
    std::ofstream stream(copy.file("pytorch_model.bin"), std::ios::binary);
    ZipWriter writer(stream);
    for (const ZipEntry& entry : entries) writer.add(entry);
    writer.finish();
  };
}
std::string pickle_that_calls(const char* module, const char* name) {
  return PickleWriter().global(module, name).raw("(").text("touch owned").raw("tR").finish();
}

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
const std::string kPage = "\n<!DOCTYPE html><html><title>404</title></html>";
}  // namespace

std::vector<MalformedCase> malformed_weight_files() {
  return {
      {"no weights", "g2p", remove(kWeights), {"@: holds no weights", "expected model.safetensors"}},
      {"weights that are empty", "g2p", write(kWeights, ""), {"@/model.safetensors: the file is empty"}},
      {"a Git LFS pointer", "g2p", write(kWeights, kPointer),
          {"@/model.safetensors: ", "Git LFS pointer", "git lfs pull"}},
      {"a web page", "g2p", write(kWeights, kPage), {"@/model.safetensors: ", "web page", "download it again"}},
      {"weights that are text", "g2p", write(kWeights, "hello"), {"@/model.safetensors: "}},
      {"cut weights", "g2p", [](const CheckpointCopy& copy) { copy.cut(kWeights, 100000); },
          {"@/model.safetensors: tensor ", "truncated"}},
      {"a header that is too long", "g2p", write(kWeights, std::string(8, '\x7f') + "{}"),
          {"@/model.safetensors: ", "header"}},
      {"a header that is no JSON", "g2p", write(kWeights, safetensors_bytes("{\"a\":", "")),
          {"@/model.safetensors: ", "not valid JSON"}},
      {"a tensor beyond the file", "g2p",
          write(kWeights, safetensors_bytes(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", "12345678")),
          {"@/model.safetensors: ", "\"a\"", "16"}},
      {"a shape whose product overflows", "g2p",
          write(kWeights,
              safetensors_bytes(
                  R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}})", "")),
          {"@/model.safetensors: ", "\"a\"", "4294967296"}},
      {"a link to nowhere", "g2p", [](const CheckpointCopy& copy) { copy.link(kWeights, "../../blobs/0123"); },
          {"@/model.safetensors: ", "symbolic link", "../../blobs/0123", "does not exist"}},
      {"a folder in place of the weights", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            std::filesystem::create_directory(copy.file(kWeights));
          },
          {"@/model.safetensors: ", "not a regular file"}},
      {"an index of shards that are missing", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            copy.write("model.safetensors.index.json", R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})");
          },
          {"model-00001-of-00002.safetensors"}},
      {"an index that leads out of its folder", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            copy.write("model.safetensors.index.json", R"({"weight_map":{"a":"../../etc/passwd"}})");
          },
          {"@/model.safetensors.index.json: ", "../../etc/passwd"}},
  };
}

std::vector<MalformedCase> malformed_torch_files() {
  const std::string bomb(1000, '\0');
  return {
      {"a pickle that runs a command", "g2p", zip({{"archive/data.pkl", pickle_that_calls("os", "system")}}),
          {"@/pytorch_model.bin: ", "os", "system"}},
      {"a pickle that evaluates", "g2p", zip({{"archive/data.pkl", pickle_that_calls("builtins", "eval")}}),
          {"@/pytorch_model.bin: ", "builtins", "eval"}},
      {"a pickle that is cut", "g2p", zip({{"archive/data.pkl", "\x80\x02}("}}), {"@/pytorch_model.bin: "}},
      {"a compressed member", "g2p", zip({{"archive/data.pkl", bomb, 8}}), {"@/pytorch_model.bin: ", "compressed"}},
      {"a member larger than the file", "g2p",
          zip({{.name = "archive/data.pkl", .bytes = bomb, .extra_size = 0x70000000}}), {"@/pytorch_model.bin: "}},
      {"members that overlap", "g2p",
          zip({{"archive/data.pkl", bomb}, {.name = "archive/data/0", .bytes = bomb, .is_hidden_start = true}}),
          {"@/pytorch_model.bin: "}},
      {"a wrong checksum", "g2p", zip({{.name = "archive/data.pkl", .bytes = "}.", .crc_is_wrong = true}}),
          {"@/pytorch_model.bin: "}},
      {"a zip without a pickle", "g2p", zip({{"readme.txt", "hello"}}), {"@/pytorch_model.bin: ", "data.pkl"}},
      {"PyTorch's old format, cut", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            copy.write("pytorch_model.bin", "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.");
          },
          {"@/pytorch_model.bin: ", "the pickle of its machine", "truncated", "safetensors"}},
      {"a pickle of something else", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            copy.write("pytorch_model.bin", "\x80\x02\x8a\x0alF\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
          },
          {"@/pytorch_model.bin: ", "magic number", "torch.save"}},
      {"weights of another framework", "g2p",
          [](const CheckpointCopy& copy) {
            copy.remove(kWeights);
            copy.write("tf_model.h5", "hello");
          },
          {"@: ", "tf_model.h5"}},
  };
}

std::vector<MalformedCase> malformed_tensors() {
  const std::string first = "transformer.encoder.layers.0.linear2.weight", bias = "generator.bias";
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  return {
      {"a wrong shape", "g2p", tensor(first, [](NamedTensor& t) { std::swap(t.shape[0], t.shape[1]); }),
          {"@/model.safetensors: tensor \"" + first + "\"", "has shape [512, 128], expected [128, 512]"}},
      {"a bias that is too short", "g2p",
          tensor(bias,
              [](NamedTensor& t) {
                t.values.pop_back();
                --t.shape[0];
              }),
          {"@/model.safetensors: tensor \"generator.bias\"", "[72]", "expected [73]"}},
      {"a tensor that is missing", "g2p",
          tensor("transformer.decoder.layers.1.norm3.weight", [](NamedTensor& t) { t.name = "another"; }),
          {"@/model.safetensors: tensor \"transformer.decoder.layers.1.norm3.weight\" is missing"}},
      {"a NaN", "g2p", tensor(first, [=](NamedTensor& t) { t.values[1030] = nan; }),
          {"@/model.safetensors: tensor \"" + first + "\"", "nan at [2, 6]", "expected finite"}},
      {"an infinity", "g2p", tensor(bias, [=](NamedTensor& t) { t.values[7] = -infinity; }),
          {"@/model.safetensors: tensor \"generator.bias\"", "-inf at [7]", "expected finite"}},
      {"a weight beyond int8's scales", "g2p", tensor(first, [](NamedTensor& t) { t.values[1030] = 1e30f; }),
          {"@: tensor '" + first + "': row 2", "8323072"}},
      {"a bias that is too large", "g2p", tensor(bias, [](NamedTensor& t) { t.values[5] = 1e6f; }),
          {"@: bias of tensor 'generator.weight': element 5 is 1000000", "65536"}},
      {"a wrong shape in Marian", "enfr",
          tensor("model.decoder.layers.1.encoder_attn.k_proj.weight",
              [](NamedTensor& t) {
                t.shape = {128, 512};
              }),
          {"@/model.safetensors: tensor \"model.decoder.layers.1.encoder_attn.k_proj.weight\" has shape [128, 512], "
           "expected [256, 256]"}},
  };
}

std::vector<MalformedCase> malformed_configs() {
  return {
      {"no config.json", "g2p", remove("config.json"), {"@/config.json: is missing", "NN_TRANSFORMER.md"}},
      {"a config.json that is no JSON", "g2p", write("config.json", "{\"model_type\":"),
          {"@/config.json: not valid JSON"}},
      {"a config.json that is a list", "g2p", write("config.json", "[1]"),
          {"@/config.json: found a JSON array, expected"}},
      {"a config.json that is a pointer", "enfr", write("config.json", kPointer), {"@/config.json: ", "git lfs pull"}},
      {"a config.json of great depth", "g2p", write("config.json", "{\"a\":" + std::string(100000, '[')),
          {"@/config.json: ", "levels deep"}},
      {"a key twice", "g2p", write("config.json", "{\"nhead\":4,\"nhead\":8}"), {"@/config.json: ", "\"nhead\" twice"}},
      {"an unknown architecture", "g2p", config("model_type", "llama"),
          {"@/config.json: setting \"model_type\" is \"llama\"", "supported: \"marian\""}},
      {"no architecture", "enfr", [](const CheckpointCopy& copy) { copy.unset("config.json", "model_type"); },
          {"@/config.json: setting \"model_type\" is missing"}},
      {"heads that do not divide d_model", "g2p", config("nhead", 3),
          {"@/config.json: setting \"nhead\" is 3, expected a divisor of d_model 128"}},
      {"no heads", "g2p", config("nhead", 0),
          {"@/config.json: setting \"nhead\" is ", "0", "expected an integer from 1"}},
      {"a setting of another type", "g2p", config("norm_first", "no"),
          {"@/config.json: setting \"norm_first\" is ", "expected true or false"}},
      {"an unknown activation", "g2p", config("activation", "mish"),
          {"@/config.json: setting \"activation\" is \"mish\", expected one of \"gelu\""}},
      {"unknown positions", "g2p", config("position_encoding", "rotary"),
          {"@/config.json: setting \"position_encoding\" is \"rotary\", expected"}},
      {"absurdly many positions", "g2p", config("max_positions", 4000000000u),
          {"@/config.json: setting \"max_positions\" is ", "4000000000", "expected"}},
      {"another number of layers", "g2p", config("num_encoder_layers", 4),
          {"@/config.json: setting \"num_encoder_layers\" is 4", "3"}},
      {"a vocabulary with a word twice", "g2p",
          config("source_vocabulary", {"<pad>", "<s>", "</s>", "<unk>", "a", "a"}), {"@/config.json: ", "\"a\""}},
      {"a vocabulary that is too long", "g2p",
          [](const CheckpointCopy& copy) {
            copy.edit("config.json", [](nlohmann::json& json) { json["target_vocabulary"].push_back("one more"); });
          },
          {"@/config.json: ", "\"one more\"", "id 73", "73 rows"}},
      {"Marian: heads that do not divide d_model", "enfr", config("encoder_attention_heads", 7),
          {"@/config.json: setting \"encoder_attention_heads\" is 7, expected a divisor of d_model 256"}},
      {"Marian: an absurd width", "enfr", config("d_model", 1000000000),
          {"@/config.json: setting \"d_model\" is ", "1000000000", "expected an integer from 2 to 65536"}},
      {"Marian: a negative width", "enfr", config("d_model", -256),
          {"@/config.json: setting \"d_model\" is ", "-256", "expected"}},
      {"Marian: another width", "enfr", config("d_model", 512),
          {"@/model.safetensors: tensor \"model.shared.weight\" has shape [6000, 256], expected [6000, 512]"}},
      {"Marian: a layer too many", "enfr", config("encoder_layers", 5),
          {"@/model.safetensors: tensor \"model.encoder.layers.4.self_attn.q_proj.weight\" is missing"}},
      {"Marian: absurdly many layers", "enfr", config("decoder_layers", 100000),
          {"@/config.json: setting \"decoder_layers\" is ", "100000", "expected an integer from 1 to 256"}},
      {"Marian: an unknown activation", "enfr", config("activation_function", "mish"),
          {"@/config.json: setting \"activation_function\" is \"mish\", expected relu"}},
      {"Marian: a start token beyond the vocabulary", "enfr",
          [](const CheckpointCopy& copy) {
            copy.set("config.json", "decoder_start_token_id", 6000);
            copy.remove("generation_config.json");
          },
          {"config.json: setting \"decoder_start_token_id\" is ", "6000", "expected"}},
  };
}

std::vector<MalformedCase> malformed_tokenizers() {
  return {
      {"no source.spm", "enfr", remove("source.spm"), {"@/source.spm: is missing", "target.spm"}},
      {"no target.spm", "enfr", remove("target.spm"), {"@/target.spm: is missing"}},
      {"an empty source.spm", "enfr", write("source.spm", ""), {"@/source.spm: the file is empty"}},
      {"a source.spm that is a pointer", "enfr", write("source.spm", kPointer), {"@/source.spm: ", "git lfs pull"}},
      {"a target.spm that is a page", "enfr", write("target.spm", kPage), {"@/target.spm: ", "web page"}},
      {"a source.spm that is noise", "enfr", write("source.spm", std::string(5000, '\xa5')), {"@/source.spm: "}},
      {"a cut source.spm", "enfr", [](const CheckpointCopy& copy) { copy.cut("source.spm", 30000); },
          {"@/source.spm: "}},
      {"no vocab.json", "enfr", remove("vocab.json"), {"@/vocab.json: is missing"}},
      {"a vocab.json that is no JSON", "enfr", write("vocab.json", "hello"), {"@/vocab.json: not valid JSON"}},
      {"an id twice", "enfr", set("vocab.json", "another word", 17),
          {"@/vocab.json: ", "\"another word\"", "same id 17"}},
      {"an id out of range", "enfr", set("vocab.json", "another word", 6000),
          {"@/vocab.json: \"another word\" has id 6000, expected less than the embedding's 6000 rows"}},
      {"an id that is negative", "enfr", set("vocab.json", "another word", -1), {"@/vocab.json: ", "\"another word\""}},
      {"an id that is a text", "enfr", set("vocab.json", "another word", "17"), {"@/vocab.json: ", "\"another word\""}},
      {"no unknown token", "enfr", [](const CheckpointCopy& copy) { copy.unset("vocab.json", "<unk>"); },
          {"@/vocab.json: has no entry \"<unk>\""}},
      {"no end token", "enfr", [](const CheckpointCopy& copy) { copy.unset("vocab.json", "</s>"); },
          {"@/vocab.json: has no entry \"</s>\""}},
  };
}

std::vector<MalformedCase> malformed_options() {
  return {
      {"too many source tokens", "g2p", nothing, {"@: --max-source is 65; expected 1 to 64"}, {"--max-source", "65"}},
      {"too many target tokens", "g2p", nothing, {"@: --max-target is 1000"}, {"--max-target", "1000"}},
      {"too many bytes", "g2p", nothing, {"@: --max-source-bytes is 4294967295"}, {"--max-source-bytes", "4294967295"}},
      {"more results than beams", "g2p", nothing, {"@: --n-best is 3; expected 1 to 2"},
          {"--beam-size", "2", "--n-best", "3"}},
      {"a config.json that is not there", "g2p", nothing, {"@/other.json: is missing"}, {"--config", "@/other.json"}},
      {"self-test lines that are not there", "g2p", nothing, {"@/lines: cannot be read"}, {"--self-test", "@/lines"}},
      {"a self-test line that is too long", "g2p", write("lines", "wren\n\n" + std::string(64, 'a') + "\n"),
          {"@/lines:3: "}, {"--self-test", "@/lines"}},
      {"no self-test lines", "g2p", write("lines", "\n\n"), {"@/lines: no line"}, {"--self-test", "@/lines"}},
      {"evaluation lines that are not there", "g2p", nothing, {"@/lines: cannot be opened"}, {"--evaluate", "@/lines"}},
      {"an evaluation line without a source", "g2p", write("lines", "\treference\n"), {"@/lines:1: "},
          {"--evaluate", "@/lines"}},
      {"a bound without references", "g2p", write("lines", "wren\n"), {"--metric bleu", "no references"},
          {"--evaluate", "@/lines", "--max-loss", "1", "--metric", "bleu"}},
      {"a bound where nothing can be translated", "g2p", write("lines", std::string(64, 'a') + "\n"), {"--max-loss"},
          {"--evaluate", "@/lines", "--max-loss", "1"}},
      {"samples that are not there", "g2p", nothing, {"@/samples/results.jsonl"}, {"--check", "@/samples"}},
      {"samples that are no samples", "g2p", write("results.jsonl", "hello\n"), {"@/results.jsonl"}, {"--check", "@"}},
      {"a report that cannot be written", "g2p", nothing, {"@/nowhere/report.html: "},
          {"--report", "@/nowhere/report.html"}},
  };
}
}  // namespace goldcrest::test
