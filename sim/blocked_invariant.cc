#include "sim/blocked_invariant.h"

#include "account/wire/venue_order.h"
#include "loop/wire/loop_tools.h"

namespace interlock::sim {
namespace {

constexpr std::string_view kKillPrefix = "kill/";
constexpr std::string_view kAccountPrefix = "account/";

std::string text_at(const Json& json, std::string_view key) {
    const Json* found = json.is_object() ? json.find(key) : nullptr;
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

bool holds_entries_only(const std::string& code) {
    return code == "recovering" || code == "recovery_escalated" || code == "risk_stop";
}

bool is_of_switch(const std::string& code) {
    return code == "store_failed" || code == "stopped_for_all" || code == "stopped";
}

}  // namespace

// The contract's table, read off the rows alone.
std::string BlockedInvariant::code_of(const VenueAccount& key) const {
    const auto state_of = [this](const TenantId& tenant_id) {
        const auto found = switches_.find(tenant_id);
        return found == switches_.end() ? KillState{} : found->second;
    };
    const KillState host = state_of(system_tenant());
    const KillState own = state_of(key.tenant_id);
    if (host.active || own.active) {
        return host.active ? "stopped_for_all" : "stopped";
    }
    if (!host.trading_enabled || !own.trading_enabled) {
        return host.trading_enabled ? "disabled" : "disabled_for_all";
    }
    const auto found = accounts_.find(key);
    if (found == accounts_.end()) {
        return {};
    }
    const Account& account = found->second;
    if (!account.trading_enabled) {
        return "account_disabled";
    }
    switch (account.recovery.phase) {
        case RecoveryPhase::escalated:
            return "recovery_escalated";
        case RecoveryPhase::recovering:
            return "recovering";
        case RecoveryPhase::normal:
            break;
    }
    return account.tier.tier == Tier::stop ? "risk_stop" : "";
}

void BlockedInvariant::on_commit(const TurnCommit& turn, std::span<const AuditRecord> records) {
    // By what was committed before: that is what the turn was decided on.
    check_orders();
    for (const AuditRecord& record : records) {
        on_record(record);
    }
    for (const StateWrite& state : turn.states) {
        const auto json = parse_json(state.json);
        if (!json) {
            continue;  // Others say so.
        }
        if (state.machine_key.starts_with(kKillPrefix)) {
            if (const auto kill = decode_kill_state(*json)) {
                switches_[TenantId::trusted(state.machine_key.substr(kKillPrefix.size()))] = *kill;
            }
        } else if (state.machine_key.starts_with(kAccountPrefix)) {
            if (auto account = decode_account(*json)) {
                accounts_.insert_or_assign(account->key, *std::move(account));
            }
        }
    }
}

void BlockedInvariant::check_orders() {
    for (const OrderRecord& order : loop_.latest_orders()) {
        const VenueAccount& account = order.request.account;
        if (!orders_.emplace(account, order.id()).second) {
            continue;
        }
        const std::string code = code_of(account);
        const bool may_pass =
            code.empty() || (order.request.side == Side::sell && holds_entries_only(code));
        if (!may_pass) {
            broken(
                "order " + order.id().text() + " of " + account.tenant_id.text() +
                " was written ahead while every display says " + code);
        }
    }
}

void BlockedInvariant::on_record(const AuditRecord& record) {
    const std::string& event = record.draft.event;
    const Json& detail = record.draft.detail;
    const std::string tenant = record.draft.tenant_id.text();
    if (event == "VALIDATION_RESULT") {
        const bool is_ours = record.draft.decision_id.text().starts_with("auto.");
        const std::string code =
            code_of({record.draft.tenant_id, default_account_id(), TradeMode::paper});
        const bool is_known = !code.empty() && !holds_entries_only(code);
        if (is_ours && is_known && record.draft.status == AuditStatus::failed) {
            broken("a strategy of " + tenant + " asked the gates although it knows of " + code);
        }
        return;
    }
    const bool begins = event == "TRADING_BLOCKED";
    const bool changes = event == "TRADING_BLOCK_CHANGED";
    const bool ends = event == "TRADING_UNBLOCKED";
    if (!begins && !changes && !ends) {
        return;
    }
    const Json* const named = detail.find("account");
    const auto account = decode_venue_account(named == nullptr ? Json() : *named);
    if (!account) {
        broken(event + " of " + tenant + " names no account");
        return;
    }
    const Json* const blocked = detail.find("blocked");
    const Place place{*account, text_at(detail, "strategy_id")};
    std::string& noted = noted_[place];
    const std::string now = blocked == nullptr ? std::string() : text_at(*blocked, "code");
    if (noted.empty() != begins || now.empty() != ends || now == noted) {
        broken(
            event + " of " + tenant + " " + place.second + " says \"" + now + "\" where \"" +
            noted + "\" is on record");
    }
    noted = now;
    counts_.begun += begins ? 1 : 0;
    counts_.changed += changes ? 1 : 0;
    counts_.ended += ends ? 1 : 0;
}

void BlockedInvariant::on_display(const Display& display) {
    const std::string code = code_of(display.account);
    bool is_true = display.code == code;
    if (display.is_latched) {
        is_true = is_of_switch(display.code);
    } else if (display.is_stalled && !is_of_switch(code) && !code.starts_with("disabled")) {
        is_true = display.code == "stalled";
    } else if (code.empty() && display.is_strategy) {
        is_true = !is_of_switch(display.code) && !display.code.starts_with("disabled") &&
                  !holds_entries_only(display.code) && display.code != "account_disabled";
    }
    counts_.displays += code.empty() ? 0 : 1;
    if (!is_true) {
        broken(
            display.where + " of " + display.account.tenant_id.text() + " says \"" + display.code +
            "\" where \"" + code + "\" is true");
    }
}

void BlockedInvariant::check_noted(const VenueAccount& account) {
    const auto found = noted_.find({account, ""});
    const std::string noted = found == noted_.end() ? std::string() : found->second;
    if (noted != code_of(account)) {
        broken(
            "\"" + noted + "\" is on record of " + account.tenant_id.text() + " where \"" +
            code_of(account) + "\" is true");
    }
}

}  // namespace interlock::sim
