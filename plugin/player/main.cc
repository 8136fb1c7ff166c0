// SPDX-License-Identifier: Apache-2.0
// nccl-trace-player: plays NCCL's part towards a profiler plugin, from a recorded trace.
#include <cstdio>
#include <exception>

#include "control.h"
#include "failure.h"
#include "options.h"
#include "player.h"

int main(int argc, char** argv) {
  using namespace nccl_sentinel::player;
  // Far enough for the threads to be waiting when the first event is due.
  constexpr std::int64_t kSoonNs = 20'000'000;
  try {
    const Options options = read_options(argc, argv);
    if (options.help) {
      std::fputs(kUsage, stdout);
      return 0;
    }
    Control control;
    Player player(options, control.finished_fd());
    if (options.start_at_ns) player.start(*options.start_at_ns != 0 ? *options.start_at_ns : monotonic_ns() + kSoonNs);
    control.steer(player);
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "nccl-trace-player: %s\n", failure.what());
    return failure.exit_status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nccl-trace-player: cannot go on: %s\n", error.what());
    return kExitRun;
  }
}
