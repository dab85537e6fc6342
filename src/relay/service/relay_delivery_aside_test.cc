// An instance at its bounds pays for itself and costs nobody else anything:
// relay-connector.md#bounds-of-an-instance, ADR 0017.
#include <gtest/gtest.h>

#include "engine/wire/audit_record.h"
#include "testing/relay_world.h"

namespace interlock {
namespace {

using Texts = std::vector<std::string>;

const TenantId kTenant = TenantId::trusted("t1");

struct AsideTest : testing::Test {
    AsideTest() { set_up(world); }
    // The one that is away, one of its tenant, and one of another.
    static void set_up(RelayWorld& world) {
        world.add_instance("full");
        world.add_instance("mate");
        world.add_instance("well", "t2");
        world.bind("ann", "full");
        world.bind("bob", "well");
    }
    void send(const std::string& user, int from, int to) {
        for (int i = from; i <= to; ++i) {
            const auto answer = world.submit(RelayWorld::message(user, user + std::to_string(i)));
            ASSERT_TRUE(*answer) << user << i;
            EXPECT_TRUE((*answer)->is_stored) << user << i;
        }
    }
    RelayDelivery::InstanceView view(const std::string& instance_id) {
        return world.delivery.view(*world.state.instances.get(instance_id));
    }
    Texts dead_of(const std::string& instance_id) {
        Texts texts;
        const auto letters = world.store.read_dead_letters(instance_id, {instance_id, 0}, 100);
        for (const DeadLetter& letter : *letters) {
            texts.push_back(letter.entry.event_key.substr(letter.entry.event_key.rfind('/') + 1));
        }
        return texts;
    }
    // Records of one kind, in their order.
    std::vector<AuditDraft> records(const std::string& event) {
        std::vector<AuditDraft> found;
        const auto entries = world.store.ledger().read_ledger(kTenant, 0, 100'000).value();
        for (const LedgerEntry& entry : entries) {
            auto record = decode_audit_record(parse_json(entry.canonical_json).value());
            if (record.value().draft.event == event) {
                found.push_back(std::move(record.value().draft));
            }
        }
        return found;
    }
    static std::int64_t number(const AuditDraft& record, std::string_view key) {
        return record.detail.find(key)->as_int64().value();
    }
    Texts drain(const RelayWorld::Gateway& gateway) {
        Texts texts;
        for (auto came = gateway.socket->take_inbound(); !came.empty();
             came = gateway.socket->take_inbound()) {
            for (auto& [text, id] : came) {
                texts.push_back(text);
                world.ack(gateway, id);
            }
        }
        return texts;
    }

    RelayWorld world{
        {}, {.entries_max = 4, .dead_entries_max = 3, .dead_life = Duration::of_days(1)}};
};

// What stopped a shared bot for every tenant: one agent that was away, until its dead letters were
// full, and then for ever.
TEST_F(AsideTest, AFullInstanceKeepsNobodyFromHisMessages) {
    auto well = world.connect("well");
    for (int i = 1; i <= 50; ++i) {
        send("ann", i, i);
        send("bob", i, i);
        EXPECT_EQ(drain(well), Texts{"text bob" + std::to_string(i)});
    }
    EXPECT_EQ(view("full").waiting, 4u);
    EXPECT_EQ(view("full").dead_letters, 3u);
    EXPECT_EQ(world.inbound.refused(), 0);
    EXPECT_EQ(view("well").dead_letters, 0u);
}

TEST_F(AsideTest, WithSeveralTargetsTheFullOneShedsAndTheOthersGetIt) {
    world.bind("cid", "full");
    world.bind("cid", "mate");
    world.change([&](RelayTurn& turn) {
        world.state.routes.put(
            turn, row_key({"local", "bot", "room"}), {"local", "bot", "room", kTenant, turn.now()});
    });
    send("ann", 1, 4);
    PlatformArrival arrival = RelayWorld::message("cid", "c1");
    arrival.event.is_dm = false;
    arrival.event.discriminator = "room";
    arrival.event.event.source.chat_id = "room";
    arrival.event.event.source.chat_type = "group";
    const auto answer = world.submit(std::move(arrival));
    EXPECT_TRUE((*answer)->is_stored);
    EXPECT_TRUE((*answer)->is_delivered);
    auto mate = world.connect("mate");
    EXPECT_EQ(drain(mate), Texts{"text c1"});
    EXPECT_EQ(dead_of("full"), Texts{"c1"});
    const auto row = world.store.find_event(event_key_of({"local", "bot"}, "c1")).value();
    EXPECT_TRUE(row->why.contains(R"("delivered":["mate"],"laid_aside":["full"])")) << row->why;
}

// relay-connector.md#bounds-of-an-instance
TEST_F(AsideTest, WhatIsLaidAsideIsTheNewestAndWhatGoesIsWhatDiedFirst) {
    send("ann", 1, 9);
    EXPECT_EQ(dead_of("full"), (Texts{"ann7", "ann8", "ann9"}));
    auto gateway = world.connect("full");
    EXPECT_EQ(drain(gateway), (Texts{"text ann1", "text ann2", "text ann3", "text ann4"}));
    send("ann", 10, 10);
    EXPECT_EQ(drain(gateway), Texts{"text ann10"});
    EXPECT_EQ(world.delivery.counters().overflowed, 5);
    EXPECT_EQ(world.delivery.counters().dropped, 2);
}

TEST_F(AsideTest, AMessageThatIsLaidAsideIsToldToWhoWroteIt) {
    send("ann", 1, 4);
    const auto answer = world.submit(RelayWorld::message("ann", "m5"));
    EXPECT_TRUE((*answer)->is_stored);
    EXPECT_FALSE((*answer)->is_delivered);
    EXPECT_TRUE((*answer)->notice.contains("put aside")) << (*answer)->notice;
}

TEST_F(AsideTest, SheddingIsOneRecordAtItsBeginningOneAPeriodAndOneAtItsEnd) {
    send("ann", 1, 9);
    ASSERT_EQ(records("RELAY_SHEDDING").size(), 1u);
    EXPECT_EQ(records("RELAY_SHEDDING")[0].severity, AuditSeverity::critical);
    EXPECT_TRUE(records("RELAY_SHED").empty());
    EXPECT_TRUE(records("RELAY_DEAD_LETTER").empty());
    world.pass(kShedRecordPeriod);
    ASSERT_EQ(records("RELAY_SHED").size(), 1u);
    EXPECT_EQ(number(records("RELAY_SHED")[0], "laid_aside"), 5);
    EXPECT_EQ(number(records("RELAY_SHED")[0], "dropped"), 2);
    world.pass(kShedRecordPeriod);
    EXPECT_EQ(records("RELAY_SHED").size(), 1u);  // Nothing was shed meanwhile.
    send("ann", 10, 10);
    ASSERT_TRUE(view("full").shedding);
    EXPECT_EQ(view("full").shedding->laid_aside, 6);
    auto gateway = world.connect("full");
    drain(gateway);
    EXPECT_FALSE(view("full").shedding);
    const auto ended = records("RELAY_SHEDDING_ENDED");
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].severity, AuditSeverity::critical);
    EXPECT_EQ(number(ended[0], "laid_aside"), 1);
    EXPECT_EQ(number(ended[0], "laid_aside_in_all"), 6);
    EXPECT_EQ(number(ended[0], "dropped_in_all"), 3);
    send("ann", 11, 11);
    EXPECT_EQ(records("RELAY_SHEDDING").size(), 1u);
}

TEST_F(AsideTest, ARestartGoesOnCountingAndTellsTheBeginningNoSecondTime) {
    send("ann", 1, 9);
    RelayWorld after(
        world.store.take_contents(), {.entries_max = 4, .dead_entries_max = 3}, world.clock.now());
    after.submit(RelayWorld::message("ann", "m10"));
    const auto view = after.delivery.view(*after.state.instances.get("full"));
    ASSERT_TRUE(view.shedding);
    EXPECT_EQ(view.shedding->laid_aside, 6);
    EXPECT_EQ(view.shedding->dropped, 3);
    EXPECT_EQ(view.dead_letters, 3u);
    EXPECT_EQ(after.store.load_dead_letters()->size(), 3u);
}

TEST_F(AsideTest, ABufferThatEmptiedByAgeAloneTakesMailAgain) {
    send("ann", 1, 5);
    world.pass(Duration::of_days(7));
    EXPECT_EQ(view("full").waiting, 0u);
    EXPECT_FALSE(view("full").shedding);
    send("ann", 6, 6);
    EXPECT_EQ(view("full").waiting, 1u);
}

TEST_F(AsideTest, DeadLettersEndWhenTheirTimeIsOverInOneRecord) {  // ADR 0012: texts leave the disk
    send("ann", 1, 7);
    world.pass(Duration::of_seconds(24 * 60 * 60 - 1));
    EXPECT_EQ(dead_of("full"), (Texts{"ann5", "ann6", "ann7"}));
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(dead_of("full"), Texts{});
    EXPECT_EQ(view("full").dead_letters, 0u);
    EXPECT_EQ(view("full").waiting, 4u);
    EXPECT_EQ(world.delivery.counters().ended, 3);
    const auto taken = records("RELAY_DEAD_LETTER_TAKEN");
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].reason, "ended");
    EXPECT_EQ(number(taken[0], "count"), 3);
}

TEST_F(AsideTest, ManyEntriesThatGrewTooOldAreOneRecordAndSoAreThoseThatMakeRoom) {
    send("ann", 1, 4);
    world.pass(Duration::of_days(7));
    ASSERT_EQ(records("RELAY_DEAD_LETTER").size(), 1u);
    EXPECT_EQ(number(records("RELAY_DEAD_LETTER")[0], "count"), 4);
    EXPECT_EQ(dead_of("full"), (Texts{"ann2", "ann3", "ann4"}));
    ASSERT_EQ(records("RELAY_DEAD_LETTER_TAKEN").size(), 1u);
    EXPECT_EQ(records("RELAY_DEAD_LETTER_TAKEN")[0].reason, "dropped");
}

TEST_F(AsideTest, ManyAreRequeuedInTheirOrderAsFarAsThereIsRoom) {
    send("ann", 1, 7);
    world.change([&](RelayTurn& turn) {
        const auto none = world.delivery.requeue_dead(turn, {.instance_id = "full"});
        EXPECT_EQ(none->done, 0);
        EXPECT_EQ(none->left, 3);
        EXPECT_EQ(none->no_room, 3);
    });
    auto gateway = world.connect("full");
    drain(gateway);
    world.hang_up(gateway);
    send("ann", 8, 9);
    world.change([&](RelayTurn& turn) {
        const auto some =
            world.delivery.requeue_dead(turn, {.instance_id = "full", .principal = "operator"});
        EXPECT_EQ(some->done, 2);
        EXPECT_EQ(some->left, 1);
        EXPECT_EQ(some->no_room, 1);
    });
    const auto taken = records("RELAY_DEAD_LETTER_TAKEN");
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].reason, "requeued");
    EXPECT_EQ(number(taken[0], "count"), 2);
    EXPECT_EQ(dead_of("full"), Texts{"ann7"});
    gateway = world.connect("full");
    EXPECT_EQ(drain(gateway), (Texts{"text ann8", "text ann9", "text ann5", "text ann6"}));
}

TEST_F(AsideTest, ManyAreThrownAwayByInstanceTenantAndAge) {
    send("ann", 1, 6);
    world.pass(Duration::of_hours(1));
    send("ann", 7, 7);
    const auto discard = [&](const RelayDelivery::Letters& letters) {
        RelayDelivery::LettersDone done;
        world.change([&](RelayTurn& turn) { done = world.delivery.discard_dead(turn, letters); });
        return done.done;
    };
    EXPECT_EQ(discard({.instance_id = "well"}), 0);
    EXPECT_EQ(discard({.tenant_id = TenantId::trusted("nobody")}), 0);
    EXPECT_EQ(discard({.older_than = Duration::of_hours(2)}), 0);
    EXPECT_EQ(discard({.older_than = Duration::of_hours(1)}), 2);
    EXPECT_EQ(dead_of("full"), Texts{"ann7"});
    EXPECT_EQ(discard({.tenant_id = kTenant}), 1);
    EXPECT_EQ(dead_of("full"), Texts{});
    EXPECT_EQ(view("full").dead_letters, 0u);
}

TEST(Aside, ACallTakesNoMoreLettersThanItsBound) {
    RelayWorld world({}, {.entries_max = 1});
    AsideTest::set_up(world);
    for (std::size_t i = 0; i < kLettersPerCallMax + 11; ++i) {
        world.submit(RelayWorld::message("ann", "m" + std::to_string(i)));
    }
    world.change([&](RelayTurn& turn) {
        const auto done = world.delivery.discard_dead(turn, {.instance_id = "full"});
        EXPECT_EQ(done.done, static_cast<std::int64_t>(kLettersPerCallMax));
        EXPECT_EQ(done.left, 10);
    });
    EXPECT_EQ(world.store.load_dead_letters()->size(), 10u);
}

TEST(Aside, ASmallerBoundIsKeptAfterARestart) {
    RelayWorld world({}, {.entries_max = 1});
    AsideTest::set_up(world);
    for (int i = 0; i < 20; ++i) {
        world.submit(RelayWorld::message("ann", "m" + std::to_string(i)));
    }
    RelayWorld after(
        world.store.take_contents(), {.entries_max = 1, .dead_entries_max = 5}, world.clock.now());
    after.pass(Duration::of_seconds(1));
    EXPECT_EQ(after.store.load_dead_letters()->size(), 5u);
}

}  // namespace
}  // namespace interlock
