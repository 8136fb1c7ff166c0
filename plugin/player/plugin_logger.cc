// SPDX-License-Identifier: Apache-2.0
#include "plugin_logger.h"

#include <cstdarg>
#include <cstdio>

#include "nccl_sentinel/abi.h"

namespace nccl_sentinel::player {

void log_from_plugin(int level, unsigned long, const char* file, int line, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* name = level <= abi::kLogWarn ? "WARN" : "INFO";
  std::fprintf(stderr, "plugin %s %s:%d %s\n", name, file != nullptr ? file : "?", line, text);
}

}  // namespace nccl_sentinel::player
