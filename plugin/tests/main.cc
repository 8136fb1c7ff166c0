// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-tests --list | CASE 4|5
#include <cstring>

#include "check.h"
#include "fake_nccl.h"

int main(int count, char** arguments) {
  using namespace nccl_sentinel::tests;
  if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    for (const auto& [name, body] : cases()) std::puts(name.c_str());
    return 0;
  }
  if (count != 3 || cases().count(arguments[1]) == 0) {
    std::fprintf(stderr, "usage: %s --list | CASE 4|5\n", arguments[0]);
    return 2;
  }
  speak(std::atoi(arguments[2]));
  cases().at(arguments[1])();
  return 0;
}
