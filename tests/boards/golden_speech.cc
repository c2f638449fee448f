// SPDX-License-Identifier: Apache-2.0
// On the host: what a board must hear.
// Usage: golden_speech --make FOLDER           writes the recorded random Moonshine, and a clip of a second, FOLDER.raw
//        golden_speech MODEL CLIP.raw PREFIX   writes PREFIX.hash, which all kernel tables must share, and
//                                              PREFIX.expected, the session of transcribe_firmware
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "boards/speech_hash.h"
#include "convert/support/sample_folder.h"
#include "support/engine_fixture.h"
#include "support/rng.h"

namespace goldcrest::test {
namespace {

constexpr size_t kSamples = 16000;

void write(const std::string& path, const void* bytes, size_t n) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) throw std::runtime_error(path + ": no such file, or empty");
  return bytes;
}

// Two seeded tones that fade, and noise, in integers.
std::vector<int16_t> made_up_clip(size_t n) {
  Rng rng(5);
  std::vector<int16_t> samples;
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<int>(i);
    const int low = at * 700 % 16000 - 8000, high = at * at / 40 % 4000 - 2000;
    samples.push_back(static_cast<int16_t>((low + high) / (1 + at / 6000) + static_cast<int>(rng.bits() % 400)));
  }
  return samples;
}

void make(const std::string& folder) {
  const PackedFolders unpacked(recorded("speech.json"));
  std::filesystem::create_directories(folder);
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.json", "model.safetensors"}) {
    if (std::filesystem::exists(unpacked.path() / "moonshine" / name))
      std::filesystem::copy_file(unpacked.path() / "moonshine" / name, folder + "/" + name,
                                 std::filesystem::copy_options::overwrite_existing);
  }
  const std::vector<int16_t> samples = made_up_clip(kSamples);
  write(folder + ".raw", samples.data(), samples.size() * sizeof(int16_t));
}

Heard hear(std::span<const uint8_t> model, const std::string& samples, const EngineSetup& setup) {
  TestEngine engine(model, setup);
  std::vector<int16_t> clip(samples.size() / sizeof(int16_t));
  std::copy_n(samples.data(), clip.size() * sizeof(int16_t), reinterpret_cast<char*>(clip.data()));
  Heard heard = {};
  int status = begin_to_hear(engine.get(), clip.data(), clip.size());
  if (status >= 0) status = goldcrest_run(engine.get());
  if (status >= 0) status = heard_result(engine.get(), heard);
  if (status < 0)
    throw std::runtime_error(std::string(goldcrest_status_string(status)) + ": " + engine.detail().message);
  return heard;
}

void compare_tables(const std::string& model_path, const std::string& clip_path, const std::string& prefix) {
  const std::string bytes = read(model_path), samples = read(clip_path);
  GuardedBuffer<uint8_t> model(bytes.size());  // with the alignment of a mapped file
  std::copy(bytes.begin(), bytes.end(), model.begin());
  Heard first = {};
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) {
    EngineSetup setup;
    setup.kernels = goldcrest_kernels_at(i);
    setup.limits.encoder_rows = i % 2 == 0 ? 4 : 32;
    const Heard heard = hear({model.get(), model.size()}, samples, setup);
    std::printf("%-16s %u ids, hash %016" PRIx64 ": %s\n", setup.kernels, heard.n_tokens, heard.hash, heard.text);
    if (i == 0) first = heard;
    if (heard.hash != first.hash) throw std::runtime_error(std::string(setup.kernels) + " has another hash");
  }
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016" PRIx64 "\n", first.hash);
  write(prefix + ".hash", hash, 17);
  const std::string session = "Goldcrest " GOLDCREST_VERSION
                              " on BOARD, kernels TABLE. Model N bytes, arena N bytes.\n" +
                              std::string(first.text) + "   (N ticks, N ms)\n";
  write(prefix + ".expected", session.data(), session.size());
}

int run(int n_arguments, char** arguments) {
  if (n_arguments == 3 && std::string(arguments[1]) == "--make") {
    make(arguments[2]);
  } else if (n_arguments == 4) {
    compare_tables(arguments[1], arguments[2], arguments[3]);
  } else {
    std::fprintf(stderr, "usage: golden_speech --make FOLDER | golden_speech MODEL CLIP.raw PREFIX\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  try {
    return goldcrest::test::run(n_arguments, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_speech: %s\n", error.what());
    return 1;
  }
}
