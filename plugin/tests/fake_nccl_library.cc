// SPDX-License-Identifier: Apache-2.0
// libnccl.so.2 as far as the plugin asks it: it has a logger and a version.
#include <cstdarg>
#include <cstdio>

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}

// Prints one line a message: level, subsystem, text.
void fakeNcclLog(int level, unsigned long subsystem, const char*, int, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%d %lx %s\n", level, subsystem, text);
}
}
