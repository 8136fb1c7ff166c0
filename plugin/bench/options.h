// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nccl_sentinel::bench {

struct Options {
  std::string plugin;           // path of a shared library
  std::string script;           // one rank, compiled
  std::string segment = "all";  //
  int interface = 0;            // 1 to 7; 0: the newest that the plugin has
  std::uint64_t callbacks = 0;  // iterations go on until so many were made; 0: one iteration
  double pace = 0;              // how much faster than recorded; 0: without pauses
  double overhead_ticks = 0;    // what timing itself costs a callback
  bool log_operations = false;
  bool hold = false;  // wait for the end of stdin before communicators are closed, and again before the end
};

// Failure (usage) when an option is none or its value cannot be read.
Options read_options(int count, char** arguments);

}  // namespace nccl_sentinel::bench
