// What the store must hold: every acknowledged commit, applied to a store in memory.
//
// A commit whose outcome was not known may be there or not, but only as a whole. After each restart
// check() compares the recovered store with both and settles which it is: for good before a start
// adds anything, and after it only what can be seen. A commit that failed during the start may yet
// turn out to be on the disk when the store is opened again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/memory/memory_ledger_store.h"
#include "engine/ports/forwarding_store.h"
#include "sim/power.h"
#include "sim/violation.h"

namespace interlock::sim {

class Reference {
public:
    explicit Reference(ViolationLog& log) : log_(log) {}

    void acknowledged(std::span<const TurnCommit> turns);
    void unknown(std::span<const TurnCommit> turns);
    void purged(Timestamp now);

    enum class Look { before_start, after_start };
    // Compares, and takes over an unknown batch that turns out to be durable; gives its turns.
    std::vector<TurnCommit> check(LedgerStore& found, Timestamp now, Look look);

    std::int64_t head_of(const TenantId& tenant_id) const;
    // The hash of a record, "" when there is none.
    std::string hash_at(const TenantId& tenant_id, std::int64_t seq) const;

private:
    ViolationLog& log_;
    MemoryLedgerContents contents_;
    std::vector<std::vector<TurnCommit>> unknown_;
};

// Where two stores differ, and the invariant that makes it matter; nothing when they do not.
std::optional<Violation> find_difference(
    const MemoryLedgerContents& expected, LedgerStore& found, Timestamp now);

// Stands between the plane and its store and tells the reference what went through.
class WitnessStore final : public ForwardingStore {
public:
    struct Parts {
        LedgerStore& inner;
        const Power& power;
        Reference& reference;
        std::function<void(std::span<const TurnCommit>)> on_committed;
    };
    explicit WitnessStore(Parts parts) : ForwardingStore(parts.inner), parts_(std::move(parts)) {}

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override;

    // A commit failed in a way after which only a restart helps.
    bool has_failed() const { return has_failed_; }

private:
    Parts parts_;
    bool has_failed_ = false;
};

}  // namespace interlock::sim
