// The promises of engine/ports/ledger_store.h as tests. Every implementation instantiates this
// suite; one that passes can stand in for any other. Include it in one source file of a test
// binary.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "engine/ports/ledger_store.h"
#include "ledger_store_harness.h"

namespace interlock {

class LedgerStoreSuite : public ::testing::TestWithParam<LedgerStoreKind> {
protected:
    LedgerStoreSuite() : harness_(GetParam().make()) {}

    LedgerStore& store() { return harness_->store(); }
    void reopen() { harness_->reopen(); }

    void commit(std::vector<TurnCommit> turns) {
        const Result<void> done = store().commit(turns);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    void expect_conflict(std::vector<TurnCommit> turns) {
        const Result<void> done = store().commit(turns);
        ASSERT_FALSE(done.has_value()) << "the batch was taken";
        EXPECT_EQ(done.error(), errors::conflict) << done.error().message;
    }

private:
    std::unique_ptr<LedgerStoreHarness> harness_;
};

TEST_P(LedgerStoreSuite, AnEmptyStoreHasNothing) {
    using namespace ledger_store_suite;
    EXPECT_FALSE(store().load_state("kill/alice").value().has_value());
    EXPECT_TRUE(store().load_states("").value().empty());
    EXPECT_FALSE(store().find_answer(answer_key("k")).value().has_value());
    EXPECT_TRUE(store().load_outbox().value().empty());
    EXPECT_TRUE(store().load_timers().value().empty());
    EXPECT_TRUE(store().load_heads().value().empty());
    EXPECT_TRUE(store().read_ledger(kAlice, 0, 10).value().empty());
    EXPECT_EQ(store().read_head(kAlice).value(), LedgerHead{});
    EXPECT_TRUE(store().read_checkpoints(kAlice).value().empty());
    EXPECT_FALSE(store().read_artifact(kAlice, "h").value().has_value());
}

TEST_P(LedgerStoreSuite, AnEmptyBatchIsTaken) {
    commit({});
}

TEST_P(LedgerStoreSuite, ANewStateHasVersionOne) {
    commit({ledger_store_suite::state_turn("kill/alice", 0, "{}")});
    const std::optional<StoredState> stored = store().load_state("kill/alice").value();
    ASSERT_TRUE(stored.has_value());
    EXPECT_EQ(stored->version, 1);
    EXPECT_EQ(stored->json, "{}");
}

TEST_P(LedgerStoreSuite, AStateWrittenTwiceInABatchCountsOnFromItself) {
    using namespace ledger_store_suite;
    commit({state_turn("m", 0, "first"), state_turn("m", 1, "second")});
    const std::optional<StoredState> stored = store().load_state("m").value();
    ASSERT_TRUE(stored.has_value());
    EXPECT_EQ(stored->version, 2);
    EXPECT_EQ(stored->json, "second");
}

TEST_P(LedgerStoreSuite, AStateThatChangedSinceItWasLoadedIsAConflict) {
    using namespace ledger_store_suite;
    commit({state_turn("m", 0, "first"), state_turn("m", 1, "second")});
    expect_conflict({state_turn("m", 1, "late")});
    EXPECT_EQ(store().load_state("m").value()->json, "second");
}

TEST_P(LedgerStoreSuite, AStateThatExistsCannotBeMadeAnew) {
    using namespace ledger_store_suite;
    commit({state_turn("m", 0, "first")});
    expect_conflict({state_turn("m", 0, "again")});
    EXPECT_EQ(store().load_state("m").value()->json, "first");
}

TEST_P(LedgerStoreSuite, AStateThatDoesNotExistCannotBeChanged) {
    expect_conflict({ledger_store_suite::state_turn("m", 1, "late")});
    EXPECT_FALSE(store().load_state("m").value().has_value());
}

TEST_P(LedgerStoreSuite, StatesAreFoundByPrefixInKeyOrder) {
    using namespace ledger_store_suite;
    commit({
        state_turn("approval/b", 0, "3"),
        state_turn("approval/a", 0, "2"),
        state_turn("approval", 0, "1"),
        state_turn("approval0", 0, "4"),
        state_turn("zebra\xff", 0, "5"),
    });
    const auto states = store().load_states("approval/").value();
    ASSERT_EQ(states.size(), 2u);
    EXPECT_EQ(states.begin()->first, "approval/a");
    EXPECT_EQ(states.begin()->second.json, "2");
    EXPECT_EQ(states.rbegin()->first, "approval/b");
    EXPECT_EQ(store().load_states("").value().size(), 5u);
    EXPECT_EQ(store().load_states("zebra\xff").value().size(), 1u);
}

// A store may keep some machines apart from the rest; nobody must be able to tell.
TEST_P(LedgerStoreSuite, ConcernsAndDecisionsAreStatesLikeAllOthers) {
    using namespace ledger_store_suite;
    for (const std::string word : {"concern", "control"}) {
        const std::string one = word + "/t/one";
        commit({
            state_turn(one, 0, "1"),
            state_turn(one + "/more", 0, "2"),
            state_turn(word, 0, "3"),
            state_turn(word + "0", 0, "4"),
            state_turn("account/" + word, 0, "5"),
        });
        commit({state_turn(one, 1, "6")});
        expect_conflict({state_turn(one, 1, "late")});
        expect_conflict({state_turn(one, 0, "again")});
        expect_conflict({state_turn(word + "/new", 0, "a"), state_turn(word + "/new", 0, "b")});
        expect_conflict({state_turn(word + "/never", 1, "c")});
        reopen();
        expect_conflict({state_turn(one, 0, "again")});
        EXPECT_EQ(store().load_state(one).value()->json, "6");
        EXPECT_EQ(store().load_state(one).value()->version, 2);
        EXPECT_FALSE(store().load_state(word + "/new").value().has_value());
        EXPECT_EQ(store().load_states(word + "/").value().size(), 2u);
        const auto all = store().load_states(word).value();
        ASSERT_EQ(all.size(), 4u);
        EXPECT_EQ(all.begin()->first, word);
        EXPECT_EQ(all.rbegin()->first, word + "0");
    }
    EXPECT_EQ(store().load_states("").value().size(), 10u);
}

TEST_P(LedgerStoreSuite, ConflictInTheThirdOfFiveTurnsWritesNothing) {
    using namespace ledger_store_suite;
    commit({state_turn("old", 0, "before"), entry_turn(kAlice, 1)});
    TurnCommit first = state_turn("old", 1, "after");
    first.audit.push_back(entry(kAlice, 2));
    first.outbox.push_back(effect("eff_1"));
    first.timers.push_back(timer("tmr_1", kNoon));
    TurnCommit second = answer_turn(answer("key", "body"));
    second.artifacts.push_back({kAlice, "hash", "bytes"});
    second.checkpoints.push_back({kAlice, 2, "hash", kNoon, "signature"});
    second.audit.push_back(entry(kBob, 1));

    expect_conflict(
        {first, second, state_turn("old", 1, "clash"), state_turn("new", 0, "{}"), TurnCommit{}});

    EXPECT_EQ(store().load_state("old").value()->json, "before");
    EXPECT_EQ(store().load_state("old").value()->version, 1);
    EXPECT_FALSE(store().load_state("new").value().has_value());
    EXPECT_EQ(store().read_ledger(kAlice, 0, 10).value().size(), 1u);
    EXPECT_EQ(store().read_head(kAlice).value().seq, 1);
    EXPECT_EQ(store().load_heads().value().size(), 1u);
    EXPECT_TRUE(effect_ids(store()).empty());
    EXPECT_TRUE(timer_ids(store()).empty());
    EXPECT_FALSE(store().find_answer(answer_key("key")).value().has_value());
    EXPECT_FALSE(store().read_artifact(kAlice, "hash").value().has_value());
    EXPECT_TRUE(store().read_checkpoints(kAlice).value().empty());
}

TEST_P(LedgerStoreSuite, ARefusedBatchDoesNotSpoilTheNextOne) {
    using namespace ledger_store_suite;
    TurnCommit refused = state_turn("m", 3, "{}");
    refused.audit.push_back(entry(kAlice, 1));
    expect_conflict({entry_turn(kBob, 1), refused});
    commit({entry_turn(kAlice, 1), entry_turn(kBob, 1), state_turn("m", 0, "{}")});
    EXPECT_EQ(store().read_head(kBob).value().seq, 1);
}

TEST_P(LedgerStoreSuite, ARefusedBatchPutsBackWhatItRemoved) {
    using namespace ledger_store_suite;
    TurnCommit before;
    before.outbox = {effect("eff_1"), effect("eff_2"), effect("eff_3")};
    before.timers = {timer("tmr_1", kNoon), timer("tmr_2", kNoon)};
    before.answers = {answer("key", std::nullopt)};
    commit({before});
    TurnCommit removes;
    removes.outbox_finished = {EffectId::trusted("eff_2")};
    removes.outbox_unknown = {EffectId::trusted("eff_1")};
    removes.timers = {timer("tmr_1", kNoon + Duration::of_hours(1))};
    removes.timers_finished = {TimerId::trusted("tmr_2")};
    removes.answers = {answer("key", "done")};
    removes.answers[0].completes = true;

    expect_conflict({removes, state_turn("m", 7, "{}")});

    EXPECT_EQ(effect_ids(store()), (std::vector<std::string>{"eff_1", "eff_2", "eff_3"}));
    EXPECT_EQ(store().load_outbox().value()[0].state, OutboxState::pending);
    EXPECT_EQ(timer_ids(store()), (std::vector<std::string>{"tmr_1", "tmr_2"}));
    EXPECT_EQ(store().load_timers().value()[0].due_at, kNoon);
    EXPECT_FALSE(store().find_answer(answer_key("key")).value()->body.has_value());
}

TEST_P(LedgerStoreSuite, FindsManyAnswersInTheOrderAsked) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.answers = {answer("one", "first"), answer("two", std::nullopt)};
    commit({turn});
    const std::vector keys{
        answer_key("two"), answer_key("missing"), answer_key("one"), answer_key("two")};
    const auto found = store().find_answers(keys).value();
    ASSERT_EQ(found.size(), 4u);
    ASSERT_TRUE(found[0] && found[2] && found[3]);
    EXPECT_FALSE(found[0]->body.has_value());
    EXPECT_FALSE(found[1].has_value());
    EXPECT_EQ(found[2]->body, "first");
    EXPECT_TRUE(store().find_answers({}).value().empty());
    // Reading must leave nothing open that would stand in a commit's way.
    commit({state_turn("m", 0, "{}")});
}

TEST_P(LedgerStoreSuite, EachTenantHasAChainOfItsOwn) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.audit = {entry(kAlice, 1), entry(kBob, 1), entry(kAlice, 2)};
    commit({turn, entry_turn(kAlice, 3)});
    EXPECT_EQ(store().read_head(kAlice).value(), (LedgerHead{3, entry(kAlice, 3).hash}));
    EXPECT_EQ(store().read_head(kBob).value(), (LedgerHead{1, entry(kBob, 1).hash}));
    const auto heads = store().load_heads().value();
    ASSERT_EQ(heads.size(), 2u);
    EXPECT_EQ(heads.at(kAlice).seq, 3);
    EXPECT_EQ(heads.at(kBob).hash, entry(kBob, 1).hash);
}

TEST_P(LedgerStoreSuite, AChainStartsAtOne) {
    using namespace ledger_store_suite;
    expect_conflict({entry_turn(kAlice, 2)});
    expect_conflict({entry_turn(kAlice, 0)});
    expect_conflict({entry_turn(kAlice, 0), entry_turn(kAlice, 1)});
    expect_conflict({entry_turn(kAlice, -1)});
    EXPECT_TRUE(store().read_ledger(kAlice, -10, 10).value().empty());
}

TEST_P(LedgerStoreSuite, AnEntryThatSkipsOneIsAConflict) {
    using namespace ledger_store_suite;
    commit({entry_turn(kAlice, 1)});
    expect_conflict({entry_turn(kAlice, 3)});
    expect_conflict({entry_turn(kAlice, 2), entry_turn(kAlice, 4)});
    EXPECT_EQ(store().read_head(kAlice).value().seq, 1);
}

TEST_P(LedgerStoreSuite, AnEntryThatRepeatsOneIsAConflict) {
    using namespace ledger_store_suite;
    commit({entry_turn(kAlice, 1), entry_turn(kAlice, 2)});
    expect_conflict({entry_turn(kAlice, 2)});
    expect_conflict({entry_turn(kAlice, 1)});
    expect_conflict({entry_turn(kAlice, 3), entry_turn(kAlice, 3)});
    EXPECT_EQ(store().read_head(kAlice).value().seq, 2);
}

TEST_P(LedgerStoreSuite, TheLedgerIsReadInPages) {
    using namespace ledger_store_suite;
    std::vector<TurnCommit> turns;
    for (std::int64_t seq = 1; seq <= 7; ++seq) {
        turns.push_back(entry_turn(kAlice, seq));
    }
    turns.push_back(entry_turn(kBob, 1));
    commit(turns);
    const auto page = store().read_ledger(kAlice, 2, 3).value();
    EXPECT_EQ(page, (std::vector{entry(kAlice, 3), entry(kAlice, 4), entry(kAlice, 5)}));
    EXPECT_EQ(store().read_ledger(kAlice, 5, 10).value().size(), 2u);
    EXPECT_TRUE(store().read_ledger(kAlice, 7, 10).value().empty());
    EXPECT_TRUE(store().read_ledger(kAlice, 0, 0).value().empty());
    EXPECT_TRUE(store().read_ledger(kAlice, 0, -1).value().empty());
}

TEST_P(LedgerStoreSuite, AnAnswerComesBackAsItWasStored) {
    using namespace ledger_store_suite;
    const std::string body("{\"text\":\"Grüße\",\"nul\":\"\0\"}", 26);
    AnswerWrite write = answer("key", body);
    write.answer.expires_at = kNoon;
    commit({answer_turn(write)});
    const std::optional<StoredAnswer> found = store().find_answer(answer_key("key")).value();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->body, body);
    EXPECT_EQ(found->request_hash, "hash of key");
    EXPECT_EQ(found->operation_id.text(), "op_1");
    EXPECT_EQ(found->http_status, 201);
    EXPECT_EQ(found->expires_at, kNoon);
}

TEST_P(LedgerStoreSuite, AnEmptyBodyIsAnAnswerAndNoBodyIsNone) {
    using namespace ledger_store_suite;
    commit({answer_turn(answer("empty", "")), answer_turn(answer("running", std::nullopt))});
    EXPECT_EQ(store().find_answer(answer_key("empty")).value()->body, "");
    EXPECT_EQ(store().find_answer(answer_key("running")).value()->body, std::nullopt);
    EXPECT_EQ(store().find_answer(answer_key("running")).value()->expires_at, std::nullopt);
}

TEST_P(LedgerStoreSuite, AnAnswerIsGivenOnce) {
    using namespace ledger_store_suite;
    commit({answer_turn(answer("key", "first"))});
    expect_conflict({answer_turn(answer("key", "second"))});
    expect_conflict({answer_turn(answer("other", "a")), answer_turn(answer("other", "b"))});
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "first");
    EXPECT_FALSE(store().find_answer(answer_key("other")).value().has_value());
}

TEST_P(LedgerStoreSuite, AnswersAreKeptApartByTenantAndFunction) {
    using namespace ledger_store_suite;
    AnswerWrite of_bob = answer("key", "bob");
    of_bob.key.tenant_id = kBob;
    AnswerWrite of_other_function = answer("key", "other");
    of_other_function.key.function = "other";
    commit(
        {answer_turn(answer("key", "alice")), answer_turn(of_bob), answer_turn(of_other_function)});
    EXPECT_EQ(store().find_answer(of_bob.key).value()->body, "bob");
    EXPECT_EQ(store().find_answer(of_other_function.key).value()->body, "other");
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "alice");
}

TEST_P(LedgerStoreSuite, AnAnswerInProgressIsCompletedOnce) {
    using namespace ledger_store_suite;
    commit({answer_turn(answer("key", std::nullopt))});
    AnswerWrite done = answer("key", "done");
    done.completes = true;
    done.answer.expires_at = kNoon;
    commit({answer_turn(done)});
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "done");
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->expires_at, kNoon);

    done.answer.body = "again";
    expect_conflict({answer_turn(done)});
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "done");
}

TEST_P(LedgerStoreSuite, OnlyAnAnswerInProgressCanBeCompleted) {
    using namespace ledger_store_suite;
    AnswerWrite done = answer("key", "done");
    done.completes = true;
    expect_conflict({answer_turn(done)});
    EXPECT_FALSE(store().find_answer(answer_key("key")).value().has_value());
}

TEST_P(LedgerStoreSuite, PurgeRemovesWhatExpiredBeforeNowAndNothingElse) {
    using namespace ledger_store_suite;
    AnswerWrite before = answer("before", "x");
    before.answer.expires_at = kNoon - Duration{1};
    AnswerWrite at = answer("at", "x");
    at.answer.expires_at = kNoon;
    commit({answer_turn(before), answer_turn(at), answer_turn(answer("kept", "x"))});
    EXPECT_EQ(store().purge_answers(kNoon, 10).value(), 1);
    EXPECT_FALSE(store().find_answer(answer_key("before")).value().has_value());
    EXPECT_TRUE(store().find_answer(answer_key("at")).value().has_value());
    EXPECT_TRUE(store().find_answer(answer_key("kept")).value().has_value());
}

TEST_P(LedgerStoreSuite, PurgeStopsAtItsBoundAndTakesTheOldestFirst) {
    using namespace ledger_store_suite;
    std::vector<TurnCommit> turns;
    for (int n = 0; n < 5; ++n) {
        AnswerWrite write = answer("key" + std::to_string(n), "x");
        write.answer.expires_at = kNoon - Duration::of_seconds(n);
        turns.push_back(answer_turn(write));
    }
    commit(turns);
    const Timestamp later = kNoon + Duration::of_seconds(1);
    EXPECT_EQ(store().purge_answers(later, 0).value(), 0);
    EXPECT_EQ(store().purge_answers(later, -1).value(), 0);
    EXPECT_EQ(store().purge_answers(later, 2).value(), 2);
    EXPECT_FALSE(store().find_answer(answer_key("key4")).value().has_value());
    EXPECT_FALSE(store().find_answer(answer_key("key3")).value().has_value());
    EXPECT_TRUE(store().find_answer(answer_key("key2")).value().has_value());
    EXPECT_EQ(store().purge_answers(later, 10).value(), 3);
}

TEST_P(LedgerStoreSuite, APurgedKeyMayBeUsedAgain) {
    using namespace ledger_store_suite;
    AnswerWrite write = answer("key", "old");
    write.answer.expires_at = kNoon - Duration{1};
    commit({answer_turn(write)});
    ASSERT_EQ(store().purge_answers(kNoon, 1).value(), 1);
    commit({answer_turn(answer("key", "new"))});
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "new");
}

TEST_P(LedgerStoreSuite, TheOutboxKeepsTheOrderItWasFilledIn) {
    using namespace ledger_store_suite;
    TurnCommit first;
    first.outbox = {effect("eff_z"), effect("eff_m")};
    TurnCommit second;
    second.outbox = {effect("eff_a")};
    commit({first});
    commit({second});
    EXPECT_EQ(effect_ids(store()), (std::vector<std::string>{"eff_z", "eff_m", "eff_a"}));
}

TEST_P(LedgerStoreSuite, AnEffectComesBackAsItWasQueued) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.outbox = {effect("eff_1")};
    turn.outbox.push_back(effect("eff_2"));
    turn.outbox[1].delivery = Delivery::at_most_once;
    commit({turn});
    const auto items = store().load_outbox().value();
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].tenant_id, kAlice);
    EXPECT_EQ(items[0].kind, "probe");
    EXPECT_EQ(items[0].json, R"({"n":1})");
    EXPECT_EQ(items[0].delivery, Delivery::repeatable);
    EXPECT_EQ(items[0].state, OutboxState::pending);
    EXPECT_EQ(items[0].not_after, kNoon);
    EXPECT_EQ(items[1].delivery, Delivery::at_most_once);
}

TEST_P(LedgerStoreSuite, AnEffectIsQueuedOnce) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.outbox = {effect("eff_1")};
    commit({turn});
    expect_conflict({turn});
    EXPECT_EQ(effect_ids(store()).size(), 1u);
}

TEST_P(LedgerStoreSuite, AnEffectBecomesUnknownAndIsThenFinished) {
    using namespace ledger_store_suite;
    TurnCommit queued;
    queued.outbox = {effect("eff_1"), effect("eff_2")};
    commit({queued});
    TurnCommit marked;
    marked.outbox_unknown = {EffectId::trusted("eff_1")};
    commit({marked});
    EXPECT_EQ(store().load_outbox().value()[0].state, OutboxState::unknown);
    EXPECT_EQ(store().load_outbox().value()[1].state, OutboxState::pending);
    TurnCommit finished;
    finished.outbox_finished = {EffectId::trusted("eff_1")};
    commit({finished});
    EXPECT_EQ(effect_ids(store()), (std::vector<std::string>{"eff_2"}));
}

TEST_P(LedgerStoreSuite, FinishingOrMarkingAnAbsentEffectChangesNothing) {
    TurnCommit turn;
    turn.outbox_unknown = {EffectId::trusted("eff_1")};
    turn.outbox_finished = {EffectId::trusted("eff_2")};
    commit({turn});
    EXPECT_TRUE(store().load_outbox().value().empty());
}

TEST_P(LedgerStoreSuite, TimersAreReadInTheOrderTheyFallDue) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.timers = {
        timer("tmr_a", kNoon + Duration::of_seconds(2)),
        timer("tmr_c", kNoon),
        timer("tmr_b", kNoon)};
    commit({turn});
    EXPECT_EQ(timer_ids(store()), (std::vector<std::string>{"tmr_b", "tmr_c", "tmr_a"}));
    const TimerItem first = store().load_timers().value()[0];
    EXPECT_EQ(first.tenant_id, kBob);
    EXPECT_EQ(first.kind, "approval_expiry");
    EXPECT_EQ(first.json, "{}");
    EXPECT_EQ(first.due_at, kNoon);
}

TEST_P(LedgerStoreSuite, ATimerSetAgainIsReplaced) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.timers = {timer("tmr_1", kNoon), timer("tmr_1", kNoon + Duration::of_hours(1))};
    commit({turn});
    const auto timers = store().load_timers().value();
    ASSERT_EQ(timers.size(), 1u);
    EXPECT_EQ(timers[0].due_at, kNoon + Duration::of_hours(1));
}

TEST_P(LedgerStoreSuite, FinishedTimersGoAndAbsentOnesAreFine) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.timers = {timer("tmr_1", kNoon), timer("tmr_2", kNoon)};
    commit({turn});
    TurnCommit finished;
    finished.timers_finished = {TimerId::trusted("tmr_1"), TimerId::trusted("tmr_9")};
    commit({finished});
    EXPECT_EQ(timer_ids(store()), (std::vector<std::string>{"tmr_2"}));
}

TEST_P(LedgerStoreSuite, AClaimHasOneHolder) {
    TurnCommit turn;
    turn.claims_taken = {{"active/x", "a"}};
    commit({turn});
    EXPECT_EQ(store().find_claim("active/x").value(), "a");
    EXPECT_FALSE(store().find_claim("active/y").value().has_value());
    TurnCommit second;
    second.claims_taken = {{"active/x", "b"}};
    expect_conflict({second});
    expect_conflict({turn});  // Not even its own holder takes it twice.
    reopen();
    EXPECT_EQ(store().find_claim("active/x").value(), "a");
}

TEST_P(LedgerStoreSuite, AClaimIsHandedOverInOneTurn) {
    TurnCommit first;
    first.claims_taken = {{"active/x", "a"}};
    commit({first});
    TurnCommit handed;
    handed.claims_taken = {{"active/x", "b"}};
    handed.claims_released = {{"active/x", "a"}};
    commit({handed});
    EXPECT_EQ(store().find_claim("active/x").value(), "b");
    expect_conflict({handed});  // "a" does not hold it any more.
    TurnCommit gone;
    gone.claims_released = {{"active/x", "b"}};
    commit({gone});
    EXPECT_FALSE(store().find_claim("active/x").value().has_value());
    expect_conflict({gone});
}

TEST_P(LedgerStoreSuite, ABatchThatLosesAClaimChangesNothing) {
    using namespace ledger_store_suite;
    TurnCommit winner = state_turn("strategy/a", 0, "{}");
    winner.claims_taken = {{"active/x", "a"}};
    TurnCommit loser = state_turn("strategy/b", 0, "{}");
    loser.claims_taken = {{"active/x", "b"}};
    expect_conflict({winner, loser});
    EXPECT_FALSE(store().load_state("strategy/a").value().has_value());
    EXPECT_FALSE(store().find_claim("active/x").value().has_value());
}

TEST_P(LedgerStoreSuite, AnArtifactMayBeWrittenTwiceAndKeepsItsBytes) {
    using namespace ledger_store_suite;
    const std::string bytes("\0\xff raw \n", 8);
    TurnCommit turn;
    turn.artifacts = {{kAlice, "hash", bytes}};
    commit({turn, turn});
    commit({turn});
    EXPECT_EQ(store().read_artifact(kAlice, "hash").value(), bytes);
    EXPECT_FALSE(store().read_artifact(kBob, "hash").value().has_value());
    EXPECT_FALSE(store().read_artifact(kAlice, "other").value().has_value());
}

TEST_P(LedgerStoreSuite, AnEmptyArtifactIsNotAMissingOne) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.artifacts = {{kAlice, "hash", ""}};
    commit({turn});
    EXPECT_EQ(store().read_artifact(kAlice, "hash").value(), "");
}

TEST_P(LedgerStoreSuite, CheckpointsAreReadInSeqOrderAndTheFirstOfASeqStays) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.checkpoints = {
        {kAlice, 20, "h20", kNoon, "s20"},
        {kAlice, 3, "h3", kNoon, "s3"},
        {kBob, 1, "b1", kNoon, "sb"}};
    commit({turn});
    TurnCommit again;
    again.checkpoints = {{kAlice, 3, "other", kNoon + Duration::of_hours(1), "other"}};
    commit({again});
    const auto checkpoints = store().read_checkpoints(kAlice).value();
    ASSERT_EQ(checkpoints.size(), 2u);
    EXPECT_EQ(checkpoints[0].seq, 3);
    EXPECT_EQ(checkpoints[0].hash, "h3");
    EXPECT_EQ(checkpoints[0].at, kNoon);
    EXPECT_EQ(checkpoints[0].signature, "s3");
    EXPECT_EQ(checkpoints[0].tenant_id, kAlice);
    EXPECT_EQ(checkpoints[1].seq, 20);
}

TEST_P(LedgerStoreSuite, EverythingIsThereAfterReopening) {
    using namespace ledger_store_suite;
    TurnCommit turn = state_turn("m", 0, "{}");
    turn.audit = {entry(kAlice, 1), entry(kAlice, 2)};
    turn.answers = {answer("key", "body")};
    turn.outbox = {effect("eff_b"), effect("eff_a")};
    turn.outbox_unknown = {EffectId::trusted("eff_a")};
    turn.timers = {timer("tmr_1", kNoon)};
    turn.artifacts = {{kAlice, "hash", "bytes"}};
    turn.checkpoints = {{kAlice, 2, "h", kNoon, "s"}};
    commit({turn});

    reopen();

    EXPECT_EQ(store().load_state("m").value()->version, 1);
    EXPECT_EQ(store().read_ledger(kAlice, 0, 10).value(), turn.audit);
    EXPECT_EQ(store().read_head(kAlice).value().seq, 2);
    EXPECT_EQ(store().find_answer(answer_key("key")).value()->body, "body");
    EXPECT_EQ(effect_ids(store()), (std::vector<std::string>{"eff_b", "eff_a"}));
    EXPECT_EQ(store().load_outbox().value()[1].state, OutboxState::unknown);
    EXPECT_EQ(timer_ids(store()), (std::vector<std::string>{"tmr_1"}));
    EXPECT_EQ(store().read_artifact(kAlice, "hash").value(), "bytes");
    EXPECT_EQ(store().read_checkpoints(kAlice).value().size(), 1u);
    commit({state_turn("m", 1, "{}"), entry_turn(kAlice, 3)});
}

}  // namespace interlock
