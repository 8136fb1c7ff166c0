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
  header.gpu = 3;
  header.nccl_version = 22809;
  header.interface_version = 5;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Dropped::kCount); ++i) header.dropped[i] = i + 1;
  write_text(header.plugin_version, "0.1.0");
  write_text(header.hostname, "node-0001");
  write_text(header.job_id, "70123");
  write_text(header.gpu_uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

void fill_names(File& file) {
  const char* const names[] = {"unknown", "AllReduce", "AllGather", "RING", "TREE", "LL", "SIMPLE"};
  std::size_t i = 0;
  for (const char* name : names) {
    file.names[i].state = kOpen;
    write_text(file.names[i++].text, name);
  }
}

void fill_cell(Cell& cell, std::uint16_t operation, std::uint16_t algorithm, std::uint16_t protocol,
               std::int16_t size_log2, std::uint64_t operations, std::uint64_t each_ns) {
  cell.state = kOpen;
  cell.sequence = 2 * static_cast<std::uint32_t>(operations);
  cell.operation = operation;
  cell.algorithm = algorithm;
  cell.protocol = protocol;
  cell.size_log2 = size_log2;
  cell.operations = operations;
  cell.duration_ns = operations * each_ns;
  const double sum = static_cast<double>(operations) * std::log(static_cast<double>(each_ns) / 1000.0);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  cell.log_microseconds = bits;
}

void fill_counters(OperationCounters& counters, std::uint32_t name, std::uint64_t started, std::uint64_t operations,
                   std::uint64_t duration_ns, std::uint64_t bytes, std::size_t bucket) {
  counters.state = kOpen;
  counters.name = name;
  counters.sequence = 2 * static_cast<std::uint32_t>(operations);
  counters.started = started;
  counters.operations = operations;
  counters.duration_ns = duration_ns;
  counters.bytes = bytes;
  counters.buckets[bucket] = operations;
}

void fill_communicator(Communicator& communicator, SlotState state, std::uint64_t id, std::int32_t rank,
                       const char* name) {
  communicator.state = static_cast<std::uint32_t>(state);
  communicator.generation = 1;
  communicator.id = id;
  communicator.rank = rank;
  communicator.nranks = 16;
  communicator.nnodes = 2;
  communicator.opened_unix_ns = 1'764'000'001'000'000'000;
  write_text(communicator.name, name);
}

}  // namespace

int main() {
  const auto file = std::make_unique<File>();
  fill_header(file->header);
  fill_names(*file);

  Communicator& world = file->communicators[0];
  fill_communicator(world, SlotState::kOpen, 0xE06114C4E13BF1DD, 11, "world");
  world.refused[static_cast<std::size_t>(Refused::kNegative)] = 1;
  world.refused[static_cast<std::size_t>(Refused::kZero)] = 2;
  world.refused[static_cast<std::size_t>(Refused::kIncomplete)] = 3;
  world.skipped = 20;
  world.callbacks = 6'400;
  world.callbacks_timed = 100;
  world.callback_ns = 5'000;
  fill_counters(world.operations[0], 1, 128, 100, 100 * 50'000, 100 << 20, 3);
  fill_counters(world.operations[1], 2, 10, 10, 10 * 2'000, 0, 1);
  fill_cell(world.cells[0], 1, 3, 6, 20, 90, 50'000);
  fill_cell(world.cells[5], 1, 4, 6, kSizeOther, 10, 50'000);
  fill_cell(world.cells[7], 2, 3, 5, kSizeEmpty, 10, 2'000);
  world.in_flight[17] = 1'500'000'000'000;
  world.in_flight[18] = 1'500'250'000'000;

  Communicator& half = file->communicators[2];
  fill_communicator(half, SlotState::kClosed, 0x073613FADDDB1A51, 3, "");
  half.generation = 2;
  half.closed_monotonic_ns = 1'400'000'000'000;
  fill_counters(half.operations[0], 1, 7, 7, 7 * 1'000, 7 * 8, 0);
  fill_cell(half.cells[63], 1, 3, 5, 3, 7, 1'000);

  return std::fwrite(static_cast<const void*>(file.get()), sizeof(File), 1, stdout) == 1 ? 0 : 1;
}
