// SPDX-License-Identifier: Apache-2.0
#include "fuzz/engine_misuse.h"

#include "fuzz/script.h"
#include "goldcrest/inspection.h"

namespace goldcrest::test {
namespace {

void refused(int64_t status) { require(status == GOLDCREST_ERROR_ARGUMENT, "bad arguments are refused as such"); }

}  // namespace

void misuse_engine(goldcrest_engine* engine) {
  const int32_t id = 0;
  const goldcrest_alignment alignment = {};
  goldcrest_text_state state = {};
  char text[4] = "a";
  float weight = 0;
  refused(goldcrest_begin(engine, nullptr, 1));
  refused(goldcrest_add(engine, &id, 0));
  refused(goldcrest_begin_text(engine, nullptr, 1));
  refused(goldcrest_add_text(engine, nullptr, 1));
  refused(goldcrest_get_result(engine, 0, 0, nullptr));
  refused(goldcrest_get_source(engine, 0, nullptr));
  refused(goldcrest_detokenize(engine, nullptr, &id, 1, text, sizeof text));
  refused(goldcrest_detokenize(engine, &state, nullptr, 1, text, sizeof text));
  refused(goldcrest_detokenize(engine, &state, &id, 1, nullptr, 1));
  refused(goldcrest_translate(engine, text, 1, nullptr, 1));
  refused(goldcrest_translate(engine, text, 1, text, 0));
  refused(goldcrest_get_alignment(engine, nullptr, &weight, 1));
  refused(goldcrest_get_alignment(engine, &alignment, nullptr, 1));
  require(*goldcrest_kernels_name(engine) != '\0', "an engine's kernels have a name");
  require(goldcrest_kernels_at(UINT32_MAX) == nullptr, "there are not so many kernels");
  for (int status = -16; status < 16; ++status)
    require(*goldcrest_status_string(status) != '\0', "every status has words");
}

void misuse_init(const goldcrest_config& good) {
  goldcrest_engine* engine = nullptr;
  refused(goldcrest_init(nullptr, &good));
  refused(goldcrest_init(&engine, nullptr));
  const auto with = [&](auto change) {
    goldcrest_config config = good;
    config.detail = nullptr;
    change(config);
    refused(goldcrest_init(&engine, &config));
    require(engine == nullptr, "init: no engine");
  };
  with([](goldcrest_config& config) { config.kernels = "no such kernels"; });
  with([](goldcrest_config& config) { config.kernels = "xnnpack"; });
  with([](goldcrest_config& config) { config.arena = nullptr; });
  with([](goldcrest_config& config) { config.arena = static_cast<char*>(config.arena) + 1; });
  with([](goldcrest_config& config) { config.scratch = static_cast<char*>(config.arena) + 1; });
  with([](goldcrest_config& config) { config.limits.threads = UINT32_MAX; });
  goldcrest_info info;
  goldcrest_memory memory;
  refused(goldcrest_model_info(good.model, good.model_bytes, nullptr, nullptr));
  refused(goldcrest_model_info(nullptr, good.model_bytes, &info, nullptr));
  refused(goldcrest_plan_memory(good.model, good.model_bytes, nullptr, nullptr, nullptr, nullptr, nullptr));
  refused(goldcrest_plan_memory(static_cast<const char*>(good.model) + 1, good.model_bytes, nullptr, &memory, nullptr,
                                nullptr, nullptr));
}

}  // namespace goldcrest::test
