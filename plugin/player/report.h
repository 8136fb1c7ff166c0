// SPDX-License-Identifier: Apache-2.0
// What the player says on stdout: one JSON object a line.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace nccl_sentinel::player {

class Report {
 public:
  // All communicators are open; the run may start.
  void ready(int rank);
  // A command was read in time and will be performed at `at_ns`; the empty name stops.
  void planned(const std::string& segment, std::int64_t at_ns);
  void segment(const std::string& name, std::int64_t at_ns, std::uint64_t iteration);
  // The run stops at `at_ns`, after so many iterations.
  void stop(std::int64_t at_ns, std::uint64_t iterations);

 private:
  void write(const std::string& line);

  std::mutex mutex_;
};

}  // namespace nccl_sentinel::player
