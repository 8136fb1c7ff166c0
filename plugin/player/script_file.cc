// SPDX-License-Identifier: Apache-2.0
#include "script_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "failure.h"

namespace nccl_sentinel::player {

using script::SectionName;

ScriptFile::ScriptFile(const std::string& path) : path_(path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Failure(kExitUsage, "cannot open a player script", path, std::strerror(errno));
  struct stat status{};
  void* map = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    bytes_ = static_cast<std::size_t>(status.st_size);
    map = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  }
  close(file);
  if (map == MAP_FAILED) refuse("it is empty or not a file");
  data_ = static_cast<const char*>(map);
  try {
    check();
    text_ = section<char>(SectionName::kText);
    strings_ = section<std::uint32_t>(SectionName::kStrings);
    communicators = section<script::Communicator>(SectionName::kCommunicators);
    threads = section<std::int64_t>(SectionName::kThreads);
    segments = section<script::Segment>(SectionName::kSegments);
    spans_ = section<script::Span>(SectionName::kSpans);
    counters = section<script::Counter>(SectionName::kCounters);
    totals_ = section<script::Total>(SectionName::kTotals);
    events_ = section<script::Event>(SectionName::kEvents);
    rank = reinterpret_cast<const script::Header*>(data_)->rank;
    if (text_.size == 0 || text_[text_.size - 1] != '\0' || strings_.size == 0) refuse("it has no strings");
    for (const std::uint32_t offset : strings_) {
      if (offset >= text_.size) refuse("a string lies outside of it");
    }
    if (communicators.size == 0 || threads.size == 0 || segments.size < 2) refuse("it holds nothing to play");
    for (const script::Communicator& communicator : communicators) {
      if (communicator.init_thread >= threads.size || communicator.finalize_thread >= threads.size ||
          communicator.index > 255 || communicator.closing >= communicators.size ||
          (communicator.name != script::kNone && communicator.name >= strings_.size)) {
        refuse("a communicator is not whole");
      }
    }
    if (spans_.size != segments.size * threads.size || totals_.size != segments.size * counters.size) {
      refuse("its segments are not whole");
    }
    for (std::size_t segment = 0; segment < segments.size; ++segment) {
      if (segments[segment].name >= strings_.size || segments[segment].slots >= script::kPermanent ||
          (segment > 0 && segments[segment].length_ns <= 0)) {
        refuse("a segment is not whole");
      }
      for (std::size_t thread = 0; thread < threads.size; ++thread) {
        const script::Span& span = spans_[segment * threads.size + thread];
        if (span.first > events_.size || span.count > events_.size - span.first) refuse("events lie outside of it");
        for (const script::Event& event : events(segment, thread)) check_event(event, segments[segment].slots);
      }
    }
  } catch (...) {
    munmap(map, bytes_);
    throw;
  }
}

ScriptFile::~ScriptFile() { munmap(const_cast<char*>(data_), bytes_); }

template <class T>
View<T> ScriptFile::section(SectionName name) const {
  const script::Section& place =
      reinterpret_cast<const script::Header*>(data_)->sections[static_cast<std::size_t>(name)];
  if (place.offset % 8 != 0 || place.offset > bytes_ || place.count > (bytes_ - place.offset) / sizeof(T)) {
    refuse("a section lies outside of it");
  }
  return {reinterpret_cast<const T*>(data_ + place.offset), static_cast<std::size_t>(place.count)};
}

void ScriptFile::check() const {
  if (bytes_ < sizeof(script::Header) || std::memcmp(data_, script::kMagic, sizeof script::kMagic) != 0) {
    refuse("it does not begin as one");
  }
  const auto& header = *reinterpret_cast<const script::Header*>(data_);
  if (header.version != script::kVersion) {
    refuse("it has version " + std::to_string(header.version) + ", this player reads version " +
           std::to_string(script::kVersion));
  }
  if (header.file_bytes != bytes_) {
    refuse("it has " + std::to_string(bytes_) + " bytes instead of " + std::to_string(header.file_bytes));
  }
}

void ScriptFile::check_event(const script::Event& event, std::uint32_t slots) const {
  const auto fits = [&](std::uint32_t slot) {
    if (slot == script::kNone) return true;
    return (slot & script::kPermanent) != 0 ? (slot & ~script::kPermanent) < segments[0].slots : slot < slots;
  };
  const bool known = event.kind <= script::Kind::kState && event.type <= script::Type::kKernelLaunch;
  const bool placed = event.slot != script::kNone && fits(event.slot) && fits(event.parent) && fits(event.group) &&
                      fits(event.operation);
  const bool named = std::max({event.func, event.dtype, event.algo, event.proto}) < strings_.size;
  const bool counted = event.type != script::Type::kColl || event.kind != script::Kind::kStart ||
                       static_cast<std::size_t>(event.extra) < counters.size;
  const bool opened = std::any_of(communicators.begin(), communicators.end(), [&](const script::Communicator& each) {
    return each.index == event.communicator || event.kind != script::Kind::kStart;
  });
  if (!(known && placed && named && counted && opened)) {
    refuse("event " + std::to_string(&event - events_.data) + " is not whole");
  }
}

void ScriptFile::refuse(const std::string& why) const {
  throw Failure(kExitUsage, "cannot use a player script", path_, why, "sentinel.trace.compile_scripts writes them");
}

std::size_t ScriptFile::find_segment(const std::string& name) const {
  for (std::size_t segment = 1; segment < segments.size; ++segment) {
    if (name == text(segments[segment].name)) return segment;
  }
  return 0;
}

std::string ScriptFile::segment_names() const {
  std::string names;
  for (std::size_t segment = 1; segment < segments.size; ++segment) {
    names += (names.empty() ? "" : ", ") + std::string(text(segments[segment].name));
  }
  return names;
}

View<script::Event> ScriptFile::events(std::size_t segment, std::size_t thread) const {
  const script::Span& span = spans_[segment * threads.size + thread];
  return {events_.data + span.first, static_cast<std::size_t>(span.count)};
}

}  // namespace nccl_sentinel::player
