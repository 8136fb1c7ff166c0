// SPDX-License-Identifier: Apache-2.0
// nccl-sentinel-tests --list | CASE VERSION
#include <algorithm>
#include <cstring>

#include "check.h"
#include "fake_nccl.h"

int main(int count, char** arguments) {
  using namespace nccl_sentinel::tests;
  if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    for (const auto& [name, listed] : cases()) {
      std::printf("%s", name.c_str());
      for (const int version : listed.versions) std::printf(" %d", version);
      std::printf("\n");
    }
    return 0;
  }
  const auto found = count == 3 ? cases().find(arguments[1]) : cases().end();
  if (found == cases().end()) {
    std::fprintf(stderr, "usage: %s --list | CASE VERSION\n", arguments[0]);
    return 2;
  }
  const auto& versions = found->second.versions;
  const int version = std::atoi(arguments[2]);
  if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
    std::fprintf(stderr, "%s is no case of version %d\n", arguments[1], version);
    return 2;
  }
  speak(version);
  found->second.body();
  return 0;
}
