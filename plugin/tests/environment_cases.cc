// SPDX-License-Identifier: Apache-2.0
// Who this process is, as the launcher's environment tells.
#include <cstring>

#include "check.h"
#include "environment.h"

namespace {

using nccl_sentinel::Environment;
using nccl_sentinel::physical_gpu;
using nccl_sentinel::read_environment;

void set(const char* name, const char* value) { setenv(name, value, 1); }

void forget_all() {
  for (const char* name : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "LOCAL_RANK", "SLURM_LOCALID",
                           "SLURM_JOB_ID", "OMPI_COMM_WORLD_LOCAL_RANK", "KUBERNETES_SERVICE_HOST", "JOBSET_NAME",
                           "JOB_NAME", "POD_NAME", "NCCL_SENTINEL_JOB", "NCCL_SENTINEL_DIR"}) {
    unsetenv(name);
  }
}

CASE(the_first_rank_that_is_a_number_counts) {
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

CASE(the_job_is_found_in_order) {
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

CASE(the_directory_is_absolute_or_the_default) {
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

CASE(visible_devices_tell_the_physical_gpu) {
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

}  // namespace
