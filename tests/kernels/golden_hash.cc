// SPDX-License-Identifier: Apache-2.0
// A model's golden hash (FORMAT.md, "Self-test") over the first 50 validation lines must be one number: for every
// kernel table that this CPU runs, without and with denormals flushed to zero, here and on the machine that wrote
// HASH_FILE. Prints it. The file's own self-test runs along. Usage: golden_hash MODEL VALIDATION_TSV [HASH_FILE]
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/hash.h"
#include "flush_to_zero.h"
#include "support/engine_fixture.h"

namespace goldcrest::test {
namespace {

constexpr size_t kLines = 50;
constexpr uint32_t kMostSourceBytes = 512;

std::string read_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) throw std::runtime_error(path + ": no such file, or empty; `bash tests/run.sh arm` makes it");
  return bytes;
}

// The first column; a source with several references counts once.
std::vector<std::string> read_sources(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> sources;
  for (std::string line; sources.size() < kLines && std::getline(file, line);) {
    const std::string source = line.substr(0, line.find('\t'));
    if (sources.empty() || sources.back() != source) sources.push_back(source);
  }
  if (sources.size() < kLines) throw std::runtime_error(path + ": fewer sources than " + std::to_string(kLines));
  return sources;
}

// Throws std::runtime_error when the self-test fails.
uint64_t golden_hash(TestEngine& engine, const std::vector<std::string>& sources) {
  const int self_test = goldcrest_self_test(engine.get(), nullptr);
  if (self_test != GOLDCREST_OK)
    throw std::runtime_error(std::string("self-test: ") + goldcrest_status_string(self_test));
  uint64_t hash = kHashStart;
  for (const std::string& source : sources) {
    const int begun = goldcrest_begin_text(engine.get(), source.data(), source.size());
    const int status = begun < 0 ? begun : goldcrest_run(engine.get());
    if (status < 0) throw std::runtime_error(source + ": " + goldcrest_status_string(status));
    hash = hash_halves(hash, engine.results(0).at(0).logits_hash);
  }
  return hash;
}

// Whether all agree with `expected`, or with the first.
bool all_agree(const GuardedBuffer<uint8_t>& model, const std::vector<std::string>& sources,
               std::optional<uint64_t>& expected) {
  bool agree = true;
  for (uint32_t i = 0; const char* name = goldcrest_kernels_at(i); ++i) {
    setenv("GOLDCREST_KERNELS", name, 1);
    EngineSetup setup;
    setup.limits.max_source_bytes = kMostSourceBytes;
    TestEngine engine({model.get(), model.size()}, setup);
    goldcrest_search search = engine.search();
    search.beam_size = 1;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
    engine.set_search(search);
    for (const bool flushed : {false, true}) {
      std::optional<FlushToZero> flush;
      if (flushed) flush.emplace();
      if (FlushToZero::in_force() != flushed) throw std::runtime_error("this CPU does not flush denormals as told");
      const uint64_t hash = golden_hash(engine, sources);
      flush.reset();
      if (!expected) expected = hash;
      const bool same = hash == *expected;
      std::fprintf(stderr, "%-16s %s %016" PRIx64 " %s\n", goldcrest_kernels_name(engine.get()),
                   flushed ? "flushed" : "exact  ", hash, same ? "same" : "DIFFERENT");
      agree &= same;
    }
  }
  return agree;
}

int run(int n_arguments, char** arguments) {
  if (n_arguments < 3 || n_arguments > 4) {
    std::fprintf(stderr, "usage: golden_hash MODEL VALIDATION_TSV [HASH_FILE]\n");
    return 2;
  }
  std::optional<uint64_t> expected;
  if (n_arguments == 4) {
    uint64_t hash = 0;
    if (!(std::ifstream(arguments[3]) >> std::hex >> hash)) {
      throw std::runtime_error(std::string(arguments[3]) + ": no hash in it; `bash tests/run.sh arm` makes it");
    }
    expected = hash;
  }
  const std::string bytes = read_model(arguments[1]);
  GuardedBuffer<uint8_t> model(bytes.size());  // aligned as a mapped file is
  std::copy(bytes.begin(), bytes.end(), model.begin());
  const bool agree = all_agree(model, read_sources(arguments[2]), expected);
  std::printf("%016" PRIx64 "\n", *expected);
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  try {
    return goldcrest::test::run(n_arguments, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_hash: %s\n", error.what());
    return 1;
  }
}
