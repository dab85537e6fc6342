#include "app/mcp/mcp_session_table.h"

#include <gtest/gtest.h>

#include "testing/fake_http.h"
#include "testing/fake_mcp.h"

namespace interlock {
namespace {

Principal key(const std::string& id) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = id;
    return principal;
}

McpClientPtr a_client(std::string id, const Principal& owner) {
    const auto client = std::make_shared<McpClient>();
    client->id = std::move(id);
    client->owner = owner;
    client->session = std::make_shared<McpSession>(McpSession::Terms{"2025-11-25"});
    return client;
}

Duration at(std::int64_t seconds) {
    return Duration::of_seconds(seconds);
}

constexpr McpSessionLimits kSmall{
    .sessions_max = 3, .sessions_per_owner_max = 2, .idle_max = Duration::of_seconds(100)};

TEST(McpSessionTable, ASessionIsFoundByItsOwnerOnly) {
    McpSessionTable table(kSmall);
    ASSERT_TRUE(table.add(a_client("s1", key("a")), at(0)).is_added);
    EXPECT_NE(table.find("s1", key("a"), at(1)), nullptr);
    EXPECT_EQ(table.find("s1", key("b"), at(1)), nullptr);
    EXPECT_EQ(table.find("s2", key("a"), at(1)), nullptr);
    EXPECT_EQ(table.remove("s1", key("b")), nullptr);
    EXPECT_NE(table.remove("s1", key("a")), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(McpSessionTable, AtTheBoundOfAnOwnerItsOldestIdleSessionGivesWay) {
    McpSessionTable table(kSmall);
    table.add(a_client("other", key("b")), at(0));
    table.add(a_client("s1", key("a")), at(1));
    table.add(a_client("s2", key("a")), at(2));
    table.find("s1", key("a"), at(3));  // Now s2 is the one used longest ago.
    const auto added = table.add(a_client("s3", key("a")), at(4));
    ASSERT_TRUE(added.is_added);
    ASSERT_EQ(added.removed.size(), 1U);
    EXPECT_EQ(added.removed[0]->id, "s2");
    EXPECT_EQ(table.size(), 3U);
}

TEST(McpSessionTable, AtTheBoundOfAllTheOldestIdleSessionGivesWay) {
    McpSessionTable table(kSmall);
    table.add(a_client("s1", key("a")), at(1));
    table.add(a_client("s2", key("b")), at(2));
    table.add(a_client("s3", key("c")), at(3));
    const auto added = table.add(a_client("s4", key("d")), at(4));
    ASSERT_TRUE(added.is_added);
    ASSERT_EQ(added.removed.size(), 1U);
    EXPECT_EQ(added.removed[0]->id, "s1");
}

TEST(McpSessionTable, BusySessionsDoNotGiveWay) {
    McpSessionTable table(kSmall);
    for (const char* id : {"s1", "s2"}) {
        const McpClientPtr client = a_client(id, key("a"));
        client->session->begin(Json(1), std::make_shared<RecordingOutlet>());
        ASSERT_TRUE(table.add(client, at(0)).is_added);
    }
    EXPECT_FALSE(table.add(a_client("s3", key("a")), at(1)).is_added);
    EXPECT_EQ(table.size(), 2U);
    EXPECT_TRUE(table.add(a_client("s4", key("b")), at(1)).is_added);
}

TEST(McpSessionTable, AnIdleSessionExpires) {
    McpSessionTable table(kSmall);
    table.add(a_client("s1", key("a")), at(0));
    EXPECT_NE(table.find("s1", key("a"), at(100)), nullptr);
    EXPECT_EQ(table.find("s1", key("a"), at(201)), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(McpSessionTable, ExpiredSessionsAreClearedWhenOneIsAdded) {
    McpSessionTable table(kSmall);
    table.add(a_client("s1", key("a")), at(0));
    const auto added = table.add(a_client("s2", key("b")), at(101));
    ASSERT_EQ(added.removed.size(), 1U);
    EXPECT_EQ(added.removed[0]->id, "s1");
    EXPECT_EQ(table.size(), 1U);
}

TEST(McpSessionTable, AConnectedOrBusySessionDoesNotExpire) {
    McpSessionTable table(kSmall);
    const McpClientPtr connected = a_client("s1", key("a"));
    FakeResponder caller;
    connected->streams.attach_standing(caller, {});
    const McpClientPtr busy = a_client("s2", key("a"));
    busy->session->begin(Json(1), std::make_shared<RecordingOutlet>());
    table.add(connected, at(0));
    table.add(busy, at(0));
    EXPECT_NE(table.find("s1", key("a"), at(1000)), nullptr);
    EXPECT_NE(table.find("s2", key("a"), at(1000)), nullptr);
}

TEST(McpSessionTable, AnEndedOwnerLosesItsSessionsAndOpensNoMore) {
    McpSessionTable table(kSmall);
    table.add(a_client("s1", key("a")), at(1));
    table.add(a_client("s2", key("b")), at(2));
    const auto removed = table.end_owner(key("a"));
    ASSERT_EQ(removed.size(), 1U);
    EXPECT_EQ(removed[0]->id, "s1");
    EXPECT_TRUE(table.is_ended(key("a")));
    EXPECT_FALSE(table.is_ended(key("b")));
    EXPECT_FALSE(table.add(a_client("s3", key("a")), at(3)).is_added);
    EXPECT_NE(table.find("s2", key("b"), at(3)), nullptr);
}

TEST(McpSessionTable, OfEndedOwnersOnlyTheLatestAreRemembered) {
    McpSessionTable table(kSmall);
    for (std::size_t i = 0; i <= McpSessionTable::kEndedOwnersMax; ++i) {
        table.end_owner(key(std::to_string(i)));
        table.end_owner(key(std::to_string(i)));  // Twice is once.
    }
    EXPECT_FALSE(table.is_ended(key("0")));
    EXPECT_TRUE(table.is_ended(key("1")));
    EXPECT_TRUE(table.is_ended(key(std::to_string(McpSessionTable::kEndedOwnersMax))));
}

}  // namespace
}  // namespace interlock
