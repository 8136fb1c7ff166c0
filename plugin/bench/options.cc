// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdlib>

#include "failure.h"

namespace nccl_sentinel::bench {
namespace {

double read_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value >= 0 && value < 1e15)) {
    throw player::Failure(player::kExitUsage, "cannot use option " + option, text, "it is no number");
  }
  return value;
}

}  // namespace

Options read_options(int count, char** arguments) {
  Options options;
  for (int place = 1; place < count; ++place) {
    const std::string option = arguments[place];
    if (option == "--log-operations") {
      options.log_operations = true;
      continue;
    }
    if (option == "--hold") {
      options.hold = true;
      continue;
    }
    const std::string value = place + 1 < count ? arguments[++place] : "";
    if (option == "--plugin") {
      options.plugin = value;
    } else if (option == "--script") {
      options.script = value;
    } else if (option == "--segment") {
      options.segment = value;
    } else if (option == "--interface") {
      options.interface = static_cast<int>(read_number(option, value));
    } else if (option == "--callbacks") {
      options.callbacks = static_cast<std::uint64_t>(read_number(option, value));
    } else if (option == "--pace") {
      options.pace = read_number(option, value);
    } else if (option == "--overhead-ticks") {
      options.overhead_ticks = read_number(option, value);
    } else {
      throw player::Failure(player::kExitUsage, "cannot use option " + option, "", "there is none of that name");
    }
  }
  if (options.plugin.empty() || options.script.empty()) {
    throw player::Failure(player::kExitUsage, "cannot play without --plugin and --script", "", "");
  }
  return options;
}

}  // namespace nccl_sentinel::bench
