// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-golden: a mapped file of known values on stdout, byte for byte the same each time. tests/golden keeps
// it, compressed, so that plugin and reader cannot drift apart unseen. tests/golden/README.md says what the values are.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "nccl_sentinel/layout.h"
#include "text_field.h"

namespace {

using namespace nccl_sentinel::layout;
using nccl_sentinel::write_text;

constexpr auto kOpen = static_cast<std::uint32_t>(SlotState::kOpen);

enum NameIndex : std::uint16_t { kUnknown, kAllReduce, kAllGather, kSend, kRing, kTree, kLl, kSimple };
constexpr const char* kNameTexts[] = {"unknown", "AllReduce", "AllGather", "Send", "RING", "TREE", "LL", "SIMPLE"};

// Operations of each row were committed one by one; the other copy is the one before.
constexpr std::uint64_t commits(std::uint64_t count) { return count << kCommitShift; }

constexpr std::uint64_t flight(std::uint64_t launched_ns, std::uint64_t row, std::uint64_t number,
                               std::uint64_t generation) {
  return launched_ns >> kFlightTimeUnit << kFlightTimeShift | row << kFlightOperationShift |
         (number & kFlightNumberMask) << kFlightNumberShift | (generation & kFlightGenerationMask);
}

void fill_header(Header& header) {
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.header_bytes = sizeof(Header);
  header.file_bytes = sizeof(File);
  header.state = static_cast<std::uint32_t>(FileState::kLive);
  header.pid = 4242;
  header.start_unix_ns = 1'764'000'000'000'000'000;
  header.start_monotonic_ns = 1'000'000'000'000;
  header.global_rank = 11;
  header.nccl_version = 22809;
  header.interface_version = 5;
  header.events = 0x0f;
  header.sample_burst = 4;
  header.sample_period = 64;
  header.governor_level = 2;
  header.budget_ppm = 1000;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Dropped::kCount); ++i) header.dropped[i] = i + 1;
  write_text(header.plugin_version, "0.1.0");
  write_text(header.hostname, "node-0001");
  write_text(header.job_id, "70123");
}

void fill_names(File& file) {
  std::size_t i = 0;
  for (const char* name : kNameTexts) {
    file.names[i].state = kOpen;
    write_text(file.names[i++].text, name);
  }
}

void fill_communicator(Communicator& communicator, SlotState state, std::uint64_t id, std::int32_t rank,
                       const char* name) {
  communicator.state = static_cast<std::uint32_t>(state);
  communicator.generation = 1;
  communicator.id = id;
  communicator.rank = rank;
  communicator.nranks = 16;
  communicator.nnodes = 2;
  communicator.gpu = 3;
  communicator.opened_unix_ns = 1'764'000'001'000'000'000;
  write_text(communicator.gpu_uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  write_text(communicator.name, name);
  communicator.operations[kOperations - 1].state = kOpen;  // `unknown`
}

Operation& fill_operation(Communicator& communicator, std::size_t place, NameIndex name, OperationKind kind,
                          std::uint64_t skipped, std::uint64_t launched) {
  Operation& row = communicator.operations[place];
  row.state = kOpen;
  row.name = name;
  row.kind = kind;
  row.launched = launched;
  row.left_out[static_cast<std::size_t>(Outcome::kSkipped)] = skipped;
  return row;
}

// In both copies: `operations` by the last commit, one fewer before it.
void fill_cell(Cell& cell, NameIndex operation, NameIndex algorithm, NameIndex protocol, std::int16_t size_log2,
               std::uint64_t operations, std::uint64_t each_ns, std::uint64_t each_bytes, std::size_t bucket) {
  cell.state = kOpen;
  cell.operation = operation;
  cell.algorithm = algorithm;
  cell.protocol = protocol;
  cell.size_log2 = size_log2;
  cell.commit = commits(operations);
  for (std::uint64_t count = operations - 1; count <= operations; ++count) {
    CellCounts& counts = cell.counts[count % 2];
    counts.operations = count;
    counts.duration_ns = count * each_ns;
    const double sum = static_cast<double>(count) * std::log(static_cast<double>(each_ns) / 1000.0);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &sum, sizeof bits);
    counts.log_microseconds = bits;
    counts.bytes = count * each_bytes;
    counts.buckets[bucket] = count;
  }
}

void fill_peer(Peer& peer, NameIndex operation, std::int32_t rank, std::int16_t size_log2, std::uint64_t operations,
               std::uint64_t each_ns, std::uint64_t each_bytes) {
  peer.state = kOpen;
  peer.operation = operation;
  peer.size_log2 = size_log2;
  peer.peer = rank;
  peer.commit = commits(operations);
  for (std::uint64_t count = operations - 1; count <= operations; ++count) {
    peer.counts[count % 2].operations = count;
    peer.counts[count % 2].duration_ns = count * each_ns;
    peer.counts[count % 2].bytes = count * each_bytes;
  }
}

// Every operation had ten steps of a MiB, which took 1, 2 and 3 us in the three states.
void fill_link(Link& link, std::int32_t peer, Direction direction, std::uint64_t operations) {
  link.state = kOpen;
  link.peer = peer;
  link.direction = direction;
  link.commit = commits(operations);
  for (std::uint64_t count = operations - 1; count <= operations; ++count) {
    LinkCounts& counts = link.counts[count % 2];
    for (std::size_t state = 0; state < kStepStates; ++state) {
      counts.steps[state] = 10 * count;
      counts.duration_ns[state] = 10 * count * 1'000 * (state + 1);
    }
    counts.bytes = 10 * count << 20;
    counts.operations = count;
  }
}

void fill_channel(Channel& channel, Transport transport, std::uint64_t operations, std::uint64_t duration_ns) {
  channel.operations[static_cast<std::size_t>(transport)] = operations;
  channel.duration_ns[static_cast<std::size_t>(transport)] = duration_ns;
}

// 128 started = 20 skipped + 1 untimed + 107 launched; 107 = 99 measured + 6 refused + 2 in flight.
void fill_all_reduce(Communicator& world) {
  Operation& row = fill_operation(world, 0, kAllReduce, OperationKind::kCollective, 20, 106);
  row.left_out[static_cast<std::size_t>(Outcome::kUntimed)] = 1;
  row.commit = commits(6);
  for (std::size_t place = 0; place < 3; ++place) row.settled[0].outcomes[place] = place + 1;
  row.settled[1].outcomes[0] = 1;  // not true: a commit that never came to its end
  fill_cell(world.cells[0], kAllReduce, kRing, kSimple, 20, 89, 50'000, 1 << 20, 3);
  fill_cell(world.cells[kCells - 1], kAllReduce, kTree, kSimple, kSizeOther, 10, 50'000, 1 << 20, 3);
  world.in_flight[17] = flight(1'440'000'000'000, 0, 105, 1041);
  world.in_flight[18] = flight(1'440'250'000'000, 0, 106, 1042);  // launched, and not counted as such yet
  // Ended: its row has counted it, and its place has not been cleared.
  world.in_flight[19] = flight(1'400'000'000'000, 0, 104, 1043);
  world.cells[0].commit =
      commits(89) | kCommitNames | 19 << kCommitPlaceShift | (1043 & kFlightGenerationMask) << kCommitGenerationShift;
}

void fill_world(Communicator& world) {
  fill_communicator(world, SlotState::kOpen, 0xE06114C4E13BF1DD, 11, "world");
  world.callbacks = 6'358;
  world.callbacks_timed = 100;
  world.callback_ns = 5'000;
  fill_all_reduce(world);
  fill_operation(world, 1, kAllGather, OperationKind::kCollective, 0, 10);
  fill_cell(world.cells[7], kAllGather, kRing, kLl, kSizeEmpty, 10, 2'000, 0, 1);
  fill_operation(world, 2, kSend, OperationKind::kPointToPoint, 21, 7);
  fill_peer(world.peers[0], kSend, 12, 16, 5, 30'000, 1 << 16);
  fill_peer(world.peers[kPeers - 1], kSend, kPeerOther, kSizeOther, 2, 40'000, 1 << 10);
  fill_operation(world, 3, kAllGather, OperationKind::kCopyEngine, 1, 0);
  fill_operation(world, kOperations - 1, kUnknown, OperationKind::kCollective, 0, 0)
      .left_out[static_cast<std::size_t>(Outcome::kDroppedName)] = 2;
  fill_link(world.links[0], 3, Direction::kSend, 9);
  fill_link(world.links[kLinks - 1], kPeerOther, Direction::kReceive, 8);
  fill_channel(world.channels[0], Transport::kP2p, 60, 3'000'000);
  fill_channel(world.channels[0], Transport::kNet, 50, 2'500'000);
  fill_channel(world.channels[kChannels - 1], Transport::kNet, 40, 2'000'000);
}

}  // namespace

int main() {
  const auto file = std::make_unique<File>();
  fill_header(file->header);
  fill_names(*file);
  fill_world(file->communicators[0]);

  Communicator& half = file->communicators[2];
  fill_communicator(half, SlotState::kClosed, 0x073613FADDDB1A51, 3, "");
  half.generation = 2;
  half.closed_monotonic_ns = 1'400'000'000'000;
  fill_operation(half, 0, kAllReduce, OperationKind::kCollective, 0, 7);
  fill_cell(half.cells[1], kAllReduce, kRing, kLl, 3, 7, 1'000, 8, 0);

  return std::fwrite(static_cast<const void*>(file.get()), sizeof(File), 1, stdout) == 1 ? 0 : 1;
}
