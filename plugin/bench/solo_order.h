// SPDX-License-Identifier: Apache-2.0
// All events of one rank in one order: what one thread can play without ever waiting for another.
#pragma once

#include <vector>

#include "script_file.h"

namespace nccl_sentinel::bench {

// By recorded time, except that nothing comes before what it belongs to has started.
// Failure (usage) when the script has events that belong to something that never starts.
std::vector<const script::Event*> order_events(const player::ScriptFile& script, std::size_t segment);

}  // namespace nccl_sentinel::bench
