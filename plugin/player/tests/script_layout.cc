// SPDX-License-Identifier: Apache-2.0
// The layout of a player script as JSON: sizes, and offsets in the order of the members. Python's writer is checked
// against it.
#include <cstdio>
#include <initializer_list>

#include "script.h"

namespace {

using namespace nccl_sentinel::script;

void print(const char* name, std::size_t size, std::initializer_list<std::size_t> offsets) {
  std::printf("\"%s\": {\"size\": %zu, \"offsets\": [", name, size);
  const char* comma = "";
  for (const std::size_t offset : offsets) {
    std::printf("%s%zu", comma, offset);
    comma = ", ";
  }
  std::printf("]},\n");
}

}  // namespace

#define AT(member) offsetof(Type, member)

int main() {
  std::printf("{\n");
  {
    using Type = Header;
    print("header", sizeof(Type), {AT(magic), AT(version), AT(rank), AT(file_bytes), AT(sections)});
  }
  {
    using Type = Communicator;
    print("communicator", sizeof(Type),
          {AT(id), AT(rank), AT(nranks), AT(nnodes), AT(name), AT(init_thread), AT(finalize_thread), AT(closing),
           AT(index)});
  }
  {
    using Type = Segment;
    print("segment", sizeof(Type), {AT(start_ns), AT(length_ns), AT(name), AT(slots)});
  }
  {
    using Type = Span;
    print("span", sizeof(Type), {AT(first), AT(count)});
  }
  {
    using Type = Total;
    print("total", sizeof(Type), {AT(first), AT(count)});
  }
  {
    using Type = Event;
    print("event", sizeof(Type),
          {AT(time_ns), AT(value), AT(slot),  AT(parent),       AT(group),    AT(operation), AT(rank),
           AT(number),  AT(extra), AT(order), AT(func),         AT(dtype),    AT(algo),      AT(proto),
           AT(need),    AT(kind),  AT(type),  AT(communicator), AT(channels), AT(warps),     AT(flags)});
  }
  std::printf("\"magic\": \"%.8s\",\n\"version\": %u,\n\"none\": %u,\n\"permanent\": %u,\n", kMagic, kVersion, kNone,
              kPermanent);
  std::printf(
      "\"types\": {\"Group\": %d, \"Coll\": %d, \"P2p\": %d, \"ProxyOp\": %d, \"ProxyStep\": %d, \"ProxyCtrl\": %d, ",
      static_cast<int>(Type::kGroup), static_cast<int>(Type::kColl), static_cast<int>(Type::kP2p),
      static_cast<int>(Type::kProxyOp), static_cast<int>(Type::kProxyStep), static_cast<int>(Type::kProxyCtrl));
  std::printf("\"KernelCh\": %d, \"GroupApi\": %d, \"CollApi\": %d, \"P2pApi\": %d, \"KernelLaunch\": %d},\n",
              static_cast<int>(Type::kKernelCh), static_cast<int>(Type::kGroupApi), static_cast<int>(Type::kCollApi),
              static_cast<int>(Type::kP2pApi), static_cast<int>(Type::kKernelLaunch));
  std::printf("\"flags\": {\"GRAPH_CAPTURED\": %d, \"SEND\": %d, \"OWN_PROCESS\": %d}\n}\n", kGraphCaptured, kSend,
              kOwnProcess);
}
