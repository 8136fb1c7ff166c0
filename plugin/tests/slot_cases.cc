// SPDX-License-Identifier: Apache-2.0
// Slots of communicators: pages only for those that were needed, and used again.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Dropped;
using nccl_sentinel::layout::kCommunicators;
using nccl_sentinel::layout::Outcome;

struct stat only_file() {
  struct stat status{};
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("NCCL_SENTINEL_DIR"))) {
    EXPECT_EQUAL(0, stat(entry.path().c_str(), &status));
  }
  return status;
}

std::size_t warnings() {
  std::size_t sum = 0;
  for (const auto& line : logged()) sum += line.level == 2;
  return sum;
}

CASE(a_slot_gets_its_pages_when_it_is_needed) {
  constexpr auto kSlotBlocks = static_cast<long>(sizeof(nccl_sentinel::layout::Communicator) / 512);
  long before = 0;
  for (std::uint64_t id = 1; id <= 5; ++id) {
    nccl().init(id);
    const struct stat status = only_file();
    EXPECT_EQUAL(sizeof(nccl_sentinel::layout::File), static_cast<std::size_t>(status.st_size));
    const long more = static_cast<long>(status.st_blocks) - before;
    EXPECT(id == 1 || (more >= kSlotBlocks && more < kSlotBlocks + 16));  // some for the file system's own maps
    before = static_cast<long>(status.st_blocks);
  }
  EXPECT(before < 10 * kSlotBlocks);
}

CASE(a_slot_that_is_used_again_needs_no_more_pages) {
  for (std::uint64_t id = 1; id <= kCommunicators; ++id) nccl().finalize(nccl().init(id));
  const auto before = only_file().st_blocks;
  for (std::uint64_t id = 1; id <= 10; ++id) nccl().init(id);
  EXPECT_EQUAL(before, only_file().st_blocks);
}

CASE(thousands_of_communicators_come_and_go) {
  constexpr std::uint64_t kMany = 2'000;
  void* steady = nccl().init(1'000'000);
  for (std::uint64_t id = 1; id <= kMany; ++id) {
    void* context = nccl().init(id);
    nccl().run(context, {}, kEpoch, 10);
    nccl().run_p2p(context, {}, kEpoch, 10);
    nccl().collective(context, {"AllGather"});  // never ends
    EXPECT_EQUAL(2U, balance(communicator(id)).measured);
    nccl().finalize(context);
    nccl().run(steady, {}, kEpoch, 10);
  }
  EXPECT_EQUAL(kMany, balance(communicator(1'000'000)).measured);
  EXPECT_EQUAL(0U, dropped(Dropped::kCommunicator));
  EXPECT_EQUAL(sizeof(nccl_sentinel::layout::File), static_cast<std::size_t>(only_file().st_size));
  EXPECT_EQUAL(0U, warnings());
  EXPECT(wants_timing());
  expect_balanced();
}

CASE(what_a_slot_dropped_stays_counted_when_it_is_used_again) {
  void* context = nccl().init(1);
  for (int i = 0; i < 20; ++i) {
    const std::string text = "Operation" + std::to_string(i);
    nccl().run(context, {text.c_str(), 64, "ncclInt8", 1, "RING", "LL"}, kEpoch, 10);
  }
  EXPECT_EQUAL(5U, balance(communicator(1)).dropped);
  EXPECT_EQUAL(0U, dropped(Dropped::kOperation));
  nccl().finalize(context);
  for (std::uint64_t id = 2; id <= kCommunicators + 1; ++id) nccl().finalize(nccl().init(id));
  EXPECT_EQUAL(5U, dropped(Dropped::kOperation));
  for (std::uint64_t id = 2; id <= kCommunicators + 1; ++id) nccl().finalize(nccl().init(id));
  EXPECT_EQUAL(5U, dropped(Dropped::kOperation));
  expect_balanced();
}

// From here on no file gets more room. The size is fixed, so a limit on it would not tell.
void fill_disk() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof filter / sizeof filter[0], filter};
  EXPECT_EQUAL(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  EXPECT_EQUAL(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

CASE(without_room_for_another_slot_the_job_goes_on) {
  void* first = nccl().init(1);
  fill_disk();
  std::vector<void*> others;
  for (std::uint64_t id = 2; id <= 4; ++id) {
    others.push_back(nccl().init(id));
    EXPECT(!is_shown(id));
    EXPECT(!play(others.back()) || wants_timing());
    nccl().p2p(others.back());
  }
  EXPECT_EQUAL(1U, warnings());
  EXPECT(logged().back().text.find("No space left on device") != std::string::npos);
  EXPECT_EQUAL(3U * 3, dropped(Dropped::kCommunicator));  // each of them, and its two operations
  EXPECT(play(first));
  EXPECT_EQUAL(1U, balance(communicator(1)).measured);
  for (void* context : others) nccl().finalize(context);
  nccl().finalize(first);
  // A slot that has pages is used again.
  void* again = nccl().init(5);
  EXPECT(play(again));
  EXPECT_EQUAL(1U, balance(communicator(5)).measured);
  EXPECT_EQUAL(1U, warnings());
  EXPECT_EQUAL(0, nccl().returned.load());
  expect_balanced();
}

}  // namespace
