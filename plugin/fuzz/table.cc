// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "nccl_sentinel/abi.h"
#include "watch.h"

namespace nccl_sentinel::fuzz {
namespace {

// But for init, all versions are called alike.
template <class Init>
using Exported = abi::PluginTable<Init, void, void>;

const Exported<abi::InitV1>& any(const void* exported) { return *static_cast<const Exported<abi::InitV1>*>(exported); }

void expect_success(int result, const char* call) {
  if (result == 0) return;
  std::fprintf(stderr, "nccl-sentinel-fuzz: %s returned %d\n", call, result);
  std::abort();
}

void log(int, unsigned long, const char*, int, const char*, ...) {}

}  // namespace

void* Table::init(std::uint64_t id, int* mask, const char* name, int ranks, int rank) const {
  void* context = nullptr;
  int result = 0;
  if (version_ <= 3) {
    result = any(exported_).init(&context, mask);
  } else if (version_ == 4) {
    result = static_cast<const Exported<abi::InitV4>*>(exported_)->init(&context, mask, name, id, 2, ranks, rank, log);
  } else {
    result = static_cast<const Exported<abi::InitV5>*>(exported_)->init(&context, id, mask, name, 2, ranks, rank, log);
  }
  expect_success(result, "init");
  return context;
}

void* Table::start(void* context, const Event& event) const {
  Descriptor descriptor;
  describe(version_, event, descriptor);
  void* handle = &descriptor;  // the plugin must say null where it wants nothing
  {
    const bench::Watch watch;
    expect_success(any(exported_).startEvent(context, &handle, &descriptor), "startEvent");
  }
  if (handle == &descriptor) {
    std::fprintf(stderr, "nccl-sentinel-fuzz: startEvent left the handle unset\n");
    std::abort();
  }
  return handle;
}

void Table::stop(void* handle) const {
  const bench::Watch watch;
  expect_success(any(exported_).stopEvent(handle), "stopEvent");
}

void Table::state(void* handle, int state, const std::uint64_t* value) const {
  std::uint64_t arguments[2] = {value != nullptr ? *value : 0, 0};
  const bench::Watch watch;
  expect_success(any(exported_).recordEventState(handle, state, value != nullptr ? arguments : nullptr),
                 "recordEventState");
}

void Table::finalize(void* context) const { expect_success(any(exported_).finalize(context), "finalize"); }

void Table::call_with_nulls(void* context) const {
  expect_success(any(exported_).startEvent(context, nullptr, nullptr), "startEvent");
  void* handle = nullptr;
  expect_success(any(exported_).startEvent(context, &handle, nullptr), "startEvent");
  Descriptor descriptor;
  describe(version_, {}, descriptor);
  expect_success(any(exported_).startEvent(nullptr, &handle, &descriptor), "startEvent");
  stop(nullptr);
  state(nullptr, abi::kKernelChStop, nullptr);
  finalize(nullptr);
}

std::vector<Table> load_tables(const std::string& plugin, int only) {
  void* library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "nccl-sentinel-fuzz: cannot load %s: %s\n", plugin.c_str(), dlerror());
    std::exit(2);
  }
  std::vector<Table> tables;
  for (int version = 1; version <= 7; ++version) {
    if (only != 0 && only != version) continue;
    const void* exported = dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str());
    if (exported != nullptr) tables.emplace_back(version, exported);
  }
  if (tables.empty()) {
    std::fprintf(stderr, "nccl-sentinel-fuzz: %s exports no table\n", plugin.c_str());
    std::exit(2);
  }
  return tables;
}

}  // namespace nccl_sentinel::fuzz
