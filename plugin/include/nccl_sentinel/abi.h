// SPDX-License-Identifier: Apache-2.0
// What every version of NCCL's profiler interface shares: the logger, the event types, the states, the shape of the
// table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nccl_sentinel::abi {

// NCCL's own logger, handed to `init`: level, subsystem, file, line, printf format and its arguments.
using Logger = void (*)(int level, unsigned long subsystem, const char* file, int line, const char* format, ...);

inline constexpr int kLogWarn = 2;
inline constexpr int kLogInfo = 3;
inline constexpr unsigned long kSubsystemProfile = 0x4000;

// Bits of the activation mask, and values of Descriptor::type.
inline constexpr std::uint64_t kColl = 1U << 1;
inline constexpr std::uint64_t kKernelCh = 1U << 6;

// The only state this plugin reads: the GPU's timer at the end of one channel of a kernel.
inline constexpr int kKernelChStop = 22;

// Arguments of recordEventState (v4 and later): a union of 8 bytes, of which the kernel channel's timer is a member.
union StateArguments {
  std::uint64_t pTimer;
};
static_assert(sizeof(StateArguments) == 8 && offsetof(StateArguments, pTimer) == 0);

}  // namespace nccl_sentinel::abi

// One field of a descriptor, exactly where NCCL puts it: member, offset in bytes, size in bytes.
#define NCCL_SENTINEL_ABI_FIELD(member, offset, size)      \
  static_assert(offsetof(Descriptor, member) == (offset)); \
  static_assert(sizeof(static_cast<Descriptor*>(nullptr)->member) == (size))
// Sizes of a version's descriptor, state arguments and table, in bytes.
#define NCCL_SENTINEL_ABI_SIZES(descriptor, arguments, table) \
  static_assert(sizeof(Descriptor) == (descriptor));          \
  static_assert(sizeof(StateArguments) == (arguments));       \
  static_assert(sizeof(Table) == (table))
