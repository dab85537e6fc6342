// Finds the values of a hint by asking the judge again (loop/rules/dry_run/hints.h).
//
// Invariants: every change it gives takes its reason away when it is applied to the whole plan; it
// asks at most kHintLooksMax intents' worth.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/rules/dry_run/hints.h"

namespace interlock {

// A reason taken apart; the views are into the text it was read from.
struct HintReason {
    std::string_view text;
    std::string_view code;    // Without "=extra".
    std::string_view extra;   // Behind it.
    std::string_view symbol;  // Empty: the whole plan.
};
HintReason parse_reason(std::string_view reason);

class HintSearch {
public:
    // The reasons that a plan is refused for.
    using Judge = std::function<std::vector<std::string>(const Plan&)>;

    HintSearch(const StateFacts& state, const MarketSet& market, const Plan& plan, Judge judge)
        : state_(state), market_(market), plan_(plan), judge_(std::move(judge)) {}

    std::vector<HintChange> changes_for(const HintReason& reason);

private:
    using Positions = std::vector<std::size_t>;

    bool is_gone(const Plan& plan, const HintReason& reason);
    bool breaks_alone(const Intent& intent, const HintReason& reason);
    Positions concerned(const HintReason& reason, std::optional<Side> side) const;
    Plan without(const Positions& left_out) const;

    // Each intent that breaks the rule by itself gets its own value.
    using OneChange = std::function<std::optional<HintChange>(const Intent&)>;
    std::vector<HintChange> each(const HintReason& reason, const OneChange& change);
    // The intents break it together: the last ones are made smaller or left out.
    std::vector<HintChange> together(const HintReason& reason, std::optional<Side> side);
    std::vector<HintChange> fewer(const HintReason& reason, const Positions& places);

    std::optional<Decimal> largest_qty(
        const Plan& plan, std::size_t place, const HintReason& reason);
    std::optional<HintChange> smaller(const Intent& intent, const HintReason& reason);
    std::optional<HintChange> larger(const Intent& intent, const HintReason& reason);
    std::optional<HintChange> on_step(const Intent& intent) const;
    std::optional<HintChange> on_tick(const Intent& intent) const;
    std::optional<HintChange> in_range(const Intent& intent, std::string_view code) const;
    std::optional<HintChange> past_own_order(const Intent& intent) const;
    std::optional<HintChange> behind_touch(const Intent& intent) const;
    std::optional<HintChange> usable_strategy(const Intent& intent) const;
    std::vector<HintChange> wait_for(const HintReason& reason) const;

    Decimal step_of(const Intent& intent) const;
    Decimal tick_of(const Intent& intent) const;

    const StateFacts& state_;
    const MarketSet& market_;
    const Plan& plan_;
    Judge judge_;
    std::size_t looks_ = 0;
};

// The plan with the changes applied; what is to be left out is gone.
Plan apply_changes(const Plan& plan, std::span<const HintChange> changes);

}  // namespace interlock
