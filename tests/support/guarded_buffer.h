// SPDX-License-Identifier: Apache-2.0
// Memory that ends on an unmapped page: an access past its end stops the test. intact() finds a write before its start.
// Under AddressSanitizer it is plain heap memory with poisoned surroundings. Without an operating system intact() also
// finds writes past the end, and nothing finds reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#if defined(__has_feature)  // how clang tells
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && defined(__linux__)
#define GOLDCREST_UNMAPPED_PAGE
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace goldcrest::test {
// n elements, all bytes 0xA5. If n * sizeof(T) is a multiple of 64, so is the address.
template <typename T> class GuardedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);
 public:
  explicit GuardedBuffer(size_t n) : n_(n) {
    const size_t bytes = n * sizeof(T);
#if defined(GOLDCREST_UNMAPPED_PAGE)
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t usable = (bytes + page - 1) / page * page;
    void* mapped = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<uint8_t*>(mapped);
    if (mprotect(start_ + usable, page, PROT_NONE) != 0) throw std::bad_alloc();
    mapped_ = usable + page;
    end_ = start_ + usable;
    first_ = end_ - bytes;
#else
    start_ = static_cast<uint8_t*>(::operator new (bytes + 2 * kGuardBytes, std::align_val_t{64}));
    first_ = start_ + kGuardBytes;
    end_ = first_ + bytes + kGuardBytes;
#endif
    std::memset(start_, kFill, static_cast<size_t>(end_ - start_));
  }
  ~GuardedBuffer() {
#if defined(GOLDCREST_UNMAPPED_PAGE)
    munmap(start_, mapped_);
#else
    ::operator delete (start_, std::align_val_t{64});
#endif
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  T* get() { return reinterpret_cast<T*>(first_); }
  const T* get() const { return reinterpret_cast<const T*>(first_); }
  T& operator[](size_t i) { return get()[i]; }
  const T& operator[](size_t i) const { return get()[i]; }
  T* begin() { return get(); }
  T* end() { return get() + n_; }
  size_t size() const { return n_; }
  size_t size_bytes() const { return n_ * sizeof(T); }

  // Returns whether nothing was written before the start or past the end.
  bool intact() const {
    for (const uint8_t* byte = start_; byte < first_; ++byte)
      if (*byte != kFill) return false;
    for (const uint8_t* byte = first_ + size_bytes(); byte < end_; ++byte)
      if (*byte != kFill) return false;
    return true;
  }
 private:
  static constexpr uint8_t kFill = 0xA5;
#if defined(GOLDCREST_UNMAPPED_PAGE)
  size_t mapped_ = 0;
#elif defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kGuardBytes = 0;
#else
  static constexpr size_t kGuardBytes = 64;
#endif

  size_t n_;
  uint8_t* start_ = nullptr;  // all of it up to end_ is ours; [first_, first_ + size_bytes()) is the caller's
  uint8_t* first_ = nullptr;
  uint8_t* end_ = nullptr;
};
}  // namespace goldcrest::test
