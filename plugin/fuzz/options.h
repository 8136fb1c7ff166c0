// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nccl_sentinel::fuzz {

struct Options {
  std::string plugin;
  int interface = 0;  // 1 to 7; 0: all that the plugin has
  std::uint64_t seed = 1;
  std::uint64_t steps = 100'000;  // of each thread
  double seconds = 1e9;           // or so long
  unsigned threads = 4;
  unsigned communicators = 8;  // at a time
  unsigned names = 5;          // of operations
  unsigned pairs = 2;          // of algorithm and protocol, at most 12
  unsigned chaos = 50;         // percent of what NCCL never does; 0: only what it does
  unsigned lifecycle = 10;     // communicators opened or closed, in 10,000 steps
  unsigned backlog = 8;        // operations of a thread that are launched and not finished
  bool owners = false;         // as NCCL does: one thread launches on a communicator, another one tells of its kernels
  bool watch = false;          // count system calls: a thread that makes one gets ENOSYS
};

// Ends the process with 2 when an option is none.
Options read_options(int count, char** arguments);

}  // namespace nccl_sentinel::fuzz
