// SPDX-License-Identifier: Apache-2.0
#include "fake_nccl.h"

#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "nccl_sentinel/abi_v1.h"
#include "nccl_sentinel/abi_v2.h"
#include "nccl_sentinel/abi_v3.h"
#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"
#include "nccl_sentinel/abi_v6.h"
#include "nccl_sentinel/abi_v7.h"

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

// What NCCL knows about a communicator by the context that it was given.
struct Known {
  void* context = nullptr;
  std::uint64_t id = 0;
  std::optional<std::string> name;
  int rank = 0;
};

// Numbers without locks: what the plugin's callers share must not order them, or thread sanitizers see no race.
class Sequences {
 public:
  std::uint64_t next(const void* context, const char* operation) {
    const std::size_t named = std::hash<std::string_view>{}(operation != nullptr ? operation : "");
    const std::size_t key = (named ^ reinterpret_cast<std::size_t>(context)) | 1;
    for (std::size_t at = key;; ++at) {
      Counter& counter = counters_[at % counters_.size()];
      std::size_t found = 0;
      if (counter.key.compare_exchange_strong(found, key, std::memory_order_relaxed) || found == key) {
        return counter.next.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

 private:
  struct Counter {
    std::atomic<std::size_t> key{0};
    std::atomic<std::uint64_t> next{0};
  };
  std::array<Counter, 16'384> counters_;
};

// Version 1 has numbers for these.
template <std::size_t size>
void set(std::uint8_t& field, const char* text, const char* const (&names)[size]) {
  field = abi::v1::number_of(text, names);
}
template <std::size_t size>
void set(const char*& field, const char* text, const char* const (&)[size]) {
  field = text;
}

template <class Abi>
class Versioned : public FakeNccl {
  using Descriptor = typename Abi::Descriptor;
  static constexpr bool kTimed = Abi::kVersion >= 4;

 public:
  explicit Versioned(const typename Abi::Table& table) : table_(table) {}

  int version() const override { return Abi::kVersion; }

  void* init(std::uint64_t id, const char* name, int nodes, int ranks, int rank) override {
    void* context = nullptr;
    if constexpr (Abi::kVersion >= 5) {
      count(table_.init(&context, id, &mask, name, nodes, ranks, rank, log_line));
    } else if constexpr (Abi::kVersion == 4) {
      count(table_.init(&context, &mask, name, id, nodes, ranks, rank, log_line));
    } else {
      count(table_.init(&context, &mask));
      const std::lock_guard<std::mutex> hold(opening_);
      known_[opened_.load(std::memory_order_relaxed) % known_.size()] = {
          context, id, name != nullptr ? std::optional<std::string>(name) : std::nullopt, rank};
      opened_.fetch_add(1, std::memory_order_release);
    }
    return context;
  }

  void* group(void* context) override { return event(context, abi::kGroup); }

  void* group_call(void* context, bool is_captured) override {
    if constexpr (Abi::kVersion >= 5) {
      Descriptor descriptor = describe(context, abi::kGroupApi, nullptr);
      descriptor.groupApi.graphCaptured = is_captured;
      descriptor.groupApi.groupDepth = 1;
      return start(context, descriptor);
    }
    return nullptr;
  }

  void* collective_call(void* context, const char* operation, bool is_captured, void* group_call) override {
    if constexpr (Abi::kVersion >= 5) {
      Descriptor descriptor = describe(context, abi::kCollApi, group_call);
      descriptor.collApi.func = operation;
      descriptor.collApi.graphCaptured = is_captured;
      return start(context, descriptor);
    }
    return nullptr;
  }

  void* p2p_call(void* context, const char* operation, bool is_captured, void* group_call) override {
    if constexpr (Abi::kVersion >= 5) {
      Descriptor descriptor = describe(context, abi::kP2pApi, group_call);
      descriptor.p2pApi.func = operation;
      descriptor.p2pApi.graphCaptured = is_captured;
      return start(context, descriptor);
    }
    return nullptr;
  }

  void* collective(void* context, const Collective& collective) override {
    Descriptor descriptor = describe(context, abi::kColl, collective.call);
    auto& coll = descriptor.coll;
    identify(context, coll);
    coll.seqNumber = number(context, collective);
    coll.count = collective.count;
    set(coll.func, collective.operation, abi::v1::kFunctions);
    set(coll.datatype, collective.datatype, abi::v1::kDatatypes);
    set(coll.algo, collective.algorithm, abi::v1::kAlgorithms);
    set(coll.proto, collective.protocol, abi::v1::kProtocols);
    if constexpr (kTimed) {
      coll.nChannels = collective.channels;
    } else {
      coll.nMaxChannels = collective.channels;
    }
    return start(context, descriptor);
  }

  void* p2p(void* context, const PointToPoint& point_to_point) override {
    Descriptor descriptor = describe(context, abi::kP2p, point_to_point.call);
    auto& message = descriptor.p2p;
    identify(context, message);
    message.count = point_to_point.count;
    message.peer = point_to_point.peer;
    set(message.func, point_to_point.operation, abi::v1::kFunctions);
    set(message.datatype, point_to_point.datatype, abi::v1::kDatatypes);
    if constexpr (kTimed) message.nChannels = point_to_point.channels;
    return start(context, descriptor);
  }

  void* copy_engine_collective(void* context, const Collective& collective) override {
    if constexpr (Abi::kVersion >= 6) {
      Descriptor descriptor = describe(context, abi::kCeColl, nullptr);
      descriptor.ceColl.seqNumber = number(context, collective);
      descriptor.ceColl.func = collective.operation;
      descriptor.ceColl.count = collective.count;
      descriptor.ceColl.datatype = collective.datatype;
      return start(context, descriptor);
    }
    return nullptr;
  }

  void* channel(void* context, void* parent, std::uint8_t channel, std::uint64_t timer) override {
    if constexpr (Abi::kVersion >= 3) {
      Descriptor descriptor = describe(context, abi::kKernelCh, parent);
      descriptor.kernelCh.channelId = channel;
      if constexpr (kTimed) descriptor.kernelCh.pTimer = timer;
      return start(context, descriptor);
    }
    return nullptr;
  }

  void* network(void* context, void* parent, const Network& network) override {
    Descriptor descriptor = describe(context, abi::kProxyOp, parent);
    descriptor.proxyOp.pid = network.pid != 0 ? network.pid : getpid();
    descriptor.proxyOp.channelId = network.channel;
    descriptor.proxyOp.peer = network.peer;
    descriptor.proxyOp.nSteps = network.steps;
    descriptor.proxyOp.isSend = network.is_send ? 1 : 0;
    return start(context, descriptor);
  }

  void* step(void* context, void* network, std::int32_t number) override {
    Descriptor descriptor = describe(context, abi::kProxyStep, network);
    descriptor.proxyStep.step = number;
    return start(context, descriptor);
  }

  void* event(void* context, std::uint64_t type) override {
    Descriptor descriptor{};
    descriptor.type = static_cast<decltype(descriptor.type)>(type);
    return start(context, descriptor);
  }

  void stop_time(void* channel, std::uint64_t timer) override {
    if constexpr (kTimed) state(channel, abi::kKernelChStop, timer);
  }
  void state(void* handle, int state) override { count(table_.recordEventState(handle, state, nullptr)); }
  void state(void* handle, int state, std::uint64_t value) override {
    typename Abi::StateArguments arguments{};
    if constexpr (kTimed) {
      arguments.pTimer = value;
    } else {
      arguments.proxyOp.transSize = value;
    }
    count(table_.recordEventState(handle, state, &arguments));
  }
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

  std::uint64_t number(void* context, const Collective& collective) {
    return collective.sequence ? *collective.sequence : sequences_.next(context, collective.operation);
  }

  // Versions 1 to 3 say with each operation which communicator it is of.
  template <class Operation>
  void identify([[maybe_unused]] void* context, [[maybe_unused]] Operation& operation) {
    if constexpr (!kTimed) {
      const Known& communicator = know(context);
      operation.name = communicator.name ? communicator.name->c_str() : nullptr;
      operation.commHash = communicator.id;
    }
  }

  const Known& know(void* context) const {
    static const Known none{};
    for (std::size_t at = opened_.load(std::memory_order_acquire); at > 0; --at) {
      if (known_[(at - 1) % known_.size()].context == context) return known_[(at - 1) % known_.size()];
    }
    return none;
  }

  Descriptor describe(void* context, std::uint64_t type, void* parent) const {
    Descriptor descriptor{};
    descriptor.type = static_cast<decltype(descriptor.type)>(type);
    descriptor.parentObj = parent;
    if constexpr (!kTimed) descriptor.rank = know(context).rank;
    return descriptor;
  }

  void* start(void* context, Descriptor& descriptor) {
    void* handle = this;
    count(table_.startEvent(context, &handle, &descriptor));
    return handle;
  }

  const typename Abi::Table& table_;
  Sequences sequences_;
  std::mutex opening_;
  std::atomic<std::size_t> opened_{0};
  std::array<Known, 1'024> known_;
};

std::unique_ptr<FakeNccl>& spoken() {
  static std::unique_ptr<FakeNccl> version;
  return version;
}

template <class Abi>
void speak(const typename Abi::Table& table) {
  spoken() = std::make_unique<Versioned<Abi>>(table);
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

void FakeNccl::run_p2p(void* context, const PointToPoint& launched, std::uint64_t start, std::uint64_t duration) {
  void* operation = p2p(context, launched);
  stop(operation);
  for (std::uint8_t i = 0; i < launched.channels; ++i) run_channel(context, operation, i, start, start + duration);
}

FakeNccl& nccl() { return *spoken(); }

void speak(int version) {
  switch (version) {
    case 1:
      return speak<abi::v1::Abi>(ncclProfiler_v1);
    case 2:
      return speak<abi::v2::Abi>(ncclProfiler_v2);
    case 3:
      return speak<abi::v3::Abi>(ncclProfiler_v3);
    case 4:
      return speak<abi::v4::Abi>(ncclProfiler_v4);
    case 5:
      return speak<abi::v5::Abi>(ncclProfiler_v5);
    case 6:
      return speak<abi::v6::Abi>(ncclProfiler_v6);
    case 7:
      return speak<abi::v7::Abi>(ncclProfiler_v7);
    default:
      std::abort();
  }
}

const std::vector<Logged>& logged() { return log_lines(); }

}  // namespace nccl_sentinel::tests
