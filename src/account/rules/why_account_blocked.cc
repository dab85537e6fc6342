#include "account/rules/why_account_blocked.h"

namespace interlock {
namespace {

std::string first_of(const std::vector<std::string>& reasons) {
    return reasons.empty() ? std::string() : reasons.front();
}

}  // namespace

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

}  // namespace interlock
