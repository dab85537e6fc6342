#include "sim/trader_invariant.h"

#include <algorithm>

#include "account/wire/venue_order.h"
#include "base/canonical_json.h"
#include "bots/rules/bot_record.h"
#include "loop/wire/loop_tools.h"
#include "trader/service/strategy_store.h"
#include "trader/wire/control_decision.h"

namespace interlock::sim {
namespace {

std::string text_at(const Json& json, std::string_view key) {
    const Json* found = json.is_object() ? json.find(key) : nullptr;
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

bool is_true(const Json& json, std::string_view key) {
    const Json* found = json.is_object() ? json.find(key) : nullptr;
    return found != nullptr && found->is_bool() && found->as_bool();
}

std::string bytes_of(const Json* json) {
    const auto text = json == nullptr ? Result<std::string>("") : canonical_json(*json);
    return text ? *text : std::string("no canonical form");
}

std::string payload_text(const Json& payload) {
    return bytes_of(&payload);
}

std::string name_of(const StrategyInstance& instance) {
    return instance.strategy_id.text() + " of " + instance.account.tenant_id.text();
}

std::string name_of(const Concern& concern) {
    return concern.concern_id.text() + " of " + concern.account.tenant_id.text();
}

bool should_run(const StrategyInstance& instance) {
    return instance.mode != InstanceMode::off && !instance.paused && !instance.is_latched &&
           !instance.is_deleted;
}

std::string text_of(const std::optional<StrategyId>& id) {
    return id ? id->text() : std::string("none");
}

}  // namespace

const TraderInvariant::Word* TraderInvariant::TurnWords::applied(
    const std::string& concern_id, std::string_view action) const {
    const auto found = std::find_if(decisions.begin(), decisions.end(), [&](const Word& word) {
        return word.concern_id == concern_id && word.action == action && word.status == "applied" &&
               !word.is_dry;
    });
    return found == decisions.end() ? nullptr : &*found;
}

bool TraderInvariant::TurnWords::has_outcome(const std::string& decision_id) const {
    return std::any_of(decisions.begin(), decisions.end(), [&](const Word& word) {
        return word.decision_id == decision_id && !word.is_dry &&
               (word.status == "applied" || word.status == "failed");
    });
}

const StrategyInstance* TraderInvariant::instance_of(
    const VenueAccount& account, const StrategyId& id) const {
    const auto found = instances_.find({account, id});
    return found == instances_.end() ? nullptr : &found->second;
}

const Concern* TraderInvariant::concern_of(
    const VenueAccount& account, const Symbol& symbol) const {
    const auto found = concerns_.find({account, symbol});
    return found == concerns_.end() ? nullptr : &found->second;
}

Supervisors::View TraderInvariant::look(
    const TenantId& tenant_id, const std::string& symbol) const {
    const auto parsed = Symbol::parse(symbol);
    const VenueAccount account{tenant_id, default_account_id(), TradeMode::paper};
    const Concern* concern = parsed ? concern_of(account, *parsed) : nullptr;
    Supervisors::View view;
    if (concern == nullptr) {
        return view;
    }
    view.risk_mode = concern->risk_mode;
    view.status = concern->status;
    if (concern->active_strategy_id) {
        view.active = concern->active_strategy_id->text();
        const StrategyInstance* active = instance_of(account, *concern->active_strategy_id);
        view.is_paused = active != nullptr && (active->paused || active->is_latched);
    }
    return view;
}

bool TraderInvariant::is_switching() const {
    return std::any_of(concerns_.begin(), concerns_.end(), [](const auto& held) {
        return held.second.switching.has_value();
    });
}

void TraderInvariant::on_commit(const TurnCommit& turn, std::span<const AuditRecord> records) {
    const TurnWords words = read_records(records);
    std::set<ConcernName> touched;
    std::vector<Concern> concerns;
    for (const StateWrite& state : turn.states) {
        if (is_standing_key(state.machine_key)) {
            if (const StrategyInstance* moved = on_standing(state, words)) {
                touched.insert({moved->account, moved->symbol});
            }
            continue;
        }
        const bool is_strategy = state.machine_key.starts_with("strategy/");
        if (!is_strategy && !state.machine_key.starts_with("concern/")) {
            continue;
        }
        const auto json = parse_json(state.json);
        auto instance = json && is_strategy ? decode_strategy_instance(*json)
                                            : Result<StrategyInstance>(StrategyInstance{});
        auto concern = json && !is_strategy ? decode_concern(*json) : Result<Concern>(Concern{});
        if (!json || !instance || !concern) {
            broken("durability", state.machine_key + " was committed and cannot be read");
        } else if (is_strategy) {
            touched.insert({instance->account, instance->symbol});
            on_instance(*instance, words);
        } else {
            touched.insert({concern->account, concern->symbol});
            concerns.push_back(*std::move(concern));
        }
    }
    for (const auto& [name, concern] : concerns_) {
        if (loop_.latest_accounts().contains(name.account)) {
            touched.insert(name);
        }
    }
    std::vector<Concern> handed_over;
    for (const Concern& concern : concerns) {
        if (on_concern(concern, words)) {
            handed_over.push_back(concern);
        }
    }
    for (const OrderRecord& order : loop_.latest_orders()) {
        on_order(order);
    }
    for (const Concern& concern : handed_over) {
        on_hand_over(concern);
    }
    for (const ConcernName& name : touched) {
        check_agreement(name);
    }
}

TraderInvariant::TurnWords TraderInvariant::read_records(std::span<const AuditRecord> records) {
    TurnWords words;
    for (const AuditRecord& record : records) {
        const std::string& event = record.draft.event;
        if (event == "CONTROL_DECISION") {
            on_decision(record, words);
        } else if (event == "CONTROL_APPLYING") {
            words.applying.insert(record.draft.decision_id.text());
        } else if (event == "STRATEGY_STOPPED") {
            words.stopped.insert(text_at(record.draft.detail, "strategy_id"));
        }
        words.is_bots = words.is_bots || event == "BOT_STARTED" || event == "BOT_RESTARTED" ||
                        event == "BOT_RESUMED" || event == "BOT_CONFIG";
    }
    return words;
}

void TraderInvariant::on_decision(const AuditRecord& record, TurnWords& words) {
    const Json& detail = record.draft.detail;
    const Json* payload = detail.find("payload");
    for (const std::string_view part : {"payload", "validation", "status", "result"}) {
        if (detail.find(part) == nullptr) {
            broken("control", "a control decision is on record without its " + std::string(part));
            return;
        }
    }
    if (text_at(detail, "received_at").empty()) {
        broken("control", "a control decision is on record without its time");
    }
    ++counts_.attempts;
    const Word word{
        .decision_id = text_at(*payload, "decision_id"),
        .action = text_at(*payload, "action"),
        .concern_id = text_at(*payload, "concern_id"),
        .target = text_at(*payload, "target_strategy_id"),
        .status = text_at(detail, "status"),
        .is_dry = is_true(*payload, "dry_run"),
    };
    const TenantId& tenant_id = record.draft.tenant_id;
    statuses_[{tenant_id, word.decision_id}].insert(word.status);
    const bool is_applied = word.status == "applied" && !word.is_dry;
    counts_.applied += is_applied ? 1 : 0;
    counts_.roll_backs += word.status == "failed" ? 1 : 0;
    if (is_applied && ++applied_[{tenant_id, word.decision_id}] > 1) {
        broken("control", word.decision_id + " of " + tenant_id.text() + " was applied twice");
    }
    on_record_[{tenant_id, bytes_of(payload)}].push_back(
        {.status = word.status,
         .validation = bytes_of(detail.find("validation")),
         .result = bytes_of(detail.find("result")),
         .applied_at = text_at(detail, "applied_at")});
    words.decisions.push_back(word);
}

// The instance whose row this is, as it stands now.
const StrategyInstance* TraderInvariant::on_standing(
    const StateWrite& state, const TurnWords& words) {
    const auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& held) {
        return standing_key(held.second) == state.machine_key;
    });
    const auto json = parse_json(state.json);
    const auto standing = json ? decode_instance_standing(*json)
                               : Result<InstanceStanding>(std::unexpected(json.error()));
    if (found == instances_.end() || !standing) {
        broken("durability", state.machine_key + " was committed and cannot be read");
        return nullptr;
    }
    on_instance(with_standing(found->second, *standing), words);
    return &found->second;
}

// Nothing but a decision on record moves a strategy.
void TraderInvariant::on_instance(const StrategyInstance& next, const TurnWords& words) {
    const auto [place, is_new] =
        instances_.try_emplace({next.account, next.strategy_id}, StrategyInstance{});
    const StrategyInstance before = place->second;
    place->second = next;
    if (is_new) {
        const bool is_bots = words.is_bots && is_kept_strategy(next.strategy_id) && !next.paused;
        if ((next.mode == InstanceMode::active || next.paused) && !is_bots) {
            broken("one_active", name_of(next) + " was created active or paused");
        }
        return;
    }
    const bool same = before.strategy_type == next.strategy_type && before.symbol == next.symbol &&
                      before.created_at == next.created_at;
    if (!same) {
        broken("strategy", name_of(next) + " became another strategy");
    }
    const std::string concern_id = concern_id_of(next.account.account_id, next.symbol).text();
    const bool is_stopped = words.stopped.contains(next.strategy_id.text());
    const bool is_switched = words.applied(concern_id, "switch") != nullptr;
    if (next.paused && !before.paused && words.applied(concern_id, "pause") == nullptr) {
        broken("control", name_of(next) + " was paused without a decision");
    }
    if (!next.paused && before.paused && words.applied(concern_id, "resume") == nullptr &&
        !is_stopped && !is_switched) {
        broken("control", name_of(next) + " goes on although nobody resumed it");
    }
}

// True when another strategy is active now.
bool TraderInvariant::on_concern(const Concern& next, const TurnWords& words) {
    const ConcernName name{next.account, next.symbol};
    const auto found = concerns_.find(name);
    Concern before;
    if (found != concerns_.end()) {
        before = found->second;
    }
    concerns_.insert_or_assign(name, next);
    const std::string id = next.concern_id.text();
    const Word* switched = words.applied(id, "switch");
    if (next.active_strategy_id != before.active_strategy_id) {
        const bool is_stop = !next.active_strategy_id && before.active_strategy_id &&
                             words.stopped.contains(before.active_strategy_id->text());
        const bool is_switch = next.active_strategy_id && switched != nullptr &&
                               switched->target == next.active_strategy_id->text();
        // A bot takes a market that nobody has and leaves its own, no others.
        const auto is_bots = [&](const std::optional<StrategyId>& held) {
            return !held || is_kept_strategy(*held);
        };
        const bool is_bot =
            words.is_bots && is_bots(before.active_strategy_id) && is_bots(next.active_strategy_id);
        if (!is_stop && !is_switch && !is_bot) {
            broken(
                "control",
                name_of(next) + " went from " + text_of(before.active_strategy_id) + " to " +
                    text_of(next.active_strategy_id) + " without a decision");
        }
    }
    if (next.risk_mode != before.risk_mode && switched == nullptr &&
        words.applied(id, "set_risk_mode") == nullptr) {
        broken("control", "the risk mode of " + name_of(next) + " changed without a decision");
    }
    const bool begins = next.switching && (!before.switching || before.switching->decision_id !=
                                                                    next.switching->decision_id);
    if (begins && !words.applying.contains(next.switching->decision_id.text())) {
        broken("control", "a switch of " + name_of(next) + " began without a record");
    }
    if (before.switching && !next.switching) {
        const std::string decision = before.switching->decision_id.text();
        if (!words.has_outcome(decision)) {
            broken("control", "the switch " + decision + " ended without a record");
        }
        const bool is_done = next.active_strategy_id == before.switching->to;
        counts_.hand_overs += is_done ? 1 : 0;
        inherited_.erase(name);
        if (!is_done && next.active_strategy_id != before.switching->from) {
            broken("switch", name_of(next) + " was rolled back to another strategy than before");
        }
    }
    return next.active_strategy_id && next.active_strategy_id != before.active_strategy_id;
}

// Whoever is active now, nobody else's order may be open at the venue. What the venue itself denied
// three times and then accepted late is its own doing, and drift.
void TraderInvariant::on_hand_over(const Concern& next) {
    for (const VenueOrder& order : venue_.open_orders(next.account)) {
        const auto ours = orders_.find({next.account, order.order_client_id});
        if (ours == orders_.end() || ours->second.symbol() != next.symbol ||
            ours->second.strategy_id == *next.active_strategy_id ||
            ours->second.state == OrderState::never_arrived) {
            continue;
        }
        broken(
            "switch",
            order.order_client_id.text() + " of " + ours->second.strategy_id.text() +
                " is open at the venue, but " + next.active_strategy_id->text() + " is active on " +
                name_of(next));
    }
}

// Orders are written ahead in one turn with the decision to send them; at that moment their
// strategy must be the one that may.
void TraderInvariant::on_order(const OrderRecord& order) {
    const VenueAccount& account = order.request.account;
    const StrategyInstance* instance = instance_of(account, order.strategy_id);
    if (instance == nullptr) {
        return;  // Of an outside planner.
    }
    const auto [place, is_new] = orders_.try_emplace({account, order.id()}, order);
    place->second = order;
    if (!is_new) {
        return;
    }
    ++counts_.orders;
    const Concern* concern = concern_of(account, order.symbol());
    std::string why;
    if (instance->mode != InstanceMode::active || concern == nullptr ||
        concern->active_strategy_id != instance->strategy_id) {
        why = "is not active";
    } else if (instance->paused || concern->status != ConcernStatus::active) {
        why = "is paused";
    } else if (instance->is_latched) {
        why = "failed too often";
    } else if (concern->switching) {
        why = "is being switched from";
    }
    if (!why.empty()) {
        broken("strategy", name_of(*instance) + " sends " + order.id().text() + " but " + why);
    }
}

void TraderInvariant::on_submit(const VenueOrderRequest& request) {
    const auto found = orders_.find({request.account, request.order_client_id});
    if (found == orders_.end()) {
        return;
    }
    const Concern* concern = concern_of(request.account, request.symbol);
    const bool is_others = concern != nullptr && concern->active_strategy_id &&
                           *concern->active_strategy_id != found->second.strategy_id;
    if (is_others) {
        broken(
            "switch",
            request.order_client_id.text() + " of " + found->second.strategy_id.text() +
                " goes to the venue, but " + text_of(concern->active_strategy_id) +
                " is active on " + name_of(*concern));
    }
}

// The rows, the concern and the account's book name the same strategy.
void TraderInvariant::check_agreement(const ConcernName& name) {
    const Concern* concern = concern_of(name.account, name.symbol);
    if (concern == nullptr) {
        return;
    }
    const Account* account = loop_.find_account(name.account);
    std::optional<StrategyId> active;
    for (const auto& [key, instance] : instances_) {
        if (key.first != name.account || instance.symbol != name.symbol) {
            continue;
        }
        const bool is_active = instance.mode == InstanceMode::active;
        if (is_active && active) {
            broken("one_active", name_of(*concern) + " has two active strategies");
        }
        if (is_active) {
            active = instance.strategy_id;
        }
        const bool is_booked = account != nullptr &&
                               account->strategies.contains(instance.strategy_id) &&
                               account->strategies.at(instance.strategy_id).is_active;
        if (is_booked) {
            broken(
                "one_active",
                name_of(instance) + " is active by its account, which has no say in it");
        }
    }
    if (active != concern->active_strategy_id) {
        broken(
            "one_active",
            name_of(*concern) + " names " + text_of(concern->active_strategy_id) + ", but " +
                text_of(active) + " is active");
    }
}

void TraderInvariant::check_claims(LedgerStore& store) {
    for (const auto& [name, concern] : concerns_) {
        const auto holder = store.find_claim(
            "active/" + name.account.tenant_id.text() + "/" +
            std::string(to_word(name.account.mode)) + "/" + concern.concern_id.text());
        if (!holder) {
            continue;
        }
        const bool agrees = concern.active_strategy_id
                                ? *holder == concern.active_strategy_id->text()
                                : !holder->has_value();
        if (!agrees) {
            broken(
                "one_active",
                name_of(concern) + " names " + text_of(concern.active_strategy_id) +
                    ", the claim of the store is held by " + holder->value_or("nobody"));
        }
    }
}

void TraderInvariant::check_running(const StrategyRuntime& running) {
    std::size_t wanted = 0;
    for (const auto& [key, instance] : instances_) {
        const bool runs = running.find(key.first, key.second) != nullptr;
        wanted += should_run(instance) ? 1 : 0;
        if (runs != should_run(instance)) {
            broken(
                "running",
                name_of(instance) + (runs ? " runs" : " does not run") + ", its record says " +
                    std::string(to_word(instance.mode)) + (instance.paused ? ", paused" : ""));
        }
    }
    if (running.size() != wanted) {
        broken("running", "strategies run that have no record");
    }
}

void TraderInvariant::on_start(const StrategyRuntime& running, LedgerStore& store) {
    inherited_.clear();
    for (const auto& [name, concern] : concerns_) {
        if (concern.switching) {
            ++counts_.interrupted;
            inherited_.insert_or_assign(name, concern.switching->decision_id);
        }
    }
    check_running(running);
    check_claims(store);
}

void TraderInvariant::check_withdrawn() {
    std::set<VenueAccount> accounts;
    for (const auto& [key, instance] : instances_) {
        accounts.insert(key.first);
    }
    for (const VenueAccount& account : accounts) {
        for (const VenueOrder& open : venue_.open_orders(account)) {
            const auto order = orders_.find({account, open.order_client_id});
            const StrategyInstance* instance =
                order == orders_.end() ? nullptr : instance_of(account, order->second.strategy_id);
            if (instance != nullptr && instance->mode != InstanceMode::active) {
                broken(
                    "strategy",
                    open.order_client_id.text() + " of " + name_of(*instance) + ", which is " +
                        std::string(to_word(instance->mode)) + ", is still at the venue");
            }
        }
    }
}

void TraderInvariant::check_rest(const StrategyRuntime& running, LedgerStore& store) {
    check_running(running);
    check_claims(store);
    check_withdrawn();
    for (const auto& [name, concern] : concerns_) {
        if (concern.switching) {
            broken("switch", name_of(concern) + " is still switching at the quiet end");
        }
    }
}

void TraderInvariant::on_reply(const Command& command, const Result<Answer>& result, bool is_calm) {
    if (!result) {
        return;
    }
    // The server's own turns go before a caller's, so by now a switch that the crash interrupted
    // has been rolled back. Only a stop overtakes them: it waits for nothing (I6).
    const bool overtakes = command.kind == Command::Kind::kill_on;
    for (const auto& [name, decision_id] : inherited_) {
        if (is_calm && !overtakes && name.account.tenant_id == command.tenant_id) {
            broken(
                "switch",
                "the restart left the switch " + decision_id.text() + " of " +
                    command.tenant_id.text() + " as it was");
        }
    }
    const auto answer = parse_json(result->body);
    if (command.kind == Command::Kind::control && answer) {
        check_answer(command, *answer);
    } else if (command.kind == Command::Kind::helper && answer) {
        check_helper_answer(command, *answer);
    }
}

// What people do to a concern becomes a decision of its own, under an id bound to their key.
void TraderInvariant::check_helper_answer(const Command& command, const Json& answer) {
    const std::string decision = text_at(answer, "decision_id");
    if (!decision.empty() &&
        !statuses_[{command.tenant_id, decision}].contains(text_at(answer, "status"))) {
        broken(
            "control", "a person's move is not on record as answered: (" + to_text(command) + ")");
    }
}

void TraderInvariant::check_answer(const Command& command, const Json& answer) {
    const std::string status = text_at(answer, "status");
    std::vector<Attempt>& attempts = on_record_[{command.tenant_id, payload_text(command.body)}];
    const auto found = std::find_if(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
        return attempt.status == status &&
               attempt.validation == bytes_of(answer.find("validation")) &&
               attempt.result == bytes_of(answer.find("result")) &&
               attempt.applied_at == text_at(answer, "applied_at");
    });
    if (found == attempts.end()) {
        broken(
            "control",
            "an attempt was answered " + status + " and is not on record so: (" + to_text(command) +
                ")");
        return;
    }
    attempts.erase(found);  // Each answer has a record of its own.
    const DecisionName name{command.tenant_id, text_at(command.body, "decision_id")};
    const Json* result = answer.find("result");
    const Json* original = result == nullptr ? nullptr : result->find("original");
    if (status == "applied" && !is_true(answer, "dry_run")) {
        first_answers_.try_emplace(name, bytes_of(&answer));
    } else if (original != nullptr && text_at(*original, "status") == "applied") {
        const auto first = first_answers_.find(name);
        if (first != first_answers_.end() && first->second != bytes_of(original)) {
            broken("control", name.second + " is told otherwise than it was answered");
        }
        if (applied_[name] != 1) {
            broken("control", name.second + " counts as applied, but no record says so");
        }
    }
}

}  // namespace interlock::sim
