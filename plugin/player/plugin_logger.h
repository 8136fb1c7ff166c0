// SPDX-License-Identifier: Apache-2.0
// The logger that the player gives to a plugin, in the place of NCCL's own.
#pragma once

namespace nccl_sentinel::player {

// One line on stderr: level, source, text.
void log_from_plugin(int level, unsigned long subsystem, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

}  // namespace nccl_sentinel::player
