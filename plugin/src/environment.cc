// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace nccl_sentinel {
namespace {

const char* value_of(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr || value[0] == '\0' ? nullptr : value;
}

void note_wrong(Environment& environment, const char* name, const char* value, const char* hint) noexcept {
  if (environment.has_wrong_value) return;
  environment.has_wrong_value = true;
  environment.wrong_value.what = "ignores the environment's";
  std::snprintf(environment.wrong_value.where, sizeof environment.wrong_value.where, "%s=%.128s", name, value);
  environment.wrong_value.hint = hint;
}

// A number from 0 to INT_MAX that ends where `last` says; -1 for anything else.
int parse_index(const char* text, char last, const char** rest) noexcept {
  long number = 0;
  const char* end = text;
  for (; *end >= '0' && *end <= '9' && number <= INT_MAX; ++end) number = number * 10 + (*end - '0');
  if (end == text || number > INT_MAX || (*end != '\0' && *end != last)) return -1;
  *rest = *end == '\0' ? nullptr : end + 1;
  return static_cast<int>(number);
}

template <std::size_t kNames>
int first_index(Environment& environment, const char* const (&names)[kNames]) noexcept {
  for (const char* name : names) {
    const char* value = value_of(name);
    if (value == nullptr) continue;
    const char* rest = nullptr;
    const int index = parse_index(value, '\0', &rest);
    if (index >= 0) return index;
    note_wrong(environment, name, value, "It should be a whole number from 0 up.");
  }
  return -1;
}

const char* find_job() noexcept {
  if (const char* job = value_of("SLURM_JOB_ID")) return job;
  // These names are too general to be believed anywhere but in a pod.
  if (value_of("KUBERNETES_SERVICE_HOST") != nullptr) {
    for (const char* name : {"JOBSET_NAME", "JOB_NAME", "POD_NAME"}) {
      if (const char* job = value_of(name)) return job;
    }
  }
  const char* job = value_of("NCCL_SENTINEL_JOB");
  return job == nullptr ? "" : job;
}

}  // namespace

Environment read_environment() noexcept {
  Environment environment;
  environment.global_rank = first_index(environment, {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"});
  environment.local_rank = first_index(environment, {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"});
  environment.job_id = find_job();
  const char* directory = value_of("NCCL_SENTINEL_DIR");
  if (directory != nullptr && directory[0] != '/') {
    note_wrong(environment, "NCCL_SENTINEL_DIR", directory, "It should be an absolute path; the default is used.");
  } else {
    environment.directory = directory;
  }
  return environment;
}

int physical_gpu(int ordinal, const char* visible) noexcept {
  if (ordinal < 0 || visible == nullptr || visible[0] == '\0') return ordinal;
  int index = 0;
  int found = -1;
  int only = -1;
  for (const char* rest = visible; rest != nullptr; ++index) {
    only = parse_index(rest, ',', &rest);
    if (only < 0) return ordinal;  // UUIDs, or something else that says nothing about the index
    if (index == ordinal) found = only;
  }
  if (found >= 0) return found;
  return index == 1 ? only : ordinal;  // a local rank where each process sees its own device alone
}

}  // namespace nccl_sentinel
