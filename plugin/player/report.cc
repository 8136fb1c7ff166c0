// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cstdio>

namespace nccl_sentinel::player {
namespace {

// Names of segments hold no quotes and no backslashes: compile_scripts sees to it.
std::string quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

void Report::ready(int rank) { write(R"({"event":"ready","rank":)" + std::to_string(rank) + "}"); }

void Report::planned(const std::string& segment, std::int64_t at_ns) {
  write(R"({"event":"planned","name":)" + (segment.empty() ? "null" : quoted(segment)) + R"(,"at_ns":)" +
        std::to_string(at_ns) + "}");
}

void Report::segment(const std::string& name, std::int64_t at_ns, std::uint64_t iteration) {
  write(R"({"event":"segment","name":)" + quoted(name) + R"(,"at_ns":)" + std::to_string(at_ns) + R"(,"iteration":)" +
        std::to_string(iteration) + "}");
}

void Report::stop(std::int64_t at_ns, std::uint64_t iterations) {
  write(R"({"event":"stop","at_ns":)" + std::to_string(at_ns) + R"(,"iteration":)" + std::to_string(iterations) + "}");
}

void Report::write(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace nccl_sentinel::player
