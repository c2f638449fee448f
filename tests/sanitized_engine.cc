// SPDX-License-Identifier: Apache-2.0
// Only the engine, under one of clang's sanitizers, in uninitialized memory. Several engines, each on its own thread
// and with its own threads, translate the same lines with one model. No result, and no branch on the way to it, may
// depend on a byte that was not written. All engines must give the same results.
// Usage: sanitized_engine ENGINES THREADS MODEL LINES; $GOLDCREST_KERNELS names a kernel table.
#include <thread>
#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "host/thread_pool.h"
#include "support/standard.h"

namespace {
struct Job {
  const void* model;
  size_t model_bytes;
  uint32_t threads;
  const char* lines;  // a file's name
  int status = 1;
  unsigned long sum = 0;  // over everything that was read
};

void* load(const char* path, size_t* bytes) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::exit(2);
  std::fseek(file, 0, SEEK_END);
  *bytes = static_cast<size_t>(std::ftell(file));
  std::rewind(file);
  void* model = std::aligned_alloc(GOLDCREST_ALIGN, (*bytes + GOLDCREST_ALIGN - 1) / GOLDCREST_ALIGN * GOLDCREST_ALIGN);
  if (model == nullptr || std::fread(model, 1, *bytes, file) != *bytes) std::exit(2);
  std::fclose(file);
  return model;
}

int fail(const char* doing, int status, const goldcrest_detail& detail) {
  std::fprintf(stderr, "sanitized_engine: %s: %s: %s\n", doing, goldcrest_status_string(status),
      detail.message != nullptr ? detail.message : "");
  return 1;
}

// Reads every result of a search. Each `if` makes MemorySanitizer check that the value was written.
int look(const goldcrest_engine* engine, unsigned long* sum) {
  goldcrest_result result;
  float weights[1024];
  for (uint32_t rank = 0; goldcrest_get_result(engine, 0, rank, &result) == GOLDCREST_OK; ++rank) {
    if (result.log_prob > 0) ++*sum;
    if (result.score > 0) ++*sum;
    for (uint32_t i = 0; i < result.n_tokens; ++i) {
      *sum = *sum * 31 + static_cast<unsigned long>(result.tokens[i]);
      if (result.tokens[i] < 0 || result.token_log_probs[i] > 1) return 1;
      const goldcrest_alignment wanted = {0, rank, i, -1, -1};
      const int n = goldcrest_get_alignment(engine, &wanted, weights, 1024);
      for (int k = 0; k < n; ++k)
        if (weights[k] < 0) return 1;
    }
  }
  return 0;
}

int translate_lines(goldcrest_engine* engine, const char* path, const goldcrest_detail& detail, unsigned long* sum) {
  constexpr int kMostLines = 10;
  std::FILE* lines = std::fopen(path, "r");
  if (lines == nullptr) return 2;
  char line[400], out[4000];
  for (int n = 0; n < kMostLines && std::fgets(line, sizeof line, lines) != nullptr; ++n) {
    const int64_t bytes = goldcrest_translate(engine, line, std::strcspn(line, "\t\n"), out, sizeof out);
    if (bytes < 0) return fail(line, static_cast<int>(bytes), detail);
    for (int64_t i = 0; i < bytes; ++i)
      if (out[i] == '\0') return 1;
    if (look(engine, sum) != 0) return 1;
  }
  std::fclose(lines);
  return 0;
}

int run(Job& job) {
  goldcrest_detail detail = {};
  goldcrest_memory memory;
  goldcrest_limits limits = {.max_source_bytes = 400,
      .beam_size = 4,
      .n_best = 2,
      .threads = job.threads,
      .inspection = GOLDCREST_INSPECT_TOKEN_SCORES,
      .alignment_layers = GOLDCREST_ALL_LAYERS};
  int status = goldcrest_plan_memory(job.model, job.model_bytes, &limits, &memory, nullptr, nullptr, &detail);
  if (status < 0) return fail("plan", status, detail);
  ThreadPool pool;
  if (job.threads > 1 && !pool.start(job.threads).empty()) return 2;
  goldcrest_config config = {.model = job.model,
      .model_bytes = job.model_bytes,
      .arena = std::aligned_alloc(GOLDCREST_ALIGN, memory.arena_bytes),
      .arena_bytes = memory.arena_bytes,
      .limits = limits,
      .detail = &detail,
      .parallel_for = job.threads > 1 ? pool.parallel_for() : nullptr,
      .parallel_context = job.threads > 1 ? pool.context() : nullptr};
  goldcrest_engine* engine = nullptr;
  status = goldcrest_init(&engine, &config);
  if (status < 0) return fail("init", status, detail);
  if (translate_lines(engine, job.lines, detail, &job.sum) != 0) return 1;
  status = goldcrest_self_test(engine, &detail);
  if (status < 0) return fail("self-test", status, detail);
  std::free(config.arena);
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Job job = {};
  job.model = load(argv[3], &job.model_bytes);
  job.threads = static_cast<uint32_t>(std::atoi(argv[2]));
  job.lines = argv[4];
  std::vector<Job> jobs(static_cast<size_t>(std::atoi(argv[1])), job);
  std::vector<std::thread> others;
  for (size_t i = 1; i < jobs.size(); ++i) others.emplace_back([&jobs, i] { jobs[i].status = run(jobs[i]); });
  jobs[0].status = run(jobs[0]);
  for (std::thread& other : others) other.join();
  for (const Job& done : jobs)
    if (done.status != 0 || done.sum != jobs[0].sum) return 1;
  std::printf("%zu engines of %u threads, %lx\n", jobs.size(), job.threads, jobs[0].sum);
  std::free(const_cast<void*>(job.model));
  return 0;
}
