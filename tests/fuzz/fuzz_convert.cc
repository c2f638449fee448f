// SPDX-License-Identifier: Apache-2.0
// Checkpoints of every family with any of their files changed. Conversion gives an error that names the file, or a
// model that the engine takes and runs.
#include "converter/dialects/config_template.h"
#include "converter/dialects/dialect.h"
#include "converter/file/write.h"
#include "converter/spec/error.h"
#include "fuzz/checkpoints.h"
#include "fuzz/engine_calls.h"
#include "model/frontend_view.h"
#include "support/temporary_folder.h"
#include "support/voice_tensors.h"

namespace goldcrest::test {
namespace {
// Printed at the end: seeds are useful only as long as many inputs build a model.
struct Tally {
  uint64_t inputs = 0, models = 0;
  ~Tally() {
    std::fprintf(stderr, "%llu of %llu inputs built a model\n", static_cast<unsigned long long>(models),
        static_cast<unsigned long long>(inputs));
  }
};

// Builds as the program does.
converter::Payload build(
    const converter::ModelSpec& spec, const converter::BuildOptions& options, const std::filesystem::path& folder) try {
  return converter::build_payload(spec, options);
} catch (const converter::Error& error) {
  throw converter::Error("{}: {}", folder.string(), error.what());
}

// The folder, the package in it, or a path in it that the script names.
std::filesystem::path choose_path(Script& script, const std::filesystem::path& folder) {
  if (script.one_in(8)) return folder / file_name(script.text());
  return std::filesystem::exists(folder / kPackage) ? folder / kPackage : folder;
}

void convert(Script& script, const std::filesystem::path& folder) {
  const std::filesystem::path path = choose_path(script, folder);
  converter::LoadOptions load;
  if (script.one_in(8)) load.config = choose_path(script, folder);
  if (script.one_in(8)) load.progress = [](size_t done, size_t all) { require(done <= all, "progress ends"); };
  const converter::ModelSpec spec = converter::load_checkpoint(path, load);
  converter::BuildOptions options;
  if (script.one_in(4)) options.weights = converter::Weights::kFloat32;
  const converter::FileImage file = converter::assemble(build(spec, options, folder), {});
  goldcrest_info info;
  require(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr) == GOLDCREST_OK, "the engine takes it");
  call_engine(file.span(), script);
}

// Reads a voice detector with a changed header or changed weights.
void read_detector(Script& script, const std::filesystem::path& folder) {
  static const CheckpointFiles good = [] {
    std::ostringstream stream;
    write_safetensors(stream, random_detector(1), converter::ElementType::kF32);
    const std::string bytes = stream.str();
    const size_t n_header = 8 + static_cast<uint8_t>(bytes[0]) + 256 * static_cast<uint8_t>(bytes[1]);
    return CheckpointFiles{{"header", bytes.substr(8, n_header - 8)}, {"weights", bytes.substr(n_header)}};
  }();
  CheckpointFiles files = good;
  for (uint32_t i = script.below(4); i > 0; --i) change_checkpoint(script, files);
  std::ofstream(folder / "detector", std::ios::binary) << safetensors_bytes(files["header"], files["weights"]);
  converter::ModelSpec spec;
  spec.encoder.frontend.emplace().sample_rate = kVoiceSampleRate;
  converter::add_voice(folder / "detector", spec);
  require(spec.voice.size() == voice_floats(), "a detector has all weights");
}
}  // namespace

void run_input(Script script) {
  static const std::vector<CheckpointFiles> good = good_checkpoints();
  static Tally tally;
  const uint32_t sum = script.sum();
  CheckpointFiles files = good[script.below(static_cast<uint32_t>(good.size()))];
  // Half of all inputs keep their names and settings, whatever they were made from, so that these build a model.
  const bool keeps_names = sum % 2 == 0;
  if (keeps_names) {
    change_weights(script, files);
  } else {
    const uint32_t n_changes = script.below(4);
    if (n_changes == 3) edit_checkpoint(script, files);
    for (uint32_t i = n_changes % 3; i > 0; --i) change_checkpoint(script, files);
  }
  files = pack(files);
  if (!keeps_names && script.one_in(4)) edit_checkpoint(script, files);  // changes that no writer of zips would make
  const TemporaryFolder folder;
  write_checkpoint(files, folder.path());
  ++tally.inputs;
  try {
    const uint32_t question = script.below(16);
    if (question == 15) converter::config_template(choose_path(script, folder.path()));
    if (question == 14) converter::load_shape(choose_path(script, folder.path()), 1u << 20);
    if (question == 13) converter::list_families();
    if (question == 12) read_detector(script, folder.path());
    convert(script, folder.path());
    ++tally.models;
  } catch (const converter::Error& error) {
    std::string message = error.what();
    if (message.starts_with("--voice: ")) message.erase(0, 9);
    const bool is_told = message.starts_with(folder.path().string()) && message.size() < 4096;
    if (!is_told) std::fprintf(stderr, "%s\n", message.c_str());
    require(is_told, "an error is short and begins with the file's name");
  }
}
}  // namespace goldcrest::test
