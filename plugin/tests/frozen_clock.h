// SPDX-License-Identifier: Apache-2.0
// The clock by which the plugin decides how fast an operation repeats and what its callbacks cost in a second. The test
// program defines clock_gettime itself; a case that freezes this one clock moves it on by hand.
#pragma once

#include <cstdint>

namespace nccl_sentinel::tests {

// CLOCK_MONOTONIC_COARSE stands still from here on.
void freeze_clock();
void pass_ms(std::uint64_t milliseconds);

}  // namespace nccl_sentinel::tests
