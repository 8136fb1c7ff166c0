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

#include "nccl_sentinel/abi_v4.h"
#include "nccl_sentinel/abi_v5.h"

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

struct V4 {
  using Descriptor = abi::v4::Descriptor;
};
struct V5 {
  using Descriptor = abi::v5::Descriptor;
};

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

 private:
  const std::lock_guard<std::mutex> lock_;
};

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
  logger(abi::kLogInfo, abi::kSubsystemProfile, __FILE__, __LINE__, "recorder opens rank %d of %d", rank, ranks);
  Line line("init");
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

void note_capture(const abi::v5::Descriptor& d) {
  static const long mask = setting("RECORDER_CAPTURE", 0);
  if (mask != 0 && d.type == 1 << 9 && d.collApi.graphCaptured) {
    __atomic_store_n(mask_address, static_cast<int>(mask), __ATOMIC_RELAXED);
  }
}

void note_capture(const abi::v4::Descriptor&) {}

void write(Line& line, const abi::v5::Descriptor& d) {
  switch (d.type) {
    case 1 << 1:
      line.pointer("group", d.coll.parentGroup);
      break;
    case 1 << 2:
      line.pointer("group", d.p2p.parentGroup);
      break;
    case 1 << 8:
      line.number("captured", d.groupApi.graphCaptured ? 1 : 0);
      line.number("depth", d.groupApi.groupDepth);
      break;
    case 1 << 9:
      line.text("func", d.collApi.func);
      line.number("count", static_cast<long long>(d.collApi.count));
      line.number("captured", d.collApi.graphCaptured ? 1 : 0);
      break;
    case 1 << 10:
      line.text("func", d.p2pApi.func);
      line.number("count", static_cast<long long>(d.p2pApi.count));
      line.number("captured", d.p2pApi.graphCaptured ? 1 : 0);
      break;
    default:
      break;
  }
}

void write(Line&, const abi::v4::Descriptor&) {}

template <class Version>
int start(void* context, void** handle, typename Version::Descriptor* d) {
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
    write(line, *d);
    if (type == 1 << 1) {
      line.number("seq", static_cast<long long>(d->coll.seqNumber));
      line.text("func", d->coll.func);
      line.number("count", static_cast<long long>(d->coll.count));
      line.text("dtype", d->coll.datatype);
      line.number("root", d->coll.root);
      line.number("nchannels", d->coll.nChannels);
      line.number("nwarps", d->coll.nWarps);
      line.text("algo", d->coll.algo);
      line.text("proto", d->coll.proto);
    } else if (type == 1 << 2) {
      line.text("func", d->p2p.func);
      line.number("count", static_cast<long long>(d->p2p.count));
      line.text("dtype", d->p2p.datatype);
      line.number("peer", d->p2p.peer);
      line.number("nchannels", d->p2p.nChannels);
    } else if (type == 1 << 3) {
      line.number("own_process", d->proxyOp.pid == getpid() ? 1 : 0);
      line.number("channel", d->proxyOp.channelId);
      line.number("peer", d->proxyOp.peer);
      line.number("nsteps", d->proxyOp.nSteps);
      line.number("chunk", d->proxyOp.chunkSize);
      line.number("is_send", d->proxyOp.isSend);
    } else if (type == 1 << 4) {
      line.number("step", d->proxyStep.step);
    } else if (type == 1 << 6) {
      line.number("channel", d->kernelCh.channelId);
      line.number("ptimer", static_cast<long long>(d->kernelCh.pTimer));
    }
  }
  if (type == abi::kColl) sample(d->coll.seqNumber);
  note_capture(*d);
  return 0;
}

int stop(void* handle) {
  Line line("stop");
  line.pointer("handle", handle);
  return 0;
}

int state(void* handle, int number, abi::StateArguments* arguments) {
  Line line("state");
  line.pointer("handle", handle);
  line.number("state", number);
  line.number("value", arguments != nullptr ? static_cast<long long>(arguments->pTimer) : -1);
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
  return begin(context, id, mask, name, nodes, ranks, rank, logger);
}

}  // namespace

const abi::v4::Table ncclProfiler_v4 = {"recorder", begin_v4, start<V4>, stop, state, finish};
const abi::v5::Table ncclProfiler_v5 = {"recorder", begin, start<V5>, stop, state, finish};
