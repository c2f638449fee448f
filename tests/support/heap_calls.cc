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
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's own names
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(size_t size) {
  ++heap_calls;
  return __libc_malloc(size);
}
void* calloc(size_t nmemb, size_t size) {
  ++heap_calls;
  return __libc_calloc(nmemb, size);
}
void* realloc(void* ptr, size_t size) {
  ++heap_calls;
  return __libc_realloc(ptr, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++heap_calls;
  return __libc_memalign(alignment, size);
}
void free(void* ptr) {
  ++heap_calls;
  __libc_free(ptr);
}
}

#endif
