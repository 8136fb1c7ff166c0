// SPDX-License-Identifier: Apache-2.0
// How a reader knows that a file's process is alive.
//
// A POSIX record lock over the whole file, kept for the life of the process. The kernel drops it at death; a forked
// child does not inherit it; a reader in any pid namespace sees it with F_GETLK. Its one trap: a process loses it by
// closing *any* descriptor of that file, so a training process must not open its own file.
#pragma once

#include <fcntl.h>

namespace nccl_sentinel {

inline bool lock_file(int fd) noexcept {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;  // from 0, length 0: the whole file, however long
  return fcntl(fd, F_SETLK, &whole) == 0;
}

}  // namespace nccl_sentinel
