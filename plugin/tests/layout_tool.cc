// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-layout: the mapped file's constants, sizes and offsets as JSON, for readers in other languages to be
// checked against.
#include <cstdio>

#include "nccl_sentinel/layout.h"

namespace {

using namespace nccl_sentinel::layout;

const char* separator = "";

void number(const char* name, long long value) {
  std::printf("%s\n  \"%s\": %lld", separator, name, value);
  separator = ",";
}

template <typename Element, std::size_t kElements>
void numbers(const char* name, const Element (&values)[kElements]) {
  std::printf("%s\n  \"%s\": [", separator, name);
  separator = "";
  for (const Element value : values) {
    std::printf("%s%lld", separator, static_cast<long long>(value));
    separator = ", ";
  }
  std::printf("]");
  separator = ",";
}

}  // namespace

#define SIZE(type) number("sizeof." #type, static_cast<long long>(sizeof(type)))
#define FIELD(type, member)                                                              \
  number("offsetof." #type "." #member, static_cast<long long>(offsetof(type, member))); \
  number("sizeof." #type "." #member, static_cast<long long>(sizeof(type::member)))
#define CONSTANT(name) number(#name, static_cast<long long>(name))

int main() {
  std::printf("{");
  CONSTANT(kVersion);
  CONSTANT(kPageBytes);
  CONSTANT(kNames);
  CONSTANT(kCommunicators);
  CONSTANT(kOperations);
  CONSTANT(kCells);
  CONSTANT(kOtherCells);
  CONSTANT(kPeers);
  CONSTANT(kOtherPeers);
  CONSTANT(kLinks);
  CONSTANT(kOtherLinks);
  CONSTANT(kChannels);
  CONSTANT(kInFlight);
  CONSTANT(kBuckets);
  CONSTANT(kStepStates);
  CONSTANT(kSizeEmpty);
  CONSTANT(kSizeOther);
  CONSTANT(kPeerOther);
  numbers("kMagic", kMagic);
  numbers("kBucketBoundsNs", kBucketBoundsNs);
  numbers("kSettled", kSettled);
  CONSTANT(kCommitShift);
  CONSTANT(kCommitNames);
  CONSTANT(kCommitPlaceShift);
  CONSTANT(kCommitGenerationShift);
  CONSTANT(kFlightTimeShift);
  CONSTANT(kFlightTimeUnit);
  CONSTANT(kFlightOperationShift);
  CONSTANT(kFlightNumberShift);
  CONSTANT(kFlightNumberMask);
  CONSTANT(kFlightGenerationMask);
  CONSTANT(FileState::kStarting);
  CONSTANT(FileState::kLive);
  CONSTANT(FileState::kFinished);
  CONSTANT(SlotState::kFree);
  CONSTANT(SlotState::kClaimed);
  CONSTANT(SlotState::kOpen);
  CONSTANT(SlotState::kClosed);
  CONSTANT(OperationKind::kCollective);
  CONSTANT(OperationKind::kPointToPoint);
  CONSTANT(OperationKind::kCopyEngine);
  CONSTANT(Direction::kSend);
  CONSTANT(Direction::kReceive);
  CONSTANT(Transport::kP2p);
  CONSTANT(Transport::kNet);
  CONSTANT(Transport::kCount);
  CONSTANT(Outcome::kSkipped);
  CONSTANT(Outcome::kNegative);
  CONSTANT(Outcome::kZero);
  CONSTANT(Outcome::kIncomplete);
  CONSTANT(Outcome::kOverwritten);
  CONSTANT(Outcome::kGraph);
  CONSTANT(Outcome::kUntimed);
  CONSTANT(Outcome::kDroppedOperation);
  CONSTANT(Outcome::kDroppedCell);
  CONSTANT(Outcome::kDroppedName);
  CONSTANT(Outcome::kDroppedContention);
  CONSTANT(Outcome::kCount);
  CONSTANT(Dropped::kCommunicator);
  CONSTANT(Dropped::kNetwork);
  CONSTANT(Dropped::kOperation);
  CONSTANT(Dropped::kCell);
  CONSTANT(Dropped::kName);
  CONSTANT(Dropped::kContention);
  CONSTANT(Dropped::kCount);
  SIZE(Header);
  FIELD(Header, magic);
  FIELD(Header, version);
  FIELD(Header, header_bytes);
  FIELD(Header, file_bytes);
  FIELD(Header, state);
  FIELD(Header, pid);
  FIELD(Header, start_unix_ns);
  FIELD(Header, start_monotonic_ns);
  FIELD(Header, global_rank);
  FIELD(Header, nccl_version);
  FIELD(Header, interface_version);
  FIELD(Header, events);
  FIELD(Header, sample_burst);
  FIELD(Header, sample_period);
  FIELD(Header, governor_level);
  FIELD(Header, budget_ppm);
  FIELD(Header, dropped);
  FIELD(Header, plugin_version);
  FIELD(Header, hostname);
  FIELD(Header, job_id);
  FIELD(Header, padding);
  SIZE(Name);
  FIELD(Name, state);
  FIELD(Name, text);
  SIZE(SettledCounts);
  FIELD(SettledCounts, outcomes);
  FIELD(SettledCounts, reserved);
  SIZE(Operation);
  FIELD(Operation, state);
  FIELD(Operation, name);
  FIELD(Operation, kind);
  FIELD(Operation, reserved);
  FIELD(Operation, launched);
  FIELD(Operation, left_out);
  FIELD(Operation, commit);
  FIELD(Operation, settled);
  FIELD(Operation, unused);
  SIZE(CellCounts);
  FIELD(CellCounts, operations);
  FIELD(CellCounts, duration_ns);
  FIELD(CellCounts, log_microseconds);
  FIELD(CellCounts, bytes);
  FIELD(CellCounts, buckets);
  SIZE(Cell);
  FIELD(Cell, state);
  FIELD(Cell, operation);
  FIELD(Cell, algorithm);
  FIELD(Cell, protocol);
  FIELD(Cell, size_log2);
  FIELD(Cell, reserved);
  FIELD(Cell, commit);
  FIELD(Cell, counts);
  FIELD(Cell, padding);
  SIZE(PeerCounts);
  FIELD(PeerCounts, operations);
  FIELD(PeerCounts, duration_ns);
  FIELD(PeerCounts, bytes);
  FIELD(PeerCounts, reserved);
  SIZE(Peer);
  FIELD(Peer, state);
  FIELD(Peer, operation);
  FIELD(Peer, size_log2);
  FIELD(Peer, peer);
  FIELD(Peer, reserved);
  FIELD(Peer, commit);
  FIELD(Peer, counts);
  FIELD(Peer, unused);
  SIZE(LinkCounts);
  FIELD(LinkCounts, steps);
  FIELD(LinkCounts, duration_ns);
  FIELD(LinkCounts, bytes);
  FIELD(LinkCounts, operations);
  SIZE(Link);
  FIELD(Link, state);
  FIELD(Link, peer);
  FIELD(Link, direction);
  FIELD(Link, reserved);
  FIELD(Link, commit);
  FIELD(Link, counts);
  FIELD(Link, unused);
  SIZE(Channel);
  FIELD(Channel, operations);
  FIELD(Channel, duration_ns);
  SIZE(Communicator);
  FIELD(Communicator, state);
  FIELD(Communicator, generation);
  FIELD(Communicator, id);
  FIELD(Communicator, rank);
  FIELD(Communicator, nranks);
  FIELD(Communicator, nnodes);
  FIELD(Communicator, gpu);
  FIELD(Communicator, opened_unix_ns);
  FIELD(Communicator, closed_monotonic_ns);
  FIELD(Communicator, callbacks);
  FIELD(Communicator, callbacks_timed);
  FIELD(Communicator, callback_ns);
  FIELD(Communicator, gpu_uuid);
  FIELD(Communicator, name);
  FIELD(Communicator, padding);
  FIELD(Communicator, operations);
  FIELD(Communicator, cells);
  FIELD(Communicator, peers);
  FIELD(Communicator, links);
  FIELD(Communicator, channels);
  FIELD(Communicator, in_flight);
  FIELD(Communicator, end);
  SIZE(File);
  FIELD(File, header);
  FIELD(File, names);
  FIELD(File, padding);
  FIELD(File, communicators);
  std::printf("\n}\n");
}
