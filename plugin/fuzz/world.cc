// SPDX-License-Identifier: Apache-2.0
#include "world.h"

namespace nccl_sentinel::fuzz {

World::World(const Options& options, const std::vector<Table>& tables)
    : options_(options),
      tables_(tables),
      seats_(options.communicators),
      mailboxes_(options.threads),
      handles_(kHandles) {}

void World::open(Seat& seat, Random& random) {
  const std::lock_guard<std::mutex> hold(seat.lifecycle);
  if (seat.open) return;
  static constexpr const char* kNames[] = {"world", "", nullptr,
                                           "tensor parallel group \xff\xfe of a long name that does "
                                           "not fit into the field that is there for it, whatever one does about it, "
                                           "because it is longer than that by some way"};
  const Table& table = tables_[random.below(tables_.size())];
  const std::uint64_t id = 1 + opened_.fetch_add(1);
  seat.context = table.init(id, &masks_[table.version()], random.pick(kNames), 8, 3);
  seat.id = id;
  seat.table = &table;
  seat.sequence = 0;
  seat.open = true;
}

void World::close(Seat& seat) {
  const std::lock_guard<std::mutex> hold(seat.lifecycle);
  if (!seat.open.exchange(false)) return;
  seat.table.load()->finalize(seat.context);
}

void* World::any_handle(Random& random) {
  void* handle = handles_[random.below(kHandles)].load();
  auto bits = reinterpret_cast<std::uintptr_t>(handle);
  switch (random.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return reinterpret_cast<void*>(random.spread());
    case 2:
      return reinterpret_cast<void*>(bits ^ std::uintptr_t{1} << random.below(64));  // almost right
    default:
      return handle;
  }
}

}  // namespace nccl_sentinel::fuzz
