// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include <strings.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "nccl_sentinel/abi.h"

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

// A whole number from 1 to `most` at the start of text; 0 for anything else.
std::uint32_t parse_count(const char* text, std::uint32_t most, const char** rest) noexcept {
  std::uint32_t number = 0;
  const char* end = text;
  for (; *end >= '0' && *end <= '9' && number <= most; ++end) {
    number = number * 10 + static_cast<std::uint32_t>(*end - '0');
  }
  *rest = end;
  return end == text || number > most ? 0 : number;
}

std::optional<Sampling> parse_sampling(const char* text) noexcept {
  if (std::strcmp(text, "all") == 0) return Sampling{1, 1};
  if (std::strcmp(text, "off") == 0) return Sampling{0, 1};
  const char* rest = nullptr;
  const std::uint32_t burst = parse_count(text, Sampling::kLongestPeriod, &rest);
  if (*rest != '/') return std::nullopt;
  const std::uint32_t period = parse_count(rest + 1, Sampling::kLongestPeriod, &rest);
  if (*rest != '\0' || burst == 0 || period < burst) return std::nullopt;
  return Sampling{burst, period};
}

// Millionths; a percentage or a ratio from 0 to 1.
std::optional<std::uint32_t> parse_budget_ppm(const char* text) noexcept {
  if (std::strcmp(text, "off") == 0) return 0;
  char* rest = nullptr;
  const double number = std::strtod(text, &rest);
  const bool is_percentage = std::strcmp(rest, "%") == 0;
  const double ratio = is_percentage ? number / 100 : number;
  if (rest == text || (*rest != '\0' && !is_percentage) || !(ratio >= 1e-6 && ratio <= 1)) return std::nullopt;
  return static_cast<std::uint32_t>(ratio * 1e6 + 0.5);
}

struct EventName {
  const char* name;
  int operations;
  int timing;
};

constexpr EventName kEvents[] = {
    {"coll", static_cast<int>(abi::kColl | abi::kCeColl), 0},
    {"p2p", static_cast<int>(abi::kP2p), 0},
    {"kernelch", 0, static_cast<int>(abi::kKernelCh)},
    {"proxy", 0, static_cast<int>(abi::kProxyOp | abi::kProxyStep)},
};

// A list of names. The network's events are of use only where an operation's end is known.
bool parse_events(const char* text, int& operations, int& timing) noexcept {
  operations = timing = 0;
  for (const char* rest = text; rest != nullptr;) {
    const char* comma = std::strchr(rest, ',');
    const std::size_t length = comma == nullptr ? std::strlen(rest) : static_cast<std::size_t>(comma - rest);
    bool is_known = false;
    for (const EventName& event : kEvents) {
      if (std::strlen(event.name) != length || strncasecmp(event.name, rest, length) != 0) continue;
      is_known = true;
      operations |= event.operations;
      timing |= event.timing;
    }
    if (!is_known) return false;
    rest = comma == nullptr ? nullptr : comma + 1;
  }
  const bool has_channels = (timing & static_cast<int>(abi::kKernelCh)) != 0;
  return operations != 0 && (timing == 0 || has_channels);
}

void read_sampling(Environment& environment) noexcept {
  if (const char* text = value_of("NCCL_SENTINEL_SAMPLE")) {
    if (const auto sampling = parse_sampling(text)) {
      environment.sampling = *sampling;
    } else {
      note_wrong(
          environment, "NCCL_SENTINEL_SAMPLE", text,
          "It should be all, off, or B/P with B operations timed in each P, from 1/1 to 65536/65536; 4/64 is used.");
    }
  }
  constexpr const char* kAllEvents = "coll,p2p,kernelch,proxy";
  const char* events = value_of("NCCL_SENTINEL_EVENTS");
  if (events == nullptr || !parse_events(events, environment.operation_events, environment.timing_events)) {
    if (events != nullptr) {
      note_wrong(environment, "NCCL_SENTINEL_EVENTS", events,
                 "It should be a list of coll, p2p, kernelch and proxy (proxy not without kernelch); all are used.");
    }
    parse_events(kAllEvents, environment.operation_events, environment.timing_events);
  }
  if (environment.timing_events == 0) environment.sampling = {0, 1};
  if (const char* text = value_of("NCCL_SENTINEL_BUDGET")) {
    if (const auto budget = parse_budget_ppm(text)) {
      environment.budget_ppm = *budget;
    } else {
      note_wrong(environment, "NCCL_SENTINEL_BUDGET", text,
                 "It should be off, or a share of wall time such as 0.2% or 0.002; 0.2% is used.");
    }
  }
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
  read_sampling(environment);
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
