// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

#include "solo_player.h"

namespace nccl_sentinel::bench {

// From NCCL's side: which operations were launched, which of them carried timing, and whose timing the plugin took.
class OperationLog {
 public:
  // Makes room for so many iterations.
  OperationLog(const SoloPlayer& player, std::size_t iterations);

  // After `event` was played.
  void note(const script::Event& event);
  // [["comm", "func", peer, number, emitted, taken], ...]; peer is -1 and number NCCL's for a Coll. Sends and Receives
  // are numbered by their peer.
  void write(std::FILE* file) const;

 private:
  struct Entry {
    const script::Event* event;
    std::uint64_t number;
    bool emitted;
    bool taken;
  };
  using Stream = std::tuple<std::uint8_t, std::uint16_t, std::int32_t>;

  const SoloPlayer& player_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> entry_of_slot_;
  std::map<Stream, std::uint64_t> sent_;  // by communicator, func and peer
};

}  // namespace nccl_sentinel::bench
