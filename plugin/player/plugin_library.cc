// SPDX-License-Identifier: Apache-2.0
#include "plugin_library.h"

#include <dlfcn.h>

#include "failure.h"

namespace nccl_sentinel::player {

PluginLibrary::PluginLibrary(const std::string& path, int interface, const ScriptFile& script) {
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    throw Failure(kExitUsage, "cannot load a profiler plugin", path, dlerror(),
                  "--plugin takes the path of a shared library, as NCCL_PROFILER_PLUGIN does");
  }
  const int newest = interface != 0 ? interface : kNewestInterface;
  const int oldest = interface != 0 ? interface : kOldestInterface;
  for (int version = newest; version >= oldest; --version) {
    const void* table = dlsym(library_, ("ncclProfiler_v" + std::to_string(version)).c_str());
    if (table == nullptr) continue;
    profiler_ = make_profiler(version, table, script);
    return;
  }
  dlclose(library_);
  const std::string symbols = "ncclProfiler_v" + std::to_string(newest);
  throw Failure(kExitUsage, "cannot use a profiler plugin", path,
                "it exports no " + symbols + (interface == 0 ? " and no older table" : ""),
                "The player speaks versions 1 to 7 of NCCL's profiler interface");
}

PluginLibrary::~PluginLibrary() {
  profiler_.reset();
  dlclose(library_);
}

}  // namespace nccl_sentinel::player
