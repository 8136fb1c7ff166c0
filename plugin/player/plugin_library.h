// SPDX-License-Identifier: Apache-2.0
// The shared library of a profiler plugin, loaded as NCCL does it.
#pragma once

#include <memory>
#include <string>

#include "profiler.h"

namespace nccl_sentinel::player {

class PluginLibrary {
 public:
  // `interface` 0 takes the newest that the plugin has, another number that one only.
  // Failure (usage) when the library cannot be loaded or exports no table that the player knows.
  PluginLibrary(const std::string& path, int interface, const ScriptFile& script);
  ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  const Profiler& profiler() const { return *profiler_; }

 private:
  void* library_ = nullptr;
  std::unique_ptr<Profiler> profiler_;
};

}  // namespace nccl_sentinel::player
