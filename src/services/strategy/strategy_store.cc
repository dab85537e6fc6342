#include "services/strategy/strategy_store.h"

#include <array>

#include "base/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kControlStatuses{"applied", "rejected", "noop", "failed"};

std::string path_of(std::string_view kind, const StrategyScope& scope) {
    return std::string(kind) + "/" + scope.tenant_id.text() + "/" +
           std::string(to_word(scope.mode));
}

std::string control_key(const TenantId& tenant_id, const DecisionId& id) {
    return "control/" + tenant_id.text() + "/" + id.text();
}

Claim claim_of(const Concern& concern, const StrategyId& holder) {
    return {
        .name = path_of("active", scope_of(concern.account)) + "/" + concern.concern_id.text(),
        .holder = holder.text()};
}

}  // namespace

StrategyScope scope_of(const VenueAccount& account) {
    return {account.tenant_id, account.mode};
}

Json encode(const InstanceList& list) {
    Json ids = Json::array();
    for (const StrategyId& id : list.ids) {
        ids.push(id.text());
    }
    return Json::object({{"ids", std::move(ids)}});
}

Result<InstanceList> decode_instance_list(const Json& json) {
    FieldReader in(json);
    InstanceList list;
    for (const Json& item : in.required_array("ids", kInstancesMax)) {
        TRY_ASSIGN(StrategyId id, StrategyId::parse(item.is_string() ? item.as_string() : ""));
        list.ids.push_back(std::move(id));
    }
    return in.finish(std::move(list));
}

std::string instance_key(const StrategyScope& scope, const StrategyId& id) {
    return path_of("strategy", scope) + "/" + id.text();
}

std::string concern_key(const StrategyScope& scope, const ConcernId& id) {
    return path_of("concern", scope) + "/" + id.text();
}

Result<std::shared_ptr<const InstanceList>> load_instance_list(
    Turn& turn, const StrategyScope& scope) {
    TRY_ASSIGN(
        auto list, turn.load_as<InstanceList>(path_of("strategies", scope), decode_instance_list));
    return list ? list : std::make_shared<const InstanceList>();
}

void save_instance_list(Turn& turn, const StrategyScope& scope, InstanceList list) {
    turn.save_as<InstanceList>(
        path_of("strategies", scope), std::make_shared<const InstanceList>(std::move(list)));
}

Result<std::shared_ptr<const StrategyInstance>> load_instance(
    Turn& turn, const StrategyScope& scope, const StrategyId& id) {
    TRY_ASSIGN(
        auto instance,
        turn.load_as<StrategyInstance>(instance_key(scope, id), decode_strategy_instance));
    return instance && instance->is_deleted ? nullptr : instance;
}

Result<bool> was_ever_instance(Turn& turn, const StrategyScope& scope, const StrategyId& id) {
    TRY_ASSIGN(
        const auto instance,
        turn.load_as<StrategyInstance>(instance_key(scope, id), decode_strategy_instance));
    return instance != nullptr;
}

void save_instance(Turn& turn, StrategyInstance instance) {
    ++instance.version;
    instance.updated_at = turn.now();
    const std::string key = instance_key(scope_of(instance.account), instance.strategy_id);
    turn.save_as<StrategyInstance>(
        key, std::make_shared<const StrategyInstance>(std::move(instance)));
}

Result<std::shared_ptr<const Concern>> load_concern(
    Turn& turn, const StrategyScope& scope, const ConcernId& id) {
    return turn.load_as<Concern>(concern_key(scope, id), decode_concern);
}

Result<std::shared_ptr<const Concern>> load_concern_of(
    Turn& turn, const VenueAccount& account, const Symbol& symbol) {
    const ConcernId id = concern_id_of(account.account_id, symbol);
    if (id.empty()) {
        return nullptr;  // No strategies on an account with so long a name.
    }
    return load_concern(turn, scope_of(account), id);
}

void save_concern(Turn& turn, Concern concern) {
    ++concern.version;
    const std::string key = concern_key(scope_of(concern.account), concern.concern_id);
    turn.save_as<Concern>(key, std::make_shared<const Concern>(std::move(concern)));
}

void take_activity(Turn& turn, Concern& concern, StrategyInstance& instance) {
    instance.mode = InstanceMode::active;
    instance.paused = false;
    concern.active_strategy_id = instance.strategy_id;
    concern.activated_at = turn.now();
    turn.take_claim(claim_of(concern, instance.strategy_id));
}

void release_activity(
    Turn& turn, Concern& concern, StrategyInstance& instance, InstanceMode afterwards) {
    instance.mode = afterwards;
    instance.paused = false;
    concern.active_strategy_id.reset();
    concern.activated_at.reset();
    turn.release_claim(claim_of(concern, instance.strategy_id));
}

Json encode(const ControlRow& row) {
    return Json::object({
        {"fingerprint", row.history.fingerprint},
        {"status", to_word(row.history.status)},
        {"attempts", row.history.attempts},
        {"answer", row.answer_text},
        {"first_at", to_text(row.first_at)},
        {"last_at", to_text(row.last_at)},
    });
}

Result<ControlRow> decode_control_row(const Json& json) {
    FieldReader in(json);
    ControlRow row;
    row.history.fingerprint = in.required<std::string>("fingerprint");
    row.history.status =
        static_cast<ControlStatus>(in.required_word_index("status", kControlStatuses));
    row.history.attempts = in.required<std::int64_t>("attempts");
    row.answer_text = in.required<std::string>("answer");
    row.first_at = in.required<Timestamp>("first_at");
    row.last_at = in.required<Timestamp>("last_at");
    return in.finish(std::move(row));
}

Result<std::shared_ptr<const ControlRow>> load_control_row(Turn& turn, const DecisionId& id) {
    return turn.load_as<ControlRow>(control_key(turn.tenant_id(), id), decode_control_row);
}

void save_control_row(Turn& turn, const DecisionId& id, ControlRow row) {
    turn.save_as<ControlRow>(
        control_key(turn.tenant_id(), id), std::make_shared<const ControlRow>(std::move(row)));
}

}  // namespace interlock
