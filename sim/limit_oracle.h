// The limits of an account, reckoned a second time: what a plan would bring, and what is allowed.
//
// It shares the facts with the gates and nothing else; the formulas are those of
// docs/contracts/agent-loop.md#gates, written down once more. Whatever a gate says about one of
// these limits must agree with it in both directions, and it counts how often a plan came to within
// one step of each: a limit that is never met at its edge is not tested by a clean run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/state_facts.h"
#include "market/wire/market_facts.h"
#include "sim/violation.h"

namespace interlock::sim {

enum class Edge {
    notional_per_trade,
    order_qty,
    daily_loss,
    drawdown,
    runway,
    surplus,
    symbol_exposure,
    portfolio_exposure,
    leverage,
    funds,
    open_orders,
    order_rate,
    price_collar,
    touch_collar,
    // Not of a plan: seen by other checkers.
    effect_age,
    approval_expiry,
    own_vote,
    fresh_login,
};
inline constexpr std::size_t kPlanEdges = 14;
inline constexpr std::size_t kEdges = 18;
std::string_view to_word(Edge edge);

// How often each limit was met within one step, from inside and from outside.
struct EdgeCounts {
    std::array<std::uint64_t, kEdges> inside{};
    std::array<std::uint64_t, kEdges> outside{};

    void add(Edge edge, bool is_inside) {
        ++(is_inside ? inside : outside)[static_cast<std::size_t>(edge)];
    }
    void add(const EdgeCounts& other);
    std::uint64_t met(Edge edge) const {
        return inside[static_cast<std::size_t>(edge)] + outside[static_cast<std::size_t>(edge)];
    }
};

// The facts a decision was judged on, as recorded.
struct SeenFacts {
    StateFacts state;
    MarketSet market;
};

struct PlanSight {
    const StateFacts& state;
    const MarketSet& market;
    const Plan& plan;
};

// Which limits a plan of buys keeps; nothing for a plan it does not judge: one that sells, says
// nothing or meets a market without prices.
using Kept = std::array<bool, kPlanEdges>;
std::optional<Kept> limits_kept(const PlanSight& sight);

// Whose books do not carry the orders that must fill whole, and whose would let a post-only order
// take; nothing for a plan that meets a market without prices.
struct BooksRead {
    std::set<Symbol> too_thin;
    std::set<Symbol> would_take;
};
std::optional<BooksRead> read_books(const PlanSight& sight);

class LimitOracle {
public:
    explicit LimitOracle(ViolationLog& log) : log_(log) {}

    // What the gates said of a plan, as it was recorded.
    void judge(const PlanSight& sight, const Json& validation, const std::string& name);
    // The same of the dry run, about the depth of the books.
    void judge_books(const PlanSight& sight, const Json& dry_run, const std::string& name);
    EdgeCounts& edges() { return edges_; }
    const EdgeCounts& edges() const { return edges_; }

private:
    void count_edges(const PlanSight& sight, const Kept& kept);

    ViolationLog& log_;
    EdgeCounts edges_;
};

// The plan with its last buy larger by so many steps (or smaller), or its price moved by ticks;
// nothing when that leaves no order.
std::optional<Plan> moved(const PlanSight& sight, std::int64_t steps, std::int64_t ticks);

}  // namespace interlock::sim
