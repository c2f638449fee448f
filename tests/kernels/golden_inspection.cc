// SPDX-License-Identifier: Apache-2.0
// The hash of what inspection shows of a model's searches (support/search_hash.h) must be one number; with
// --searches, the hash of their results; with --samples, that of texts drawn at random. It must be the same for every
// kernel table that this CPU runs, for any number of threads, and on the machine that wrote HASH_FILE. Prints it.
// Usage: golden_inspection [--searches | --samples] MODEL VALIDATION_TSV [HASH_FILE]
#include <cinttypes>
#include "support/engine_fixture.h"
#include "support/program.h"
#include "support/search_hash.h"

namespace goldcrest::test { namespace {
struct Hashed {
  GuardedBuffer<uint8_t> model;  // with the alignment of a mapped file
  std::string lines;
  std::string option;  // "--searches", "--samples" or empty
};

uint64_t hash_with(const Hashed& hashed, const char* kernels, uint32_t threads) {
  EngineSetup setup = {.limits = {.max_source_bytes = 64,
                           .beam_size = 4,
                           .n_best = 4,
                           .threads = threads,
                           .max_sampled = hashed.option == "--samples" ? 20u : 0u},
      .kernels = kernels};
  if (hashed.option.empty()) {
    setup.limits.inspection = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS;
    setup.limits.alignment_layers = GOLDCREST_ALL_LAYERS;
  }
  TestEngine engine({hashed.model.get(), hashed.model.size()}, setup);
  uint64_t hash = 0;
  const int status =
      hashed.option.empty()
          ? hash_words({engine.get(), engine.info().decoder_layers, engine.info().decoder_heads}, hashed.lines, &hash)
      : hashed.option == "--samples" ? hash_samples(engine.get(), hashed.lines, &hash)
                                     : hash_searches(engine.get(), hashed.lines, &hash);
  if (status < 0)
    throw std::runtime_error(std::string(goldcrest_status_string(status)) + ": " + engine.detail().message);
  return hash;
}

int run(int n_arguments, char** arguments) {
  std::string option = n_arguments > 1 ? arguments[1] : "";
  if (option == "--searches" || option == "--samples") --n_arguments, ++arguments;
  else option.clear();
  if (n_arguments < 3 || n_arguments > 4) {
    std::fprintf(stderr, "usage: golden_inspection [--searches | --samples] MODEL VALIDATION_TSV [HASH_FILE]\n");
    return 2;
  }
  const std::string bytes = read_whole_file(arguments[1]);
  Hashed hashed = {GuardedBuffer<uint8_t>(bytes.size()), read_whole_file(arguments[2]), option};
  std::copy(bytes.begin(), bytes.end(), hashed.model.begin());
  std::optional<uint64_t> expected;
  if (n_arguments == 4) expected = std::stoull(read_whole_file(arguments[3]), nullptr, 16);
  bool agree = true;
  for (uint32_t i = 0; const char* kernels = goldcrest_kernels_at(i); ++i) {
    for (const uint32_t threads : {1u, 3u}) {
      const uint64_t hash = hash_with(hashed, kernels, threads);
      if (!expected) expected = hash;
      std::fprintf(stderr, "%-16s threads %" PRIu32 " %016" PRIx64 " %s\n", kernels, threads, hash,
          hash == *expected ? "same" : "DIFFERENT");
      agree &= hash == *expected;
    }
  }
  std::printf("%016" PRIx64 "\n", *expected);
  return agree ? 0 : 1;
}
}}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  using namespace goldcrest::test;
  return report_errors("golden_inspection", [&] { return run(n_arguments, arguments); });
}
