// SPDX-License-Identifier: Apache-2.0
// This process's file: created, filled to its full size, locked and mapped.
#pragma once

#include <cstdint>

#include "directory.h"
#include "nccl_sentinel/layout.h"
#include "report.h"

namespace nccl_sentinel {

class MappedFile {
 public:
  // A new, sparse file in `directory` with the pages of its header.
  bool create(const Directory& directory, std::uint64_t start_monotonic_ns, Failure& failure) noexcept;

  // The pages of a communicator's slot: where the disk is full it fails here, and no store to the mapping can ever
  // raise SIGBUS. Nothing else may touch a slot that has none.
  bool allocate(std::uint32_t slot, Failure& failure) noexcept;

  // Takes the name away; the mapping stays, since other threads may still be counting. Nothing where it never was
  // created.
  void remove() noexcept;

  layout::File* get() const noexcept { return file_; }
  const char* name() const noexcept { return name_; }
  std::uint64_t start_monotonic_ns() const noexcept { return start_monotonic_ns_; }

 private:
  layout::File* file_;
  std::uint64_t start_monotonic_ns_;  // as the name says it: later by a nanosecond where the first name was taken
  int directory_;
  int fd_;  // stays open: it carries the lock
  char name_[64];
};

}  // namespace nccl_sentinel
