// Changes of a bot's configuration (seed 004, configuration_proposals; SEMANTICS S14). A person's
// call applies at once. An agent's becomes a proposal: the exact difference, bound to the version
// it was made on, waiting for a human at the approvals desk.
#include "base/errors.h"
#include "base/field_reader.h"
#include "base/json_list.h"
#include "core/bot/account_policy.h"
#include "services/bot/bot_service.h"

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

// Everything that can be known without the owner: the markets exist, the step pays its fees.
Result<void> BotService::check_config(Turn& turn, const BotConfig& config) {
    if (rules_.may_have) {
        TRY(rules_.may_have(turn, config));
    }
    const MarketSet market = parts_.feed.facts(config.symbols);
    for (const Symbol& symbol : config.symbols) {
        if (market.find(symbol) == nullptr) {
            return fail(
                errors::unknown_symbol, "There is no market " + std::string(symbol.text()) + ".");
        }
        const OpenedStrategy opened =
            open_strategy(std::string(kMakerType), rails_config_of(config, symbol));
        if (!opened.strategy) {
            return fail(errors::invalid_request, opened.problem);
        }
    }
    return {};
}

Result<TurnReply> BotService::run_change(Turn& turn, const Change& wanted) {
    TRY_ASSIGN(const BotRecord record, load(turn));
    TRY_ASSIGN(BotConfig next, apply_update(record.config, wanted.update));
    TRY(check_config(turn, next));
    const Json changes = difference(record.config, next);
    if (changes.members().empty()) {
        return fail(errors::nothing_to_change, "The configuration is like this already.");
    }
    if (must_propose(turn.principal())) {
        return propose(turn, record, next, wanted.operation);
    }
    const std::int64_t version = record.config_version + 1;
    Json warnings = json_list(warnings_of(next));
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
            {"warnings", std::move(warnings)},
            {"config_version", version},
            {"audit_ref", ref},
        }))};
}

Result<TurnReply> BotService::propose(
    Turn& turn, const BotRecord& record, const BotConfig& next, const std::string& operation) {
    const Json changes = difference(record.config, next);
    TRY_ASSIGN(
        const Approval approval,
        parts_.approvals.request(
            turn,
            {.kind = ApprovalKind::config_proposal,
             .payload = encode(Proposal{operation, record.config_version, next}, changes),
             .summary = summary_of(operation, changes)}));
    TRY_ASSIGN(
        const std::string ref,
        note(
            turn,
            record,
            {.event = "BOT_PROPOSAL",
             .reason = operation,
             .detail = Json::object({
                 {"proposal_id", approval.approval_id.text()},
                 {"base_version", record.config_version},
                 {"difference", changes},
             })}));
    return Answer{
        202,
        to_text(Json::object({
            {"status", "pending_approval"},
            {"proposal_id", approval.approval_id.text()},
            {"difference", changes},
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
    TRY(check_config(turn, proposal.config));
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
