// The tiers of agent-loop.md#risk-tiers. Each rule is one line in the table of its tier; whatever
// cannot be computed counts as a breach (I5), and touching a stop is one.
#include "account/rules/risk_scaling.h"

#include <algorithm>
#include <array>

#include "account/rules/cost_model.h"
#include "account/rules/exact.h"
#include "account/rules/stored_time.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kTiers{"normal", "reduced", "defensive", "stop"};
constexpr std::size_t kStopsMax = 8;  // More kinds of stop than there are.
// A metric above this share of its limit reduces risk.
constexpr Decimal kNearLimit = Decimal::from_units(800'000'000'000'000'000);
// Fees of a young account up to this share of its deposits do not make it defensive.
constexpr Decimal kGraceShare = Decimal::from_units(2'000'000'000'000'000);
constexpr Duration kGraceTime = Duration::of_days(30);

bool is_same_day(const std::optional<Timestamp>& day, Timestamp now) {
    return day && *day == utc_day_start(now);
}

bool breaches_daily_loss(const TierInput& in) {
    auto sum = add(in.realized_today, in.limits.daily_loss_limit);
    return !sum || !sum->is_positive();
}

// (P − E)/P ≥ max_drawdown, without the division.
bool breaches_drawdown(const TierInput& in) {
    if (!in.equity || !in.peak.is_positive()) {
        return false;  // Reported as equity_unknown, which must not latch.
    }
    const Exact lost = Exact(in.peak) - *in.equity;
    auto room = (Exact(in.peak).times_down(in.limits.max_drawdown) - lost).result();
    return !room || !room->is_positive();
}

TierReason daily_loss_reason(const TierInput& in) {
    return {
        "daily_loss_limit",
        "realised today " + to_text(in.realized_today) + ", limit -" +
            to_text(in.limits.daily_loss_limit)};
}

TierReason drawdown_reason(const TierInput& in) {
    return {
        "drawdown",
        "equity " + (in.equity ? to_text(*in.equity) : std::string("unknown")) + ", peak " +
            to_text(in.peak) + ", limit " + to_text(in.limits.max_drawdown) + " of the peak"};
}

TierReason runway_reason(std::string_view code, Decimal runway, Decimal limit) {
    return {code, "runway " + to_text(runway) + " days, minimum " + to_text(limit)};
}

std::vector<TierReason> stop_rules(const TierState& state, const TierInput& in) {
    std::vector<TierReason> reasons;
    if (!in.equity || !in.peak.is_positive()) {
        reasons.push_back({"equity_unknown", "a held asset has no price, or the peak is not set"});
    } else if (!principal_protected(*in.equity, in.limits.principal_baseline)) {
        reasons.push_back(
            {"principal_not_protected",
             "equity " + to_text(*in.equity) + ", baseline " +
                 to_text(in.limits.principal_baseline)});
    }
    for (TierReason& stop : stop_conditions(state, in)) {
        // The kill switch is a rung of its own (agent-loop.md#risk-modes), above every tier.
        if (stop.code != "kill_switch_active") {
            reasons.push_back(std::move(stop));
        }
    }
    return reasons;
}

// Fees alone, of an account in its first 30 days that costs nothing else, are forgiven.
bool is_in_grace(const TierInput& in) {
    if (!in.costs_are_zero || in.now - in.opened_at >= kGraceTime) {
        return false;
    }
    auto without_fees = add(in.rolling_surplus_30d, in.fees_30d);
    auto allowed = multiply_round_down(in.net_deposits, kGraceShare);
    return without_fees && !without_fees->is_negative() && allowed && in.fees_30d < *allowed;
}

std::vector<TierReason> defensive_rules(const TierInput& in, bool in_grace) {
    std::vector<TierReason> reasons;
    if (in.rolling_surplus_30d.is_negative() && !in_grace) {
        reasons.push_back(
            {"surplus_negative", "30-day surplus " + to_text(in.rolling_surplus_30d)});
    }
    if (in.runway_days < in.limits.soft_min_runway_days) {
        reasons.push_back(
            runway_reason("runway_below_soft_min", in.runway_days, in.limits.soft_min_runway_days));
    }
    return reasons;
}

bool is_near(Exact used, Exact limit) {
    auto room = (limit.times_down(kNearLimit) - used).result();
    return !room || room->is_negative();
}

std::vector<TierReason> reduced_rules(const TierInput& in) {
    std::vector<TierReason> reasons;
    if (in.rolling_surplus_30d < in.limits.target_surplus) {
        reasons.push_back(
            {"surplus_below_target",
             "30-day surplus " + to_text(in.rolling_surplus_30d) + ", target " +
                 to_text(in.limits.target_surplus)});
    }
    const auto near = [&](bool fires, std::string_view code, Decimal limit) {
        if (fires) {
            reasons.push_back({code, "above 80 % of its limit " + to_text(limit)});
        }
    };
    const RiskLimits& limits = in.limits;
    near(
        is_near(Exact() - in.realized_today, limits.daily_loss_limit),
        "near_daily_loss_limit",
        limits.daily_loss_limit);
    near(
        in.equity &&
            is_near(Exact(in.peak) - *in.equity, Exact(in.peak).times_down(limits.max_drawdown)),
        "near_max_drawdown",
        limits.max_drawdown);
    near(
        is_near(in.symbol_exposure_max, limits.max_symbol_exposure),
        "near_symbol_exposure",
        limits.max_symbol_exposure);
    near(
        is_near(in.portfolio_exposure, limits.max_portfolio_exposure),
        "near_portfolio_exposure",
        limits.max_portfolio_exposure);
    near(
        in.equity &&
            is_near(in.portfolio_exposure, Exact(*in.equity).times_down(limits.max_leverage)),
        "near_max_leverage",
        limits.max_leverage);
    return reasons;
}

TierState with_latches(TierState state, const TierInput& in) {
    const Timestamp today = utc_day_start(in.now);
    if (state.daily_stop_day && *state.daily_stop_day < today) {
        state.daily_stop_day.reset();
    }
    if (breaches_daily_loss(in)) {
        state.daily_stop_day = today;
    }
    if (breaches_drawdown(in) && !state.drawdown_latched_at) {
        state.drawdown_latched_at = in.now;
    }
    return state;
}

void move_towards(TierState& state, Tier raw) {
    if (raw >= state.tier) {
        state.tier = raw;
        state.candidate = raw;
        state.better_ticks = 0;
        return;
    }
    state.candidate = state.better_ticks == 0 ? raw : std::max(state.candidate, raw);
    if (++state.better_ticks >= kTicksToLoosen) {
        state.tier = state.candidate;
        state.better_ticks = 0;
    }
}

}  // namespace

std::string_view to_word(Tier tier) {
    return kTiers[static_cast<std::size_t>(tier)];
}

RiskMode mode_of(Tier tier) {
    constexpr std::array<RiskMode, 4> kModes{
        RiskMode::normal, RiskMode::reduced, RiskMode::defensive, RiskMode::reduce_only};
    return kModes[static_cast<std::size_t>(tier)];
}

std::vector<TierReason> stop_conditions(const TierState& state, const TierInput& in) {
    std::vector<TierReason> reasons;
    if (in.kill_switch_active) {
        reasons.push_back({"kill_switch_active", "the kill switch is on"});
    }
    if (is_same_day(state.daily_stop_day, in.now) || breaches_daily_loss(in)) {
        reasons.push_back(daily_loss_reason(in));
    }
    if (state.drawdown_latched_at || breaches_drawdown(in)) {
        reasons.push_back(drawdown_reason(in));
    }
    if (in.runway_days < in.limits.hard_min_runway_days) {
        reasons.push_back(
            runway_reason("runway_below_hard_min", in.runway_days, in.limits.hard_min_runway_days));
    }
    if (in.drift_unresolved) {
        reasons.push_back(
            {"drift_unresolved", "safe recovery ended without agreeing with the venue"});
    }
    return reasons;
}

TierStep step_tier(const TierState& before, const TierInput& input) {
    TierStep step;
    step.state = with_latches(before, input);
    const bool in_grace = is_in_grace(input);
    step.in_grace = in_grace && input.rolling_surplus_30d.is_negative();
    if (step.reasons = stop_rules(step.state, input); !step.reasons.empty()) {
        step.raw = Tier::stop;
    } else if (step.reasons = defensive_rules(input, in_grace); !step.reasons.empty()) {
        step.raw = Tier::defensive;
    } else if (step.reasons = reduced_rules(input); !step.reasons.empty()) {
        step.raw = Tier::reduced;
    }
    move_towards(step.state, step.raw);

    std::vector<std::string> stops;
    std::vector<TierReason> holding = stop_conditions(step.state, input);
    if (step.raw == Tier::stop) {
        for (const TierReason& reason : step.reasons) {
            if (reason.code == "equity_unknown" || reason.code == "principal_not_protected") {
                holding.push_back(reason);
            }
        }
    }
    for (TierReason& stop : holding) {
        stops.emplace_back(stop.code);
        const auto& old = before.stops;
        if (std::find(old.begin(), old.end(), stop.code) == old.end()) {
            step.new_stops.push_back(std::move(stop));
        }
    }
    step.state.stops = std::move(stops);
    step.changed = step.state.tier != before.tier;
    return step;
}

TierState reset_drawdown(TierState state) {
    state.drawdown_latched_at.reset();
    return state;
}

Json encode(const TierState& state) {
    return Json::object({
        {"tier", to_word(state.tier)},
        {"candidate", to_word(state.candidate)},
        {"better_ticks", state.better_ticks},
        {"daily_stop_day", stored_time(state.daily_stop_day)},
        {"drawdown_latched_at", stored_time(state.drawdown_latched_at)},
        {"stops", json_list(state.stops)},
    });
}

Result<TierState> decode_tier_state(const Json& json) {
    FieldReader in(json);
    TierState state{
        .tier = static_cast<Tier>(in.required_word_index("tier", kTiers)),
        .candidate = static_cast<Tier>(in.required_word_index("candidate", kTiers)),
        .better_ticks = in.required_integer("better_ticks", 0, kTicksToLoosen),
        .daily_stop_day = read_optional_time(in, "daily_stop_day"),
        .drawdown_latched_at = read_optional_time(in, "drawdown_latched_at"),
        .stops = {},
    };
    for (const Json& stop : in.required_array("stops", kStopsMax)) {
        state.stops.push_back(stop.is_string() ? stop.as_string() : std::string());
    }
    in.reject_unknown();
    return in.finish(std::move(state));
}

}  // namespace interlock
