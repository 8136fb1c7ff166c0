// SPDX-License-Identifier: Apache-2.0
// What the launcher put into the job's environment: who this process is.
#pragma once

#include <cstdint>

#include "report.h"
#include "sampling.h"

namespace nccl_sentinel {

struct Environment {
  int global_rank = -1;  // RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMIX_RANK: the first that is a number; -1 for none
  int local_rank = -1;   // LOCAL_RANK, SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK, likewise
  const char* job_id = "";          // SLURM_JOB_ID; in Kubernetes JOBSET_NAME, JOB_NAME, POD_NAME; NCCL_SENTINEL_JOB
  const char* directory = nullptr;  // NCCL_SENTINEL_DIR, an absolute path; null where not set
  Sampling sampling = kDefaultSampling;  // NCCL_SENTINEL_SAMPLE: B/P, all, off
  int operation_events = 0;              // NCCL_SENTINEL_EVENTS: bits of NCCL's mask that are always asked for,
  int timing_events = 0;                 // and those that are asked for where an operation is timed
  std::uint32_t budget_ppm = 2'000;      // NCCL_SENTINEL_BUDGET: 0.2%, 0.002, off (0)
  bool has_wrong_value = false;
  Failure wrong_value;  // the first one
};

Environment read_environment() noexcept;

// The physical index of a device: CUDA_VISIBLE_DEVICES (`visible`, may be null) maps it where that is a list of
// integers.
int physical_gpu(int ordinal, const char* visible) noexcept;

}  // namespace nccl_sentinel
