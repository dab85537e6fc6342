#include "engine/system/file_head_mirror.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "testing/temp_folder.h"

namespace interlock {

namespace {

const TenantId kAlice = TenantId::trusted("alice");
const TenantId kSystem = system_tenant();

LedgerHead head(std::int64_t seq, char digit) {
    return {seq, std::string(64, digit)};
}

struct FileHeadMirrorTest : ::testing::Test {
    TempFolder folder;
    FileHeadMirror mirror = FileHeadMirror::open(folder / "heads").value();
};

}  // namespace

TEST_F(FileHeadMirrorTest, IsEmptyAtFirst) {
    EXPECT_TRUE(mirror.load().value().empty());
}

TEST_F(FileHeadMirrorTest, GivesBackTheLastHeadOfEachChain) {
    mirror.publish({{kAlice, head(9, 'a')}, {kSystem, head(1, 'b')}});
    mirror.publish({{kAlice, head(10, 'c')}});
    FileHeadMirror again = FileHeadMirror::open(folder / "heads").value();
    const std::map<TenantId, LedgerHead> expected{{kAlice, head(10, 'c')}, {kSystem, head(1, 'b')}};
    EXPECT_EQ(again.load().value(), expected);
}

TEST_F(FileHeadMirrorTest, HoldsTheLargestSeq) {
    const LedgerHead last = head(std::numeric_limits<std::int64_t>::max(), 'f');
    mirror.publish({{kAlice, last}});
    EXPECT_EQ(mirror.load().value().at(kAlice), last);
}

TEST_F(FileHeadMirrorTest, ABlankFileIsNoNews) {
    std::ofstream(folder / "heads/alice.head").close();
    std::ofstream(folder / "heads/bob.head") << std::string(85, '\0');
    EXPECT_TRUE(mirror.load().value().empty());
}

TEST_F(FileHeadMirrorTest, ADamagedFileIsReported) {
    mirror.publish({{kAlice, head(3, 'a')}});
    std::fstream file(folder / "heads/alice.head", std::ios::in | std::ios::out);
    file.seekp(30);
    file.put('#');
    file.close();
    EXPECT_EQ(mirror.load().value().at(kAlice).seq, kUnreadableHead);
}

// One line cannot keep the heads of all others from being read.
TEST_F(FileHeadMirrorTest, AnImpossibleNumberIsReportedWithTheOthers) {
    mirror.publish({{kAlice, head(3, 'a')}, {kSystem, head(1, 'b')}});
    for (const char* number :
         {"9999999999999999999", "0000000000000000000", "-000000000000000001"}) {
        std::ofstream(folder / "heads/alice.head") << number << " " << std::string(64, 'a') << "\n";
        const auto heads = mirror.load().value();
        EXPECT_EQ(heads.at(kAlice).seq, kUnreadableHead) << number;
        EXPECT_EQ(heads.at(kSystem), head(1, 'b'));
    }
}

TEST_F(FileHeadMirrorTest, WhatIsNoHeadIsNotWritten) {
    mirror.publish({{kAlice, head(3, 'a')}});
    mirror.publish({{kAlice, head(std::numeric_limits<std::int64_t>::min(), 'c')}});
    mirror.publish({{kAlice, {4, "short"}}});
    EXPECT_EQ(mirror.load().value().at(kAlice), head(3, 'a'));
}

TEST_F(FileHeadMirrorTest, OtherFilesAreLeftAlone) {
    std::ofstream(folder / "heads/notes.txt") << "mine";
    EXPECT_TRUE(mirror.load().value().empty());
}

TEST_F(FileHeadMirrorTest, KeepsABoundedNumberOfFilesOpen) {
    std::map<TenantId, LedgerHead> heads;
    for (std::size_t n = 0; n < kHeadFilesOpenMax + 10; ++n) {
        heads.emplace(TenantId::trusted("t" + std::to_string(n)), head(1, 'a'));
    }
    mirror.publish(heads);
    EXPECT_EQ(mirror.files_open(), kHeadFilesOpenMax);
    EXPECT_EQ(mirror.load().value(), heads);
}

TEST_F(FileHeadMirrorTest, GoesOnWhenAFileCannotBeWritten) {
    std::filesystem::create_directory(folder / "heads/alice.head");
    mirror.publish({{kAlice, head(1, 'a')}, {kSystem, head(1, 'b')}});
    std::filesystem::remove(folder / "heads/alice.head");
    EXPECT_EQ(mirror.load().value().size(), 1u);
}

}  // namespace interlock
