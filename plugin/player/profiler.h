// SPDX-License-Identifier: Apache-2.0
// A profiler plugin as the player calls it, whatever the version of the interface.
#pragma once

#include <cstdint>
#include <memory>

#include "script_file.h"

namespace nccl_sentinel::player {

// What a start says besides what the script holds: it differs from iteration to iteration.
struct Start {
  const script::Event& event;
  void* parent;
  void* group;             // the Group around a Coll or P2p
  std::uint64_t sequence;  // of a Coll
  std::uint64_t timer;     // of a KernelCh
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual const char* name() const = 0;
  // Whether events of this type exist in the interface.
  virtual bool knows(script::Type type) const = 0;
  // The plugin's own results are handed through: 0 is success, and what else a callback but `init` answers NCCL
  // ignores.
  virtual int init(void** context, int* mask, const script::Communicator& communicator) const = 0;
  virtual void start(void* context, void** handle, const Start& start) const = 0;
  virtual void stop(void* handle) const = 0;
  // States that the interface does not have are left out.
  virtual void state(void* handle, const script::Event& event, std::uint64_t value) const = 0;
  virtual void finalize(void* context) const = 0;
};

inline constexpr int kOldestInterface = 1;
inline constexpr int kNewestInterface = 7;

// `table` is what the plugin exports as ncclProfiler_vN for interface N; both outlive the profiler.
std::unique_ptr<Profiler> make_profiler(int interface, const void* table, const ScriptFile& script);

}  // namespace nccl_sentinel::player
