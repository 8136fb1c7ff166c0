// SPDX-License-Identifier: Apache-2.0
#include "mapped_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "dead_files.h"
#include "file_lock.h"

namespace nccl_sentinel {
namespace {

constexpr int kNamesTried = 8;

// Past the limit on a file's size the kernel sends SIGXFSZ, which kills: it is kept off this thread, and taken back if
// the allocation raised it.
class FileSizeSignalHold {
 public:
  FileSizeSignalHold() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalHold() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalHold(const FileSizeSignalHold&) = delete;
  FileSizeSignalHold& operator=(const FileSizeSignalHold&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_;
};

int allocate_range(int fd, std::size_t offset, std::size_t bytes) noexcept {
  const FileSizeSignalHold hold;
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  return error;
}

int set_size(int fd) noexcept {
  const FileSizeSignalHold hold;
  return ftruncate(fd, sizeof(layout::File)) == 0 ? 0 : errno;
}

// Another process may be sweeping: it removes what it can lock. A file that was locked and still has its name is ours.
bool own(int fd) noexcept {
  struct stat status{};
  return lock_file(fd) && fstat(fd, &status) == 0 && status.st_nlink == 1;
}

}  // namespace

bool MappedFile::create(const Directory& directory, std::uint64_t start_monotonic_ns, Failure& failure) noexcept {
  directory_ = directory.fd;
  int fd = -1;
  for (int i = 0; i < kNamesTried && fd < 0; ++i) {
    start_monotonic_ns_ = start_monotonic_ns + static_cast<std::uint64_t>(i);
    std::snprintf(name_, sizeof name_, "%d-%" PRIx64 "%s", static_cast<int>(getpid()), start_monotonic_ns_,
                  kFileSuffix);
    fd = openat(directory_, name_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST) break;
    if (fd >= 0 && !own(fd)) {
      const int error = errno;
      unlinkat(directory_, name_, 0);
      close(fd);
      fd = -1;
      errno = error;
    }
  }
  std::snprintf(failure.where, sizeof failure.where, "%.400s/%s", directory.path, name_);
  if (fd < 0) {
    failure.what = "cannot create";
    failure.error = errno;
    failure.hint = "This process is not observed. Make the directory writable for it, or set NCCL_SENTINEL_DIR.";
    return false;
  }
  fchmod(fd, 0644);  // the exporter reads it, whatever the job's umask
  failure.error = set_size(fd);
  if (failure.error == 0) failure.error = allocate_range(fd, 0, offsetof(layout::File, communicators));
  if (failure.error == 0) {
    void* mapping = mmap(nullptr, sizeof(layout::File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapping != MAP_FAILED) {
      file_ = static_cast<layout::File*>(mapping);
      fd_ = fd;
      return true;
    }
    failure.error = errno;
  }
  unlinkat(directory_, name_, 0);
  close(fd);
  failure.what = "cannot allocate";
  failure.hint =
      "This process is not observed. It needs 56 KiB a communicator: make room there, or set NCCL_SENTINEL_DIR.";
  return false;
}

bool MappedFile::allocate(std::uint32_t slot, Failure& failure) noexcept {
  failure.error = allocate_range(fd_, offsetof(layout::File, communicators) + slot * sizeof(layout::Communicator),
                                 sizeof(layout::Communicator));
  if (failure.error == 0) return true;
  std::snprintf(failure.where, sizeof failure.where, "%s", name_);
  failure.what = "cannot allocate a communicator's pages in";
  failure.hint = "This communicator is not observed. Make room there, or set NCCL_SENTINEL_DIR.";
  return false;
}

void MappedFile::remove() noexcept {
  if (file_ != nullptr) unlinkat(directory_, name_, 0);
}

}  // namespace nccl_sentinel
