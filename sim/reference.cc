#include "sim/reference.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/errors.h"

namespace interlock::sim {
namespace {

constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();

std::string cannot_read(const Error& error) {
    return "the recovered store cannot be read: " + error.message;
}

bool is_equal(const StoredAnswer& a, const StoredAnswer& b) {
    return a.request_hash == b.request_hash && a.operation_id == b.operation_id &&
           a.body == b.body && a.http_status == b.http_status && a.expires_at == b.expires_at;
}

bool is_equal(const OutboxItem& a, const OutboxItem& b) {
    return a.effect_id == b.effect_id && a.tenant_id == b.tenant_id && a.kind == b.kind &&
           a.json == b.json && a.delivery == b.delivery && a.state == b.state &&
           a.not_after == b.not_after;
}

bool is_equal(const TimerItem& a, const TimerItem& b) {
    return a.timer_id == b.timer_id && a.tenant_id == b.tenant_id && a.kind == b.kind &&
           a.json == b.json && a.due_at == b.due_at;
}

bool is_equal(const Checkpoint& a, const Checkpoint& b) {
    return a.tenant_id == b.tenant_id && a.seq == b.seq && a.hash == b.hash && a.at == b.at &&
           a.signature == b.signature;
}

template <class Row>
bool are_equal(const std::vector<Row>& a, const std::vector<Row>& b) {
    if (a.size() != b.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!is_equal(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

std::optional<Violation> ledger_difference(
    const MemoryLedgerContents& expected, LedgerStore& found) {
    const auto heads = found.load_heads();
    if (!heads) {
        return Violation{"durability", cannot_read(heads.error())};
    }
    auto wanted = expected.ledger.begin();
    for (const auto& [tenant_id, head] : expected.heads) {
        const auto entries = found.read_ledger(tenant_id, 0, kEverything);
        if (!entries) {
            return Violation{"durability", cannot_read(entries.error())};
        }
        for (const LedgerEntry& entry : *entries) {
            if (wanted == expected.ledger.end() || wanted->first.first != tenant_id) {
                return Violation{
                    "batch",
                    "the chain of " + tenant_id.text() +
                        " holds a record that no whole "
                        "batch brought"};
            }
            if (!(wanted->second == entry)) {
                return Violation{
                    "chain",
                    "record " + std::to_string(entry.seq) + " of " + tenant_id.text() +
                        " is not the one that was committed"};
            }
            ++wanted;
        }
        if (wanted != expected.ledger.end() && wanted->first.first == tenant_id) {
            return Violation{
                "durability",
                "committed record " + std::to_string(wanted->first.second) + " of " +
                    tenant_id.text() + " is gone"};
        }
    }
    if (*heads != expected.heads) {
        return Violation{"chain", "the stored heads are not those of the committed records"};
    }
    return std::nullopt;
}

std::optional<Violation> answer_difference(
    const MemoryLedgerContents& expected, LedgerStore& found, Timestamp now) {
    for (const auto& [key, answer] : expected.answers) {
        if (answer.expires_at && *answer.expires_at < now) {
            continue;  // May have been purged.
        }
        const auto stored = found.find_answer(key);
        if (!stored) {
            return Violation{"durability", cannot_read(stored.error())};
        }
        if (!*stored || !is_equal(**stored, answer)) {
            return Violation{
                "I2",
                "the answer committed under the key " + key.key.text() + " of " +
                    key.tenant_id.text() + (*stored ? " has changed" : " is gone")};
        }
    }
    return std::nullopt;
}

std::optional<Violation> queue_difference(
    const MemoryLedgerContents& expected, LedgerStore& found) {
    MemoryLedgerStore model(expected);
    const auto outbox = found.load_outbox();
    if (!outbox || !are_equal(*model.load_outbox(), *outbox)) {
        return Violation{"durability", "the outbox is not what was committed"};
    }
    const auto timers = found.load_timers();
    if (!timers || !are_equal(*model.load_timers(), *timers)) {
        return Violation{"durability", "the timers are not what was committed"};
    }
    for (const auto& [tenant_id, head] : expected.heads) {
        const auto points = found.read_checkpoints(tenant_id);
        const std::vector<Checkpoint> wanted = *model.read_checkpoints(tenant_id);
        if (!points || !are_equal(wanted, *points)) {
            return Violation{
                "chain",
                "there are " + std::to_string(points ? points->size() : 0) +
                    " signed checkpoints of " + tenant_id.text() + ", not the " +
                    std::to_string(wanted.size()) + " that were committed"};
        }
    }
    return std::nullopt;
}

// Whether some record of the batch is there.
bool is_partly_in(LedgerStore& found, const std::vector<TurnCommit>& turns) {
    for (const TurnCommit& turn : turns) {
        for (const LedgerEntry& entry : turn.audit) {
            const auto stored = found.read_ledger(entry.tenant_id, entry.seq - 1, 1);
            if (stored && !stored->empty() && stored->front() == entry) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::optional<Violation> find_difference(
    const MemoryLedgerContents& expected, LedgerStore& found, Timestamp now) {
    if (auto difference = ledger_difference(expected, found)) {
        return difference;
    }
    if (auto difference = answer_difference(expected, found, now)) {
        return difference;
    }
    const auto states = found.load_states("");
    if (!states) {
        return Violation{"durability", cannot_read(states.error())};
    }
    for (const auto& [key, state] : expected.states) {
        const auto stored = states->find(key);
        if (stored == states->end() || stored->second.version != state.version ||
            stored->second.json != state.json) {
            return Violation{"durability", "the committed state of " + key + " is not there"};
        }
    }
    if (states->size() != expected.states.size()) {
        return Violation{"batch", "there is a state that no whole batch brought"};
    }
    for (const auto& [name, holder] : expected.claims) {
        const auto held = found.find_claim(name);
        if (!held || *held != holder) {
            return Violation{"durability", "the committed claim " + name + " is not held"};
        }
    }
    return queue_difference(expected, found);
}

void Reference::acknowledged(std::span<const TurnCommit> turns) {
    // The store went on after them, so what failed before was not written.
    unknown_.clear();
    MemoryLedgerStore model(std::move(contents_));
    const Result<void> applied = model.commit(turns);
    contents_ = model.take_contents();
    if (!applied) {
        const std::string& why = applied.error().message;
        const bool answer = why.find("answer") != std::string::npos;
        log_.report(
            answer ? "I2" : "chain", "the store took a batch that its port forbids: " + why);
    }
}

void Reference::unknown(std::span<const TurnCommit> turns) {
    unknown_.emplace_back(turns.begin(), turns.end());
}

void Reference::purged(Timestamp now) {
    std::erase_if(contents_.answers, [&](const auto& held) {
        return held.second.expires_at && *held.second.expires_at < now;
    });
}

std::vector<TurnCommit> Reference::check(LedgerStore& found, Timestamp now, Look look) {
    const std::vector<std::vector<TurnCommit>> candidates = unknown_;
    if (look == Look::before_start) {
        unknown_.clear();
    }
    const std::optional<Violation> without = find_difference(contents_, found, now);
    if (!without) {
        return {};
    }
    for (const std::vector<TurnCommit>& turns : candidates) {
        MemoryLedgerStore model(contents_);
        if (!model.commit(turns)) {
            continue;
        }
        MemoryLedgerContents with = model.take_contents();
        if (!find_difference(with, found, now)) {
            contents_ = std::move(with);
            unknown_.clear();
            return turns;
        }
    }
    const bool torn = std::any_of(candidates.begin(), candidates.end(), [&](const auto& turns) {
        return is_partly_in(found, turns);
    });
    log_.report(
        torn ? "batch" : without->invariant,
        (torn ? "the batch under way at the crash is there in part: " : "") + without->what);
    return {};
}

std::int64_t Reference::head_of(const TenantId& tenant_id) const {
    const auto found = contents_.heads.find(tenant_id);
    return found == contents_.heads.end() ? 0 : found->second.seq;
}

std::string Reference::hash_at(const TenantId& tenant_id, std::int64_t seq) const {
    const auto found = contents_.ledger.find({tenant_id, seq});
    return found == contents_.ledger.end() ? std::string() : found->second.hash;
}

Result<void> WitnessStore::commit(std::span<const TurnCommit> turns) {
    Result<void> committed = inner_.commit(turns);
    if (!parts_.power.on) {
        parts_.reference.unknown(turns);
    } else if (committed) {
        parts_.reference.acknowledged(turns);
        parts_.on_committed(turns);
    } else if (committed.error() != errors::conflict) {
        parts_.reference.unknown(turns);
        has_failed_ = true;
    }
    return committed;
}

Result<std::int64_t> WitnessStore::purge_answers(Timestamp now, std::int64_t count_max) {
    parts_.reference.purged(now);
    return inner_.purge_answers(now, count_max);
}

}  // namespace interlock::sim
