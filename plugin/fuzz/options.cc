// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdio>
#include <cstdlib>

namespace nccl_sentinel::fuzz {

Options read_options(int count, char** arguments) {
  Options options;
  for (int place = 1; place + 1 < count; place += 2) {
    const std::string option = arguments[place];
    const char* value = arguments[place + 1];
    const auto number = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    if (option == "--plugin") {
      options.plugin = value;
    } else if (option == "--interface") {
      options.interface = static_cast<int>(number);
    } else if (option == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (option == "--steps") {
      options.steps = std::strtoull(value, nullptr, 10);
    } else if (option == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (option == "--threads") {
      options.threads = number;
    } else if (option == "--communicators") {
      options.communicators = number;
    } else if (option == "--names") {
      options.names = number;
    } else if (option == "--pairs") {
      options.pairs = number;
    } else if (option == "--chaos") {
      options.chaos = number;
    } else if (option == "--lifecycle") {
      options.lifecycle = number;
    } else if (option == "--owners") {
      options.owners = number != 0;
    } else if (option == "--watch") {
      options.watch = number != 0;
    } else if (option == "--backlog") {
      options.backlog = number;
    } else {
      std::fprintf(stderr, "nccl-sentinel-fuzz: there is no option %s\n", option.c_str());
      std::exit(2);
    }
  }
  if (count % 2 == 0 || options.plugin.empty() ||
      options.threads * options.communicators * options.names * options.pairs == 0) {
    std::fputs("nccl-sentinel-fuzz: --plugin SO, and values above zero\n", stderr);
    std::exit(2);
  }
  if (options.owners && options.communicators < options.threads) {
    std::fputs("nccl-sentinel-fuzz: --owners 1 needs a communicator for each thread\n", stderr);
    std::exit(2);
  }
  return options;
}

}  // namespace nccl_sentinel::fuzz
