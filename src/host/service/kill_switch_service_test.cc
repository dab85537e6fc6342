// The kill switch with its desk: every way in, one way out (kill-switch.md#2-turning-it-off; I6).
#include "host/service/kill_switch_service.h"

#include <gtest/gtest.h>

#include "testing/plane_world.h"

namespace interlock {
namespace {

using Form = KillSwitchService::Form;
const TenantId kDemo = TenantId::trusted("demo");

struct Asked {
    std::optional<Result<Answer>> answer;
    Json json() const { return *parse_json((*answer)->body); }
};

Asked set(
    PlaneWorld& world,
    bool active,
    Principal who,
    TenantId tenant = kDemo,
    Form form = Form::plain) {
    SetKillSwitch request;
    request.active = active;
    request.reason = "because";
    Asked asked;
    world.plane->kill.set(
        {std::move(who), std::move(tenant), form, "hash"},
        request,
        [&asked](Result<Answer> answer) { asked.answer = std::move(answer); });
    return asked;
}

Result<Answer> approve(
    PlaneWorld& world, const std::string& id, Principal who, const TenantId& tenant = kDemo) {
    std::optional<Result<Answer>> answer;
    world.plane->approvals.approve(
        {std::move(who), tenant}, ApprovalId::trusted(id), {}, [&answer](Result<Answer> result) {
            answer = std::move(result);
        });
    return *answer;
}

std::string release_id(const Asked& asked) {
    return asked.json().find("release_approval_id")->as_string();
}

TEST(KillSwitch, ActivationStopsEffectsAlreadyOnTheirWay) {
    PlaneWorld world;
    world.probe("k1", true);
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    for (const OutboxItem& effect : world.sink.performed) {
        EXPECT_EQ(effect.kind, kCancelAllKind);
    }
    EXPECT_EQ(world.sink.performed.size(), 1u);
}

TEST(KillSwitch, AnyPrincipalStopsAndARepeatKeepsTheFirstReason) {
    PlaneWorld world;
    for (Principal who : {PlaneWorld::agent(), world.human(), internal_principal("drift_rule")}) {
        const Asked asked = set(world, true, who);
        EXPECT_TRUE(asked.json().find("active")->as_bool());
        EXPECT_EQ(asked.json().find("by")->as_string(), "agent:key_demo");
    }
}

TEST(KillSwitch, StaysOnAcrossARestart) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    EXPECT_FALSE(world.plane->latch.is_raised(TenantId::trusted("other")));
}

// A failed commit leaves it on, the KILL file is written, cancels go out all the same.
TEST(KillSwitch, FailedRecordLeavesItOnAndCancels) {
    PlaneWorld world;
    world.store.broken = true;
    const Asked asked = set(world, true, PlaneWorld::agent());
    EXPECT_FALSE(*asked.answer);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    EXPECT_TRUE(world.flag.raised);
    ASSERT_EQ(world.waiting_effects.size(), 1u);
    EXPECT_EQ(world.waiting_effects[0].kind, kCancelAllKind);
}

// py_set_kill_switch(active=false) without an approval: error approval_required, unchanged.
TEST(KillSwitch, AgentsReleaseAnswersApprovalRequired) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    const Asked asked = set(world, false, PlaneWorld::agent(), kDemo, Form::py_tool);
    const Json json = asked.json();
    EXPECT_EQ(json.find("status")->as_string(), "error");
    EXPECT_TRUE(json.find("kill_switch_active")->as_bool());
    EXPECT_EQ(json.find("errors")->items()[0].find("code")->as_string(), "approval_required");
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, HumanApprovalReleasesOnceAndIsSpent) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    ASSERT_TRUE(approve(world, id, world.human()));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
    set(world, true, PlaneWorld::agent());
    EXPECT_EQ(approve(world, id, world.human()).error(), errors::approval_not_pending);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

// Must show: requested before a restart, approved after it, once; a second use is refused.
TEST(KillSwitch, ReleaseRequestedBeforeARestartIsApprovedAfterIt) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    world.rebuild();
    ASSERT_TRUE(approve(world, id, world.human()));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
    world.rebuild();
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
    EXPECT_EQ(approve(world, id, world.human()).error(), errors::approval_not_pending);
}

TEST(KillSwitch, NeitherAgentNorOperatorCanApproveTheRelease) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    Principal host;
    host.kind = PrincipalKind::host_operator;
    host.tenants = {kDemo};
    EXPECT_EQ(approve(world, id, PlaneWorld::agent()).error(), errors::human_required);
    EXPECT_EQ(approve(world, id, host).error(), errors::human_required);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, ReleaseWaitsForUnknownEffects) {
    PlaneWorld world;
    world.sink.lose_answer = true;
    world.probe("k1", true);
    world.run_effects();
    world.sink.lose_answer = false;
    set(world, true, PlaneWorld::agent());
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    EXPECT_EQ(approve(world, id, world.human()).error(), errors::release_blocked);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

// The kill release lives 15 minutes; afterwards the switch forgets the request and stays on.
TEST(KillSwitch, ExpiredReleaseRequestIsOverAndRecorded) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    world.clock.advance(kKillReleaseLife);
    world.plane->runner.fire_timers(10);
    EXPECT_EQ(world.events().back(), "KILL_RELEASE_DECLINED");
    EXPECT_EQ(approve(world, id, world.human()).error(), errors::approval_not_pending);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, GlobalStopIsRecordedInSystemAndCitedInEveryTenant) {
    PlaneWorld world;
    Principal host;
    host.kind = PrincipalKind::host_operator;
    host.id = "local";
    set(world, true, host, system_tenant());
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    EXPECT_EQ(world.events("_system").front(), "KILL_SWITCH_ACTIVATED");
    EXPECT_EQ(world.events("demo"), std::vector<std::string>{"GLOBAL_KILL_SWITCH_ACTIVATED"});
    EXPECT_EQ(world.events("other"), std::vector<std::string>{"GLOBAL_KILL_SWITCH_ACTIVATED"});
}

TEST(KillSwitch, KillFileStopsEverythingAndBlocksItsOwnRelease) {
    PlaneWorld world;
    world.flag.raised = true;
    world.flag.why = "pulled the plug";
    world.plane->kill.on_flag_raised();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    world.run_effects();
    const std::string id = release_id(set(world, false, world.human(), system_tenant()));
    EXPECT_EQ(approve(world, id, world.human(), system_tenant()).error(), errors::release_blocked);
    world.flag.raised = false;
    EXPECT_TRUE(approve(world, id, world.human(), system_tenant()));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
}

// The file is asked in the effect path itself, so it works even when the engine is wedged.
TEST(KillSwitch, FileStopsEffectsWithoutTheEngine) {
    PlaneWorld world;
    world.probe("k1", true);
    world.flag.raised = true;
    EXPECT_EQ(world.plane->outbox.run_one(world.waiting_effects.front()).fate, EffectFate::refused);
    EXPECT_TRUE(world.sink.performed.empty());
}

TEST(KillSwitch, TwoPersonRuleNeedsTwoHumansForTheRelease) {
    PlaneWorld world({.two_person_rule = true, .has_sink = true});
    world.humans = 2;
    world.publish_directory();
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    ASSERT_TRUE(approve(world, id, world.human("hum_1")));
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    ASSERT_TRUE(approve(world, id, world.human("hum_2")));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, StopWithoutEngineLatchesWritesTheFileAndCancels) {
    PlaneWorld world;
    world.plane->kill.stop_without_engine("heartbeat lost");
    EXPECT_TRUE(world.plane->latch.is_raised_global());
    EXPECT_TRUE(world.flag.raised);
    EXPECT_EQ(world.waiting_effects.size(), 1u);
}

// An activation that is accepted while a human's vote is being decided must not be undone by it.
TEST(KillSwitch, ReleaseWaitsForAnActivationThatIsNotRecordedYet) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    std::optional<Result<Answer>> vote;
    world.engine->hold();
    world.plane->approvals.approve(
        {world.human(), kDemo}, ApprovalId::trusted(id), {}, [&vote](Result<Answer> result) {
            vote = std::move(result);
        });
    SetKillSwitch again;
    again.reason = "something else went wrong";
    world.plane->kill.set({PlaneWorld::agent(), kDemo, Form::plain, "hash"}, again, [](auto) {});
    world.engine->release();
    EXPECT_EQ(vote->error(), errors::release_blocked);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    ASSERT_TRUE(approve(world, id, world.human()));
    EXPECT_FALSE(world.plane->latch.is_raised(kDemo));
}

struct Keyed {
    std::string key;
    std::string hash;
};

Result<Answer> stop_with_key(PlaneWorld& world, const Keyed& keyed) {
    SetKillSwitch request;
    request.reason = "because";
    request.idempotency_key = IdempotencyKey::trusted(keyed.key);
    std::optional<Result<Answer>> answer;
    world.plane->kill.set(
        {PlaneWorld::agent(), kDemo, Form::plain, keyed.hash},
        request,
        [&answer](Result<Answer> result) { answer = std::move(result); });
    return *answer;
}

void release_by_human(PlaneWorld& world) {
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    ASSERT_TRUE(approve(world, id, world.human()));
    ASSERT_FALSE(world.plane->latch.is_raised(kDemo));
}

// A network may deliver an old stop once more after the release. It says "active" byte for byte, so
// it must be true, also after a restart.
TEST(KillSwitch, LateDuplicateOfAStopStopsAgainAndAnswersTheSame) {
    PlaneWorld world;
    const Result<Answer> first = stop_with_key(world, {"k1", "hash"});
    release_by_human(world);
    const Result<Answer> second = stop_with_key(world, {"k1", "hash"});
    EXPECT_EQ(second->body, first->body);
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, DuplicateOfAStopWhileItIsOnAddsNoRecord) {
    PlaneWorld world;
    stop_with_key(world, {"k1", "hash"});
    stop_with_key(world, {"k1", "hash"});
    EXPECT_EQ(world.events(), std::vector<std::string>{"KILL_SWITCH_ACTIVATED"});
}

// Whoever stops in an emergency may reuse a key by mistake; the stop counts all the same.
TEST(KillSwitch, StopUnderAUsedKeyIsRefusedAsAnAnswerButRecorded) {
    PlaneWorld world;
    stop_with_key(world, {"k1", "hash"});
    release_by_human(world);
    EXPECT_EQ(
        stop_with_key(world, {"k1", "another hash"}).error(), errors::idempotency_key_conflict);
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(KillSwitch, KillFileSeenWhileItIsOnAddsNoRecord) {
    PlaneWorld world;
    world.flag.raised = true;
    world.plane->kill.on_flag_raised();
    const std::size_t before = world.events("_system").size();
    world.plane->kill.on_flag_raised();
    EXPECT_EQ(world.events("_system").size(), before);
}

// The store failed while a stop was recorded and came back: the latch alone holds the tenant. It
// must be possible to release it, through a human as ever.
TEST(KillSwitch, LatchWithoutARecordIsRecordedWhenAReleaseIsAskedFor) {
    PlaneWorld world;
    world.store.broken = true;
    set(world, true, PlaneWorld::agent());
    world.store.broken = false;
    world.flag.raised = false;
    world.run_effects();
    EXPECT_EQ((*set(world, false, PlaneWorld::agent()).answer)->http_status, 202);
    EXPECT_EQ(world.events(), std::vector<std::string>{"KILL_SWITCH_ACTIVATED"});
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    ASSERT_TRUE(approve(world, id, world.human()));
    EXPECT_FALSE(world.plane->latch.is_raised_itself(kDemo));
}

TEST(KillSwitch, EveryUnrecordedCancelHasAnIdOfItsOwn) {
    PlaneWorld world;
    world.store.broken = true;
    set(world, true, PlaneWorld::agent());
    set(world, true, PlaneWorld::agent());
    ASSERT_EQ(world.waiting_effects.size(), 2u);
    EXPECT_NE(world.waiting_effects[0].effect_id, world.waiting_effects[1].effect_id);
}

// I5: the outcome that became unknown in the very batch of the vote counts as well.
TEST(KillSwitch, ReleaseSeesAnOutcomeThatBecameUnknownInTheSameBatch) {
    PlaneWorld world;
    world.probe("k1", true);
    const OutboxItem effect = world.waiting_effects.front();
    world.sink.lose_answer = true;
    const EffectOutcome lost = world.plane->outbox.run_one(effect);
    world.sink.lose_answer = false;
    world.waiting_effects.clear();
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string id = release_id(set(world, false, PlaneWorld::agent()));
    std::optional<Result<Answer>> vote;
    world.engine->hold();
    world.submit(world.plane->runner.outcome_turn(lost));
    world.plane->approvals.approve(
        {world.human(), kDemo}, ApprovalId::trusted(id), {}, [&vote](Result<Answer> result) {
            vote = std::move(result);
        });
    world.engine->release();
    EXPECT_EQ(vote->error(), errors::release_blocked);
}

// I7: what the KILL file says becomes the global reason, and that is shown to every tenant.
TEST(KillSwitch, FileWrittenForAnUnrecordedStopKeepsTheTenantsWordsToItself) {
    PlaneWorld world;
    world.store.broken = true;
    set(world, true, PlaneWorld::agent());
    EXPECT_FALSE(world.flag.why.contains("because"));
}

// Only `_system`'s chain stops everybody, and the reason that everybody may read names no tenant.
TEST(KillSwitch, ABrokenChainStopsItsTenantAndTheSystemsStopsAll) {
    for (const TenantId& tenant_id : {kDemo, system_tenant()}) {
        PlaneWorld world;
        TurnCommit forged;
        forged.audit.push_back({tenant_id, 1, "{}", "not a hash"});
        ASSERT_TRUE(world.memory.commit(std::vector{forged}));
        world.rebuild();
        EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
        EXPECT_EQ(world.plane->latch.is_raised_global(), tenant_id == system_tenant());
        const auto records = *world.plane->ledger.read(system_tenant(), 1, 10);
        for (const AuditRecord& record : records) {
            EXPECT_FALSE(record.draft.reason.contains("demo")) << record.draft.reason;
        }
    }
}

TEST(KillSwitch, EveryThreadHearsWhyNothingTrades) {
    PlaneWorld world;
    const KillSwitchService& kill = world.plane->kill;
    EXPECT_EQ(kill.why_stopped(kDemo), std::nullopt);
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    EXPECT_EQ(kill.why_stopped(kDemo)->code, "stopped");
    EXPECT_EQ(kill.why_stopped(TenantId::trusted("other")), std::nullopt);
    const Asked asked = set(world, false, PlaneWorld::agent());
    ASSERT_TRUE(approve(world, release_id(asked), world.human()).has_value());
    EXPECT_EQ(kill.why_stopped(kDemo)->code, "disabled");
    world.rebuild();
    EXPECT_EQ(world.plane->kill.why_stopped(kDemo)->code, "disabled");
}

Asked ask_release(PlaneWorld& world, bool enable_trading) {
    SetKillSwitch request;
    request.active = false;
    request.reason = "because";
    request.enable_trading = enable_trading;
    Asked asked;
    world.plane->kill.set(
        {world.human(), kDemo, Form::plain, "hash"}, request, [&asked](Result<Answer> answer) {
            asked.answer = std::move(answer);
        });
    return asked;
}

Json status_of(PlaneWorld& world) {
    std::optional<Result<Answer>> answer;
    world.plane->kill.status(
        {world.human(), kDemo, Form::plain, {}},
        [&answer](Result<Answer> result) { answer = std::move(result); });
    return *parse_json((*answer)->body);
}

// What a human is shown is what they approve: a request is never changed, a wider one takes its
// place, and the older one releases nothing any more.
TEST(KillSwitch, ARequestThatEnablesTradingTakesTheNarrowersPlace) {
    PlaneWorld world;
    set(world, true, PlaneWorld::agent());
    world.run_effects();
    const std::string narrow = release_id(ask_release(world, false));
    EXPECT_EQ(release_id(ask_release(world, false)), narrow);
    const std::string wide = release_id(ask_release(world, true));
    EXPECT_NE(wide, narrow);
    EXPECT_EQ(release_id(ask_release(world, false)), wide);
    EXPECT_EQ(approve(world, narrow, world.human()).error(), errors::approval_not_pending);
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
    ASSERT_TRUE(approve(world, wide, world.human()));
    EXPECT_EQ(*status_of(world).find("blocked"), Json());
    EXPECT_EQ(approve(world, narrow, world.human()).error(), errors::approval_not_pending);
    EXPECT_EQ(*status_of(world).find("blocked"), Json());
}

// A disk that is full: the stop has no record, and yet every display says why.
TEST(KillSwitch, AStoreThatFailedIsTheReasonThatIsTold) {
    PlaneWorld world;
    world.store.broken = true;
    world.probe("k1", true);
    const auto told = world.plane->kill.why_stopped(kDemo);
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->code, "store_failed");
    EXPECT_NE(told->reason.find("The disk is gone."), std::string::npos);
    EXPECT_EQ(status_of(world).find("blocked")->find("code")->as_string(), "store_failed");
    EXPECT_NE(world.flag.why.find("The disk is gone."), std::string::npos);
    world.store.broken = false;
    world.plane->kill.on_flag_raised();
    EXPECT_EQ(world.plane->kill.why_stopped(kDemo)->code, "stopped_for_all");
    EXPECT_NE(world.plane->kill.why_stopped(kDemo)->reason.find("disk is gone"), std::string::npos);
}

}  // namespace
}  // namespace interlock
