// SPDX-License-Identifier: Apache-2.0
// The directory, the file and what others may have put there.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "check.h"
#include "clock.h"
#include "dead_files.h"
#include "directory.h"
#include "mapped_file.h"

namespace {

using namespace nccl_sentinel;
namespace fs = std::filesystem;

fs::path root() { return std::getenv("NCCL_SENTINEL_DIR"); }

bool try_open(const char* chosen, const fs::path& node, const fs::path& fallback, Directory& directory) {
  Failure failure;
  const bool is_open = open_directory(chosen, node.c_str(), fallback.c_str(), directory, failure);
  EXPECT_EQUAL(is_open, failure.where[0] == '\0');
  return is_open;
}

mode_t mode(const fs::path& path) {
  struct stat status{};
  EXPECT_EQUAL(0, lstat(path.c_str(), &status));
  return status.st_mode & 07777;
}

CASE_OF(the_fallback_directory_is_made_for_everybody, 5) {
  Directory directory;
  umask(077);
  EXPECT(try_open(nullptr, root() / "node", root() / "fallback", directory));
  EXPECT_EQUAL((root() / "fallback").string(), std::string(directory.path));
  EXPECT_EQUAL(01777U, mode(root() / "fallback"));
  fs::create_directory(root() / "node");
  EXPECT(try_open(nullptr, root() / "node", root() / "fallback", directory));
  EXPECT_EQUAL((root() / "node").string(), std::string(directory.path));
}

CASE_OF(default_directories_are_not_followed_nor_trusted_blindly, 5) {
  Directory directory;
  fs::create_directory(root() / "target");
  fs::create_directory_symlink(root() / "target", root() / "link");
  EXPECT(!try_open(nullptr, root() / "none", root() / "link", directory));
  EXPECT(!try_open(nullptr, root() / "link", root() / "fallback", directory));
  EXPECT(!fs::exists(root() / "fallback"));
  EXPECT_EQUAL(0, chmod((root() / "target").c_str(), 0777));
  EXPECT(!try_open(nullptr, root() / "none", root() / "target", directory));
  // Whoever sets NCCL_SENTINEL_DIR has decided (Kubernetes mounts an emptyDir with 0777).
  EXPECT(try_open((root() / "link").c_str(), root() / "none", root() / "none", directory));
  EXPECT(!try_open((root() / "missing").c_str(), root() / "none", root() / "none", directory));
}

CASE_OF(a_link_in_the_way_is_not_followed, 5) {
  const fs::path victim = root() / "victim";
  std::ofstream(victim) << "precious";
  const std::string name = std::to_string(getpid()) + "-ff.nccl-sentinel";
  fs::create_symlink(victim, root() / name);
  Directory directory;
  EXPECT(try_open(root().c_str(), "", "", directory));
  umask(077);
  const auto file = std::make_unique<MappedFile>();
  Failure failure;
  EXPECT(file->create(directory, 0xff, failure));
  EXPECT_EQUAL(std::to_string(getpid()) + "-100.nccl-sentinel", std::string(file->name()));
  EXPECT_EQUAL(8U, fs::file_size(victim));
  EXPECT_EQUAL(0644U, mode(root() / file->name()));
  EXPECT_EQUAL(sizeof(layout::File), fs::file_size(root() / file->name()));
  file->remove();
  EXPECT(!fs::exists(root() / file->name()));
}

CASE_OF(file_names_are_read_strictly, 5) {
  EXPECT(parse_file_name("12-1f.nccl-sentinel").has_value());
  EXPECT_EQUAL(12, parse_file_name("12-1f.nccl-sentinel")->pid);
  EXPECT_EQUAL(31U, parse_file_name("12-1f.nccl-sentinel")->start_monotonic_ns);
  for (const char* name :
       {"", ".", "12", "12-", "12-.nccl-sentinel", "-1f.nccl-sentinel", "0-1f.nccl-sentinel", "+12-1f.nccl-sentinel",
        "12-1F.nccl-sentinel", "12-0x1f.nccl-sentinel", "12-1f.nccl-sentinel~", "12-11111111111111111.nccl-sentinel",
        "4294967299-1f.nccl-sentinel", "12-1f.prom"}) {
    EXPECT(!parse_file_name(name).has_value());
  }
}

CASE_OF(dead_files_are_removed_and_nothing_else, 5) {
  const auto make = [](const std::string& name) { std::ofstream(root() / name) << "x"; };
  const std::string own = std::to_string(getpid());
  char now[32];
  std::snprintf(now, sizeof now, "%llx", static_cast<unsigned long long>(monotonic_ns()));
  make("2000000000-1.nccl-sentinel");
  make(own + "-1.nccl-sentinel");            // the same pid in a container that was started again
  make(own + "-" + now + ".nccl-sentinel");  // could be of another copy of the plugin in this process
  make("notes.txt");
  make("target");
  fs::create_symlink(root() / "target", root() / "2000000001-1.nccl-sentinel");
  fs::create_directory(root() / "2000000002-1.nccl-sentinel");
  EXPECT_EQUAL(0, mkfifo((root() / "2000000003-1.nccl-sentinel").c_str(), 0600));
  Directory directory;
  EXPECT(try_open(root().c_str(), "", "", directory));
  EXPECT_EQUAL(2, remove_dead_files(directory.fd));
  EXPECT(!fs::exists(root() / "2000000000-1.nccl-sentinel"));
  EXPECT(!fs::exists(root() / (own + "-1.nccl-sentinel")));
  EXPECT(fs::exists(root() / (own + "-" + now + ".nccl-sentinel")));
  EXPECT(fs::exists(root() / "notes.txt") && fs::exists(root() / "target"));
  EXPECT(fs::is_symlink(root() / "2000000001-1.nccl-sentinel"));
  EXPECT_EQUAL(0, remove_dead_files(directory.fd));
}

}  // namespace
