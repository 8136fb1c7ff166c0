// SPDX-License-Identifier: Apache-2.0
#include "fake_nccl.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"

namespace nccl_sentinel::tests {
namespace {

std::vector<Logged>& log_lines() {
  static std::vector<Logged> lines;
  return lines;
}

void log_line(int level, unsigned long, const char*, int, const char* format, ...) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> hold(mutex);
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_lines().push_back({level, text});
}

template <typename Table, typename Descriptor>
class Versioned : public FakeNccl {
 public:
  explicit Versioned(const Table& table) : table_(table) {}

  void* init(std::uint64_t id, const char* name, int nodes, int ranks, int rank) override {
    void* context = nullptr;
    if constexpr (std::is_same_v<Table, abi::v4::Table>) {
      returned |= table_.init(&context, &mask, name, id, nodes, ranks, rank, log_line);
    } else {
      returned |= table_.init(&context, id, &mask, name, nodes, ranks, rank, log_line);
    }
    return context;
  }

  void* collective(void* context, const Collective& collective) override {
    Descriptor descriptor{};
    descriptor.type = abi::kColl;
    descriptor.coll.func = collective.operation;
    descriptor.coll.count = collective.count;
    descriptor.coll.datatype = collective.datatype;
    descriptor.coll.nChannels = collective.channels;
    descriptor.coll.algo = collective.algorithm;
    descriptor.coll.proto = collective.protocol;
    return start(context, descriptor);
  }

  void* channel(void* context, void* parent, std::uint8_t channel, std::uint64_t timer) override {
    Descriptor descriptor{};
    descriptor.type = abi::kKernelCh;
    descriptor.parentObj = parent;
    descriptor.kernelCh.channelId = channel;
    descriptor.kernelCh.pTimer = timer;
    return start(context, descriptor);
  }

  void* event(void* context, std::uint64_t type) override {
    Descriptor descriptor{};
    descriptor.type = static_cast<decltype(descriptor.type)>(type);
    return start(context, descriptor);
  }

  void stop_time(void* channel, std::uint64_t timer) override {
    abi::StateArguments arguments{timer};
    count(table_.recordEventState(channel, abi::kKernelChStop, &arguments));
  }

  void state(void* handle, int state) override { count(table_.recordEventState(handle, state, nullptr)); }
  void stop(void* handle) override { count(table_.stopEvent(handle)); }
  void finalize(void* context) override { count(table_.finalize(context)); }

  void call_with_nulls(void* context) override {
    void* handle = this;
    count(table_.startEvent(context, nullptr, nullptr));
    count(table_.startEvent(context, &handle, nullptr));
    count(handle == nullptr ? 0 : 1);
    count(table_.stopEvent(nullptr));
    count(table_.recordEventState(nullptr, abi::kKernelChStop, nullptr));
    count(table_.finalize(nullptr));
  }

 private:
  void count(int result) { returned |= result; }

  void* start(void* context, Descriptor& descriptor) {
    void* handle = this;
    count(table_.startEvent(context, &handle, &descriptor));
    return handle;
  }

  const Table& table_;
};

std::unique_ptr<FakeNccl>& spoken() {
  static std::unique_ptr<FakeNccl> version;
  return version;
}

}  // namespace

void FakeNccl::run_channel(void* context, void* parent, std::uint8_t number, std::uint64_t start, std::uint64_t end) {
  void* handle = channel(context, parent, number, start);
  stop_time(handle, end);
  stop(handle);
}

void FakeNccl::run(void* context, const Collective& launched, std::uint64_t start, std::uint64_t duration) {
  void* operation = collective(context, launched);
  stop(operation);
  for (std::uint8_t i = 0; i < launched.channels; ++i) run_channel(context, operation, i, start, start + duration);
}

FakeNccl& nccl() { return *spoken(); }

void speak(int version) {
  if (version == 4) {
    spoken() = std::make_unique<Versioned<abi::v4::Table, abi::v4::Descriptor>>(ncclProfiler_v4);
  } else {
    spoken() = std::make_unique<Versioned<abi::v5::Table, abi::v5::Descriptor>>(ncclProfiler_v5);
  }
}

const std::vector<Logged>& logged() { return log_lines(); }

}  // namespace nccl_sentinel::tests
