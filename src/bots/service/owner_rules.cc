#include "bots/service/owner_rules.h"

namespace interlock {
namespace {

Result<void> check_plan(OnboardingService& onboarding, Turn& turn, const BotConfig& wanted) {
    TRY(onboarding.check_active(turn));
    TRY_ASSIGN(const std::size_t symbols_max, onboarding.symbols_max(turn));
    if (wanted.symbols.size() > symbols_max) {
        return fail(
            errors::plan_limit,
            "The plan of this account allows " + std::to_string(symbols_max) + " symbols.");
    }
    return {};
}

}  // namespace

void set_owner_rules(const OwnerRules& rules) {
    OnboardingService& onboarding = rules.onboarding;
    BotService& bots = rules.bots;
    onboarding.set_hooks({
        .on_signup =
            [&bots, first = rules.first_config](
                Turn& turn, const TenantId& tenant_id, const BotPlan& plan) {
                return bots.adopt(turn, tenant_id, first(plan.symbols_max));
            },
        .on_inactive = [&bots](Turn& turn, const TenantId&) -> Result<void> {
            return bots.halt_by_rule(turn, "the plan of this account is over");
        },
        .on_key_replaced =
            [&bots](const TenantId& tenant_id, const std::optional<KeyId>&) {
                bots.restart_by_rule(tenant_id, "its access key was replaced");
            },
        .check_exchange =
            [&bots](const std::string& exchange) { return bots.check_exchange(exchange); },
    });
    rules.loop.set_asset_rule([&onboarding](Turn& turn, std::span<const Symbol> symbols) {
        return onboarding.check_assets(turn, turn.principal(), symbols);
    });
    bots.set_rules({
        .is_active =
            [&onboarding](const TenantId& tenant_id) { return onboarding.view(tenant_id).active; },
        // A plan may have shrunk since the configuration was made.
        .may_run = [&onboarding](
                       Turn& turn,
                       const BotConfig& wanted) { return check_plan(onboarding, turn, wanted); },
        .may_trade = [&onboarding](Turn& turn, const BotConfig& wanted) -> Result<void> {
            return onboarding.check_assets(turn, turn.principal(), wanted.symbols);
        },
        .may_have = [&onboarding](Turn& turn, const BotConfig& wanted) -> Result<void> {
            TRY(check_plan(onboarding, turn, wanted));
            return onboarding.check_assets(turn, turn.principal(), wanted.symbols);
        },
        .check_grant =
            [&onboarding](Turn& turn, const std::string& exchange) {
                return onboarding.check_grant(turn, exchange);
            },
        .take_grant =
            [&onboarding](Turn& turn, const std::string& exchange) {
                return onboarding.take_grant(turn, exchange);
            },
    });
}

}  // namespace interlock
