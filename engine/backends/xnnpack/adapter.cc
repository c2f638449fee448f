// SPDX-License-Identifier: Apache-2.0
// Calls XNNPACK's operator interface, as of its commits 4ea82e5 (2024-11-08, Debian 13) and 75db3c0 (2026-08-21). These
// differ in arguments; the overloads below tell them apart. XNNPACK calls back for memory without saying which operator
// it makes, so a variable of the thread tells.
#include "base/exact_floats.h"
#include "backends/xnnpack/adapter.h"
#include <pthreadpool.h>
#include <xnnpack.h>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include "base/align.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "goldcrest/xnnpack.h"

namespace goldcrest::xnnpack {
static_assert(sizeof(RowScale) == sizeof(xnn_quantization_params), "RowScale is XNNPACK's type");
static_assert(XNN_EXTRA_BYTES <= kAlignment, "the buffer behind a plan's rows is at least 64 bytes long");

// On a CPU with AMX, kernels take tiles of 16 rows, and commit 4ea82e5 always loads all scales of a tile. For a single
// row it reads 15 scales after the row's own, although its header says 10.
const uint32_t kExtraRowScales = larger(15u, uint32_t{XNN_EXTRA_QUANTIZATION_PARAMS});
const uint32_t kExtraInputBytes = XNN_EXTRA_BYTES;

namespace {
// The purpose for which this thread is making an operator.
struct Creation {
  Region* region;
  const PackedWeights* weights;  // null: only the size is wanted
  size_t index;
  size_t* used_bytes;  // bytes that packed weights take; null: none may be added
  size_t wanted_bytes;
};
thread_local Creation* current_creation = nullptr;

size_t rounded_up(size_t n_bytes) { return static_cast<size_t>(align_bytes(n_bytes)); }

// Sets the thread's creation for a scope.
class CreationScope {
 public:
  explicit CreationScope(Creation* creation) { current_creation = creation; }
  ~CreationScope() { current_creation = nullptr; }
  CreationScope(const CreationScope&) = delete;
  CreationScope& operator=(const CreationScope&) = delete;
};

void* allocate_aligned(void*, size_t alignment, size_t n_bytes) {
  if (current_creation == nullptr) {
    void* memory = nullptr;
    return posix_memalign(&memory, alignment, n_bytes) == 0 ? memory : nullptr;
  }
  Region& region = *current_creation->region;
  const size_t taken = rounded_up(n_bytes);
  if (alignment > kAlignment || taken > static_cast<size_t>(region.end - region.next)) return nullptr;
  void* memory = region.next;
  region.next += taken;
  return memory;
}

void* allocate(void*, size_t n_bytes) {
  return current_creation == nullptr ? std::malloc(n_bytes) : allocate_aligned(nullptr, kAlignment, n_bytes);
}

// XNNPACK reallocates nothing while it makes an operator.
void* reallocate(void*, void* memory, size_t n_bytes) {
  return current_creation == nullptr ? std::realloc(memory, n_bytes) : nullptr;
}

// Memory of a region is freed with the region.
void deallocate(void*, void* memory) {
  if (current_creation == nullptr) std::free(memory);
}

constexpr xnn_allocator kAllocator = {nullptr, allocate, reallocate, deallocate, allocate_aligned, deallocate};

size_t look_up(void*, const xnn_weights_cache_look_up_key*) {
  const Creation& creation = *current_creation;
  return creation.weights != nullptr ? creation.weights->offsets[creation.index] : kNotPacked;
}

void* reserve_space(void*, size_t n_bytes) {
  Creation& creation = *current_creation;
  creation.wanted_bytes = rounded_up(n_bytes);
  if (creation.used_bytes == nullptr) return nullptr;
  const size_t free_bytes = creation.weights->n_bytes - *creation.used_bytes;
  return creation.wanted_bytes <= free_bytes ? creation.weights->bytes + *creation.used_bytes : nullptr;
}

size_t insert(void*, const xnn_weights_cache_look_up_key*, void* memory, size_t) {
  const Creation& creation = *current_creation;
  const size_t offset = static_cast<size_t>(static_cast<uint8_t*>(memory) - creation.weights->bytes);
  creation.weights->offsets[creation.index] = offset;
  *creation.used_bytes = offset + creation.wanted_bytes;
  return offset;
}

bool is_finalized(void*) { return true; }

void* offset_to_address(void* context, size_t offset) {
  return static_cast<const PackedWeights*>(context)->bytes + offset;
}

xnn_status delete_cache(void*) { return xnn_status_success; }

// Creates an operator with or without the code cache, which XNNPACK dropped in May 2025.
template <typename Create, typename Weights, typename... Scales>
xnn_status create(Create create_operator, const Layer& layer, const Weights* weights, xnn_weights_cache_t cache,
    xnn_operator_t* op, Scales... scales) {
  const float least = layer.relu ? 0.0f : -INFINITY, most = INFINITY;
  const uint32_t flags = 0;
  if constexpr (std::is_invocable_v<Create, size_t, size_t, size_t, size_t, Scales..., const Weights*, const float*,
                    float, float, uint32_t, std::nullptr_t, xnn_weights_cache_t, xnn_operator_t*>) {
    return create_operator(layer.k, layer.n, layer.k, layer.output_stride, scales..., weights, layer.bias, least, most,
        flags, nullptr, cache, op);
  } else {
    return create_operator(
        layer.k, layer.n, layer.k, layer.output_stride, scales..., weights, layer.bias, least, most, flags, cache, op);
  }
}

// Reshapes with or without a workspace, which XNNPACK added in June 2025. Fails if the operator needs a workspace.
template <typename Reshape>
bool reshape(Reshape reshape_operator, xnn_operator_t op, uint32_t rows, pthreadpool_t threads) {
  if constexpr (std::is_invocable_v<Reshape, xnn_operator_t, size_t, size_t*, pthreadpool_t>) {
    size_t workspace_bytes = 0;
    return reshape_operator(op, rows, &workspace_bytes, threads) == xnn_status_success && workspace_bytes == 0;
  } else {
    return reshape_operator(op, rows, threads) == xnn_status_success;
  }
}

template <typename Setup>
bool set_up(
    Setup set_up_operator, xnn_operator_t op, const int8_t* x, float* y, const xnn_quantization_params* scales) {
  if constexpr (std::is_invocable_v<Setup, xnn_operator_t, const int8_t*, float*, void*,
                    const xnn_quantization_params*>)
    return set_up_operator(op, x, y, nullptr, scales) == xnn_status_success;
  else return set_up_operator(op, x, y, scales) == xnn_status_success;
}

// Returns null if XNNPACK refuses or memory is short.
xnn_operator_t create_operator(const Layer& layer, void* provider, Creation* creation) {
  const CreationScope scope(creation);
  xnn_operator_t op = nullptr;
  const xnn_weights_cache_t cache = static_cast<xnn_weights_cache_t>(provider);
  const xnn_status status =
      layer.float_weights != nullptr
          ? create(xnn_create_fully_connected_nc_f32, layer, layer.float_weights, cache, &op)
          : create(xnn_create_fully_connected_nc_qd8_f32_qc8w, layer, layer.int8_weights, cache, &op, layer.scale);
  return status == xnn_status_success ? op : nullptr;
}

// Reshapes the operator only if the rows or threads differ from the last call's.
template <typename Reshape> bool reshape_for(Reshape reshape_operator, Operator& op, uint32_t rows, void* threads) {
  if (op.rows == rows && op.threads == threads) return true;
  op.rows = 0;
  if (!reshape(reshape_operator, static_cast<xnn_operator_t>(op.handle), rows, static_cast<pthreadpool_t>(threads)))
    return false;
  op.rows = rows;
  op.threads = threads;
  return true;
}

bool run(const Operator& op, void* threads) {
  return xnn_run_operator(static_cast<xnn_operator_t>(op.handle), static_cast<pthreadpool_t>(threads)) ==
         xnn_status_success;
}

constexpr size_t kSmall = 16;  // inputs and outputs of the operator that is made to measure its size
constexpr size_t kMaxOperatorBytes = 1 << 15;
}  // namespace

int initialize(goldcrest_detail* detail) {
  if (xnn_initialize(&kAllocator) != xnn_status_success) {
    return fail(
        detail, GOLDCREST_ERROR_UNSUPPORTED, "xnnpack: it does not run on this CPU, or cannot read /proc/cpuinfo");
  }
  if (operator_bytes(false) == 0) {
    return fail(detail, GOLDCREST_ERROR_STATE,
        "xnnpack: initialized before by another part of the program, with its own allocator");
  }
  return GOLDCREST_OK;
}

size_t operator_bytes(bool is_float) {
  alignas(kAlignment) uint8_t memory[kMaxOperatorBytes];
  alignas(kAlignment) uint8_t packed[kMaxOperatorBytes];
  const int8_t int8_weights[kSmall * kSmall] = {};
  const float float_weights[kSmall * kSmall] = {}, ones[kSmall] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const Layer layer = {kSmall, kSmall, kSmall, int8_weights, is_float ? float_weights : nullptr, ones, ones, false};
  size_t offset = kNotPacked, used_bytes = 0;
  const PackedWeights weights = {packed, sizeof packed, &offset};
  xnn_weights_cache_provider provider;
  make_provider(&provider, &weights);
  Region region = {memory, memory + sizeof memory};
  Creation creation = {&region, &weights, 0, &used_bytes, 0};
  const xnn_operator_t op = create_operator(layer, &provider, &creation);
  const size_t n_bytes = static_cast<size_t>(region.next - memory);
  if (op == nullptr) return 0;
  // If another part of the program set the allocator, nothing came from the region; then its own allocator frees it.
  const CreationScope scope(n_bytes > 0 ? &creation : nullptr);
  xnn_delete_operator(op);
  return n_bytes;
}

size_t packed_bytes(const Layer& layer) {
  alignas(kAlignment) uint8_t memory[kMaxOperatorBytes];
  xnn_weights_cache_provider provider;
  make_provider(&provider, nullptr);
  Region region = {memory, memory + sizeof memory};
  Creation creation = {&region, nullptr, 0, nullptr, 0};
  create_operator(layer, &provider, &creation);  // fails for lack of space, but sets wanted_bytes first
  return creation.wanted_bytes;
}

bool pack(const Layer& layer, size_t index, void* provider, const PackedWeights& weights, size_t* used_bytes) {
  alignas(kAlignment) uint8_t memory[kMaxOperatorBytes];
  Region region = {memory, memory + sizeof memory};
  Creation creation = {&region, &weights, index, used_bytes, 0};
  const xnn_operator_t op = create_operator(layer, provider, &creation);
  const CreationScope scope(&creation);
  return op != nullptr && xnn_delete_operator(op) == xnn_status_success;
}

size_t provider_bytes() { return sizeof(xnn_weights_cache_provider); }

void make_provider(void* provider, const PackedWeights* weights) {
  xnn_weights_cache_provider made = {};
  made.context = const_cast<PackedWeights*>(weights);
  made.look_up = look_up;
  made.reserve_space = reserve_space;
  made.look_up_or_insert = insert;
  made.is_finalized = is_finalized;
  made.offset_to_addr = offset_to_address;
  made.delete_cache = delete_cache;
  std::memcpy(provider, &made, sizeof made);
}

bool make_operator(
    const Layer& layer, size_t index, void* provider, const PackedWeights& weights, Region* region, Operator* made) {
  Creation creation = {region, &weights, index, nullptr, 0};
  *made = {create_operator(layer, provider, &creation), nullptr, 0};
  return made->handle != nullptr;
}

bool run_int8(Operator& op, const int8_t* x, const RowScale* scales, uint32_t rows, float* y, void* threads) {
  return reshape_for(xnn_reshape_fully_connected_nc_qd8_f32_qc8w, op, rows, threads) &&
         set_up(xnn_setup_fully_connected_nc_qd8_f32_qc8w, static_cast<xnn_operator_t>(op.handle), x, y,
             reinterpret_cast<const xnn_quantization_params*>(scales)) &&
         run(op, threads);
}

bool run_float(Operator& op, const float* x, uint32_t rows, float* y, void* threads) {
  return reshape_for(xnn_reshape_fully_connected_nc_f32, op, rows, threads) &&
         xnn_setup_fully_connected_nc_f32(static_cast<xnn_operator_t>(op.handle), x, y) == xnn_status_success &&
         run(op, threads);
}
}  // namespace goldcrest::xnnpack

void goldcrest_xnnpack_parallel_for(
    void* pthreadpool, void (*task)(void* task_context, size_t i), void* task_context, size_t n) {
  pthreadpool_parallelize_1d(static_cast<pthreadpool_t>(pthreadpool), task, task_context, n, 0);
}
