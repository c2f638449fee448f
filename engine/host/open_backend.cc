// SPDX-License-Identifier: Apache-2.0
#include "host/open_backend.h"
#include "host/messages.h"

#ifdef GOLDCREST_HAS_XNNPACK
#include <pthreadpool.h>
#include "goldcrest/xnnpack.h"
#endif

namespace {
bool wants_backend(const goldcrest_config& config) {
  const char* name = config.kernels != nullptr ? config.kernels : std::getenv("GOLDCREST_KERNELS");
  return name != nullptr && (std::string(name) == "xnnpack" || std::string(name) == "fastest");
}
}  // namespace

#ifdef GOLDCREST_HAS_XNNPACK

class Backend::Pool {
 public:
  explicit Pool(size_t n_threads) : pool_(pthreadpool_create(n_threads)) {}
  ~Pool() { pthreadpool_destroy(pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  pthreadpool_t get() const { return pool_; }
 private:
  pthreadpool_t pool_;
};

void* Backend::allocate(ArenaMemory* memory, uint64_t bytes) {
  *memory = allocate_arena(bytes);
  return memory->get();
}

std::string Backend::attach(goldcrest_config* config) {
  if (!wants_backend(*config)) return "";
  goldcrest_detail detail = {"", -1};
  goldcrest_xnnpack_memory needed;
  int status = goldcrest_xnnpack_plan_memory(config->model, config->model_bytes, &config->limits, &needed, &detail);
  if (status < 0) return describe_error(status, detail);
  ArenaMemory packing;
  goldcrest_xnnpack_config xnnpack = {};
  xnnpack.model = config->model;
  xnnpack.model_bytes = config->model_bytes;
  xnnpack.weights = allocate(&weights_, needed.weights_bytes);
  xnnpack.weights_bytes = static_cast<size_t>(needed.weights_bytes);
  xnnpack.packing = allocate(&packing, needed.packing_bytes);
  xnnpack.packing_bytes = static_cast<size_t>(needed.packing_bytes);
  xnnpack.detail = &detail;
  config->backend_memory = allocate(&objects_, needed.engine_bytes);
  config->backend_bytes = static_cast<size_t>(needed.engine_bytes);
  if (weights_ == nullptr || packing == nullptr || objects_ == nullptr) return "no memory for XNNPACK's weights";
  status = goldcrest_xnnpack_open(&config->backend, &xnnpack);
  if (status < 0) return describe_error(status, detail);
  memory_ = "XNNPACK's weights " + std::to_string(needed.weights_bytes) + " bytes, its objects " +
            std::to_string(needed.engine_bytes) + " bytes";
  if (config->limits.threads > 1) {
    pool_ = std::make_unique<Pool>(config->limits.threads);
    config->parallel_for = goldcrest_xnnpack_parallel_for;
    config->parallel_context = pool_->get();
  }
  return "";
}

#else

class Backend::Pool {};

std::string Backend::attach(goldcrest_config* config) {
  if (!wants_backend(*config)) return "";
  return "kernels xnnpack and fastest: this build has no XNNPACK; build with libxnnpack-dev of Debian 13 or later, or "
         "take the release archive with XNNPACK";
}

#endif

Backend::Backend() = default;
Backend::~Backend() = default;
