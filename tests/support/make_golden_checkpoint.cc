// SPDX-License-Identifier: Apache-2.0
// Writes a checkpoint for the boards' tests.
// make_golden_checkpoint student DIR             of Marian's own kind: int8, recurrent layers, seeded random weights
//                                                and the pieces of the English-French example. listed.yml has the
//                                                settings of Firefox's students, with a shortlist
// make_golden_checkpoint moonshine|whisper DIR   recorded random ones; DIR.raw is a clip of a second
// make_golden_checkpoint flan|nllb DIR           recorded random ones of Hugging Face
// make_golden_checkpoint wide|base DIR           seeded random weights, 32,000 outputs: of the width of Firefox's
//                                                students with two layers, and of base's shape. Its pieces are made up
#include <iostream>
#include "convert/support/sample_folder.h"
#include "support/marian_native.h"
#include "support/marian_tensors.h"
#include "support/program.h"
#include "support/rng.h"
#include "support/voice_tensors.h"

namespace {
namespace fs = std::filesystem;
using namespace goldcrest::test;

constexpr NativeShape kShape = {5999, 48, 80, 3, 2, 2, true};
constexpr uint64_t kSeed = 15;

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// Returns lists with a few random target ids for each source id.
std::string random_shortlist() {
  Rng rng(kSeed);
  BinaryLists lists = {60, {0}, {}};
  for (uint32_t source = 0; source < kShape.vocab_size; ++source) {
    std::set<uint32_t> ids;
    for (int i = 0; i < 8; ++i) ids.insert(rng.below(kShape.vocab_size));
    lists.ids.insert(lists.ids.end(), ids.begin(), ids.end());
    lists.offsets.push_back(lists.ids.size());
  }
  return lists.bytes();
}

void write_student(const fs::path& folder) {
  const auto items = binary_items(native_tensors(kShape, kSeed), native_settings(kShape), BinaryKind::kInt8WithAlphas);
  write_file(folder / "model.bin", binary_bytes(items));
  const std::string settings =
      "models: [model.bin]\nvocabs: [vocab.spm, vocab.spm]\nbeam-size: 1\nnormalize: 1\nmax-length: 32\n";
  write_file(folder / "model.bin.decoder.yml", settings);
  write_file(folder / "listed.yml", settings + "max-length-factor: 2.5\nshortlist: [lex.bin, false]\n");
  write_file(folder / "lex.bin", random_shortlist());
  fs::copy_file(fs::path(GOLDCREST_SOURCE_DIR) / "examples/models/enfr/source.spm", folder / "vocab.spm",
      fs::copy_options::overwrite_existing);
}

// Two seeded tones that fade, and noise, in integers.
std::string made_up_clip(size_t n) {
  Rng rng(5);
  std::string bytes;
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<int>(i);
    const int low = at * 700 % 16000 - 8000, high = at * at / 40 % 4000 - 2000;
    const int sample = (low + high) / (1 + at / 6000) + static_cast<int>(rng.bits() % 400);
    bytes += {static_cast<char>(sample), static_cast<char>(sample >> 8)};
  }
  return bytes;
}

void copy_recorded(const goldcrest::converter::Value& packed, const char* name, const std::string& folder) {
  const PackedFolders unpacked(packed);
  for (const fs::directory_entry& file : fs::directory_iterator(unpacked.path() / name)) {
    const fs::path extension = file.path().extension();
    if (extension == ".json" || extension == ".model" || file.path().filename() == "model.safetensors")  // no results
      fs::copy_file(file.path(), folder / file.path().filename(), fs::copy_options::overwrite_existing);
  }
}

// A field of a protobuf that has a length.
std::string field(int number, const std::string& payload) {
  std::string bytes = {static_cast<char>(number << 3 | 2)};
  size_t n = payload.size();
  for (; n > 127; n >>= 7) bytes += static_cast<char>((n & 127) | 128);
  return bytes + static_cast<char>(n) + payload;
}

// Writes a vocabulary of made-up pieces and a unigram model of SentencePiece with all of them, whose scores are 0.
void write_pieces(uint32_t n, const fs::path& folder) {
  nlohmann::json vocabulary = {{"</s>", 0}, {"<unk>", 1}, {"<pad>", n - 1}};
  const std::string score("\x15\0\0\0\0", 5);
  std::string model = field(1, field(1, "<unk>") + score + "\x18\x02");
  for (uint32_t id = 2; id + 1 < n; ++id) {
    const std::string piece = "t" + std::to_string(id);
    vocabulary[piece] = id;
    model += field(1, field(1, piece) + score);
  }
  model += field(2, "\x18\x01") + field(3, "");
  write_file(folder / "vocab.json", vocabulary.dump());
  for (const char* name : {"source.spm", "target.spm"}) write_file(folder / name, model);
}

void write_shape(const MarianShape& shape, const fs::path& folder) {
  write_file(folder / "config.json", marian_config(shape).dump());
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  write_safetensors(file, marian_tensors(shape, kSeed), goldcrest::converter::ElementType::kF32);
  if (!file.flush()) throw std::runtime_error("cannot write into " + folder.string());
  write_pieces(shape.vocab_size, folder);
}

void write(const std::string& kind, const std::string& folder) {
  fs::create_directories(folder);
  if (kind == "student") {
    write_student(folder);
  } else if (kind == "moonshine" || kind == "whisper") {
    copy_recorded(recorded("speech.json"), kind.c_str(), folder);
    write_file(folder + ".raw", made_up_clip(16000));
    std::ofstream voice(folder + ".voice.safetensors", std::ios::binary);
    write_safetensors(voice, random_detector(kSeed), goldcrest::converter::ElementType::kF32);
    if (!voice.flush()) throw std::runtime_error("cannot write next to " + folder);
  } else if (kind == "flan") {
    copy_recorded(recorded("t5.json")["folders"], "flan-0", folder);
    // Parts of English words, so that texts of words have them.
    nlohmann::json added;
    for (const auto& [id, text] : {std::pair("233", "an"), {"234", "er"}, {"235", "old"}})
      added[id] = {
          {"content", text}, {"normalized", text[0] != 'a'}, {"single_word", text[0] == 'o'}, {"lstrip", true}};
    write_file(folder + "/tokenizer_config.json", nlohmann::json{{"added_tokens_decoder", added}}.dump());
  } else if (kind == "nllb") {
    copy_recorded(recorded("families.json"), "nllb", folder);
  } else if (kind == "wide") {
    write_shape({32000, 256, 1, 2, 8, 8, 1536, 1536, 32}, folder);
  } else if (kind == "base") {
    write_shape({32000, 512, 1, 6, 8, 8, 2048, 2048, 32}, folder);
  } else {
    throw std::runtime_error(kind + ": expected student, moonshine, whisper, flan, nllb, wide or base");
  }
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: make_golden_checkpoint student|moonshine|whisper|flan|nllb|wide|base DIR\n";
    return 2;
  }
  return goldcrest::test::report_errors("make_golden_checkpoint", [&] { write(argv[1], argv[2]); });
}
