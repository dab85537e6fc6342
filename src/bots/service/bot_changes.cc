// Changes of a bot's configuration (docs/contracts/bot.md#4-changes). A person's call applies at
// once. An agent's becomes a proposal: the exact difference, bound to the version it was made on,
// waiting for a human at the approvals desk.
#include <algorithm>
#include <set>

#include "account/rules/account.h"
#include "base/errors.h"
#include "bots/rules/account_policy.h"
#include "bots/rules/bot_money.h"
#include "bots/service/bot_service.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

namespace interlock {
namespace {

// What a human approves: the configuration as it will be, and on which version it was made.
struct Proposal {
    std::string operation;
    std::int64_t base_version = 0;
    BotConfig config;
};

Json encode(const Proposal& proposal, const Json& difference) {
    return Json::object({
        {"operation", proposal.operation},
        {"base_version", proposal.base_version},
        {"difference", difference},
        {"config", encode(proposal.config)},
    });
}

Result<Proposal> decode_proposal(const Json& json) {
    FieldReader in(json);
    Proposal proposal;
    proposal.operation = in.required<std::string>("operation");
    proposal.base_version = in.required<std::int64_t>("base_version");
    if (const Json* config = in.required_object("config")) {
        TRY_ASSIGN(proposal.config, decode_bot_config(*config));
    }
    return in.finish(std::move(proposal));
}

std::string summary_of(const std::string& operation, const Json& difference) {
    std::string text = "Change the bot by " + operation + ":";
    for (const auto& [name, change] : difference.members()) {
        text += " " + name + " from " + to_text(*change.find("from")) + " to " +
                to_text(*change.find("to")) + ";";
    }
    text.back() = '.';
    return text;
}

std::string word_of(const Json& json, std::string_view key) {
    const Json* value = json.is_object() ? json.find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool is_owner(const Principal& principal) {
    return principal.kind == PrincipalKind::human;
}

}  // namespace

void BotService::change(Caller caller, Change wanted, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), wanted.operation);
    turn.decide = [this, wanted = std::move(wanted)](Turn& t) { return run_change(t, wanted); };
    turn.reply = std::move(reply);
    parts_.submit(std::move(turn));
}

Result<void> BotService::add_too_large(
    Turn& turn,
    const BotRecord& record,
    const BotConfig& config,
    std::vector<FieldProblem>& problems) {
    const VenueAccount key = bot_account_of(turn.tenant_id());
    TRY_ASSIGN(const AccountView view, parts_.loop.open_or_load(turn, key));
    const auto equity =
        equity_of(*view.account, view.books->books, parts_.feed.facts(priced_symbols(view)));
    if (!equity) {
        return fail(errors::stale_market_data, "What the account is worth is not known now.");
    }
    std::vector<Symbol> symbols = config.symbols;
    symbols.insert(symbols.end(), record.config.symbols.begin(), record.config.symbols.end());
    std::ranges::sort(symbols);
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    const MarketSet market = parts_.feed.facts(symbols);
    for (FieldProblem& problem : too_large_amounts(
             config,
             {.before = record.config,
              .market = market,
              .equity = *equity,
              .quote = view.account->quote})) {
        problems.push_back(std::move(problem));
    }
    return {};
}

// Everything that can be known without the owner: the markets exist, the step pays its fees, the
// amounts are not more than there is. Every problem is told at once.
Result<void> BotService::check_config(
    Turn& turn, const BotRecord& record, const UpdatedConfig& next) {
    const BotConfig& config = next.config;
    if (rules_.may_have && next.problems.empty()) {
        TRY(rules_.may_have(turn, config));
    }
    std::vector<FieldProblem> problems = next.problems;
    const MarketSet market = parts_.feed.facts(config.symbols);
    std::string unknown;
    std::set<std::string> said;  // One setting may be wrong for every market.
    for (const Symbol& symbol : config.symbols) {
        if (market.find(symbol) == nullptr) {
            unknown += (unknown.empty() ? "" : ", ") + std::string(symbol.text());
            continue;
        }
        const auto maker = open_inventory_rails(rails_config_of(config, symbol));
        if (maker || !next.problems.empty()) {
            continue;
        }
        for (const FieldProblem& problem : maker.error().problems) {
            if (said.insert(problem.path).second) {
                problems.push_back(problem);
            }
        }
    }
    if (config.amounts != record.config.amounts) {
        TRY(add_too_large(turn, record, config, problems));
    }
    if (!unknown.empty() && problems.empty()) {
        return fail(errors::unknown_symbol, "There is no market " + unknown + ".");
    }
    if (!unknown.empty()) {
        problems.push_back({"symbols", "there is no market " + unknown});
    }
    if (!problems.empty()) {
        return std::unexpected(config_refusal(std::move(problems)));
    }
    return {};
}

Result<TurnReply> BotService::run_change(Turn& turn, const Change& wanted) {
    TRY_ASSIGN(const BotRecord record, load(turn));
    UpdatedConfig checked = updated(record.config, wanted.update);
    checked.problems.insert(
        checked.problems.begin(), wanted.problems.begin(), wanted.problems.end());
    const Result<void> sound = check_config(turn, record, checked);
    if (!sound && sound.error() != errors::invalid_request && !wanted.problems.empty()) {
        return std::unexpected(config_refusal(wanted.problems));  // The rest cannot be judged now.
    }
    TRY(sound);
    BotConfig next = std::move(checked.config);
    const Json changes = difference(record.config, next);
    if (changes.members().empty()) {
        return fail(errors::nothing_to_change, "The configuration is like this already.");
    }
    if (must_propose(turn.principal())) {
        return propose(turn, record, next, wanted.operation);
    }
    const std::int64_t version = record.config_version + 1;
    Json warnings = json_list(warnings_of(next));
    Json money = money_of(next, parts_.feed.facts(next.symbols), turn.now());
    TRY_ASSIGN(
        const std::string ref,
        put_config(
            turn,
            record,
            std::move(next),
            {.event = "BOT_CONFIG",
             .reason = wanted.operation,
             .detail = Json::object({{"difference", changes}})}));
    return Answer{
        200,
        to_text(Json::object({
            {"status", "applied"},
            {"proposal_id", nullptr},
            {"difference", changes},
            {"money", std::move(money)},
            {"warnings", std::move(warnings)},
            {"config_version", version},
            {"audit_ref", ref},
        }))};
}

Result<TurnReply> BotService::propose(
    Turn& turn, const BotRecord& record, const BotConfig& next, const std::string& operation) {
    const Json changes = difference(record.config, next);
    const MarketSet market = parts_.feed.facts(next.symbols);
    // People decide in money. It is no part of what is hashed: prices move, the proposal stays.
    const std::string money =
        changes.find("amounts_by_symbol") == nullptr
            ? std::string()
            : " Worth at " + to_text(turn.now()) + ": " + money_words(next, market) + ".";
    // One of each key and operation: a human finds what an agent wants now, not how it got there.
    TRY_ASSIGN(
        const ApprovalService::Proposed proposed,
        parts_.approvals.propose(
            turn,
            {.kind = ApprovalKind::config_proposal,
             .payload = encode(Proposal{operation, record.config_version, next}, changes),
             .summary = summary_of(operation, changes) + money},
            [by = to_text(turn.principal()), &operation](const Approval& other) {
                return other.kind == ApprovalKind::config_proposal && other.requested_by == by &&
                       word_of(other.payload, "operation") == operation;
            }));
    const Approval& approval = proposed.approval;
    Json replaced = Json::array();
    for (const ApprovalId& id : proposed.replaced) {
        replaced.push(id.text());
    }
    AuditDraft draft = turn.draft("BOT_PROPOSAL");
    draft.status = proposed.is_merged ? AuditStatus::skipped : AuditStatus::passed;
    draft.reason = operation;
    draft.detail = Json::object({
        {"proposal_id", approval.approval_id.text()},
        {"base_version", record.config_version},
        {"difference", changes},
        {"replaced", replaced},
        {"merged", proposed.is_merged},
        {"bot_state", to_word(record.state)},
    });
    // The same once more changes nothing and is counted.
    TRY_ASSIGN(
        const std::string ref,
        proposed.is_merged
            ? turn.audit_repeat(
                  std::move(draft),
                  {.subject = "proposal/" + approval.requested_by, .what = "repeated proposal"})
            : turn.audit(std::move(draft)));
    return Answer{
        202,
        to_text(Json::object({
            {"status", "pending_approval"},
            {"proposal_id", approval.approval_id.text()},
            {"replaced", std::move(replaced)},
            {"difference", changes},
            {"money", money_of(next, market, turn.now())},
            {"warnings", json_list(warnings_of(next))},
            {"base_version", record.config_version},
            {"expires_at", to_text(approval.expires_at)},
            {"next", "A human of this tenant approves or rejects it; read /config afterwards."},
            {"audit_ref", ref},
        }))};
}

Result<void> BotService::carry_out(Turn& turn, const Approval& approval) {
    TRY_ASSIGN(Proposal proposal, decode_proposal(approval.payload));
    TRY_ASSIGN(const BotRecord record, load(turn));
    if (record.config_version != proposal.base_version) {
        return fail(
            errors::config_moved,
            "This was proposed on version " + std::to_string(proposal.base_version) +
                " of the configuration; it is at version " + std::to_string(record.config_version) +
                " now.");
    }
    TRY(check_config(turn, record, {proposal.config, {}}));
    const Json changes = difference(record.config, proposal.config);
    TRY(put_config(
        turn,
        record,
        std::move(proposal.config),
        {.event = "BOT_CONFIG",
         .reason = proposal.operation,
         .detail = Json::object({
             {"difference", changes},
             {"proposal_id", approval.approval_id.text()},
             {"proposed_by", approval.requested_by},
         })}));
    return {};
}

Result<std::string> BotService::put_config(
    Turn& turn, BotRecord record, BotConfig next, Note wanted) {
    record.config = std::move(next);
    ++record.config_version;
    if (is_owner(turn.principal())) {
        record.approved = record.config;
    }
    if (!record.markets.empty()) {
        TRY(hold_markets(turn, record));
    }
    // They were made on what is not in effect any more. The one that is carried out is not pending.
    TRY(parts_.approvals.lapse_pending(
        turn,
        [](const Approval& other) { return other.kind == ApprovalKind::config_proposal; },
        "The configuration has changed since this was proposed."));
    wanted.detail.set("config_version", record.config_version);
    TRY_ASSIGN(std::string ref, note(turn, record, std::move(wanted)));
    save(turn, std::move(record));
    return ref;
}

void BotService::reload(Caller caller, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), "reload_from_config");
    turn.reply = std::move(reply);
    turn.decide = [this](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const BotRecord record, load(t));
        TRY(check_markets_allowed(t, record.approved));
        const Json changes = difference(record.config, record.approved);
        Json body = Json::object({
            {"message", "The configuration is the one the owner approved last."},
            {"difference", changes},
            {"warnings", json_list(warnings_of(record.approved))},
        });
        if (!changes.members().empty()) {
            BotConfig approved = record.approved;
            TRY_ASSIGN(
                const std::string ref,
                put_config(
                    t,
                    record,
                    std::move(approved),
                    {.event = "BOT_CONFIG",
                     .reason = "reload_from_config",
                     .detail = Json::object({{"difference", changes}})}));
            body.set("message", "The configuration the owner approved last is in effect again.");
            body.set("audit_ref", ref);
        }
        return Answer{200, to_text(body)};
    };
    parts_.submit(std::move(turn));
}

void BotService::set_stop_policy(Caller caller, bool cancel_on_stop, Reply reply) {
    TurnRequest turn = turn_of(std::move(caller), "set_stop_policy");
    turn.reply = std::move(reply);
    turn.decide = [this, cancel_on_stop](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(BotRecord record, load(t));
        record.cancel_on_stop = cancel_on_stop;
        TRY_ASSIGN(
            const std::string ref,
            note(
                t,
                record,
                {.event = "BOT_STOP_POLICY",
                 .detail = Json::object({{"cancel_on_stop", cancel_on_stop}})}));
        save(t, std::move(record));
        return Answer{
            200, to_text(Json::object({{"cancel_on_stop", cancel_on_stop}, {"audit_ref", ref}}))};
    };
    parts_.submit(std::move(turn));
}

}  // namespace interlock
