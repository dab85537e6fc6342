// What the selector promises whatever the facts are.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "market/rules/candle_book.h"
#include "trader/rules/supervisor/test_supervisor_facts.h"

namespace interlock {
namespace {

Decimal draw_decimal(std::int64_t from_thousandths, std::int64_t to_thousandths) {
    return Decimal::from_units(
        static_cast<__int128>(*rc::gen::inRange(from_thousandths, to_thousandths + 1)) *
        1'000'000'000'000'000);
}

template <class T>
std::optional<T> maybe(T value) {
    return *rc::gen::inRange(0, 30) == 0 ? std::nullopt : std::optional<T>(std::move(value));
}

bool draw_bool() {
    return *rc::gen::arbitrary<bool>();
}

// One chance in `n`.
bool draw_rarely(int n) {
    return *rc::gen::inRange(0, n) == 0;
}

MarketSignals draw_signals(Timestamp now) {
    MarketSignals signals;
    const int bias = *rc::gen::inRange(-1, 2);
    for (const Timeframe timeframe : kSupervisedTimeframes) {
        if (draw_rarely(50)) {
            continue;
        }
        TimeframeSignals at;
        at.timeframe = timeframe;
        at.candles = 100;
        at.closed_at = now - Duration::of_minutes(draw_rarely(40) ? 500 : 0);
        at.trend_strength = maybe(draw_decimal(-1500 + 2500 * bias, 1500 + 2500 * bias));
        at.efficiency = maybe(draw_decimal(0, 1000));
        at.pullback_pct = maybe(draw_decimal(0, 30));
        at.regime = static_cast<VolatilityRegime>(*rc::gen::inRange(0, 3));
        signals.list.push_back(at);
    }
    return signals;
}

CandidateFacts draw_candidate(int n) {
    static constexpr std::array<std::string_view, 5> kTypes{
        "grid_trader", "trend_follower", "exposure_protector", "idle", "unheard_of"};
    CandidateFacts candidate = candidate_of(
        "s" + std::to_string(n),
        std::string(kTypes[static_cast<std::size_t>(*rc::gen::inRange(0, 5))]));
    if (draw_rarely(6)) {
        candidate.concern_id = ConcernId::trusted("other:abcusdt");
    }
    candidate.paused = draw_rarely(4);
    candidate.paused_by_supervisor = candidate.paused && draw_bool();
    candidate.is_latched = draw_rarely(5);
    candidate.problem = draw_rarely(6) ? "It cannot." : "";
    candidate.trade_side = draw_bool() ? "long" : "short";
    candidate.inventory_pressure = maybe(draw_decimal(-1000, 1000));
    candidate.capacity_available = maybe(draw_bool());
    candidate.buy_capacity = maybe(draw_decimal(0, 100'000));
    candidate.sell_capacity = maybe(draw_decimal(0, 100'000));
    candidate.grid_step_pct = maybe(draw_decimal(0, 30));
    return candidate;
}

SupervisorFacts draw_facts() {
    SupervisorFacts facts = SupervisorWorld().facts;
    facts.candidates.clear();
    const int count = *rc::gen::inRange(1, 7);
    for (int n = 0; n < count; ++n) {
        facts.candidates.push_back(draw_candidate(n));
    }
    CandidateFacts& active =
        facts.candidates[static_cast<std::size_t>(*rc::gen::inRange(0, count))];
    active.concern_id = facts.concern_id;
    facts.active_strategy_id = maybe(active.strategy_id);
    facts.active_since = maybe(facts.now - Duration::of_minutes(*rc::gen::inRange(0, 60)));
    facts.status = draw_rarely(8) ? ConcernStatus::paused : ConcernStatus::active;
    facts.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5));
    facts.quality = draw_rarely(4) ? ExecutionQuality::degraded : ExecutionQuality::good;
    facts.is_switching = draw_rarely(10);
    facts.kill_switch_active = draw_rarely(10);
    facts.signals = draw_signals(facts.now);
    facts.memory.regime = static_cast<MarketRegime>(*rc::gen::inRange(0, 5));
    if (draw_bool()) {
        facts.memory.risk_mode_set = facts.risk_mode;
        facts.memory.risk_mode_before = RiskMode::normal;
        facts.memory.tightened_at = facts.now - Duration::of_minutes(*rc::gen::inRange(0, 60));
    }
    return facts;
}

// A clear market and every kind of strategy, some of them unfit to be chosen.
SupervisorFacts draw_spoiled_world() {
    static constexpr std::array<std::string_view, 5> kIds{
        "grid", "idle", "protector", "short", "trend"};
    SupervisorWorld world;
    world.market(*rc::gen::element(kRangeShape, kRiseShape, kFallShape));
    world.activate(*rc::gen::elementOf(kIds));
    for (CandidateFacts& candidate : world.facts.candidates) {
        switch (*rc::gen::inRange(0, 12)) {
            case 0:
                candidate.concern_id = ConcernId::trusted("other:abcusdt");
                break;
            case 1:
                candidate.is_latched = true;
                break;
            case 2:
                candidate.problem = "It cannot.";
                break;
            case 3:
                candidate.paused = true;
                candidate.paused_by_supervisor = draw_bool();
                break;
            default:
                break;
        }
    }
    world.facts.memory.tightened_at = world.facts.now - Duration::of_hours(1);
    return world.facts;
}

const CandidateFacts* find(const SupervisorFacts& facts, const StrategyId& id) {
    for (const CandidateFacts& candidate : facts.candidates) {
        if (candidate.strategy_id == id) {
            return &candidate;
        }
    }
    return nullptr;
}

bool is_tightening(const SupervisorFacts& facts, const SupervisorDecision& decision) {
    return decision.action == SupervisorAction::pause ||
           (decision.action == SupervisorAction::set_risk_mode &&
            *decision.risk_mode > facts.risk_mode);
}

TEST(SelectorProperty, TheSameFactsGiveTheSameBytesAlsoOverTheBundle) {
    EXPECT_TRUE(rc::check([] {
        const SupervisorFacts facts = draw_facts();
        const std::string first = to_text(encode(supervise(facts)));
        RC_ASSERT(to_text(encode(supervise(facts))) == first);
        const auto text = to_text(encode(facts));
        const auto read = decode_supervisor_facts(parse_json(text).value(), facts.now);
        RC_ASSERT(read.has_value());
        RC_ASSERT(to_text(encode(supervise(*read))) == first);
    }));
}

TEST(SelectorProperty, ChoosesOnlyAmongRunnableStrategiesOfTheConcern) {
    int switches = 0;
    EXPECT_TRUE(rc::check([&switches] {
        const SupervisorFacts facts = draw_spoiled_world();
        const SupervisorDecision decision = supervise(facts);
        if (decision.action == SupervisorAction::switch_strategy) {
            ++switches;
            const CandidateFacts* target = find(facts, *decision.target);
            RC_ASSERT(target != nullptr);
            RC_ASSERT(target->concern_id == facts.concern_id);
            RC_ASSERT(!target->is_latched);
            RC_ASSERT(target->problem.empty());
            RC_ASSERT(facts.active_strategy_id != *decision.target);
        }
        if (decision.action == SupervisorAction::resume) {
            RC_ASSERT(!facts.active()->is_latched);
            RC_ASSERT(facts.active()->paused_by_supervisor);
        }
    }));
    EXPECT_GT(switches, 10);
}

TEST(SelectorProperty, OnlyTightensWhileExecutionIsNotGood) {
    EXPECT_TRUE(rc::check([] {
        SupervisorFacts facts = draw_facts();
        facts.quality = draw_bool() ? ExecutionQuality::degraded : ExecutionQuality::stalled;
        const SupervisorDecision decision = supervise(facts);
        RC_ASSERT((decision.action == SupervisorAction::keep || is_tightening(facts, decision)));
    }));
}

TEST(SelectorProperty, NeverLoosensWhileTheMarketIsVolatile) {
    EXPECT_TRUE(rc::check([] {
        SupervisorFacts facts = draw_facts();
        for (TimeframeSignals& signals : facts.signals.list) {
            signals.regime = VolatilityRegime::high;
            signals.closed_at = facts.now;
        }
        const SupervisorDecision decision = supervise(facts);
        RC_PRE(decision.narrative.regime == MarketRegime::wild);
        RC_ASSERT((decision.action == SupervisorAction::keep || is_tightening(facts, decision)));
    }));
}

TEST(SelectorProperty, ActsOnlyWithEnoughConfidenceAndWithinTheContract) {
    EXPECT_TRUE(rc::check([] {
        const SupervisorFacts facts = draw_facts();
        const SupervisorDecision decision = supervise(facts);
        RC_ASSERT(!decision.confidence.is_negative());
        RC_ASSERT(decision.confidence <= Decimal(1));
        for (const FitScore& score : decision.fits) {
            RC_ASSERT(!score.fit.is_negative());
            RC_ASSERT(score.fit <= Decimal(1));
        }
        RC_ASSERT(!decision.rule.empty());
        RC_ASSERT(!decision.reason.empty());
        if (decision.action != SupervisorAction::keep) {
            RC_ASSERT(decision.confidence >= facts.policy.min_confidence);
            const Json payload = control_payload(facts, decision, DecisionId::trusted("hermes.1"));
            RC_ASSERT(decode_control_decision(payload).has_value());
        }
    }));
}

// A market that wanders, with drifts that come and go, and a concern that does what is decided.
class WanderingConcern {
public:
    WanderingConcern() { world_.facts.active_since = world_.facts.now; }

    // One minute, then one round. True when it switched.
    bool minute(Decimal move_pct) {
        SupervisorFacts& facts = world_.facts;
        for (int i = 0; i < 4; ++i) {
            price_ = std::max(
                Decimal(1), add(price_, multiply_half_even(price_, move_pct).value()).value());
            book_.note_price(facts.now, price_);
            facts.now = facts.now + Duration::of_seconds(15);
        }
        facts.signals = book_.signals(kSupervisedTimeframes);
        const SupervisorDecision decision = supervise(facts);
        facts.memory = remember(facts, decision, decision.action != SupervisorAction::keep);
        regimes_seen.insert(decision.narrative.regime);
        switch (decision.action) {
            case SupervisorAction::switch_strategy:
                world_.activate(decision.target->text(), Duration{});
                return true;
            case SupervisorAction::set_risk_mode:
                facts.risk_mode = *decision.risk_mode;
                break;
            case SupervisorAction::pause:
            case SupervisorAction::resume:
                world_.at(facts.active_strategy_id->text()).paused =
                    decision.action == SupervisorAction::pause;
                world_.at(facts.active_strategy_id->text()).paused_by_supervisor = true;
                break;
            case SupervisorAction::keep:
                break;
        }
        return false;
    }
    Timestamp now() const { return world_.facts.now; }
    std::set<MarketRegime> regimes_seen;

private:
    SupervisorWorld world_;
    CandleBook book_;
    Decimal price_{100};
};

TEST(SelectorProperty, SwitchesAtMostOncePerHoldOnAnyWalk) {
    std::int64_t switches = 0;
    std::set<MarketRegime> regimes;
    EXPECT_TRUE(rc::check([&] {
        WanderingConcern concern;
        std::optional<Timestamp> last;
        const int stretches = *rc::gen::inRange(4, 10);
        for (int stretch = 0; stretch < stretches; ++stretch) {
            const std::int64_t drift = *rc::gen::inRange(-60, 61);  // Of 1e-6 a quarter minute.
            const std::int64_t noise = *rc::gen::inRange(1, 1500);
            // A small generator of its own: drawing every minute would be slow to shrink.
            std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>();
            for (int minute = 0; minute < 180; ++minute) {
                state = state * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
                const std::int64_t shake =
                    static_cast<std::int64_t>(state >> 33U) % (2 * noise + 1) - noise;
                const Decimal move =
                    Decimal::from_units(static_cast<__int128>(drift + shake) * 1'000'000'000'000);
                if (!concern.minute(move)) {
                    continue;
                }
                ++switches;
                RC_ASSERT((!last || concern.now() - *last >= Duration::of_minutes(15)));
                last = concern.now();
            }
        }
        regimes.insert(concern.regimes_seen.begin(), concern.regimes_seen.end());
    }));
    EXPECT_GT(switches, 20);  // The walks are not so dull that nothing was tested.
    EXPECT_EQ(regimes.size(), 5U);
}

}  // namespace
}  // namespace interlock
