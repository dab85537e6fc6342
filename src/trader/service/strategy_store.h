// Strategy instances and concerns in the store (docs/contracts/control-decision.md#concerns).
//
//     strategies/<tenant>/<mode>            which instances there are
//     strategy/<tenant>/<mode>/<id>         one instance
//     concern/<tenant>/<mode>/<concern>     one concern
//     concern/<tenant>/<mode>/<concern>/<id>  where one of its instances stands
//     control/<tenant>/<decision>           what became of a control decision, forever
//     blocked/<account>                     what keeps an account from trading, as on record
//
// What control decisions change of an instance has a small row of its own, beside its concern: its
// configuration and memory, which may be long, are not written again with every decision. The row
// appears with the first such change and has the last word from then on.
//
// That a concern has one active strategy at most is a claim of the store, taken and released with
// the row that says so: two of them cannot be committed, whatever the code above believes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/service/turn.h"
#include "host/wire/blocked.h"
#include "trader/rules/concern_step.h"
#include "trader/service/strategy_keeper.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

class TurnRunner;

// Instances of one tenant in one mode; one more is refused.
inline constexpr std::size_t kInstancesMax = 2000;

// Whose instances: a tenant in one mode.
struct StrategyScope {
    TenantId tenant_id;
    TradeMode mode = TradeMode::paper;
    friend auto operator<=>(const StrategyScope&, const StrategyScope&) = default;
};
StrategyScope scope_of(const VenueAccount& account);

struct InstanceList {
    std::vector<StrategyId> ids;  // In the order of their creation.
    friend bool operator==(const InstanceList&, const InstanceList&) = default;
};
Json encode(const InstanceList& list);
Result<InstanceList> decode_instance_list(const Json& json);

// What a control decision changes of an instance.
struct InstanceStanding {
    InstanceMode mode = InstanceMode::off;
    bool paused = false;
    std::string last_transition;
    std::int64_t version = 0;  // The instance's, when this was written.
    Timestamp updated_at;
    friend bool operator==(const InstanceStanding&, const InstanceStanding&) = default;
};
InstanceStanding standing_of(const StrategyInstance& instance);
std::string row_text(const InstanceStanding& standing);
Result<InstanceStanding> decode_instance_standing(const Json& json);
// The instance as it is: as its own row has it, but for where it stands.
StrategyInstance with_standing(StrategyInstance instance, const InstanceStanding& standing);

std::string instance_key(const StrategyScope& scope, const StrategyId& id);
std::string standing_key(const StrategyInstance& instance);
bool is_standing_key(std::string_view machine_key);
std::string concern_key(const StrategyScope& scope, const ConcernId& id);

Result<std::shared_ptr<const InstanceList>> load_instance_list(
    Turn& turn, const StrategyScope& scope);
void save_instance_list(Turn& turn, const StrategyScope& scope, InstanceList list);

// Null when there is none, or it was deleted.
Result<std::shared_ptr<const StrategyInstance>> load_instance(
    Turn& turn, const StrategyScope& scope, const StrategyId& id);
// Deleted ones too.
Result<std::shared_ptr<const StrategyInstance>> load_any_instance(
    Turn& turn, const StrategyScope& scope, const StrategyId& id);
// All there are in the store, deleted ones too.
Result<std::vector<StrategyInstance>> stored_instances(TurnRunner& runner);
Result<std::vector<Concern>> stored_concerns(TurnRunner& runner);
// Raises the version and writes the rows that change; gives the instance as saved.
std::shared_ptr<const StrategyInstance> save_instance(Turn& turn, StrategyInstance instance);

Result<std::shared_ptr<const Concern>> load_concern(
    Turn& turn, const StrategyScope& scope, const ConcernId& id);
Result<std::shared_ptr<const Concern>> load_concern_of(
    Turn& turn, const VenueAccount& account, const Symbol& symbol);
void save_concern(Turn& turn, Concern concern);

// What a concern's active instance holds.
Claim activity_claim(const Concern& concern, const StrategyId& holder);
// Make the instance the concern's active one, or take that from it. Both values and the claim
// change together; the caller saves instance and concern.
void take_activity(Turn& turn, Concern& concern, StrategyInstance& instance);
void release_activity(
    Turn& turn, Concern& concern, StrategyInstance& instance, InstanceMode afterwards);

// What was noted last of an account and its strategies (kill-switch.md 2.5.1); kept, so that a
// restart notes nothing twice. Codes of `Blocked`; an absent one trades.
struct BlockedRow {
    std::string code;
    std::map<StrategyId, std::string> strategies;
    friend bool operator==(const BlockedRow&, const BlockedRow&) = default;
};
Result<BlockedRow> load_blocked(Turn& turn, const VenueAccount& account);
void save_blocked(Turn& turn, const VenueAccount& account, const BlockedRow& row);

// One record when an account, or one strategy of it, stops trading, and one when it goes on.
struct BlockNote {
    const VenueAccount& account;
    const StrategyId* strategy_id = nullptr;  // Nothing: all of the account.
    const std::optional<Blocked>& blocked;
    std::string& noted;  // The code on record.
    std::string_view ended_because = "it trades again";
};
Result<void> note_blocked(Turn& turn, const BlockNote& note);
// After somebody's word: what blocked a strategy that trades no more ends on record with it, and
// what blocked their account once nothing of it ticks that would see the end.
// Without a keeper no kept instance ticks.
Result<void> settle_blocks(Turn& turn, const VenueAccount& account, const StrategyKeeper* keeper);

// What is remembered of a decision id. The answer is told by the record of the attempt; the row
// only says where that lies.
struct ControlRow {
    ControlHistory history;
    std::int64_t seq = 0;     // Of the record in the tenant's ledger; 0: the answer is in here.
    std::string answer_text;  // A JSON document; not stored beside a `seq`.
};
std::string row_text(const ControlRow& row);
Result<ControlRow> decode_control_row(const Json& json);
// Of the decision's own tenant: a switch may end in a turn of the system's.
Result<std::shared_ptr<const ControlRow>> load_control_row(
    Turn& turn, const TenantId& tenant_id, const DecisionId& id);
void save_control_row(Turn& turn, const TenantId& tenant_id, const DecisionId& id, ControlRow row);
// The answer that was given then.
Result<Json> answer_of(Turn& turn, const TenantId& tenant_id, const ControlRow& row);

}  // namespace interlock
