// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "descriptor.h"

namespace nccl_sentinel::fuzz {

// One version of the interface as the plugin exports it. Every call's result must be 0: the process aborts otherwise.
class Table {
 public:
  Table(int version, const void* exported) : version_(version), exported_(exported) {}

  int version() const { return version_; }
  void* init(std::uint64_t id, int* mask, const char* name, int ranks, int rank) const;
  void* start(void* context, const Event& event) const;
  void stop(void* handle) const;
  // `value` may be null.
  void state(void* handle, int state, const std::uint64_t* value) const;
  void finalize(void* context) const;
  // What NCCL never does: null wherever a pointer goes.
  void call_with_nulls(void* context) const;

 private:
  int version_;
  const void* exported_;
};

// All that a plugin exports, or that of one version. Ends the process when it cannot be loaded or has none.
std::vector<Table> load_tables(const std::string& plugin, int version);

}  // namespace nccl_sentinel::fuzz
