// SPDX-License-Identifier: Apache-2.0
// A plugin of all versions of the interface with the same three callbacks: what they are given is never looked into.
#pragma once

#include <cstdint>

namespace nccl_sentinel::bench {

// Every event that a trace may hold.
inline constexpr int kEverything = 0xFFF;

inline int open(void** context, int* mask) {
  *context = mask;
  __atomic_store_n(mask, kEverything, __ATOMIC_RELAXED);
  return 0;
}

inline int init_v1(void** context, int* mask) { return open(context, mask); }
inline int init_v4(void** context, int* mask, const char*, std::uint64_t, int, int, int, void*) {
  return open(context, mask);
}
inline int init_v5(void** context, std::uint64_t, int* mask, const char*, int, int, int, void*) {
  return open(context, mask);
}
inline int finalize(void*) { return 0; }

template <class Init>
struct StandInTable {
  const char* name;
  Init* init;
  int (*start)(void* context, void** handle, void* descriptor);
  int (*stop)(void* handle);
  int (*state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace nccl_sentinel::bench

#define NCCL_SENTINEL_STAND_IN_TABLE(version, init, name, start, stop, state)                                    \
  extern "C" {                                                                                                   \
  extern const nccl_sentinel::bench::StandInTable<decltype(nccl_sentinel::bench::init)> ncclProfiler_v##version; \
  }                                                                                                              \
  const nccl_sentinel::bench::StandInTable<decltype(nccl_sentinel::bench::init)> ncclProfiler_v##version = {     \
      name, nccl_sentinel::bench::init, start, stop, state, nccl_sentinel::bench::finalize}

#define NCCL_SENTINEL_STAND_IN(name, start, stop, state)              \
  NCCL_SENTINEL_STAND_IN_TABLE(1, init_v1, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(2, init_v1, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(3, init_v1, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(4, init_v4, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(5, init_v5, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(6, init_v5, name, start, stop, state); \
  NCCL_SENTINEL_STAND_IN_TABLE(7, init_v5, name, start, stop, state)
