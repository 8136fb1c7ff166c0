// SPDX-License-Identifier: Apache-2.0
// Any event, and how each version of the interface describes it.
#pragma once

#include <cstdint>

namespace nccl_sentinel::fuzz {

struct Event {
  std::uint64_t type = 0;
  void* parent = nullptr;
  void* group = nullptr;
  std::uint64_t id = 0;  // of the communicator
  const char* communicator = nullptr;
  const char* operation = nullptr;
  const char* datatype = nullptr;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t timer = 0;
  int peer = 0;
  int step = 0;
  std::int32_t pid = 0;
  std::uint8_t channel = 0;
  std::uint8_t channels = 0;
  bool is_send = false;
  bool is_captured = false;
};

// Room for the descriptor of any version.
struct alignas(8) Descriptor {
  unsigned char bytes[160];
};

// `version`: 1 to 7. An event that the version does not have carries its type only.
void describe(int version, const Event& event, Descriptor& descriptor);

}  // namespace nccl_sentinel::fuzz
