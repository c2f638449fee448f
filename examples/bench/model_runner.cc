// SPDX-License-Identifier: Apache-2.0
#include "model_runner.h"
#include <random>
#include <stdexcept>
#include "goldcrest/speech.h"
#include "host/messages.h"
#include "host/model_texts.h"

namespace bench {
namespace {
// Returns [batch][source_tokens] ids in [0, vocab_size), the same on every machine.
std::vector<std::vector<int32_t>> random_sources(const Workload& workload, uint32_t vocab_size) {
  std::mt19937_64 random(workload.seed);
  std::vector<std::vector<int32_t>> sources(workload.batch, std::vector<int32_t>(workload.source_tokens));
  for (auto& source : sources)
    for (int32_t& id : source) id = static_cast<int32_t>(random() % vocab_size);
  return sources;
}

// Returns [batch] clips of noise that give source_tokens encoder rows, the same on every machine.
std::vector<std::vector<int16_t>> random_clips(const Workload& workload, const goldcrest_info& model) {
  std::mt19937_64 random(workload.seed);
  const size_t n = model.first_row_samples + size_t{workload.source_tokens - 1} * model.row_samples;
  std::vector<std::vector<int16_t>> clips(workload.batch, std::vector<int16_t>(n));
  for (auto& clip : clips)
    for (int16_t& sample : clip) sample = static_cast<int16_t>(random() % 8192) - 4096;
  return clips;
}
}  // namespace

ModelRunner::ModelRunner(const Options& options, const Workload& workload) : path_(options.model), workload_(workload) {
  std::string problem = file_.open(options.model);
  if (problem.empty()) problem = kernels_problem(options.kernels);
  if (!problem.empty()) throw std::runtime_error(problem);
  const int status = goldcrest_model_info(file_.bytes(), file_.size(), &model_, &detail_);
  if (status < 0)
    throw std::runtime_error(path_ + ": " + describe_model_error(status, detail_, file_.bytes(), file_.size()));

  goldcrest_limits limits = {};
  limits.max_source_tokens = workload.source_tokens;
  limits.max_target_tokens = workload.target_tokens + 1 + model_.prompt_tokens;
  limits.beam_size = workload.beam_size;
  limits.batch = workload.batch;
  limits.threads = options.pool != nullptr ? options.pool->threads() : 1;
  check(goldcrest_plan_memory(file_.bytes(), file_.size(), &limits, &memory_, nullptr, nullptr, &detail_));
  arena_ = allocate_arena(memory_.arena_bytes);
  if (!arena_) throw std::runtime_error("no memory for an arena of " + std::to_string(memory_.arena_bytes) + " bytes");

  goldcrest_config config = {};
  config.model = file_.bytes();
  config.model_bytes = file_.size();
  config.arena = arena_.get();
  config.arena_bytes = static_cast<size_t>(memory_.arena_bytes);
  config.limits = limits;
  config.verify = options.verify;
  config.step_size = options.step_size;
  config.kernels = options.kernels.empty() ? nullptr : options.kernels.c_str();
  config.detail = &detail_;
  if (options.low_memory) config.idle_weights = MappedFile::release;
  if (options.pool != nullptr) {
    config.parallel_for = options.pool->parallel_for();
    config.parallel_context = options.pool->context();
  }
  const std::string backend_problem = backend_.attach(&config);
  if (!backend_problem.empty()) throw std::runtime_error(path_ + ": " + backend_problem);
  check(goldcrest_init(&engine_, &config));
  if (model_.sample_rate > 0) {
    clips_ = random_clips(workload, model_);
  } else {
    check(choose_first_languages(engine_, file_.bytes(), file_.size()));
    sources_ = random_sources(workload, model_.source_vocab_size);
  }
}

int ModelRunner::check(int status) const {
  if (status >= 0) return status;
  throw std::runtime_error(path_ + ": " + describe_error(status, detail_));
}

int ModelRunner::store(uint32_t sentence) {
  if (clips_.empty()) {
    const std::vector<int32_t>& source = sources_[sentence];
    return (sentence == 0 ? goldcrest_begin : goldcrest_add)(engine_, source.data(), source.size());
  }
  const std::vector<int16_t>& clip = clips_[sentence];
  return (sentence == 0 ? goldcrest_begin_audio : goldcrest_add_audio)(engine_, clip.data(), clip.size());
}

void ModelRunner::begin(uint32_t computed_positions) {
  goldcrest_search search = model_.search;
  search.beam_size = workload_.beam_size;
  search.min_target_tokens = search.max_target_tokens = computed_positions + 1;
  check(goldcrest_set_search(engine_, &search));
  for (uint32_t i = 0; i < workload_.batch; ++i) check(store(i));
}

int ModelRunner::step() { return check(goldcrest_step(engine_, nullptr)); }

void ModelRunner::run_to_end(uint32_t computed_positions) {
  begin(computed_positions);
  check(goldcrest_run(engine_));
  // Less work than asked for would make the figures wrong, so it is an error.
  for (uint32_t sentence = 0; sentence < workload_.batch; ++sentence) {
    goldcrest_result result = {};
    check(goldcrest_get_result(engine_, sentence, 0, &result));
    const uint32_t n_searched = result.n_tokens - model_.prompt_tokens;
    if (n_searched != computed_positions + 1) {
      throw std::runtime_error(path_ + ": sentence " + std::to_string(sentence) + " has " + std::to_string(n_searched) +
                               " tokens where " + std::to_string(computed_positions + 1) + " were forced");
    }
  }
}

void ModelRunner::run() { run_to_end(workload_.target_tokens); }
void ModelRunner::run_encoder() { run_to_end(0); }
void ModelRunner::run_one_token() { run_to_end(1); }
}  // namespace bench
