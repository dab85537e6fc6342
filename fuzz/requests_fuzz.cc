// Fuzzes every decoder of a request that comes in over the network: whatever JSON arrives, it is
// decoded or refused with a reason, and a plan that was decoded survives being stored.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "bots/wire/signup.h"
#include "engine/wire/probe.h"
#include "host/wire/account.h"
#include "host/wire/approval.h"
#include "host/wire/exchange_keys.h"
#include "host/wire/human.h"
#include "host/wire/kill_switch.h"
#include "host/wire/mail.h"
#include "host/wire/tenant.h"
#include "loop/wire/control.h"
#include "loop/wire/loop_tools.h"
#include "trader/rules/strategy.h"
#include "trader/wire/control_decision.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

template <class T>
bool decoded(const Result<T>& result) {
    if (!result) {
        CHECK(!result.error().message.empty());
        CHECK(!result.error().code().empty());
    }
    return result.has_value();
}

void try_loop_tools(const Json& json) {
    decoded(decode_canonical_state_request(json));
    decoded(decode_market_snapshot_request(json));
    if (const auto request = decode_validate_plan_request(json); decoded(request)) {
        CHECK(request->plan.intents.size() <= kIntentsMax);
        const auto again = decode_stored_plan(encode(request->plan));
        CHECK(again && intents_hash(*again) == intents_hash(request->plan));
    }
    decoded(decode_dry_run_plan_request(json));
    decoded(decode_execute_plan_request(json));
    decoded(decode_verify_execution_request(json));
    decoded(decode_record_decision_request(json));
    claimed_ids(json);
}

void try_control(const Json& json) {
    decoded(decode_change_limits(json));
    decoded(decode_set_mode(json));
    decoded(decode_set_trading(json));
    decoded(decode_put_strategy(json));
    decoded(decode_enable_strategy(json));
    decoded(decode_change_universe(json));
    decoded(decode_transfer_treasury(json));
    decoded(decode_book_cost(json));
    decoded(decode_resume_recovery(json));
    decoded(decode_reset_drawdown(json));
    decoded(decode_confirm_flow(json));
    decoded(decode_suppress_alert(json));
    decoded(decode_planner_input(json));
    decoded(decode_py_set_kill_switch(json));
    decoded(decode_set_kill(json));
    decoded(decode_approval_decision(json));
    decoded(decode_probe_request(json));
}

// A decision that was decoded comes back from its own text as the same one; one that was not is
// answered all the same.
void try_decision(const Json& json) {
    const auto decision = decode_control_decision(json);
    if (!decoded(decision)) {
        CHECK(encode(control_refusal(json, decision.error())).is_object());
        return;
    }
    CHECK(decision->confidence >= Decimal(0) && decision->confidence <= Decimal(1));
    const auto again = decode_control_decision(encode(*decision));
    CHECK(again && fingerprint(*again) == fingerprint(*decision));
}

void try_principals(const Json& json) {
    decoded(decode_activate(json));
    decoded(decode_login(json));
    decoded(decode_exchange_keys(json));
    decoded(decode_reauthenticate(json));
    decoded(decode_change_password(json));
    decoded(decode_confirm_totp(json));
    decoded(decode_disable_totp(json));
    decoded(decode_create_access_key(json));
    decoded(decode_create_tenant(json));
    decoded(decode_invite_human(json));
    decoded(decode_recover(json));
    decoded(decode_start_recovery(json));
    decoded(decode_activation_letter(json));
    decoded(decode_login_recovery(json));
    if (json.is_string()) {
        read_recovery_code(json.as_string());
    }
}

// The address of an owner is one that no header can hide in.
void try_onboarding(const Json& json) {
    if (const auto request = decode_signup(json); decoded(request)) {
        CHECK(is_mail_address(request->email));
        CHECK(to_text(request->agent_metadata).size() <= kAgentMetadataBytesMax);
    }
    decoded(decode_set_plan(json));
    decoded(decode_grant_keys(json));
    decoded(decode_set_asset_list(json));
}

void try_request(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) {
        return;
    }
    try_loop_tools(*json);
    try_control(*json);
    try_decision(*json);
    decoded(decode_strategy_policy(*json));
    try_principals(*json);
    try_onboarding(*json);
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_request(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
