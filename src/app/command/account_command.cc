#include "app/command/account_command.h"

#include "app/command/answer_text.h"
#include "app/command/console.h"
#include "app/command/table_command.h"

namespace interlock {
namespace {

std::string rows_of(const Json& json, std::string_view list, const std::vector<std::string>& keys) {
    const std::string table = table_at(json, list, keys);
    return table.empty() ? "" : std::string(list) + "\n" + table + "\n";
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

}  // namespace

void add_account_commands(CommandLine& line) {
    add_table_word(
        line,
        {.operation = "get_account",
         .help = "Show money, positions, open orders and limits of an account.",
         .describe = shown_by(describe_account)});
    add_table_word(line, {.operation = "list_accounts", .describe = shown_by(describe_accounts)});
    add_table_word(
        line,
        {.operation = "open_account",
         .names = {{.field = "account_id", .as = "name"}},
         .describe = shown_by(describe_opened)});
    add_table_word(
        line,
        {.operation = "get_decision",
         .names = {{.field = "decision_id", .as = "id"}},
         .describe = shown_by(describe_decision)});
}

}  // namespace interlock
