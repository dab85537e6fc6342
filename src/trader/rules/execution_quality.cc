// Thresholds of control-decision.md#degraded-execution, each compared in whole numbers and exactly
// as it is written there: "more than" is never "at least".
#include "trader/rules/execution_quality.h"

#include <algorithm>

#include "account/rules/exact.h"

namespace interlock {
namespace {

constexpr std::int64_t kRejectsMin = 3;
constexpr std::int64_t kRejectPercentMax = 20;
constexpr std::int64_t kTimeoutOrdersMin = 5;
constexpr std::int64_t kTimeoutPercentMax = 10;
constexpr std::int64_t kLatencyPercentile = 95;
constexpr Duration kAckLatencyMax = Duration::of_milliseconds(2000);
constexpr std::int64_t kSlippageFillsMin = 5;
constexpr std::int64_t kSlippageBpsMax = 25;
constexpr std::int64_t kMarketAgeSecMax = 30;
constexpr std::int64_t kClockSkewMsMax = 1000;
constexpr Duration kVenueSilenceMax = Duration::of_seconds(60);

// What the samples inside the window come to.
struct Tally {
    std::int64_t orders = 0;
    std::int64_t rejects = 0;
    std::int64_t post_only_rejects = 0;
    std::int64_t timeouts = 0;
    std::vector<Duration> ack_latencies;
    std::int64_t fills = 0;
    Exact adverse_bps;
};

Tally tally_of(const ExecutionWindow& window, Timestamp now) {
    Tally tally;
    for (const OrderSample& sample : window.samples()) {
        if (sample.at < now - kQualityWindow) {
            continue;
        }
        ++tally.orders;
        switch (sample.fate) {
            case OrderFate::acked:
                tally.ack_latencies.push_back(sample.latency);
                break;
            case OrderFate::rejected:
                ++tally.rejects;
                break;
            case OrderFate::post_only_rejected:
                ++tally.post_only_rejects;
                break;
            case OrderFate::timed_out:
                ++tally.timeouts;
                break;
        }
        if (sample.slippage_bps) {
            ++tally.fills;
            // A fill that went well does not make up for one that did not.
            tally.adverse_bps += std::max(*sample.slippage_bps, Decimal(0));
        }
    }
    return tally;
}

// Post-only rejects are the maker's everyday life: neither a reject nor an order here.
bool has_reject_rate(const Tally& tally) {
    const std::int64_t orders = tally.orders - tally.post_only_rejects;
    return tally.rejects >= kRejectsMin && tally.rejects * 100 > orders * kRejectPercentMax;
}

bool has_timeout_rate(const Tally& tally) {
    return tally.orders >= kTimeoutOrdersMin &&
           tally.timeouts * 100 > tally.orders * kTimeoutPercentMax;
}

// The smallest latency that at least 95 of 100 do not exceed (nearest rank).
bool has_slow_acks(Tally& tally) {
    if (tally.ack_latencies.empty()) {
        return false;
    }
    std::sort(tally.ack_latencies.begin(), tally.ack_latencies.end());
    const auto count = static_cast<std::int64_t>(tally.ack_latencies.size());
    const std::int64_t rank = (count * kLatencyPercentile + 99) / 100;
    return tally.ack_latencies[static_cast<std::size_t>(rank - 1)] > kAckLatencyMax;
}

// The mean is above the threshold when the sum is above the threshold times the count. A sum that
// no decimal can hold is above it too.
bool has_slippage(const Tally& tally) {
    if (tally.fills < kSlippageFillsMin) {
        return false;
    }
    const auto sum = tally.adverse_bps.result();
    return !sum || *sum > Decimal(kSlippageBpsMax * tally.fills);
}

bool is_market_old(const QualityFacts& facts) {
    return !facts.market_age_sec || *facts.market_age_sec > Decimal(kMarketAgeSecMax);
}

bool is_clock_off(const QualityFacts& facts) {
    return facts.clock_skew_ms > kClockSkewMsMax || facts.clock_skew_ms < -kClockSkewMsMax;
}

bool is_venue_silent(const QualityFacts& facts) {
    return facts.last_venue_success && facts.now - *facts.last_venue_success >= kVenueSilenceMax;
}

}  // namespace

void ExecutionWindow::note(const OrderSample& sample) {
    const auto later = [](Timestamp at, const OrderSample& held) { return at < held.at; };
    samples_.insert(std::upper_bound(samples_.begin(), samples_.end(), sample.at, later), sample);
    if (samples_.size() > kQualityOrdersMax) {
        samples_.pop_front();
    }
}

void ExecutionWindow::drop_old(Timestamp now) {
    while (!samples_.empty() && samples_.front().at < now - kQualityWindow) {
        samples_.pop_front();
    }
}

QualityVerdict judge_quality(const ExecutionWindow& window, const QualityFacts& facts) {
    Tally tally = tally_of(window, facts.now);
    struct QualityFinding {
        bool is_so;
        ExecutionQuality quality;
        std::string_view reason;
    };
    const QualityFinding findings[] = {
        // Ascending by reason.
        {facts.breaker_open, ExecutionQuality::stalled, "breaker_open"},
        {facts.cancel_unconfirmed, ExecutionQuality::degraded, "cancel_unconfirmed"},
        {is_clock_off(facts), ExecutionQuality::degraded, "clock_skew"},
        {is_market_old(facts), ExecutionQuality::degraded, "market_data_old"},
        {has_reject_rate(tally), ExecutionQuality::degraded, "reject_rate"},
        {has_slippage(tally), ExecutionQuality::degraded, "slippage"},
        {has_slow_acks(tally), ExecutionQuality::degraded, "slow_acks"},
        {has_timeout_rate(tally), ExecutionQuality::degraded, "timeout_rate"},
        {facts.unknown_orders >= 1, ExecutionQuality::degraded, "unknown_order"},
        {is_venue_silent(facts), ExecutionQuality::stalled, "venue_silent"},
    };
    QualityVerdict verdict;
    for (const QualityFinding& finding : findings) {
        if (finding.is_so) {
            verdict.quality = std::max(verdict.quality, finding.quality);
            verdict.reasons.emplace_back(finding.reason);
        }
    }
    return verdict;
}

QualityState step_quality(QualityState state, const QualityVerdict& verdict) {
    if (verdict.quality >= state.quality) {
        // Worse, or as bad as before; good that stays good counts nothing.
        return {verdict.quality, verdict.reasons, 0};
    }
    if (verdict.quality != ExecutionQuality::good) {
        // Stalled that is only degraded now: not clean. What holds it up joins the reasons.
        std::vector<std::string> all;
        std::set_union(
            state.reasons.begin(),
            state.reasons.end(),
            verdict.reasons.begin(),
            verdict.reasons.end(),
            std::back_inserter(all));
        return {state.quality, std::move(all), 0};
    }
    ++state.clean_evaluations;
    if (state.clean_evaluations >= kCleanEvaluationsNeeded) {
        return {};
    }
    return state;
}

RiskMode risk_mode_of(ExecutionQuality quality) {
    switch (quality) {
        case ExecutionQuality::good:
            return RiskMode::normal;
        case ExecutionQuality::degraded:
            return RiskMode::reduced;
        case ExecutionQuality::stalled:
            return RiskMode::halted;  // No new orders at all.
    }
    return RiskMode::halted;
}

RiskMode risk_mode_of(const Concern& concern) {
    return concern.status == ConcernStatus::informational
               ? RiskMode::halted
               : std::max(concern.risk_mode, risk_mode_of(concern.quality));
}

std::optional<std::string> why_smaller(const Concern& concern) {
    if (concern.quality != ExecutionQuality::degraded) {
        return std::nullopt;
    }
    std::string reasons;
    for (const std::string& reason : concern.quality_reasons) {
        reasons += (reasons.empty() ? " (" : ", ") + reason;
    }
    return "Execution on " + std::string(concern.symbol.text()) + " is degraded" + reasons +
           (reasons.empty() ? "" : ")") + ": orders there are smaller until it is good again.";
}

}  // namespace interlock
