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
  if (const void* table = interface != 4 ? dlsym(library_, "ncclProfiler_v5") : nullptr; table != nullptr) {
    profiler_ = make_profiler_v5(table, script);
  } else if (table = interface != 5 ? dlsym(library_, "ncclProfiler_v4") : nullptr; table != nullptr) {
    profiler_ = make_profiler_v4(table, script);
  } else {
    dlclose(library_);
    const std::string symbols =
        interface == 0 ? "ncclProfiler_v5 nor ncclProfiler_v4" : "ncclProfiler_v" + std::to_string(interface);
    throw Failure(kExitUsage, "cannot use a profiler plugin", path,
                  std::string("it exports ") + (interface == 0 ? "neither " : "no ") + symbols,
                  "The player speaks versions 4 and 5 of NCCL's profiler interface");
  }
}

PluginLibrary::~PluginLibrary() {
  profiler_.reset();
  dlclose(library_);
}

}  // namespace nccl_sentinel::player
