// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nccl_sentinel {

// Bytes of one element of an NCCL datatype by its name ("ncclFloat32", "ncclBfloat16"); 1 where the name says nothing.
std::uint64_t element_bytes(const char* datatype) noexcept;

// count x element_bytes, at most 2^64 - 1.
std::uint64_t message_bytes(std::uint64_t count, const char* datatype) noexcept;

}  // namespace nccl_sentinel
