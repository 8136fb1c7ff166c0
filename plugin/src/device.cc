// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <dlfcn.h>

#include <cstdio>

namespace nccl_sentinel {
namespace {

// A library that is in the process already, for as long as this lives.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* path) noexcept : handle_(dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL)) {}
  ~LoadedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  template <typename Function>
  Function find(const char* symbol) const noexcept {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle_, symbol));
  }

 private:
  void* handle_;
};

// CUDA's driver interface, as far as it is needed here: results are ints, 0 for success; a device is an int.
struct CudaUuid {
  unsigned char bytes[16];
};
using GetDevice = int (*)(int* device);
using GetUuid = int (*)(CudaUuid* uuid, int device);
using GetVersion = int (*)(int* version);

}  // namespace

Device current_device() noexcept {
  Device device;
  const LoadedLibrary cuda("libcuda.so.1");
  const auto get_device = cuda.find<GetDevice>("cuCtxGetDevice");
  if (get_device == nullptr || get_device(&device.ordinal) != 0) return Device{};
  const auto get_uuid = cuda.find<GetUuid>("cuDeviceGetUuid");
  CudaUuid uuid{};
  if (get_uuid == nullptr || get_uuid(&uuid, device.ordinal) != 0) return device;
  char* end = device.uuid + std::snprintf(device.uuid, sizeof device.uuid, "GPU-");
  for (int i = 0; i < 16; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    end += std::snprintf(end, 4, dash ? "-%02x" : "%02x", uuid.bytes[i]);
  }
  return device;
}

int nccl_version(abi::Logger logger) noexcept {
  Dl_info library{};
  if (logger == nullptr || dladdr(reinterpret_cast<void*>(logger), &library) == 0) return 0;
  const LoadedLibrary nccl(library.dli_fname);
  const auto get_version = nccl.find<GetVersion>("ncclGetVersion");
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

}  // namespace nccl_sentinel
