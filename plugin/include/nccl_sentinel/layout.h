// SPDX-License-Identifier: Apache-2.0
// The file that one training process maps and every reader of it must agree on.
//
// Rules of the layout, version 2:
//  * fixed size, little endian, x86-64; sizes and first offsets are asserted below, all others by a test;
//  * the file is sparse: the pages of a communicator's slot are allocated when a communicator first takes it;
//  * a reader may look at any instant, and the writer may be killed at any instant: whatever is true of an operation
//    changes with one store of one 64-bit word (see Rows and flight words below);
//  * text is NUL-terminated inside its field and untrusted: a reader validates it.
// docs/mapped-file.md says the same for people.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nccl_sentinel::layout {

inline constexpr char kMagic[8] = {'N', 'C', 'C', 'L', 'S', 'N', 'T', 'L'};
inline constexpr std::uint32_t kVersion = 2;

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kNames = 64;          // distinct names of operations, algorithms and protocols
inline constexpr std::size_t kCommunicators = 64;  // open at the same time in one process
inline constexpr std::size_t kOperations = 16;     // kinds of operation in one communicator; the last is `unknown`
inline constexpr std::size_t kCells = 64;          // (operation, size, algorithm, protocol) in one communicator
inline constexpr std::size_t kOtherCells = 16;     // the last ones hold kSizeOther
inline constexpr std::size_t kPeers = 128;         // (Send or Recv, peer, size) in one communicator
inline constexpr std::size_t kOtherPeers = 16;     // the last ones hold kPeerOther and kSizeOther
inline constexpr std::size_t kLinks = 60;          // (peer, direction) of network transport in one communicator
inline constexpr std::size_t kOtherLinks = 2;      // the last ones hold kPeerOther, one a direction
inline constexpr std::size_t kChannels = 64;       // NCCL's channels
inline constexpr std::size_t kInFlight = 1024;     // operations launched and not yet finished in one communicator
inline constexpr std::size_t kBuckets = 12;        // of the duration histogram; the last has no upper bound

// Upper bounds of the histogram, 1 us to 100 s in steps of 10^0.8; bucket i holds bound[i-1] < duration <= bound[i].
inline constexpr std::uint64_t kBucketBoundsNs[kBuckets - 1] = {
    1'000,      6'310,       39'811,        251'189,        1'584'893,      10'000'000,
    63'095'734, 398'107'171, 2'511'886'432, 15'848'931'925, 100'000'000'000};

enum class FileState : std::uint32_t { kStarting = 0, kLive = 1, kFinished = 2 };
enum class SlotState : std::uint32_t { kFree = 0, kClaimed = 1, kOpen = 2, kClosed = 3 };
enum class OperationKind : std::uint8_t { kCollective = 0, kPointToPoint = 1, kCopyEngine = 2 };
enum class Direction : std::uint32_t { kSend = 0, kReceive = 1 };
// Of a channel in an operation: kNet where the operation had network steps on it.
enum class Transport : std::size_t { kP2p = 0, kNet = 1, kCount };

// Cells whose message is empty carry kSizeEmpty; sizes past the cap fold into kSizeOther.
inline constexpr std::int16_t kSizeEmpty = -1;
inline constexpr std::int16_t kSizeOther = -2;
inline constexpr std::int32_t kPeerOther = -1;

// What became of an operation that was not measured (order of Operation::left_out).
enum class Outcome : std::uint32_t {
  kSkipped,  // sampling left it out
  // refused: its times are not trusted
  kNegative,     // a channel stopped before it started
  kZero,         // a start or a stop was zero
  kIncomplete,   // some of its times never came
  kOverwritten,  // times of two operations
  kGraph,        // a replay of a CUDA graph whose times never came; anything in a process that captured without timing
  kUntimed,      // NCCL gives no GPU timestamps for it
  // dropped: what did not fit
  kDroppedOperation,
  kDroppedCell,
  kDroppedName,
  kDroppedContention,
  kCount
};
// Those of them that can happen after the launch (order of SettledCounts).
inline constexpr Outcome kSettled[] = {Outcome::kNegative,    Outcome::kZero,  Outcome::kIncomplete,
                                       Outcome::kOverwritten, Outcome::kGraph, Outcome::kDroppedContention};
inline constexpr std::size_t kSettledOutcomes = sizeof kSettled / sizeof kSettled[0];

// What did not fit (order of Header::dropped).
enum class Dropped : std::uint32_t {
  kCommunicator,  // communicators past the cap, and each of their operations
  kNetwork,       // network operations past the pool
  // Outcomes of operations in slots that were used again since; those of the present ones are in their rows.
  kOperation,
  kCell,
  kName,
  kContention,
  kCount
};

// Intervals of a network step by direction (order of LinkCounts::steps and ::duration_ns):
// send: waiting for the own GPU, for the receiver's credit, for the wire; receive: for the wire, the flush, the own
// GPU.
inline constexpr std::size_t kStepStates = 3;

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == 8 && Word::is_always_lock_free);

// Rows. A row keeps its counts twice. `commit` says which copy is true (the parity of its count), and one store of it
// makes the other one true; a writer holds a lock of its own process while it fills the false copy. A reader that sees
// the same commit before and after has whole counts, and a writer that was killed leaves whole counts behind.
//
// A commit that ends an operation names the operation's flight word until that has been cleared, so that a reader never
// finds an operation both in a row and in flight.
//
//   bits 63..24  count of commits
//   bit  23      an operation is named
//   bits 22..13  its place in Communicator::in_flight
//   bits 12..3   the low bits of its generation
inline constexpr int kCommitShift = 24;
inline constexpr std::uint64_t kCommitNames = 1U << 23;
inline constexpr int kCommitPlaceShift = 13;
inline constexpr int kCommitGenerationShift = 3;

// Flight words. 0: nothing is in flight at this place; else
//   bits 63..30  when it was launched, CLOCK_MONOTONIC in units of 2^24 ns
//   bits 29..26  its place in Communicator::operations
//   bits 25..10  the low bits of its number among the launched operations of that row; where that is the row's count
//                `launched` or up to kInFlight past it (modulo 65,536), the writer had not counted it then
//   bits 9..0    the low bits of its generation
inline constexpr int kFlightTimeShift = 30;
inline constexpr int kFlightTimeUnit = 24;
inline constexpr int kFlightOperationShift = 26;
inline constexpr int kFlightNumberShift = 10;
inline constexpr std::uint64_t kFlightNumberMask = 65535;
inline constexpr std::uint64_t kFlightGenerationMask = 1023;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::atomic<std::uint32_t> state;  // FileState
  std::int32_t pid;                  // as the process itself sees it
  std::int64_t start_unix_ns;
  std::uint64_t start_monotonic_ns;  // CLOCK_MONOTONIC
  std::int32_t global_rank;          // -1: the environment did not say
  std::int32_t nccl_version;         // as ncclGetVersion counts (22809 is 2.28.9); 0 unknown
  std::uint32_t interface_version;   // the profiler interface NCCL chose, 1 to 7
  std::uint32_t events;              // what NCCL_SENTINEL_EVENTS chose: bits of NCCL's mask
  std::uint32_t sample_burst;        // operations timed in each period; equal to the period: all; 0: none
  std::uint32_t sample_period;
  std::atomic<std::uint32_t> governor_level;  // how often sampling has been lowered
  std::uint32_t budget_ppm;                   // NCCL_SENTINEL_BUDGET: callback time per wall time, in millionths
  Word dropped[static_cast<std::size_t>(Dropped::kCount)];
  char plugin_version[32];
  char hostname[64];
  char job_id[128];
  char padding[512 - 352];
};

struct Name {
  std::atomic<std::uint32_t> state;  // SlotState: kFree, kClaimed or kOpen
  char text[28];
};

struct SettledCounts {
  Word outcomes[kSettledOutcomes];
  Word reserved[8 - kSettledOutcomes];
};

// What became of the operations of one name, apart from those that were measured:
// started = left_out + launched; launched = measured + settled + in flight.
struct Operation {
  std::atomic<std::uint32_t> state;
  std::uint16_t name;  // index into names
  OperationKind kind;
  std::uint8_t reserved;
  Word launched;
  Word left_out[12];  // by Outcome; each of them never was in flight
  Word commit;
  SettledCounts settled[2];
  Word unused;
};

struct CellCounts {
  Word operations;
  Word duration_ns;
  Word log_microseconds;  // bits of a double: sum of ln(max(1, duration in microseconds))
  Word bytes;
  Word buckets[kBuckets];
};

// Measured collectives.
struct Cell {
  std::atomic<std::uint32_t> state;
  std::uint16_t operation;  // indexes into names
  std::uint16_t algorithm;
  std::uint16_t protocol;
  std::int16_t size_log2;  // floor(log2(message bytes)), or kSizeEmpty, kSizeOther
  std::uint32_t reserved;
  Word commit;
  CellCounts counts[2];
  char padding[320 - 280];
};

struct PeerCounts {
  Word operations;
  Word duration_ns;
  Word bytes;
  Word reserved;
};

// Measured Sends and Recvs.
struct Peer {
  std::atomic<std::uint32_t> state;
  std::uint16_t operation;  // index into names
  std::int16_t size_log2;
  std::int32_t peer;  // rank in the communicator, or kPeerOther
  std::uint32_t reserved;
  Word commit;
  PeerCounts counts[2];
  Word unused;
};

struct LinkCounts {
  Word steps[kStepStates];
  Word duration_ns[kStepStates];
  Word bytes;
  Word operations;  // network operations
};

// Network steps of the operations that sampling chose.
struct Link {
  std::atomic<std::uint32_t> state;
  std::int32_t peer;
  Direction direction;
  std::uint32_t reserved;
  Word commit;
  LinkCounts counts[2];
  Word unused;
};

// Kernel time on one channel, by transport. Words of their own: no commit.
struct Channel {
  Word operations[static_cast<std::size_t>(Transport::kCount)];
  Word duration_ns[static_cast<std::size_t>(Transport::kCount)];
};

struct alignas(kPageBytes) Communicator {
  std::atomic<std::uint32_t> state;       // SlotState
  std::atomic<std::uint32_t> generation;  // one more at each reuse of the slot
  std::uint64_t id;
  std::int32_t rank;
  std::int32_t nranks;  // 0 where the interface does not say (1 to 3)
  std::int32_t nnodes;  // likewise
  std::int32_t gpu;     // physical index where CUDA_VISIBLE_DEVICES tells, else the device ordinal; -1 unknown
  std::int64_t opened_unix_ns;
  Word closed_monotonic_ns;
  Word callbacks;        // callbacks that named this communicator, without those of skipped operations: one for each
  Word callbacks_timed;  // of all of them this many were timed
  Word callback_ns;      // and took this long together
  char gpu_uuid[48];     // GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, empty when unknown
  char name[128];
  char padding[512 - 248];
  Operation operations[kOperations];
  Cell cells[kCells];
  Peer peers[kPeers];
  Link links[kLinks];
  Channel channels[kChannels];
  Word in_flight[kInFlight];
  char end[128];
};

struct File {
  Header header;
  Name names[kNames];
  char padding[kPageBytes - 512 - 32 * kNames];
  Communicator communicators[kCommunicators];
};

static_assert(static_cast<std::size_t>(Outcome::kCount) <= 12);
static_assert(sizeof(Header) == 512);
static_assert(sizeof(Name) == 32);
static_assert(sizeof(Operation) == 256);
static_assert(sizeof(Cell) == 320);
static_assert(sizeof(Peer) == 96);
static_assert(sizeof(Link) == 160);
static_assert(sizeof(Channel) == 32);
static_assert(sizeof(Communicator) == 14 * kPageBytes);
static_assert(sizeof(File) == kPageBytes + sizeof(Communicator) * kCommunicators);
static_assert(offsetof(Header, dropped) == 80 && offsetof(Header, plugin_version) == 128);
static_assert(offsetof(Header, job_id) == 224);
static_assert(offsetof(Operation, launched) == 8 && offsetof(Operation, left_out) == 16);
static_assert(offsetof(Operation, commit) == 112 && offsetof(Operation, settled) == 120);
static_assert(offsetof(Cell, operation) == 4 && offsetof(Cell, commit) == 16 && offsetof(Cell, counts) == 24);
static_assert(offsetof(Peer, peer) == 8 && offsetof(Peer, commit) == 16 && offsetof(Peer, counts) == 24);
static_assert(offsetof(Link, direction) == 8 && offsetof(Link, commit) == 16 && offsetof(Link, counts) == 24);
static_assert(offsetof(Communicator, id) == 8 && offsetof(Communicator, callbacks) == 48);
static_assert(offsetof(Communicator, gpu_uuid) == 72 && offsetof(Communicator, name) == 120);
static_assert(offsetof(Communicator, operations) == 512 && offsetof(Communicator, cells) == 4608);
static_assert(offsetof(Communicator, peers) == 25088 && offsetof(Communicator, links) == 37376);
static_assert(offsetof(Communicator, channels) == 46976 && offsetof(Communicator, in_flight) == 49024);
static_assert(offsetof(File, names) == 512 && offsetof(File, communicators) == kPageBytes);

}  // namespace nccl_sentinel::layout
