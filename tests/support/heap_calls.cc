// SPDX-License-Identifier: Apache-2.0
#include "support/heap_calls.h"

#include <cstdlib>

namespace goldcrest::test {

std::atomic<long> heap_calls{0};

}  // namespace goldcrest::test

using goldcrest::test::heap_calls;

#if defined(__SANITIZE_ADDRESS__)

extern "C" {
void __sanitizer_malloc_hook(const volatile void*, size_t) { ++heap_calls; }
void __sanitizer_free_hook(const volatile void*) { ++heap_calls; }
}

#else

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t n) {
  ++heap_calls;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  ++heap_calls;
  return __libc_calloc(n, size);
}
void* realloc(void* block, size_t n) {
  ++heap_calls;
  return __libc_realloc(block, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  ++heap_calls;
  return __libc_memalign(alignment, n);
}
void free(void* block) {
  ++heap_calls;
  __libc_free(block);
}
}

#endif
