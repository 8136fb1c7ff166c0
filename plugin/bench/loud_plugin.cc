// SPDX-License-Identifier: Apache-2.0
// Does what a plugin must not: allocates in each start, frees in each stop, makes a system call in each state. Counting
// that does not find this finds nothing.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "stand_in.h"

namespace {

int start(void*, void** handle, void*) {
  *handle = std::malloc(24);
  return 0;
}

int stop(void* handle) {
  std::free(handle);
  return 0;
}

int state(void*, int, void*) {
  syscall(SYS_getppid);
  return 0;
}

}  // namespace

NCCL_SENTINEL_STAND_IN("loud", start, stop, state);
