// SPDX-License-Identifier: Apache-2.0
#include "nccl_sentinel/abi_v5.h"
#include "profiler_shim.h"

namespace nccl_sentinel::player {
namespace {

struct Abi {
  using Descriptor = abi::v5::Descriptor;
  using Table = abi::v5::Table;
  using StateArguments = abi::StateArguments;
};

class ProfilerV5 final : public ProfilerShim<Abi> {
 public:
  using ProfilerShim::ProfilerShim;

  bool knows(script::Type) const override { return true; }

  int init(void** context, int* mask, const script::Communicator& communicator, const char* name) const override {
    return table_.init(context, communicator.id, mask, name, communicator.nnodes, communicator.nranks,
                       communicator.rank, log_from_plugin);
  }

 private:
  void fill(abi::v5::Descriptor& descriptor, const Start& start) const override {
    ProfilerShim::fill(descriptor, start);
    const script::Event& event = start.event;
    const bool captured = (event.flags & script::kGraphCaptured) != 0;
    switch (event.type) {
      case script::Type::kColl:
        descriptor.coll.parentGroup = start.group;
        break;
      case script::Type::kP2p:
        descriptor.p2p.parentGroup = start.group;
        break;
      case script::Type::kGroupApi:
        descriptor.groupApi.graphCaptured = captured;
        descriptor.groupApi.groupDepth = event.number;
        break;
      case script::Type::kCollApi:
        descriptor.collApi.func = script_.text(event.func);
        descriptor.collApi.count = event.value;
        descriptor.collApi.datatype = script_.text(event.dtype);
        descriptor.collApi.root = event.number;
        descriptor.collApi.graphCaptured = captured;
        break;
      case script::Type::kP2pApi:
        descriptor.p2pApi.func = script_.text(event.func);
        descriptor.p2pApi.count = event.value;
        descriptor.p2pApi.datatype = script_.text(event.dtype);
        descriptor.p2pApi.graphCaptured = captured;
        break;
      default:
        break;
    }
  }
};

}  // namespace

std::unique_ptr<Profiler> make_profiler_v5(const void* table, const ScriptFile& script) {
  return std::make_unique<ProfilerV5>(table, script);
}

}  // namespace nccl_sentinel::player
