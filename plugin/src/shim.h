// SPDX-License-Identifier: Apache-2.0
// What the shims of all interface versions do alike. Each one turns NCCL's descriptors into this plugin's own events.
#pragma once

#include "nccl_sentinel/abi.h"
#include "profiler.h"

namespace nccl_sentinel::shim {

template <int version>
int init_v1(void** context, int* mask) noexcept {
  void* opened = profiler().open_communicator({{}, nullptr, version}, mask);
  if (context != nullptr) *context = opened;
  return 0;
}

template <int version>
int init_v5(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
            abi::Logger logger) noexcept {
  void* opened = profiler().open_communicator({{id, name, nodes, ranks, rank}, logger, version}, mask);
  if (context != nullptr) *context = opened;
  return 0;
}

template <int version>
int init_v4(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
            abi::Logger logger) noexcept {
  return init_v5<version>(context, id, mask, name, nodes, ranks, rank, logger);
}

// `start` gives the handle for an event.
template <class Abi, void* (*start)(void* context, const typename Abi::Descriptor& descriptor) noexcept>
int start_event(void* context, void** handle, typename Abi::Descriptor* descriptor) noexcept {
  if (handle == nullptr) return 0;
  *handle = descriptor != nullptr ? start(context, *descriptor) : nullptr;
  return 0;
}

inline int stop_event(void* handle) noexcept {
  profiler().stop(handle);
  return 0;
}

template <class Abi>
int record_event_state(void* handle, int state, typename Abi::StateArguments* arguments) noexcept {
  const std::uint64_t* value = nullptr;
  // Before version 4 no handle's state carries a time.
  if constexpr (Abi::kVersion >= 4) value = arguments != nullptr ? &arguments->pTimer : nullptr;
  profiler().record_state(handle, state, value);
  return 0;
}

inline int finalize(void* context) noexcept {
  profiler().close_communicator(context);
  return 0;
}

template <class Abi, void* (*start)(void* context, const typename Abi::Descriptor& descriptor) noexcept, class Init>
constexpr typename Abi::Table table(Init init) noexcept {
  return {"Sentinel", init, start_event<Abi, start>, stop_event, record_event_state<Abi>, finalize};
}

}  // namespace nccl_sentinel::shim
