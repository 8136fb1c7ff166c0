// SPDX-License-Identifier: Apache-2.0
// Threads at once, as NCCL has them: one launches, another one reports the channels.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "mapped_view.h"

namespace {

using namespace nccl_sentinel::tests;
using nccl_sentinel::layout::Dropped;

constexpr std::uint8_t kChannels = 4;

// Operations on their way from the thread that launches to the one that reports; never more than the ring holds.
class Launches {
 public:
  static constexpr std::uint64_t kDepth = 200;

  void push(void* operation) {
    while (pushed_ - popped_ >= kDepth) std::this_thread::yield();
    places_[pushed_ % kDepth] = operation;
    ++pushed_;
  }
  void* pop() {
    while (popped_ == pushed_) std::this_thread::yield();
    void* operation = places_[popped_ % kDepth];
    ++popped_;
    return operation;
  }

 private:
  std::atomic<void*> places_[kDepth]{};
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> popped_{0};
};

CASE(several_communicators_count_exactly) {
  constexpr std::uint64_t kIds = 4;
  constexpr std::uint64_t kOperations = 20'000;
  std::vector<Launches> launches(kIds);
  std::vector<void*> contexts;
  for (std::uint64_t id = 0; id < kIds; ++id) contexts.push_back(nccl().init(id + 1));
  std::vector<std::thread> threads;
  for (std::uint64_t id = 0; id < kIds; ++id) {
    threads.emplace_back([&, id] {
      for (std::uint64_t i = 0; i < kOperations; ++i) {
        const char* name = i % 2 == 0 ? "AllReduce" : "AllGather";
        void* operation = nccl().collective(contexts[id], {name, 64, "ncclInt8", kChannels, "RING", "LL"});
        nccl().stop(operation);
        launches[id].push(operation);
      }
    });
    threads.emplace_back([&, id] {
      for (std::uint64_t i = 0; i < kOperations; ++i) {
        void* operation = launches[id].pop();
        for (std::uint8_t channel = 0; channel < kChannels; ++channel) {
          nccl().run_channel(contexts[id], operation, channel, 1'000 + i, 1'500 + i + channel);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::uint64_t id = 1; id <= kIds; ++id) {
    const auto& one = communicator(id);
    for (const char* name : {"AllReduce", "AllGather"}) {
      EXPECT_EQUAL(kOperations / 2, counters(one, name).started.load());
      EXPECT_EQUAL(kOperations / 2, counters(one, name).operations.load());
      EXPECT_EQUAL(kOperations / 2 * 503, counters(one, name).duration_ns.load());
      EXPECT_EQUAL(kOperations / 2 * 64, counters(one, name).bytes.load());
    }
    EXPECT_EQUAL(kOperations * (2 + 3 * kChannels), one.callbacks.load());
    EXPECT_EQUAL(0U, balance(one).in_flight);
  }
  expect_balanced();
}

CASE(threads_that_share_everything_keep_the_balance) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 10'000;
  void* context = nccl().init(1);
  std::atomic<void*> shared{nullptr};  // every thread reports channels of whatever was launched last, by anybody
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < kRounds; ++i) {
        const std::uint64_t size = std::uint64_t{1} << (i + number) % 60;
        const std::string algorithm = "A" + std::to_string((i * 7 + number) % 5);
        shared = nccl().collective(context, {"AllReduce", size, "ncclInt8", 2, algorithm.c_str(), "LL"});
        void* operation = shared;
        for (std::uint8_t channel = 0; channel < 2; ++channel) {
          nccl().run_channel(context, operation, channel, 1'000, 1'000 + static_cast<std::uint64_t>(i));
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQUAL(static_cast<std::uint64_t>(kThreads) * kRounds, balance(communicator(1)).started);
  EXPECT(balance(communicator(1)).measured > kRounds / 2);
  expect_balanced();
}

CASE(communicators_come_and_go_beside_others) {
  void* steady = nccl().init(1);
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (!done) nccl().run(steady, {}, 1'000, 10);
  });
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < 3; ++number) {
    threads.emplace_back([number] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        void* context = nccl().init(1'000 * (number + 1) + i);
        for (int j = 0; j < 5; ++j) nccl().run(context, {}, 1'000, 10);
        nccl().collective(context);
        nccl().finalize(context);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  done = true;
  worker.join();
  EXPECT_EQUAL(0U, dropped(Dropped::kCommunicator));
  for (const auto& slot : mapped().communicators) {
    if (slot.id < 1'000) continue;
    EXPECT_EQUAL(6U, balance(slot).started);
    EXPECT_EQUAL(5U, balance(slot).measured);
    EXPECT_EQUAL(1U, balance(slot).refused);
  }
  expect_balanced();
}

}  // namespace
