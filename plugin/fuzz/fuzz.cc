// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-fuzz --plugin SO [--interface N] [--seed N] [--steps N] [--seconds S] [--threads N]
//                    [--communicators N] [--names N] [--pairs N] [--chaos PERCENT] [--lifecycle N] [--backlog N]
//                    [--owners 1] [--watch 1]
//
// Calls a profiler plugin from several threads, through all the tables that it exports, with what NCCL does and, by
// --chaos, with what it never would: stale, foreign, repeated and made-up contexts and handles, states before starts,
// unknown types, communicators closed while others are inside. When all threads have done, it says
// {"played":true,"launched":N,...} and waits for a line on stdin, closes the communicators, says {"closed":true} and
// waits for another. The same seed gives each thread the same choices; how the threads meet is up to the machine.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "watch.h"
#include "worker.h"

namespace {

using namespace nccl_sentinel::fuzz;
using nccl_sentinel::bench::AllocationCounter;
using nccl_sentinel::bench::SystemCallCounter;

void wait_for_line() {
  std::fflush(stdout);
  for (int letter = std::getchar(); letter != '\n' && letter != EOF; letter = std::getchar()) {
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  const std::vector<Table> tables = load_tables(options.plugin, options.interface);
  World world(options, tables);
  Random random(options.seed);
  for (Seat& seat : world.seats()) world.open(seat, random);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  std::atomic<std::uint64_t> launched{0};
  std::atomic<std::uint64_t> allocations{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < options.threads; ++number) {
    threads.emplace_back([&, number, until, seed = random.next()] {
      Worker worker(world, number, seed);
      worker.step();  // a thread's first allocation asks the kernel for memory
      if (options.watch && !SystemCallCounter::install()) std::abort();
      for (std::uint64_t step = 0; step < options.steps; ++step) {
        if (step % 1024 == 0 && std::chrono::steady_clock::now() > until) break;
        worker.step();
      }
      launched += worker.launched();
      allocations += AllocationCounter::calls;
    });
  }
  std::puts("{\"playing\":true}");
  std::fflush(stdout);
  for (std::thread& thread : threads) thread.join();
  std::printf("{\"played\":true,\"launched\":%llu,\"allocations\":%llu,\"system_calls\":",
              static_cast<unsigned long long>(launched), static_cast<unsigned long long>(allocations));
  SystemCallCounter::write(stdout);
  std::puts("}");
  wait_for_line();
  for (Seat& seat : world.seats()) world.close(seat);
  std::puts("{\"closed\":true}");
  wait_for_line();
  return 0;
}
