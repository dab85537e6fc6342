#include "engine/memory/memory_ledger_store.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/errors.h"
#include "engine/wire/chain_bounds.h"

namespace interlock {

MemoryLedgerContents MemoryLedgerStore::take_contents() {
    const std::lock_guard lock(mutex_);
    return std::exchange(contents_, {});
}

template <class Map>
void MemoryLedgerStore::remember(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    if (found == map.end()) {
        undo_.push_back([&map, key] { map.erase(key); });
    } else {
        undo_.push_back([&map, key, old = found->second] { map.insert_or_assign(key, old); });
    }
}

Result<void> MemoryLedgerStore::commit(std::span<const TurnCommit> turns) {
    const std::lock_guard lock(mutex_);
    undo_.clear();
    for (const TurnCommit& turn : turns) {
        apply_removals(turn);
    }
    for (const TurnCommit& turn : turns) {
        if (Result<void> applied = apply(turn); !applied) {
            for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
                (*undo)();
            }
            return applied;
        }
    }
    return {};
}

void MemoryLedgerStore::apply_removals(const TurnCommit& turn) {
    for (const LedgerRemoval& removal : turn.removals) {
        for (const std::int64_t seq : removal.seqs) {
            const std::pair place(removal.tenant_id, seq);
            remember(contents_.ledger, place);
            contents_.ledger.erase(place);
        }
        for (const std::string& hash : removal.artifacts) {
            const std::pair place(removal.tenant_id, hash);
            remember(contents_.artifacts, place);
            contents_.artifacts.erase(place);
        }
    }
}

Result<void> MemoryLedgerStore::apply(const TurnCommit& turn) {
    for (const StateWrite& write : turn.states) {
        TRY(apply_state(write));
    }
    for (const LedgerEntry& entry : turn.audit) {
        TRY(apply_entry(entry));
    }
    for (const AnswerWrite& write : turn.answers) {
        TRY(apply_answer(write));
    }
    for (const HeadProof& proof : turn.proofs) {
        // Remembered with the entry that moved the head.
        contents_.heads[proof.tenant_id].proof = proof.text;
    }
    TRY(apply_outbox(turn));
    TRY(apply_claims(turn));
    apply_rest(turn);
    return {};
}

Result<void> MemoryLedgerStore::apply_state(const StateWrite& write) {
    const auto found = contents_.states.find(write.machine_key);
    const std::int64_t stored = found == contents_.states.end() ? 0 : found->second.version;
    if (stored != write.loaded_version) {
        return fail(errors::conflict, write.machine_key + " changed since it was loaded");
    }
    remember(contents_.states, write.machine_key);
    contents_.states.insert_or_assign(
        write.machine_key, StoredState{write.loaded_version + 1, write.json});
    return {};
}

Result<void> MemoryLedgerStore::apply_entry(const LedgerEntry& entry) {
    const auto head = contents_.heads.find(entry.tenant_id);
    std::int64_t last = head == contents_.heads.end() ? 0 : head->second.seq;
    if (entry.begins_anew && last > kHeadSeqMax) {
        last = 0;  // No chain has a head there: nothing is known by it.
    }
    const std::pair place(entry.tenant_id, entry.seq);
    const bool follows = entry.begins_anew ? entry.seq > last : entry.seq == last + 1;
    if (!follows || contents_.ledger.contains(place)) {
        return fail(
            errors::conflict, "the ledger of " + entry.tenant_id.text() + " is at another entry");
    }
    remember(contents_.heads, entry.tenant_id);
    remember(contents_.ledger, place);
    contents_.heads.insert_or_assign(entry.tenant_id, LedgerHead{entry.seq, entry.hash});
    contents_.ledger.emplace(place, entry);
    return {};
}

Result<void> MemoryLedgerStore::apply_answer(const AnswerWrite& write) {
    const auto found = contents_.answers.find(write.key);
    const bool exists = found != contents_.answers.end();
    const bool in_progress = exists && !found->second.body;
    if (write.completes ? !in_progress : exists) {
        return fail(
            errors::conflict, "the answer to " + write.key.key.text() + " was given already");
    }
    remember(contents_.answers, write.key);
    contents_.answers.insert_or_assign(write.key, write.answer);
    return {};
}

Result<void> MemoryLedgerStore::apply_outbox(const TurnCommit& turn) {
    for (const OutboxItem& item : turn.outbox) {
        if (contents_.outbox.contains(item.effect_id)) {
            return fail(errors::conflict, item.effect_id.text() + " is in the outbox already");
        }
        remember(contents_.outbox, item.effect_id);
        contents_.outbox.insert_or_assign(
            item.effect_id,
            MemoryLedgerContents::QueuedEffect{contents_.next_outbox_position++, item});
    }
    for (const EffectId& effect_id : turn.outbox_unknown) {
        remember(contents_.outbox, effect_id);
        if (const auto found = contents_.outbox.find(effect_id); found != contents_.outbox.end()) {
            found->second.item.state = OutboxState::unknown;
        }
    }
    for (const EffectId& effect_id : turn.outbox_finished) {
        remember(contents_.outbox, effect_id);
        contents_.outbox.erase(effect_id);
    }
    return {};
}

Result<void> MemoryLedgerStore::apply_claims(const TurnCommit& turn) {
    for (const Claim& claim : turn.claims_released) {
        const auto found = contents_.claims.find(claim.name);
        if (found == contents_.claims.end() || found->second != claim.holder) {
            return fail(errors::conflict, claim.name + " is not held by " + claim.holder);
        }
        remember(contents_.claims, claim.name);
        contents_.claims.erase(claim.name);
    }
    for (const Claim& claim : turn.claims_taken) {
        if (contents_.claims.contains(claim.name)) {
            return fail(errors::conflict, claim.name + " has another holder");
        }
        remember(contents_.claims, claim.name);
        contents_.claims.emplace(claim.name, claim.holder);
    }
    return {};
}

void MemoryLedgerStore::apply_rest(const TurnCommit& turn) {
    for (const TimerItem& timer : turn.timers) {
        remember(contents_.timers, timer.timer_id);
        contents_.timers.insert_or_assign(timer.timer_id, timer);
    }
    for (const TimerId& timer_id : turn.timers_finished) {
        remember(contents_.timers, timer_id);
        contents_.timers.erase(timer_id);
    }
    for (const ArtifactWrite& artifact : turn.artifacts) {
        const std::pair place(artifact.tenant_id, artifact.hash);
        remember(contents_.artifacts, place);
        contents_.artifacts.try_emplace(place, artifact.bytes);
    }
    for (const Checkpoint& checkpoint : turn.checkpoints) {
        const std::pair place(checkpoint.tenant_id, checkpoint.seq);
        remember(contents_.checkpoints, place);
        contents_.checkpoints.try_emplace(place, checkpoint);
    }
}

Result<std::optional<StoredState>> MemoryLedgerStore::load_state(const std::string& machine_key) {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.states.find(machine_key);
    return found == contents_.states.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<std::string>> MemoryLedgerStore::find_claim(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.claims.find(name);
    return found == contents_.claims.end() ? std::nullopt : std::optional(found->second);
}

Result<std::map<std::string, StoredState>> MemoryLedgerStore::load_states(
    const std::string& prefix) {
    const std::lock_guard lock(mutex_);
    const auto first = contents_.states.lower_bound(prefix);
    const auto last = std::find_if(first, contents_.states.end(), [&](const auto& state) {
        return !state.first.starts_with(prefix);
    });
    return std::map<std::string, StoredState>(first, last);
}

Result<std::optional<StoredAnswer>> MemoryLedgerStore::find_answer(const AnswerKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.answers.find(key);
    return found == contents_.answers.end() ? std::nullopt : std::optional(found->second);
}

Result<std::int64_t> MemoryLedgerStore::purge_answers(Timestamp now, std::int64_t count_max) {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<Timestamp, AnswerKey>> expired;
    for (const auto& [key, answer] : contents_.answers) {
        if (answer.expires_at && *answer.expires_at < now) {
            expired.emplace_back(*answer.expires_at, key);
        }
    }
    std::sort(expired.begin(), expired.end());  // Those that expired first go first.
    std::int64_t count = 0;
    for (const auto& [expires_at, key] : expired) {
        if (count >= count_max) {
            break;
        }
        contents_.answers.erase(key);
        ++count;
    }
    return count;
}

Result<std::vector<OutboxItem>> MemoryLedgerStore::load_outbox() {
    const std::lock_guard lock(mutex_);
    std::map<std::int64_t, const OutboxItem*> by_position;
    for (const auto& [effect_id, queued] : contents_.outbox) {
        by_position.emplace(queued.position, &queued.item);
    }
    std::vector<OutboxItem> items;
    for (const auto& [position, item] : by_position) {
        items.push_back(*item);
    }
    return items;
}

Result<std::vector<TimerItem>> MemoryLedgerStore::load_timers() {
    const std::lock_guard lock(mutex_);
    std::vector<TimerItem> timers;
    for (const auto& [timer_id, timer] : contents_.timers) {
        timers.push_back(timer);
    }
    std::sort(timers.begin(), timers.end(), [](const TimerItem& a, const TimerItem& b) {
        return std::tie(a.due_at, a.timer_id) < std::tie(b.due_at, b.timer_id);
    });
    return timers;
}

Result<std::map<TenantId, LedgerHead>> MemoryLedgerStore::load_heads() {
    const std::lock_guard lock(mutex_);
    return contents_.heads;
}

Result<std::vector<LedgerEntry>> MemoryLedgerStore::read_ledger(
    const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) {
    const std::lock_guard lock(mutex_);
    std::vector<LedgerEntry> entries;
    auto entry = contents_.ledger.upper_bound({tenant_id, after});
    for (; entry != contents_.ledger.end() && entry->first.first == tenant_id; ++entry) {
        if (static_cast<std::int64_t>(entries.size()) >= count_max) {
            break;
        }
        entries.push_back(entry->second);
    }
    return entries;
}

Result<LedgerHead> MemoryLedgerStore::read_head(const TenantId& tenant_id) {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.heads.find(tenant_id);
    return found == contents_.heads.end() ? LedgerHead{} : found->second;
}

Result<std::vector<Checkpoint>> MemoryLedgerStore::read_checkpoints(const TenantId& tenant_id) {
    const std::lock_guard lock(mutex_);
    std::vector<Checkpoint> checkpoints;
    auto found =
        contents_.checkpoints.lower_bound({tenant_id, std::numeric_limits<std::int64_t>::min()});
    for (; found != contents_.checkpoints.end() && found->first.first == tenant_id; ++found) {
        checkpoints.push_back(found->second);
    }
    return checkpoints;
}

Result<std::optional<std::string>> MemoryLedgerStore::read_artifact(
    const TenantId& tenant_id, const std::string& hash) {
    const std::lock_guard lock(mutex_);
    const auto found = contents_.artifacts.find({tenant_id, hash});
    return found == contents_.artifacts.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace interlock
