// SPDX-License-Identifier: Apache-2.0
#include "plugin_table.h"

#include <dlfcn.h>

#include "failure.h"

namespace nccl_sentinel::bench {
using player::Failure;

PluginTable::PluginTable(const std::string& path, int interface, const player::ScriptFile& script,
                         const Callbacks& around, Callbacks& inner)
    : interface_(interface) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: the process ends first
  if (library == nullptr) throw Failure(player::kExitUsage, "cannot load a profiler plugin", path, dlerror());
  const auto find = [&](int version) { return dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()); };
  if (interface_ == 0) {
    for (interface_ = player::kNewestInterface; interface_ > player::kOldestInterface && find(interface_) == nullptr;
         --interface_) {
    }
  }
  const void* exported = find(interface_);
  if (exported == nullptr || interface_ > player::kNewestInterface) {
    throw Failure(player::kExitUsage, "cannot use a profiler plugin", path,
                  "it exports no ncclProfiler_v" + std::to_string(interface_));
  }
  table_ = *static_cast<const Table*>(exported);
  inner = table_.callbacks;
  table_.callbacks = around;
  profiler_ = player::make_profiler(interface_, &table_, script);
}

}  // namespace nccl_sentinel::bench
