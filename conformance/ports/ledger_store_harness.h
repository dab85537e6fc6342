// What the ledger store tests stand on: a store that can be closed and opened again, and the rows
// they write.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"

namespace interlock {

// One store under test and the way to close and open it again on the same storage.
class LedgerStoreHarness {
public:
    virtual ~LedgerStoreHarness() = default;
    virtual LedgerStore& store() = 0;
    virtual void reopen() = 0;
};

struct LedgerStoreKind {
    std::string name;
    std::function<std::unique_ptr<LedgerStoreHarness>()> make;
};

namespace ledger_store_suite {

// The value itself, so that a loop may run over it: value() of a temporary only refers into it.
template <class T>
T value_of(Result<T> result) {
    return std::move(result).value();
}

inline const TenantId kAlice = TenantId::trusted("alice");
inline const TenantId kBob = TenantId::trusted("bob");
inline constexpr Timestamp kNoon{1'700'000'000'000'000};

inline LedgerEntry entry(const TenantId& tenant_id, std::int64_t seq) {
    return {
        .tenant_id = tenant_id,
        .seq = seq,
        .canonical_json = R"({"seq":)" + std::to_string(seq) + R"(,"text":"Grüße"})",
        .hash = std::string(60, 'a') + std::to_string(1000 + seq % 1'000'000)};
}

inline TurnCommit entry_turn(const TenantId& tenant_id, std::int64_t seq) {
    TurnCommit turn;
    turn.audit.push_back(entry(tenant_id, seq));
    return turn;
}

inline TurnCommit state_turn(
    const std::string& machine_key, std::int64_t loaded_version, const std::string& json) {
    TurnCommit turn;
    turn.states.push_back({machine_key, loaded_version, json});
    return turn;
}

inline AnswerKey answer_key(const std::string& key) {
    return {kAlice, "set_kill_switch", IdempotencyKey::trusted(key)};
}

inline AnswerWrite answer(const std::string& key, std::optional<std::string> body) {
    return {
        .key = answer_key(key),
        .answer =
            {.request_hash = "hash of " + key,
             .operation_id = OperationId::trusted("op_1"),
             .body = std::move(body),
             .http_status = 201,
             .expires_at = std::nullopt},
        .completes = false};
}

inline TurnCommit answer_turn(AnswerWrite write) {
    TurnCommit turn;
    turn.answers.push_back(std::move(write));
    return turn;
}

inline OutboxItem effect(const std::string& effect_id) {
    return {
        .effect_id = EffectId::trusted(effect_id),
        .tenant_id = kAlice,
        .kind = "probe",
        .json = R"({"n":1})",
        .delivery = Delivery::repeatable,
        .state = OutboxState::pending,
        .not_after = kNoon};
}

inline TimerItem timer(const std::string& timer_id, Timestamp due_at) {
    return {
        .timer_id = TimerId::trusted(timer_id),
        .tenant_id = kBob,
        .kind = "approval_expiry",
        .json = "{}",
        .due_at = due_at};
}

inline std::vector<std::string> effect_ids(LedgerStore& store) {
    std::vector<std::string> ids;
    for (const OutboxItem& item : value_of(store.load_outbox())) {
        ids.push_back(item.effect_id.text());
    }
    return ids;
}

inline std::vector<std::string> timer_ids(LedgerStore& store) {
    std::vector<std::string> ids;
    for (const TimerItem& item : value_of(store.load_timers())) {
        ids.push_back(item.timer_id.text());
    }
    return ids;
}

}  // namespace ledger_store_suite

}  // namespace interlock
