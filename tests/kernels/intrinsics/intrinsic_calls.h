// SPDX-License-Identifier: Apache-2.0
// A list of calls of the intrinsics that the x86 kernels use. Its sources are compiled twice, with the compiler's
// immintrin.h and with the emulation, so that intrinsics_test can compare them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace goldcrest::test {
// The feature of the CPU that an instruction needs.
enum class Needs { kAvx2, kAvxVnni, kPclmul, kAvx512, kAvx512Vnni, kVpclmulqdq };

// kNumbers: two NaN results are equal, whatever their payload.
enum class Compare { kBits, kNumbers };

constexpr size_t kArgumentBytes = 64, kMaxArguments = 3;

struct IntrinsicCall {
  Needs needs;
  Compare compare;
  const char* name;
  // arguments: [kMaxArguments, kArgumentBytes], aligned to 64; result: [kArgumentBytes], of which it may write a part
  void (*run)(const uint8_t* arguments, uint8_t* result);
};

// A null name ends each list.
namespace native {
extern const IntrinsicCall kAvx2Calls[], kAvx512Calls[];
}
namespace emulated {
extern const IntrinsicCall kAvx2Calls[], kAvx512Calls[];
}

namespace {  // each instruction set has its own copy

// An argument or a result of calls that load or store.
struct alignas(kArgumentBytes) Memory {
  uint8_t bytes[kArgumentBytes];
};

template <typename Call> struct Runner;

template <typename Function, typename Result, typename... Arguments>
struct Runner<Result (Function::*)(Arguments...) const> {
  static_assert(sizeof...(Arguments) <= kMaxArguments);

  template <typename Argument> static Argument argument(const uint8_t* bytes) {
    Argument value;
    memcpy(&value, bytes, sizeof value);
    return value;
  }

  template <size_t... kIndex> static Result apply(const uint8_t* arguments, std::index_sequence<kIndex...>) {
    return Function()(argument<Arguments>(arguments + kArgumentBytes * kIndex)...);
  }

  static void run(const uint8_t* arguments, uint8_t* result) {
    const Result value = apply(arguments, std::index_sequence_for<Arguments...>());
    memcpy(result, &value, sizeof value);
  }
};

template <typename Function> constexpr auto call(Function) { return &Runner<decltype(&Function::operator())>::run; }
}  // namespace

// Rows of a list: an intrinsic with its parameters and what it is given; one that stores `a` at an offset.
#define GOLDCREST_CALL(needs, compare, name, parameters, arguments)                       \
  {                                                                                       \
    Needs::needs, Compare::compare, #name, call([] parameters { return name arguments; }) \
  }
#define GOLDCREST_STORE(needs, name, type, pointer, offset)   \
  {                                                           \
    Needs::needs, Compare::kBits, #name, call([](type a) {    \
      Memory m = {};                                          \
      name(reinterpret_cast<pointer>(m.bytes + (offset)), a); \
      return m;                                               \
    })                                                        \
  }
}  // namespace goldcrest::test
