// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cmath>
#include <cstdlib>

#include "failure.h"

namespace nccl_sentinel::player {

const char kUsage[] =
    R"(Usage: nccl-trace-player --plugin SO --script FILE --segment NAME [OPTION]...

Plays one rank's recorded callbacks through an NCCL profiler plugin, over and over, in real time.

  --plugin SO        the plugin's file
  --script FILE      a script that sentinel.trace.compile_scripts wrote
  --segment NAME     the segment to begin with
  --start-at NS      when to begin, on CLOCK_MONOTONIC; `now`: as soon as possible
                     (without it, when the line `start NS` comes on stdin)
  --pace F           how much faster than recorded (0.01 to 100, default 1); durations stay
  --resolution TIME  grid on which callbacks are made (10us to 1s, default 1ms)
  --interface N      1 to 7; default the newest that the plugin has
  --help

On stdin, one a line: `switch NAME NS` and `stop NS`, done at the first iteration boundary
at or after that time. When stdin ends, the player stops at the end of the iteration.
)";

namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& allowed) {
  throw Failure(kExitUsage, "cannot use option " + option, value.empty() ? "no value" : value, "",
                "Allowed is " + allowed);
}

std::optional<double> read_number(const std::string& text, std::string* rest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(value)) return std::nullopt;
  *rest = end;
  return value;
}

std::int64_t read_resolution_ns(const std::string& option, const std::string& text) {
  std::string unit;
  const std::optional<double> value = read_number(text, &unit);
  const double scale = unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  const double ns = value.value_or(0) * scale;
  if (!(ns >= 1e4 && ns <= 1e9)) refuse(option, text, "a duration from 10us to 1s, as in 500us or 1ms");
  return std::llround(ns);
}

}  // namespace

std::optional<std::int64_t> read_time_ns(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int place = 1; place < argc; ++place) {
    const std::string option = argv[place];
    if (option == "--help") {
      options.help = true;
      return options;
    }
    const bool known = option == "--plugin" || option == "--script" || option == "--segment" ||
                       option == "--start-at" || option == "--pace" || option == "--resolution" ||
                       option == "--interface";
    if (!known)
      throw Failure(kExitUsage, "cannot use option " + option, "", "there is none of that name", "See --help");
    const std::string value = place + 1 < argc ? argv[++place] : "";
    if (value.empty()) refuse(option, value, "a value after it");
    if (option == "--plugin") {
      options.plugin = value;
    } else if (option == "--script") {
      options.script = value;
    } else if (option == "--segment") {
      options.segment = value;
    } else if (option == "--start-at") {
      options.start_at_ns = value == "now" ? 0 : read_time_ns(value);
      if (!options.start_at_ns) refuse(option, value, "a time of CLOCK_MONOTONIC in nanoseconds, or now");
    } else if (option == "--pace") {
      std::string rest;
      options.pace = read_number(value, &rest).value_or(0);
      if (!rest.empty() || !(options.pace >= 0.01 && options.pace <= 100))
        refuse(option, value, "a number from 0.01 to 100");
    } else if (option == "--resolution") {
      options.resolution_ns = read_resolution_ns(option, value);
    } else {
      if (value.size() != 1 || value[0] < '1' || value[0] > '7') refuse(option, value, "a number from 1 to 7");
      options.interface = value[0] - '0';
    }
  }
  for (const auto& [option, value] :
       {std::pair{"--plugin", &options.plugin}, {"--script", &options.script}, {"--segment", &options.segment}}) {
    if (value->empty()) throw Failure(kExitUsage, std::string("cannot play without ") + option, "", "", "See --help");
  }
  return options;
}

}  // namespace nccl_sentinel::player
