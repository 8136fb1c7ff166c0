// SPDX-License-Identifier: Apache-2.0
// Who this process is, as the launcher's environment tells.
#include <cstring>

#include "check.h"
#include "environment.h"
#include "nccl_sentinel/abi.h"

namespace {

using nccl_sentinel::Environment;
using nccl_sentinel::physical_gpu;
using nccl_sentinel::read_environment;

void set(const char* name, const char* value) { setenv(name, value, 1); }

void forget_all() {
  for (const char* name : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "LOCAL_RANK", "SLURM_LOCALID",
                           "SLURM_JOB_ID", "OMPI_COMM_WORLD_LOCAL_RANK", "KUBERNETES_SERVICE_HOST", "JOBSET_NAME",
                           "JOB_NAME", "POD_NAME", "NCCL_SENTINEL_JOB", "NCCL_SENTINEL_DIR", "NCCL_SENTINEL_SAMPLE",
                           "NCCL_SENTINEL_EVENTS", "NCCL_SENTINEL_BUDGET"}) {
    unsetenv(name);
  }
}

CASE_OF(the_first_rank_that_is_a_number_counts, 5) {
  forget_all();
  EXPECT_EQUAL(-1, read_environment().global_rank);
  EXPECT_EQUAL(-1, read_environment().local_rank);
  set("PMIX_RANK", "4");
  EXPECT_EQUAL(4, read_environment().global_rank);
  set("OMPI_COMM_WORLD_RANK", "3");
  set("SLURM_PROCID", "2");
  EXPECT_EQUAL(2, read_environment().global_rank);
  EXPECT(!read_environment().has_wrong_value);
  for (const char* wrong : {"one", "-1", "1.5", "99999999999", "1 "}) {
    set("RANK", wrong);
    const Environment environment = read_environment();
    EXPECT_EQUAL(2, environment.global_rank);
    EXPECT(environment.has_wrong_value);
    EXPECT_EQUAL(std::string("RANK=") + wrong, std::string(environment.wrong_value.where));
  }
  set("RANK", "1");
  EXPECT_EQUAL(1, read_environment().global_rank);
  set("SLURM_LOCALID", "6");
  EXPECT_EQUAL(6, read_environment().local_rank);
}

CASE_OF(the_job_is_found_in_order, 5) {
  forget_all();
  EXPECT_EQUAL(std::string(), read_environment().job_id);
  set("NCCL_SENTINEL_JOB", "mine");
  set("JOB_NAME", "something");
  EXPECT_EQUAL(std::string("mine"), read_environment().job_id);  // JOB_NAME says nothing outside a pod
  set("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  EXPECT_EQUAL(std::string("something"), read_environment().job_id);
  set("JOBSET_NAME", "set");
  EXPECT_EQUAL(std::string("set"), read_environment().job_id);
  set("SLURM_JOB_ID", "123");
  EXPECT_EQUAL(std::string("123"), read_environment().job_id);
}

CASE_OF(the_directory_is_absolute_or_the_default, 5) {
  forget_all();
  EXPECT(read_environment().directory == nullptr);
  set("NCCL_SENTINEL_DIR", "/a");
  EXPECT_EQUAL(std::string("/a"), read_environment().directory);
  set("NCCL_SENTINEL_DIR", "a");
  EXPECT(read_environment().directory == nullptr);
  EXPECT(read_environment().has_wrong_value);
  set("NCCL_SENTINEL_DIR", "");
  EXPECT(read_environment().directory == nullptr);
  EXPECT(!read_environment().has_wrong_value);
}

CASE_OF(visible_devices_tell_the_physical_gpu, 5) {
  EXPECT_EQUAL(1, physical_gpu(1, nullptr));
  EXPECT_EQUAL(1, physical_gpu(1, ""));
  EXPECT_EQUAL(5, physical_gpu(1, "4,5,6"));
  EXPECT_EQUAL(6, physical_gpu(2, "4,5,6"));
  EXPECT_EQUAL(7, physical_gpu(3, "7"));    // a local rank, each process with its own device
  EXPECT_EQUAL(3, physical_gpu(3, "4,5"));  // out of the list
  EXPECT_EQUAL(1, physical_gpu(1, "GPU-0a,GPU-0b"));
  EXPECT_EQUAL(0, physical_gpu(0, "2,x"));
  EXPECT_EQUAL(0, physical_gpu(0, "2,"));
  EXPECT_EQUAL(-1, physical_gpu(-1, "2"));
}

// The value of a variable is taken, or said to be wrong.
void expect_taken(const char* name, const char* value, bool is_taken) {
  set(name, value);
  const Environment environment = read_environment();
  const std::string expected = is_taken ? "" : std::string(name) + "=" + value;
  EXPECT_EQUAL(expected, std::string(environment.wrong_value.where));
  EXPECT_EQUAL(!is_taken, environment.has_wrong_value);
}

CASE_OF(sampling_is_a_burst_in_a_period, 5) {
  forget_all();
  const auto expect = [](const char* value, std::uint32_t burst, std::uint32_t period, bool is_taken = true) {
    expect_taken("NCCL_SENTINEL_SAMPLE", value, is_taken);
    EXPECT_EQUAL(burst, read_environment().sampling.burst);
    EXPECT_EQUAL(period, read_environment().sampling.period);
  };
  expect("", 4, 64);
  expect("all", 1, 1);
  expect("off", 0, 1);
  expect("8/128", 8, 128);
  expect("1/1", 1, 1);
  expect("65536/65536", 65'536, 65'536);
  for (const char* wrong : {"0/64", "65/64", "4", "4/", "/64", "4/64 ", " 4/64", "4/64x", "-4/64", "1/65537", "All",
                            "4/0", "99999999999999999999/1"}) {
    expect(wrong, 4, 64, false);
  }
}

CASE_OF(events_are_a_list_of_names, 5) {
  using namespace nccl_sentinel::abi;
  forget_all();
  const auto expect = [](const char* value, std::uint64_t operations, std::uint64_t timing, bool is_taken = true) {
    expect_taken("NCCL_SENTINEL_EVENTS", value, is_taken);
    EXPECT_EQUAL(static_cast<int>(operations), read_environment().operation_events);
    EXPECT_EQUAL(static_cast<int>(timing), read_environment().timing_events);
  };
  constexpr std::uint64_t kOperations = kColl | kCeColl | kP2p;
  constexpr std::uint64_t kTiming = kKernelCh | kProxyOp | kProxyStep;
  expect("", kOperations, kTiming);
  expect("coll,KernelCh", kColl | kCeColl, kKernelCh);
  expect("p2p,kernelch,proxy", kP2p, kTiming);
  expect("coll", kColl | kCeColl, 0);
  EXPECT_EQUAL(0U, read_environment().sampling.burst);  // nothing would tell when they end
  for (const char* wrong : {"coll,proxy", "kernelch", "all", "coll,", ",coll", "coll p2p", "collective"}) {
    expect(wrong, kOperations, kTiming, false);
  }
}

CASE_OF(the_budget_is_a_share_of_wall_time, 5) {
  forget_all();
  const auto expect = [](const char* value, std::uint32_t ppm, bool is_taken = true) {
    expect_taken("NCCL_SENTINEL_BUDGET", value, is_taken);
    EXPECT_EQUAL(ppm, read_environment().budget_ppm);
  };
  expect("", 2'000);
  expect("0.2%", 2'000);
  expect("0.002", 2'000);
  expect("0.000001", 1);
  expect("100%", 1'000'000);
  expect("off", 0);
  for (const char* wrong : {"0", "2", "-0.1", "some", "0.2 %", "0.2%%", "nan", "inf", "0.0000001"}) {
    expect(wrong, 2'000, false);
  }
}

}  // namespace
