// Degraded execution of one concern (docs/contracts/control-decision.md#degraded-execution): a
// sliding window of what the venue made of our orders, judged good, degraded or stalled with the
// reasons in stable words.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

inline constexpr Duration kQualityWindow = Duration::of_minutes(5);
inline constexpr std::size_t kQualityOrdersMax = 50;
inline constexpr Duration kQualityEvery = Duration::of_seconds(20);
inline constexpr std::int64_t kCleanEvaluationsNeeded = 3;

enum class OrderFate { acked, rejected, post_only_rejected, timed_out };
struct OrderSample {
    Timestamp at;
    OrderFate fate = OrderFate::acked;
    Duration latency;
    // Positive: worse than planned. Only for orders that filled.
    std::optional<Decimal> slippage_bps;
};

// The last 5 minutes, and of them the last 50 orders.
class ExecutionWindow {
public:
    void note(const OrderSample& sample);
    void drop_old(Timestamp now);
    const std::deque<OrderSample>& samples() const { return samples_; }

private:
    std::deque<OrderSample> samples_;
};

struct QualityFacts {
    Timestamp now;
    std::int64_t unknown_orders = 0;
    std::optional<Decimal> market_age_sec;  // Nothing: no market data at all.
    std::int64_t clock_skew_ms = 0;
    bool cancel_unconfirmed = false;
    std::optional<Timestamp> last_venue_success;  // Nothing: never called yet, not stalled.
    bool breaker_open = false;
};

struct QualityVerdict {
    ExecutionQuality quality = ExecutionQuality::good;
    std::vector<std::string> reasons;  // "unknown_order", "reject_rate", … ascending.
};
QualityVerdict judge_quality(const ExecutionWindow& window, const QualityFacts& facts);

// The quality a concern has after a verdict: worse at once, better only after three clean
// evaluations in a row.
struct QualityState {
    ExecutionQuality quality = ExecutionQuality::good;
    std::vector<std::string> reasons;
    std::int64_t clean_evaluations = 0;
    friend bool operator==(const QualityState&, const QualityState&) = default;
};
QualityState step_quality(QualityState state, const QualityVerdict& verdict);

// What a quality does to the risk ladder (agent-loop.md#risk-modes).
RiskMode risk_mode_of(ExecutionQuality quality);
// What a concern does to it: its own mode and its quality; one that only informs does not trade.
RiskMode risk_mode_of(const Concern& concern);
// The sentence for people while execution is degraded, which blocks nothing; nothing otherwise.
std::optional<std::string> why_smaller(const Concern& concern);

}  // namespace interlock
