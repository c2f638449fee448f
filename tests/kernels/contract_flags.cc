// SPDX-License-Identifier: Apache-2.0
// Computes the golden hash of a model for contract_flags.sh, with every kernel table of the build. With an operating
// system it is a plain program. Without one (FREESTANDING) it needs no C library and no board: an emulator of user
// programs runs it, or JavaScript (wasm32), which places the model and the words itself. Its status is 0 if all hashes
// are EXPECTED_HASH, else the negative status of the engine, or 1.
#include "base/exact_floats.h"
#include <stdint.h>
#include <string.h>
#include "base/hash.h"
#include "goldcrest/goldcrest.h"

namespace {
constexpr uint32_t kWords = 50;
alignas(GOLDCREST_ALIGN) uint8_t arena[1u << 20];

#ifdef __wasm__
alignas(GOLDCREST_ALIGN) uint8_t model[MODEL_BYTES], words[WORDS_BYTES];
#else
extern "C" const uint8_t model[], words[];
asm(".section .rodata\n.balign 64\n.global model\nmodel:\n.incbin \"" MODEL
    "\"\n.global words\nwords:\n.incbin \"" WORDS "\"\n.text\n");
#endif

// Returns a status; 1 if the hash is another one.
int check(const char* kernels) {
  goldcrest_config config = {.model = model,
      .model_bytes = MODEL_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = {.max_source_bytes = 64, .beam_size = 1},
      .kernels = kernels};
  goldcrest_engine* engine = nullptr;
  int status = goldcrest_init(&engine, &config);
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_HASH_LOGITS};
  if (status >= 0) status = goldcrest_set_search(engine, &search);
  uint64_t hash = goldcrest::kHashStart;
  const char *line = reinterpret_cast<const char*>(words), *const end = line + WORDS_BYTES, *previous = line;
  size_t previous_bytes = 0;
  for (uint32_t n = 0; status >= 0 && n < kWords && line < end;) {
    const size_t bytes = static_cast<size_t>(static_cast<const char*>(memchr(line, '\t', 64)) - line);
    // A word with several pronunciations counts once.
    if (bytes != previous_bytes || memcmp(line, previous, bytes) != 0) {
      status = goldcrest_begin_text(engine, line, bytes);
      if (status >= 0) status = goldcrest_run(engine);
      goldcrest_result result = {};
      if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
      hash = goldcrest::hash_halves(hash, result.logits_hash);
      previous = line;
      previous_bytes = bytes;
      ++n;
    }
    while (line < end && *line++ != '\n') {
    }
  }
  return status < 0 ? status : hash == EXPECTED_HASH ? 0 : 1;
}

int check_all() {
  int status = 0;
  for (uint32_t i = 0; status == 0 && goldcrest_kernels_at(i) != nullptr; ++i) status = check(goldcrest_kernels_at(i));
  return status;
}
}  // namespace

#ifdef FREESTANDING
extern "C" {

void* memcpy(void* to, const void* from, size_t n) {
  for (size_t i = 0; i < n; ++i) static_cast<volatile uint8_t*>(to)[i] = static_cast<const uint8_t*>(from)[i];
  return to;
}
void* memmove(void* to, const void* from, size_t n) {
  if (to < from) return memcpy(to, from, n);
  for (size_t i = n; i > 0; --i) static_cast<volatile uint8_t*>(to)[i - 1] = static_cast<const uint8_t*>(from)[i - 1];
  return to;
}
void* memset(void* to, int value, size_t n) {
  for (size_t i = 0; i < n; ++i) static_cast<volatile uint8_t*>(to)[i] = static_cast<uint8_t>(value);
  return to;
}
int memcmp(const void* a, const void* b, size_t n) {
  const auto *left = static_cast<const uint8_t*>(a), *right = static_cast<const uint8_t*>(b);
  for (size_t i = 0; i < n; ++i)
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  return 0;
}
void* memchr(const void* from, int value, size_t n) {
  const auto* at = static_cast<const uint8_t*>(from);
  for (; n > 0; --n, ++at)
    if (*at == value) return const_cast<uint8_t*>(at);
  return nullptr;
}

#if defined(__wasm__)
// The compiler's function for products of 128 bits, which it needs to find overflows of 64.
__int128 __multi3(__int128 a, __int128 b) {
  const auto a_low = static_cast<uint64_t>(a), b_low = static_cast<uint64_t>(b);
  const uint64_t a0 = a_low & 0xFFFFFFFFu, a1 = a_low >> 32, b0 = b_low & 0xFFFFFFFFu, b1 = b_low >> 32;
  const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), carry = a0 * b1 + (middle & 0xFFFFFFFFu);
  const uint64_t high = a1 * b1 + (middle >> 32) + (carry >> 32) + static_cast<uint64_t>(a >> 64) * b_low +
                        a_low * static_cast<uint64_t>(b >> 64);
  return static_cast<__int128>(static_cast<unsigned __int128>(high) << 64 | carry << 32 | (low & 0xFFFFFFFFu));
}
__attribute__((export_name("model"))) uint8_t* model_place() { return model; }
__attribute__((export_name("words"))) uint8_t* words_place() { return words; }
__attribute__((export_name("check"))) int check_here() { return check_all(); }
#else
// Linux's call exit, which the emulator serves.
void leave(long status) {
#if defined(__arm__)
  asm volatile("mov r0, %0\n\tmov r7, #1\n\tsvc 0"
               :
               : "r"(status));  // Clang keeps r7 for itself, and there is no way back
#elif defined(__riscv)
  register long value asm("a0") = status, number asm("a7") = 93;
  asm volatile("ecall" : : "r"(value), "r"(number));
#endif
}
void _start() {
  leave(check_all() & 255);
  __builtin_trap();
}
#endif

}  // extern "C"
#else
int main() { return check_all() & 255; }
#endif
