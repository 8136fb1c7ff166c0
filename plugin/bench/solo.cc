// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-solo-player --plugin SO --script FILE [--segment NAME] [--interface N] [--callbacks N] [--pace F]
//                           [--log-operations] [--hold]
//
// Plays one recorded rank from one thread and says, as one JSON object on stdout, what the plugin did meanwhile: calls
// of malloc and its kin, system calls by number (not counted with --pace), threads that it started, and with
// --log-operations what became of each operation. With --hold it waits for a line on stdin before the communicators are
// closed (it has said "played" in the object), and for another before it ends (it has said {"closed":true}).
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "failure.h"
#include "operation_log.h"
#include "options.h"
#include "plugin_table.h"
#include "solo_player.h"
#include "watch.h"

namespace {

using namespace nccl_sentinel;
using namespace nccl_sentinel::bench;

Callbacks plugin;
std::uint64_t callbacks = 0;

// The plugin runs only inside its callbacks: that it starts no thread is counted too.

int watch_start(void* context, void** handle, void* descriptor) {
  ++callbacks;
  const Watch watch;
  return plugin.start(context, handle, descriptor);
}

int watch_stop(void* handle) {
  ++callbacks;
  const Watch watch;
  return plugin.stop(handle);
}

int watch_state(void* handle, int state, void* arguments) {
  ++callbacks;
  const Watch watch;
  return plugin.state(handle, state, arguments);
}

long threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

void sleep_until(std::int64_t ns) {
  const timespec until{ns / 1'000'000'000, ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

struct Played {
  std::uint64_t allocations = 0;
  bool counts_system_calls = false;
  // Where the machine's clock source has no vDSO, reading a clock is a system call, and nobody's fault.
  bool clock_is_system_call = false;
};

void play(SoloPlayer& player, OperationLog* log, const Options& options, Played& played) {
  // A thread's first allocation asks the kernel for memory.
  void* volatile first = std::malloc(1);
  std::free(first);
  if (options.pace == 0) {
    played.counts_system_calls = SystemCallCounter::install();
    SystemCallCounter::counting = true;
    player::monotonic_ns();
    SystemCallCounter::counting = false;
    for (std::uint64_t& number : SystemCallCounter::calls) {
      played.clock_is_system_call = played.clock_is_system_call || number != 0;
      number = 0;
    }
  }
  const std::int64_t began_ns = player::monotonic_ns();
  AllocationCounter::calls = 0;
  do {
    player.begin();
    for (const script::Event* event : player.events()) {
      if (options.pace > 0) {
        sleep_until(began_ns + static_cast<std::int64_t>(static_cast<double>(event->time_ns) / options.pace));
      }
      player.play(*event);
      if (log != nullptr) log->note(*event);
    }
  } while (callbacks < options.callbacks && options.pace == 0 && callbacks > 0);
  played.allocations = AllocationCounter::calls;
}

void wait_for_line() {
  for (int letter = std::getchar(); letter != '\n' && letter != EOF; letter = std::getchar()) {
  }
}

void run(const Options& options) {
  const player::ScriptFile script(options.script);
  const PluginTable table(options.plugin, options.interface, script, {watch_start, watch_stop, watch_state}, plugin);
  SoloPlayer player(script, options.segment, table.profiler());
  std::unique_ptr<OperationLog> log;
  // An iteration of which nothing but the operations is asked for makes at least one callback for each.
  if (options.log_operations) log = std::make_unique<OperationLog>(player, options.callbacks / 64 + 1);
  const long threads_before = threads();
  player.open();
  callbacks = 0;
  Played played;
  std::thread(play, std::ref(player), log.get(), std::cref(options), std::ref(played)).join();
  std::printf("{\"interface\":%d,\"callbacks\":%llu,\"allocations\":%llu,\"threads\":%ld,\"clock_is_system_call\":%s",
              table.interface(), static_cast<unsigned long long>(callbacks),
              static_cast<unsigned long long>(played.allocations), threads() - threads_before,
              played.clock_is_system_call ? "true" : "false");
  if (played.counts_system_calls) {
    std::printf(",\"system_calls\":");
    SystemCallCounter::write(stdout);
  }
  if (log != nullptr) {
    std::printf(",\"operations\":");
    log->write(stdout);
  }
  std::puts("}");
  std::fflush(stdout);
  if (options.hold) wait_for_line();
  player.close();
  if (!options.hold) return;
  std::puts("{\"closed\":true}");
  std::fflush(stdout);
  wait_for_line();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(read_options(count, arguments));
  } catch (const player::Failure& failure) {
    std::fprintf(stderr, "nccl-sentinel-solo-player: %s\n", failure.what());
    return failure.exit_status();
  }
  return 0;
}
