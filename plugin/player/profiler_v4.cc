// SPDX-License-Identifier: Apache-2.0
#include "nccl_sentinel/abi_v4.h"
#include "profiler_shim.h"

namespace nccl_sentinel::player {
namespace {

struct Abi {
  using Descriptor = abi::v4::Descriptor;
  using Table = abi::v4::Table;
  using StateArguments = abi::StateArguments;
};

class ProfilerV4 final : public ProfilerShim<Abi> {
 public:
  using ProfilerShim::ProfilerShim;

  bool knows(script::Type type) const override { return type <= script::Type::kNetPlugin; }

  int init(void** context, int* mask, const script::Communicator& communicator, const char* name) const override {
    return table_.init(context, mask, name, communicator.id, communicator.nnodes, communicator.nranks,
                       communicator.rank, log_from_plugin);
  }

 private:
  void fill(abi::v4::Descriptor& descriptor, const Start& start) const override {
    ProfilerShim::fill(descriptor, start);
    // Without API events the group is an operation's parent.
    if (start.event.type == script::Type::kColl || start.event.type == script::Type::kP2p) {
      descriptor.parentObj = start.group;
    }
  }
};

}  // namespace

std::unique_ptr<Profiler> make_profiler_v4(const void* table, const ScriptFile& script) {
  return std::make_unique<ProfilerV4>(table, script);
}

}  // namespace nccl_sentinel::player
