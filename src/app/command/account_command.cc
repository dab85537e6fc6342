#include "app/command/account_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/command/trader_call.h"
#include "app/wiring/server_client.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string account;
    std::string decision;
};

std::expected<Json, ExitCode> fetch(
    const GlobalOptions& global, const Options& options, const std::string& path) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder);
    const auto tenant = chosen_tenant(server, options.tenant);
    if (!tenant) {
        return std::unexpected(report_failure(global, tenant.error()));
    }
    return expect_ok(global, server.get("/api/" + *tenant + path));
}

std::string rows_of(const Json& json, std::string_view list, const std::vector<std::string>& keys) {
    const Json* items = json.find(list);
    if (items == nullptr || !items->is_array() || items->items().empty()) {
        return "";
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& item : items->items()) {
        std::vector<std::string> row;
        for (const std::string& key : keys) {
            row.push_back(text_at(item, key));
        }
        rows.push_back(std::move(row));
    }
    return std::string(list) + "\n" + render_table(keys, rows) + "\n";
}

const Json& part_of(const Json& json, std::string_view key) {
    static const Json nothing;
    const Json* found = json.find(key);
    return found == nullptr ? nothing : *found;
}

std::string describe_account(const Json& account) {
    const Json& flags = part_of(account, "runtime_flags");
    const Json& pnl = part_of(account, "pnl");
    const Json& treasury = part_of(account, "treasury");
    std::string text = render_fields({
        {"tenant", text_at(account, "tenant_id")},
        {"account", text_at(account, "account_id")},
        {"mode", text_at(flags, "mode")},
        {"risk mode", text_at(flags, "risk_mode")},
        {"kill switch", text_at(flags, "kill_switch_active")},
        {"recovery", text_at(part_of(account, "recovery"), "phase")},
        {"equity", text_at(account, "equity")},
        {"peak", text_at(account, "peak_equity")},
        {"realized today", text_at(pnl, "pnl_today")},
        {"unrealized", text_at(pnl, "unrealized")},
        {"fees today", text_at(pnl, "fees_today")},
        {"runway days", text_at(treasury, "runway_days")},
        {"surplus 30d", text_at(treasury, "rolling_surplus_30d")},
    });
    text += render_fields(blocked_fields(account));
    text += render_fields({{"warnings", sentences_at(account, "warnings")}}) + "\n";
    text += rows_of(account, "balances", {"asset", "free", "locked"});
    text += rows_of(account, "positions", {"symbol", "qty", "avg_price", "notional"});
    text += rows_of(
        account,
        "open_orders",
        {"order_client_id", "symbol", "side", "qty", "price", "state", "filled_qty"});
    text += rows_of(account, "strategies", {"strategy_id", "type", "is_active", "is_disabled"});
    return text;
}

std::string describe_decision(const Json& decision) {
    const Json& plan = part_of(decision, "plan");
    const Json& validation = part_of(decision, "validation");
    const Json& dry_run = part_of(decision, "dry_run");
    std::string text = render_fields({
        {"decision", text_at(decision, "decision_id")},
        {"tick", text_at(decision, "tick_id")},
        {"stage", text_at(decision, "stage")},
        {"attempt", text_at(decision, "attempt")},
        {"planner", text_at(decision, "planner")},
        {"reason", text_at(plan, "reason")},
        {"gates passed", text_at(validation, "pass")},
        {"blocked by", text_at(validation, "blocking_reasons")},
        {"dry run passed", text_at(dry_run, "pass")},
        {"verification", text_at(part_of(decision, "verification"), "overall")},
        {"record", text_at(decision, "ledger_ref")},
        {"audit", text_at(decision, "audit_ref")},
    });
    text += "\n";
    text += rows_of(
        plan, "intents", {"intent_id", "symbol", "side", "order_type", "qty", "limit_price"});
    text += rows_of(validation, "checks", {"name", "pass", "detail"});
    text += rows_of(
        decision,
        "execution",
        {"order_client_id", "symbol", "submit_status", "exchange_order_id", "reject_code"});
    return text;
}

ExitCode show(
    const GlobalOptions& global,
    const std::expected<Json, ExitCode>& answer,
    std::string (*describe)(const Json&)) {
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe(*answer);
    }
    return ExitCode::ok;
}

ExitCode run_account(const GlobalOptions& global, const Options& options) {
    if (!options.account.empty()) {
        const auto id = AccountId::parse(options.account);
        if (!id) {
            return report_failure(global, id.error());
        }
    }
    const std::string query = options.account.empty() ? "" : "?account_id=" + options.account;
    return show(global, fetch(global, options, "/account" + query), describe_account);
}

ExitCode run_decision(const GlobalOptions& global, const Options& options) {
    const auto id = DecisionId::parse(options.decision);
    if (!id) {
        return report_failure(global, id.error());
    }
    return show(global, fetch(global, options, "/decisions/" + id->text()), describe_decision);
}

std::string describe_accounts(const Json& answer) {
    return rows_of(answer, "accounts", {"account_id", "mode", "opened_at"});
}

std::string describe_opened(const Json& answer) {
    return render_fields({
        {"account", text_at(answer, "account_id")},
        {"mode", text_at(answer, "mode")},
        {"deposit", text_at(answer, "deposit") + " " + text_at(answer, "quote")},
        {"record", text_at(answer, "audit_ref")},
    });
}

void add_tenant_option(CLI::App& command, Options& options) {
    command
        .add_option("--tenant", options.tenant, "Whose; may be left out when there is one tenant.")
        ->type_name("TENANT");
}

void add_account_names(CLI::App& account, CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* list = account.add_subcommand("list", "List the accounts there are.");
    add_tenant_option(*list, *options);
    list->callback([&line, options] {
        line.run = [&line, options] {
            return show(line.global, fetch(line.global, *options, "/accounts"), describe_accounts);
        };
    });

    const auto wanted = std::make_shared<TraderOptions>();
    const auto name = std::make_shared<std::string>();
    CLI::App* open = account.add_subcommand(
        "open", "Open a further account, funded like the main one. Agents name it as account_id.");
    open->add_option("name", *name, "Its name: letters, digits, - and _.")
        ->required()
        ->type_name("NAME");
    add_change_options(*open, *wanted);
    open->callback([&line, wanted, name] {
        line.run = [&line, wanted, name] {
            Json body = Json::object({{"account_id", *name}});
            return show(
                line.global,
                change_trader(line.global, *wanted, {"/accounts", std::move(body)}),
                describe_opened);
        };
    });
}

}  // namespace

void add_account_commands(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* account = line.app.add_subcommand(
        "account", "Show money, positions, open orders and limits of an account.");
    add_tenant_option(*account, *options);
    account->add_option("--account", options->account, "Which account; the main one otherwise.")
        ->type_name("ACCOUNT");
    account->callback([&line, options, account] {
        if (account->get_subcommands().empty()) {
            line.run = [&line, options] { return run_account(line.global, *options); };
        }
    });
    add_account_names(*account, line);

    CLI::App* decision = line.app.add_subcommand(
        "decision", "Show one decision: plan, verdicts, orders and what became of them.");
    add_tenant_option(*decision, *options);
    decision->add_option("id", options->decision, "The decision.")
        ->required()
        ->type_name("DECISION_ID");
    decision->callback([&line, options] {
        line.run = [&line, options] { return run_decision(line.global, *options); };
    });
}

}  // namespace interlock
