// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include "clock.h"
#include "nccl_sentinel/abi.h"

namespace nccl_sentinel {
namespace {

// Which interval a state begins; kNone for a state that is not of this direction.
std::int32_t interval_of(int state, layout::Direction direction) noexcept {
  if (direction == layout::Direction::kSend) {
    switch (state) {
      case abi::kProxyStepSendGpuWait:
        return 0;
      case abi::kProxyStepSendPeerWait:
        return 1;
      case abi::kProxyStepSendWait:
        return 2;
      default:
        return NetworkOperation::kNone;
    }
  }
  switch (state) {
    case abi::kProxyStepRecvWait:
      return 0;
    case abi::kProxyStepRecvFlushWait:
      return 1;
    case abi::kProxyStepRecvGpuWait:
      return 2;
    default:
      return NetworkOperation::kNone;
  }
}

}  // namespace

void NetworkOperation::reset(std::uint8_t link_place, layout::Direction its_direction) noexcept {
  link = link_place;
  direction = its_direction;
  callbacks = 1;
  bytes_ = 0;
  for (std::size_t i = 0; i < layout::kStepStates; ++i) steps_[i] = ticks_[i] = 0;
  for (Step& step : current_) step = {0, 0, kStepParts, kNone};  // no step's part
}

void NetworkOperation::start_step(std::uint32_t part) noexcept { current_[part % kSteps] = {0, 0, part, kNone}; }

void NetworkOperation::record(std::uint32_t part, int state, const std::uint64_t* bytes, std::uint64_t now) noexcept {
  const std::int32_t interval = interval_of(state, direction);
  Step& current = current_[part % kSteps];
  if (interval == kNone || current.part != part) return;
  close_interval(current, now);
  current.interval = interval;
  current.since = now;
  if (bytes != nullptr && *bytes != 0) current.bytes = *bytes;  // how many is known late
}

void NetworkOperation::stop_step(std::uint32_t part, std::uint64_t now) noexcept {
  Step& current = current_[part % kSteps];
  if (current.part != part) return;
  close_interval(current, now);
  bytes_ += current.bytes;
  current.bytes = 0;
}

void NetworkOperation::close_interval(Step& step, std::uint64_t now) noexcept {
  if (step.interval == kNone) return;
  const auto place = static_cast<std::size_t>(step.interval);
  ++steps_[place];
  if (now > step.since) ticks_[place] += now - step.since;
  step.interval = kNone;
}

StepTimes NetworkOperation::times() const noexcept {
  StepTimes times{};
  for (std::size_t i = 0; i < layout::kStepStates; ++i) {
    times.steps[i] = steps_[i];
    times.duration_ns[i] = tick_clock.to_ns(ticks_[i]);
  }
  times.bytes = bytes_;
  return times;
}

}  // namespace nccl_sentinel
