// SPDX-License-Identifier: Apache-2.0
#include "communicator.h"

#include <cstdlib>
#include <limits>
#include <utility>

#include "clock.h"
#include "device.h"
#include "environment.h"
#include "text_field.h"

namespace nccl_sentinel {
namespace {

using layout::Outcome;
using layout::SlotState;

constexpr std::uint32_t number_of(SlotState state) noexcept { return static_cast<std::uint32_t>(state); }

}  // namespace

void Communicator::open(Shared& shared, std::uint32_t slot, const CommunicatorStart& start,
                        ActivationMask* mask) noexcept {
  shared_ = &shared;
  mask_ = mask;
  sampling_ = shared.sampling;
  slot_ = slot;
  block_ = &shared.file->communicators[slot];
  ++generation_;
  layout::Communicator& mapped = block();
  mapped.state.store(number_of(SlotState::kClaimed), std::memory_order_seq_cst);
  mapped.generation.store(generation_, std::memory_order_seq_cst);
  // Each page of the rings is touched now: a page fault takes as long as a hundred callbacks. And a launch that was on
  // its way while the former tenant closed may have come to its ring since.
  for (Operation& operation : ring_) {
    if (operation.take() != Place::Taken::kNo) operation.leave();
  }
  for (NetworkOperation& network : networks_) {
    if (network.take() != Place::Taken::kNo) network.leave();
  }
  clear_block();
  const Device device = current_device();
  mapped.gpu =
      physical_gpu(device.ordinal >= 0 ? device.ordinal : shared.local_rank, std::getenv("CUDA_VISIBLE_DEVICES"));
  write_text(mapped.gpu_uuid, device.uuid);
  mapped.opened_unix_ns = static_cast<std::int64_t>(read_clock_ns(CLOCK_REALTIME));
  counters_.attach(mapped);
  for (NameGuesses& guesses : row_guesses_) guesses.fill(Counters::kUnknownRow);
  for (RowStream& row : rows_) {
    row.name.clear();
    row.stream.clear();
  }
  for (Stream& stream : peer_streams_) stream.clear();
  peer_keys_.clear();
  is_alone_ = start.identity.ranks == 1;
  asked_timing_.store(-1, std::memory_order_relaxed);
  calls_.store(0, std::memory_order_relaxed);
  groups_.store(0, std::memory_order_relaxed);
  left_behind_.store(0, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  oldest_.store(0, std::memory_order_relaxed);
  next_network_.store(0, std::memory_order_relaxed);
  first_wish_ = 0;
  if (mask != nullptr && shared.sampling.burst != 0 && !is_alone_) {
    // Whatever comes first is timed, if it comes soon; where everything is timed, whatever comes, until the governor
    // ends that.
    constexpr std::uint64_t kFirstGroups = 64;
    const bool is_all = shared.sampling.burst == shared.sampling.period && shared.governor.level() == 0;
    first_wish_ = mask->want(mask->group() + 1,
                             is_all ? std::numeric_limits<std::uint64_t>::max() - 1 : mask->group() + kFirstGroups);
  }
  identified_.store(0, std::memory_order_relaxed);
  // Interfaces 1 to 3 tell with the first operation; until then nobody can say who this is.
  if (start.identity.ranks > 0) identify(start.identity);
  Handle handle;
  handle.slot = slot;
  handle.generation = generation_;
  context_.store(encode(HandleKind::kContext, handle), std::memory_order_release);
}

void Communicator::identify(const Identity& identity) noexcept {
  std::uint32_t nobody = 0;
  if (identified_.load(std::memory_order_relaxed) != 0 || !identified_.compare_exchange_strong(nobody, 1)) return;
  layout::Communicator& mapped = block();
  mapped.id = identity.id;
  mapped.rank = identity.rank;
  mapped.nranks = identity.ranks;
  mapped.nnodes = identity.nodes;
  write_text(mapped.name, identity.name);
  mapped.state.store(number_of(SlotState::kOpen), std::memory_order_release);
  identified_.store(2, std::memory_order_release);
}

void Communicator::close() noexcept {
  context_.store(nullptr, std::memory_order_seq_cst);
  if (mask_ != nullptr) {
    mask_->drop(first_wish_);
    for (RowStream& row : rows_) row.stream.close(*mask_);
    for (Stream& stream : peer_streams_) stream.close(*mask_);
  }
  count(block().callbacks, calls_.load(std::memory_order_relaxed) % kCallsCounted);
  close_all(next_.load(std::memory_order_acquire));
  close_network();
  closed_ns_ = monotonic_ns();
  block().closed_monotonic_ns.store(closed_ns_, std::memory_order_relaxed);
  const bool was_known = block().state.load(std::memory_order_relaxed) == number_of(SlotState::kOpen);
  block().state.store(number_of(was_known ? SlotState::kClosed : SlotState::kFree), std::memory_order_release);
}

Communicator::Row Communicator::search_row(const char* operation, layout::OperationKind kind) noexcept {
  const NameLookup name = NameTable::intern(shared_->file->names, guesses_, operation);
  if (name.dropped) return {Counters::kUnknownRow, *name.dropped};
  const std::optional<std::uint8_t> place = counters_.operation(name.index, kind);
  if (!place) return {Counters::kUnknownRow, Outcome::kDroppedOperation};
  if (*place != Counters::kUnknownRow) {
    rows_[*place].name.learn(operation);
    row_guesses_[static_cast<std::size_t>(kind)].at(operation).store(*place, std::memory_order_relaxed);
  }
  return {*place, Outcome::kCount};
}

Stream& Communicator::peer_stream(std::uint8_t row, std::int32_t peer) noexcept {
  // The last one is for all that found no place.
  constexpr std::size_t kOwn = kPeerStreams - 1;
  const std::uint64_t key = std::uint64_t{1} << 63 | std::uint64_t{row} << 32 | static_cast<std::uint32_t>(peer);
  const auto found = peer_keys_.find(key, 0, kOwn);
  return peer_streams_[found ? found->place : kOwn];
}

void Communicator::count_untimed(const char* operation, layout::OperationKind kind, const Identity* identity) noexcept {
  if (identity != nullptr) identify(*identity);
  const Row row = find_row(operation, kind);
  leave_out(row.place, row.dropped == Outcome::kCount ? Outcome::kUntimed : row.dropped);
  count(block().callbacks);
}

void Communicator::clear_block() noexcept {
  layout::Communicator& mapped = block();
  // What did not fit stays counted when the slot gets another communicator.
  constexpr std::pair<Outcome, layout::Dropped> kKept[] = {{Outcome::kDroppedOperation, layout::Dropped::kOperation},
                                                           {Outcome::kDroppedCell, layout::Dropped::kCell},
                                                           {Outcome::kDroppedName, layout::Dropped::kName},
                                                           {Outcome::kDroppedContention, layout::Dropped::kContention}};
  constexpr std::size_t kSettledContention = layout::kSettledOutcomes - 1;
  static_assert(layout::kSettled[kSettledContention] == Outcome::kDroppedContention);
  for (const layout::Operation& row : mapped.operations) {
    for (const auto& [outcome, dropped] : kKept) {
      std::uint64_t lost = row.left_out[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
      if (outcome == Outcome::kDroppedContention) {
        const std::uint64_t copy = row.commit.load(std::memory_order_relaxed) >> layout::kCommitShift & 1;
        lost += row.settled[copy].outcomes[kSettledContention].load(std::memory_order_relaxed);
      }
      if (lost != 0) count(shared_->file->header.dropped[static_cast<std::size_t>(dropped)], lost);
    }
  }
  // Everything behind the generation is counts, and zero is where they begin; nobody reads a slot that is claimed.
  auto* words = reinterpret_cast<layout::Word*>(&mapped);
  for (std::size_t i = 1; i < sizeof mapped / sizeof(layout::Word); ++i) words[i].store(0, std::memory_order_relaxed);
}

}  // namespace nccl_sentinel
