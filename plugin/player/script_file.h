// SPDX-License-Identifier: Apache-2.0
// A player script in memory, checked once so that playing needs no checks.
#pragma once

#include <cstddef>
#include <string>

#include "script.h"

namespace nccl_sentinel::player {

// A section of the file.
template <class T>
struct View {
  const T* data = nullptr;
  std::size_t size = 0;

  const T& operator[](std::size_t place) const { return data[place]; }
  const T* begin() const { return data; }
  const T* end() const { return data + size; }
};

class ScriptFile {
 public:
  // Maps the file. Failure (usage) when it cannot be read, is no script, or points outside of itself.
  explicit ScriptFile(const std::string& path);
  ~ScriptFile();
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;

  const char* text(std::uint32_t string) const { return text_.data + strings_[string]; }
  // Place in `segments`, 0 when there is none of that name.
  std::size_t find_segment(const std::string& name) const;
  // The names of all segments, for messages.
  std::string segment_names() const;
  View<script::Event> events(std::size_t segment, std::size_t thread) const;
  const script::Total* totals(std::size_t segment) const { return totals_.data + segment * counters.size; }

  int rank = 0;
  View<script::Communicator> communicators;
  View<std::int64_t> threads;
  View<script::Segment> segments;
  View<script::Counter> counters;

 private:
  template <class T>
  View<T> section(script::SectionName name) const;
  void check() const;
  void check_event(const script::Event& event, std::uint32_t slots) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::string path_;
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
  View<char> text_;
  View<std::uint32_t> strings_;
  View<script::Span> spans_;
  View<script::Total> totals_;
  View<script::Event> events_;
};

}  // namespace nccl_sentinel::player
