// SPDX-License-Identifier: Apache-2.0
#include "directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace nccl_sentinel {
namespace {

constexpr mode_t kEverybodySticky = 01777;

bool fail(Failure& failure, const char* what, const char* path, int error, const char* hint) noexcept {
  failure.what = what;
  std::snprintf(failure.where, sizeof failure.where, "%s", path);
  failure.error = error;
  failure.hint = hint;
  return false;
}

bool open_at(const char* path, int flags, Directory& directory) noexcept {
  std::snprintf(directory.path, sizeof directory.path, "%s", path);
  directory.fd = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
  return directory.fd >= 0;
}

bool open_fallback(const char* path, Directory& directory) noexcept {
  const bool is_new = mkdir(path, kEverybodySticky) == 0;
  if (!open_at(path, O_NOFOLLOW, directory)) return false;
  if (is_new) fchmod(directory.fd, kEverybodySticky);  // mkdir's mode went through the umask
  return true;
}

}  // namespace

bool open_directory(const char* chosen, const char* node, const char* fallback, Directory& directory,
                    Failure& failure) noexcept {
  if (chosen != nullptr) {
    if (open_at(chosen, 0, directory)) return true;
    return fail(failure, "cannot open the directory", chosen, errno,
                "This process is not observed. Create the directory (mode 1777), or correct NCCL_SENTINEL_DIR.");
  }
  const bool is_open = open_at(node, O_NOFOLLOW, directory) || (errno == ENOENT && open_fallback(fallback, directory));
  if (!is_open) {
    return fail(failure, "cannot open the directory", directory.path, errno,
                "This process is not observed. Create it as root with mode 1777, or set NCCL_SENTINEL_DIR.");
  }
  struct stat status{};
  if (fstat(directory.fd, &status) == 0 && ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & S_ISVTX) != 0)) {
    return true;
  }
  close(directory.fd);
  directory.fd = -1;
  return fail(failure, "does not trust the directory", directory.path, 0,
              "Anybody may remove files in it, so this process is not observed. Give it mode 1777.");
}

}  // namespace nccl_sentinel
