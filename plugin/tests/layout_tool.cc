// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-layout: the mapped file's sizes and offsets as JSON, for readers in other languages to be checked
// against.
#include <cstdio>

#include "nccl_sentinel/layout.h"

namespace {

using namespace nccl_sentinel::layout;

const char* separator = "";

void number(const char* name, long long value) {
  std::printf("%s\n  \"%s\": %lld", separator, name, value);
  separator = ",";
}

}  // namespace

#define SIZE(type) number("sizeof." #type, sizeof(type))
#define FIELD(type, member)                                      \
  number("offsetof." #type "." #member, offsetof(type, member)); \
  number("sizeof." #type "." #member, sizeof(type::member))
#define CONSTANT(name) number(#name, static_cast<long long>(name))

int main() {
  std::printf("{");
  CONSTANT(kVersion);
  CONSTANT(kNames);
  CONSTANT(kCommunicators);
  CONSTANT(kOperations);
  CONSTANT(kCells);
  CONSTANT(kInFlight);
  CONSTANT(kBuckets);
  CONSTANT(kSizeEmpty);
  CONSTANT(kSizeOther);
  for (std::size_t i = 0; i + 1 < kBuckets; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "kBucketBoundsNs.%zu", i);
    number(name, static_cast<long long>(kBucketBoundsNs[i]));
  }
  CONSTANT(FileState::kStarting);
  CONSTANT(FileState::kLive);
  CONSTANT(FileState::kFinished);
  CONSTANT(SlotState::kFree);
  CONSTANT(SlotState::kClaimed);
  CONSTANT(SlotState::kOpen);
  CONSTANT(SlotState::kClosed);
  CONSTANT(Refused::kNegative);
  CONSTANT(Refused::kZero);
  CONSTANT(Refused::kIncomplete);
  CONSTANT(Refused::kOverwritten);
  CONSTANT(Refused::kGraph);
  CONSTANT(Dropped::kCommunicator);
  CONSTANT(Dropped::kOperation);
  CONSTANT(Dropped::kCell);
  CONSTANT(Dropped::kName);
  CONSTANT(Dropped::kContention);
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
  FIELD(Header, gpu);
  FIELD(Header, nccl_version);
  FIELD(Header, interface_version);
  FIELD(Header, dropped);
  FIELD(Header, plugin_version);
  FIELD(Header, hostname);
  FIELD(Header, job_id);
  FIELD(Header, gpu_uuid);
  SIZE(Name);
  FIELD(Name, state);
  FIELD(Name, text);
  SIZE(OperationCounters);
  FIELD(OperationCounters, state);
  FIELD(OperationCounters, name);
  FIELD(OperationCounters, sequence);
  FIELD(OperationCounters, started);
  FIELD(OperationCounters, operations);
  FIELD(OperationCounters, duration_ns);
  FIELD(OperationCounters, bytes);
  FIELD(OperationCounters, buckets);
  SIZE(Cell);
  FIELD(Cell, state);
  FIELD(Cell, sequence);
  FIELD(Cell, operation);
  FIELD(Cell, algorithm);
  FIELD(Cell, protocol);
  FIELD(Cell, size_log2);
  FIELD(Cell, operations);
  FIELD(Cell, duration_ns);
  FIELD(Cell, log_microseconds);
  SIZE(Communicator);
  FIELD(Communicator, state);
  FIELD(Communicator, generation);
  FIELD(Communicator, id);
  FIELD(Communicator, rank);
  FIELD(Communicator, nranks);
  FIELD(Communicator, nnodes);
  FIELD(Communicator, opened_unix_ns);
  FIELD(Communicator, closed_monotonic_ns);
  FIELD(Communicator, refused);
  FIELD(Communicator, skipped);
  FIELD(Communicator, callbacks);
  FIELD(Communicator, callbacks_timed);
  FIELD(Communicator, callback_ns);
  FIELD(Communicator, name);
  FIELD(Communicator, operations);
  FIELD(Communicator, cells);
  FIELD(Communicator, in_flight);
  SIZE(File);
  FIELD(File, header);
  FIELD(File, names);
  FIELD(File, communicators);
  std::printf("\n}\n");
}
