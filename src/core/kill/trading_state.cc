#include "core/kill/trading_state.h"

namespace interlock {
namespace {

std::string because(std::string sentence, const std::string& reason) {
    return reason.empty() ? sentence + "." : sentence + ": " + reason;
}

}  // namespace

std::optional<Blocked> why_stopped(const StopFacts& facts) {
    if (facts.global.active || facts.is_latched_globally) {
        return Blocked{
            "stopped_for_all",
            because("The kill switch of all tenants is on", facts.global.reason),
            "A human of the host asks for the release (`interlock kill off --global`) and "
            "approves it."};
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
            "Trading is off since the kill switch was released or somebody turned it off.",
            "A human enables it (`interlock trading on`)."};
    }
    return std::nullopt;
}

std::optional<Blocked> why_account_blocked(bool trading_enabled, const StateFacts& facts) {
    if (!trading_enabled) {
        return Blocked{
            "account_disabled",
            "Trading is off on the account " + facts.account_id.text() + ".",
            "A human enables it (`interlock trading on`)."};
    }
    if (facts.risk_mode == RiskMode::halted) {
        return Blocked{
            "halted",
            "The account's risk mode is halted: only cancels are allowed.",
            "Look at `interlock account`; a human resets the drawdown once it is understood."};
    }
    if (facts.entries_halted) {
        return Blocked{
            "entries_halted",
            because("No new entries on this account", facts.entries_halted_reason),
            "Look at `interlock account`; `interlock trading resume` when a human is asked for."};
    }
    return std::nullopt;
}

}  // namespace interlock
