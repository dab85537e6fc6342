#include "services/strategy/strategy_store.h"

#include <array>

#include "base/field_reader.h"
#include "contracts/canonical_writer.h"
#include "contracts/strategy/strategy_text.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kControlStatuses{"applied", "rejected", "noop", "failed"};

// Keys are made with every look at a row, hence in one piece.
std::string joined(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (const std::string_view part : parts) {
        size += part.size() + 1;
    }
    std::string path;
    path.reserve(size);
    for (const std::string_view part : parts) {
        path += path.empty() ? "" : "/";
        path += part;
    }
    return path;
}

std::string list_key(const StrategyScope& scope) {
    return joined({"strategies", scope.tenant_id.text(), to_word(scope.mode)});
}

std::string control_key(const TenantId& tenant_id, const DecisionId& id) {
    return joined({"control", tenant_id.text(), id.text()});
}

Claim claim_of(const Concern& concern, const StrategyId& holder) {
    return {
        .name = joined(
            {"active",
             concern.account.tenant_id.text(),
             to_word(concern.account.mode),
             concern.concern_id.text()}),
        .holder = holder.text()};
}

// Older rows hold the document's text as a string.
std::string read_answer(FieldReader& in) {
    Json answer = in.required<Json>("answer");
    if (answer.is_string()) {
        answer = parse_json(answer.as_string()).value_or(Json());
    }
    if (!answer.is_object()) {
        in.add_problem("answer", "expected an object");
    }
    return to_text(answer);
}

}  // namespace

// Rows that every decision and many ticks save have writers of their own.
template <>
void Turn::save_as<StrategyInstance>(
    const std::string& machine_key, std::shared_ptr<const StrategyInstance> value) {
    HeldState& held = stage(machine_key, row_text(*value));
    held.value = std::move(value);
    held.value_type = &kStateTypeTag<StrategyInstance>;
}
template <>
void Turn::save_as<Concern>(const std::string& machine_key, std::shared_ptr<const Concern> value) {
    HeldState& held = stage(machine_key, row_text(*value));
    held.value = std::move(value);
    held.value_type = &kStateTypeTag<Concern>;
}
template <>
void Turn::save_as<ControlRow>(
    const std::string& machine_key, std::shared_ptr<const ControlRow> value) {
    // Asked for again only when a decision is repeated.
    HeldState& held = stage(machine_key, row_text(*value), KeepState::in_store);
    held.value = std::move(value);
    held.value_type = &kStateTypeTag<ControlRow>;
}

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
    return joined({"strategy", scope.tenant_id.text(), to_word(scope.mode), id.text()});
}

std::string concern_key(const StrategyScope& scope, const ConcernId& id) {
    return joined({"concern", scope.tenant_id.text(), to_word(scope.mode), id.text()});
}

Result<std::shared_ptr<const InstanceList>> load_instance_list(
    Turn& turn, const StrategyScope& scope) {
    TRY_ASSIGN(auto list, turn.load_as<InstanceList>(list_key(scope), decode_instance_list));
    return list ? list : std::make_shared<const InstanceList>();
}

void save_instance_list(Turn& turn, const StrategyScope& scope, InstanceList list) {
    turn.save_as<InstanceList>(
        list_key(scope), std::make_shared<const InstanceList>(std::move(list)));
}

Result<std::shared_ptr<const StrategyInstance>> load_instance(
    Turn& turn, const StrategyScope& scope, const StrategyId& id) {
    TRY_ASSIGN(auto instance, load_any_instance(turn, scope, id));
    return instance && instance->is_deleted ? nullptr : instance;
}

Result<std::shared_ptr<const StrategyInstance>> load_any_instance(
    Turn& turn, const StrategyScope& scope, const StrategyId& id) {
    return turn.load_as<StrategyInstance>(instance_key(scope, id), decode_strategy_instance);
}

std::shared_ptr<const StrategyInstance> save_instance(Turn& turn, StrategyInstance instance) {
    ++instance.version;
    instance.updated_at = turn.now();
    const auto saved = std::make_shared<const StrategyInstance>(std::move(instance));
    turn.save_as<StrategyInstance>(
        instance_key(scope_of(saved->account), saved->strategy_id), saved);
    return saved;
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
        {"answer", parse_json(row.answer_text).value()},
        {"first_at", to_text(row.first_at)},
        {"last_at", to_text(row.last_at)},
    });
}

std::string row_text(const ControlRow& row) {
    std::string text;
    text.reserve(256 + row.answer_text.size());
    CanonicalWriter out(text);
    out.open_object();
    out.text("fingerprint", row.history.fingerprint);
    out.text("status", to_word(row.history.status));
    out.raw("attempts", std::to_string(row.history.attempts));
    out.raw("answer", row.answer_text);
    out.text("first_at", to_text(row.first_at));
    out.text("last_at", to_text(row.last_at));
    out.close_object();
    return text;
}

Result<ControlRow> decode_control_row(const Json& json) {
    FieldReader in(json);
    ControlRow row;
    row.history.fingerprint = in.required<std::string>("fingerprint");
    row.history.status =
        static_cast<ControlStatus>(in.required_word_index("status", kControlStatuses));
    row.history.attempts = in.required<std::int64_t>("attempts");
    row.answer_text = read_answer(in);
    row.first_at = in.required<Timestamp>("first_at");
    row.last_at = in.required<Timestamp>("last_at");
    return in.finish(std::move(row));
}

Result<std::shared_ptr<const ControlRow>> load_control_row(
    Turn& turn, const TenantId& tenant_id, const DecisionId& id) {
    return turn.load_as<ControlRow>(control_key(tenant_id, id), decode_control_row);
}

void save_control_row(Turn& turn, const TenantId& tenant_id, const DecisionId& id, ControlRow row) {
    turn.save_as<ControlRow>(
        control_key(tenant_id, id), std::make_shared<const ControlRow>(std::move(row)));
}

}  // namespace interlock
