// The typed ids that contracts speak of.
#pragma once

#include "base/ids.h"

namespace interlock {

struct TenantTag {
    static constexpr std::string_view name = "tenant_id";
};
struct DecisionTag {
    static constexpr std::string_view name = "decision_id";
};
struct TickTag {
    static constexpr std::string_view name = "tick_id";
};
struct IdempotencyTag {
    static constexpr std::string_view name = "idempotency_key";
};
struct ApprovalTag {
    static constexpr std::string_view name = "approval_id";
};
struct EffectTag {
    static constexpr std::string_view name = "effect_id";
};
struct OperationTag {
    static constexpr std::string_view name = "operation_id";
};
struct TimerTag {
    static constexpr std::string_view name = "timer_id";
};
struct KeyTag {
    static constexpr std::string_view name = "key_id";
};
struct HumanTag {
    static constexpr std::string_view name = "human_id";
};
struct SessionTag {
    static constexpr std::string_view name = "session_id";
};
struct IntentTag {
    static constexpr std::string_view name = "intent_id";
};
struct StrategyTag {
    static constexpr std::string_view name = "strategy_id";
};
struct AccountTag {
    static constexpr std::string_view name = "account_id";
};
struct ConcernTag {
    static constexpr std::string_view name = "concern_id";
};
struct NoticeTag {
    static constexpr std::string_view name = "notice_id";
};
struct OrderClientTag {
    static constexpr std::string_view name = "order_client_id";
};

using TenantId = Id<TenantTag>;
using DecisionId = Id<DecisionTag>;
using TickId = Id<TickTag>;
using IdempotencyKey = Id<IdempotencyTag>;
using ApprovalId = Id<ApprovalTag>;
using EffectId = Id<EffectTag>;
using OperationId = Id<OperationTag>;  // One request whose answer takes more than one turn.
using TimerId = Id<TimerTag>;
using KeyId = Id<KeyTag>;
using HumanId = Id<HumanTag>;
using SessionId = Id<SessionTag>;
using IntentId = Id<IntentTag>;
using StrategyId = Id<StrategyTag>;
using AccountId = Id<AccountTag>;
using ConcernId = Id<ConcernTag>;          // An account and one of its markets.
using NoticeId = Id<NoticeTag>;            // Derived from the record it tells of.
using OrderClientId = Id<OrderClientTag>;  // Derived from the intent.

// The chain of what belongs to no tenant: global kill switch, tenants coming and going, start-up.
inline TenantId system_tenant() {
    return TenantId::trusted("_system");
}

// Instances that a keeper keeps (trader/service/strategy_keeper.h). Nobody else's has a name
// like this: others are numbered by us.
inline constexpr std::string_view kKeptStrategyPrefix = "bot.";
inline bool is_kept_strategy(const StrategyId& id) {
    return id.text().starts_with(kKeptStrategyPrefix);
}

// A tenant's own id: 1 to 64 of a–z, 0–9, '-' and '_', not starting with '_'.
bool is_tenant_text(std::string_view text);

}  // namespace interlock
