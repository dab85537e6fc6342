#include "engine/rules/segment.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

ArchivedSegment segment(std::int64_t from, std::int64_t to) {
    const TenantId tenant_id = TenantId::trusted("demo");
    return {
        .from = from,
        .to = to,
        .hash = std::string(64, 'a'),
        .at = Timestamp{1'794'744'000'000'000},
        .file = segment_file(tenant_id, from, to),
        .bytes = 10,
        .sha256 = std::string(64, 'b'),
        .seals = 2,
        .seals_root = std::string(64, 'c')};
}

TEST(Segment, ARowReadsAsItWasWritten) {
    ArchiveState state;
    state.segments = {segment(1, 10), segment(10, 25)};
    state.segments[1].adopted = 7;
    state.segments[1].breaks.push_back(
        {12, state.segments[1].at, {11, "lost_key", "why", 11, {"kill/demo"}}, "human:hum_1"});
    const auto read = decode_archive(encode(state));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_text(encode(*read)), to_text(encode(state)));
    EXPECT_EQ(read->to(), 25);
    EXPECT_EQ(ArchiveState{}.to(), 0);
}

TEST(Segment, SegmentsMustFollowEachOtherAndNameAPlainFile) {
    ArchiveState state;
    state.segments = {segment(1, 10), segment(11, 25)};
    EXPECT_FALSE(decode_archive(encode(state)));
    for (const std::string name : {"", "../demo.jsonl", ".hidden", "a/b"}) {
        ArchivedSegment one = segment(1, 10);
        one.file = name;
        EXPECT_FALSE(decode_segment(encode(one))) << name;
    }
    ArchivedSegment backwards = segment(10, 10);
    EXPECT_FALSE(decode_segment(encode(backwards)));
    ArchivedSegment digest = segment(1, 10);
    digest.sha256 = "B";
    EXPECT_FALSE(decode_segment(encode(digest)));
}

TEST(Segment, TheSealAtTheLastCutIsLive) {
    ArchiveState state;
    state.segments = {segment(1, 10), segment(10, 25)};
    EXPECT_EQ(state.find(1)->to, 10);
    EXPECT_EQ(state.find(10)->to, 10);
    EXPECT_EQ(state.find(11)->to, 25);
    EXPECT_EQ(state.find(24)->to, 25);
    EXPECT_EQ(state.find(25), nullptr);
    EXPECT_EQ(ArchiveState{}.find(1), nullptr);
}

TEST(Segment, ARecordsArtifactsAreFoundWithoutAParse) {
    const std::string a(64, 'a');
    const std::string b(64, 'b');
    const std::string record = R"({"actor":"python","artifacts":["sha256:)" + a + R"(","sha256:)" +
                               b + R"("],"detail":{"artifacts":["sha256:)" + a + R"("]}})";
    EXPECT_EQ(artifacts_of(record), (std::vector{a, b}));
    EXPECT_TRUE(artifacts_of(R"({"actor":"python","artifacts":[],"detail":{}})").empty());
}

TEST(Segment, TheRootDependsOnEverySealAndItsPlace) {
    const std::vector<ChainHead> seals{{1, "x"}, {5, "y"}};
    const std::vector<ChainHead> other{{1, "x"}, {6, "y"}};
    EXPECT_NE(seals_root(seals), seals_root(other));
    EXPECT_NE(seals_root(seals), seals_root(std::vector<ChainHead>{{1, "x"}}));
    EXPECT_EQ(seals_root(seals).size(), 64u);
}

}  // namespace
}  // namespace interlock
