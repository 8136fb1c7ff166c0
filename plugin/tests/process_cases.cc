// SPDX-License-Identifier: Apache-2.0
// What the plugin does to the process that it lives in, and what it does not.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "check.h"
#include "fake_nccl.h"
#include "mapped_view.h"
#include "nccl_sentinel/abi.h"

namespace {

using namespace nccl_sentinel::tests;

std::size_t files() {
  std::size_t number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("NCCL_SENTINEL_DIR"))) {
    number += entry.is_regular_file();
  }
  return number;
}

CASE(a_forked_child_neither_counts_nor_removes) {
  void* context = nccl().init(7);
  void* open = nccl().collective(context);
  const std::uint64_t callbacks = communicator(7).callbacks;
  const pid_t child = fork();
  if (child == 0) {
    nccl().run(context, {}, 1'000, 10);
    nccl().run_channel(context, open, 0, 1'000, 2'000);
    nccl().finalize(context);
    const bool is_off = nccl().init(8) == nullptr && nccl().mask == 0;
    std::exit(is_off ? 0 : 1);  // runs the destructors
  }
  int status = -1;
  EXPECT_EQUAL(child, waitpid(child, &status, 0));
  EXPECT_EQUAL(0, status);
  EXPECT_EQUAL(1U, files());
  EXPECT_EQUAL(1U, balance(communicator(7)).in_flight);
  EXPECT_EQUAL(callbacks, communicator(7).callbacks.load());
  nccl().run_channel(context, open, 0, 1'000, 2'000);
  EXPECT_EQUAL(1U, balance(communicator(7)).measured);
  expect_balanced();
}

// A sanitizer's runtime makes system calls of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Kills the process at any system call but those that end it. clock_gettime is left in: where the machine's clock
// source has no vDSO, glibc falls back to it.
void forbid_system_calls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof filter / sizeof filter[0], filter};
  EXPECT_EQUAL(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  EXPECT_EQUAL(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

CASE(callbacks_make_no_system_call) {
  void* context = nccl().init(7);
  const auto& world = communicator(7);
  const pid_t pid = getpid();
  forbid_system_calls();
  for (int i = 0; i < 3'000; ++i) {
    nccl().run(context, {"AllReduce", std::uint64_t{1} << i % 60, "ncclInt8", 4, "RING", "LL"}, 1'000, 10);
    nccl().collective(context, {"Broadcast", 64, "ncclInt8", 1, "TREE", "LL"});
    nccl().event(context, 1);
    nccl().group_call(context, i % 2 == 0);
    void* call = nccl().collective_call(context, "AllReduce", i % 2 == 0);
    nccl().p2p_call(context);
    nccl().group(context);
    nccl().collective(context, {"AllReduce", 64, "ncclInt8", 1, "RING", "LL", {}, call});
    void* sent = nccl().p2p(context, {"Send", 64, "ncclInt8", i % 200});
    void* network = nccl().network(context, sent, {i % 80, true, 0, 1, pid});
    void* step = nccl().step(context, network, i);
    nccl().state(step, nccl_sentinel::abi::kProxyStepSendWait, 4'096);
    nccl().stop(step);
    nccl().stop(network);
    nccl().run_channel(context, sent, 0, 1'000, 2'000);
  }
  const bool has_run = balance(world).measured == 2 * 3'000 && counts(world.links[0]).operations > 0;
  _exit(has_run ? 0 : 1);
}

#endif

CASE(the_file_outlives_its_communicators) {
  void* context = nccl().init(7);
  nccl().finalize(context);
  EXPECT_EQUAL(1U, files());
  nccl().init(8);
  EXPECT_EQUAL(1U, files());
  EXPECT_EQUAL(8U, communicator(8).id);
}

}  // namespace
