// A store that fails when told to, in the ways a port allows: the cheap brother of the crash disk,
// for the memory store, which has no disk to fail.
#pragma once

#include <optional>

#include "engine/ports/forwarding_store.h"
#include "sim/power.h"

namespace interlock::sim {

enum class StoreFault {
    crash_before_commit,
    crash_after_commit,  // Durable, but nobody was told.
    fail_before_commit,  // io_failed, nothing written; the store goes on.
    fail_after_commit,   // io_failed, yet written; the store refuses until it is opened anew.
    conflict_on_commit,  // Nothing written.
    fail_read,
};

class FaultyStore final : public ForwardingStore {
public:
    FaultyStore(LedgerStore& inner, Power& power) : ForwardingStore(inner), power_(power) {}

    // Strikes at the n-th call of its kind (a commit or a read) from now; 0 is the next one.
    // Replaces what was armed before.
    void arm(StoreFault fault, std::uint64_t calls_until) { armed_ = Armed{fault, calls_until}; }
    void disarm() { armed_.reset(); }

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::optional<StoredState>> load_state(const std::string& machine_key) override;
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override;
    Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) override;
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override;
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override;

private:
    struct Armed {
        StoreFault fault;
        std::uint64_t calls_until;
    };
    // The fault that strikes a commit now, or a read.
    std::optional<StoreFault> strike(bool is_read);
    Result<void> check_read();

    Power& power_;
    std::optional<Armed> armed_;
    bool failed_ = false;
};

}  // namespace interlock::sim
