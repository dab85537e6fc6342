#include "trader/service/strategy_store.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/canonical_writer.h"
#include "codec/field_reader.h"
#include "engine/service/archive_read.h"
#include "engine/service/turn_runner.h"
#include "trader/wire/control_text.h"
#include "trader/wire/strategy_text.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kControlStatuses{"applied", "rejected", "noop", "failed"};
constexpr std::array<std::string_view, 3> kInstanceModeWords{"off", "observe", "active"};
constexpr std::size_t kStandingBytesExpected = 192;
constexpr std::size_t kControlBytesExpected = 160;

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

std::string blocked_key(const VenueAccount& account) {
    return "blocked/" + account_key(account);
}

Json encode_blocked_row(const BlockedRow& row) {
    Json strategies = Json::object();
    for (const auto& [id, code] : row.strategies) {
        strategies.set(id.text(), code);
    }
    return Json::object({{"code", row.code}, {"strategies", std::move(strategies)}});
}

Result<BlockedRow> decode_blocked_row(const Json& json) {
    FieldReader in(json);
    BlockedRow row;
    row.code = in.required<std::string>("code");
    if (const Json* strategies = in.optional_object("strategies")) {
        for (const auto& [id, code] : strategies->members()) {
            if (!code.is_string()) {
                return fail(errors::corrupt_data, "A strategy's reason is not a word.");
            }
            row.strategies[StrategyId::trusted(id)] = code.as_string();
        }
    }
    in.reject_unknown();
    return in.finish(std::move(row));
}

// Whether somebody looks at the instance now and then; a kept one by its keeper alone.
Result<bool> ticks_now(
    Turn& turn,
    const StrategyInstance* instance,
    const VenueAccount& account,
    const StrategyKeeper* keeper) {
    if (instance == nullptr || instance->account != account || instance->paused ||
        instance->is_latched || instance->mode == InstanceMode::off) {
        return false;
    }
    if (!is_kept_strategy(instance->strategy_id)) {
        return true;
    }
    return keeper == nullptr ? Result<bool>(false) : keeper->is_ticking(turn, account);
}

std::string list_key(const StrategyScope& scope) {
    return joined({"strategies", scope.tenant_id.text(), to_word(scope.mode)});
}

std::string control_key(const TenantId& tenant_id, const DecisionId& id) {
    return joined({"control", tenant_id.text(), id.text()});
}

// Older rows hold the answer instead of the place of its record, and the oldest hold its text as a
// string.
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

// Where an instance stands, with the whole of it as last put together: engine thread only.
struct StandingRow {
    InstanceStanding standing;
    mutable std::shared_ptr<const StrategyInstance> base = nullptr;  // What `whole` was made of.
    mutable std::shared_ptr<const StrategyInstance> whole = nullptr;
};

Result<StandingRow> decode_standing_row(const Json& json) {
    TRY_ASSIGN(InstanceStanding standing, decode_instance_standing(json));
    return StandingRow{.standing = std::move(standing)};
}

// Alike in everything but where they stand.
bool is_same_base(const StrategyInstance& a, const StrategyInstance& b) {
    return a.ticks == b.ticks && a.fail_count == b.fail_count && a.is_latched == b.is_latched &&
           a.is_deleted == b.is_deleted && a.last_tick_at == b.last_tick_at &&
           a.last_error == b.last_error && a.name == b.name && a.symbol == b.symbol &&
           a.strategy_type == b.strategy_type && a.account == b.account && a.base == b.base &&
           a.quote == b.quote && a.created_at == b.created_at && a.memory == b.memory &&
           a.config == b.config && a.policy == b.policy;
}

bool is_same_place(const InstanceStanding& a, const InstanceStanding& b) {
    return a.mode == b.mode && a.paused == b.paused && a.last_transition == b.last_transition;
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
void Turn::save_as<StandingRow>(
    const std::string& machine_key, std::shared_ptr<const StandingRow> value) {
    HeldState& held = stage(machine_key, row_text(value->standing));
    held.value = std::move(value);
    held.value_type = &kStateTypeTag<StandingRow>;
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

std::string standing_key(const StrategyInstance& instance) {
    return joined(
        {"concern",
         instance.account.tenant_id.text(),
         to_word(instance.account.mode),
         concern_id_of(instance.account.account_id, instance.symbol).text(),
         instance.strategy_id.text()});
}

// Ids hold no slash.
bool is_standing_key(std::string_view machine_key) {
    return machine_key.starts_with("concern/") && std::ranges::count(machine_key, '/') == 4;
}

InstanceStanding standing_of(const StrategyInstance& instance) {
    return {
        .mode = instance.mode,
        .paused = instance.paused,
        .last_transition = instance.last_transition,
        .version = instance.version,
        .updated_at = instance.updated_at};
}

StrategyInstance with_standing(StrategyInstance instance, const InstanceStanding& standing) {
    instance.mode = standing.mode;
    instance.paused = standing.paused;
    instance.last_transition = standing.last_transition;
    instance.version = std::max(instance.version, standing.version);
    instance.updated_at = std::max(instance.updated_at, standing.updated_at);
    return instance;
}

std::string row_text(const InstanceStanding& standing) {
    std::string text;
    text.reserve(kStandingBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.text("mode", to_word(standing.mode));
    out.flag("paused", standing.paused);
    out.text("last_transition", standing.last_transition);
    out.raw("version", std::to_string(standing.version));
    out.raw("updated_at", std::to_string(standing.updated_at.microseconds));
    out.close_object();
    return text;
}

Result<InstanceStanding> decode_instance_standing(const Json& json) {
    FieldReader in(json);
    InstanceStanding standing;
    standing.mode = static_cast<InstanceMode>(in.required_word_index("mode", kInstanceModeWords));
    standing.paused = in.required<bool>("paused");
    standing.last_transition = in.required<std::string>("last_transition");
    standing.version = in.required<std::int64_t>("version");
    standing.updated_at = Timestamp{in.required<std::int64_t>("updated_at")};
    in.reject_unknown();
    return in.finish(std::move(standing));
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
    TRY_ASSIGN(
        auto base,
        turn.load_as<StrategyInstance>(instance_key(scope, id), decode_strategy_instance));
    if (!base) {
        return base;
    }
    TRY_ASSIGN(const auto row, turn.load_as<StandingRow>(standing_key(*base), decode_standing_row));
    if (!row) {
        return base;
    }
    if (row->base != base) {
        row->whole = std::make_shared<const StrategyInstance>(with_standing(*base, row->standing));
        row->base = std::move(base);
    }
    return row->whole;
}

std::shared_ptr<const StrategyInstance> save_instance(Turn& turn, StrategyInstance instance) {
    ++instance.version;
    instance.updated_at = turn.now();
    const auto saved = std::make_shared<const StrategyInstance>(std::move(instance));
    const std::string key = instance_key(scope_of(saved->account), saved->strategy_id);
    const std::string key_of_standing = standing_key(*saved);
    // What cannot be read was not loaded either: then all of it is written.
    auto base = turn.load_as<StrategyInstance>(key, decode_strategy_instance).value_or(nullptr);
    std::shared_ptr<const StandingRow> row;
    if (base) {
        row = turn.load_as<StandingRow>(key_of_standing, decode_standing_row).value_or(nullptr);
    }
    InstanceStanding standing = standing_of(*saved);
    const bool keeps_base = base && is_same_base(*base, *saved);
    const bool moves = base && !is_same_place(row ? row->standing : standing_of(*base), standing);
    if (!keeps_base) {
        base = saved;
        turn.save_as<StrategyInstance>(key, saved);
    }
    if (keeps_base || moves) {
        turn.save_as<StandingRow>(
            key_of_standing,
            std::make_shared<const StandingRow>(
                StandingRow{.standing = std::move(standing), .base = base, .whole = saved}));
    }
    return saved;
}

Result<std::vector<StrategyInstance>> stored_instances(TurnRunner& runner) {
    std::vector<StrategyInstance> instances;
    TRY_ASSIGN(const auto rows, runner.stored_states("strategy/"));
    TRY_ASSIGN(const auto concerns, runner.stored_states("concern/"));
    for (const auto& [key, state] : rows) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        TRY_ASSIGN(StrategyInstance instance, decode_strategy_instance(json));
        const auto row = concerns.find(standing_key(instance));
        if (row != concerns.end()) {
            TRY_ASSIGN(const Json stands, parse_json(row->second.json));
            TRY_ASSIGN(const InstanceStanding standing, decode_instance_standing(stands));
            instance = with_standing(std::move(instance), standing);
        }
        instances.push_back(std::move(instance));
    }
    return instances;
}

Result<std::vector<Concern>> stored_concerns(TurnRunner& runner) {
    std::vector<Concern> concerns;
    TRY_ASSIGN(const auto rows, runner.stored_states("concern/"));
    for (const auto& [key, state] : rows) {
        if (!is_standing_key(key)) {
            TRY_ASSIGN(const Json json, parse_json(state.json));
            TRY_ASSIGN(Concern concern, decode_concern(json));
            concerns.push_back(std::move(concern));
        }
    }
    return concerns;
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

Claim activity_claim(const Concern& concern, const StrategyId& holder) {
    return {
        .name = joined(
            {"active",
             concern.account.tenant_id.text(),
             to_word(concern.account.mode),
             concern.concern_id.text()}),
        .holder = holder.text()};
}

void take_activity(Turn& turn, Concern& concern, StrategyInstance& instance) {
    make_active(concern, instance, turn.now());
    turn.take_claim(activity_claim(concern, instance.strategy_id));
}

void release_activity(
    Turn& turn, Concern& concern, StrategyInstance& instance, InstanceMode afterwards) {
    make_inactive(concern, instance, afterwards);
    turn.release_claim(activity_claim(concern, instance.strategy_id));
}

Result<BlockedRow> load_blocked(Turn& turn, const VenueAccount& account) {
    return turn.load_or(blocked_key(account), decode_blocked_row, BlockedRow{});
}

void save_blocked(Turn& turn, const VenueAccount& account, const BlockedRow& row) {
    turn.save(blocked_key(account), encode_blocked_row(row));
}

Result<void> note_blocked(Turn& turn, const BlockNote& note) {
    const std::string now = note.blocked ? note.blocked->code : std::string();
    const std::string was = std::exchange(note.noted, now);
    if (now == was) {
        return {};
    }
    // The first and the last of these come in pairs; a reason that takes another's place lies
    // between them.
    AuditDraft draft = turn.draft(
        was.empty()   ? "TRADING_BLOCKED"
        : now.empty() ? "TRADING_UNBLOCKED"
                      : "TRADING_BLOCK_CHANGED");
    draft.tenant_id = note.account.tenant_id;
    draft.step = AuditStep::plan;
    draft.reason = note.blocked ? note.blocked->reason : std::string(note.ended_because);
    draft.detail = Json::object(
        {{"account", encode(note.account)}, {"was", was}, {"blocked", encode(note.blocked)}});
    if (note.strategy_id != nullptr) {
        draft.detail.set("strategy_id", note.strategy_id->text());
    }
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<void> settle_blocks(Turn& turn, const VenueAccount& account, const StrategyKeeper* keeper) {
    TRY_ASSIGN(const BlockedRow before, load_blocked(turn, account));
    if (before == BlockedRow{}) {
        return {};
    }
    constexpr std::string_view kEnded = "it does not run any more";
    const std::optional<Blocked> nothing;
    BlockedRow row = before;
    for (auto& [id, code] : row.strategies) {
        TRY_ASSIGN(const auto instance, load_instance(turn, scope_of(account), id));
        TRY_ASSIGN(const bool is_ticking, ticks_now(turn, instance.get(), account, keeper));
        if (!is_ticking || instance->mode != InstanceMode::active) {
            TRY(note_blocked(turn, {account, &id, nothing, code, kEnded}));
        }
    }
    std::erase_if(row.strategies, [](const auto& one) { return one.second.empty(); });
    bool is_watched = row.code.empty() || !row.strategies.empty();
    if (!is_watched) {
        TRY_ASSIGN(const auto known, load_instance_list(turn, scope_of(account)));
        for (std::size_t i = 0; i < known->ids.size() && !is_watched; ++i) {
            TRY_ASSIGN(const auto one, load_instance(turn, scope_of(account), known->ids[i]));
            TRY_ASSIGN(is_watched, ticks_now(turn, one.get(), account, keeper));
        }
    }
    if (!is_watched) {
        TRY(note_blocked(turn, {account, nullptr, nothing, row.code, kEnded}));
    }
    if (row != before) {
        save_blocked(turn, account, row);
    }
    return {};
}

std::string row_text(const ControlRow& row) {
    std::string text;
    text.reserve(kControlBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.text("fingerprint", row.history.fingerprint);
    out.text("status", to_word(row.history.status));
    out.raw("attempts", std::to_string(row.history.attempts));
    if (row.seq > 0) {
        out.raw("seq", std::to_string(row.seq));
    } else {
        out.raw("answer", row.answer_text);
    }
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
    row.seq = in.optional_or<std::int64_t>("seq", 0);
    if (row.seq <= 0) {
        row.answer_text = read_answer(in);
    }
    return in.finish(std::move(row));
}

Result<std::shared_ptr<const ControlRow>> load_control_row(
    Turn& turn, const TenantId& tenant_id, const DecisionId& id) {
    return turn.load_as<ControlRow>(
        control_key(tenant_id, id), decode_control_row, KeepState::in_store);
}

void save_control_row(Turn& turn, const TenantId& tenant_id, const DecisionId& id, ControlRow row) {
    turn.save_as<ControlRow>(
        control_key(tenant_id, id), std::make_shared<const ControlRow>(std::move(row)));
}

Result<Json> answer_of(Turn& turn, const TenantId& tenant_id, const ControlRow& row) {
    if (!row.answer_text.empty()) {
        return parse_json(row.answer_text);
    }
    TRY_ASSIGN(const auto entries, turn.store().read_ledger(tenant_id, row.seq - 1, 1));
    if (entries.empty() || entries.front().seq != row.seq) {
        TRY_ASSIGN(
            const ArchiveState archive,
            turn.load_or(archive_key(tenant_id), decode_archive, ArchiveState{}));
        if (const ArchivedSegment* segment = archive.find(row.seq)) {
            return archived_error(tenant_id, row.seq, *segment);
        }
        // The ledger is damaged, and no answer is better than one that it does not bear out.
        return fail(
            errors::corrupt_data,
            "Record " + std::to_string(row.seq) + " of " + tenant_id.text() + " is missing.");
    }
    TRY_ASSIGN(const Json json, parse_json(entries.front().canonical_json));
    TRY_ASSIGN(const AuditRecord record, decode_audit_record(json));
    return answer_from_detail(record.draft.detail);
}

}  // namespace interlock
