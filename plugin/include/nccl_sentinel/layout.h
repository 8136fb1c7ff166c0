// SPDX-License-Identifier: Apache-2.0
// The file that one training process maps and every reader of it must agree on.
//
// Rules of the layout, version 1:
//  * fixed size, little endian, x86-64; every offset is asserted at the end of this header;
//  * a reader may look at any instant: 64-bit words are written whole, and the groups of words that belong together
//    (OperationCounters, Cell) carry a sequence that is odd while they are being changed;
//  * text is NUL-terminated inside its field and untrusted: a reader validates it.
// docs/mapped-file.md says the same for people.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nccl_sentinel::layout {

inline constexpr char kMagic[8] = {'N', 'C', 'C', 'L', 'S', 'N', 'T', 'L'};
inline constexpr std::uint32_t kVersion = 1;

inline constexpr std::size_t kNames = 64;          // distinct names of operations, algorithms and protocols
inline constexpr std::size_t kCommunicators = 64;  // open at the same time in one process
inline constexpr std::size_t kOperations = 16;     // kinds of operation in one communicator
inline constexpr std::size_t kCells = 64;          // (operation, size, algorithm, protocol) in one communicator
inline constexpr std::size_t kInFlight = 1024;     // operations launched and not yet finished in one communicator
inline constexpr std::size_t kBuckets = 12;        // of the duration histogram; the last has no upper bound

// Upper bounds of the histogram, 1 us to 100 s in steps of 10^0.8; bucket i holds bound[i-1] < duration <= bound[i].
inline constexpr std::uint64_t kBucketBoundsNs[kBuckets - 1] = {
    1'000,      6'310,       39'811,        251'189,        1'584'893,      10'000'000,
    63'095'734, 398'107'171, 2'511'886'432, 15'848'931'925, 100'000'000'000};

enum class FileState : std::uint32_t { kStarting = 0, kLive = 1, kFinished = 2 };
enum class SlotState : std::uint32_t { kFree = 0, kClaimed = 1, kOpen = 2, kClosed = 3 };
// Cells whose message is empty carry kSizeEmpty; sizes past the cap fold into kSizeOther.
inline constexpr std::int16_t kSizeEmpty = -1;
inline constexpr std::int16_t kSizeOther = -2;

// Why a sample was not trusted (order of Communicator::refused).
enum class Refused : std::uint32_t { kNegative, kZero, kIncomplete, kOverwritten, kGraph, kCount };
// What did not fit (order of Header::dropped).
enum class Dropped : std::uint32_t { kCommunicator, kOperation, kCell, kName, kContention, kCount };

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == 8 && Word::is_always_lock_free);

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::atomic<std::uint32_t> state;  // FileState
  std::int32_t pid;                  // as the process itself sees it
  std::int64_t start_unix_ns;
  std::uint64_t start_monotonic_ns;  // CLOCK_MONOTONIC, the clock of Communicator::in_flight
  std::int32_t global_rank;          // -1: the environment did not say
  std::int32_t gpu;           // physical index where CUDA_VISIBLE_DEVICES tells, else the device ordinal; -1 unknown
  std::int32_t nccl_version;  // as ncclGetVersion counts (22809 is 2.28.9); 0 unknown
  std::uint32_t interface_version;  // the profiler interface NCCL chose, 4 or 5
  Word dropped[static_cast<std::size_t>(Dropped::kCount)];
  char plugin_version[32];
  char hostname[64];
  char job_id[128];
  char gpu_uuid[48];  // GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, empty when unknown
  char padding[512 - 376];
};

struct Name {
  std::atomic<std::uint32_t> state;  // SlotState: kFree, kClaimed or kOpen
  char text[28];
};

// Guarded by `sequence`, except `started`, which is a word of its own.
struct OperationCounters {
  std::atomic<std::uint32_t> state;
  std::uint32_t name;  // index into names
  std::atomic<std::uint32_t> sequence;
  std::uint32_t reserved;
  Word started;
  Word operations;
  Word duration_ns;
  Word bytes;
  Word buckets[kBuckets];
  char padding[192 - 144];
};

struct Cell {
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> sequence;
  std::uint16_t operation;  // index into names
  std::uint16_t algorithm;
  std::uint16_t protocol;
  std::int16_t size_log2;  // floor(log2(message bytes)), or kSizeEmpty, kSizeOther
  Word operations;
  Word duration_ns;
  Word log_microseconds;  // bits of a double: sum of ln(max(1, duration in microseconds))
  char padding[64 - 40];
};

struct Communicator {
  std::atomic<std::uint32_t> state;       // SlotState
  std::atomic<std::uint32_t> generation;  // one more at each reuse of the slot
  std::uint64_t id;
  std::int32_t rank;
  std::int32_t nranks;
  std::int32_t nnodes;
  std::uint32_t reserved;
  std::int64_t opened_unix_ns;
  Word closed_monotonic_ns;
  Word refused[static_cast<std::size_t>(Refused::kCount)];
  Word skipped;          // left out by sampling
  Word callbacks;        // every callback that named this communicator
  Word callbacks_timed;  // of which this many were timed
  Word callback_ns;      // and took this long together
  char name[128];
  char padding[512 - 248];
  OperationCounters operations[kOperations];
  Cell cells[kCells];
  Word in_flight[kInFlight];  // CLOCK_MONOTONIC ns of the launch; 0 when the place holds nothing in flight
};

struct File {
  Header header;
  Name names[kNames];
  Communicator communicators[kCommunicators];
};

static_assert(sizeof(Header) == 512);
static_assert(sizeof(Name) == 32);
static_assert(sizeof(OperationCounters) == 192);
static_assert(sizeof(Cell) == 64);
static_assert(sizeof(Communicator) == 512 + 192 * kOperations + 64 * kCells + 8 * kInFlight);
static_assert(sizeof(File) == 512 + 32 * kNames + sizeof(Communicator) * kCommunicators);
static_assert(offsetof(Header, dropped) == 64 && offsetof(Header, plugin_version) == 104);
static_assert(offsetof(Header, job_id) == 200 && offsetof(Header, gpu_uuid) == 328);
static_assert(offsetof(OperationCounters, started) == 16 && offsetof(OperationCounters, buckets) == 48);
static_assert(offsetof(Cell, operation) == 8 && offsetof(Cell, log_microseconds) == 32);
static_assert(offsetof(Communicator, id) == 8 && offsetof(Communicator, refused) == 48);
static_assert(offsetof(Communicator, skipped) == 88 && offsetof(Communicator, name) == 120);
static_assert(offsetof(Communicator, operations) == 512);

}  // namespace nccl_sentinel::layout
