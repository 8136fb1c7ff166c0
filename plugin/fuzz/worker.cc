// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <unistd.h>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::fuzz {
namespace {

constexpr const char* kOperations[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"};
constexpr const char* kAlgorithms[] = {"RING", "TREE", "NVLS", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};
constexpr const char* kDatatypes[] = {"ncclInt8", "ncclFloat32", "ncclBfloat16"};
constexpr const char* kOdd[] = {nullptr, "", "\xff\xfe", "a name of an operation that is longer than its field",
                                "?\n\"\\"};
constexpr std::uint64_t kTimer = 1'700'000'000'000'000'000;

// "Operation0" and so on, past the names that NCCL has.
struct MoreNames {
  static constexpr std::size_t kSize = 256;
  char text[kSize][16];
  MoreNames() {
    for (std::size_t place = 0; place < kSize; ++place)
      snprintf(text[place], sizeof text[place], "Operation%zu", place);
  }
};
const MoreNames more_names;
// Asked once: a thread that is watched makes no system call.
const std::int32_t pid = getpid();

const char* operation_name(std::uint64_t number) {
  constexpr std::size_t kKnown = sizeof kOperations / sizeof kOperations[0];
  return number < kKnown ? kOperations[number] : more_names.text[number % MoreNames::kSize];
}

}  // namespace

void Worker::step() {
  if (random_.below(10'000) < world_.options().lifecycle) {
    Seat& seat = world_.seat(random_, thread_);
    seat.open ? world_.close(seat) : world_.open(seat, random_);
  } else if (random_.percent(world_.options().chaos)) {
    do_nonsense();
  } else if (backlog_.size() < world_.options().backlog && random_.percent(50)) {
    launch();
  } else if (Launched operation; take(operation)) {
    finish(operation);
  } else {
    launch();
  }
}

bool Worker::take(Launched& operation) {
  if (world_.options().owners) return world_.mailbox(thread_).pop(operation);
  if (backlog_.empty()) return false;
  // The oldest first, as a stream does; now and then not.
  const std::size_t place = random_.percent(10) ? random_.below(backlog_.size()) : 0;
  operation = backlog_[place];
  backlog_.erase(backlog_.begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

void Worker::launch() {
  Seat& seat = world_.seat(random_, thread_);
  const Table* table = seat.table;
  if (table == nullptr || (!seat.open && !random_.percent(world_.options().chaos))) return;
  void* context = seat.context;
  Event event;
  event.id = seat.id;
  event.communicator = "world";
  event.operation = operation_name(random_.below(world_.options().names));
  event.datatype = random_.pick(kDatatypes);
  const std::uint64_t pair = random_.below(world_.options().pairs);
  event.algorithm = kAlgorithms[pair % 4];
  event.protocol = kProtocols[pair / 4 % 3];
  event.count = random_.spread() >> 8;
  event.channels = static_cast<std::uint8_t>(1 + random_.below(4));
  event.peer = static_cast<int>(random_.below(200));
  event.sequence = seat.sequence.fetch_add(1);
  const bool is_p2p = random_.percent(30);
  if (is_p2p) event.operation = random_.percent(50) ? "Send" : "Recv";
  void* call = nullptr;
  void* group_call = nullptr;
  int mask = world_.mask(*table);  // from interface 5 on it counts as it is before the group of calls is told of
  if (table->version() >= 5) {
    event.type = abi::kGroupApi;
    group_call = table->start(context, event);
    event.type = is_p2p ? abi::kP2pApi : abi::kCollApi;
    event.parent = group_call;
    call = table->start(context, event);
    if (call != nullptr) table->stop(call);
  }
  event.type = abi::kGroup;
  event.parent = nullptr;
  if (table->version() < 5) mask = world_.mask(*table);
  void* group = mask != 0 ? table->start(context, event) : nullptr;
  event.type = is_p2p ? abi::kP2p : abi::kColl;
  event.parent = table->version() >= 5 ? call : group;
  event.group = group;
  if ((mask & static_cast<int>(event.type)) != 0) {
    ++launched_;
    void* handle = table->start(context, event);
    world_.share(handle, random_);
    if (handle != nullptr) {
      table->stop(handle);
      const Launched operation{table, context, handle, mask, event.channels};
      if (!world_.options().owners) {
        backlog_.push_back(operation);
      } else if (!world_.mailbox(thread_ + 1).push(operation)) {
        finish(operation);
      }
    }
  }
  if (group != nullptr) table->stop(group);
  if (group_call != nullptr) table->stop(group_call);
}

void Worker::finish(const Launched& operation) {
  const std::uint64_t began = any_timer();
  for (std::uint8_t channel = 0; channel < operation.channels; ++channel) {
    if ((operation.mask & static_cast<int>(abi::kProxyOp)) != 0 && random_.percent(50)) run_network(operation, channel);
    if ((operation.mask & static_cast<int>(abi::kKernelCh)) == 0 || operation.table->version() < 3) continue;
    Event event;
    event.type = abi::kKernelCh;
    event.parent = operation.handle;
    event.channel = channel;
    event.timer = began;
    void* handle = operation.table->start(operation.context, event);
    world_.share(handle, random_);
    if (handle == nullptr) continue;
    const std::uint64_t ended = random_.percent(95) ? began + random_.below(1'000'000) : any_timer();
    if (random_.percent(98)) operation.table->state(handle, abi::kKernelChStop, &ended);
    operation.table->stop(handle);
  }
}

void Worker::run_network(const Launched& operation, std::uint8_t channel) {
  Event event;
  event.type = abi::kProxyOp;
  event.parent = operation.handle;
  event.pid = random_.percent(95) ? pid : pid + 1;
  event.channel = channel;
  event.peer = static_cast<int>(random_.below(100));
  event.is_send = random_.percent(50);
  void* network = operation.table->start(operation.context, event);
  if (network == nullptr) return;
  operation.table->state(network, abi::kProxyOpInProgress, nullptr);
  event.type = abi::kProxyStep;
  event.parent = network;
  for (event.step = 0; event.step < 3; ++event.step) {
    void* step = operation.table->start(operation.context, event);
    if (step == nullptr) continue;
    static constexpr int kSend[] = {8, 20, 9};
    static constexpr int kReceive[] = {10, 11, 12};
    const std::uint64_t bytes = random_.below(1 << 20);
    for (const int state : event.is_send ? kSend : kReceive) operation.table->state(step, state, &bytes);
    operation.table->stop(step);
  }
  operation.table->stop(network);
}

void Worker::do_nonsense() {
  Seat& seat = world_.seat(random_, thread_);
  const Table& table = seat.table != nullptr && random_.percent(80) ? *seat.table.load() : world_.table(random_);
  void* context = random_.percent(80) ? seat.context.load() : world_.any_handle(random_);
  const std::uint64_t value = any_timer();
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2:
      world_.share(table.start(context, any_event()), random_);
      break;
    case 3:
    case 4:
      table.stop(world_.any_handle(random_));
      break;
    case 5:
    case 6:
      table.state(world_.any_handle(random_),
                  static_cast<int>(random_.percent(80) ? random_.below(32) : random_.next()),
                  random_.percent(80) ? &value : nullptr);
      break;
    default:
      table.call_with_nulls(context);
  }
}

Event Worker::any_event() {
  Event event;
  event.type = random_.percent(90) ? std::uint64_t{1} << random_.below(17) : random_.spread();
  event.parent = world_.any_handle(random_);
  event.group = world_.any_handle(random_);
  event.id = random_.below(100);
  event.communicator = any_text();
  event.operation = any_text();
  event.datatype = any_text();
  event.algorithm = any_text();
  event.protocol = any_text();
  event.sequence = random_.spread();
  event.count = random_.spread();
  event.timer = any_timer();
  event.peer = static_cast<int>(random_.spread());
  event.step = static_cast<int>(random_.spread());
  event.pid = random_.percent(50) ? pid : static_cast<int>(random_.next());
  event.channel = static_cast<std::uint8_t>(random_.spread());
  event.channels = static_cast<std::uint8_t>(random_.spread());
  event.is_send = random_.percent(50);
  event.is_captured = random_.percent(20);
  return event;
}

const char* Worker::any_text() {
  return random_.percent(70) ? operation_name(random_.below(world_.options().names)) : random_.pick(kOdd);
}

// Mostly as the GPU tells them.
std::uint64_t Worker::any_timer() {
  switch (random_.below(20)) {
    case 0:
      return 0;
    case 1:
      return random_.spread();
    default:
      return kTimer + random_.below(1'000'000'000);
  }
}

}  // namespace nccl_sentinel::fuzz
