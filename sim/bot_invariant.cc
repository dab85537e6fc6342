#include "sim/bot_invariant.h"

#include <algorithm>

#include "bots/service/bot_service.h"
#include "engine/rules/fold.h"
#include "host/wire/vault_row.h"
#include "trader/wire/strategy_instance.h"

namespace interlock::sim {
namespace {

std::string text_at(const Json& json, std::string_view key) {
    const Json* found = json.is_object() ? json.find(key) : nullptr;
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

std::string bytes_at(const Json& json, std::string_view key) {
    const Json* found = json.is_object() ? json.find(key) : nullptr;
    return found == nullptr ? std::string() : to_text(*found);
}

bool is_by(const AuditRecord& record, std::string_view kind) {
    return record.draft.principal.starts_with(std::string(kind) + ":");
}

Decimal sum(Decimal a, Decimal b) {
    const auto added = add(a, b);
    return added ? *added : Decimal();
}

Decimal less(Decimal a, Decimal b) {
    const auto left = subtract(a, b);
    return left ? *left : Decimal();
}

// What leads from one state to another, and the record that says so.
bool is_allowed(BotState from, BotState to, std::string_view event) {
    if (event == "BOT_INITIALIZED") {
        return from == BotState::uninitialized && to == BotState::ready;
    }
    if (event == "BOT_STARTED") {
        return from == BotState::ready && to == BotState::running;
    }
    if (event == "BOT_STOPPED") {
        return from == BotState::running && to == BotState::stopped;
    }
    if (event == "BOT_RESTARTED") {
        return to == BotState::running;
    }
    return event == "BOT_FAILED" && to == BotState::uninitialized;
}

}  // namespace

const AuditRecord* BotInvariant::Words::find(std::string_view event) const {
    const auto found = events.find(std::string(event));
    return found == events.end() ? nullptr : found->second;
}

bool BotInvariant::Words::has_any(std::initializer_list<std::string_view> names) const {
    return std::any_of(
        names.begin(), names.end(), [&](std::string_view name) { return find(name) != nullptr; });
}

BotRecord BotInvariant::record_of(const TenantId& tenant_id) const {
    if (const auto found = records_.find(tenant_id); found != records_.end()) {
        return found->second;
    }
    BotRecord fresh;
    fresh.config = parts_.defaults;
    fresh.approved = parts_.defaults;
    return fresh;
}

BotPeople::View BotInvariant::look(const TenantId& tenant_id) const {
    const BotRecord record = record_of(tenant_id);
    return {record.state, record.is_connected, keyed_.contains(tenant_id)};
}

void BotInvariant::on_commit(const TurnCommit& turn, std::span<const AuditRecord> records) {
    std::map<TenantId, Words> words;
    for (const AuditRecord& record : records) {
        const std::string& event = record.draft.event;
        if (event.starts_with("BOT_")) {
            words[record.draft.tenant_id].events[event] = &record;
        }
        counts_.pulses += event == "BOT_PULSE" ? 1 : 0;
        if (event == kFoldEvent) {
            const auto fold = decode_fold(record.draft.detail);
            const bool is_pulse = fold && fold->event == "BOT_PULSE";
            counts_.pulses += is_pulse ? static_cast<std::uint64_t>(fold->count) : 0;
        }
        if (event == "BOT_PROPOSAL") {
            const Json& detail = record.draft.detail;
            proposals_[{record.draft.tenant_id, text_at(detail, "proposal_id")}] = {
                record_of(record.draft.tenant_id).config_version,
                bytes_at(detail, "difference"),
                false};
        }
    }
    std::set<TenantId> saved;
    for (const StateWrite& state : turn.states) {
        const auto json = parse_json(state.json);
        if (!json) {
            continue;  // Others say so.
        }
        if (state.machine_key.starts_with(kBotPrefix)) {
            const auto next = decode_bot_record(*json);
            const auto tenant_id = TenantId::trusted(state.machine_key.substr(kBotPrefix.size()));
            if (!next) {
                broken("durability", state.machine_key + " was committed and cannot be read");
                continue;
            }
            saved.insert(tenant_id);
            on_record(tenant_id, *next, words[tenant_id]);
        } else if (state.machine_key.starts_with(kVaultPrefix)) {
            const auto row = decode_vault_row(*json);
            const auto tenant_id = TenantId::trusted(state.machine_key.substr(kVaultPrefix.size()));
            if (row && !row->entries.empty()) {
                keyed_.insert(tenant_id);
            } else {
                keyed_.erase(tenant_id);
            }
        } else if (state.machine_key.starts_with("strategy/")) {
            on_instance(*json);
        }
    }
    for (const auto& [tenant_id, said] : words) {
        for (const auto& [event, record] : said.events) {
            if (!saved.contains(tenant_id) && record->draft.detail.find("to") != nullptr) {
                broken("bot_state", event + " of " + tenant_id.text() + " changed nothing");
            }
        }
    }
    for (const OrderRecord& order : parts_.loop.latest_orders()) {
        on_order(order);
    }
    check_left(turn);
}

// No order is cancelled because the server was started: recovery has to have seen more than its own
// start and a venue that was silent. Till then it takes no order of a bot back, running or stopped,
// and no strategy takes back its own.
void BotInvariant::check_left(const TurnCommit& turn) {
    for (const OutboxItem& effect : turn.outbox) {
        const auto json = parse_json(effect.json);
        const std::string decision = json ? text_at(*json, "decision_id") : std::string();
        const bool is_by_recovery = decision == "sys_recovery";
        const bool is_planned = decision.starts_with(kBuiltinDecisionPrefix);
        if (effect.kind != kCancelKind || (!is_by_recovery && !is_planned)) {
            continue;
        }
        const auto order = OrderClientId::parse(text_at(*json, "order_client_id"));
        const Json* const named = json->find("account");
        const auto account = decode_venue_account(named == nullptr ? Json() : *named);
        const Account* held = account ? parts_.loop.find_account(*account) : nullptr;
        if (!order || held == nullptr) {
            continue;
        }
        const RecoveryState& recovery = held->recovery;
        // A venue that fell silent before the start is a doubt; one that is silent since is none
        // yet.
        const auto& reasons = recovery.reasons;
        const bool has_only_begun = !reasons.empty() && reasons.front() == "startup" &&
                                    (reasons.size() == 1 || recovery.only_looks) &&
                                    std::ranges::all_of(reasons, [](const std::string& reason) {
                                        return reason == "startup" || reason == "venue_unreachable";
                                    });
        const bool is_left = is_by_recovery ? orders_.contains({*account, *order})
                                            : recovery.phase == RecoveryPhase::recovering;
        if (has_only_begun && is_left) {
            broken("left", decision + " cancels " + order->text() + " because of a start");
        }
    }
}

void BotInvariant::on_record(const TenantId& tenant_id, const BotRecord& next, const Words& words) {
    const BotRecord before = record_of(tenant_id);
    records_.insert_or_assign(tenant_id, next);
    check_state(before, next, words);
    check_config(before, next, words);
    check_session(before, next, words);
    const bool launched = words.has_any({"BOT_STARTED", "BOT_RESTARTED"});
    if (launched || words.find("BOT_RESUMED") != nullptr) {
        hydrated_.insert(tenant_id);
    }
    if (words.has_any({"BOT_STALLED", "BOT_DISCONNECTED", "BOT_STOPPED", "BOT_FAILED"})) {
        hydrated_.erase(tenant_id);
    }
    counts_.launches += launched ? 1 : 0;
    counts_.stops += words.find("BOT_STOPPED") != nullptr ? 1 : 0;
    counts_.stalls += words.find("BOT_STALLED") != nullptr ? 1 : 0;
    counts_.resumptions += words.find("BOT_RESUMED") != nullptr ? 1 : 0;
    counts_.failures += words.find("BOT_FAILED") != nullptr ? 1 : 0;
}

void BotInvariant::check_state(const BotRecord& before, const BotRecord& next, const Words& words) {
    bool is_on_record = before.state == next.state;
    for (const auto& [event, record] : words.events) {
        if (record->draft.detail.find("to") == nullptr) {
            continue;
        }
        const bool tells = text_at(record->draft.detail, "from") == to_word(before.state) &&
                           text_at(record->draft.detail, "to") == to_word(next.state);
        if (!tells || !is_allowed(before.state, next.state, event)) {
            broken(
                "bot_state",
                event + " went from " + std::string(to_word(before.state)) + " to " +
                    std::string(to_word(next.state)));
        }
        is_on_record = true;
    }
    if (!is_on_record) {
        broken(
            "bot_state",
            "a bot went from " + std::string(to_word(before.state)) + " to " +
                std::string(to_word(next.state)) + " without a record");
    }
}

void BotInvariant::check_config(
    const BotRecord& before, const BotRecord& next, const Words& words) {
    const AuditRecord* change = words.find("BOT_CONFIG");
    const std::int64_t rise = before.config == next.config ? 0 : 1;
    if (next.config_version != before.config_version + rise) {
        broken(
            "proposal",
            "version " + std::to_string(before.config_version) + " of a configuration became " +
                std::to_string(next.config_version));
    }
    if (rise == 1 && change == nullptr) {
        broken("proposal", "a configuration changed without a record");
        return;
    }
    if (next.approved != before.approved &&
        (change == nullptr || !is_by(*change, "human") || next.approved != next.config)) {
        broken("proposal", "what the owner approved changed without the owner");
    }
    if (change == nullptr) {
        return;
    }
    ++counts_.changes;
    if (is_by(*change, "agent") && next.config != before.approved) {
        broken("proposal", "an agent changed a configuration: " + change->draft.principal);
    }
    if (const std::string id = text_at(change->draft.detail, "proposal_id"); !id.empty()) {
        check_proposal(before, *change, id);
    }
}

void BotInvariant::check_proposal(
    const BotRecord& before, const AuditRecord& change, const std::string& proposal_id) {
    const auto found = proposals_.find({change.draft.tenant_id, proposal_id});
    if (found == proposals_.end()) {
        broken("proposal", proposal_id + " was carried out and nobody proposed it");
        return;
    }
    Proposal& proposal = found->second;
    if (proposal.is_carried_out) {
        broken("proposal", proposal_id + " was carried out twice");
    }
    proposal.is_carried_out = true;
    ++counts_.proposals;
    if (!is_by(change, "human")) {
        broken("proposal", proposal_id + " was carried out by " + change.draft.principal);
    }
    if (proposal.base_version != before.config_version ||
        proposal.difference != bytes_at(change.draft.detail, "difference")) {
        broken(
            "proposal",
            proposal_id + ", made on version " + std::to_string(proposal.base_version) +
                ", was carried out otherwise or on version " +
                std::to_string(before.config_version));
    }
}

// A session is opened by a call, never by the end of a stall; a stall ends when everything was
// read anew, or with the run.
void BotInvariant::check_session(
    const BotRecord& before, const BotRecord& next, const Words& words) {
    const bool built = words.has_any({"BOT_INITIALIZED", "BOT_STARTED", "BOT_RESTARTED"});
    if (next.is_connected && !before.is_connected && !built &&
        words.find("BOT_CONNECTED") == nullptr) {
        broken("bot_idle", "a closed session was opened and nobody asked for it");
    }
    if (before.stall.is_stalled && !next.stall.is_stalled && !built &&
        !words.has_any({"BOT_RESUMED", "BOT_STOPPED", "BOT_FAILED"})) {
        broken("bot_idle", "a stall ended although nothing was read anew");
    }
}

void BotInvariant::on_instance(const Json& json) {
    const auto instance = decode_strategy_instance(json);
    if (!instance || !is_kept_strategy(instance->strategy_id)) {
        return;
    }
    Inventory& inventory = inventories_[{instance->account, instance->symbol}];
    const auto amount = Decimal::parse(text_at(instance->config, "amount"));
    if (amount) {
        inventory.rail = sum(*amount, *amount);
    }
    const auto start = Decimal::parse(text_at(instance->memory, "start"));
    const auto start_net = Decimal::parse(text_at(instance->memory, "start_net"));
    if (!start || !start_net) {
        return;
    }
    if (!inventory.start) {
        inventory.start = *start;
        inventory.start_net = *start_net;
    } else if (inventory.start != *start || inventory.start_net != *start_net) {
        broken("rails", instance->strategy_id.text() + " forgot with what it began");
    }
}

void BotInvariant::on_order(const OrderRecord& order) {
    if (!is_kept_strategy(order.strategy_id)) {
        return;
    }
    const VenueAccount& account = order.request.account;
    const Decimal rail = inventories_[{account, order.symbol()}].rail;
    if (!orders_.try_emplace({account, order.id()}, rail).second) {
        return;
    }
    ++counts_.orders;
    const BotRecord record = record_of(account.tenant_id);
    std::string why;
    if (record.state != BotState::running) {
        why = "is " + std::string(to_word(record.state));
    } else if (!record.is_connected) {
        why = "is disconnected";
    } else if (record.stall.is_stalled) {
        why = "is stalled";
    } else if (!hydrated_.contains(account.tenant_id)) {
        why = "has not been read anew";
    } else if (!keyed_.contains(account.tenant_id)) {
        why = "has no keys";
    }
    if (!why.empty()) {
        broken(
            "bot_idle",
            "the bot of " + account.tenant_id.text() + " places " + order.id().text() + " but " +
                why);
    }
}

void BotInvariant::on_submit(const VenueOrderRequest& request) {
    const bool is_maker = request.post_only && request.order_type == OrderType::limit;
    if (orders_.contains({request.account, request.order_client_id}) && !is_maker) {
        broken("maker", request.order_client_id.text() + " of a bot is not post-only");
    }
}

void BotInvariant::on_reply(const Command& command, const Result<Answer>& result) {
    const bool asks = command.kind == Command::Kind::bot && command.tool.starts_with("update_") &&
                      command.principal.kind == PrincipalKind::agent;
    if (asks && result && result->http_status != 202) {
        broken("proposal", "an agent's change was carried out at once: (" + to_text(command) + ")");
    }
}

void BotInvariant::on_start(const BotBoard& board) {
    hydrated_.clear();
    for (const auto& [tenant_id, record] : records_) {
        const auto seen = board.view(tenant_id);
        if (!seen || seen->record != record) {
            broken(
                "bot_state",
                "the restarted server shows the bot of " + tenant_id.text() +
                    " otherwise than it was committed");
        }
    }
    if (board.size() != records_.size()) {
        broken("bot_state", "the restarted server shows bots that were never committed");
    }
}

void BotInvariant::check_trades() {
    for (const VenueAccount& account : parts_.loop.accounts()) {
        for (const VenueFill& fill : parts_.venue.new_fills(account, cursors_[account])) {
            on_trade(account, fill);
        }
    }
}

void BotInvariant::on_trade(const VenueAccount& account, const VenueFill& fill) {
    const auto order = orders_.find({account, fill.order_client_id});
    Inventory& inventory = inventories_[{account, fill.symbol}];
    if (order == orders_.end()) {
        inventory.is_disturbed = inventory.is_disturbed || fill.side == Side::sell;
        return;
    }
    const bool is_buy = fill.side == Side::buy;
    counts_.buys += is_buy ? 1 : 0;
    counts_.sells += is_buy ? 0 : 1;
    if (!fill.is_maker) {
        broken("maker", fill.order_client_id.text() + " of a bot took from the book");
    }
    const bool in_coins = fill.symbol.text().starts_with(fill.fee_asset.text());
    const Decimal fee = in_coins ? fill.fee : Decimal();
    inventory.net =
        is_buy ? sum(inventory.net, less(fill.qty, fee)) : less(inventory.net, sum(fill.qty, fee));
    if (!inventory.start) {
        return;  // Its first turn was never committed; then neither was this order.
    }
    const Decimal held = sum(*inventory.start, less(inventory.net, inventory.start_net));
    const Decimal rail = std::max(inventory.rail, order->second);
    if (held.is_negative() || (is_buy && held > rail && !inventory.is_disturbed)) {
        broken(
            "rails",
            "a bot of " + account.tenant_id.text() + " holds " + to_text(held) + " of " +
                std::string(fill.symbol.text()) + ", its rail is " + to_text(rail));
    }
}

void BotInvariant::check_awake(const TenantId& tenant_id) {
    const BotRecord record = record_of(tenant_id);
    const bool should = record.state == BotState::running && record.is_connected;
    if (should && (record.stall.is_stalled || !hydrated_.contains(tenant_id))) {
        broken(
            "progress", "the bot of " + tenant_id.text() + " stays stalled although all is well");
    }
}

}  // namespace interlock::sim
