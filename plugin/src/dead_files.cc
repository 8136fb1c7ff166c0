// SPDX-License-Identifier: Apache-2.0
#include "dead_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "clock.h"
#include "file_lock.h"

namespace nccl_sentinel {
namespace {

// A directory can hold anything; init does not read it for ever.
constexpr int kEntriesRead = 65536;

// When this process began, on CLOCK_MONOTONIC; nothing where /proc is not there.
std::optional<std::uint64_t> process_start_ns() noexcept {
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char text[1024] = "";
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  const char* field = size > 0 ? std::strrchr(text, ')') : nullptr;  // the end of field 2
  for (int number = 2; field != nullptr && number < 22; ++number) field = std::strchr(field + 1, ' ');
  if (field == nullptr) return std::nullopt;
  const auto ticks = static_cast<std::uint64_t>(std::strtoull(field, nullptr, 10));
  const auto since_boot = ticks * (1'000'000'000U / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
  const std::uint64_t awake = monotonic_ns();
  const std::uint64_t slept = read_clock_ns(CLOCK_BOOTTIME) - awake;  // read second, so never below zero
  return since_boot - std::min(since_boot, slept);
}

// Locks do not keep a process from itself: a second copy of this library would take its sibling's file for dead. A file
// of this pid that is older than this process was left by another one, in a container where the pid is always the same.
bool may_be_own(const FileName& name, std::optional<std::uint64_t> process_start) noexcept {
  return name.pid == getpid() && (!process_start || name.start_monotonic_ns >= *process_start);
}

bool remove_if_dead(int directory, const char* name) noexcept {
  struct stat listed{};
  if (fstatat(directory, name, &listed, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(listed.st_mode) ||
      listed.st_uid != geteuid()) {
    return false;
  }
  const int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat opened{};
  const bool is_same = fstat(fd, &opened) == 0 && opened.st_ino == listed.st_ino && opened.st_dev == listed.st_dev;
  // The lock is held while the name goes: a process that has just created it cannot lock it and takes another name.
  const bool removed = is_same && lock_file(fd) && unlinkat(directory, name, 0) == 0;
  close(fd);
  return removed;
}

}  // namespace

std::optional<FileName> parse_file_name(const char* name) noexcept {
  if (name[0] < '1' || name[0] > '9') return std::nullopt;
  char* end = nullptr;
  const unsigned long pid = std::strtoul(name, &end, 10);
  if (pid > INT32_MAX || *end != '-') return std::nullopt;
  const char* start = end + 1;
  const std::size_t digits = std::strspn(start, "0123456789abcdef");
  if (digits == 0 || digits > 16 || std::strcmp(start + digits, kFileSuffix) != 0) return std::nullopt;
  return FileName{static_cast<std::int32_t>(pid), std::strtoull(start, nullptr, 16)};
}

int remove_dead_files(int directory) noexcept {
  const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // a position of its own
  DIR* entries = again < 0 ? nullptr : fdopendir(again);
  if (entries == nullptr) {
    if (again >= 0) close(again);
    return 0;
  }
  const std::optional<std::uint64_t> process_start = process_start_ns();
  int removed = 0;
  for (int i = 0; i < kEntriesRead; ++i) {
    const dirent* entry = readdir(entries);
    if (entry == nullptr) break;
    const std::optional<FileName> name = parse_file_name(entry->d_name);
    if (name && !may_be_own(*name, process_start) && remove_if_dead(directory, entry->d_name)) ++removed;
  }
  closedir(entries);
  return removed;
}

}  // namespace nccl_sentinel
