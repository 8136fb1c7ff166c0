// SPDX-License-Identifier: Apache-2.0
// The player script: one rank's events, cut into segments, as `sentinel/trace/script.py` writes it and the player maps
// it.
//
// Layout, version 1, little endian:
//  * a Header, then the sections in the order of `Header::sections`, each at a multiple of 8 bytes;
//  * text: NUL-terminated strings one after the other; strings: where each begins (string 0 is empty and means absent);
//  * segments: number 0 is the capture of CUDA graphs, played once before the run (it may be empty); the others have
//  names;
//  * spans[segment * threads + thread] are that thread's events, in order of time;
//  * totals[segment * counters + counter] says how one iteration of the segment moves that sequence number.
// docs/trace-player.md says the same for people.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nccl_sentinel::script {

inline constexpr char kMagic[8] = {'N', 'C', 'C', 'L', 'P', 'L', 'A', 'Y'};
inline constexpr std::uint32_t kVersion = 1;

inline constexpr std::uint32_t kNone = 0xFFFF'FFFF;  // no slot, no string
inline constexpr std::uint32_t kPermanent =
    0x8000'0000;  // bit of a slot that belongs to the capture, not to the iteration

struct Section {
  std::uint64_t offset;  // in bytes from the start of the file
  std::uint64_t count;   // of elements
};

enum class SectionName : std::size_t {
  kText,
  kStrings,
  kCommunicators,
  kThreads,
  kSegments,
  kSpans,
  kCounters,
  kTotals,
  kEvents,
  kCount
};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::int32_t rank;  // global
  std::uint64_t file_bytes;
  Section sections[static_cast<std::size_t>(SectionName::kCount)];
};

struct Communicator {
  std::uint64_t id;
  std::int32_t rank;
  std::int32_t nranks;
  std::int32_t nnodes;
  std::uint32_t name;  // string, or kNone
  std::uint32_t init_thread;
  std::uint32_t finalize_thread;
  std::uint32_t closing;  // place in the order of closing
  std::uint32_t index;    // as the recorded process numbered it; what events carry
};

struct Segment {
  std::int64_t start_ns;  // CLOCK_MONOTONIC of the recording, the same for all ranks
  std::int64_t length_ns;
  std::uint32_t name;
  std::uint32_t slots;  // handles in one iteration
};

struct Span {
  std::uint64_t first;
  std::uint64_t count;
};

// NCCL numbers the operations of each (communicator, func).
struct Counter {
  std::uint32_t communicator;
  std::uint32_t func;
};

struct Total {
  std::uint64_t first;  // sequence number of the first, as recorded
  std::uint64_t count;
};

enum class Kind : std::uint8_t { kStart, kStop, kState };

// Event types, by the position of their bit in the mask.
enum class Type : std::uint8_t {
  kGroup = 0,
  kColl = 1,
  kP2p = 2,
  kProxyOp = 3,
  kProxyStep = 4,
  kProxyCtrl = 5,
  kKernelCh = 6,
  kNetPlugin = 7,  // never recorded
  kGroupApi = 8,
  kCollApi = 9,
  kP2pApi = 10,
  kKernelLaunch = 11
};

inline constexpr std::uint8_t kGraphCaptured = 1;
inline constexpr std::uint8_t kSend = 2;
inline constexpr std::uint8_t kOwnProcess = 4;

struct Event {
  std::int64_t time_ns;     // since the start of the segment
  std::uint64_t value;      // count | chunk | pTimer | bytes | appended operations
  std::uint32_t slot;       // place of the handle
  std::uint32_t parent;     // slot, or kNone
  std::uint32_t group;      // slot of the Group around a Coll or P2p, or kNone
  std::uint32_t operation;  // slot of the Coll or P2p that this is, or belongs to, or kNone
  std::int32_t rank;
  std::int32_t number;  // root | peer | step | group depth | state
  std::int32_t extra;   // network steps | counter that numbers a Coll
  std::uint32_t order;  // how many of the same counter come before it in the iteration
  std::uint16_t func;
  std::uint16_t dtype;
  std::uint16_t algo;
  std::uint16_t proto;
  std::uint16_t need;  // mask bits without which it is not emitted; 0: any bit will do
  Kind kind;
  Type type;
  std::uint8_t communicator;
  std::uint8_t channels;  // number of channels | channel
  std::uint8_t warps;
  std::uint8_t flags;
};

static_assert(sizeof(Header) == 24 + 16 * static_cast<std::size_t>(SectionName::kCount));
static_assert(sizeof(Communicator) == 40);
static_assert(sizeof(Segment) == 24);
static_assert(sizeof(Span) == 16 && sizeof(Counter) == 8 && sizeof(Total) == 16);
static_assert(sizeof(Event) == 64);
static_assert(offsetof(Event, slot) == 16 && offsetof(Event, rank) == 32 && offsetof(Event, func) == 48);
static_assert(offsetof(Event, need) == 56 && offsetof(Event, kind) == 58 && offsetof(Event, flags) == 63);

}  // namespace nccl_sentinel::script
