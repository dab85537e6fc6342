// What the relay store tests stand on: the implementations, each with its way to close and open
// again, and the rows they write.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/ports/relay_store.h"
#include "relay/sqlite/sqlite_relay_store.h"
#include "testing/temp_folder.h"

namespace interlock {

class RelayStoreHarness {
public:
    virtual ~RelayStoreHarness() = default;
    virtual RelayStore& store() = 0;
    virtual void reopen() = 0;
    // The chains as whoever verifies them reads them. Not to be kept over a reopen().
    virtual LedgerStore& ledger() = 0;
};

struct RelayStoreKind {
    std::string name;
    std::function<std::unique_ptr<RelayStoreHarness>()> make;
};

class MemoryRelayHarness final : public RelayStoreHarness {
public:
    RelayStore& store() override { return *store_; }
    void reopen() override { store_ = std::make_unique<MemoryRelayStore>(store_->take_contents()); }
    LedgerStore& ledger() override { return store_->ledger(); }

private:
    std::unique_ptr<MemoryRelayStore> store_ = std::make_unique<MemoryRelayStore>();
};

class SqliteRelayHarness final : public RelayStoreHarness {
public:
    SqliteRelayHarness() { open(); }
    RelayStore& store() override { return *store_; }
    void reopen() override {
        ledger_.reset();
        store_.reset();
        open();
    }
    LedgerStore& ledger() override {
        ledger_ =
            SqliteLedgerStore::open({.path = folder_ / "relay.db", .read_only = true}).value();
        return *ledger_;
    }

private:
    void open() {
        auto opened = SqliteRelayStore::open({.path = folder_ / "relay.db"});
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        store_ = *std::move(opened);
    }

    TempFolder folder_;
    std::unique_ptr<SqliteRelayStore> store_;
    std::unique_ptr<SqliteLedgerStore> ledger_;
};

namespace relay_store_suite {

// The value itself, so that a loop may run over it: value() of a temporary only refers into it.
template <class T>
T value_of(Result<T> result) {
    return std::move(result).value();
}

inline const TenantId kAlice = TenantId::trusted("alice");
inline const TenantId kBob = TenantId::trusted("bob");
inline constexpr Timestamp kNoon{1'700'000'000'000'000};
inline constexpr Duration kHour = Duration::of_hours(1);

inline RelayRowWrite row(
    const std::string& kind, const std::string& key, std::optional<std::string> json) {
    return {.kind = kind, .key = key, .json = std::move(json)};
}
inline RelayRowWrite new_row(
    const std::string& kind, const std::string& key, const std::string& json) {
    return {.kind = kind, .key = key, .json = json, .must_be_new = true};
}

inline RelayEventRow event(const std::string& event_key, Timestamp expires_at = kNoon + kHour) {
    return {
        .event_key = event_key,
        .tenant_id = kAlice,
        .at = kNoon,
        .digest = std::string(64, 'd'),
        .why = R"({"instance":"Grüße"})",
        .expires_at = expires_at};
}

inline BufferEntry entry(
    const std::string& instance_id, std::int64_t seq, const std::string& text = R"({"t":"ü"})") {
    return {
        .instance_id = instance_id,
        .seq = seq,
        .kind = EntryKind::inbound,
        .event_key = "discord/1/" + std::to_string(seq),
        .at = kNoon,
        .attempts = 0,
        .text = text};
}

inline DeadLetter letter(BufferEntry entry, Timestamp dead_at = kNoon) {
    return {
        .entry = std::move(entry),
        .tenant_id = kBob,
        .reason = "not_acknowledged",
        .dead_at = dead_at};
}

inline LedgerEntry audit(const TenantId& tenant_id, std::int64_t seq) {
    return {
        .tenant_id = tenant_id,
        .seq = seq,
        .canonical_json = R"({"seq":)" + std::to_string(seq) + "}",
        .hash = std::string(60, 'a') + std::to_string(1000 + seq)};
}

inline std::vector<std::string> keys_of(const std::vector<RelayRow>& rows) {
    std::vector<std::string> keys;
    for (const RelayRow& row : rows) {
        keys.push_back(row.key);
    }
    return keys;
}

inline std::vector<std::string> keys_of(const std::vector<RelayEventRow>& events) {
    std::vector<std::string> keys;
    for (const RelayEventRow& event : events) {
        keys.push_back(event.event_key);
    }
    return keys;
}

inline std::string name_of(const std::string& instance_id, std::int64_t seq) {
    return instance_id + "#" + std::to_string(seq);
}
inline std::vector<std::string> names_of(const std::vector<BufferEntry>& entries) {
    std::vector<std::string> names;
    for (const BufferEntry& entry : entries) {
        names.push_back(name_of(entry.instance_id, entry.seq));
    }
    return names;
}
inline std::vector<std::string> names_of(const std::vector<BufferEntryHead>& heads) {
    std::vector<std::string> names;
    for (const BufferEntryHead& head : heads) {
        names.push_back(name_of(head.instance_id, head.seq));
    }
    return names;
}
inline std::vector<std::string> names_of(const std::vector<DeadLetter>& letters) {
    std::vector<std::string> names;
    for (const DeadLetter& letter : letters) {
        names.push_back(name_of(letter.entry.instance_id, letter.entry.seq));
    }
    return names;
}

inline void expect_same(const BufferEntry& a, const BufferEntry& b) {
    EXPECT_EQ(a.instance_id, b.instance_id);
    EXPECT_EQ(a.seq, b.seq);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.event_key, b.event_key);
    EXPECT_EQ(a.at, b.at);
    EXPECT_EQ(a.attempts, b.attempts);
    EXPECT_EQ(a.text, b.text);
}

}  // namespace relay_store_suite

// Every test has a store of its own.
class RelayStoreSuite : public ::testing::TestWithParam<RelayStoreKind> {
protected:
    using Names = std::vector<std::string>;

    RelayStoreSuite() : harness_(GetParam().make()) {}

    RelayStore& store() { return harness_->store(); }
    LedgerStore& ledger() { return harness_->ledger(); }
    void reopen() { harness_->reopen(); }

    void commit(const RelayCommit& batch) {
        const Result<void> done = store().commit(batch);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    void expect_conflict(const RelayCommit& batch) {
        const Result<void> done = store().commit(batch);
        ASSERT_FALSE(done.has_value()) << "the batch was taken";
        EXPECT_EQ(done.error(), errors::conflict) << done.error().message;
    }
    void write_rows(std::vector<RelayRowWrite> rows) {
        RelayCommit batch;
        batch.rows = std::move(rows);
        commit(batch);
    }
    void take_events(std::vector<RelayEventRow> events) {
        RelayCommit batch;
        batch.events = std::move(events);
        commit(batch);
    }
    void append(std::vector<BufferEntry> entries) {
        RelayCommit batch;
        batch.appended = std::move(entries);
        commit(batch);
    }
    void acknowledge(std::vector<BufferKey> keys) {
        RelayCommit batch;
        batch.acknowledged = std::move(keys);
        commit(batch);
    }
    void lay_aside(std::vector<DeadLetter> letters) {
        RelayCommit batch;
        batch.dead = std::move(letters);
        commit(batch);
    }
    Names waiting() { return relay_store_suite::names_of(store().load_buffer_heads().value()); }
    Names dead() {
        return relay_store_suite::names_of(store().read_dead_letters("", {}, 100).value());
    }

private:
    std::unique_ptr<RelayStoreHarness> harness_;
};

}  // namespace interlock
