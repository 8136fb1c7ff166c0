// SPDX-License-Identifier: Apache-2.0
// The player's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nccl_sentinel::player {

struct Options {
  std::string plugin;
  std::string script;
  std::string segment;
  std::optional<std::int64_t> start_at_ns;  // empty: a line on stdin says when; 0: as soon as possible
  double pace = 1.0;
  std::int64_t resolution_ns = 1'000'000;
  int interface = 0;  // 0: the newest
  bool help = false;
};

extern const char kUsage[];

// Failure (usage) names the option, its value and what is allowed.
Options read_options(int argc, char** argv);
// The whole text as a time of CLOCK_MONOTONIC in ns, empty when it is not one.
std::optional<std::int64_t> read_time_ns(const std::string& text);

}  // namespace nccl_sentinel::player
