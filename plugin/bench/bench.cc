// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-bench [--json]: nanoseconds that the plugin's callbacks take, one thread and two.
//
// Writes its file where NCCL_SENTINEL_DIR says, as a job would.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "clock.h"
#include "nccl_sentinel/abi_v5.h"

namespace {

using nccl_sentinel::monotonic_ns;
using nccl_sentinel::abi::StateArguments;
using nccl_sentinel::abi::v5::Descriptor;

constexpr std::uint64_t kOperations = 200'000;
constexpr std::uint64_t kBatch = 100;
constexpr std::uint8_t kChannels = 8;

void* launch(void* context) {
  Descriptor descriptor{};
  descriptor.type = nccl_sentinel::abi::kColl;
  descriptor.coll.func = "AllReduce";
  descriptor.coll.count = 1 << 20;
  descriptor.coll.datatype = "ncclBfloat16";
  descriptor.coll.nChannels = kChannels;
  descriptor.coll.algo = "RING";
  descriptor.coll.proto = "SIMPLE";
  void* operation = nullptr;
  ncclProfiler_v5.startEvent(context, &operation, &descriptor);
  ncclProfiler_v5.stopEvent(operation);
  return operation;
}

void report_channels(void* context, void* operation) {
  for (std::uint8_t i = 0; i < kChannels; ++i) {
    Descriptor descriptor{};
    descriptor.type = nccl_sentinel::abi::kKernelCh;
    descriptor.parentObj = operation;
    descriptor.kernelCh.channelId = i;
    descriptor.kernelCh.pTimer = 1'000'000;
    void* channel = nullptr;
    ncclProfiler_v5.startEvent(context, &channel, &descriptor);
    StateArguments stop{1'040'000};
    ncclProfiler_v5.recordEventState(channel, nccl_sentinel::abi::kKernelChStop, &stop);
    ncclProfiler_v5.stopEvent(channel);
  }
}

struct Cost {
  double launch_ns;   // Coll start and stop, what the training thread pays for an operation
  double channel_ns;  // start, stop time and stop of one channel, paid by NCCL's proxy thread
};

Cost measure(void* context) {
  std::vector<void*> operations(kBatch);
  std::uint64_t launching = 0;
  std::uint64_t reporting = 0;
  for (std::uint64_t done = 0; done < kOperations; done += kBatch) {
    const std::uint64_t began = monotonic_ns();
    for (void*& operation : operations) operation = launch(context);
    const std::uint64_t launched = monotonic_ns();
    for (void* operation : operations) report_channels(context, operation);
    launching += launched - began;
    reporting += monotonic_ns() - launched;
  }
  return {static_cast<double>(launching) / static_cast<double>(kOperations),
          static_cast<double>(reporting) / static_cast<double>(kOperations * kChannels)};
}

// The same where another communicator's threads are at it too.
Cost measure_beside(void* context, void* other) {
  std::atomic<bool> done{false};
  std::thread beside([&] {
    while (!done) report_channels(other, launch(other));
  });
  const Cost cost = measure(context);
  done = true;
  beside.join();
  return cost;
}

}  // namespace

int main(int count, char** arguments) {
  const bool as_json = count == 2 && std::strcmp(arguments[1], "--json") == 0;
  void* context = nullptr;
  void* other = nullptr;
  int mask = 0;
  ncclProfiler_v5.init(&context, 1, &mask, "bench", 1, 8, 0, nullptr);
  ncclProfiler_v5.init(&other, 2, &mask, "other", 1, 8, 0, nullptr);
  if (mask == 0) {
    std::fprintf(stderr, "nccl-sentinel-bench: the plugin does not observe; is NCCL_SENTINEL_DIR writable?\n");
    return 1;
  }
  const Cost alone = measure(context);
  const Cost beside = measure_beside(context, other);
  const char* format =
      as_json ? "{\"launch_ns\": %.1f, \"channel_ns\": %.1f, \"launch_beside_ns\": %.1f, \"channel_beside_ns\": %.1f}\n"
              : "one operation's launch      %7.1f ns (Coll start and stop)\n"
                "one channel of a kernel     %7.1f ns (start, stop time, stop)\n"
                "the same, two communicators %7.1f ns and %.1f ns\n";
  std::printf(format, alone.launch_ns, alone.channel_ns, beside.launch_ns, beside.channel_ns);
  ncclProfiler_v5.finalize(other);
  ncclProfiler_v5.finalize(context);
  return 0;
}
