#include "bots/files/file_pnl_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class PnlLogFile : public ::testing::Test {
protected:
    FilePnlLog open(std::size_t bytes_max = kPnlLogBytesMax) {
        return FilePnlLog::open(folder_ / "pnl", bytes_max).value();
    }
    void write(const std::string& name, std::string_view bytes) {
        std::ofstream(folder_ / ("pnl/" + name), std::ios::app) << bytes;
    }
    std::size_t size_of(const std::string& name) {
        return std::filesystem::file_size(folder_ / ("pnl/" + name));
    }

    TempFolder folder_;
    const TenantId acme_ = TenantId::trusted("acme");
};

TEST_F(PnlLogFile, KeepsTradesBesideTheLogAndReplacesWhatFollowsAnOffset) {
    FilePnlLog log = open();
    EXPECT_EQ(log.read_trades(acme_, 0, 100).value(), "") << "none were kept";
    ASSERT_TRUE(log.write_trades(acme_, 0, "one\ntwo\n"));
    ASSERT_TRUE(log.write_trades(acme_, 4, "three\n"));
    EXPECT_EQ(log.read_trades(acme_, 0, 100).value(), "one\nthree\n");
    EXPECT_EQ(log.read_trades(acme_, 4, 3).value(), "thr");
    EXPECT_EQ(log.read_trades(acme_, 10, 100).value(), "");
    EXPECT_EQ(log.tail(acme_, 9).value(), "");
    EXPECT_EQ(size_of("acme.trades"), 10U);
    EXPECT_FALSE(log.write_trades(TenantId::trusted("../acme"), 0, "x"));
}

TEST_F(PnlLogFile, GivesTheNewestLinesOldestFirst) {
    FilePnlLog log = open();
    for (const char* line : {"one", "two", "three"}) {
        ASSERT_TRUE(log.append(acme_, line));
    }
    EXPECT_EQ(log.tail(acme_, 2).value(), "two\nthree\n");
    EXPECT_EQ(log.tail(acme_, 3).value(), "one\ntwo\nthree\n");
    EXPECT_EQ(log.tail(acme_, 99).value(), "one\ntwo\nthree\n");
    EXPECT_EQ(log.tail(acme_, 0).value(), "");
}

TEST_F(PnlLogFile, KeepsTenantsApart) {
    FilePnlLog log = open();
    ASSERT_TRUE(log.append(acme_, "mine"));
    EXPECT_EQ(log.tail(TenantId::trusted("other"), 10).value(), "");
}

TEST_F(PnlLogFile, IsForItsOwnerOnly) {
    FilePnlLog log = open();
    ASSERT_TRUE(log.append(acme_, "mine"));
    struct stat found;
    ASSERT_EQ(stat((folder_ / "pnl/acme.log").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    ASSERT_EQ(stat((folder_ / "pnl").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(PnlLogFile, SurvivesBeingOpenedAgain) {
    ASSERT_TRUE(open().append(acme_, "before"));
    FilePnlLog log = open();
    ASSERT_TRUE(log.append(acme_, "after"));
    EXPECT_EQ(log.tail(acme_, 10).value(), "before\nafter\n");
}

TEST_F(PnlLogFile, BeginsANewFileAtTheBoundAndReadsAcross) {
    FilePnlLog log = open(12);
    for (const char* line : {"aaaaa", "bbbbb", "ccccc"}) {  // Two fit exactly.
        ASSERT_TRUE(log.append(acme_, line));
    }
    EXPECT_EQ(size_of("acme.log"), 6U);
    EXPECT_EQ(size_of("acme.log.1"), 12U);
    EXPECT_EQ(log.tail(acme_, 2).value(), "bbbbb\nccccc\n");
}

TEST_F(PnlLogFile, NeverKeepsMoreThanTwoFiles) {
    FilePnlLog log = open(100);
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(log.append(acme_, "line " + std::to_string(i)));
        ASSERT_LE(size_of("acme.log"), 100U);
    }
    EXPECT_EQ(size_of("acme.log.1"), 99U);
    EXPECT_EQ(
        std::distance(
            std::filesystem::directory_iterator(folder_ / "pnl"),
            std::filesystem::directory_iterator()),
        2);
    EXPECT_EQ(log.tail(acme_, 1).value(), "line 199\n");
}

TEST_F(PnlLogFile, TellsNoLineThatACrashLeftUnfinishedAndWritesOverIt) {
    FilePnlLog log = open();
    ASSERT_TRUE(log.append(acme_, "whole"));
    write("acme.log", "{\"half\":");
    EXPECT_EQ(log.tail(acme_, 10).value(), "whole\n");
    ASSERT_TRUE(log.append(acme_, "next"));
    EXPECT_EQ(log.tail(acme_, 10).value(), "whole\nnext\n");
}

TEST_F(PnlLogFile, RefusesALineThatIsTooLongOrMoreThanOne) {
    FilePnlLog log = open();
    EXPECT_TRUE(log.append(acme_, std::string(kPnlLineBytesMax - 1, 'x')));
    EXPECT_EQ(
        log.append(acme_, std::string(kPnlLineBytesMax, 'x')).error(), errors::body_too_large);
    EXPECT_EQ(log.append(acme_, "two\nlines").error(), errors::invalid_request);
}

TEST_F(PnlLogFile, GivesNoMoreLinesThanItsBound) {
    FilePnlLog log = open();
    std::string many;
    for (std::size_t i = 0; i < kPnlTailLinesMax + 5; ++i) {
        many += std::to_string(i) + "\n";
    }
    write("acme.log", many);
    const std::string tail = log.tail(acme_, kPnlTailLinesMax + 5).value();
    EXPECT_TRUE(tail.starts_with("5\n"));
}

TEST_F(PnlLogFile, TakesNoNameThatIsNoTenant) {
    FilePnlLog log = open();
    for (const char* name : {"..", "_system", "Acme", ""}) {
        EXPECT_EQ(log.append(TenantId::trusted(name), "x").error(), errors::invalid_request)
            << name;
        EXPECT_FALSE(log.tail(TenantId::trusted(name), 1)) << name;
    }
}

TEST_F(PnlLogFile, SaysWhenItsFolderIsGone) {
    FilePnlLog log = open();
    std::filesystem::remove_all(folder_ / "pnl");
    EXPECT_EQ(log.append(acme_, "x").error(), errors::io_failed);
}

}  // namespace
}  // namespace interlock
