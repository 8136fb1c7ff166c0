// SPDX-License-Identifier: Apache-2.0
// One communicator: its rings of operations (private) over its block of counters (mapped).
#pragma once

#include <atomic>
#include <cstdint>

#include "activation_mask.h"
#include "callback_cost.h"
#include "counters.h"
#include "event.h"
#include "governor.h"
#include "handle.h"
#include "key_table.h"
#include "name_table.h"
#include "nccl_sentinel/layout.h"
#include "network.h"
#include "operation.h"
#include "sampling.h"
#include "short_name.h"

namespace nccl_sentinel {

// started = measured + skipped + refused + dropped + in flight holds whenever no callback is running, and at whatever
// instant the process is killed.
class Communicator {
 public:
  // What the communicators of a process share.
  struct Shared {
    layout::File* file;
    Sampling sampling;
    Governor governor;
    std::int32_t pid;
    std::int32_t local_rank;  // -1: the environment did not say
  };

  // Opening and closing are rare and serialised by the profiler. `mask` may be null: NCCL then reports everything.
  void open(Shared& shared, std::uint32_t slot, const CommunicatorStart& start, ActivationMask* mask) noexcept;
  void close() noexcept;

  bool is_open() const noexcept { return context_.load(std::memory_order_acquire) != nullptr; }
  bool is_open_as(const void* context) const noexcept { return context_.load(std::memory_order_acquire) == context; }
  bool was_opened() const noexcept { return shared_ != nullptr; }
  std::uint64_t closed_ns() const noexcept { return closed_ns_; }
  const void* context() const noexcept { return context_.load(std::memory_order_relaxed); }
  ActivationMask* mask() const noexcept { return mask_; }

  // Callbacks: any thread, at any time. Handles were decoded and name this slot; anything else in them may be wrong.
  void start_group() noexcept;
  void start_group_call() noexcept;
  void* start_call(bool is_captured) noexcept;

  // See Profiler::start_collective.
  template <class Describe>
  void* start_collective(const char* operation, std::uint64_t sequence, const void* call,
                         const Describe& describe) noexcept {
    CallbackCost cost(block(), is_timed(sequence));
    const Chosen chosen = choose_collective(operation, sequence, call);
    if (!chosen.is_chosen) return nullptr;
    cost.charge(shared_->governor);
    return start_chosen(describe(), chosen);
  }
  void* start_p2p(const P2pStart& start) noexcept;
  void count_untimed(const char* operation, layout::OperationKind kind, const Identity* identity) noexcept;

  void* start_channel(const Handle& operation, const ChannelStart& start) noexcept;
  void stop_channel_time(const Handle& channel, std::uint64_t timer_ns) noexcept;
  void stop_channel(const Handle& channel) noexcept;

  void* start_network(const Handle& operation, const NetworkStart& start) noexcept;
  void stop_network(const Handle& network) noexcept;
  void* start_step(const Handle& network, std::uint32_t step) noexcept;
  void record_step(const Handle& step, int state, const std::uint64_t* bytes) noexcept;
  void stop_step(const Handle& step) noexcept;

  // A callback of which nothing else is counted.
  void ignore_event() noexcept;

 private:
  static constexpr std::uint32_t kNetworkOperations = 512;
  static constexpr std::size_t kPeerStreams = 256;
  static constexpr std::size_t kKinds = static_cast<std::size_t>(layout::OperationKind::kCopyEngine) + 1;
  // Callbacks of calls and groups are added up apart and handed on in batches: an addition to a word that other threads
  // add to costs as much as all the rest of a call.
  static constexpr std::uint64_t kCallsCounted = 64;
  // Operations left behind in a row after which a communicator counts as one that tells no times: its ring is given up
  // once, and few of the next ones are waited for.
  static constexpr std::uint32_t kSilent = 16;

  struct Row {
    std::uint8_t place;
    layout::Outcome dropped;  // kCount: it is not
  };
  // What an operation that is skipped needs of its row, in one cache line.
  struct alignas(64) RowStream {
    ShortName name;
    Stream stream;
  };
  // Whether NCCL read a mask with timing for the operation of a call, and whether it is a replay.
  struct Asked {
    bool timing;
    bool is_replay;
  };
  struct Chosen {
    bool is_chosen;
    std::uint8_t row;
    Asked asked;
  };
  // What a launched operation is.
  struct Launch {
    std::uint64_t bytes;
    std::uint32_t channels;
    std::uint8_t row;
    std::uint8_t counted_in;
    layout::OperationKind kind;
    bool is_replay;
  };

  layout::Communicator& block() noexcept { return *block_; }
  void clear_block() noexcept;
  void identify(const Identity& identity) noexcept;
  Row find_row(const char* operation, layout::OperationKind kind) noexcept {
    if (operation != nullptr) {
      const std::uint8_t place =
          row_guesses_[static_cast<std::size_t>(kind)].at(operation).load(std::memory_order_relaxed);
      if (rows_[place].name.reads(operation)) return {place, layout::Outcome::kCount};
    }
    return search_row(operation, kind);
  }
  __attribute__((noinline)) Row search_row(const char* operation, layout::OperationKind kind) noexcept;
  Stream& peer_stream(std::uint8_t row, std::int32_t peer) noexcept;

  Asked asked(const void* call) const noexcept;
  void count_call() noexcept;
  // Whether the operation of this number is timed, and then what NCCL was asked for it. Counts it as skipped where it
  // is not, and has the mask expect the next one.
  __attribute__((always_inline)) bool choose(Stream& stream, std::uint64_t number, const void* call, std::uint8_t row,
                                             Asked& asked) noexcept {
    if (__builtin_expect(Stream::is_decision(sampling_, number), 0)) decide(stream, number);
    const bool is_chosen = stream.takes(sampling_, number) && !is_alone_;
    // Before anything else is stored: the addition waits for stores that are on their way.
    if (!is_chosen) leave_out(row, layout::Outcome::kSkipped);
    if (is_chosen) asked = this->asked(call);
    if (kind_of(call) != HandleKind::kCapturedCall && !is_alone_ && mask_ != nullptr) {
      stream.launch(sampling_, number, *mask_);
    }
    return is_chosen;
  }
  __attribute__((noinline)) void decide(Stream& stream, std::uint64_t number) noexcept;
  Chosen choose_collective(const char* operation, std::uint64_t sequence, const void* call) noexcept;
  // Whether the times of a chosen operation can be expected. Counts it as refused where not.
  bool is_heard(std::uint32_t channels, const Asked& asked, std::uint64_t number, std::uint8_t row) noexcept;

  std::uint64_t callbacks_so_far() noexcept { return block().callbacks.load(std::memory_order_relaxed); }
  void leave_out(std::uint8_t row, layout::Outcome outcome) noexcept {
    count(block().operations[row].left_out[static_cast<std::size_t>(outcome)]);
  }
  __attribute__((noinline)) void* start_chosen(const CollectiveStart& start, const Chosen& chosen) noexcept;
  void* launch(const Launch& what) noexcept;
  Flight flight(const Operation& operation) noexcept;
  // All three take a held operation. False: its rows were busy, and it is as before, held.
  bool finish(Operation& operation) noexcept;
  bool settle(Operation& operation, layout::Outcome outcome) noexcept;
  bool settle_unheard(Operation& operation) noexcept;
  void leave(Operation& operation) noexcept;
  void close_outlived(std::uint64_t number, std::uint64_t group) noexcept;
  void close_all(std::uint64_t last) noexcept;
  void close_network() noexcept;

  // Read by every callback, written by none.
  std::atomic<const void*> context_;
  layout::Communicator* block_;
  ActivationMask* mask_;
  Shared* shared_;
  Sampling sampling_;
  bool is_alone_;  // one rank: NCCL launches nothing
  std::uint32_t slot_;
  std::uint32_t generation_;
  // By the thread that launches.
  alignas(64) std::atomic<int> asked_timing_;  // whether NCCL read a mask with timing for what comes next; -1: unknown
  std::atomic<std::uint64_t> calls_;           // callbacks of the API's calls and of groups
  std::atomic<std::uint64_t> groups_;
  NameGuesses row_guesses_[kKinds];  // of the row of an operation's name; of each kind apart: rows do not say theirs
  RowStream rows_[layout::kOperations];
  NameGuesses guesses_;
  ActivationMask::Ticket first_wish_;  // for whatever comes first
  std::uint64_t closed_ns_;
  Counters counters_;
  KeyTable<kPeerStreams> peer_keys_;
  Stream peer_streams_[kPeerStreams];
  std::atomic<std::uint32_t> identified_;          // 0, 1 while somebody writes, 2
  std::atomic<std::uint32_t> left_behind_;         // operations left behind since one has ended
  alignas(64) std::atomic<std::uint64_t> next_;    // number of the next operation; its place is the number modulo ring
  alignas(64) std::atomic<std::uint64_t> oldest_;  // every operation before this one has ended
  alignas(64) std::atomic<std::uint64_t> next_network_;
  Operation ring_[layout::kInFlight];
  NetworkOperation networks_[kNetworkOperations];
};

}  // namespace nccl_sentinel
