// SPDX-License-Identifier: Apache-2.0
// Why the player gives up: one line that says what, where, why and what to do, and the exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace nccl_sentinel::player {

inline constexpr int kExitRun = 1;    // something failed while playing
inline constexpr int kExitUsage = 2;  // a wrong option, script or plugin

class Failure : public std::runtime_error {
 public:
  Failure(int exit_status, const std::string& what, const std::string& where, const std::string& why,
          const std::string& hint = "")
      : std::runtime_error(what + (where.empty() ? "" : " (" + where + ")") + (why.empty() ? "" : ": " + why) +
                           (hint.empty() ? "" : ". " + hint)),
        exit_status_(exit_status) {}

  int exit_status() const { return exit_status_; }

 private:
  int exit_status_;
};

}  // namespace nccl_sentinel::player
