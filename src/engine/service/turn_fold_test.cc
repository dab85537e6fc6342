// Repeats are counted in the turn's own commit: exactly, across crashes, and only when the turn
// changed nothing else (audit-ledger.md 5).
#include <gtest/gtest.h>

#include "loop/service/control_call.h"
#include "testing/plain_turn.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");

struct TurnFold : ::testing::Test {
    static AuditDraft idle(Turn& turn, const std::string& what = "quiet") {
        AuditDraft draft = turn.draft("BOT_PULSE");
        draft.status = AuditStatus::skipped;
        draft.reason = what;
        draft.detail.set("at", to_text(turn.now()));
        return draft;
    }
    static inline const Repeat kPulse{.subject = "pulse", .what = "idle pulse", .varying = {"at"}};

    static TurnRequest pulse_turn(const std::string& what = "quiet") {
        return plain_turn(
            [what](Turn& turn) { EXPECT_TRUE(turn.audit_repeat(idle(turn, what), kPulse)); });
    }
    void pulse(const std::string& what = "quiet") {
        world.clock.advance(Duration::of_seconds(10));
        world.submit(pulse_turn(what));
    }
    // What a caller gets for a call that a rule refuses, each time under the same key.
    Result<Answer> refused(const std::string& why, PrincipalKind kind = PrincipalKind::agent) {
        return refused_under("k" + why, why, kind);
    }
    Result<Answer> refused_under(
        const std::string& key, const std::string& why, PrincipalKind kind = PrincipalKind::agent) {
        auto answer = std::make_shared<std::optional<Result<Answer>>>();
        Principal principal = PlaneWorld::agent();
        principal.kind = kind;
        world.submit(control_turn(
            {principal, kDemo, {}},
            {.name = "set_limits", .key = IdempotencyKey::trusted(key)},
            [why](Turn&) -> Result<TurnReply> { return fail(errors::invalid_request, why); },
            [answer](Result<Answer> result) { *answer = std::move(result); }));
        EXPECT_TRUE(answer->has_value());
        return **answer;
    }
    std::vector<AuditRecord> records() { return *world.plane->ledger.read(kDemo, 0, 1000); }
    // Occurrences that the ledger accounts for, and a check of every fold in it.
    std::int64_t accounted(const std::string& event) {
        std::int64_t found = 0;
        const auto all = records();
        for (const AuditRecord& record : all) {
            found += record.draft.event == event ? 1 : 0;
            if (record.draft.event == kFoldEvent) {
                const OpenFold fold = decode_fold(record.draft.detail).value();
                found += fold.event == event ? fold.count : 0;
                const auto seq = static_cast<std::size_t>(std::stoll(fold.of_ref));
                EXPECT_EQ(fold_problem(record, &all.at(seq - 1)), "");
            }
        }
        return found;
    }

    // Without seals, which starts and time bring by themselves.
    std::vector<std::string> told() {
        auto events = world.events();
        std::erase(events, "CHECKPOINT_SEALED");
        return events;
    }

    PlaneWorld world;
};

TEST_F(TurnFold, EqualPulsesLeaveOneRecordAndAfterwardsOneCount) {
    for (int i = 0; i < 300; ++i) {
        pulse();
    }
    EXPECT_EQ(records().size(), 1U);
    world.plane->folds.close_all();
    EXPECT_EQ(world.events(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED"}));
    EXPECT_EQ(accounted("BOT_PULSE"), 300);
    EXPECT_EQ(*records().back().draft.detail.find("closed_by"), Json("shutdown"));
}

TEST_F(TurnFold, TurnsOfOneBatchAreCountedOneByOne) {
    std::vector<TurnRequest> batch;
    for (int i = 0; i < 100; ++i) {
        batch.push_back(pulse_turn());
    }
    world.plane->runner.run_batch(std::move(batch));
    world.plane->folds.close_all();
    EXPECT_EQ(records().size(), 2U);
    EXPECT_EQ(accounted("BOT_PULSE"), 100);
}

// Every count is in the store before its turn is answered: a crash loses none.
TEST_F(TurnFold, ACrashLosesNoCount) {
    for (int i = 0; i < 20; ++i) {
        pulse();
    }
    world.rebuild();
    for (int i = 0; i < 5; ++i) {
        pulse();
    }
    world.rebuild();
    world.plane->folds.close_all();
    EXPECT_EQ(told(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED"}));
    EXPECT_EQ(accounted("BOT_PULSE"), 25);
}

TEST_F(TurnFold, ACommitThatFailsCountsNothing) {
    pulse();
    pulse();
    world.store.broken = true;
    world.clock.advance(Duration::of_seconds(10));
    TurnRequest lost = pulse_turn();
    lost.reply = [](const Result<Answer>& answer) { EXPECT_FALSE(answer.has_value()); };
    world.submit(std::move(lost));
    world.store.broken = false;
    pulse();
    world.plane->folds.close_all();
    EXPECT_EQ(accounted("BOT_PULSE"), 3);
}

TEST_F(TurnFold, ItsTimerEndsItAfterAnHour) {
    pulse();
    pulse();
    world.clock.advance(Duration::of_minutes(59));
    world.plane->runner.fire_timers(100);
    EXPECT_EQ(records().size(), 1U);
    world.clock.advance(Duration::of_minutes(1));
    world.plane->runner.fire_timers(100);
    ASSERT_EQ(told(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED"}));
    EXPECT_EQ(*records().back().draft.detail.find("closed_by"), Json("hour_over"));
    pulse();
    EXPECT_EQ(world.events().back(), "BOT_PULSE") << "the next one is whole again";
    EXPECT_EQ(accounted("BOT_PULSE"), 3);
}

TEST_F(TurnFold, ATimerThatCameUpWhileTheServerWasDownEndsItToo) {
    pulse();
    pulse();
    world.clock.advance(Duration::of_hours(5));
    world.rebuild();
    world.plane->runner.fire_timers(100);
    EXPECT_EQ(world.events().back(), "REPEATS_FOLDED");
}

// I1: what a turn changes is never justified by a count alone, whatever the order of its calls.
TEST_F(TurnFold, ATurnThatChangesSomethingIsRecordedWhole) {
    pulse();
    pulse();
    world.submit(plain_turn([](Turn& turn) {
        EXPECT_TRUE(turn.audit_repeat(idle(turn), kPulse));
        turn.save("m/late", Json(1));
    }));
    EXPECT_EQ(
        world.events(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED", "BOT_PULSE"}));
    world.submit(plain_turn([](Turn& turn) {
        turn.save("m/early", Json(1));
        EXPECT_TRUE(turn.audit_repeat(idle(turn), kPulse));
    }));
    EXPECT_EQ(world.events().back(), "BOT_PULSE");
    world.submit(plain_turn([](Turn& turn) {
        EXPECT_TRUE(turn.audit_repeat(idle(turn), kPulse));
        turn.effect({.kind = "probe", .json = Json::object()});
    }));
    EXPECT_EQ(world.events().back(), "BOT_PULSE");
    EXPECT_EQ(records().size(), 5U);
    EXPECT_EQ(accounted("BOT_PULSE"), 5);
}

TEST_F(TurnFold, AnotherKindEndsItInFrontOfItsOwnRecord) {
    pulse("a");
    pulse("a");
    pulse("b");
    EXPECT_EQ(
        world.events(), (std::vector<std::string>{"BOT_PULSE", "REPEATS_FOLDED", "BOT_PULSE"}));
}

TEST_F(TurnFold, EqualRefusalsNameTheRecordTheyRepeat) {
    const Result<Answer> first = refused("no such limit");
    std::string again;
    for (int i = 0; i < 500; ++i) {
        again = refused_under("k" + std::to_string(i), "no such limit").value().body;
    }
    EXPECT_EQ(again, first.value().body) << "the audit_ref included";
    EXPECT_EQ(records().size(), 1U);
    world.plane->folds.close_all();
    EXPECT_EQ(accounted("CONTROL_REFUSED"), 501);
}

TEST_F(TurnFold, CallersThatMixRefusalsDoNotEndEachOthersFolds) {
    for (int i = 0; i < 50; ++i) {
        for (const std::string why : {"one", "two", "three"}) {
            refused_under(why + std::to_string(i), why);
        }
    }
    EXPECT_EQ(records().size(), 3U);
}

// Refusals that are stored under a new key each time would grow the store of answers instead.
TEST_F(TurnFold, AnswersThatAreStoredForRepeatsCountAgainstTheBudget) {
    world.plane->runner.set_budget_rule(
        [](const TenantId&) { return std::optional(WriteBudget{.bytes_per_hour = 16384}); });
    int stored = 0;
    int turned_away = 0;
    for (int i = 0; i < 200; ++i) {
        TurnRequest turn = plain_turn([](Turn&) {});
        turn.principal = PlaneWorld::agent();
        turn.key = IdempotencyKey::trusted("key" + std::to_string(i));
        turn.request_hash = std::string(64, '0');
        turn.decide = [](Turn& t) -> Result<TurnReply> {
            AuditDraft draft = t.draft("ERROR_EVENT");
            draft.status = AuditStatus::failed;
            TRY(t.audit_refusal(std::move(draft)));
            return Answer{422, std::string(100, 'x')};
        };
        turn.reply = [&](const Result<Answer>& answer) {
            stored += answer ? 1 : 0;
            turned_away += !answer && answer.error() == errors::write_budget_exhausted ? 1 : 0;
        };
        world.submit(std::move(turn));
    }
    EXPECT_EQ(stored + turned_away, 200);
    EXPECT_LT(stored, 30);
    EXPECT_GT(stored, 10);
    EXPECT_EQ(records().size(), 2U) << "the refusal, and that the budget is gone";
}

TEST_F(TurnFold, PastItsWriteBudgetATenantsRefusalsAreCountedNotRecorded) {
    world.plane->runner.set_budget_rule(
        [](const TenantId&) { return std::optional(WriteBudget{.bytes_per_hour = 8192}); });
    int answered = 0;
    int turned_away = 0;
    for (int i = 0; i < 100; ++i) {
        const Result<Answer> answer = refused("another " + std::to_string(i));
        if (answer) {
            ++answered;
            continue;
        }
        ++turned_away;
        EXPECT_EQ(answer.error().code(), "write_budget_exhausted");
        EXPECT_EQ(answer.error().http_status(), 429);
        EXPECT_EQ(answer.error().retry_after_seconds, 3601);
        EXPECT_NE(answer.error().message.find("13:00:00"), std::string::npos);
    }
    EXPECT_GT(answered, 2);
    EXPECT_GT(turned_away, 80);
    EXPECT_EQ(world.events().back(), "WRITE_BUDGET_EXHAUSTED");
    EXPECT_EQ(static_cast<int>(records().size()), answered + 1) << "one record says that it began";

    // Whoever is not refused, and the host's operator, notice nothing of it.
    pulse("acting");
    EXPECT_EQ(world.events().back(), "BOT_PULSE");
    EXPECT_TRUE(refused("by the operator", PrincipalKind::host_operator));
    EXPECT_EQ(world.events().back(), "CONTROL_REFUSED");
    EXPECT_TRUE(refused("another 0")) << "what only counts costs nothing";

    world.rebuild();
    world.plane->runner.set_budget_rule(
        [](const TenantId&) { return std::optional(WriteBudget{.bytes_per_hour = 8192}); });
    EXPECT_FALSE(refused("after a restart"));
    world.clock.advance(Duration::of_hours(1));
    world.plane->runner.fire_timers(100);
    bool told = false;
    for (const AuditRecord& record : records()) {
        if (record.draft.event == kBudgetRefilledEvent) {
            told = true;
            EXPECT_EQ(*record.draft.detail.find("count"), Json(turned_away + 1));
        }
    }
    EXPECT_TRUE(told);
    EXPECT_TRUE(refused("with a full budget"));
}

// The caller who runs wild pays, not its colleagues.
TEST_F(TurnFold, AColleagueOfACallerThatRunsWildIsStillRecorded) {
    world.plane->runner.set_budget_rule(
        [](const TenantId&) { return std::optional(WriteBudget{.bytes_per_hour = 8192}); });
    while (refused("wild " + std::to_string(records().size()))) {
    }
    EXPECT_TRUE(refused("calm", PrincipalKind::human));
    EXPECT_EQ(world.events().back(), "CONTROL_REFUSED");
    EXPECT_FALSE(refused("wild again"));
}

// What a start reads does not grow with what was ever recorded.
TEST_F(TurnFold, AStartReadsNoRecordsBeforeTheLastCheckpoint) {
    for (int i = 0; i < 400; ++i) {
        world.submit(plain_turn([](Turn& turn) { EXPECT_TRUE(turn.audit(turn.draft("X"))); }));
    }
    world.plane->folds.close_all();
    world.plane->ledger.sign_all();
    const std::int64_t given = world.store.records_given;
    world.rebuild();
    EXPECT_LE(world.store.records_given - given, 8);  // The last seals, and what names their keys.
}

}  // namespace
}  // namespace interlock
