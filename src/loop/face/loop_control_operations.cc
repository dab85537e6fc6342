#include "loop/face/loop_control_operations.h"

#include "codec/json_schema.h"
#include "host/face/answer_reply.h"
#include "host/face/audit_operations.h"
#include "host/face/call_arguments.h"
#include "host/wire/blocked.h"

namespace interlock {
namespace {

struct Text {
    std::string_view id;
    std::string_view path;  // Behind /api/{tenant_id}/.
    std::string_view summary;
    std::string_view description;
};

constexpr Access kHumans{.human = true};
// Agents may ask; with the planner scope alone they have the eight tools and nothing else.
constexpr Access kHumansAndSupervisors{.human = true, .agent = Scope::supervisor};
// Whoever may stop: anyone of the tenant, and on `_system` its humans and the operator. That a vote
// which rests starts nothing, the service sees to.
constexpr Access kAnyMember{
    .host_operator = true,
    .human = true,
    .agent_with_any_scope = true,
    .system_tenant = true,
    .human_at_rest = true};

// Limits by name, or symbols.
Json changes_schema(std::string_view about) {
    Json schema = schema::map(schema::text(), about);
    schema.set("type", Json::array({"object", "array"}));
    schema.set("items", schema::text());
    return schema;
}

// Each operation answers those of the optional members that its own request names.
Json answer_schema() {
    return schema::object({
        {"status", schema::words({"applied", "approval_required"})},
        {"approval_id?", schema::text("What a human votes on.")},
        {"expires_at?", schema::moment()},
        {"audit_ref", schema::text()},
        {"applied?", changes_schema("Limits that hold now.")},
        {"pending?", changes_schema("What waits for the approval.")},
        {"removed?", schema::list(schema::text(), "Symbols withdrawn.")},
        {"mode?", schema::words({"paper", "shadow", "live"})},
        {"trading_enabled?", schema::boolean()},
        {"blocked?", blocked_schema()},
        {"strategy_id?", schema::text()},
        {"is_active?", schema::boolean()},
        {"is_disabled?", schema::boolean()},
        {"from?", schema::text()},
        {"to?", schema::text()},
        {"kind?", schema::text()},
        {"amount?", schema::text("In the account's quote, or of the asset.")},
        {"booked_to?", schema::text()},
        {"asset?", schema::text()},
        {"price?", schema::text("Quote per unit.")},
        {"phase?", schema::text()},
        {"peak?", schema::text()},
        {"event?", schema::text("Kept out of the alert feed.")},
        {"hours?", schema::integer()},
        {"account_id?", schema::text()},
        {"quote?", schema::text("Asset in which the account is reckoned.")},
        {"deposit?", schema::text("In quote.")},
    });
}

template <class Request>
Operation control_operation(
    LoopControl& control,
    const Text& text,
    const Access& access,
    Result<Request> (*decode)(const Json&)) {
    return {
        .id = std::string(text.id),
        .method = "POST",
        .path = "/api/{tenant_id}/" + std::string(text.path),
        .summary = std::string(text.summary),
        .description = std::string(text.description),
        .access = access,
        .query = {},
        .request_schema = control_schema(text.id),
        .answer_schema = answer_schema(),
        .statuses = {200, 202},
        .tool = std::nullopt,
        .handle =
            [&control, decode, id = std::string(text.id)](ApiCall call, ApiReplyTo reply) {
                auto request = decode(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                auto hash = request_hash(call, id);
                if (!hash) {
                    reply(std::unexpected(std::move(hash).error()));
                    return;
                }
                control.call(
                    {std::move(call.principal), std::move(call.tenant_id), *std::move(hash)},
                    id,
                    *std::move(request),
                    answer_to(std::move(reply)));
            },
    };
}

Operation get_limits(LoopControl& control) {
    return {
        .id = "get_limits",
        .method = "GET",
        .path = "/api/{tenant_id}/limits",
        .summary = "Read every limit of an account with its range and meaning.",
        .description = "looser_when tells which way a change needs an approval.",
        .access = {.host_operator = true, .human = true, .agent = Scope::read},
        .query =
            {{"account_id",
              "Leave out for the main account.",
              Json::object({{"type", "string"}, {"maxLength", 128}})}},
        .request_schema = {},
        .answer_schema = schema::object({
            {"account",
             schema::object({
                 {"tenant_id", schema::text()},
                 {"account_id", schema::text()},
                 {"mode", schema::words({"paper", "shadow", "live"})},
             })},
            {"limits",
             schema::list(schema::object({
                 {"name", schema::text()},
                 {"value", schema::text()},
                 {"min", schema::text()},
                 {"max", schema::text()},
                 {"looser_when", schema::words({"higher", "lower", "never"})},
                 {"is_hard", schema::boolean("Two people loosen it under the two-person rule.")},
                 {"meaning", schema::text()},
             }))},
            {"state_version", schema::integer()},
        }),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&control](ApiCall call, ApiReplyTo reply) {
                const auto named = call.query.find("account_id");
                auto account = named == call.query.end() ? Result<AccountId>(default_account_id())
                                                         : AccountId::parse(named->second);
                if (!account) {
                    reply(std::unexpected(std::move(account).error()));
                    return;
                }
                control.get_limits(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(account),
                    answer_to(std::move(reply)));
            },
    };
}

Operation list_alerts(LoopControl& control) {
    constexpr std::int64_t kLimit = 50;
    return {
        .id = "list_alerts",
        .method = "GET",
        .path = "/api/{tenant_id}/alerts",
        .summary = "Read the alert feed: critical audit records, newest first.",
        .description =
            "Suppressed ones are counted and left out. next_before is where the next page begins; "
            "null at the beginning of the chain. A page may be short: go on with next_before.",
        .access =
            {.host_operator = true, .human = true, .agent = Scope::read, .system_tenant = true},
        .query =
            {{"before",
              "Only records with a smaller sequence number.",
              Json::object({{"type", "integer"}, {"minimum", 1}})},
             {"limit",
              "At most this many.",
              Json::object(
                  {{"type", "integer"}, {"minimum", 1}, {"maximum", LoopControl::kAlertPageMax}})}},
        .request_schema = {},
        .answer_schema = schema::object({
            {"alerts", schema::list(audit_record_schema())},
            {"suppressed", schema::integer("Left out of this page.")},
            {"next_before", schema::or_null(schema::integer())},
        }),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&control](ApiCall call, ApiReplyTo reply) {
                const LoopControl::AlertPage page{
                    .before = query_integer(call, "before", 0),
                    .limit = query_integer(call, "limit", kLimit),
                    .on_records_read = [&call](std::int64_t count) {
                        charge_records(call, count);
                    }};
                control.list_alerts(
                    {call.principal, call.tenant_id, {}}, page, answer_to(std::move(reply)));
            },
    };
}

Operation list_accounts(LoopControl& control) {
    return {
        .id = "list_accounts",
        .method = "GET",
        .path = "/api/{tenant_id}/accounts",
        .summary = "List the accounts of a tenant in the mode it runs.",
        .description = "opened_at is null until an account is first used in this mode.",
        .access = {.host_operator = true, .human = true, .agent = Scope::read},
        .query = {},
        .request_schema = {},
        .answer_schema = schema::object(
            {{"accounts",
              schema::list(schema::object({
                  {"account_id", schema::text()},
                  {"mode", schema::words({"paper", "shadow", "live"})},
                  {"opened_at", schema::or_null(schema::moment())},
              }))},
             {"accounts_max", schema::integer("A tenant has at most so many.")}}),
        .tool = std::nullopt,
        .handle =
            [&control](ApiCall call, ApiReplyTo reply) {
                control.list_accounts(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    answer_to(std::move(reply)));
            },
    };
}

constexpr Text kOpenAccount{
    "open_account",
    "accounts",
    "Open a further account, which calls name by its account_id.",
    "Funded like the main one, with limits, books and treasury of its own. In paper and shadow "
    "mode only; a tenant has at most 8."};
constexpr Text kChangeLimits{
    "change_limits",
    "limits",
    "Tighten limits at once; loosening waits for a human's approval.",
    "What is tightened holds when this returns. What is loosened is filed as one approval that "
    "carries old and new values; it is refused at approval when an old value has moved."};
constexpr Text kSetMode{
    "set_mode",
    "mode",
    "Choose where orders go: paper, shadow or live.",
    "Paper and shadow hold at once. Entering or leaving live needs an approval."};
constexpr Text kSetTrading{
    "set_trading",
    "trading",
    "Stop trading at once, or start it again.",
    "Anyone of the tenant may stop; only a human starts. Needed once after a kill switch was "
    "released. On _system it stands for all tenants."};
constexpr Text kPutStrategy{
    "put_strategy",
    "strategies",
    "Make or change a strategy of type external, which outside planners name.",
    "Its guardrails can only be tighter than the account's limits."};
constexpr Text kEnableStrategy{
    "enable_strategy",
    "strategies/enable",
    "Let a strategy trade again after the repeated-execution throttle.",
    "Its count of recent executions starts anew."};
constexpr Text kChangeUniverse{
    "change_universe",
    "universe",
    "Withdraw symbols at once; new ones wait for a human's approval.",
    "A symbol with a position or open orders cannot be withdrawn."};
constexpr Text kTransfer{
    "transfer_treasury",
    "treasury/transfers",
    "Book money between trading, ops_reserve and profit.",
    "Nothing leaves the exchange. From the configured amount on it needs an approval."};
constexpr Text kCost{
    "book_cost",
    "treasury/costs",
    "Book what was paid for models, machines, data or operation.",
    "Booked to the caller; taken from the operating reserve, then from trading."};
constexpr Text kResume{
    "resume_recovery",
    "recovery/resume",
    "Let an escalated account try safe recovery again.",
    "Entries stay off until two reconciliations in a row are clean."};
constexpr Text kReset{
    "reset_drawdown",
    "recovery/reset_drawdown",
    "Ask for the drawdown stop to be lifted.",
    "Always needs an approval: the equity peak starts again at the equity of that moment."};
constexpr Text kConfirmFlow{
    "confirm_external_flow",
    "recovery/confirm_flow",
    "Confirm a balance change that no order of ours explains.",
    "Books it as deposit or withdrawal."};
constexpr Text kSuppress{
    "suppress_alert",
    "alerts/suppress",
    "Ask for an event to be kept out of the alert feed for some hours.",
    "Always needs an approval. The audit records stay as they are."};

}  // namespace

void register_loop_control_operations(OperationTable& table, LoopControl& control) {
    table.add(list_accounts(control));
    table.add(control_operation(control, kOpenAccount, kHumans, decode_open_account));
    table.add(get_limits(control));
    table.add(
        control_operation(control, kChangeLimits, kHumansAndSupervisors, decode_change_limits));
    table.add(control_operation(control, kSetMode, kHumans, decode_set_mode));
    table.add(control_operation(control, kSetTrading, kAnyMember, decode_set_trading));
    table.add(control_operation(control, kPutStrategy, kHumans, decode_put_strategy));
    table.add(control_operation(control, kEnableStrategy, kHumans, decode_enable_strategy));
    table.add(control_operation(control, kChangeUniverse, kHumans, decode_change_universe));
    table.add(control_operation(control, kTransfer, kHumans, decode_transfer_treasury));
    table.add(control_operation(control, kCost, kHumansAndSupervisors, decode_book_cost));
    table.add(control_operation(control, kResume, kHumans, decode_resume_recovery));
    table.add(control_operation(control, kReset, kHumans, decode_reset_drawdown));
    table.add(control_operation(control, kConfirmFlow, kHumans, decode_confirm_flow));
    table.add(list_alerts(control));
    table.add(control_operation(control, kSuppress, kHumans, decode_suppress_alert));
}

}  // namespace interlock
