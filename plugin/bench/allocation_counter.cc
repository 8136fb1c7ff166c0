// SPDX-License-Identifier: Apache-2.0
#include "allocation_counter.h"

#include <cerrno>
#include <cstddef>

namespace nccl_sentinel::bench {

thread_local bool AllocationCounter::counting = false;
thread_local std::uint64_t AllocationCounter::calls = 0;

}  // namespace nccl_sentinel::bench

// A sanitizer's runtime has a malloc of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void count() {
  using nccl_sentinel::bench::AllocationCounter;
  if (AllocationCounter::counting) ++AllocationCounter::calls;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) {
  count();
  return __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

void free(void* memory) {
  count();
  __libc_free(memory);
}

}  // extern "C"

#endif
