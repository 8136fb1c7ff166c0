// SPDX-License-Identifier: Apache-2.0
// Versions 1 to 3: no GPU timestamps, and operations that say themselves which communicator they are of.
#pragma once

#include <iterator>

#include "nccl_sentinel/abi_v1.h"
#include "shim.h"

namespace nccl_sentinel::shim {

inline const char* function_name(const char* function) noexcept { return function; }
inline const char* function_name(std::uint8_t number) noexcept {
  return number < std::size(abi::v1::kFunctions) ? abi::v1::kFunctions[number] : nullptr;
}

template <class Operation>
void* count_untimed(void* context, const Operation& operation, layout::OperationKind kind, int rank) noexcept {
  const Identity identity{operation.commHash, operation.name, 0, 0, rank};
  profiler().count_untimed(context, function_name(operation.func), kind, &identity);
  return nullptr;
}

template <class Abi>
void* start_untimed(void* context, const typename Abi::Descriptor& descriptor) noexcept {
  switch (descriptor.type) {
    case abi::kColl:
      return count_untimed(context, descriptor.coll, layout::OperationKind::kCollective, descriptor.rank);
    case abi::kP2p:
      return count_untimed(context, descriptor.p2p, layout::OperationKind::kPointToPoint, descriptor.rank);
    default:
      profiler().ignore_event(context);
      return nullptr;
  }
}

}  // namespace nccl_sentinel::shim
