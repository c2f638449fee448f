// SPDX-License-Identifier: Apache-2.0
// Checkpoints of every family with any of their files changed: an error that names the file, or a model that the engine
// takes and runs.
#include <cstdio>
#include <numeric>

#include "converter/dialects/config_template.h"
#include "converter/dialects/dialect.h"
#include "converter/file/write.h"
#include "converter/spec/error.h"
#include "fuzz/checkpoints.h"
#include "fuzz/engine_calls.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

// Printed at the end: seeds are of use as long as many inputs build a model.
struct Tally {
  uint64_t inputs = 0, models = 0;
  ~Tally() {
    std::fprintf(stderr, "%llu of %llu inputs built a model\n", static_cast<unsigned long long>(models),
                 static_cast<unsigned long long>(inputs));
  }
};

// As the program does.
converter::Payload build(const converter::ModelSpec& spec, const converter::BuildOptions& options,
                         const std::filesystem::path& folder) try {
  return converter::build_payload(spec, options);
} catch (const converter::Error& error) {
  throw converter::Error("{}: {}", folder.string(), error.what());
}

void convert(Script& script, const std::filesystem::path& folder) {
  const converter::ModelSpec spec = converter::load_checkpoint(folder, {});
  converter::BuildOptions options;
  if (script.one_in(4)) options.weights = converter::Weights::kFloat32;
  const converter::FileImage file = converter::assemble(build(spec, options, folder), {});
  goldcrest_info info;
  require(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr) == GOLDCREST_OK, "the engine takes it");
  call_engine(file.span(), script);
}

}  // namespace
}  // namespace goldcrest::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  using namespace goldcrest;
  using namespace goldcrest::test;
  static const std::vector<CheckpointFiles> good = good_checkpoints();
  static Tally tally;
  Script script(bytes, n);
  CheckpointFiles files = good[script.below(static_cast<uint32_t>(good.size()))];
  // One input of two, whatever it was made from, keeps its names and settings, so that half of them build a model.
  if (std::accumulate(bytes, bytes + n, 0u) % 2 == 0) {
    change_weights(script, files);
  } else {
    for (uint32_t i = script.below(3); i > 0; --i) change_checkpoint(script, files);
  }
  const TemporaryFolder folder;
  write_checkpoint(files, folder.path());
  ++tally.inputs;
  try {
    if (script.one_in(16)) converter::config_template(folder.path());
    convert(script, folder.path());
    ++tally.models;
  } catch (const converter::Error& error) {
    const std::string message = error.what();
    const bool is_told = message.starts_with(folder.path().string()) && message.size() < 4096;
    if (!is_told) std::fprintf(stderr, "%s\n", message.c_str());
    require(is_told, "an error is short and begins with the file's name");
  }
  return 0;
}
