#include "trader/rules/why_market_blocked.h"

namespace interlock {
namespace {

std::string joined(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) {
        text += (text.empty() ? "" : ", ") + reason;
    }
    return text;
}

}  // namespace

std::optional<Blocked> why_market_blocked(const MarketWord& word) {
    const Concern& concern = word.concern;
    const std::string market(concern.symbol.text());
    if (concern.status == ConcernStatus::informational) {
        return Blocked{
            "informational",
            "People made the concern of " + market + " informational, so nothing trades in it.",
            "A human sets the status of its concern to active again."};
    }
    if (concern.status == ConcernStatus::paused) {
        return Blocked{
            "paused",
            "People hold " + market + " up.",
            "A human sets the status of its concern to active again."};
    }
    if (concern.quality == ExecutionQuality::stalled) {
        return Blocked{
            "stalled",
            because("Execution on " + market + " is stalled", joined(concern.quality_reasons)),
            "It is judged anew every 20 seconds and ends by itself; see the log and the exchange."};
    }
    if (concern.risk_mode == RiskMode::halted) {
        return Blocked{
            "halted",
            "The risk mode of " + market + " is halted, so only cancels pass.",
            "A control decision set_risk_mode, or a human's word, loosens it."};
    }
    if (word.is_throttled) {
        return Blocked{
            "throttled",
            "It took liquidity on " + market + " too often, so it only reduces.",
            "A human looks at why, then calls `POST /api/" + concern.account.tenant_id.text() +
                "/strategies/enable` with its strategy_id."};
    }
    if (word.strategy != nullptr && word.market != nullptr) {
        if (auto too_small = word.strategy->why_too_small(*word.market)) {
            return Blocked{
                "below_minimum",
                *std::move(too_small),
                "Propose a larger amount or fewer levels; a human approves it."};
        }
    }
    return std::nullopt;
}

bool lets_through(const Blocked& blocked, PlanPart part) {
    const bool holds_entries_only = blocked.code == "recovering" ||
                                    blocked.code == "recovery_escalated" ||
                                    blocked.code == "risk_stop" || blocked.code == "throttled";
    return part == PlanPart::cancels || (part == PlanPart::sells && holds_entries_only);
}

}  // namespace interlock
