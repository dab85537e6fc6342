#include "engine/system/file_kill_flag.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "testing/temp_folder.h"

namespace interlock {

namespace {

struct FileKillFlagTest : ::testing::Test {
    TempFolder folder;
    FileKillFlag flag{folder.path().string()};
};

}  // namespace

TEST_F(FileKillFlagTest, IsDownInAnEmptyFolder) {
    EXPECT_FALSE(flag.is_raised());
    EXPECT_EQ(flag.reason(), "");
}

TEST_F(FileKillFlagTest, RaisedItTellsItsReason) {
    ASSERT_TRUE(flag.raise("the disk is full").has_value());
    EXPECT_TRUE(flag.is_raised());
    EXPECT_EQ(flag.reason(), "the disk is full");
}

TEST_F(FileKillFlagTest, ABareTouchRaisesIt) {
    std::ofstream(folder / "KILL").close();
    EXPECT_TRUE(flag.is_raised());
    EXPECT_EQ(flag.reason(), "");
}

TEST_F(FileKillFlagTest, AFolderOfThatNameRaisesItToo) {
    std::filesystem::create_directory(folder / "KILL");
    EXPECT_TRUE(flag.is_raised());
    EXPECT_EQ(flag.reason(), "");
}

TEST_F(FileKillFlagTest, ALinkToNowhereRaisesItToo) {
    std::filesystem::create_symlink("nowhere", folder / "KILL");
    EXPECT_TRUE(flag.is_raised());
}

TEST_F(FileKillFlagTest, APipeOfThatNameDoesNotBlockTheReader) {
    ASSERT_EQ(mkfifo((folder / "KILL").c_str(), 0600), 0);
    EXPECT_TRUE(flag.is_raised());
    EXPECT_EQ(flag.reason(), "");
}

TEST_F(FileKillFlagTest, CountsAsRaisedWhenItCannotBeTold) {
    // A path through a file gives ENOTDIR: not a clear no.
    std::ofstream(folder / "file").close();
    FileKillFlag blocked(folder / "file");
    EXPECT_TRUE(blocked.is_raised());
}

TEST_F(FileKillFlagTest, KeepsItsFirstReason) {
    ASSERT_TRUE(flag.raise("first").has_value());
    ASSERT_TRUE(flag.raise("second").has_value());
    EXPECT_EQ(flag.reason(), "first");
}

TEST_F(FileKillFlagTest, OnlyTheFirstLineIsTheReason) {
    std::ofstream(folder / "KILL") << "line one\nline two\n";
    EXPECT_EQ(flag.reason(), "line one");
}

TEST_F(FileKillFlagTest, AReasonOfSeveralLinesIsKeptOnOne) {
    ASSERT_TRUE(flag.raise("one\ntwo").has_value());
    EXPECT_EQ(flag.reason(), "one two");
}

TEST_F(FileKillFlagTest, ALongReasonIsCut) {
    ASSERT_TRUE(flag.raise(std::string(10'000, 'x')).has_value());
    EXPECT_EQ(flag.reason(), std::string(kKillReasonBytesMax - 1, 'x'));
    ASSERT_TRUE(flag.lower().has_value());
    std::ofstream(folder / "KILL") << std::string(10'000, 'y');
    EXPECT_EQ(flag.reason(), std::string(kKillReasonBytesMax, 'y'));
}

TEST_F(FileKillFlagTest, OnAFullDiskTheBallastMakesRoomForTheReason) {
    const std::string ballast = folder / "ballast";
    bool is_full = false;
    FileKillFlag tight(folder.path().string(), [&](const NewFile& file) -> Result<bool> {
        if (is_full && std::filesystem::exists(ballast)) {
            errno = ENOSPC;
            return system_failure("write", file.path);
        }
        return create_file_durably(file);
    });
    ASSERT_TRUE(tight.keep_ballast().has_value());
    EXPECT_EQ(std::filesystem::file_size(ballast), kBallastBytes);
    is_full = true;
    ASSERT_TRUE(tight.raise("audit write failed: no space left").has_value());
    EXPECT_EQ(tight.reason(), "audit write failed: no space left");
    EXPECT_FALSE(std::filesystem::exists(ballast));
    is_full = false;
    ASSERT_TRUE(tight.lower().has_value());
    EXPECT_TRUE(std::filesystem::exists(ballast));
}

TEST_F(FileKillFlagTest, LoweredItIsDown) {
    ASSERT_TRUE(flag.raise("reason").has_value());
    ASSERT_TRUE(flag.lower().has_value());
    EXPECT_FALSE(flag.is_raised());
}

TEST_F(FileKillFlagTest, LoweringItTwiceIsFine) {
    EXPECT_TRUE(flag.lower().has_value());
}

TEST_F(FileKillFlagTest, RaisedByManyAtOnceItHoldsOneWholeReason) {
    std::vector<std::thread> threads;
    for (int n = 0; n < 8; ++n) {
        threads.emplace_back([&] { EXPECT_TRUE(flag.raise("the one reason").has_value()); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(flag.reason(), "the one reason");
}

}  // namespace interlock
