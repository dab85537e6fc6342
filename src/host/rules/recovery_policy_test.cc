#include "host/rules/recovery_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"
#include "host/rules/approval_step.h"
#include "host/wire/approval.h"
#include "host/wire/tenant.h"

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};
const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

Human human(const std::string& id, std::set<TenantId> tenants = {kDemo}) {
    Human human;
    human.human_id = HumanId::trusted(id);
    human.email = id + "@example.com";
    human.memberships = std::move(tenants);
    human.password_hash = "old";
    human.created_at = kNow;
    return human;
}

Principal principal_of(const Human& who, Timestamp proved = kNow) {
    Principal principal;
    principal.kind = PrincipalKind::human;
    principal.id = who.human_id.text();
    principal.tenants = who.memberships;
    principal.authenticated_at = proved;
    return principal;
}

Principal host_operator() {
    Principal principal;
    principal.kind = PrincipalKind::host_operator;
    principal.id = "local";
    return principal;
}

RecoveryStart by_operator(Timestamp at = kNow) {
    return {.at = at, .principal = host_operator(), .request = {}};
}

RecoveryStart by(const Human& helper, Timestamp at = kNow) {
    return {.at = at, .principal = principal_of(helper, at), .request = {}, .helper = &helper};
}

Human with_code(Human human) {
    human.recovery.open->code_hash = "given";
    return human;
}

Human recovered_by(Human human, const Human& helper, Timestamp at = kNow) {
    return *recover(
        std::move(human),
        {.helper = to_text(principal_of(helper)),
         .helpers_hands = hands_on(helper),
         .password_hash = "new",
         .code_hashes = {"c"}},
        at);
}

TEST(RecoveryStart, OfTheOperatorIsGoodAfterADayAndForADay) {
    const auto started = start_recovery(human("b"), by_operator());

    ASSERT_TRUE(started);
    EXPECT_EQ(started->recovery.open->good_from, kNow + kOperatorDelayMin);
    EXPECT_EQ(started->recovery.open->expires_at, kNow + kOperatorDelayMin + kRecoveryCodeLife);
}

TEST(RecoveryStart, OfTheOperatorIsNeverGoodSoonerWhateverIsConfigured) {
    RecoveryStart start = by_operator();
    start.operator_delay = Duration::of_hours(1);
    EXPECT_EQ(
        start_recovery(human("b"), start)->recovery.open->good_from, kNow + kOperatorDelayMin);
    start.operator_delay = Duration::of_hours(48);
    EXPECT_EQ(
        start_recovery(human("b"), start)->recovery.open->good_from, kNow + Duration::of_hours(48));
}

TEST(RecoveryStart, OfAColleagueIsGoodAtOnce) {
    const Human helper = human("a");

    EXPECT_EQ(start_recovery(human("b"), by(helper))->recovery.open->good_from, kNow);
}

TEST(RecoveryStart, NeedsAFreshLoginOfAColleague) {
    const Human helper = human("a");
    RecoveryStart start = by(helper);
    start.at = kNow + kFreshAuthentication;
    EXPECT_TRUE(start_recovery(human("b"), start));
    start.at = start.at + Duration{1};
    EXPECT_EQ(start_recovery(human("b"), start).error(), errors::reauthentication_required);
}

// I7: the login opens every tenant of the person.
TEST(RecoveryStart, IsNotForAColleagueWhoDoesNotShareEveryTenant) {
    const Human helper = human("a");
    EXPECT_EQ(
        start_recovery(human("b", {kDemo, kOther}), by(helper)).error(),
        errors::recovery_elsewhere);
    EXPECT_EQ(start_recovery(human("b", {kOther}), by(helper)).error(), errors::human_required);
}

TEST(RecoveryStart, IsRefusedToAgentsOneselfAndVotesThatRest) {
    Human helper = human("a");
    RecoveryStart agent = by(helper);
    agent.principal.kind = PrincipalKind::agent;
    EXPECT_EQ(start_recovery(human("b"), agent).error(), errors::human_required);
    EXPECT_EQ(start_recovery(human("a"), by(helper)).error(), errors::invalid_request);
    helper.recovery.vote_rests_until = kNow + kVoteRest;
    EXPECT_EQ(start_recovery(human("b"), by(helper)).error(), errors::vote_rests);
}

TEST(RecoveryStart, IsOnlyForWhoHasAPassword) {
    Human invited = human("b");
    invited.password_hash.reset();
    EXPECT_EQ(start_recovery(invited, by_operator()).error(), errors::not_activated);
}

TEST(RecoveryStart, KeepsAGapSoThatLettersDoNotFlood) {
    const Human once = *start_recovery(human("b"), by_operator());
    const auto refused = start_recovery(once, by_operator(kNow + kRecoveryStartGap - Duration{1}));
    EXPECT_EQ(refused.error(), errors::rate_limited);
    EXPECT_EQ(refused.error().retry_after_seconds, 1);
    EXPECT_TRUE(start_recovery(once, by_operator(kNow + kRecoveryStartGap)));
}

TEST(RecoveryStart, OfTheOperatorDoesNotReplaceAColleagues) {
    const Human helper = human("a");
    const Human open = *start_recovery(human("b"), by(helper));
    EXPECT_EQ(
        start_recovery(open, by_operator(kNow + kRecoveryStartGap)).error(), errors::recovery_open);
}

TEST(RecoveryObjection, IsAnybodysOfTheTenantAndTheOperatorsOnlyForItsOwn) {
    const Human open = *start_recovery(human("b"), by_operator());
    const Human colleague = human("a");
    for (const Human& who : {colleague, open}) {
        const auto ended = object_to_recovery(open, principal_of(who), kNow);
        ASSERT_TRUE(ended);
        EXPECT_FALSE(ended->recovery.open);
    }
    EXPECT_TRUE(object_to_recovery(open, host_operator(), kNow));
    const Human stranger = human("c", {kOther});
    EXPECT_EQ(
        object_to_recovery(open, principal_of(stranger), kNow).error(), errors::human_required);
    const Human helped = *start_recovery(human("b"), by(colleague));
    EXPECT_EQ(object_to_recovery(helped, host_operator(), kNow).error(), errors::human_required);
    EXPECT_EQ(
        object_to_recovery(human("b"), principal_of(colleague), kNow).error(),
        errors::recovery_not_open);
}

TEST(RecoveryCheck, TakesACodeOfOnesOwnOrOneThatIsGoodNow) {
    Human open = with_code(*start_recovery(human("b"), by_operator()));
    open.recovery.code_hashes = {"x", "own"};
    EXPECT_EQ(*check_recovery_code(open, {"own", kNow}), "");
    EXPECT_EQ(check_recovery_code(open, {"wrong", kNow}).error(), errors::unauthenticated);
    const Timestamp good = kNow + kOperatorDelayMin;
    EXPECT_EQ(
        check_recovery_code(open, {"given", good - Duration{1}}).error(), errors::recovery_waits);
    EXPECT_EQ(*check_recovery_code(open, {"given", good}), "operator:local");
    EXPECT_TRUE(check_recovery_code(open, {"given", good + kRecoveryCodeLife - Duration{1}}));
    EXPECT_EQ(
        check_recovery_code(open, {"given", good + kRecoveryCodeLife}).error(),
        errors::unauthenticated);
}

TEST(Recovery, RestoresTheLoginAndNothingElse) {
    Human before = human("b");
    before.totp_key = "KEY";
    before.totp_key_offered = "OTHER";
    before.sessions.resize(2);
    before.devices.resize(1);
    before.recovery.code_hashes = {"old"};

    const Human after = recovered_by(before, human("a"));

    EXPECT_EQ(after.password_hash, "new");
    EXPECT_FALSE(after.totp_key || after.totp_key_offered);
    EXPECT_TRUE(after.sessions.empty());
    EXPECT_TRUE(after.devices.empty());
    EXPECT_EQ(after.recovery.code_hashes, std::vector<std::string>{"c"});
    EXPECT_EQ(after.recovery.vote_rests_until, kNow + kVoteRest);
    EXPECT_TRUE(after.recovery.second_factor_due);
    EXPECT_EQ(after.memberships, before.memberships);
}

TEST(Recovery, LetsTheVoteRestToTheMicrosecond) {
    const VoteRest rest = vote_rest_of(recovered_by(human("b"), human("a")));
    EXPECT_EQ(check_vote(rest, kNow + kVoteRest - Duration{1}).error(), errors::vote_rests);
    EXPECT_TRUE(check_vote(rest, kNow + kVoteRest));
    EXPECT_EQ(check_vote({std::nullopt, true}, kNow + kVoteRest).error(), errors::vote_rests);
}

TEST(Recovery, MakesOnePersonOfHelperAndHelpedAndOfAllWhomOneHelped) {
    const Human a = human("a");
    const Human b = recovered_by(human("b"), a);
    const Human c = recovered_by(human("c"), b, kNow + kVoteRest);
    const Human d = recovered_by(human("d"), a);
    EXPECT_TRUE(count_as_one(a, b));
    EXPECT_TRUE(count_as_one(a, c)) << "help is inherited";
    EXPECT_TRUE(count_as_one(c, d)) << "both may be in the hand of a";
    EXPECT_FALSE(count_as_one(a, human("e")));
    EXPECT_FALSE(count_as_one(b, human("e")));
}

TEST(Recovery, ByTheOperatorMakesOnePersonOfAllWhoWereRecoveredSo) {
    const auto by_host = [](Human who) {
        return *recover(
            std::move(who),
            {.helper = "operator:local",
             .helpers_hands = {},
             .password_hash = "new",
             .code_hashes = {}},
            kNow);
    };
    EXPECT_TRUE(count_as_one(by_host(human("b")), by_host(human("c"))));
    EXPECT_FALSE(count_as_one(by_host(human("b")), human("c")));
}

TEST(Recovery, IsRefusedPastTheBoundOfHelpers) {
    Human before = human("b");
    for (std::size_t i = 0; i < kHelpersMax; ++i) {
        before.recovery.helpers.insert("human:h" + std::to_string(i));
    }
    const auto with = [&](const std::string& helper) {
        return recover(
            before,
            {.helper = helper, .helpers_hands = {}, .password_hash = "new", .code_hashes = {}},
            kNow);
    };
    EXPECT_EQ(with("human:new").error(), errors::limit_reached);
    EXPECT_TRUE(with("human:h0"));
    EXPECT_TRUE(with(""));
}

TEST(RecoveryTries, LeaveAboutAHundredRecordsADayAndNoLock) {
    Human who = human("b");
    std::int64_t recorded = 0;
    for (std::int64_t second = 0; second < 86'400; ++second) {
        CountedTry counted = note_wrong_code(std::move(who), kNow + Duration::of_seconds(second));
        who = std::move(counted.human);
        recorded += counted.is_recorded ? 1 : 0;
    }
    EXPECT_GT(recorded, 90);
    EXPECT_LT(recorded, 110);
    who.recovery.code_hashes = {"own"};
    EXPECT_TRUE(check_recovery_code(who, {"own", kNow + Duration::of_days(1)}));
}

// Whatever the order of recoveries and votes: nothing is approved by people of whom one may hold
// both accounts, and never by a vote that rests.
TEST(Recovery, NeverLetsTwoVotesOfOneHandOrARestingVoteApprove) {
    EXPECT_TRUE(rc::check("votes of one hand count once", [] {
        std::vector<Human> people;
        for (const char* id : {"a", "b", "c", "d"}) {
            people.push_back(human(id));
        }
        // Who can be in whose hand, by the plain definition: followed through every recovery.
        std::vector<std::set<int>> holders{{0}, {1}, {2}, {3}};
        Timestamp now = kNow;
        const int steps = *rc::gen::inRange(0, 6);
        for (int step = 0; step < steps; ++step) {
            now = now + Duration::of_hours(*rc::gen::inRange(1, 100));
            const int helper = *rc::gen::inRange(-1, 4);  // -1: by a code of one's own.
            const int helped = *rc::gen::inRange(0, 4);
            if (helper == helped || (helper >= 0 && vote_rest_of(people[helper]).rests_at(now))) {
                continue;
            }
            Recovered how{
                .helper = "", .helpers_hands = {}, .password_hash = "new", .code_hashes = {}};
            if (helper >= 0) {
                how.helper = "human:" + people[helper].human_id.text();
                how.helpers_hands = hands_on(people[helper]);
                holders[helped].insert(holders[helper].begin(), holders[helper].end());
            }
            people[helped] = *recover(people[helped], how, now);
        }
        Approval approval;
        approval.tenant_id = kDemo;
        approval.required = *rc::gen::inRange<std::int64_t>(1, 3);
        const int asker = *rc::gen::inRange(-1, 4);  // -1: an agent.
        approval.requested_by = asker < 0 ? "agent:key" : "human:" + people[asker].human_id.text();
        approval.expires_at = now + Duration::of_days(1);
        std::vector<int> voted;
        for (int i = 0; i < 6 && approval.state == ApprovalState::pending; ++i) {
            const int voter = *rc::gen::inRange(0, 4);
            ApprovalCall call{
                .at = now,
                .principal = principal_of(people[voter], now),
                .humans_of_tenant = 4,
                .decision = {}};
            call.rest = vote_rest_of(people[voter]);
            for (int other = 0; other < 4; ++other) {
                if (other != voter && count_as_one(people[voter], people[other])) {
                    call.one_with_caller.insert(people[other].human_id);
                    --call.humans_of_tenant;
                }
            }
            const bool has_another = call.humans_of_tenant > 1;
            if (auto next = approve(approval, call)) {
                approval = *std::move(next);
                RC_ASSERT(!call.rest.rests_at(now));
                for (const int earlier : voted) {
                    for (const int hand : holders[earlier]) {
                        RC_ASSERT(!holders[voter].contains(hand));
                    }
                }
                if (asker >= 0 && approval.required == 1 && has_another) {
                    for (const int hand : holders[asker]) {
                        RC_ASSERT(!holders[voter].contains(hand));
                    }
                }
                voted.push_back(voter);
            }
        }
    }));
}

TEST(RecoveryNotice, TellsOfWhatIsOpenAndOfAVoteThatRests) {
    const Human open = *start_recovery(human("b"), by_operator());
    EXPECT_EQ(notice_of(open, kNow)->state, "waiting");
    EXPECT_EQ(notice_of(open, kNow + kOperatorDelayMin)->state, "ready");
    EXPECT_FALSE(notice_of(open, kNow + kOperatorDelayMin + kRecoveryCodeLife));
    const Human back = recovered_by(human("b"), human("a"));
    EXPECT_EQ(notice_of(back, kNow)->state, "recovered");
    EXPECT_FALSE(notice_of(back, kNow + kVoteRest));
}

}  // namespace
}  // namespace interlock
