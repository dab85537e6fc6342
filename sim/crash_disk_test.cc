// The disk's own promises: what was synced stays, what was not may go in any way.
#include "sim/crash_disk.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock::sim {
namespace {

std::string content(CrashDisk& disk, const std::string& name) {
    const CrashDisk::FileRef file = disk.open(name, false);
    return file == nullptr ? "(none)" : file->now;
}

TEST(CrashDisk, KeepsWhatWasSynced) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Power power;
        CrashDisk disk(power);
        const CrashDisk::FileRef file = disk.open("a", true);
        ASSERT_EQ(disk.write(*file, 0, "held"), DiskStatus::ok);
        ASSERT_EQ(disk.sync(file), DiskStatus::ok);
        ASSERT_EQ(disk.write(*file, 4, "lost?"), DiskStatus::ok);
        disk.settle_after_crash(seed);
        EXPECT_EQ(content(disk, "a").substr(0, 4), "held");
    }
}

TEST(CrashDisk, LosesTearsOrKeepsWhatWasNotSynced) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Power power;
        CrashDisk disk(power);
        const CrashDisk::FileRef file = disk.open("a", true);
        ASSERT_EQ(disk.write(*file, 0, std::string(1024, 'o')), DiskStatus::ok);
        ASSERT_EQ(disk.sync(file), DiskStatus::ok);
        ASSERT_EQ(disk.write(*file, 0, std::string(1024, 'n')), DiskStatus::ok);
        disk.settle_after_crash(seed);
        const std::string found = content(disk, "a");
        seen.insert({found[0], found[1023]});
    }
    EXPECT_EQ(seen, (std::set<std::string>{"oo", "on", "no", "nn"}));
}

TEST(CrashDisk, MayLoseAFileThatWasNeverSynced) {
    std::set<bool> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Power power;
        CrashDisk disk(power);
        (void)disk.open("a", true);
        disk.settle_after_crash(seed);
        seen.insert(disk.exists("a"));
    }
    EXPECT_EQ(seen.size(), 2u);
}

TEST(CrashDisk, MayBringBackAFileWhoseDeletionWasNotSynced) {
    std::set<bool> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Power power;
        CrashDisk disk(power);
        ASSERT_EQ(disk.sync(disk.open("a", true)), DiskStatus::ok);
        ASSERT_EQ(disk.remove("a", false), DiskStatus::ok);
        disk.settle_after_crash(seed);
        seen.insert(disk.exists("a"));
    }
    EXPECT_EQ(seen.size(), 2u);
}

TEST(CrashDisk, GoesDarkAtTheArmedCallAndChangesNothingAfterIt) {
    Power power;
    CrashDisk disk(power);
    const CrashDisk::FileRef file = disk.open("a", true);
    disk.arm({.fault = DiskFault::power_loss, .calls_until = 1, .seed = 1});
    EXPECT_EQ(disk.write(*file, 0, "one"), DiskStatus::ok);
    EXPECT_EQ(disk.sync(file), DiskStatus::io_error);
    EXPECT_FALSE(power.on);
    EXPECT_EQ(disk.write(*file, 0, "two"), DiskStatus::io_error);
    EXPECT_EQ(file->now, "one");
}

TEST(CrashDisk, FailsAsManyCallsAsAnErrorLasts) {
    Power power;
    CrashDisk disk(power);
    const CrashDisk::FileRef file = disk.open("a", true);
    disk.arm({.fault = DiskFault::disk_full, .calls_hit = 2, .seed = 1});
    EXPECT_EQ(disk.write(*file, 0, "one"), DiskStatus::full);
    EXPECT_EQ(disk.write(*file, 0, "one"), DiskStatus::full);
    EXPECT_EQ(disk.write(*file, 0, "one"), DiskStatus::ok);
    EXPECT_TRUE(power.on);
}

// After a failed sync some kernels drop the data but go on showing it.
TEST(CrashDisk, MayLoseDataForGoodWhenASyncFails) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Power power;
        CrashDisk disk(power);
        const CrashDisk::FileRef file = disk.open("a", true);
        ASSERT_EQ(disk.sync(file), DiskStatus::ok);
        disk.arm({.fault = DiskFault::io_error, .calls_until = 1, .seed = seed});
        ASSERT_EQ(disk.write(*file, 0, "x"), DiskStatus::ok);
        ASSERT_EQ(disk.sync(file), DiskStatus::io_error);
        ASSERT_EQ(file->now, "x");
        ASSERT_EQ(disk.sync(file), DiskStatus::ok);
        disk.settle_after_crash(seed);
        seen.insert(content(disk, "a"));
    }
    EXPECT_EQ(seen, (std::set<std::string>{"", "x"}));
}

TEST(CrashDisk, CopiesOnlyWhatNoCrashCanTake) {
    Power power;
    CrashDisk disk(power);
    const CrashDisk::FileRef file = disk.open("a", true);
    ASSERT_EQ(disk.write(*file, 0, "held"), DiskStatus::ok);
    ASSERT_EQ(disk.sync(file), DiskStatus::ok);
    ASSERT_EQ(disk.write(*file, 0, "gone"), DiskStatus::ok);
    (void)disk.open("b", true);
    Power other;
    CrashDisk copy = disk.durable_copy(other);
    EXPECT_EQ(content(copy, "a"), "held");
    EXPECT_FALSE(copy.exists("b"));
}

}  // namespace
}  // namespace interlock::sim
