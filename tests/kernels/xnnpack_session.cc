// SPDX-License-Identifier: Apache-2.0
// Throws an exception for each error, so that tests need no checks.
#include "kernels/xnnpack_session.h"

namespace goldcrest::test {
namespace {
void check(int status, const goldcrest_detail& detail) {
  if (status >= 0) return;
  throw std::runtime_error(
      std::string(goldcrest_status_string(status)) + ": " + detail.message + " " + std::to_string(detail.index));
}

std::unique_ptr<GuardedBuffer<uint8_t>> buffer_of(uint64_t bytes) {
  return std::make_unique<GuardedBuffer<uint8_t>>(static_cast<size_t>(bytes));
}
}  // namespace

XnnpackModel::XnnpackModel(std::span<const uint8_t> model) : file_(model) {
  const goldcrest_xnnpack_memory needed = memory({});
  weights_ = buffer_of(needed.weights_bytes);
  const auto packing = buffer_of(needed.packing_bytes);
  goldcrest_detail detail = {"", -1};
  goldcrest_xnnpack_config config = {.model = file_.data(),
      .model_bytes = file_.size(),
      .weights = weights_->get(),
      .weights_bytes = weights_->size(),
      .packing = packing->get(),
      .packing_bytes = packing->size(),
      .detail = &detail};
  check(goldcrest_xnnpack_open(&backend_, &config), detail);
}

goldcrest_xnnpack_memory XnnpackModel::memory(const goldcrest_limits& limits) const {
  goldcrest_xnnpack_memory needed = {};
  goldcrest_detail detail = {"", -1};
  check(goldcrest_xnnpack_plan_memory(file_.data(), file_.size(), &limits, &needed, &detail), detail);
  return needed;
}

XnnpackEngineFixture::XnnpackEngineFixture(const XnnpackModel& model, EngineSetup setup, const char* kernels)
    : objects_(buffer_of(model.memory(setup.limits).engine_bytes)) {
  setup.kernels = kernels;
  setup.backend = model.backend();
  setup.backend_memory = {objects_->get(), objects_->size()};
  engine_ = std::make_unique<TestEngine>(model.file(), setup);
}
}  // namespace goldcrest::test
