// SPDX-License-Identifier: Apache-2.0
// NCCL's side of the interface, in each of its versions: fills the descriptors and calls the plugin's table.
//
// An event that the spoken version does not have is not emitted, as in NCCL: its handle is null and nothing is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
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
  std::optional<std::uint64_t> sequence = {};  // else the next one of (context, operation), from 0
  void* call = nullptr;                        // handle of the CollApi (version 5 and later)
};

struct PointToPoint {
  const char* operation = "Send";
  std::uint64_t count = 1024;
  const char* datatype = "ncclFloat32";
  std::int32_t peer = 1;
  std::uint8_t channels = 1;
  void* call = nullptr;  // handle of the P2pApi (version 5 and later)
};

struct Network {
  std::int32_t peer = 1;
  bool is_send = true;
  std::uint8_t channel = 0;
  std::int32_t steps = 1;
  std::int32_t pid = 0;  // 0: this process
};

class FakeNccl {
 public:
  virtual ~FakeNccl() = default;
  virtual int version() const = 0;

  // A communicator's context; the mask that the plugin wrote is left in `mask`. Versions 1 to 3 tell id, name and rank
  // with each operation only, and nodes and ranks never.
  virtual void* init(std::uint64_t id, const char* name = "world", int nodes = 2, int ranks = 8, int rank = 3) = 0;
  virtual void* group(void* context) = 0;
  // From version 5 on.
  virtual void* group_call(void* context, bool is_captured = false) = 0;
  virtual void* collective_call(void* context, const char* operation = "AllReduce", bool is_captured = false,
                                void* group_call = nullptr) = 0;
  virtual void* p2p_call(void* context, const char* operation = "Send", bool is_captured = false,
                         void* group_call = nullptr) = 0;

  virtual void* collective(void* context, const Collective& collective = {}) = 0;
  virtual void* p2p(void* context, const PointToPoint& p2p = {}) = 0;
  // From version 6 on. Its algorithm, protocol, channels and call are not told.
  virtual void* copy_engine_collective(void* context, const Collective& collective = {}) = 0;
  // From version 3 on; the timer is told from version 4 on.
  virtual void* channel(void* context, void* parent, std::uint8_t channel, std::uint64_t timer) = 0;
  virtual void* network(void* context, void* parent, const Network& network = {}) = 0;
  virtual void* step(void* context, void* network, std::int32_t number) = 0;
  virtual void* event(void* context, std::uint64_t type) = 0;  // of any type; all its other fields are zero

  virtual void stop_time(void* channel, std::uint64_t timer) = 0;
  virtual void state(void* handle, int state) = 0;  // with null arguments
  virtual void state(void* handle, int state, std::uint64_t value) = 0;
  virtual void stop(void* handle) = 0;
  virtual void finalize(void* context) = 0;
  virtual void call_with_nulls(void* context) = 0;

  // An operation from launch to end: every channel runs from `start` to `start + duration`.
  void run(void* context, const Collective& collective, std::uint64_t start, std::uint64_t duration);
  void run_p2p(void* context, const PointToPoint& p2p, std::uint64_t start, std::uint64_t duration);
  // A whole life of one channel.
  void run_channel(void* context, void* parent, std::uint8_t channel, std::uint64_t start, std::uint64_t stop);

  int mask = -1;
  std::atomic<int> returned{0};  // every call's result, or-ed
};

// The version this process was told to speak, 1 to 7.
FakeNccl& nccl();
void speak(int version);

// What the plugin said through NCCL's logger.
struct Logged {
  int level;
  std::string text;
};
const std::vector<Logged>& logged();

}  // namespace nccl_sentinel::tests
