// SPDX-License-Identifier: Apache-2.0
// A plugin's table with somebody's own functions around its callbacks.
#pragma once

#include <memory>
#include <string>

#include "profiler.h"

namespace nccl_sentinel::bench {

// The callbacks of every version of the interface are called alike: versions differ in what the pointers point to.
struct Callbacks {
  int (*start)(void* context, void** handle, void* descriptor) = nullptr;
  int (*stop)(void* handle) = nullptr;
  int (*state)(void* handle, int state, void* arguments) = nullptr;
};

// A table as the plugin exports it, but for the parameters of `init`.
struct Table {
  const char* name;
  void (*init)();
  Callbacks callbacks;
  int (*finalize)(void* context);
};

class PluginTable {
 public:
  // Loads the plugin and lets its callbacks be called through `around`; `inner` gets the plugin's own.
  // `interface` 0 takes the newest that it has. Failure (usage) when it cannot be loaded or has none.
  PluginTable(const std::string& path, int interface, const player::ScriptFile& script, const Callbacks& around,
              Callbacks& inner);

  int interface() const { return interface_; }
  const player::Profiler& profiler() const { return *profiler_; }

 private:
  int interface_;
  Table table_;
  std::unique_ptr<player::Profiler> profiler_;
};

}  // namespace nccl_sentinel::bench
