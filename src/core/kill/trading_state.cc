#include "core/kill/trading_state.h"

#include "contracts/loop/loop_tools.h"

namespace interlock {
namespace {

std::string because(std::string sentence, const std::string& reason) {
    return reason.empty() ? sentence + "." : sentence + ": " + reason;
}

std::string first_of(const std::vector<std::string>& reasons) {
    return reasons.empty() ? std::string() : reasons.front();
}

std::string joined(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) {
        text += (text.empty() ? "" : ", ") + reason;
    }
    return text;
}

}  // namespace

std::optional<Blocked> why_stopped(const StopFacts& facts) {
    // A stop that is on record says more than the failure that came before it.
    if (facts.is_latched_globally && !facts.global.active && !facts.store_failure.empty()) {
        return Blocked{
            "store_failed",
            because("A record could not be written, so everything stopped", facts.store_failure),
            "See `interlock doctor` and the disk; then a human removes the file KILL, asks for the "
            "release (`interlock kill off --global`) and approves it."};
    }
    // A release is refused until a human has accepted the break, so that comes first.
    if (!facts.global_break.empty()) {
        return Blocked{
            "chain_broken",
            because("The audit chain of the server does not hold", facts.global_break),
            "A human of the host looks at `interlock audit verify` and accepts the break "
            "(`interlock audit accept-break --tenant _system`), then asks for the release "
            "(`interlock kill off --global`) and approves it."};
    }
    if (facts.global.active || facts.is_latched_globally) {
        return Blocked{
            "stopped_for_all",
            because("The kill switch of all tenants is on", facts.global.reason),
            "A human of the host asks for the release (`interlock kill off --global`) and "
            "approves it."};
    }
    if (!facts.own_break.empty()) {
        return Blocked{
            "chain_broken",
            because("The audit chain does not hold", facts.own_break),
            "A human looks at `interlock audit verify` and accepts the break (`interlock audit "
            "accept-break`), then asks for the release (`interlock kill off`) and approves it."};
    }
    if (facts.own.active || facts.is_latched) {
        return Blocked{
            "stopped",
            because("The kill switch is on", facts.own.reason),
            "Ask for the release (`interlock kill off`); a human approves it."};
    }
    if (!facts.global.trading_enabled) {
        return Blocked{
            "disabled_for_all",
            "Trading is off for all tenants.",
            "A human of the host enables it (`interlock trading on --tenant _system`)."};
    }
    if (!facts.own.trading_enabled) {
        return Blocked{
            "disabled",
            "Trading is off since the kill switch was released.",
            "A human enables it (`interlock trading on`)."};
    }
    return std::nullopt;
}

std::optional<Blocked> why_account_blocked(const Account& account) {
    const std::string name = account.key.account_id.text();
    if (!account.trading_enabled) {
        const bool is_main = account.key.account_id == default_account_id();
        return Blocked{
            "account_disabled",
            "Trading is off on the account " + name + ".",
            "A human enables it (`interlock trading on" + (is_main ? "" : " --account " + name) +
                "`)."};
    }
    if (account.recovery.phase == RecoveryPhase::escalated) {
        return Blocked{
            "recovery_escalated",
            because(
                "The account " + name + " and its venue still differ, so it only reduces",
                first_of(account.recovery.reasons)),
            "A human looks at `interlock account` and lets it compare again (`interlock trading "
            "resume`)."};
    }
    if (account.recovery.phase == RecoveryPhase::recovering) {
        return Blocked{
            "recovering",
            because(
                "The account " + name + " is being compared with its venue, so it only reduces",
                first_of(account.recovery.reasons)),
            "It ends by itself after two clean looks; `interlock account` shows it."};
    }
    if (account.tier.tier == Tier::stop) {
        const std::string reset =
            "`POST /api/" + account.key.tenant_id.text() + "/recovery/reset_drawdown`";
        return Blocked{
            "risk_stop",
            because(
                "A risk limit of the account " + name + " is broken, so it only reduces",
                first_of(account.tier.stops)),
            "See `interlock account`; a daily loss ends at 00:00 UTC, a drawdown when a human "
            "calls " +
                reset + " and approves what that asks for."};
    }
    return std::nullopt;
}

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
