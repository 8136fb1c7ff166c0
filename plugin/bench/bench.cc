// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-bench-plugin --plugin SO --script FILE [--segment NAME] [--interface N] [--callbacks N]
//                            [--overhead-ticks T]
//
// Times each callback of one recorded rank, played from one thread as fast as it goes: with warm caches. On stdout is
// one JSON object with a histogram of ticks for each kind of callback, timing included, and one of what an operation's
// launch takes on the application's thread, without --overhead-ticks for each of its callbacks. tests/bench/plugin.py
// makes a table of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "failure.h"
#include "histogram.h"
#include "launch_batches.h"
#include "nccl_sentinel/abi.h"
#include "options.h"
#include "plugin_table.h"
#include "solo_player.h"
#include "tick_clock.h"

namespace {

using namespace nccl_sentinel;
using namespace nccl_sentinel::bench;

Callbacks plugin;
std::uint64_t ticks = 0;  // that the last callback took

int time_start(void* context, void** handle, void* descriptor) {
  const std::uint64_t began = ticks_before();
  const int result = plugin.start(context, handle, descriptor);
  ticks = ticks_after() - began;
  return result;
}

int time_stop(void* handle) {
  const std::uint64_t began = ticks_before();
  const int result = plugin.stop(handle);
  ticks = ticks_after() - began;
  return result;
}

int time_state(void* handle, int state, void* arguments) {
  const std::uint64_t began = ticks_before();
  const int result = plugin.state(handle, state, arguments);
  ticks = ticks_after() - began;
  return result;
}

constexpr std::array<const char*, 12> kTypes = {"Group",     "Coll",      "P2p",      "ProxyOp",
                                                "ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
                                                "GroupApi",  "CollApi",   "P2pApi",   "KernelLaunch"};
constexpr std::array<const char*, 3> kKinds = {"start", "stop", "state"};

class Bench {
 public:
  Bench(SoloPlayer& player, double overhead_ticks) : player_(player), overhead_(overhead_ticks), batches_(player) {
    ticks_.resize(player.events().size());
    launches_.resize(batches_.size());
  }

  // Returns how many callbacks were made.
  std::uint64_t play() {
    player_.begin();
    for (std::size_t place = 0; place < ticks_.size(); ++place) {
      ticks = 0;
      player_.play(*player_.events()[place]);
      ticks_[place] = ticks;
    }
    return count();
  }

  void write() const {
    const char* separator = "";
    for (const auto& [name, histogram] : histograms_) {
      std::printf("%s\"%s\":", separator, name.c_str());
      histogram.write(stdout);
      separator = ",";
    }
  }

 private:
  // Operations that were launched together.
  struct Launch {
    double ticks = 0;  // without what timing costs
    std::uint32_t operations = 0;
    std::uint32_t skipped = 0;
  };

  static bool is_launch(const script::Event& event) {
    return event.kind == script::Kind::kStart &&
           (event.type == script::Type::kColl || event.type == script::Type::kP2p);
  }

  // Sampling leaves out an operation by not asking for its kernel, or by not wanting to hear more of it.
  bool is_skipped(const script::Event& event) const {
    const player::Slot& slot = player_.slot(event.slot);
    return (slot.mask & static_cast<int>(abi::kKernelCh)) == 0 || slot.handle == nullptr;
  }

  std::uint64_t count() {
    std::fill(launches_.begin(), launches_.end(), Launch{});
    for (std::size_t place = 0; place < ticks_.size(); ++place) {
      const std::uint32_t batch = batches_.batch(place);
      if (ticks_[place] == 0 || batch == LaunchBatches::kNone) continue;
      launches_[batch].ticks += static_cast<double>(ticks_[place]) - overhead_;
      if (!is_launch(*player_.events()[place])) continue;
      ++launches_[batch].operations;
      launches_[batch].skipped += is_skipped(*player_.events()[place]) ? 1 : 0;
    }
    for (const Launch& launch : launches_) {
      if (launch.operations == 0 || (launch.skipped != 0 && launch.skipped != launch.operations)) continue;
      histograms_[launch.skipped != 0 ? "launch, skipped" : "launch"].add(
          static_cast<std::uint64_t>(std::llround(std::max(0.0, launch.ticks / launch.operations))));
    }
    std::uint64_t callbacks = 0;
    for (std::size_t place = 0; place < ticks_.size(); ++place) {
      if (ticks_[place] == 0) continue;
      ++callbacks;
      const script::Event& event = *player_.events()[place];
      const std::uint32_t batch = batches_.batch(place);
      const bool skipped = batch != LaunchBatches::kNone && launches_[batch].operations != 0 &&
                           launches_[batch].skipped == launches_[batch].operations;
      const std::string name = std::string(kTypes[static_cast<std::size_t>(event.type)]) + " " +
                               kKinds[static_cast<std::size_t>(event.kind)];
      histograms_[skipped ? name + ", skipped" : name].add(ticks_[place]);
    }
    return callbacks;
  }

  SoloPlayer& player_;
  const double overhead_;
  const LaunchBatches batches_;
  std::vector<std::uint64_t> ticks_;  // of each event's callback; 0: none was made
  std::vector<Launch> launches_;
  std::map<std::string, Histogram> histograms_;
};

void run(const Options& options) {
  const player::ScriptFile script(options.script);
  const PluginTable table(options.plugin, options.interface, script, {time_start, time_stop, time_state}, plugin);
  SoloPlayer player(script, options.segment, table.profiler());
  Bench bench(player, options.overhead_ticks);
  player.open();
  const TickClock clock;
  std::uint64_t callbacks = 0;
  do {
    const std::uint64_t made = bench.play();
    if (made == 0)
      throw player::Failure(player::kExitRun, "cannot time a plugin", options.plugin, "it asked for nothing");
    callbacks += made;
  } while (callbacks < options.callbacks);
  std::printf("{\"interface\":%d,\"callbacks\":%llu,\"ns_per_tick\":%.9f,\"ticks\":{", table.interface(),
              static_cast<unsigned long long>(callbacks), clock.ns_per_tick());
  bench.write();
  std::puts("}}");
  player.close();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(read_options(count, arguments));
  } catch (const player::Failure& failure) {
    std::fprintf(stderr, "nccl-sentinel-bench-plugin: %s\n", failure.what());
    return failure.exit_status();
  }
  return 0;
}
