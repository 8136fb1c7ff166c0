// SPDX-License-Identifier: Apache-2.0
// Threads at once, as NCCL has them: one launches, another one reports the channels.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "fake_nccl.h"
#include "launch.h"
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
        void* launched = nccl().collective(contexts[id], {name, 64, "ncclInt8", kChannels, "RING", "LL"});
        nccl().stop(launched);
        launches[id].push(launched);
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
    for (const char* text : {"AllReduce", "AllGather"}) {
      EXPECT_EQUAL(kOperations / 2, balance(one, operation(one, text)).started);
      const Measured all = measured(one, text);
      EXPECT_EQUAL(kOperations / 2, all.operations);
      EXPECT_EQUAL(kOperations / 2 * 503, all.duration_ns);
      EXPECT_EQUAL(kOperations / 2 * 64, all.bytes);
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

// Launches of all kinds from several threads, whose groups and calls interleave as they like.
CASE(sampled_threads_keep_the_balance) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 3'000;
  setenv("NCCL_SENTINEL_SAMPLE", "4/64", 1);
  void* contexts[] = {nccl().init(1), nccl().init(2)};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&contexts, number] {
      for (int i = 0; i < kRounds; ++i) {
        void* context = contexts[(number + i) % 2];
        play(context, Collective{i % 3 == 0 ? "AllGather" : "AllReduce"});
        play(context, std::vector<PointToPoint>{{"Send", 64, "ncclInt8", i % 9}, {"Recv", 64, "ncclInt8", number}});
        void* launched = nccl().collective(context);
        void* network = nccl().network(context, launched, {i % 7, i % 2 == 0});
        void* step = nccl().step(context, network, i);
        nccl().state(step, i % 2 == 0 ? 9 : 10, 4'096);
        nccl().stop(step);
        nccl().stop(network);
        nccl().run_channel(context, launched, 0, kEpoch, kEpoch + 10);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const std::uint64_t started = balance(communicator(1)).started + balance(communicator(2)).started;
  EXPECT_EQUAL(static_cast<std::uint64_t>(kThreads) * kRounds * 4, started);
  expect_balanced();
  for (void* context : contexts) nccl().finalize(context);
  expect_balanced();
}

// What a reader finds under the same commit before and after belongs together.
CASE(a_reader_never_sees_half_an_operation) {
  void* context = nccl().init(1);
  nccl().run(context, {"AllReduce", 64, "ncclInt8", 1, "RING", "LL"}, kEpoch, 5'000);
  const auto& row = cell(communicator(1), 6);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 100'000; ++i) {
      nccl().run(context, {"AllReduce", 64, "ncclInt8", 1, "RING", "LL"}, kEpoch, 5'000);
    }
    done = true;
  });
  std::uint64_t seen = 0;
  std::uint64_t last = 0;
  while (!done) {
    const std::uint64_t before = row.commit.load(std::memory_order_acquire);
    const nccl_sentinel::layout::CellCounts& now = counts(row);
    const std::uint64_t operations = now.operations.load(std::memory_order_acquire);
    const std::uint64_t duration_ns = now.duration_ns.load(std::memory_order_acquire);
    const std::uint64_t bytes = now.bytes.load(std::memory_order_acquire);
    const std::uint64_t in_bucket = now.buckets[1].load(std::memory_order_acquire);
    if (row.commit.load(std::memory_order_relaxed) != before) continue;
    EXPECT_EQUAL(operations * 5'000, duration_ns);
    EXPECT_EQUAL(operations * 64, bytes);
    EXPECT_EQUAL(operations, in_bucket);
    EXPECT(operations >= last);
    seen += operations != last;
    last = operations;
  }
  writer.join();
  EXPECT(seen > 0);
  EXPECT_EQUAL(100'001U, counts(row).operations.load());
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
