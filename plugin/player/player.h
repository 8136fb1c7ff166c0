// SPDX-License-Identifier: Apache-2.0
// One rank of a recorded job: opens its communicators, plays its threads, closes its communicators.
#pragma once

#include <exception>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "gate.h"
#include "options.h"
#include "plugin_library.h"
#include "rank_thread.h"
#include "report.h"
#include "timeline.h"

namespace nccl_sentinel::player {

class Player {
 public:
  // Loads script and plugin and opens all communicators. Failure says what was wrong.
  Player(const Options& options, int finished_fd);
  // Ends the run if it goes on, and closes the communicators.
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // Failure when the time is over. `finished_fd` is written when all threads have played to the end.
  void start(std::int64_t at_ns);
  bool started() const { return started_; }
  // `where` says where the command came from.
  void switch_to(const std::string& segment, std::int64_t at_ns, const std::string& where);
  void stop(std::int64_t at_ns, const std::string& where) { timeline_.add({0, at_ns}, where); }
  void stop_soon() { timeline_.stop_soon(); }

 private:
  void run(std::size_t thread);
  void open(const script::Communicator& communicator);
  void finish();
  std::size_t find(const std::string& segment, int exit_status, const std::string& where) const;

  ScriptFile script_;
  PluginLibrary plugin_;
  Report report_;
  Gate gate_;
  Timeline timeline_;
  Stage stage_;
  const std::size_t first_segment_;
  const int finished_fd_;
  bool started_ = false;
  std::shared_ptr<Iteration> first_;
  std::atomic<std::size_t> opened_{0};  // communicators, in the order of the script
  std::atomic<std::size_t> played_{0};  // threads
  std::atomic<std::size_t> closed_{0};  // communicators, in the order of closing
  std::atomic<bool> go_{false};
  std::vector<char> open_;  // by communicator
  std::exception_ptr error_;
  Gate phases_;  // the order of opening and closing; never ended
  std::vector<std::thread> threads_;
};

}  // namespace nccl_sentinel::player
