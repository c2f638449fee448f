// SPDX-License-Identifier: Apache-2.0
// Plans, allocates exactly that, and starts the engine. Throws an exception for each error, so that tests need no
// checks.
#include "support/engine_fixture.h"

namespace goldcrest::test {
namespace {
void check(int status, const goldcrest_detail& detail) {
  if (status >= 0) return;
  throw std::runtime_error(std::string(goldcrest_status_string(status)) + ": " +
                           (detail.message != nullptr ? detail.message : "") + " " + std::to_string(detail.index));
}

std::unique_ptr<GuardedBuffer<uint8_t>> filled(uint64_t bytes, uint8_t fill) {
  auto buffer = std::make_unique<GuardedBuffer<uint8_t>>(static_cast<size_t>(bytes));
  std::fill(buffer->begin(), buffer->end(), fill);
  return buffer;
}
}  // namespace

std::ostream& operator<<(std::ostream& out, const Translation& translation) {
  for (const int32_t token : translation.tokens) out << token << ' ';
  return out << "log_prob " << translation.log_prob << " score " << translation.score << " hash "
             << translation.logits_hash;
}

TestEngine::TestEngine(std::span<const uint8_t> model, const EngineSetup& setup) {
  check(goldcrest_model_info(model.data(), model.size(), &info_, &detail_), detail_);
  check(
      goldcrest_plan_memory(model.data(), model.size(), &setup.limits, &memory_, nullptr, nullptr, &detail_), detail_);
  arena_ = filled(setup.two_regions ? memory_.main_bytes : memory_.arena_bytes, setup.fill);
  if (setup.two_regions) scratch_ = filled(memory_.scratch_bytes, setup.fill);
  goldcrest_config config = {.model = model.data(),
      .model_bytes = model.size(),
      .arena = arena_->get(),
      .arena_bytes = arena_->size(),
      .scratch = scratch_ ? scratch_->get() : nullptr,
      .scratch_bytes = scratch_ ? scratch_->size() : 0,
      .limits = setup.limits,
      .verify = setup.verify,
      .step_size = setup.step_size,
      .kernels = setup.kernels,
      .detail = &detail_,
      .trace = setup.trace,
      .trace_context = setup.trace_context,
      .parallel_for = setup.parallel_for,
      .parallel_context = setup.parallel_context,
      .idle_weights = setup.idle_weights,
      .idle_context = setup.idle_context,
      .backend = setup.backend,
      .backend_memory = setup.backend_memory.data(),
      .backend_bytes = setup.backend_memory.size()};
  check(goldcrest_init(&engine_, &config), detail_);
}

goldcrest_search TestEngine::search() const {
  goldcrest_search search = info_.search;
  search.beam_size = memory_.limits.beam_size;
  search.max_target_tokens = std::min(search.max_target_tokens, memory_.limits.max_target_tokens);
  search.min_target_tokens = std::min(search.min_target_tokens, search.max_target_tokens);
  return search;
}

void TestEngine::set_search(const goldcrest_search& search) { check(goldcrest_set_search(engine_, &search), detail_); }

void TestEngine::change_search(const std::function<void(goldcrest_search&)>& change) {
  goldcrest_search changed = search();
  change(changed);
  set_search(changed);
}

void TestEngine::begin(std::span<const std::vector<int32_t>> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const int index = (i == 0 ? goldcrest_begin : goldcrest_add)(engine_, sources[i].data(), sources[i].size());
    check(index, detail_);
    if (index != static_cast<int>(i)) throw std::runtime_error("a source has index " + std::to_string(index));
  }
}

std::vector<std::vector<Translation>> TestEngine::finish(size_t n) {
  check(goldcrest_run(engine_), detail_);
  std::vector<std::vector<Translation>> all;
  for (uint32_t i = 0; i < n; ++i) all.push_back(results(i));
  return all;
}

std::vector<std::vector<Translation>> TestEngine::run(std::span<const std::vector<int32_t>> sources) {
  begin(sources);
  return finish(sources.size());
}

std::vector<Translation> TestEngine::score(
    std::span<const std::vector<int32_t>> sources, std::span<const std::vector<int32_t>> targets) {
  begin(sources);
  for (uint32_t i = 0; i < targets.size(); ++i)
    check(goldcrest_score(engine_, i, targets[i].data(), targets[i].size()), detail_);
  std::vector<Translation> all;
  for (const std::vector<Translation>& found : finish(sources.size())) all.push_back(found.at(0));
  return all;
}

std::vector<float> TestEngine::alignment(const goldcrest_alignment& wanted) const {
  std::vector<float> weights(memory_.limits.max_source_tokens);
  const int n = goldcrest_get_alignment(engine_, &wanted, weights.data(), weights.size());
  check(n, detail_);
  weights.resize(static_cast<size_t>(n));
  return weights;
}

Translation TestEngine::run(const std::vector<int32_t>& source) { return run(std::span(&source, 1)).at(0).at(0); }

std::vector<Translation> TestEngine::results(uint32_t sentence) const {
  std::vector<Translation> translations;
  goldcrest_result result;
  for (uint32_t rank = 0; goldcrest_get_result(engine_, sentence, rank, &result) == GOLDCREST_OK; ++rank) {
    Translation translation = {{result.tokens, result.tokens + result.n_tokens}, result.log_prob, result.score,
        result.logits_hash, {}, {}, result.was_cut};
    if (result.token_log_probs != nullptr)
      translation.token_log_probs.assign(result.token_log_probs, result.token_log_probs + result.n_tokens);
    for (uint32_t i = 0; memory_.limits.alignment_layers != 0 && i < result.n_tokens; ++i) {
      const std::vector<float> weights = alignment({sentence, rank, i, -1, -1});
      translation.alignments.insert(translation.alignments.end(), weights.begin(), weights.end());
    }
    translations.push_back(std::move(translation));
  }
  return translations;
}
}  // namespace goldcrest::test
