// What follows from a break on record: a stop that outlives whoever found it, one acceptance for
// all that it names, and numbers that nobody can have spoil one chain and no other (ADR 0015).
#include <gtest/gtest.h>

#include <limits>

#include "engine/service/ledger_check.h"
#include "engine/wire/chain_bounds.h"
#include "host/service/test_forgery.h"
#include "host/service/test_lone_ledger.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

class LedgerBreakTest : public ::testing::Test {
protected:
    // Two tenants with records behind their seals; `other` is stopped.
    LedgerBreakTest() {
        stop(kOther);
        world.probe("k1");
        put_row("vault/demo", kDemo);
        world.plane->ledger.sign_all();
        world.probe("k2");
    }
    void stop(const TenantId& tenant_id) {
        SetKillSwitch request;
        request.active = true;
        request.reason = "because";
        world.plane->kill.set(
            {PlaneWorld::agent(tenant_id.text()), tenant_id, KillSwitchService::Form::plain, "h"},
            request,
            [](const Result<Answer>&) {});
    }
    Result<Answer> put_row(const std::string& key, const TenantId& tenant_id) {
        Result<Answer> given = fail(errors::internal, "no answer");
        TurnRequest request;
        request.tenant_id = tenant_id;
        request.principal = internal_principal("test");
        request.function = "test";
        request.decide = [&](Turn& turn) -> Result<TurnReply> {
            turn.save(key, Json::object({{"is", key}}));
            TRY(turn.audit(turn.draft("ROW_PUT")));
            return Answer{};
        };
        request.reply = [&](Result<Answer> answer) { given = std::move(answer); };
        world.submit(std::move(request));
        return given;
    }
    void lift_stop_by_hand() {
        world.memory.tamper([](StoreContents& all) {
            replace_in_store(
                all.states.at("kill/other").json, "\"active\":true", "\"active\":false");
        });
    }
    void edit_vault_by_hand(const std::string& text) {
        world.memory.tamper([&](StoreContents& all) { all.states.at("vault/demo").json = text; });
    }
    std::string code_of(const TenantId& tenant_id) {
        const auto blocked = world.plane->kill.why_stopped(tenant_id);
        return blocked ? blocked->code : "";
    }
    std::vector<ChainReport> verify() {
        KeyLineage keys(world.keys.first_public_key());
        return check_ledger({.store = world.memory,
                             .mirror = {},
                             .keys = keys,
                             .head_log = world.head_log.lines,
                             .check_artifacts = true})
            .value();
    }
    static std::string faults_in(const std::vector<ChainReport>& reports) {
        std::string text;
        for (const ChainReport& report : reports) {
            if (report.fault) {
                text += report.tenant_id.text() + ": " + report.fault->detail + "; ";
            }
        }
        return text;
    }
    Json accept(const TenantId& tenant_id) {
        Result<Answer> given = fail(errors::internal, "no answer");
        world.plane->ledger.accept_break(
            world.human(), tenant_id, "looked into it", [&](Result<Answer> answer) {
                given = std::move(answer);
            });
        EXPECT_TRUE(given) << given.error().message;
        return given ? parse_json(given->body).value() : Json();
    }

    PlaneWorld world;
};

// The process that finds a break may end before its own stop is on record, or be no server at all.
TEST_F(LedgerBreakTest, ABreakWhoseStopWasLostStopsTheNextStart) {
    lift_stop_by_hand();
    const auto found = open_alone(world);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_NE(faults_in(*found), "");

    for (int start = 0; start < 2; ++start) {
        world.rebuild();
        EXPECT_EQ(faults_in(world.recovery.chains), "");  // It is told, so nothing is found.
        EXPECT_TRUE(world.plane->latch.is_raised(kOther));
        EXPECT_FALSE(world.plane->latch.is_raised_global());
        EXPECT_EQ(code_of(kOther), "chain_broken");
        EXPECT_EQ(code_of(kDemo), "");
    }
    // On record once, however many starts there are, and for good: not by the break alone.
    EXPECT_EQ(std::ranges::count(world.events("other"), "KILL_SWITCH_ACTIVATED"), 2);
    accept(kOther);
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kOther));
    EXPECT_EQ(code_of(kOther), "stopped");
}

TEST_F(LedgerBreakTest, ABreakOfTheSystemWhoseStopWasLostStopsEverybody) {
    world.keys.lose();
    const auto found = open_alone(world);
    ASSERT_TRUE(found) << found.error().message;
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised_global());
    EXPECT_EQ(code_of(kDemo), "chain_broken");
}

TEST_F(LedgerBreakTest, ABreakOfAnotherBookWhoseStopWasLostStopsTheNextStart) {
    ASSERT_TRUE(world.plane->ledger.note_break(kDemo, kRelayBook, {3, "changed_row", "a row"}));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));  // The caller stops, and did not come to it.
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    EXPECT_FALSE(world.plane->latch.is_raised_global());
}

// A seal that came after it would vouch for what was found.
TEST_F(LedgerBreakTest, ABreakThatCannotBeWrittenLetsNobodyStart) {
    lift_stop_by_hand();
    world.store.broken = true;
    EXPECT_FALSE(open_alone(world));
    world.store.broken = false;
    world.rebuild();
    EXPECT_NE(faults_in(world.recovery.chains), "");
    EXPECT_TRUE(world.plane->latch.is_raised(kOther));
}

// The next step that is told is the one that works.
TEST_F(LedgerBreakTest, IsToldWithItsOwnNextStep) {
    lift_stop_by_hand();
    world.rebuild();
    const auto blocked = world.plane->kill.why_stopped(kOther);
    ASSERT_TRUE(blocked);
    EXPECT_TRUE(blocked->reason.contains("changed_row at record")) << blocked->reason;
    EXPECT_TRUE(blocked->next.contains("audit accept-break")) << blocked->next;
    EXPECT_EQ(world.plane->ledger.open_breaks()->size(), 1u);
    accept(kOther);
    EXPECT_EQ(code_of(kOther), "stopped");
    EXPECT_TRUE(world.plane->ledger.open_breaks()->empty());
}

// Whoever accepts hears of everything that he accepts.
TEST_F(LedgerBreakTest, ASecondBreakKeepsTheFirstOneInItsRow) {
    edit_vault_by_hand(R"({"is":"changed"})");
    world.rebuild();
    edit_vault_by_hand(R"({"is":"changed again"})");
    world.rebuild();
    ASSERT_TRUE(world.plane->ledger.note_break(kDemo, kRelayBook, {3, "changed_row", "a row"}));
    ASSERT_TRUE(world.plane->ledger.note_break(kDemo, kRelayBook, {3, "changed_row", "a row"}));
    EXPECT_TRUE(world.plane->ledger.chain_problem(kDemo).contains("and 2 before it"));
    world.rebuild();
    EXPECT_TRUE(world.plane->ledger.chain_problem(kDemo).contains("and 2 before it"));

    const Json answer = accept(kDemo);
    const Json::Array& breaks = answer.find("breaks")->items();
    ASSERT_EQ(breaks.size(), 3u);
    EXPECT_LT(breaks[0].find("break_seq")->as_int64(), breaks[1].find("break_seq")->as_int64());
    EXPECT_TRUE(breaks[0].find("detail")->as_string().contains("vault/demo"));
    EXPECT_EQ(breaks[2].find("problem")->as_string(), "relay:changed_row");
    EXPECT_EQ(world.plane->ledger.chain_problem(kDemo), "");
    const auto records = world.plane->ledger.tail(kDemo, 1).value();
    EXPECT_EQ(records.back().draft.detail.find("breaks")->items().size(), 3u);
    // The next one stands alone again.
    edit_vault_by_hand("{}");
    world.rebuild();
    EXPECT_FALSE(world.plane->ledger.chain_problem(kDemo).contains("before it"));
}

TEST(BreakState, KeepsTheFirstBreaksAndCountsTheOthers) {
    std::optional<BreakState> state;
    const std::int64_t found = BreakState::kEarlierMax + 5;
    for (std::int64_t seq = 1; seq <= found; ++seq) {
        state = with_break(std::move(state), {.seq = seq, .reason = "changed_row"});
    }
    EXPECT_EQ(state->earlier.size(), BreakState::kEarlierMax);
    EXPECT_EQ(state->earlier.front().seq, 1);
    EXPECT_EQ(state->newest.seq, found);
    EXPECT_EQ(state->more, 4);
    const auto again = decode_break_state(encode(*state));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *state);
    state->accepted_by = "human:hum_1";
    EXPECT_EQ(with_break(state, {.seq = 99}).earlier.size(), 0u);
}

TEST(BreakState, AlsoReadsRowsOfBefore) {
    const auto state = decode_break_state(parse_json(R"({"seq":4,"bad_seq":3,"reason":"changed_row",
        "detail":"x","at":"2026-01-01T00:00:00.000Z","accepted_by":""})")
                                              .value());
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->newest.seq, 4);
    EXPECT_TRUE(state->earlier.empty());
}

// A row that nobody can read is one more thing that is wrong with its chain, and no other.
TEST_F(LedgerBreakTest, ARowThatCannotBeReadStopsItsTenantAlone) {
    world.memory.tamper([](StoreContents& all) { all.states["break/other"] = {1, "no row"}; });
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kOther));
    EXPECT_FALSE(world.plane->latch.is_raised_global());
    EXPECT_TRUE(world.plane->ledger.chain_problem(kOther).starts_with("unknown_row"));
}

// Numbers that no chain can have. The server starts, goes on, and stops whom it concerns.
class AbsurdHeadTest : public LedgerBreakTest, public ::testing::WithParamInterface<std::int64_t> {
protected:
    void expect_only_other_stops() {
        EXPECT_TRUE(world.plane->latch.is_raised(kOther));
        EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
        EXPECT_TRUE(put_row("vault/demo/more", kDemo));
        EXPECT_TRUE(put_row("vault/other/more", kOther));  // Its records go on behind the break.
        EXPECT_TRUE(put_row("vault/other/yet_more", kOther));
        world.plane->ledger.sign_all();
        EXPECT_EQ(faults_in(verify()), "");
        for (const ChainReport& report : verify()) {
            EXPECT_LT(report.head.seq, 1000);
            EXPECT_EQ(report.breaks.size(), report.tenant_id == kOther ? 1u : 0u);
        }
        world.rebuild();
        EXPECT_EQ(faults_in(world.recovery.chains), "");
        EXPECT_TRUE(world.plane->latch.is_raised(kOther));
        EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
    }
};

TEST_P(AbsurdHeadTest, InAHeadRow) {
    world.memory.tamper([](StoreContents& all) { all.heads.at(kOther).seq = GetParam(); });
    EXPECT_NE(faults_in(verify()), "");
    world.rebuild();
    EXPECT_NE(faults_in(world.recovery.chains), "");
    expect_only_other_stops();
}

TEST_P(AbsurdHeadTest, InAHeadFile) {
    if (GetParam() < 1) {
        return;  // The adapter gives none of these: file_head_mirror_test.cc.
    }
    const auto found = open_alone(world, {{kOther, {GetParam(), std::string(64, 'a')}}});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NE(faults_in(*found), "");
    world.rebuild();
    expect_only_other_stops();
}

TEST_P(AbsurdHeadTest, InTheIndexOfSeals) {
    world.memory.tamper([](StoreContents& all) {
        Checkpoint point = std::prev(all.checkpoints.upper_bound({kOther, 999}))->second;
        point.seq = GetParam();
        all.checkpoints.emplace(std::pair(kOther, point.seq), point);
    });
    EXPECT_TRUE(faults_in(verify()).starts_with("other: the index")) << faults_in(verify());
    world.rebuild();
    EXPECT_NE(faults_in(world.recovery.chains), "");
    expect_only_other_stops();
}

INSTANTIATE_TEST_SUITE_P(
    Numbers,
    AbsurdHeadTest,
    ::testing::Values(
        kLargest,
        kLargest - 1,
        kChainSeqMax + 1,
        kHeadSeqMax + 1,
        std::numeric_limits<std::int64_t>::min()));

// At the bound a claim still counts, and the chain that goes on above it has room.
TEST_F(LedgerBreakTest, TheLargestHeadThatCountsIsNumberedAbove) {
    world.memory.tamper([](StoreContents& all) { all.heads.at(kOther).seq = kHeadSeqMax; });
    world.rebuild();
    EXPECT_TRUE(put_row("vault/other/more", kOther));
    world.plane->ledger.sign_all();
    EXPECT_GT(world.plane->ledger.head(kOther)->seq, kHeadSeqMax);
    EXPECT_EQ(faults_in(verify()), "");
    for (int start = 0; start < 2; ++start) {
        world.rebuild();
        EXPECT_EQ(faults_in(world.recovery.chains), "");
    }
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
    // Nor does a claim of more number it anew.
    world.memory.tamper([](StoreContents& all) { all.heads.at(kOther).seq = kLargest; });
    world.rebuild();
    EXPECT_LT(world.plane->ledger.head(kOther)->seq, kHeadSeqMax + 100);
    EXPECT_EQ(faults_in(verify()), "");
}

// The log of `_system` concerns everybody, and is read again at each start.
TEST_F(LedgerBreakTest, AnAbsurdLineOfTheHeadLogIsToldOnce) {
    for (const std::string number : {"9223372036854775807", "9007199254740993", "0", "-1"}) {
        world.head_log.lines.push_back(
            R"({"record":{"seq":)" + number + R"(},"hash":")" + std::string(64, 'a') + "\"}");
        EXPECT_TRUE(faults_in(verify()).contains("is no seal")) << faults_in(verify());
        world.rebuild();
        EXPECT_TRUE(world.plane->latch.is_raised_global());
        EXPECT_EQ(faults_in(verify()), "") << number;
        world.rebuild();
        EXPECT_EQ(faults_in(world.recovery.chains), "");
        EXPECT_LT(world.plane->ledger.head(system_tenant())->seq, 1000);
    }
}

}  // namespace
}  // namespace interlock
