// The approvals desk around its pure rules: what is kept, counted, listed, recorded and carried
// out, and what a request that nobody answers comes to (approvals.md#1-what-an-approval-is).
#include "host/service/approval_service.h"

#include <gtest/gtest.h>

#include "host/wire/recovery.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

using Names = std::vector<std::string>;
const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
// No service of the plane carries this kind out, so a test may.
constexpr ApprovalKind kKind = ApprovalKind::key_provisioning;

class ApprovalDesk : public testing::Test {
protected:
    explicit ApprovalDesk(bool two_person_rule = false)
        : world_({.two_person_rule = two_person_rule, .has_sink = true}) {
        world_.humans = 3;
        world_.publish_directory();
        register_kind();
    }

    ApprovalService& desk() { return world_.plane->approvals; }

    void register_kind() {
        desk().register_kind(
            kKind,
            {.execute = [this](Turn&, const Approval& approval) -> Result<void> {
                 if (cannot_) {
                     return fail(errors::unavailable, "not today");
                 }
                 carried_out_.push_back(approval);
                 return {};
             },
             .ended = [this](Turn&, const Approval& approval) -> Result<void> {
                 if (cannot_) {
                     return fail(errors::unavailable, "not today");
                 }
                 ended_.push_back(approval);
                 return {};
             }});
    }

    Result<Answer> run(
        Principal who, const TenantId& tenant, std::function<Result<void>(Turn&)> act) {
        std::optional<Result<Answer>> answer;
        TurnRequest request;
        request.tenant_id = tenant;
        request.principal = std::move(who);
        request.function = "test";
        request.decide = [act = std::move(act)](Turn& turn) -> Result<TurnReply> {
            TRY(act(turn));
            return Answer{};
        };
        request.reply = [&answer](Result<Answer> result) { answer = std::move(result); };
        world_.submit(std::move(request));
        return *answer;
    }

    Result<Approval> ask(
        Principal who,
        const TenantId& tenant = kDemo,
        bool critical = false,
        ApprovalKind kind = kKind) {
        Result<Approval> asked = fail(errors::not_found, "never asked");
        const auto answer = run(std::move(who), tenant, [&](Turn& turn) -> Result<void> {
            asked = desk().request(
                turn,
                {.kind = kind,
                 .payload = Json::object({{"x", 1}}),
                 .summary = "Give out a key.",
                 .critical = critical});
            return asked ? Result<void>() : Result<void>(std::unexpected(asked.error()));
        });
        EXPECT_EQ(answer.has_value(), asked.has_value());
        return asked;
    }
    Approval ask() { return *ask(PlaneWorld::agent()); }

    using Vote = void (ApprovalService::*)(
        ApprovalService::Caller, ApprovalId, ApprovalDecision, ApprovalService::Reply);
    Result<Answer> vote(
        Vote how,
        Principal who,
        const ApprovalId& id,
        std::string comment = {},
        const TenantId& tenant = kDemo) {
        std::optional<Result<Answer>> answer;
        (desk().*how)(
            {std::move(who), tenant},
            id,
            {.comment = std::move(comment), .subject_hash = std::nullopt},
            [&answer](Result<Answer> result) { answer = std::move(result); });
        return *answer;
    }
    Result<Answer> approve(const ApprovalId& id, const std::string& human = "hum_1") {
        return vote(&ApprovalService::approve, world_.human(human), id);
    }
    Result<Answer> reject(const ApprovalId& id) {
        return vote(&ApprovalService::reject, world_.human(), id);
    }

    Result<Answer> get(const ApprovalId& id, const TenantId& tenant = kDemo) {
        std::optional<Result<Answer>> answer;
        desk().get({PlaneWorld::agent(), tenant}, id, [&answer](Result<Answer> result) {
            answer = std::move(result);
        });
        return *answer;
    }
    std::string state_of(const ApprovalId& id) {
        return parse_json(get(id)->body)->find("state")->as_string();
    }

    Answer list(std::optional<ApprovalState> state = std::nullopt, const TenantId& tenant = kDemo) {
        std::optional<Result<Answer>> answer;
        desk().list({PlaneWorld::agent(), tenant}, state, [&answer](Result<Answer> result) {
            answer = std::move(result);
        });
        return **answer;
    }
    Names listed(
        std::optional<ApprovalState> state = std::nullopt, const TenantId& tenant = kDemo) {
        Names ids;
        const Json json = *parse_json(list(state, tenant).body);
        for (const Json& approval : json.find("approvals")->items()) {
            ids.push_back(approval.find("approval_id")->as_string());
        }
        return ids;
    }

    bool has_timer(const ApprovalId& id) {
        const std::vector<TimerItem> timers = *world_.store.load_timers();
        return std::ranges::any_of(timers, [&](const TimerItem& timer) {
            return timer.timer_id.text() == "approval_expiry." + id.text();
        });
    }
    void pass(Duration time) {
        world_.clock.advance(time);
        world_.plane->runner.fire_timers(1000);
    }
    // What the ledger says of approvals.
    Names told() {
        Names events = world_.events();
        std::erase_if(
            events, [](const std::string& event) { return !event.starts_with("APPROVAL_"); });
        return events;
    }
    AuditRecord last_record(const TenantId& tenant = kDemo) {
        return (*world_.plane->ledger.read(tenant, 0, 1000)).back();
    }

    PlaneWorld world_;
    bool cannot_ = false;
    std::vector<Approval> carried_out_;
    std::vector<Approval> ended_;
};

TEST_F(ApprovalDesk, ARequestHoldsWhoAskedForWhatAndUntilWhen) {
    const Approval asked = ask();
    EXPECT_TRUE(asked.approval_id.text().starts_with("apr_"));
    EXPECT_EQ(asked.tenant_id, kDemo);
    EXPECT_EQ(asked.kind, kKind);
    EXPECT_EQ(asked.payload, Json::object({{"x", 1}}));
    EXPECT_EQ(asked.subject_hash, *subject_hash_of(asked.payload));
    EXPECT_EQ(asked.summary, "Give out a key.");
    EXPECT_EQ(asked.requested_by, "agent:key_demo");
    EXPECT_EQ(asked.required, 1);
    EXPECT_EQ(asked.created_at, FakeClock::kNoon);
    EXPECT_EQ(asked.expires_at, FakeClock::kNoon + kApprovalLife);
    const Result<Answer> answer = get(asked.approval_id);
    EXPECT_EQ(answer->http_status, 200);
    EXPECT_EQ(answer->body, to_text(encode(asked)));
}

TEST_F(ApprovalDesk, ARequestIsOnTheRecordWithWhatItIsAbout) {
    const Approval asked = ask();
    const AuditDraft draft = last_record().draft;
    EXPECT_EQ(draft.event, "APPROVAL_REQUESTED");
    EXPECT_EQ(draft.reason, "Give out a key.");
    const auto field = [&draft](std::string_view key) { return to_text(*draft.detail.find(key)); };
    EXPECT_EQ(field("approval_id"), '"' + asked.approval_id.text() + '"');
    EXPECT_EQ(field("kind"), R"("key_provisioning")");
    EXPECT_EQ(field("subject_hash"), '"' + asked.subject_hash + '"');
    EXPECT_EQ(field("requested_by"), R"("agent:key_demo")");
    EXPECT_EQ(field("votes"), "0");
    EXPECT_EQ(field("required"), "1");
    EXPECT_EQ(draft.detail.find("comment"), nullptr);
}

TEST_F(ApprovalDesk, NothingIsAskedForThatNobodyCarriesOut) {
    world_.rebuild();
    EXPECT_EQ(ask(PlaneWorld::agent()).error(), errors::approval_kind_unavailable);
    EXPECT_TRUE(listed().empty());
}

// A server that came up without what carries the kind out says so, and loses nothing.
TEST_F(ApprovalDesk, AVoteOnWhatNobodyCarriesOutAnyMoreIsRefused) {
    const ApprovalId id = ask().approval_id;
    world_.rebuild();
    EXPECT_EQ(approve(id).error(), errors::approval_kind_unavailable);
    EXPECT_EQ(state_of(id), "pending");
    pass(kApprovalLife);
    EXPECT_EQ(told().back(), "APPROVAL_EXPIRED");
    EXPECT_EQ(state_of(id), "expired");
}

TEST_F(ApprovalDesk, AHundredMayBePendingAndThoseOfOthersOrDecidedDoNotCount) {
    ask(PlaneWorld::agent("other"), kOther);
    reject(ask().approval_id);
    approve(ask().approval_id);
    for (std::int64_t i = 0; i < ApprovalService::kPendingMax; ++i) {
        ASSERT_TRUE(ask(world_.human())) << i;
    }
    for (const Principal& who : {world_.human(), PlaneWorld::agent()}) {
        const auto refused = ask(who);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error(), errors::too_many_approvals);
        EXPECT_TRUE(refused.error().message.starts_with("This tenant has 100 pending approvals"));
    }
    EXPECT_TRUE(ask(PlaneWorld::agent("other"), kOther));
}

// An agent that asks and asks fills its own places only.
TEST_F(ApprovalDesk, PlacesAreKeptForWhatHumansAskFor) {
    constexpr std::int64_t kOthers = ApprovalService::kPendingMax - ApprovalService::kHumanPlaces;
    for (std::int64_t i = 0; i < kOthers; ++i) {
        ASSERT_TRUE(ask(PlaneWorld::agent())) << i;
    }
    const auto refused = ask(PlaneWorld::agent());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errors::too_many_approvals);
    EXPECT_EQ(
        refused.error().message,
        "This tenant has 80 pending approvals; the places that are left are for humans.");
    for (std::int64_t i = 0; i < ApprovalService::kHumanPlaces; ++i) {
        ASSERT_TRUE(ask(world_.human())) << i;
    }
    EXPECT_EQ(ask(world_.human()).error(), errors::too_many_approvals);
    // What humans ask for takes no place of the agents'.
    reject(ApprovalId::trusted(listed(ApprovalState::pending).back()));
    EXPECT_TRUE(ask(PlaneWorld::agent()));
}

TEST_F(ApprovalDesk, RequestsOfOneBatchSeeEachOther) {
    const auto answer = run(PlaneWorld::agent(), kDemo, [&](Turn& turn) -> Result<void> {
        constexpr std::int64_t kOthers =
            ApprovalService::kPendingMax - ApprovalService::kHumanPlaces;
        const auto one_more = [&] {
            return desk().request(
                turn, {.kind = kKind, .payload = Json::object({{"x", 1}}), .summary = "Again."});
        };
        for (std::int64_t i = 0; i < kOthers; ++i) {
            TRY(one_more());
        }
        EXPECT_EQ(one_more().error(), errors::too_many_approvals);
        return {};
    });
    EXPECT_TRUE(answer);
}

TEST_F(ApprovalDesk, OneProposalOfItsSortIsPending) {
    const auto propose = [&](std::int64_t x) {
        Result<ApprovalService::Proposed> proposed = fail(errors::not_found, "never asked");
        EXPECT_TRUE(run(PlaneWorld::agent(), kDemo, [&](Turn& turn) -> Result<void> {
            proposed = desk().propose(
                turn,
                {.kind = kKind, .payload = Json::object({{"x", x}}), .summary = "Take x."},
                [](const Approval& other) { return other.kind == kKind; });
            return {};
        }));
        return *proposed;
    };
    const auto first = propose(1);
    EXPECT_TRUE(first.replaced.empty());
    const auto same = propose(1);
    EXPECT_TRUE(same.is_merged);
    EXPECT_EQ(same.approval.approval_id, first.approval.approval_id);
    const auto other = propose(2);
    EXPECT_FALSE(other.is_merged);
    EXPECT_EQ(other.replaced, std::vector{first.approval.approval_id});
    EXPECT_EQ(listed(ApprovalState::pending), Names{other.approval.approval_id.text()});
    EXPECT_EQ(state_of(first.approval.approval_id), "expired");
    EXPECT_FALSE(has_timer(first.approval.approval_id));
    EXPECT_EQ(told(), (Names{"APPROVAL_REQUESTED", "APPROVAL_LAPSED", "APPROVAL_REQUESTED"}));
    EXPECT_EQ(
        approve(first.approval.approval_id).error().message,
        "This approval is expired already: Whoever asked for it asked for something else instead.");
    EXPECT_TRUE(approve(other.approval.approval_id));
}

TEST_F(ApprovalDesk, TheVoteThatIsEnoughCarriesOutInItsOwnTurn) {
    const Approval asked = ask();
    EXPECT_TRUE(has_timer(asked.approval_id));
    world_.clock.advance(Duration::of_minutes(1));
    const int before = world_.store.commits;
    const Result<Answer> answer =
        vote(&ApprovalService::approve, world_.human(), asked.approval_id, "seen it");
    EXPECT_EQ(world_.store.commits, before + 1);
    ASSERT_EQ(carried_out_.size(), 1u);
    EXPECT_EQ(carried_out_[0].state, ApprovalState::consumed);
    EXPECT_EQ(carried_out_[0].payload, asked.payload);
    EXPECT_EQ(told(), (Names{"APPROVAL_REQUESTED", "APPROVAL_GRANTED", "APPROVAL_CONSUMED"}));
    EXPECT_EQ(answer->http_status, 200);
    Json expected = encode(carried_out_[0]);
    expected.set("audit_ref", audit_ref(last_record()));
    EXPECT_EQ(answer->body, to_text(expected));
    EXPECT_EQ(last_record().draft.detail.find("comment")->as_string(), "seen it");
    EXPECT_FALSE(has_timer(asked.approval_id));
    EXPECT_TRUE(ended_.empty());
}

TEST_F(ApprovalDesk, WhatCannotBeCarriedOutStaysPending) {
    const ApprovalId id = ask().approval_id;
    cannot_ = true;
    EXPECT_EQ(approve(id).error(), errors::unavailable);
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_TRUE(has_timer(id));
    EXPECT_EQ(told(), Names{"APPROVAL_REQUESTED"});
    cannot_ = false;
    EXPECT_TRUE(approve(id));
    EXPECT_EQ(state_of(id), "consumed");
}

TEST_F(ApprovalDesk, ARejectionTellsWhoeverAskedAndCarriesOutNothing) {
    const ApprovalId id = ask().approval_id;
    cannot_ = true;
    EXPECT_EQ(reject(id).error(), errors::unavailable);
    EXPECT_EQ(state_of(id), "pending");
    cannot_ = false;
    const Result<Answer> answer = reject(id);
    ASSERT_EQ(ended_.size(), 1u);
    EXPECT_EQ(ended_[0].state, ApprovalState::rejected);
    EXPECT_EQ(ended_[0].rejected_by, "human:hum_1");
    EXPECT_TRUE(carried_out_.empty());
    EXPECT_EQ(told(), (Names{"APPROVAL_REQUESTED", "APPROVAL_REJECTED"}));
    EXPECT_EQ(last_record().draft.detail.find("comment"), nullptr);
    const Json json = *parse_json(answer->body);
    EXPECT_EQ(json.find("audit_ref")->as_string(), audit_ref(last_record()));
    EXPECT_FALSE(has_timer(id));
}

class ApprovalDeskOfTwo : public ApprovalDesk {
protected:
    ApprovalDeskOfTwo() : ApprovalDesk(true) {}
};

TEST_F(ApprovalDesk, WithoutTheRuleOneHumanIsEnoughForWhatIsCritical) {
    EXPECT_EQ(ask(PlaneWorld::agent(), kDemo, true)->required, 1);
}

TEST_F(ApprovalDeskOfTwo, OneVoteIsKeptAndDecidesNothing) {
    EXPECT_EQ(ask().required, 1);  // Not critical.
    const Approval asked = *ask(PlaneWorld::agent(), kDemo, true);
    EXPECT_EQ(asked.required, 2);
    const Result<Answer> answer = approve(asked.approval_id, "hum_1");
    EXPECT_EQ(parse_json(answer->body)->find("state")->as_string(), "pending");
    EXPECT_EQ(parse_json(answer->body)->find("audit_ref")->as_string(), audit_ref(last_record()));
    EXPECT_EQ(told().back(), "APPROVAL_VOTED");
    EXPECT_EQ(*last_record().draft.detail.find("votes"), Json(std::int64_t{1}));
    EXPECT_TRUE(carried_out_.empty());
    EXPECT_TRUE(ended_.empty());
    EXPECT_TRUE(has_timer(asked.approval_id));
    EXPECT_EQ(approve(asked.approval_id, "hum_1").error(), errors::second_human_required);
    EXPECT_TRUE(approve(asked.approval_id, "hum_2"));
    EXPECT_EQ(carried_out_.size(), 1u);
}

TEST_F(ApprovalDesk, WhoeverVotesIsJudgedByWhatTheDirectoryKnowsOfHim) {
    const ApprovalId own = ask(world_.human("hum_1"))->approval_id;
    EXPECT_EQ(approve(own, "hum_1").error(), errors::second_human_required);
    world_.plane->directory.update([&](PrincipalDirectory::Snapshot& all) {
        all.rests[HumanId::trusted("hum_2")].until = world_.clock.now() + Duration::of_days(1);
        all.hands[kDemo][HumanId::trusted("hum_1")] = {"hum_1"};
        all.hands[kDemo][HumanId::trusted("hum_3")] = {"hum_1", "hum_3"};
    });
    EXPECT_EQ(approve(own, "hum_2").error(), errors::vote_rests);
    EXPECT_EQ(approve(own, "hum_3").error(), errors::second_human_required);
    EXPECT_TRUE(carried_out_.empty());
}

// The proof of the only human is five minutes old at most, whatever the wall clock was set to.
TEST_F(ApprovalDesk, AClockThatStepsBackMakesNoLoginFreshAgain) {
    world_.humans = 1;
    world_.publish_directory();
    const Principal human = world_.human();
    const ApprovalId id = ask(human)->approval_id;
    world_.plane->directory.time_of_sessions(world_.clock.now());
    world_.clock.advance(Duration{kFreshAuthentication.microseconds + 1});
    EXPECT_EQ(
        vote(&ApprovalService::approve, human, id).error(), errors::reauthentication_required);
    world_.clock.step_to(FakeClock::kNoon);
    EXPECT_EQ(
        vote(&ApprovalService::approve, human, id).error(), errors::reauthentication_required);
    Principal fresh = human;
    fresh.authenticated_at =
        world_.plane->directory.time_of_sessions(world_.clock.now()) - Duration::of_minutes(5);
    EXPECT_TRUE(vote(&ApprovalService::approve, fresh, id));
}

TEST_F(ApprovalDesk, WhatNobodyAnswersEndsWhenItsLifeIsOver) {
    const ApprovalId id = ask().approval_id;
    pass(Duration{kApprovalLife.microseconds - 1});
    EXPECT_EQ(state_of(id), "pending");
    EXPECT_TRUE(ended_.empty());
    world_.clock.advance(Duration{1});
    EXPECT_EQ(state_of(id), "expired");  // Told truly before the timer came round.
    EXPECT_EQ(listed(ApprovalState::expired), Names{id.text()});
    EXPECT_EQ(told().back(), "APPROVAL_REQUESTED");
    pass({});
    EXPECT_EQ(told().back(), "APPROVAL_EXPIRED");
    ASSERT_EQ(ended_.size(), 1u);
    EXPECT_EQ(ended_[0].state, ApprovalState::expired);
    EXPECT_EQ(ended_[0].decided_at, world_.clock.now());
    pass(kApprovalLife);
    EXPECT_EQ(ended_.size(), 1u);
}

TEST_F(ApprovalDesk, AnExpiryThatCannotBeToldIsToldLater) {
    const ApprovalId id = ask().approval_id;
    cannot_ = true;
    pass(kApprovalLife);
    EXPECT_EQ(told().back(), "APPROVAL_REQUESTED");
    cannot_ = false;
    pass(TurnRunner::kRetryAfter);
    EXPECT_EQ(told().back(), "APPROVAL_EXPIRED");
    EXPECT_EQ(ended_.size(), 1u);
    EXPECT_FALSE(has_timer(id));
}

TEST_F(ApprovalDesk, ATimerEndsNothingEarlyOrTwiceOrThatIsNotThere) {
    const Approval open = ask();
    const Approval decided = ask();
    ASSERT_TRUE(approve(decided.approval_id));
    const auto before = told();
    run(internal_principal("test"), kDemo, [&](Turn& turn) -> Result<void> {
        for (const std::string& id :
             {open.approval_id.text(), decided.approval_id.text(), std::string("apr_nobody")}) {
            turn.set_timer(
                {.timer_id = TimerId::trusted("early." + id),
                 .tenant_id = kDemo,
                 .kind = "approval_expiry",
                 .json = id,
                 .due_at = turn.now() + Duration::of_seconds(1)});
        }
        return {};
    });
    pass(Duration::of_seconds(1));
    EXPECT_EQ(told(), before);
    EXPECT_EQ(state_of(open.approval_id), "pending");
    EXPECT_EQ(state_of(decided.approval_id), "consumed");
    EXPECT_TRUE(ended_.empty());
}

TEST_F(ApprovalDesk, TheListIsTheTenantsOwnNewestFirstAndByState) {
    ask(PlaneWorld::agent("other"), kOther);
    const ApprovalId first = ask().approval_id;
    world_.clock.advance(Duration::of_seconds(1));
    const ApprovalId second = ask().approval_id;
    world_.clock.advance(Duration::of_seconds(1));
    const ApprovalId third = ask().approval_id;
    reject(second);
    EXPECT_EQ(list().http_status, 200);
    EXPECT_EQ(listed(), (Names{third.text(), second.text(), first.text()}));
    EXPECT_EQ(listed(ApprovalState::pending), (Names{third.text(), first.text()}));
    EXPECT_EQ(listed(ApprovalState::rejected), Names{second.text()});
    EXPECT_EQ(listed(std::nullopt, kOther).size(), 1u);
    EXPECT_EQ(get(first, kOther).error(), errors::not_found);
    EXPECT_EQ(get(ApprovalId::trusted("apr_nobody")).error(), errors::not_found);
    EXPECT_EQ(approve(ApprovalId::trusted("apr_nobody")).error(), errors::not_found);
}

TEST_F(ApprovalDesk, OfOneMomentTheListIsInTheOrderOfTheirIds) {
    Names ids;
    for (int i = 0; i < 5; ++i) {
        ids.push_back(ask().approval_id.text());
    }
    std::ranges::sort(ids);
    EXPECT_EQ(listed(), ids);
}

TEST_F(ApprovalDesk, TheListEndsAtTwoHundred) {
    for (int round = 0; round < 3; ++round) {
        for (std::int64_t i = 0; i < (round < 2 ? ApprovalService::kPendingMax : 1); ++i) {
            ASSERT_TRUE(ask(world_.human()));
        }
        if (round == 1) {
            EXPECT_EQ(listed().size(), 200u);
        }
        pass(kApprovalLife);
    }
    EXPECT_EQ(listed().size(), 200u);
    EXPECT_EQ(ended_.size(), 201u);
}

// What a human decides without an approval waits likewise; a program's word is none of a human's.
TEST_F(ApprovalDesk, AWordThatRestsCountsNowhere) {
    world_.plane->directory.update([&](PrincipalDirectory::Snapshot& all) {
        all.rests[HumanId::trusted("hum_1")].until = world_.clock.now() + Duration::of_seconds(1);
    });
    const auto word_of = [this](Principal who) {
        return run(std::move(who), kDemo, [this](Turn& turn) { return desk().check_word(turn); });
    };
    EXPECT_EQ(word_of(world_.human()).error(), errors::vote_rests);
    EXPECT_TRUE(word_of(world_.human("hum_2")));
    EXPECT_TRUE(word_of(internal_principal("hum_1")));
    world_.clock.advance(Duration::of_seconds(1));
    EXPECT_TRUE(word_of(world_.human()));
}

// The engine sorts, counts and logs calls by who asks for what.
TEST(ApprovalCalls, EachTurnSaysWhoAsksForWhat) {
    PlaneWorld world;
    TurnRunner runner(
        {world.store, world.clock, *world.ids, world.mirror, world.keys, world.observer});
    std::vector<std::string> turns;
    ApprovalService desk(
        {.runner = runner,
         .submit =
             [&](TurnRequest request) {
                 turns.push_back(
                     to_text(request.principal) + " " + request.function + " " +
                     request.tenant_id.text());
             },
         .directory = world.plane->directory});
    const ApprovalService::Caller caller{world.human(), kDemo};
    const ApprovalId id = ApprovalId::trusted("apr_1");
    const auto ignore = [](const Result<Answer>&) {};
    desk.list(caller, std::nullopt, ignore);
    desk.get(caller, id, ignore);
    desk.approve(caller, id, {}, ignore);
    desk.reject(caller, id, {}, ignore);
    EXPECT_EQ(
        turns,
        (Names{
            "human:hum_1 list_approvals demo",
            "human:hum_1 get_approval demo",
            "human:hum_1 approve demo",
            "human:hum_1 reject demo"}));
}

}  // namespace
}  // namespace interlock
