// SPDX-License-Identifier: Apache-2.0
// The parts of a C++ library that the C++ headers need, only for tests: memory from newlib's heap and std::string's
// members. Functions that would throw an exception end the program.
#include <malloc.h>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include "board_api.h"

namespace {
[[noreturn]] void stop(const char* reason) {
  std::printf("%s\n", reason);
  board_exit(1);
}

void* allocate(size_t alignment, size_t n) {
  void* block = memalign(alignment, n);
  if (block == nullptr) stop("the heap is full");
  return block;
}
}  // namespace

void* operator new(size_t n) { return allocate(8, n); }
void* operator new(size_t n, std::align_val_t alignment) { return allocate(static_cast<size_t>(alignment), n); }
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }
void operator delete(void* block, std::align_val_t) noexcept { free(block); }

template class std::basic_string<char>;

namespace std {
void __throw_bad_alloc() { stop("bad_alloc"); }
void __throw_bad_array_new_length() { stop("bad_array_new_length"); }
void __throw_length_error(const char* what) { stop(what); }
void __throw_logic_error(const char* what) { stop(what); }
void __throw_out_of_range_fmt(const char* what, ...) { stop(what); }
}  // namespace std
