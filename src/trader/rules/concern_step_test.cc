// Walks a concern from every state that matters through every event on all facts that matter, and
// holds each step to the promises of concern_step.h. States of a switch under way are not made up:
// they are what the machine itself made of a switch that had to wait.
//
// What breaks the walk (each tried): finish() without its look at the kill switch, or at the
// target; OrdersChanged or DeadlinePassed that do not look at `others`; roll_back() without
// leave_switching(), or with another's risk mode; leave_switching() without ClearDeadline;
// journal() without StartDeadline; pause() without its roll_back(); hand_over() without
// ReleaseActivity; CancelOrdersOf of a planner from outside.
#include "trader/rules/concern_step.h"

#include <gtest/gtest.h>

#include <map>

#include "testing/control_desk.h"

namespace interlock {
namespace {

const StrategyId kOld = StrategyId::trusted("s1");
const StrategyId kNew = StrategyId::trusted("s2");
const StrategyId kStopped = StrategyId::trusted("s3");  // Of an earlier time, with orders left.
const Timestamp kNow{1'776'370'500'000'000};

// The concern with its instances, and the waiting call's switch, if one is under way.
struct Place {
    Concern concern;
    std::map<StrategyId, StrategyInstance> instances;
    std::optional<Timestamp> timer;
    std::string what;
};

struct Around {
    bool is_stopped = false;
    std::string target_problem = {};
    bool is_target_gone = false;
    std::set<StrategyId> others = {};
    Duration later = {};  // Since kNow, when every switch began.
    OnPause on_pause = OnPause::cancel_entries;
    InstanceMode after_switch = InstanceMode::observe;
};

// What one step came to, with the effects in the places they touch.
struct Outcome {
    ConcernStep step;
    Place after;
    std::vector<EndSwitch> ended = {};
    std::vector<StrategyId> taken = {};
    std::vector<StrategyId> released = {};
    std::set<StrategyId> cancelled = {};
    bool cancels_market = false;
    bool took_a_held_activity = false;
};

template <class T>
const T* as(const ConcernEffect& effect) {
    return std::get_if<T>(&effect);
}

Outcome play(const Place& before, ConcernStep step) {
    Outcome out{.step = std::move(step), .after = before};
    out.after.concern = out.step.concern;
    std::optional<StrategyId> holder = before.concern.active_strategy_id;
    for (const ConcernEffect& effect : out.step.effects) {
        if (const auto* release = as<ReleaseActivity>(effect)) {
            out.released.push_back(release->instance.strategy_id);
            out.after.instances[release->instance.strategy_id] = release->instance;
            holder.reset();
        } else if (const auto* take = as<TakeActivity>(effect)) {
            out.took_a_held_activity = out.took_a_held_activity || holder;
            out.taken.push_back(take->instance.strategy_id);
            out.after.instances[take->instance.strategy_id] = take->instance;
            holder = take->instance.strategy_id;
        } else if (const auto* saved = as<SaveStrategy>(effect)) {
            out.after.instances[saved->instance.strategy_id] = saved->instance;
        } else if (const auto* cancel = as<CancelOrdersOf>(effect)) {
            out.cancelled.insert(cancel->strategies.begin(), cancel->strategies.end());
        } else if (as<CancelMarket>(effect) != nullptr) {
            out.cancels_market = true;
        } else if (const auto* start = as<StartDeadline>(effect)) {
            out.after.timer = start->at;
        } else if (as<ClearDeadline>(effect) != nullptr) {
            out.after.timer.reset();
        } else if (const auto* end = as<EndSwitch>(effect)) {
            out.ended.push_back(*end);
        }
    }
    return out;
}

ConcernFacts facts_at(const Place& place, const StrategyId& to, const Around& around) {
    const auto instance = [&place](const StrategyId& id) {
        return std::make_shared<const StrategyInstance>(place.instances.at(id));
    };
    const auto& active = place.concern.active_strategy_id;
    return {
        .now = kNow + around.later,
        .kill_switch_active = around.is_stopped,
        .active = active ? instance(*active) : nullptr,
        .target = around.is_target_gone ? nullptr : instance(to),
        .target_problem = around.target_problem,
        .others = around.others,
        .config = {.on_pause = around.on_pause, .after_switch = around.after_switch},
    };
}

// The step of a decision; nothing when the judgement does not let it pass.
std::optional<Outcome> decide(const Place& place, ControlDecision decision, const Around& around) {
    ControlDesk desk(decision.action);
    decision.account_id = desk.decision.account_id;
    decision.concern_id = desk.decision.concern_id;
    decision.market_symbol = desk.decision.market_symbol;
    decision.reason = "the walk";
    desk.decision = decision;
    desk.concern = place.concern;
    desk.active = place.instances.at(place.concern.active_strategy_id.value_or(kOld));
    desk.target = place.instances.at(kNew);
    desk.has_target = !around.is_target_gone;
    desk.target_problem =
        decision.action == ControlAction::switch_strategy ? around.target_problem : std::string();
    desk.kill_switch_active = around.is_stopped;
    ControlVerdict verdict = desk.judge();
    if (verdict.status != ControlStatus::applied) {
        return std::nullopt;
    }
    DecisionPassed passed{decision, result_of(decision, verdict, &place.concern), verdict.attempt};
    if (decision.action == ControlAction::switch_strategy && !around.others.empty()) {
        passed.request = encode(decision);
        passed.operation = Json::object({{"operation_id", "op"}});
    }
    auto step = step_concern(place.concern, std::move(passed), facts_at(place, kNew, around));
    EXPECT_TRUE(step) << step.error().message;
    return play(place, *std::move(step));
}

Outcome happen(const Place& place, ConcernEvent event, const Around& around) {
    auto step = step_concern(place.concern, std::move(event), facts_at(place, kNew, around));
    EXPECT_TRUE(step) << step.error().message;
    return play(place, *std::move(step));
}

ControlDecision decision_of(ControlAction action, std::optional<RiskMode> mode = std::nullopt) {
    ControlDecision decision;
    decision.decision_id = DecisionId::trusted("dec_2");
    decision.action = action;
    decision.risk_mode = mode;
    decision.override_guards = true;  // What degraded execution holds up is the judgement's affair.
    if (action == ControlAction::switch_strategy) {
        decision.target_strategy_id = kNew;
    }
    return decision;
}

std::vector<ControlDecision> every_decision() {
    std::vector<ControlDecision> all{
        decision_of(ControlAction::switch_strategy),
        decision_of(ControlAction::switch_strategy, RiskMode::defensive),
        decision_of(ControlAction::pause),
        decision_of(ControlAction::resume)};
    for (int mode = 0; mode <= static_cast<int>(RiskMode::halted); ++mode) {
        all.push_back(decision_of(ControlAction::set_risk_mode, static_cast<RiskMode>(mode)));
    }
    return all;
}

Place running(bool has_active, bool is_paused, ConcernStatus status) {
    const ControlDesk desk;
    Place place{.concern = desk.concern, .instances = {}, .timer = {}, .what = {}};
    place.concern.status = status;
    for (const StrategyId& id : {kOld, kNew, kStopped}) {
        StrategyInstance instance = desk.target;
        instance.strategy_id = id;
        instance.mode = id == kStopped ? InstanceMode::off : InstanceMode::observe;
        place.instances[id] = instance;
    }
    place.concern.active_strategy_id.reset();
    if (has_active) {
        make_active(place.concern, place.instances[kOld], kNow - Duration::of_minutes(60));
        place.instances[kOld].paused = is_paused;
        place.instances[kOld].is_latched = is_paused;
    }
    place.what = std::string(to_word(status)) + (!has_active ? ", none active"
                                                 : is_paused ? ", paused"
                                                             : ", running");
    return place;
}

std::vector<Place> every_running_place() {
    std::vector<Place> places;
    for (const auto status :
         {ConcernStatus::active, ConcernStatus::paused, ConcernStatus::informational}) {
        for (const auto quality : {ExecutionQuality::good, ExecutionQuality::stalled}) {
            for (const int active : {0, 1, 2}) {  // None, one that runs, one that is paused.
                Place place = running(active > 0, active == 2, status);
                place.concern.quality = quality;
                places.push_back(std::move(place));
            }
        }
    }
    return places;
}

// The switches that can begin in a place, as they are and with a stricter mode set since. Whatever
// a human made of the concern meanwhile, they began when it was active.
std::vector<Place> switching_in(Place place) {
    std::vector<Place> places;
    const ConcernStatus status = std::exchange(place.concern.status, ConcernStatus::active);
    for (const std::optional<RiskMode> mode : {std::optional<RiskMode>(), {RiskMode::normal}}) {
        ControlDecision begin = decision_of(ControlAction::switch_strategy, mode);
        begin.decision_id = DecisionId::trusted("dec_1");
        auto begun = decide(place, begin, {.others = {kOld, kStopped}});
        EXPECT_TRUE(begun && begun->step.concern.switching) << place.what;
        if (!begun) {
            continue;
        }
        Place& after = begun->after;
        after.concern.status = status;
        after.what += ", switching";
        places.push_back(after);
        after.concern.risk_mode = RiskMode::halted;
        after.concern.switching->risk_mode = RiskMode::halted;
        places.push_back(after);
    }
    return places;
}

std::vector<Place> every_place() {
    std::vector<Place> places = every_running_place();
    for (const Place& place : every_running_place()) {
        for (Place& begun : switching_in(place)) {
            places.push_back(std::move(begun));
        }
    }
    return places;
}

std::vector<Around> every_surrounding() {
    std::vector<Around> all;
    for (const bool is_stopped : {false, true}) {
        for (const int target : {0, 1, 2}) {  // Runs, cannot run, is gone.
            for (const std::set<StrategyId>& others :
                 {std::set<StrategyId>{}, {kStopped}, {kOld, kStopped}}) {
                for (const auto later : {Duration::of_seconds(1), Duration::of_seconds(10)}) {
                    all.push_back(
                        {.is_stopped = is_stopped,
                         .target_problem = target == 1 ? "It cannot run." : "",
                         .is_target_gone = target == 2,
                         .others = others,
                         .later = later});
                }
            }
        }
    }
    // What people may set matters to what passes.
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (!all[i].is_stopped && !all[i].is_target_gone && all[i].target_problem.empty()) {
            all.push_back(all[i]);
            all.back().on_pause = OnPause::cancel_all;
            all.back().after_switch = InstanceMode::off;
        }
    }
    return all;
}

// The promises that hold for whatever happens.
void expect_promises(const Place& before, const Outcome& out, const Around& around) {
    const auto& was = before.concern.switching;
    const auto& is = out.after.concern.switching;
    // At most one is active, it is the concern's, and it takes what is free.
    EXPECT_FALSE(out.took_a_held_activity);
    EXPECT_LE(out.taken.size(), 1u);
    for (const auto& [id, instance] : out.after.instances) {
        EXPECT_EQ(
            instance.mode == InstanceMode::active, out.after.concern.active_strategy_id == id);
    }
    // Nothing is handed over beside another's orders; a switch under way never under a stop.
    EXPECT_TRUE(out.taken.empty() || around.others.empty());
    EXPECT_TRUE(out.taken.empty() || !around.is_stopped);
    EXPECT_TRUE(out.taken.empty() || (!around.is_target_gone && around.target_problem.empty()));
    // A switch under way has a deadline that does not move, and none is left behind.
    EXPECT_EQ(out.after.timer, is ? std::optional(is->deadline) : std::nullopt);
    EXPECT_TRUE(!was || !is || (was->deadline == is->deadline && was->to == is->to));
    // What began ends exactly once, and says truly how.
    ASSERT_EQ(out.ended.size(), was && !is ? 1u : 0u);
    if (was && !is) {
        const EndSwitch& end = out.ended.front();
        EXPECT_EQ(end.under_way, *was);
        EXPECT_EQ(end.answer.decision_id, was->decision_id.text());
        const bool is_done = end.answer.status == ControlStatus::applied;
        EXPECT_TRUE(is_done || end.answer.status == ControlStatus::failed);
        EXPECT_EQ(is_done, end.answer.errors.empty());
        EXPECT_EQ(is_done, end.answer.applied_at.has_value());
        EXPECT_EQ(is_done, out.taken == std::vector<StrategyId>{was->to});
        EXPECT_EQ(end.answer.risk_mode, out.after.concern.risk_mode);
        if (is_done) {
            EXPECT_EQ(out.after.concern.risk_mode, was->risk_mode);
        } else {
            EXPECT_EQ(out.after.concern.active_strategy_id, before.concern.active_strategy_id);
            EXPECT_EQ(out.after.concern.risk_mode, before.concern.risk_mode);
            EXPECT_TRUE(out.released.empty());
        }
    }
    // No strategy but those that were named loses its orders; a planner from outside is none.
    for (const StrategyId& id : out.cancelled) {
        EXPECT_TRUE(around.others.contains(id) || id == before.concern.active_strategy_id);
    }
    // A human's word on the concern stays.
    EXPECT_EQ(out.after.concern.status, before.concern.status);
}

void expect_of_decision(const Place& before, const Outcome& out, const ControlDecision& decision) {
    const bool switches = decision.action == ControlAction::switch_strategy;
    EXPECT_EQ(out.step.answer.has_value(), !(switches && out.after.concern.switching));
    if (out.step.answer) {
        EXPECT_EQ(out.step.answer->status, ControlStatus::applied);
        EXPECT_EQ(out.step.answer->risk_mode, out.after.concern.risk_mode);
    }
    EXPECT_EQ(
        out.cancels_market,
        decision.action == ControlAction::set_risk_mode &&
            decision.risk_mode >= RiskMode::reduce_only);
    if (decision.action == ControlAction::pause) {
        EXPECT_TRUE(out.after.instances.at(kOld).paused);
        EXPECT_FALSE(out.after.concern.switching);
        EXPECT_EQ(out.after.concern.active_strategy_id, kOld);
    }
    if (decision.action == ControlAction::set_risk_mode) {
        EXPECT_EQ(out.after.concern.risk_mode, *decision.risk_mode);
        EXPECT_EQ(out.after.concern.switching.has_value(), before.concern.switching.has_value());
        EXPECT_TRUE(
            !out.after.concern.switching ||
            out.after.concern.switching->risk_mode >= *decision.risk_mode);
    }
    if (switches) {
        EXPECT_EQ(
            out.after.concern.active_strategy_id,
            out.after.concern.switching ? before.concern.active_strategy_id : kNew);
    }
}

bool is_pause_due(const Place& place) {
    return place.concern.status != ConcernStatus::informational &&
           place.concern.active_strategy_id && !place.instances.at(kOld).paused;
}

struct Event {
    std::string_view name;
    ConcernEvent event;
};
std::vector<Event> every_event() {
    return {
        {"orders changed", OrdersChanged{}},
        {"deadline passed", DeadlinePassed{}},
        {"server restarted", ServerRestarted{DecisionId::trusted("dec_1")}},
        {"server restarted in another", ServerRestarted{DecisionId::trusted("dec_0")}},
    };
}

// What a walk came by: a walk that misses a way would promise nothing of it.
struct Tally {
    int pairs = 0;
    std::map<std::string, int> ways = {};
};

void walk_decisions(const Place& place, const Around& around, Tally& tally) {
    static const std::vector<ControlDecision> kDecisions = every_decision();
    for (const ControlDecision& decision : kDecisions) {
        SCOPED_TRACE(place.what + ": " + std::string(to_word(decision.action)));
        ++tally.pairs;
        const auto out = decide(place, decision, around);
        if (decision.action == ControlAction::pause) {
            EXPECT_EQ(out.has_value(), is_pause_due(place)) << "a pause is held up by nothing else";
        }
        if (out) {
            expect_promises(place, *out, around);
            expect_of_decision(place, *out, decision);
            const std::string_view ends = out->ended.empty() ? "" : ", ends a switch";
            ++tally.ways[std::string(to_word(decision.action)) + std::string(ends)];
        }
    }
}

void walk_events(const Place& place, const Around& around, Tally& tally) {
    const auto& was = place.concern.switching;
    for (const Event& event : every_event()) {
        SCOPED_TRACE(place.what + ": " + std::string(event.name));
        ++tally.pairs;
        const Outcome out = happen(place, event.event, around);
        expect_promises(place, out, around);
        EXPECT_FALSE(out.step.answer);
        EXPECT_TRUE(was || (out.step.effects.empty() && out.step.audit.empty()));
        if (was && event.name == "deadline passed") {
            EXPECT_EQ(out.ended.empty(), was->deadline > kNow + around.later);
        }
        for (const EndSwitch& end : out.ended) {
            ++tally.ways[std::string(event.name) + ", " + std::string(to_word(end.answer.status))];
        }
    }
}

TEST(ConcernStep, KeepsItsPromisesInEveryStateOnEveryEvent) {
    Tally tally;
    const std::vector<Around> surroundings = every_surrounding();
    for (const Place& place : every_place()) {
        for (const Around& around : surroundings) {
            walk_decisions(place, around, tally);
            walk_events(place, around, tally);
            if (HasFailure()) {
                return;  // One is enough to read.
            }
        }
    }
    std::vector<std::string> ways;
    for (const auto& [way, times] : tally.ways) {
        ways.push_back(way);
    }
    const std::vector<std::string> all{
        "deadline passed, applied",
        "deadline passed, failed",
        "orders changed, applied",
        "orders changed, failed",
        "pause",
        "pause, ends a switch",
        "resume",
        "server restarted, failed",
        "set_risk_mode",
        "switch"};
    EXPECT_EQ(ways, all);
    EXPECT_EQ(tally.pairs, 90 * 42 * 13);  // Places, surroundings, decisions and events.
}

// An active `s1` whose switch to `s2` waits for orders of `s1`.
Place waiting(ControlDecision decision = decision_of(ControlAction::switch_strategy)) {
    decision.decision_id = DecisionId::trusted("dec_1");
    const Place place = running(true, false, ConcernStatus::active);
    return decide(place, decision, {.others = {kOld}})->after;
}

TEST(ConcernStep, ARowWhoseAnswerCannotBeReadEndsNoSwitch) {
    Place place = waiting();
    place.concern.switching->verdict = Json::object({{"attempt", 1}});
    const auto step = step_concern(place.concern, OrdersChanged{}, facts_at(place, kNew, Around{}));
    EXPECT_FALSE(step);
}

TEST(ConcernStep, TheAnswerOwedIsTheOneOfItsDecisionWithItsWarnings) {
    const Outcome out = happen(waiting(), OrdersChanged{}, {.later = Duration::of_seconds(2)});
    ASSERT_EQ(out.ended.size(), 1u);
    const ControlResult& answer = out.ended.front().answer;
    EXPECT_EQ(answer.from_strategy_id, kOld);
    EXPECT_EQ(answer.to_strategy_id, kNew);
    EXPECT_EQ(answer.warnings.front(), "override_used");
    EXPECT_TRUE(answer.validation.target_runnable);
    EXPECT_EQ(answer.applied_at, kNow + Duration::of_seconds(2));
}

TEST(ConcernStep, OrdersThatAppearDuringASwitchAreCancelledAndItWaitsOn) {
    const Outcome out = happen(waiting(), OrdersChanged{}, {.others = {kStopped}});
    EXPECT_TRUE(out.step.concern.switching);
    EXPECT_EQ(out.cancelled, std::set<StrategyId>{kStopped});
}

TEST(ConcernStep, ASwitchThatBeginsAsksAgainForCancelsThatMayBeLost) {
    const Place place = running(true, false, ConcernStatus::active);
    const auto out =
        decide(place, decision_of(ControlAction::switch_strategy), {.others = {kOld, kStopped}});
    ASSERT_TRUE(out);
    const auto* cancel = as<CancelOrdersOf>(out->step.effects.front());
    ASSERT_NE(cancel, nullptr);
    EXPECT_TRUE(cancel->again);
    EXPECT_FALSE(cancel->entries_only);
}

TEST(ConcernStep, TheDeadlineCountsTheMomentItIsReached) {
    const Place place = waiting();
    const Duration wait = ControlConfig{}.cancel_timeout;
    const Duration before{wait.microseconds - 1};
    EXPECT_TRUE(happen(place, DeadlinePassed{}, {.others = {kOld}, .later = before}).ended.empty());
    EXPECT_FALSE(happen(place, DeadlinePassed{}, {.others = {kOld}, .later = wait}).ended.empty());
}

TEST(ConcernStep, OnlyCancelsThatNobodyConfirmedDegradeTheConcern) {
    const Outcome late =
        happen(waiting(), DeadlinePassed{}, {.others = {kOld}, .later = Duration::of_seconds(10)});
    EXPECT_EQ(late.step.concern.quality, ExecutionQuality::degraded);
    ASSERT_EQ(late.step.audit.size(), 1u);
    EXPECT_EQ(late.step.audit.front().event, "EXECUTION_QUALITY");
    const Outcome stopped = happen(waiting(), OrdersChanged{}, {.is_stopped = true});
    EXPECT_EQ(stopped.step.concern.quality, ExecutionQuality::good);
    EXPECT_TRUE(stopped.step.audit.empty());
}

TEST(ConcernStep, AStricterModeSetMeanwhileOutlivesTheSwitch) {
    const Place place = waiting(decision_of(ControlAction::switch_strategy, RiskMode::normal));
    const auto tightened =
        decide(place, decision_of(ControlAction::set_risk_mode, RiskMode::defensive), {});
    ASSERT_TRUE(tightened);
    const Outcome out = happen(tightened->after, OrdersChanged{}, {});
    EXPECT_EQ(out.step.concern.risk_mode, RiskMode::defensive);
    EXPECT_EQ(out.ended.front().answer.risk_mode, RiskMode::defensive);
}

TEST(ConcernStep, AResumeLiftsTheErrorLatch) {
    const auto out =
        decide(running(true, true, ConcernStatus::active), decision_of(ControlAction::resume), {});
    ASSERT_TRUE(out);
    EXPECT_FALSE(out->after.instances.at(kOld).is_latched);
    EXPECT_FALSE(out->after.instances.at(kOld).paused);
}

TEST(ConcernStepDeath, ASecondSwitchIsTheJudgementsToRefuse) {
    const Place place = waiting();
    const ControlDecision second = decision_of(ControlAction::switch_strategy);
    EXPECT_DEATH(
        (void)step_concern(
            place.concern, DecisionPassed{second, {}}, facts_at(place, kNew, Around{})),
        "switching");
}

}  // namespace
}  // namespace interlock
