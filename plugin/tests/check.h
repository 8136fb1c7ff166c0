// SPDX-License-Identifier: Apache-2.0
// Cases by name, and checks that say where they failed. One process runs one case: the plugin's state is the process's.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nccl_sentinel::tests {

struct Case {
  void (*body)();
  std::vector<int> versions;  // of the profiler interface that it is run through
};

inline std::map<std::string, Case>& cases() {
  static std::map<std::string, Case> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*body)(), std::vector<int> versions) {
    cases()[name] = {body, std::move(versions)};
  }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

template <typename Expected, typename Actual>
void check_equal(const char* file, int line, const char* text, const Expected& expected, const Actual& actual) {
  if (expected == actual) return;
  std::ostringstream message;
  message << text << ": expected " << expected << ", got " << actual;
  fail(file, line, message.str());
}

}  // namespace nccl_sentinel::tests

// CASE_OF names the versions of the interface; tests/plugin/test_native.py reads both, at the start of a line.
#define CASE_OF(name, ...)                                                                 \
  static void name();                                                                      \
  static const nccl_sentinel::tests::Registration name##_case(#name, name, {__VA_ARGS__}); \
  static void name()
#define CASE(name) CASE_OF(name, 4, 5, 7)
#define EXPECT(condition) \
  if (!(condition)) nccl_sentinel::tests::fail(__FILE__, __LINE__, #condition)
#define EXPECT_EQUAL(expected, actual) nccl_sentinel::tests::check_equal(__FILE__, __LINE__, #actual, expected, actual)
