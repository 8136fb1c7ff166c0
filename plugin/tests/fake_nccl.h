// SPDX-License-Identifier: Apache-2.0
// NCCL's side of the interface, in either version: fills the descriptors and calls the plugin's table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nccl_sentinel::tests {

struct Collective {
  const char* operation = "AllReduce";
  std::uint64_t count = 1024;
  const char* datatype = "ncclFloat32";
  std::uint8_t channels = 1;
  const char* algorithm = "RING";
  const char* protocol = "LL";
};

class FakeNccl {
 public:
  virtual ~FakeNccl() = default;

  // A communicator's context; the mask that the plugin wrote is left in `mask`.
  virtual void* init(std::uint64_t id, const char* name = "world", int nodes = 2, int ranks = 8, int rank = 3) = 0;
  virtual void* collective(void* context, const Collective& collective = {}) = 0;
  virtual void* channel(void* context, void* parent, std::uint8_t channel, std::uint64_t timer) = 0;
  virtual void* event(void* context, std::uint64_t type) = 0;  // any other event; all its fields are zero
  virtual void stop_time(void* channel, std::uint64_t timer) = 0;
  virtual void state(void* handle, int state) = 0;  // with null arguments
  virtual void stop(void* handle) = 0;
  virtual void finalize(void* context) = 0;
  virtual void call_with_nulls(void* context) = 0;

  // An operation from launch to end: every channel runs from `start` to `start + duration`.
  void run(void* context, const Collective& collective, std::uint64_t start, std::uint64_t duration);
  // A whole life of one channel.
  void run_channel(void* context, void* parent, std::uint8_t channel, std::uint64_t start, std::uint64_t stop);

  int mask = -1;
  std::atomic<int> returned{0};  // every call's result, or-ed
};

// The version this process was told to speak, 4 or 5.
FakeNccl& nccl();
void speak(int version);

// What the plugin said through NCCL's logger.
struct Logged {
  int level;
  std::string text;
};
const std::vector<Logged>& logged();

}  // namespace nccl_sentinel::tests
