// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <vector>

#include "failure.h"

namespace nccl_sentinel::player {

Control::Control() : parent_(getppid()) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, each);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  finished_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signal_fd_ < 0 || finished_fd_ < 0) throw Failure(kExitRun, "cannot wait for signals", "", std::strerror(errno));
  // Sent when the thread that started us ends, which need not be the end of its process: asked_to_end looks.
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
}

Control::~Control() {
  close(signal_fd_);
  close(finished_fd_);
}

void Control::steer(Player& player) {
  pollfd sources[] = {{signal_fd_, POLLIN, 0}, {finished_fd_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    if (poll(sources, 3, -1) < 0 && errno != EINTR)
      throw Failure(kExitRun, "cannot wait for commands", "", std::strerror(errno));
    if (sources[0].revents != 0 && asked_to_end()) return;
    if (sources[1].revents != 0) return;
    if (sources[2].revents != 0 && !read_commands(player)) {
      if (!player.started()) return;
      player.stop_soon();
      sources[2].fd = -1;
    }
  }
}

bool Control::asked_to_end() const {
  signalfd_siginfo signal{};
  bool end = false;
  while (read(signal_fd_, &signal, sizeof signal) == sizeof signal) {
    end = end || signal.ssi_signo != SIGUSR1 || getppid() != parent_;
  }
  return end;
}

bool Control::read_commands(Player& player) {
  char bytes[4096];
  const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
  if (size <= 0) return size < 0 && (errno == EINTR || errno == EAGAIN);
  text_.append(bytes, static_cast<std::size_t>(size));
  for (std::size_t end; (end = text_.find('\n')) != std::string::npos;) {
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    ++lines_;
    obey(player, line);
  }
  return true;
}

void Control::obey(Player& player, const std::string& line) {
  const std::string where = "stdin, line " + std::to_string(lines_);
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  const std::string command = words.empty() ? "" : words[0];
  const std::int64_t at_ns = words.empty() ? -1 : read_time_ns(words.back()).value_or(-1);
  const bool shaped = (command == "switch" && words.size() == 3) || (command == "stop" && words.size() == 2) ||
                      (command == "start" && words.size() == 2);
  if (!shaped || at_ns < 0) {
    throw Failure(kExitRun, "cannot obey a command", where, "it is \"" + line + "\"",
                  "Allowed are `start NS`, `switch NAME NS` and `stop NS`");
  }
  if ((command == "start") == player.started()) {
    throw Failure(kExitRun, "cannot obey " + command, where,
                  player.started() ? "it has started" : "it has not started");
  }
  if (command == "start") {
    player.start(at_ns);
  } else if (command == "switch") {
    player.switch_to(words[1], at_ns, where);
  } else {
    player.stop(at_ns, where);
  }
}

}  // namespace nccl_sentinel::player
