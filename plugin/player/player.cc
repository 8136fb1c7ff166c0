// SPDX-License-Identifier: Apache-2.0
#include "player.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "failure.h"

namespace nccl_sentinel::player {

Player::Player(const Options& options, int finished_fd)
    : script_(options.script),
      plugin_(options.plugin, options.interface, script_),
      timeline_(script_, options.pace, report_),
      stage_{script_, plugin_.profiler(), timeline_, gate_, options.resolution_ns, 0, std::vector<void*>(256), nullptr},
      first_segment_(find(options.segment, kExitUsage, "--segment")),
      finished_fd_(finished_fd),
      open_(script_.communicators.size) {
  stage_.capture = std::make_unique<Iteration>(0, script_.segments[0]);
  for (std::size_t thread = 0; thread < script_.threads.size; ++thread) {
    threads_.emplace_back(&Player::run, this, thread);
    const std::string name = "tid " + std::to_string(script_.threads[thread]);
    pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
  }
  phases_.wait([this] { return opened_.load() == script_.communicators.size; });
  if (error_ != nullptr) {
    finish();
    std::rethrow_exception(error_);
  }
  report_.ready(script_.rank);
}

Player::~Player() { finish(); }

void Player::finish() {
  gate_.end();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Player::start(std::int64_t at_ns) {
  first_ = timeline_.begin(first_segment_, at_ns);
  started_ = true;
  go_.store(true);
  gate_.changed();
}

void Player::switch_to(const std::string& segment, std::int64_t at_ns, const std::string& where) {
  timeline_.add({find(segment, kExitRun, where), at_ns}, where);
}

std::size_t Player::find(const std::string& segment, int exit_status, const std::string& where) const {
  const std::size_t place = script_.find_segment(segment);
  if (place == 0) {
    throw Failure(exit_status, "cannot play segment " + segment, where, "the script has none of that name",
                  "It has: " + script_.segment_names());
  }
  return place;
}

void Player::run(std::size_t thread) {
  for (std::size_t place = 0; place < script_.communicators.size; ++place) {
    const script::Communicator& communicator = script_.communicators[place];
    if (communicator.init_thread != thread) continue;
    phases_.wait([&] { return opened_.load() == place; });
    open(communicator);
    opened_.fetch_add(1);
    phases_.changed();
  }
  phases_.wait([this] { return opened_.load() == script_.communicators.size; });
  if (gate_.wait([this] { return go_.load(); })) {
    RankThread player(stage_, thread);
    player.play_capture();
    player.play(first_);
  }
  played_.fetch_add(1);
  phases_.changed();
  phases_.wait([this] { return played_.load() == script_.threads.size; });
  for (std::size_t turn = 0; turn < script_.communicators.size; ++turn) {
    for (std::size_t place = 0; place < script_.communicators.size; ++place) {
      const script::Communicator& communicator = script_.communicators[place];
      if (communicator.closing != turn || communicator.finalize_thread != thread) continue;
      phases_.wait([&] { return closed_.load() == turn; });
      if (open_[place] != 0) stage_.profiler.finalize(stage_.contexts[communicator.index]);
      if (closed_.fetch_add(1) + 1 == script_.communicators.size) eventfd_write(finished_fd_, 1);
      phases_.changed();
    }
  }
}

void Player::open(const script::Communicator& communicator) {
  if (error_ != nullptr) return;
  const int result = stage_.profiler.init(&stage_.contexts[communicator.index], &stage_.mask, communicator);
  if (result == 0) {
    open_[static_cast<std::size_t>(&communicator - script_.communicators.begin())] = 1;
    return;
  }
  error_ =
      std::make_exception_ptr(Failure(kExitRun, "cannot open communicator " + std::to_string(communicator.index),
                                      stage_.profiler.name(), "the plugin's init returned " + std::to_string(result),
                                      "NCCL would run on without it; a player has nothing to do"));
}

}  // namespace nccl_sentinel::player
