// SPDX-License-Identifier: Apache-2.0
// A model's golden hash (FORMAT.md, "Self-test") over the first 50 validation lines, or all, must be one number. It
// must not depend on the kernel table, the flushing of denormals, the number of threads, or the batches' sizes and
// order. It must equal the hash of the machine that wrote HASH_FILE. Prints the hash. Also runs the file's own
// self-test.
// Usage: golden_hash [--all] MODEL VALIDATION_TSV [HASH_FILE]
#include <cinttypes>
#include <deque>
#include "base/hash.h"
#include "flush_to_zero.h"
#include "host/thread_pool.h"
#include "support/engine_fixture.h"
#include "support/program.h"
#include "validation_sources.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kMaxSourceBytes = 512;

// Choices that must not change the hash.
struct Composition {
  bool flushed;
  uint32_t threads, batch;
};

constexpr Composition kCompositions[] = {{false, 1, 1}, {true, 1, 1}, {false, 3, 1}, {true, 2, 17}, {false, 5, 7}};

// Returns the hash of each source's logits. Batches take sources from both ends in turn, which mixes neighbours and
// lengths. Throws std::runtime_error if the self-test fails.
std::vector<uint64_t> logits_hashes(TestEngine& engine, const std::vector<std::string>& sources) {
  const int self_test = goldcrest_self_test(engine.get(), nullptr);
  if (self_test != GOLDCREST_OK)
    throw std::runtime_error(std::string("self-test: ") + goldcrest_status_string(self_test));
  std::vector<uint64_t> hashes(sources.size());
  std::deque<size_t> left(sources.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    std::vector<size_t> batch;
    int status = GOLDCREST_OK;
    while (status >= 0 && !left.empty() && batch.size() < engine.memory().limits.batch) {
      const bool front = batch.size() % 2 == 0;
      batch.push_back(front ? left.front() : left.back());
      front ? left.pop_front() : left.pop_back();
      const std::string& source = sources[batch.back()];
      const auto store = batch.size() == 1 ? goldcrest_begin_text : goldcrest_add_text;
      status = store(engine.get(), source.data(), source.size());
    }
    if (status >= 0) status = goldcrest_run(engine.get());
    if (status < 0) throw std::runtime_error(sources[batch.back()] + ": " + goldcrest_status_string(status));
    for (uint32_t i = 0; i < batch.size(); ++i) hashes[batch[i]] = engine.results(i).at(0).logits_hash;
  }
  return hashes;
}

uint64_t golden_hash(
    const GuardedBuffer<uint8_t>& model, const std::vector<std::string>& sources, const Composition& composition) {
  ThreadPool pool;
  const std::string problem = pool.start(composition.threads);
  if (!problem.empty()) throw std::runtime_error(problem);
  EngineSetup setup = {
      .limits = {.max_source_bytes = kMaxSourceBytes, .batch = composition.batch, .threads = pool.threads()},
      .parallel_for = pool.parallel_for(),
      .parallel_context = pool.context()};
  TestEngine engine({model.get(), model.size()}, setup);
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  std::optional<FlushToZero> flush;
  if (composition.flushed) flush.emplace();
  if (FlushToZero::in_force() != (composition.flushed && FlushToZero::kIsPossible))
    throw std::runtime_error("this CPU does not flush denormals as told");
  uint64_t hash = kHashStart;
  for (const uint64_t of_line : logits_hashes(engine, sources)) hash = hash_halves(hash, of_line);
  return hash;
}

// Returns whether all hashes equal `expected`, or the first one if there is none.
bool all_agree(
    const GuardedBuffer<uint8_t>& model, const std::vector<std::string>& sources, std::optional<uint64_t>& expected) {
  bool agree = true;
  for (uint32_t i = 0; const char* name = goldcrest_kernels_at(i); ++i) {
    setenv("GOLDCREST_KERNELS", name, 1);
    for (const Composition& composition : kCompositions) {
      const uint64_t hash = golden_hash(model, sources, composition);
      if (!expected) expected = hash;
      const bool same = hash == *expected;
      std::fprintf(stderr, "%-16s %s threads %" PRIu32 " batch %-2" PRIu32 " %016" PRIx64 " %s\n", name,
          composition.flushed ? "flushed" : "exact  ", composition.threads, composition.batch, hash,
          same ? "same" : "DIFFERENT");
      agree &= same;
    }
  }
  return agree;
}

int run(int n_arguments, char** arguments) {
  const bool all = n_arguments > 1 && std::string(arguments[1]) == "--all";
  if (all) --n_arguments, ++arguments;
  if (n_arguments < 3 || n_arguments > 4) {
    std::fprintf(stderr, "usage: golden_hash [--all] MODEL VALIDATION_TSV [HASH_FILE]\n");
    return 2;
  }
  std::optional<uint64_t> expected;
  if (n_arguments == 4) {
    uint64_t hash = 0;
    if (!(std::ifstream(arguments[3]) >> std::hex >> hash))
      throw std::runtime_error(std::string(arguments[3]) + ": no hash in it; `bash tests/run.sh arm` makes it");
    expected = hash;
  }
  const std::string bytes = read_whole_file(arguments[1]);
  GuardedBuffer<uint8_t> model(bytes.size());  // with the alignment of a mapped file
  std::copy(bytes.begin(), bytes.end(), model.begin());
  const bool agree = all_agree(model, read_validation_sources(arguments[2], all), expected);
  std::printf("%016" PRIx64 "\n", *expected);
  return agree ? 0 : 1;
}
}}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  using namespace goldcrest::test;
  return report_errors("golden_hash", [&] { return run(n_arguments, arguments); });
}
