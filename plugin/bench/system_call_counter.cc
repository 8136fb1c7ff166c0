// SPDX-License-Identifier: Apache-2.0
#include "system_call_counter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstddef>

namespace nccl_sentinel::bench {

thread_local bool SystemCallCounter::counting = false;
std::uint64_t SystemCallCounter::calls[kNumbers];

namespace {

void take_system_call(int, siginfo_t* signal, void* context) {
  const int number = signal->si_syscall;
  if (SystemCallCounter::counting && number >= 0 && number < SystemCallCounter::kNumbers) {
    __atomic_fetch_add(&SystemCallCounter::calls[number], 1, __ATOMIC_RELAXED);
  }
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

}  // namespace

bool SystemCallCounter::install() {
  struct sigaction action{};
  action.sa_sigaction = take_system_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void SystemCallCounter::write(std::FILE* file) {
  const char* separator = "{";
  for (int number = 0; number < kNumbers; ++number) {
    if (calls[number] == 0) continue;
    std::fprintf(file, "%s\"%d\":%" PRIu64, separator, number, calls[number]);
    separator = ",";
  }
  std::fputs(*separator == '{' ? "{}" : "}", file);
}

}  // namespace nccl_sentinel::bench
