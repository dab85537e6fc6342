// Every operation × every principal × own, foreign, unknown and system tenant (I7).
//
// Who may do what is spelled out below by hand, apart from the table the server uses: a row changed
// by mistake in one of the two is a failure here.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "api_world.h"
#include "base/text.h"

namespace interlock {
namespace {

const std::set<std::string> kMembers{"agent", "planner", "reader", "human", "second_human"};
const std::set<std::string> kHumans{"human", "second_human"};
const std::set<std::string> kReaders{"agent", "reader", "human", "second_human", "operator"};
const std::set<std::string> kPlanners{"agent", "planner", "human", "second_human"};
const std::set<std::string> kHumansAndOperator{"human", "second_human", "operator"};

struct Row {
    std::set<std::string> allowed;    // Of tenant `demo`, or of the host for paths without tenant.
    std::set<std::string> of_system;  // Of `_system`.
};

std::set<std::string> everyone() {
    const auto names = ApiWorld::principals();
    return {names.begin(), names.end()};
}

std::set<std::string> with(std::set<std::string> names, const std::string& more) {
    names.insert(more);
    return names;
}

// A supervisor writes through one tool; the helpers are people's.
std::map<std::string, Row> strategy_rows() {
    return {
        {"apply_control_decision", {with(kHumans, "agent"), {}}},
        {"list_strategies", {with(kHumansAndOperator, "agent"), {}}},
        {"get_strategy", {with(kHumansAndOperator, "agent"), {}}},
        {"list_concerns", {with(kHumansAndOperator, "agent"), {}}},
        {"list_strategy_types", {with(kHumansAndOperator, "agent"), {}}},
        {"list_supervisor_decisions", {with(kHumansAndOperator, "agent"), {}}},
        {"create_strategy", {kHumans, {}}},
        {"update_strategy", {kHumans, {}}},
        {"delete_strategy", {kHumans, {}}},
        {"control_strategy", {kHumans, {}}},
        {"set_strategy_policy", {kHumans, {}}},
        {"switch_strategy", {kHumans, {}}},
        {"pause_strategy", {kHumans, {}}},
        {"resume_strategy", {kHumans, {}}},
        {"reconcile_instance", {kHumans, {}}},
        {"set_concern", {kHumans, {}}},
    };
}

// `human` belongs to `_system` as well; nobody else does.
std::map<std::string, Row> base_rows() {
    const std::set<std::string> all_humans{"human", "second_human", "foreign_human"};
    return {
        {"healthz", {everyone(), {}}},
        {"readyz", {everyone(), {}}},
        {"metrics", {{"operator"}, {}}},
        {"exposure", {{"operator"}, {}}},
        {"openapi", {everyone(), {}}},
        {"agent_schema", {everyone(), {}}},
        {"llms_text", {everyone(), {}}},
        {"error_catalog", {everyone(), {}}},
        {"tool_catalog", {everyone(), {}}},
        {"page_home", {everyone(), {}}},
        {"page_activate", {everyone(), {}}},
        {"page_asset", {everyone(), {}}},
        {"login", {everyone(), {}}},
        {"activate", {everyone(), {}}},
        {"logout", {all_humans, {}}},
        {"get_session", {all_humans, {}}},
        {"reauthenticate", {all_humans, {}}},
        {"change_password", {all_humans, {}}},
        {"enrol_totp", {all_humans, {}}},
        {"confirm_totp", {all_humans, {}}},
        {"disable_totp", {all_humans, {}}},
        {"create_tenant", {{"operator"}, {}}},
        {"list_tenants", {{"operator"}, {}}},
        {"list_humans", {kHumansAndOperator, {"human", "operator"}}},
        {"invite_human", {kHumansAndOperator, {"human", "operator"}}},
        {"get_kill_switch", {kReaders, {"human", "operator"}}},
        {"set_kill_switch", {with(kMembers, "operator"), {"human", "operator"}}},
        {"py_set_kill_switch", {with(kMembers, "operator"), {}}},
        {"list_approvals", {kReaders, {"human", "operator"}}},
        {"get_approval", {kReaders, {"human", "operator"}}},
        {"accept_chain_break", {kHumans, {"human"}}},
        {"approve_approval", {kHumans, {"human"}}},
        {"reject_approval", {kHumans, {"human"}}},
        {"list_audit", {kReaders, {"human", "operator"}}},
        {"audit_head", {kReaders, {"human", "operator"}}},
        {"list_checkpoints", {kReaders, {"human", "operator"}}},
        {"get_audit_record", {kReaders, {"human", "operator"}}},
        {"get_artifact", {kReaders, {"human", "operator"}}},
        {"submit_probe", {{"agent", "human", "second_human", "operator"}, {}}},
        {"witness_head", {{"agent"}, {}}},
        {"witnessed_heads", {with(kHumansAndOperator, "agent"), {}}},
        {"witness_status", {{"operator"}, {}}},
        {"py_get_canonical_state", {kPlanners, {}}},
        {"py_get_market_snapshot", {kPlanners, {}}},
        {"py_validate_plan", {kPlanners, {}}},
        {"py_dry_run_plan", {kPlanners, {}}},
        {"py_execute_plan", {kPlanners, {}}},
        {"py_verify_execution", {kPlanners, {}}},
        {"py_record_decision", {kPlanners, {}}},
        {"get_account", {kReaders, {}}},
        {"get_decision", {kReaders, {}}},
        {"get_limits", {kReaders, {}}},
        {"change_limits", {with(kHumans, "agent"), {}}},
        {"set_mode", {kHumans, {}}},
        {"set_trading", {with(kMembers, "operator"), {"human", "operator"}}},
        {"put_strategy", {kHumans, {}}},
        {"enable_strategy", {kHumans, {}}},
        {"change_universe", {kHumans, {}}},
        {"transfer_treasury", {kHumans, {}}},
        {"book_cost", {with(kHumans, "agent"), {}}},
        {"resume_recovery", {kHumans, {}}},
        {"reset_drawdown", {kHumans, {}}},
        {"confirm_external_flow", {kHumans, {}}},
        {"list_alerts", {kReaders, {"human", "operator"}}},
        {"suppress_alert", {kHumans, {}}},
    };
}

// agent-loop.md, "Accounts".
std::map<std::string, Row> account_rows() {
    return {
        {"list_accounts", {kReaders, {}}},
        {"open_account", {kHumans, {}}},
    };
}

// A key that came back with a backup is let in by a human alone; nobody on the network has a backup
// vouched for.
std::map<std::string, Row> market_rows() {
    std::map<std::string, Row> all;
    for (const char* id : {"markets", "market_candles", "market_book", "orders", "fills"}) {
        all[id] = {kReaders, {}};
    }
    return all;
}

std::map<std::string, Row> key_and_backup_rows() {
    return {
        {"list_access_keys", {kHumansAndOperator, {}}},
        {"create_access_key", {kHumansAndOperator, {}}},
        {"revoke_access_key", {kHumansAndOperator, {}}},
        {"confirm_access_key", {kHumans, {}}},
        {"seal_backup", {{"operator"}, {}}},
        {"archive_segment", {{"operator"}, {}}},
        {"archive_status", {{"operator"}, {}}},
    };
}

// principals.md 8: agents have no part in it.
std::map<std::string, Row> recovery_rows() {
    return {
        {"page_recover", {everyone(), {}}},
        {"recover_login", {everyone(), {}}},
        {"ask_activation_letter", {everyone(), {}}},
        {"make_recovery_codes", {{"human", "second_human", "foreign_human"}, {}}},
        {"start_recovery", {kHumansAndOperator, {"human", "operator"}}},
        {"object_to_recovery", {kHumansAndOperator, {"human", "operator"}}},
    };
}

// notices.md 3: who may read of a tenant's notices may not always set them; agents do neither.
std::map<std::string, Row> notice_rows() {
    return {
        {"get_notices", {kHumansAndOperator, {"human", "operator"}}},
        {"set_notices", {kHumans, {"human"}}},
        {"set_notice_webhook", {kHumans, {"human"}}},
        {"delete_notice_webhook", {kHumans, {"human"}}},
        {"test_notices", {kHumans, {"human"}}},
        {"notice_status", {{"operator"}, {}}},
    };
}

// The account (onboarding.md#4-the-account), and what an owner allows an agent.
std::map<std::string, Row> onboarding_rows() {
    return {
        {"signup", {everyone(), {}}},
        {"account_status", {with(kHumansAndOperator, "agent"), {}}},
        {"set_plan", {{"operator"}, {}}},
        {"resend_activation", {kHumansAndOperator, {}}},
        {"regenerate_key", {kHumans, {}}},
        {"grant_key_provisioning", {kHumans, {}}},
        {"revoke_key_provisioning", {kHumans, {}}},
        {"set_asset_list", {kHumans, {}}},
        {"list_asset_lists", {kHumansAndOperator, {}}},
    };
}

// Everything of a bot is for keys with the scope `bot`; the service tells the change of an agent or
// the operator, which is a proposal, from a person's.
std::map<std::string, Row> bot_rows() {
    std::map<std::string, Row> all{{"set_stop_policy", {kHumans, {}}}};
    for (const char* id :
         {"initialize_bot",
          "start",
          "stop",
          "restart",
          "status",
          "exchange_status",
          "logs",
          "pnl_status",
          "pnl_last_update",
          "balances",
          "positions",
          "health",
          "config",
          "update_pnl",
          "update_symbol",
          "update_all_symbols",
          "update_bot_settings",
          "reload_from_config",
          "update_exchange_keys",
          "connect_exchange",
          "disconnect_exchange",
          "run_pnl",
          "stop_pnl",
          "pnl_snapshot"}) {
        all[id] = {with(kHumansAndOperator, "agent"), {}};
    }
    return all;
}

// The relay of the host is the operator's; gateways and tenants have routes of their own elsewhere.
std::map<std::string, Row> relay_rows() {
    std::map<std::string, Row> all;
    for (const char* id :
         {"relay_status",
          "list_relay_instances",
          "get_relay_instance",
          "read_relay_buffer",
          "list_relay_dead_letters",
          "requeue_relay_dead_letter",
          "discard_relay_dead_letter",
          "requeue_relay_dead_letters",
          "discard_relay_dead_letters",
          "list_relay_events",
          "explain_relay_event",
          "list_relay_outbounds",
          "replay_relay_outbound",
          "interrupt_relay_session",
          "add_relay_gateway",
          "list_relay_gateways",
          "rotate_relay_secret",
          "revoke_relay_gateway",
          "deprovision_relay_instance",
          "create_relay_enrollment",
          "create_relay_token",
          "revoke_relay_token",
          "add_relay_route",
          "list_relay_routes",
          "remove_relay_route",
          "list_relay_strangers",
          "create_relay_link",
          "bind_relay_user",
          "unbind_relay_user",
          "claim_relay_scope",
          "release_relay_scope",
          "set_relay_principal",
          "say_on_console",
          "press_on_console",
          "read_console"}) {
        all[id] = {{"operator"}, {}};
    }
    return all;
}

std::map<std::string, Row> rows() {
    std::map<std::string, Row> all = base_rows();
    all.merge(market_rows());
    all.merge(bot_rows());
    all.merge(onboarding_rows());
    all.merge(account_rows());
    all.merge(key_and_backup_rows());
    all.merge(recovery_rows());
    all.merge(notice_rows());
    all.merge(relay_rows());
    all.merge(strategy_rows());
    return all;
}

std::string path_for(const Operation& operation, const std::string& tenant) {
    std::string path;
    for (const std::string_view segment : split(operation.path, '/')) {
        if (segment.empty()) {
            continue;
        }
        path += '/';
        if (segment == "{tenant_id}") {
            path += tenant;
        } else if (segment == "{seq}") {
            path += "999999";
        } else if (segment.front() == '{') {
            path += "nothing_here";
        } else {
            path += segment;
        }
    }
    return path.empty() ? "/" : path;
}

const std::set<std::string> kUnknown{"nobody", "bad_key", "revoked_agent"};

// The body is empty, so an allowed call gets as far as its decoder or service and no further: no
// row of the matrix changes what the next one finds.
HttpResponse ask(
    ApiWorld& world, const Operation& operation, const std::string& as, const std::string& tenant) {
    return world.send(
        {.as = as,
         .method = operation.method,
         .path = path_for(operation, tenant),
         .body = operation.request_schema.is_null() ? "" : R"({"unknown_field":1})"});
}

bool is_denied(const HttpResponse& response) {
    // 401 and 403 are the face's; a service's own 403 names another code.
    return response.status == 401 ||
           (response.status == 403 &&
            (response.body.find("\"forbidden\"") != std::string::npos ||
             response.body.find("\"human_required\"") != std::string::npos));
}

class AccessMatrix : public testing::Test {
protected:
    ApiWorld world;
    const std::string bad_key_body = world.send({.as = "bad_key", .path = "/api/demo/kill"}).body;
};

TEST_F(AccessMatrix, EveryOperationHasARowAndEveryRowAnOperation) {
    std::set<std::string> known;
    for (const Operation& operation : world.table().all()) {
        known.insert(operation.id);
        EXPECT_TRUE(rows().contains(operation.id)) << operation.id << " has no row";
    }
    for (const auto& [id, row] : rows()) {
        EXPECT_TRUE(known.contains(id)) << id << " is no operation";
    }
}

TEST_F(AccessMatrix, WalksEveryRoutePrincipalAndTenant) {
    const auto table = rows();
    int cells = 0;
    for (const Operation& operation : world.table().all()) {
        if (operation.id == "logout") {
            continue;  // Ends the session it is asked with; has a test of its own.
        }
        const auto row = table.find(operation.id);
        ASSERT_NE(row, table.end()) << operation.id;
        const bool of_tenant = operation.path.find("{tenant_id}") != std::string::npos;
        for (const std::string& as : ApiWorld::principals()) {
            for (const std::string tenant : {"demo", "other", "no-such-tenant", "_system"}) {
                if (!of_tenant && tenant != std::string("demo")) {
                    continue;
                }
                ++cells;
                const HttpResponse response = ask(world, operation, as, tenant);
                const std::string where = operation.id + " as " + as + " on " + tenant + ": " +
                                          std::to_string(response.status) + " " + response.body;
                std::set<std::string> allowed = row->second.allowed;
                if (of_tenant && tenant == std::string("_system")) {
                    allowed = row->second.of_system;
                } else if (of_tenant && tenant == std::string("other")) {
                    // What `demo` is to agent and human, `other` is to the foreign ones.
                    std::set<std::string> there;
                    if (allowed.contains("agent")) {
                        there.insert("foreign_agent");
                    }
                    if (allowed.contains("human")) {
                        there.insert("foreign_human");
                    }
                    if (allowed.contains("operator")) {
                        there.insert("operator");
                    }
                    allowed = there;
                } else if (of_tenant && tenant == std::string("no-such-tenant")) {
                    allowed = {};
                }
                if (allowed.contains(as)) {
                    EXPECT_FALSE(is_denied(response)) << where;
                    EXPECT_LT(response.status, 500) << where;
                } else if (as == "operator" && tenant == std::string("no-such-tenant")) {
                    EXPECT_EQ(response.status, 404) << where;
                } else {
                    EXPECT_TRUE(is_denied(response)) << where;
                }
            }
        }
    }
    std::cout << "matrix: " << world.table().all().size() << " operations, "
              << ApiWorld::principals().size() << " principals, " << cells << " cells\n";
    EXPECT_GT(cells, 500);
}

// I7: nothing in the answer tells a foreign tenant from one that does not exist or from a bad key.
TEST_F(AccessMatrix, ForeignAndUnknownTenantsAnswerExactlyAsABadKey) {
    for (const Operation& operation : world.table().all()) {
        if (operation.path.find("{tenant_id}") == std::string::npos) {
            continue;
        }
        for (const std::string as : {"agent", "human", "foreign_agent"}) {
            const std::string foreign = as == std::string("foreign_agent") ? "demo" : "other";
            for (const std::string& tenant : {foreign, std::string("no-such-tenant")}) {
                const HttpResponse response = ask(world, operation, as, tenant);
                EXPECT_EQ(response.status, 401) << operation.id << " as " << as;
                EXPECT_EQ(response.body, bad_key_body) << operation.id << " as " << as;
            }
        }
        for (const std::string& as : kUnknown) {
            const HttpResponse response = ask(world, operation, as, "demo");
            EXPECT_EQ(response.status, 401) << operation.id << " as " << as;
            EXPECT_EQ(response.body, bad_key_body) << operation.id << " as " << as;
        }
    }
}

// 002 §2.1: what a key with the planner scope alone is offered as tools.
TEST_F(AccessMatrix, APlannersKeyIsOfferedTheEightToolsAndNothingElse) {
    std::set<std::string> offered;
    for (const Operation& operation : world.table().all()) {
        const Access& access = operation.access;
        if (operation.tool && (access.agent == Scope::planner || access.agent_with_any_scope)) {
            offered.insert(operation.id);
        }
    }
    EXPECT_EQ(
        offered,
        (std::set<std::string>{
            "py_get_canonical_state",
            "py_get_market_snapshot",
            "py_validate_plan",
            "py_dry_run_plan",
            "py_execute_plan",
            "py_verify_execution",
            "py_record_decision",
            "py_set_kill_switch"}));
}

TEST_F(AccessMatrix, LoggedOutSessionIsDeadAtOnce) {
    EXPECT_EQ(world.send({.as = "human", .method = "POST", .path = "/account/logout"}).status, 200);
    EXPECT_EQ(world.send({.as = "human", .path = "/api/demo/kill"}).status, 401);
}

TEST_F(AccessMatrix, HostOutsideTheListIsRefusedOnEveryRoute) {
    for (const Operation& operation : world.table().all()) {
        const HttpResponse response = world.send(
            {.as = "operator",
             .method = operation.method,
             .path = path_for(operation, "demo"),
             .body = {},
             .headers = {{"Host", "attacker.example"}}});
        EXPECT_EQ(response.status, 403) << operation.id;
        EXPECT_NE(response.body.find("host_not_allowed"), std::string::npos) << operation.id;
    }
}

}  // namespace
}  // namespace interlock
