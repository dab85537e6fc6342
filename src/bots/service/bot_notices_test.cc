// What people are told of a bot that trades no more: the beginning and the end, as one kind, and
// nothing of what a start or a person of theirs did.
// docs/contracts/notices.md#1-what-is-told-and-to-whom
#include <gtest/gtest.h>

#include "engine/rules/notice_rules.h"
#include "testing/bot_world.h"

namespace interlock {
namespace {

using Events = std::vector<std::string>;

struct BotNotices : testing::Test {
    // Events of the notices since it was last asked; each is of the kind `blocked`.
    Events told() {
        Events events;
        while (true) {
            const auto records = world.plane->ledger.read(world.tenant, seen_, 1000).value();
            for (const AuditRecord& record : records) {
                seen_ = record.seq;
                const auto notice = notice_of(record);
                if (notice && record.draft.event.starts_with("BOT_")) {
                    EXPECT_EQ(notice->kind, NoticeKind::blocked);
                    events.push_back(record.draft.event);
                }
            }
            if (records.empty()) {
                return events;
            }
        }
    }
    void connect(const BotService::Caller& who) {
        world.body([&](BotService::Reply reply) { world.bots->connect(who, std::move(reply)); });
    }
    void disconnect(const BotService::Caller& who) {
        world.body([&](BotService::Reply reply) { world.bots->disconnect(who, std::move(reply)); });
    }
    // Long enough for a stall to end.
    void settle() { world.pass(Duration::of_seconds(90)); }

    BotWorld world;

private:
    std::int64_t seen_ = 0;
};

TEST_F(BotNotices, AVenueThatGoesAndComesIsToldTwice) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    EXPECT_EQ(told(), Events{});
    world.venue_answers = false;
    world.pass(Duration::of_seconds(60));
    EXPECT_EQ(told(), Events{"BOT_STALLED"});
    world.venue_answers = true;
    settle();
    EXPECT_EQ(told(), Events{"BOT_RESUMED"});
}

TEST_F(BotNotices, AStartIsNobodysNews) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.restart();
    settle();
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
    EXPECT_EQ(told(), Events{});
}

TEST_F(BotNotices, AVenueThatIsAwayAfterAStartIsTold) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.restart();
    world.venue_answers = false;
    settle();
    EXPECT_EQ(told(), Events{"BOT_STALLED"});
    world.restart();  // Once, however often the server starts meanwhile.
    world.pass(Duration::of_seconds(60));
    EXPECT_EQ(told(), Events{});
    world.venue_answers = true;
    settle();
    EXPECT_EQ(told(), Events{"BOT_RESUMED"});
}

TEST_F(BotNotices, ASessionThatAnAgentClosesIsToldUntilTheBotTradesAgain) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    disconnect(world.agent());
    EXPECT_EQ(told(), Events{"BOT_DISCONNECTED"});
    connect(world.human());
    settle();
    EXPECT_EQ(told(), (Events{"BOT_CONNECTED", "BOT_RESUMED"}));
}

TEST_F(BotNotices, ASessionThatAPersonClosesIsNot) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    disconnect(world.human());
    connect(world.human());
    settle();
    EXPECT_EQ(world.count("BOT_RESUMED"), 1);
    EXPECT_EQ(told(), Events{});
}

}  // namespace
}  // namespace interlock
