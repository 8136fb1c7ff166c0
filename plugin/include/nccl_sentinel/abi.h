// SPDX-License-Identifier: Apache-2.0
// What several versions of NCCL's profiler interface share: the logger, the event types, the states, and the parts of a
// descriptor that never changed. Member names are those of the interface. Every version asserts its own whole layout.
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
inline constexpr std::uint64_t kGroup = 1U << 0;
inline constexpr std::uint64_t kColl = 1U << 1;
inline constexpr std::uint64_t kP2p = 1U << 2;
inline constexpr std::uint64_t kProxyOp = 1U << 3;
inline constexpr std::uint64_t kProxyStep = 1U << 4;
inline constexpr std::uint64_t kProxyCtrl = 1U << 5;
inline constexpr std::uint64_t kKernelCh = 1U << 6;
inline constexpr std::uint64_t kNetPlugin = 1U << 7;
inline constexpr std::uint64_t kGroupApi = 1U << 8;
inline constexpr std::uint64_t kCollApi = 1U << 9;
inline constexpr std::uint64_t kP2pApi = 1U << 10;
inline constexpr std::uint64_t kKernelLaunch = 1U << 11;
inline constexpr std::uint64_t kCeColl = 1U << 12;
inline constexpr std::uint64_t kCeSync = 1U << 13;
inline constexpr std::uint64_t kCeBatch = 1U << 14;
inline constexpr std::uint64_t kKernelPhase = 1U << 15;

// States of recordEventState that tell this plugin something.
inline constexpr int kProxyStepSendGpuWait = 8;
inline constexpr int kProxyStepSendWait = 9;
inline constexpr int kProxyStepRecvWait = 10;
inline constexpr int kProxyStepRecvFlushWait = 11;
inline constexpr int kProxyStepRecvGpuWait = 12;
inline constexpr int kProxyOpInProgress = 19;
inline constexpr int kProxyStepSendPeerWait = 20;
inline constexpr int kKernelChStop = 22;

// Versions 5 to 7.
struct GroupApi {
  bool graphCaptured;
  int groupDepth;
};

struct KernelLaunch {
  void* stream;
};

// All versions.
struct ProxyOp {
  std::int32_t pid;
  std::uint8_t channelId;
  int peer;
  int nSteps;
  int chunkSize;
  int isSend;
};

struct ProxyStep {
  int step;
};

// Versions 4 to 7.
struct KernelCh {
  std::uint8_t channelId;
  std::uint64_t pTimer;
};

// Versions 3 to 7.
struct NetPlugin {
  std::int64_t id;
  void* data;
};

// Versions 6 and 7.
struct CeCollSync {
  bool isComplete;
  int nRanks;
};

struct CeCollBatch {
  int numOps;
  std::size_t totalBytes;
  bool useIntraSync;
};

// Arguments of recordEventState, versions 4 to 7: a union of 8 bytes whose members all begin at its first.
union StateArguments {
  std::uint64_t pTimer;     // KernelCh
  std::uint64_t transSize;  // ProxyStep
  int appendedProxyOps;     // ProxyCtrl
};
static_assert(offsetof(StateArguments, pTimer) == 0 && offsetof(StateArguments, transSize) == 0);

// Versions 1 to 3.
union EarlyStateArguments {
  struct {
    std::uint64_t transSize;
    int steps;
  } proxyOp;
  int appendedProxyOps;  // ProxyCtrl
};

// What the plugin exports. Init is the only function whose arguments differ between the versions.
template <class Init, class Descriptor, class Arguments>
struct PluginTable {
  const char* name;
  Init init;
  int (*startEvent)(void* context, void** handle, Descriptor* descriptor);
  int (*stopEvent)(void* handle);
  int (*recordEventState)(void* handle, int state, Arguments* arguments);
  int (*finalize)(void* context);
};

using InitV1 = int (*)(void** context, int* mask);
using InitV4 = int (*)(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                       Logger logger);
using InitV5 = int (*)(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                       Logger logger);

// One version of the interface, for what is written once for several.
template <int version, class D, class A, class T>
struct Interface {
  static constexpr int kVersion = version;
  using Descriptor = D;
  using StateArguments = A;
  using Table = T;
};

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
// The table that a plugin exports for a version.
#define NCCL_SENTINEL_ABI_EXPORT(version) \
  extern "C" __attribute__((visibility("default"))) const nccl_sentinel::abi::version::Table ncclProfiler_##version
