#include "sim/plants.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/errors.h"
#include "engine/rules/hash_chain.h"
#include "engine/service/outbox_runner.h"

namespace interlock::sim {
namespace {

using Store = PlantInfo::Store;

constexpr std::array<PlantInfo, 47> kPlants{{
    {Plant::act_before_commit,
     "act_before_commit",
     "effects are sent while their turn is still being committed",
     "I1 I3"},
    {Plant::drop_head,
     "drop_head",
     "a restart loses the last record of a chain together with its head",
     "chain durability",
     Store::memory},
    {Plant::forget_answer, "forget_answer", "answers are not stored under their keys", "I2"},
    {Plant::resend_unknown,
     "resend_unknown",
     "an effect whose outcome is not known is sent again",
     "I4"},
    {Plant::latch_ignored, "latch_ignored", "the way to the sink does not look at the latch", "I6"},
    {Plant::release_without_human,
     "release_without_human",
     "asking for a release lowers the latch at once",
     "I6, blocked"},
    {Plant::cross_tenant_answer,
     "cross_tenant_answer",
     "keys and lists of one tenant answer for another",
     "I7"},
    {Plant::torn_batch, "torn_batch", "a crash leaves half of a batch behind", "batch durability"},
    {Plant::ack_before_sync,
     "ack_before_sync",
     "the disk says that it synced and did not",
     "I1 durability chain batch",
     Store::disk},
    {Plant::reuse_seq,
     "reuse_seq",
     "a restart writes another record under a sequence number that was used",
     "chain batch",
     Store::memory},
    {Plant::trust_unreadable_flag,
     "trust_unreadable_flag",
     "a KILL file that cannot be read counts as none",
     "I5"},
    {Plant::agent_approves,
     "agent_approves",
     "an agent's vote passes for that of a human",
     "approval"},
    {Plant::lose_reply, "lose_reply", "now and then a caller gets no reply", "reply"},
    {Plant::skip_gate,
     "skip_gate",
     "a plan that a gate rejected is sent to the venue all the same",
     "I3 N2 blocked",
     Store::any,
     true},
    {Plant::lose_fill,
     "lose_fill",
     "some fills of the venue never reach the books",
     "books progress",
     Store::any,
     true},
    {Plant::double_fee,
     "double_fee",
     "the fee of a fill is counted twice",
     "books progress",
     Store::any,
     true},
    {Plant::forget_kill,
     "forget_kill",
     "a restart forgets that the kill switch is on",
     "I6, blocked"},
    {Plant::reuse_order_id,
     "reuse_order_id",
     "an order goes out under the id of the one before",
     "I4 order_id",
     Store::any,
     true},
    {Plant::drop_worst_case,
     "drop_worst_case",
     "what an order of unknown fate may still do is not reserved",
     "I4",
     Store::any,
     true},
    {Plant::loosen_limits,
     "loosen_limits",
     "a planner's call makes a limit of its account wider",
     "N7",
     Store::any,
     true},
    {Plant::keep_secret,
     "keep_secret",
     "what a planner sends is kept without masking the keys in it",
     "N8",
     Store::any,
     true},
    {Plant::hand_over_early,
     "hand_over_early",
     "a switch hands over without waiting for the cancels of the old strategy",
     "switch",
     Store::any,
     true,
     true},
    {Plant::keep_switching,
     "keep_switching",
     "a restart leaves a switch under way as it was",
     "switch",
     Store::any,
     true,
     true},
    {Plant::apply_again,
     "apply_again",
     "a decision that was applied is applied again when it is repeated",
     "control",
     Store::any,
     true,
     true},
    {Plant::drop_refusal,
     "drop_refusal",
     "a decision that cannot be read is refused without a record",
     "control",
     Store::any,
     true,
     true},
    {Plant::tick_observer,
     "tick_observer",
     "a strategy that only observes acts on its plan",
     "strategy control",
     Store::any,
     true,
     true},
    {Plant::forget_pause,
     "forget_pause",
     "a restart forgets that a strategy is paused",
     "control",
     Store::any,
     true,
     true},
    {Plant::forget_claim,
     "forget_claim",
     "the claim of the active strategy does not reach the store",
     "one_active durability",
     Store::any,
     true,
     true},
    {Plant::forget_running,
     "forget_running",
     "a restart does not run one of the strategies whose record says so",
     "running",
     Store::any,
     true,
     true},
    {Plant::take_liquidity,
     "take_liquidity",
     "a post-only order reaches the venue as one that may take",
     "maker books money progress",
     Store::any,
     true,
     false,
     true},
    {Plant::forget_inventory,
     "forget_inventory",
     "a bot forgets what it holds whenever it acts",
     "rails",
     Store::any,
     true,
     false,
     true},
    {Plant::forget_stop,
     "forget_stop",
     "a restart forgets that a bot was stopped",
     "bot_state",
     Store::any,
     true,
     false,
     true},
    {Plant::forget_bot,
     "forget_bot",
     "a restart shows a bot as if it had never been built",
     "bot_state",
     Store::any,
     true,
     false,
     true},
    {Plant::sweep_at_start,
     "sweep_at_start",
     "a restart cancels the orders that a stop left at the exchange",
     "left",
     Store::any,
     true,
     false,
     true},
    {Plant::plan_while_looking,
     "plan_while_looking",
     "strategies plan while recovery only looks at what a start found",
     "left",
     Store::any,
     true,
     false,
     true},
    {Plant::act_unasked,
     "act_unasked",
     "the strategies of a bot that does not trade act on their plans",
     "bot_idle",
     Store::any,
     true,
     false,
     true},
    {Plant::agent_applies,
     "agent_applies",
     "an agent's change of a bot is carried out without a human",
     "proposal",
     Store::any,
     true,
     false,
     true},
    {Plant::keep_version,
     "keep_version",
     "a change of a bot does not raise the version of its configuration",
     "proposal",
     Store::any,
     true,
     false,
     true},
    {Plant::forget_folds,
     "forget_folds",
     "a restart forgets what was counted and is not on record yet",
     "fold",
     Store::any,
     true},
    {Plant::trust_tampered,
     "trust_tampered",
     "a start that finds a broken chain notes it and lets its tenant trade",
     "tamper",
     Store::memory},
    {Plant::forget_break,
     "forget_break",
     "a start stops nobody for a break that one before it found and put on record",
     "tamper",
     Store::memory},
    {Plant::archive_too_much,
     "archive_too_much",
     "with the records before a cut goes the seal at it",
     "archive",
     Store::memory},
    {Plant::blur_touch,
     "blur_touch",
     "the slippage of market orders is measured against what was reserved for them",
     "slippage",
     Store::any,
     true},
    {Plant::shut_exit,
     "shut_exit",
     "a plan that only reduces is refused as an entry of a throttled strategy would be",
     "exit",
     Store::any,
     true},
    {Plant::skip_book,
     "skip_book",
     "the dry run does not say what the book does not carry",
     "N3",
     Store::any,
     true},
    {Plant::forget_blocked,
     "forget_blocked",
     "a restart forgets that a block is on record",
     "blocked",
     Store::any,
     true,
     true},
    {Plant::show_trading,
     "show_trading",
     "the status of a bot leaves out what keeps it from trading",
     "blocked",
     Store::any,
     true,
     false,
     true},
}};

constexpr PlantInfo kNone{Plant::none, "none", "nothing is broken", ""};

}  // namespace

std::span<const PlantInfo> all_plants() {
    return kPlants;
}

std::optional<Plant> find_plant(std::string_view name) {
    for (const PlantInfo& info : kPlants) {
        if (info.name == name) {
            return info.plant;
        }
    }
    return std::nullopt;
}

const PlantInfo& info_of(Plant plant) {
    const auto found = std::find_if(
        kPlants.begin(), kPlants.end(), [&](const PlantInfo& info) { return info.plant == plant; });
    return found == kPlants.end() ? kNone : *found;
}

Result<void> PlantedStore::commit(std::span<const TurnCommit> turns) {
    if (parts_.plant == Plant::act_before_commit) {
        for (const TurnCommit& turn : turns) {
            for (const OutboxItem& item : turn.outbox) {
                if (!adds_no_exposure(item.kind)) {
                    (void)parts_.sink.perform(item);
                }
            }
        }
    }
    if (parts_.plant == Plant::forget_answer) {
        std::vector<TurnCommit> without(turns.begin(), turns.end());
        for (TurnCommit& turn : without) {
            turn.answers.clear();
        }
        return inner_.commit(without);
    }
    if (parts_.plant == Plant::forget_claim) {
        std::vector<TurnCommit> without(turns.begin(), turns.end());
        for (TurnCommit& turn : without) {
            turn.claims_taken.clear();
            turn.claims_released.clear();
        }
        return inner_.commit(without);
    }
    constexpr std::uint64_t kTornEvery = 4;
    if (parts_.plant == Plant::torn_batch && turns.size() > 1 && ++batches_ % kTornEvery == 0) {
        (void)inner_.commit(turns.first(turns.size() / 2));
        parts_.power.on = false;
        return fail(errors::io_failed, "the power went in the middle of a batch");
    }
    return inner_.commit(turns);
}

Result<std::optional<StoredAnswer>> PlantedStore::find_answer(const AnswerKey& key) {
    TRY_ASSIGN(std::optional<StoredAnswer> found, inner_.find_answer(key));
    if (parts_.plant == Plant::cross_tenant_answer && !found) {
        for (const TenantId& other : parts_.people.tenants) {
            TRY_ASSIGN(found, inner_.find_answer({other, key.function, key.key}));
            if (found) {
                break;
            }
        }
    }
    return found;
}

Result<std::vector<std::optional<StoredAnswer>>> PlantedStore::find_answers(
    std::span<const AnswerKey> keys) {
    // Key by key where the mistake is about keys; else whatever the store below makes of it.
    return parts_.plant == Plant::cross_tenant_answer ? LedgerStore::find_answers(keys)
                                                      : inner_.find_answers(keys);
}

Result<EffectReceipt> ResendingSink::perform(const OutboxItem& effect) {
    Result<EffectReceipt> first = inner_.perform(effect);
    if (first || first.error() == errors::effect_refused) {
        return first;
    }
    return inner_.perform(effect);
}

void spoil_at_restart(Plant plant, MemoryLedgerContents& contents, MirrorModel& mirror) {
    if ((plant != Plant::drop_head && plant != Plant::reuse_seq) || contents.heads.empty()) {
        return;
    }
    auto& [tenant_id, head] = *std::max_element(
        contents.heads.begin(), contents.heads.end(), [](const auto& a, const auto& b) {
            return a.second.seq < b.second.seq;
        });
    if (head.seq < 2) {
        return;
    }
    const LedgerEntry last = contents.ledger.at({tenant_id, head.seq});
    contents.ledger.erase({tenant_id, head.seq});
    const LedgerEntry& before = contents.ledger.at({tenant_id, head.seq - 1});
    if (plant == Plant::drop_head) {
        head = {before.seq, before.hash};
        return;
    }
    const auto json = parse_json(last.canonical_json);
    CHECK(json.has_value());
    auto record = decode_audit_record(*json);
    CHECK(record.has_value());
    record->draft.reason += " (rewritten)";
    ChainHead chain{before.seq, before.hash};
    const auto sealed = seal(chain, record->draft);
    CHECK(sealed.has_value());
    contents.ledger[{tenant_id, last.seq}] = {
        tenant_id, last.seq, sealed->canonical, sealed->record.hash};
    head = {last.seq, sealed->record.hash};
    mirror.roll_back(tenant_id, head);
}

}  // namespace interlock::sim
