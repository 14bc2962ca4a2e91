//===- AssemblyCacheTest.cpp - Code objects kept between runs -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/AssemblyCache.h"

#include "Netra/Target/KernelBuilder.h"
#include "TestGolden.h"

#include "gmock/gmock.h"

#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace netra;
using namespace netra::test;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
namespace fs = std::filesystem;

namespace {

/// "remark: …" or "warning: …", one for each note.
std::vector<std::string> notesOf(AssemblyCache &cache) {
  std::vector<std::string> lines;
  for (const AssemblyCache::Note &note : cache.takeNotes())
    lines.push_back((note.isWarning ? "warning: " : "remark: ") + note.text);
  return lines;
}

/// A library and a folder for the cache in it.
class AssemblyCacheTest : public testing::Test {
protected:
  std::string place() const { return (library.path / "cache").string(); }

  std::shared_ptr<AssemblyCache> open() const {
    return std::make_shared<AssemblyCache>(place());
  }
  Assembler assembler(std::shared_ptr<AssemblyCache> cache) const {
    return llvm::cantFail(
        Assembler::create(library.path.string(), "gfx950", cache));
  }
  /// Assembles with a cache that has just been opened, and tells whether the
  /// kernel came out of it.
  AssembledKernel assemble(bool &isHit, int64_t n = 64) {
    std::shared_ptr<AssemblyCache> cache = open();
    AssembledKernel kernel =
        llvm::cantFail(assembler(cache).assemble(copyInstance(n)));
    isHit = cache->getHits() == 1;
    EXPECT_EQ(cache->getHits() + cache->getMisses(), 1u);
    notes = notesOf(*cache);
    return kernel;
  }
  bool isHit(int64_t n = 64) {
    bool result = false;
    assemble(result, n);
    return result;
  }
  /// The files of the cache, without the folder's name.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(place()))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string entry() const { return "cache/" + entries().at(0); }

  void replaceInTemplate(const std::string &from, const std::string &to) {
    std::string text = library.read("kernels/gfx950/test/copy.s");
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    library.write("kernels/gfx950/test/copy.s",
                  text.replace(at, from.size(), to));
  }

  TestLibrary library;
  std::vector<std::string> notes;
};

void expectEqual(const AssembledKernel &lhs, const AssembledKernel &rhs) {
  EXPECT_EQ(lhs.source, rhs.source);
  EXPECT_EQ(lhs.closureSha256, rhs.closureSha256);
  ASSERT_EQ(lhs.closure.size(), rhs.closure.size());
  for (size_t i = 0; i != lhs.closure.size(); ++i) {
    EXPECT_EQ(lhs.closure[i].path, rhs.closure[i].path);
    EXPECT_EQ(lhs.closure[i].text, rhs.closure[i].text);
    EXPECT_EQ(lhs.closure[i].sha256, rhs.closure[i].sha256);
  }
  EXPECT_EQ(lhs.object.bytes, rhs.object.bytes);
  EXPECT_EQ(lhs.object.sha256, rhs.object.sha256);
  EXPECT_EQ(lhs.object.textSha256, rhs.object.textSha256);
}

} // namespace

TEST_F(AssemblyCacheTest, AHitIsTheSameKernel) {
  AssembledKernel plain =
      llvm::cantFail(library.assembler().assemble(copyInstance()));
  bool isHit = true;
  expectEqual(assemble(isHit), plain);
  EXPECT_FALSE(isHit);
  EXPECT_THAT(entries(), SizeIs(1));
  EXPECT_EQ(entries()[0].size(), 64 + strlen(".code"));
  expectEqual(assemble(isHit), plain);
  EXPECT_TRUE(isHit);
  EXPECT_THAT(notes, ElementsAre());
  EXPECT_THAT(entries(), SizeIs(1));
  // Nothing of this machine is in it.
  EXPECT_THAT(library.read(entry()), Not(HasSubstr(library.path.string())));
}

TEST_F(AssemblyCacheTest, TheKeyCoversEverythingThatIsRead) {
  EXPECT_FALSE(isHit());
  EXPECT_TRUE(isHit());
  EXPECT_FALSE(isHit(128)); // another instance
  EXPECT_TRUE(isHit());
  std::string frame = frameInclude;
  library.write("kernels/gfx950/include/frame.inc", frame + "// a comment\n");
  EXPECT_FALSE(isHit());
  EXPECT_TRUE(isHit());
  library.write("kernels/gfx950/include/frame.inc", frame);
  EXPECT_TRUE(isHit()); // the old entry is still there
  replaceInTemplate("  v_lshlrev_b32", "  s_nop 0\n  v_lshlrev_b32");
  EXPECT_FALSE(isHit());
  // Files that are included under a condition only count too.
  library.write("kernels/gfx950/include/rare.inc", "// empty\n");
  replaceInTemplate(".macro", ".if NETRA_N == 1\n.include "
                              "\"include/rare.inc\"\n.endif\n.macro");
  bool hit = true;
  EXPECT_THAT(assemble(hit).closure, SizeIs(2));
  EXPECT_FALSE(hit);
  EXPECT_THAT(assemble(hit).closure, SizeIs(2));
  EXPECT_TRUE(hit);
  library.write("kernels/gfx950/include/rare.inc", "// other\n");
  EXPECT_FALSE(isHit());
  EXPECT_THAT(entries(), SizeIs(6));
}

TEST_F(AssemblyCacheTest, WhatTheKeyDoesNotCoverIsNotKept) {
  // The assembler reads what no line names, so nobody could tell a change.
  library.write("kernels/gfx950/include/made.inc", "// made up\n");
  replaceInTemplate(".macro netra_template", R"(.macro bring name
  .include "include/\name\().inc"
.endm
bring made
.macro netra_template)");
  auto expectUncached = [&](size_t misses) {
    std::shared_ptr<AssemblyCache> cache = open();
    EXPECT_EQ(message(assembler(cache).assemble(copyInstance())), "");
    EXPECT_EQ(cache->getHits(), 0u);
    EXPECT_EQ(cache->getMisses(), misses);
    EXPECT_FALSE(fs::exists(place()));
  };
  expectUncached(0);
  library.write("kernels/gfx950/test/copy.s", copyTemplate);
  replaceInTemplate(".macro", ".incbin \"include/made.inc\", 0, 4\n.macro");
  expectUncached(1);
  // A file that is missing where it does not matter.
  library.write("kernels/gfx950/test/copy.s", copyTemplate);
  replaceInTemplate(".macro", ".if NETRA_N == 1\n.include "
                              "\"include/absent.inc\"\n.endif\n.macro");
  expectUncached(0);
}

TEST_F(AssemblyCacheTest, FaultsAreTheSameAndAreNotKept) {
  for (const auto &[from, to, part] :
       {std::tuple("v_lshlrev_b32", "v_lshlrev_b33", "invalid instruction"),
        std::tuple("include/frame.inc", "include/absent.inc", "found none"),
        std::tuple("include/frame.inc", "test/copy.s",
                   "does a file include itself?"),
        std::tuple("frame_end \\name", "", "netra_copy_n64.kd")}) {
    library.write("kernels/gfx950/test/copy.s", copyTemplate);
    replaceInTemplate(from, to);
    std::string plain = message(library.assembler().assemble(copyInstance()));
    EXPECT_THAT(plain, HasSubstr(part));
    EXPECT_EQ(message(assembler(open()).assemble(copyInstance())), plain);
    EXPECT_FALSE(fs::exists(place()));
  }
  // Neither is a code object that breaks its contract; and one that is there
  // is held against the contract of whoever asks for it.
  library.write("kernels/gfx950/test/copy.s", copyTemplate);
  Tactic tactic = copyTactic();
  Instance instance = copyInstance();
  tactic.locks.push_back({instance.constants, std::string(64, '0')});
  tactic.manifestPath = "copy.json";
  instance.tactic = &tactic;
  for (bool isThere : {false, true}) {
    std::shared_ptr<AssemblyCache> cache = open();
    EXPECT_THAT(message(assembler(cache).assemble(instance)),
                HasSubstr("the lock in copy.json says 0000"));
    EXPECT_EQ(cache->getHits(), isThere ? 1u : 0u);
    EXPECT_EQ(fs::exists(place()), isThere);
    EXPECT_EQ(message(assembler(open()).assemble(copyInstance())), "");
  }
}

TEST_F(AssemblyCacheTest, GroupsAndGoldens) {
  auto group = [](Assembler assembler) {
    return llvm::cantFail(
        assembler.assembleGroup({copyInstance(64), copyInstance(128)}));
  };
  AssembledKernel plain = group(library.assembler());
  for (size_t hits : {0, 1}) {
    std::shared_ptr<AssemblyCache> cache = open();
    expectEqual(group(assembler(cache)), plain);
    EXPECT_EQ(cache->getHits(), hits);
  }
  // Golden bytes lie in a folder already.
  GoldenLibrary goldens;
  Instance instance = goldens.instance();
  std::shared_ptr<AssemblyCache> cache = open();
  KernelBuilder builder = llvm::cantFail(
      KernelBuilder::create(goldens.path.string(), "gfx950",
                            (goldens.path / "golden").string(), cache));
  EXPECT_EQ(message(builder.build(instance)), "");
  EXPECT_EQ(cache->getHits() + cache->getMisses(), 0u);
}

/// Whatever is done to an entry, the kernel is the same, the damage is told
/// once, and the next run finds the entry whole.
TEST_F(AssemblyCacheTest, DamageIsFoundAndMended) {
  AssembledKernel plain =
      llvm::cantFail(library.assembler().assemble(copyInstance()));
  EXPECT_FALSE(isHit());
  EXPECT_FALSE(isHit(128));
  std::string name;
  for (const std::string &candidate : entries())
    if (library.read("cache/" + candidate).find("n64") != std::string::npos)
      name = "cache/" + candidate;
  ASSERT_NE(name, "");
  std::string other = "cache/" + entries()[name == "cache/" + entries()[0]];
  std::string good = library.read(name);
  auto damage = [&](const std::string &bytes, const char *part) {
    library.write(name, bytes);
    bool isHit = true;
    expectEqual(assemble(isHit), plain);
    EXPECT_FALSE(isHit) << part;
    EXPECT_THAT(notes,
                ElementsAre(AllOf(
                    HasSubstr("remark: assembly cache " + place() + ": entry "),
                    HasSubstr(" is damaged: "), HasSubstr(part),
                    HasSubstr("; assembled again and replaced"))));
    EXPECT_EQ(library.read(name), good) << part;
  };
  damage("", "expected it to begin with");
  damage("netra.assembled/2 " + good.substr(18), "expected it to begin with");
  for (size_t length = 1; length < good.size(); length += good.size() / 13)
    damage(good.substr(0, length), "expected");
  damage(good + "x", "expected contents with SHA-256");
  for (size_t at = 0; at < good.size(); at += good.size() / 17) {
    std::string bytes = good;
    bytes[at] ^= 16;
    damage(bytes, "expected");
  }
  damage(library.read(other), "expected the entry of this key, found that of");
  // Whole by its hash, but not what a run would write.
  auto seal = [](const std::string &body) {
    return "netra.assembled/1 " + sha256Hex(llvm::StringRef(body)) + "\n" +
           body;
  };
  std::string body = good.substr(good.find('\n') + 1);
  size_t file = body.find("file "), code = body.find("code\n");
  damage(seal(body.substr(0, code)), "expected a code object after the files");
  damage(seal(body.substr(0, code + 5)), "expected an ELF file");
  damage(seal(body.substr(0, body.size() / 2)), "code object: ");
  damage(seal(body.substr(0, file) + "file include/none.inc\n" +
              body.substr(file)),
         "expected files that the source includes, found include/none.inc");
}

TEST_F(AssemblyCacheTest, AnEntryThatIsNoFile) {
  EXPECT_FALSE(isHit());
  std::string name = (library.path / entry()).string();
  std::string key = fs::path(name).stem();
  std::string begin = "assembly cache " + place() + ": entry " + key + " ";
  fs::path kept = library.path / "kept";
  fs::create_directory(kept);
  auto replaced = [&](const std::string &why) {
    EXPECT_FALSE(isHit());
    if (why.empty())
      EXPECT_THAT(notes, ElementsAre());
    else
      EXPECT_THAT(notes, ElementsAre("remark: " + begin + why +
                                     "; assembled again and replaced"));
    EXPECT_TRUE(isHit());
    EXPECT_THAT(notes, ElementsAre());
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(name)));
    EXPECT_THAT(entries(), SizeIs(1));
    fs::remove(name);
  };
  fs::remove(name);
  fs::create_directory(name);
  replaced("is damaged: expected a file, found a folder");
  fs::create_symlink("nowhere", name);
  replaced("");
  fs::create_symlink(fs::path(name).filename(), name);
  replaced("cannot be read: Too many levels of symbolic links");
  // The link goes, and not what it points to.
  fs::create_directory_symlink(kept, name);
  replaced("is damaged: expected a file, found a folder");
  EXPECT_TRUE(fs::is_directory(kept));
  ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
  replaced("is damaged: expected a file");
  // What is somebody's stays, and every run says so.
  fs::create_directory(name);
  library.write("cache/" + key + ".code/letter", "x");
  for (int run = 0; run != 2; ++run) {
    EXPECT_FALSE(isHit());
    EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("warning: " + begin +
                                                   "is damaged: expected a "
                                                   "file, found a folder; "
                                                   "assembled again, but not "
                                                   "replaced: "),
                                         HasSubstr("; remove it"))));
    EXPECT_EQ(library.read("cache/" + key + ".code/letter"), "x");
    EXPECT_THAT(entries(), SizeIs(1));
  }
  // Other entries are kept as ever.
  EXPECT_FALSE(isHit(128));
  EXPECT_THAT(notes, ElementsAre());
  EXPECT_TRUE(isHit(128));
}

TEST_F(AssemblyCacheTest, ADamagedEntryOfAKernelThatIsRefused) {
  EXPECT_FALSE(isHit());
  std::string name = entry();
  library.write(name, "x");
  Tactic tactic = copyTactic();
  Instance instance = copyInstance();
  tactic.locks.push_back({instance.constants, std::string(64, '0')});
  tactic.manifestPath = "copy.json";
  instance.tactic = &tactic;
  std::shared_ptr<AssemblyCache> cache = open();
  EXPECT_THAT(message(assembler(cache).assemble(instance)),
              HasSubstr("the lock in copy.json says 0000"));
  EXPECT_THAT(notesOf(*cache),
              ElementsAre(AllOf(HasSubstr("remark: "),
                                HasSubstr(" is damaged: expected it to begin "
                                          "with"),
                                HasSubstr("; not used"))));
  EXPECT_THAT(notesOf(*cache), ElementsAre());
  EXPECT_EQ(library.read(name), "x");
}

TEST_F(AssemblyCacheTest, AFolderThatCannotBeUsedIsToldOnce) {
  auto run = [&](const std::string &folder) {
    auto cache = std::make_shared<AssemblyCache>(folder);
    for (int64_t n : {64, 128, 64})
      EXPECT_EQ(message(assembler(cache).assemble(copyInstance(n))), "");
    EXPECT_EQ(cache->getHits(), 0u);
    return notesOf(*cache);
  };
  library.write("file", "x");
  std::string file = (library.path / "file").string();
  EXPECT_THAT(run(file), ElementsAre(AllOf(
                             HasSubstr("warning: assembly cache " + file),
                             HasSubstr("; kernels are assembled without it"))));
  EXPECT_EQ(library.read("file"), "x");
  EXPECT_THAT(run(file + "/below"), ElementsAre(HasSubstr("warning: ")));
  EXPECT_THAT(run("/proc/netra-cache"),
              ElementsAre(HasSubstr("warning: assembly cache "
                                    "/proc/netra-cache: expected a folder")));
  EXPECT_THAT(run(std::string(5000, 'x')), ElementsAre(HasSubstr("warning: ")));
}

TEST_F(AssemblyCacheTest, AReadOnlyFolderIsReadFrom) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write everywhere";
  EXPECT_FALSE(isHit());
  fs::permissions(place(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(isHit());
  EXPECT_THAT(notes, ElementsAre());
  EXPECT_FALSE(isHit(128));
  EXPECT_THAT(notes,
              ElementsAre(AllOf(HasSubstr("warning: "),
                                HasSubstr("cannot be written: "),
                                HasSubstr("; what is assembled is not kept"))));
  // One entry that cannot be read, and cannot be replaced either.
  fs::permissions(library.path / entry(), fs::perms::none);
  EXPECT_FALSE(isHit());
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("warning: "),
                                       HasSubstr(" cannot be read: "),
                                       HasSubstr(", but not replaced: "))));
  // In a folder of one's own it is replaced.
  fs::permissions(place(), fs::perms::owner_all);
  EXPECT_FALSE(isHit());
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("remark: "),
                                       HasSubstr(" cannot be read: "),
                                       HasSubstr(" and replaced"))));
  EXPECT_TRUE(isHit());
  fs::permissions(place(), fs::perms::none);
  EXPECT_FALSE(isHit());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("cannot be read: ")));
  fs::permissions(place(), fs::perms::owner_all);
}

TEST_F(AssemblyCacheTest, DeletingIsSafeAtAnyTime) {
  std::shared_ptr<AssemblyCache> cache = open();
  Assembler user = assembler(cache);
  for (int round = 0; round != 3; ++round) {
    EXPECT_EQ(message(user.assemble(copyInstance())), "");
    EXPECT_THAT(entries(), SizeIs(1));
    fs::remove_all(place());
  }
  EXPECT_EQ(cache->getMisses(), 3u);
  EXPECT_THAT(notesOf(*cache), ElementsAre());
}

TEST_F(AssemblyCacheTest, ManyWritersOfTheSameEntries) {
  std::vector<std::string> hashes(16), expected(16), faults(16);
  for (size_t i = 0; i != 16; ++i)
    expected[i] = llvm::cantFail(library.assembler().assemble(
                                     copyInstance(64 * (1 + int64_t(i % 2)))))
                      .object.sha256;
  // All of them find folders in the places of the entries.
  isHit();
  isHit(128);
  for (const std::string &name : entries()) {
    fs::remove(library.path / "cache" / name);
    fs::create_directory(library.path / "cache" / name);
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i != 16; ++i)
    threads.emplace_back([&, i] {
      std::shared_ptr<AssemblyCache> cache = open();
      Assembler user = assembler(cache);
      for (int round = 0; round != 4; ++round) {
        hashes[i] = llvm::cantFail(
                        user.assemble(copyInstance(64 * (1 + int64_t(i % 2)))))
                        .object.sha256;
        // Somebody keeps damaging them, too.
        if (i == 0 && round != 3)
          for (const std::string &name : entries())
            if (name.front() != '.')
              std::ofstream(library.path / "cache" / name) << "x";
      }
      for (const AssemblyCache::Note &note : cache->takeNotes())
        if (note.isWarning)
          faults[i] = note.text;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(hashes, expected);
  EXPECT_THAT(faults, Each(""));
  isHit();
  isHit(128);
  EXPECT_THAT(entries(), SizeIs(2)); // and nothing that is half written
  EXPECT_TRUE(isHit());
  EXPECT_TRUE(isHit(128));
}
