#include "sim/faulty_store.h"

#include "base/errors.h"

namespace interlock::sim {

std::optional<StoreFault> FaultyStore::strike(bool is_read) {
    if (!armed_ || (armed_->fault == StoreFault::fail_read) != is_read) {
        return std::nullopt;
    }
    if (armed_->calls_until > 0) {
        --armed_->calls_until;
        return std::nullopt;
    }
    const StoreFault fault = armed_->fault;
    armed_.reset();
    return fault;
}

Result<void> FaultyStore::check_read() {
    if (!power_.on || failed_ || strike(true)) {
        return fail(errors::io_failed, "the simulated store cannot be read");
    }
    return {};
}

Result<void> FaultyStore::commit(std::span<const TurnCommit> turns) {
    const auto broken = [] { return fail(errors::io_failed, "the simulated store failed"); };
    if (!power_.on || failed_) {
        return broken();
    }
    const std::optional<StoreFault> fault = strike(false);
    if (!fault) {
        return inner_.commit(turns);
    }
    switch (*fault) {
        case StoreFault::crash_before_commit:
            power_.on = false;
            return broken();
        case StoreFault::crash_after_commit:
            (void)inner_.commit(turns);
            power_.on = false;
            return broken();
        case StoreFault::fail_before_commit:
            return broken();
        case StoreFault::fail_after_commit:
            (void)inner_.commit(turns);
            failed_ = true;
            return broken();
        case StoreFault::conflict_on_commit:
            return fail(errors::conflict, "the simulated store met a concurrent change");
        case StoreFault::fail_read:
            break;
    }
    return inner_.commit(turns);
}

Result<std::optional<StoredState>> FaultyStore::load_state(const std::string& machine_key) {
    TRY(check_read());
    return inner_.load_state(machine_key);
}

Result<std::map<std::string, StoredState>> FaultyStore::load_states(const std::string& prefix) {
    TRY(check_read());
    return inner_.load_states(prefix);
}

Result<std::optional<StoredAnswer>> FaultyStore::find_answer(const AnswerKey& key) {
    TRY(check_read());
    return inner_.find_answer(key);
}

Result<std::vector<std::optional<StoredAnswer>>> FaultyStore::find_answers(
    std::span<const AnswerKey> keys) {
    TRY(check_read());
    return inner_.find_answers(keys);
}

Result<std::int64_t> FaultyStore::purge_answers(Timestamp now, std::int64_t count_max) {
    if (!power_.on || failed_) {
        return fail(errors::io_failed, "the simulated store failed");
    }
    return inner_.purge_answers(now, count_max);
}

}  // namespace interlock::sim
