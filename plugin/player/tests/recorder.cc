// SPDX-License-Identifier: Apache-2.0
// A profiler plugin that writes every callback as one JSON object a line.
//
//  RECORDER_FILE      where to
//  RECORDER_MASK      the mask that it asks for
//  RECORDER_INTERVAL  times (KernelCh) only Colls whose sequence number is a multiple of this: from the start of each
//                     it rewrites the mask for the next
//  RECORDER_CAPTURE   the mask that it asks for from the start of an API call that a CUDA graph captures
//  RECORDER_NULL      types (a mask) for which it returns a null handle
//  RECORDER_RESULT    what init returns
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "nccl_sentinel/abi_v1.h"
#include "nccl_sentinel/abi_v2.h"
#include "nccl_sentinel/abi_v3.h"
#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"
#include "nccl_sentinel/abi_v6.h"
#include "nccl_sentinel/abi_v7.h"

namespace {

using namespace nccl_sentinel;

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

struct Context {
  std::uint64_t id;
  int rank;
};

std::mutex mutex;
std::FILE* file = nullptr;
int open_communicators = 0;
int* mask_address = nullptr;
std::atomic<std::uintptr_t> handles{0};

class Line {
 public:
  explicit Line(const char* call) : lock_(mutex) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::fprintf(file, "{\"call\":\"%s\",\"t\":%" PRId64 ",\"tid\":%ld", call,
                 static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec, syscall(SYS_gettid));
  }
  ~Line() { std::fputs("}\n", file); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void number(const char* name, long long value) { std::fprintf(file, ",\"%s\":%lld", name, value); }
  void pointer(const char* name, const void* value) {
    number(name, static_cast<long long>(reinterpret_cast<std::uintptr_t>(value)));
  }
  void text(const char* name, const char* value) {
    if (value != nullptr) {
      std::fprintf(file, ",\"%s\":\"%s\"", name, value);
    } else {
      std::fprintf(file, ",\"%s\":null", name);
    }
  }
  // What version 1 numbers and the others name.
  template <std::size_t size>
  void text(const char* name, const char* value, const char* const (&)[size]) {
    text(name, value);
  }
  template <std::size_t size>
  void text(const char* name, std::uint8_t value, const char* const (&names)[size]) {
    text(name, value < size ? names[value] : nullptr);
  }

 private:
  const std::lock_guard<std::mutex> lock_;
};

template <int version>
int begin(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
          abi::Logger logger) {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (file == nullptr) file = std::fopen(std::getenv("RECORDER_FILE"), "we");
    if (file == nullptr) return 1;
    ++open_communicators;
  }
  mask_address = mask;
  __atomic_store_n(mask, static_cast<int>(setting("RECORDER_MASK", 0xFFF)), __ATOMIC_RELAXED);
  *context = new Context{id, rank};
  if (logger != nullptr) {
    logger(abi::kLogInfo, abi::kSubsystemProfile, __FILE__, __LINE__, "recorder opens rank %d of %d", rank, ranks);
  }
  Line line("init");
  line.number("interface", version);
  line.number("comm", static_cast<long long>(id >> 1));
  line.text("name", name);
  line.number("nnodes", nodes);
  line.number("nranks", ranks);
  line.number("rank", rank);
  line.pointer("mask_address", mask);
  const int result = static_cast<int>(setting("RECORDER_RESULT", 0));
  if (result != 0) delete static_cast<Context*>(*context);  // there will be no finalize
  return result;
}

void sample(std::uint64_t sequence) {
  static const long interval = setting("RECORDER_INTERVAL", 0);
  if (interval == 0) return;
  const bool timed = (sequence + 1) % static_cast<std::uint64_t>(interval) == 0;
  __atomic_store_n(mask_address, static_cast<int>(abi::kColl | (timed ? abi::kKernelCh : 0)), __ATOMIC_RELAXED);
}

template <class Abi>
void note_capture(const typename Abi::Descriptor& d) {
  if constexpr (Abi::kVersion >= 5) {
    static const long mask = setting("RECORDER_CAPTURE", 0);
    if (mask != 0 && d.type == abi::kCollApi && d.collApi.graphCaptured) {
      __atomic_store_n(mask_address, static_cast<int>(mask), __ATOMIC_RELAXED);
    }
  }
}

template <class Abi, class Operation>
void write_operation(Line& line, const Operation& operation) {
  line.text("func", operation.func, abi::v1::kFunctions);
  line.number("count", static_cast<long long>(operation.count));
  line.text("dtype", operation.datatype, abi::v1::kDatatypes);
  if constexpr (Abi::kVersion >= 5) line.pointer("group", operation.parentGroup);
  if constexpr (Abi::kVersion < 4) {
    line.number("hash", static_cast<long long>(operation.commHash >> 1));
    line.text("name", operation.name);
  }
}

template <class Call>
void write_call(Line& line, const Call& call) {
  line.text("func", call.func);
  line.number("count", static_cast<long long>(call.count));
  line.number("captured", call.graphCaptured ? 1 : 0);
}

template <class Abi>
void write_coll(Line& line, const typename Abi::Descriptor& d) {
  write_operation<Abi>(line, d.coll);
  line.number("seq", static_cast<long long>(d.coll.seqNumber));
  line.number("root", d.coll.root);
  line.number("nwarps", d.coll.nWarps);
  line.text("algo", d.coll.algo, abi::v1::kAlgorithms);
  line.text("proto", d.coll.proto, abi::v1::kProtocols);
  if constexpr (Abi::kVersion >= 4) {
    line.number("nchannels", d.coll.nChannels);
  } else {
    line.number("nchannels", d.coll.nMaxChannels);
  }
}

template <class Abi>
void write(Line& line, const typename Abi::Descriptor& d) {
  switch (d.type) {
    case abi::kColl:
      return write_coll<Abi>(line, d);
    case abi::kP2p:
      write_operation<Abi>(line, d.p2p);
      line.number("peer", d.p2p.peer);
      if constexpr (Abi::kVersion >= 4) line.number("nchannels", d.p2p.nChannels);
      return;
    case abi::kProxyOp:
      line.number("own_process", d.proxyOp.pid == getpid() ? 1 : 0);
      line.number("channel", d.proxyOp.channelId);
      line.number("peer", d.proxyOp.peer);
      line.number("nsteps", d.proxyOp.nSteps);
      line.number("chunk", d.proxyOp.chunkSize);
      line.number("is_send", d.proxyOp.isSend);
      return;
    case abi::kProxyStep:
      line.number("step", d.proxyStep.step);
      return;
    case abi::kKernelCh:
      if constexpr (Abi::kVersion >= 3) line.number("channel", d.kernelCh.channelId);
      if constexpr (Abi::kVersion >= 4) line.number("ptimer", static_cast<long long>(d.kernelCh.pTimer));
      return;
    default:
      break;
  }
  if constexpr (Abi::kVersion >= 5) {
    if (d.type == abi::kGroupApi) {
      line.number("captured", d.groupApi.graphCaptured ? 1 : 0);
      line.number("depth", d.groupApi.groupDepth);
    } else if (d.type == abi::kCollApi) {
      write_call(line, d.collApi);
    } else if (d.type == abi::kP2pApi) {
      write_call(line, d.p2pApi);
    }
  }
}

template <class Abi>
int start(void* context, void** handle, typename Abi::Descriptor* d) {
  static const auto null = static_cast<std::uint64_t>(setting("RECORDER_NULL", 0));
  const std::uint64_t type = d->type;
  *handle = (type & null) != 0 ? nullptr : reinterpret_cast<void*>(handles.fetch_add(1) + 1);
  {
    Line line("start");
    line.number("type", static_cast<long long>(type));
    line.pointer("handle", *handle);
    line.pointer("parent", d->parentObj);
    line.number("rank", d->rank);
    line.number("comm", static_cast<long long>(static_cast<Context*>(context)->id >> 1));
    write<Abi>(line, *d);
  }
  if (type == abi::kColl) sample(d->coll.seqNumber);
  note_capture<Abi>(*d);
  return 0;
}

int stop(void* handle) {
  Line line("stop");
  line.pointer("handle", handle);
  return 0;
}

template <class Abi>
int state(void* handle, int number, typename Abi::StateArguments* arguments) {
  Line line("state");
  line.pointer("handle", handle);
  line.number("state", number);
  long long value = -1;
  if constexpr (Abi::kVersion >= 4) {
    if (arguments != nullptr) value = static_cast<long long>(arguments->pTimer);
  } else {
    if (arguments != nullptr) value = arguments->appendedProxyOps;
  }
  line.number("value", value);
  return 0;
}

int finish(void* context) {
  const auto* communicator = static_cast<Context*>(context);
  {
    Line line("finalize");
    line.number("comm", static_cast<long long>(communicator->id >> 1));
  }
  delete communicator;
  const std::lock_guard<std::mutex> lock(mutex);
  if (--open_communicators == 0) {
    std::fclose(file);
    file = nullptr;
  }
  return 0;
}

int begin_v4(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
             abi::Logger logger) {
  return begin<4>(context, id, mask, name, nodes, ranks, rank, logger);
}

template <int version>
int begin_v1(void** context, int* mask) {
  return begin<version>(context, 0, mask, nullptr, 0, 0, 0, nullptr);
}

template <class Abi, class Init>
constexpr typename Abi::Table table(Init init) {
  return {"recorder", init, start<Abi>, stop, state<Abi>, finish};
}

}  // namespace

constexpr abi::v1::Table ncclProfiler_v1 = table<abi::v1::Abi>(begin_v1<1>);
constexpr abi::v2::Table ncclProfiler_v2 = table<abi::v2::Abi>(begin_v1<2>);
constexpr abi::v3::Table ncclProfiler_v3 = table<abi::v3::Abi>(begin_v1<3>);
constexpr abi::v4::Table ncclProfiler_v4 = table<abi::v4::Abi>(begin_v4);
constexpr abi::v5::Table ncclProfiler_v5 = table<abi::v5::Abi>(begin<5>);
constexpr abi::v6::Table ncclProfiler_v6 = table<abi::v6::Abi>(begin<6>);
constexpr abi::v7::Table ncclProfiler_v7 = table<abi::v7::Abi>(begin<7>);
