// The relay's store in memory: the exact semantics of relay/ports/relay_store.h without a disk, for
// tests and the simulator.
//
// Everything lies in ordered maps, so two runs over the same commits read the same. The contents
// are a plain value: taking them out and handing them to a new store is what a crash and a restart
// leave.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/memory_ledger_store.h"
#include "relay/ports/relay_store.h"

namespace interlock {

struct MemoryRelayContents {
    using Place = std::pair<std::string, std::int64_t>;  // Instance and seq.
    struct TakenEvent {
        std::int64_t position = 0;  // In the order of commits.
        RelayEventRow row;
    };

    std::map<std::pair<std::string, std::string>, RelayRow> rows;  // By kind and key.
    std::map<std::string, TakenEvent> events;
    std::map<std::int64_t, std::string> event_order;  // Keys by position.
    std::int64_t next_event_position = 0;
    std::map<Place, BufferEntry> buffer;
    std::map<Place, DeadLetter> dead;
    MemoryLedgerContents ledger;
};

class MemoryRelayStore final : public RelayStore {
public:
    // What the disk holds of a batch whose commit failed.
    enum class FailedBatch { lost, kept };

    MemoryRelayStore() = default;
    explicit MemoryRelayStore(MemoryRelayContents contents);

    // What is stored, leaving this store empty.
    MemoryRelayContents take_contents();
    // The next commit fails with `io_failed`, and so does every later one.
    void fail_next_commit(FailedBatch left = FailedBatch::lost) { failing_ = left; }
    // The chains, to be read and verified; reads of any thread are fine here.
    LedgerStore& ledger() { return ledger_; }

    Result<void> commit(const RelayCommit& batch) override;
    Result<std::optional<RelayRow>> find_row(std::string_view kind, std::string_view key) override;
    Result<std::vector<RelayRow>> read_rows(
        std::string_view kind,
        std::string_view prefix,
        std::string_view after,
        std::int64_t count_max) override;
    Result<std::vector<std::string>> known_events(
        const std::vector<std::string>& event_keys) override;
    Result<std::optional<RelayEventRow>> find_event(const std::string& event_key) override;
    Result<std::vector<RelayEventRow>> read_events(std::int64_t count_max) override;
    Result<std::vector<BufferEntryHead>> load_buffer_heads() override;
    Result<std::vector<BufferEntry>> read_entries(
        const std::string& instance_id,
        std::int64_t after,
        std::int64_t count_max,
        std::int64_t bytes_max) override;
    Result<std::vector<DeadLetter>> read_dead_letters(
        const std::string& instance_id, const BufferKey& after, std::int64_t count_max) override;
    Result<std::vector<StoredDeadLetter>> load_dead_letters() override;
    Result<std::int64_t> purge(Timestamp now, std::int64_t count_max) override;
    Result<std::map<TenantId, LedgerHead>> load_heads() override;

private:
    Result<void> apply_whole(const RelayCommit& batch);
    Result<void> apply(const RelayCommit& batch);
    Result<void> apply_row(const RelayRowWrite& write);
    Result<void> apply_event(const RelayEventRow& event);
    Result<void> apply_buffer(const RelayCommit& batch);
    Result<void> apply_letter(const DeadLetter& letter);

    // Notes how to put back what `map` holds for `key`, so that a refused batch leaves no trace.
    template <class Map>
    void remember(Map& map, const typename Map::key_type& key);

    MemoryRelayContents contents_;  // Without the chains, which the next one holds.
    MemoryLedgerStore ledger_;
    std::vector<std::function<void()>> undo_;
    std::optional<FailedBatch> failing_;
    bool failed_ = false;
};

}  // namespace interlock
