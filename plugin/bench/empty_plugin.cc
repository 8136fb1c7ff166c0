// SPDX-License-Identifier: Apache-2.0
// Asks for everything and does nothing with it: what a callback costs before a plugin does anything.
#include "stand_in.h"

namespace {

int start(void* context, void** handle, void*) {
  *handle = context;
  return 0;
}

int stop(void*) { return 0; }

int state(void*, int, void*) { return 0; }

}  // namespace

NCCL_SENTINEL_STAND_IN("empty", start, stop, state);
