// What is said of a bot that places nothing by its own word: what it began with, and whether the
// exchange is away now or answers and everything is being read anew.
#include <gtest/gtest.h>

#include "testing/bot_world.h"

namespace interlock {
namespace {

class BotStalls : public ::testing::Test {
protected:
    std::string reason() {
        const Json status = world.bots->status(world.tenant);
        const Json* const blocked = status.find("blocked");
        return blocked->is_null() ? "" : BotWorld::word_of(*blocked, "reason");
    }
    // Second by second, until it is stalled and does or does not say so.
    std::string reason_once_stalled() {
        for (int i = 0; i < 30; ++i) {
            world.pass(Duration::of_seconds(1));
            if (*world.bots->status(world.tenant).find("stalled") == Json(true)) {
                return reason();
            }
        }
        return "never stalled";
    }
    std::string reason_of(const std::string& event) {
        const auto records = *world.plane->ledger.read(world.tenant, 0, 10'000);
        std::string last = "none";
        for (const AuditRecord& record : records) {
            last = record.draft.event == event ? record.draft.reason : last;
        }
        return last;
    }

    const std::string anew = ", so everything is being read anew; nothing is placed until then.";
    const std::string away =
        "The exchange does not answer; nothing is placed until it has answered twice in a row.";
    BotWorld world;
};

TEST_F(BotStalls, AreToldByTheirOwnCause) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    EXPECT_EQ(reason(), "");

    world.restart();
    EXPECT_EQ(reason_once_stalled(), "The server was started" + anew);
    EXPECT_EQ(reason_of("BOT_STALLED"), "the server was started");
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(reason(), "");
    EXPECT_EQ(reason_of("BOT_RESUMED"), "everything was read anew");

    world.body([&](BotService::Reply reply) { world.bots->disconnect(world.agent(), reply); });
    EXPECT_EQ(reason(), "The session with the exchange is closed.");
    world.body([&](BotService::Reply reply) { world.bots->connect(world.agent(), reply); });
    EXPECT_EQ(reason(), "The session was opened" + anew);
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(reason(), "");

    world.venue_answers = false;
    EXPECT_EQ(reason_once_stalled(), away);
    world.pass(Duration::of_seconds(60));
    EXPECT_EQ(reason(), away);
    world.venue_answers = true;
    std::string last = away;
    for (int i = 0; i < 40 && last == away; ++i) {
        world.pass(Duration::of_seconds(1));
        last = reason();
    }
    EXPECT_EQ(last, "The exchange answers again" + anew);
    world.pass(Duration::of_seconds(30));
    EXPECT_EQ(reason(), "");
}

// The exchange may also be away while it is read anew for another cause.
TEST_F(BotStalls, WhatTheExchangeDoesNowIsToldBeforeTheCause) {
    world.run_bot();
    world.pass(Duration::of_seconds(15));
    world.restart();
    world.venue_answers = false;
    EXPECT_EQ(reason_once_stalled(), away);
    world.restart();
    world.venue_answers = true;
    EXPECT_EQ(reason(), away);  // As stored; nothing newer is known yet.
    std::string last = away;
    for (int i = 0; i < 40 && last == away; ++i) {
        world.pass(Duration::of_seconds(1));
        last = reason();
    }
    EXPECT_EQ(last, "The exchange answers again" + anew);
}

}  // namespace
}  // namespace interlock
