// What only the SQLite store can show: crashes, failing disks, and texts that leave the disk. The
// port's own promises are tested in conformance/ports.
#include "relay/sqlite/sqlite_relay_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "engine/sqlite/failing_vfs.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "relay/sqlite/relay_schema.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

const TenantId kAlice = TenantId::trusted("alice");
constexpr Timestamp kNoon{1'700'000'000'000'000};

BufferEntry entry(std::int64_t seq, std::string text) {
    return {
        .instance_id = "i",
        .seq = seq,
        .kind = EntryKind::inbound,
        .event_key = "e" + std::to_string(seq),
        .at = kNoon,
        .attempts = 0,
        .text = std::move(text)};
}

// Something in every table, all of it telling `n`.
RelayCommit batch(std::int64_t n, std::size_t text_bytes = 600) {
    RelayCommit made;
    made.rows.push_back({.kind = "k", .key = "n", .json = std::to_string(n)});
    made.events.push_back(
        {.event_key = "e" + std::to_string(n),
         .tenant_id = kAlice,
         .at = kNoon,
         .digest = std::string(64, 'd'),
         .why = "{}",
         .expires_at = kNoon});
    made.appended.push_back(entry(n, std::string(text_bytes, 't')));
    made.acknowledged.push_back({"i", n - 1});
    made.audit.push_back({kAlice, n, std::string(200, 'j'), std::string(64, 'a')});
    return made;
}

// That exactly the batches up to `n` are there.
void expect_at(SqliteRelayStore& store, std::int64_t n) {
    EXPECT_EQ(store.find_row("k", "n").value()->json, std::to_string(n));
    const auto events = store.read_events(1000).value();
    ASSERT_EQ(static_cast<std::int64_t>(events.size()), n);
    EXPECT_EQ(events[0].event_key, "e" + std::to_string(n));
    const auto heads = store.load_buffer_heads().value();
    ASSERT_EQ(heads.size(), 1u);
    EXPECT_EQ(heads[0].seq, n);
    EXPECT_EQ(store.read_entries("i", 0, 9, 9).value().size(), 1u);
    EXPECT_EQ(store.load_heads().value().at(kAlice).seq, n);
}

struct SqliteRelayStoreTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "relay.db";

    std::unique_ptr<SqliteRelayStore> open(SqliteRelayOptions options = {}) {
        options.path = path;
        auto opened = SqliteRelayStore::open(options);
        EXPECT_TRUE(opened.has_value()) << opened.error().message;
        return std::move(opened).value();
    }
    // What a kill at this moment leaves: the files as they are, without an orderly close.
    std::string copy_files(const std::string& name) {
        const std::string copy = folder / name;
        std::filesystem::copy_file(path, copy);
        std::filesystem::copy_file(path + "-wal", copy + "-wal");
        return copy;
    }
    bool is_on_disk(const std::string& marker) const {
        bool found = false;
        for (const std::string& name : {path, path + "-wal", path + "-journal"}) {
            std::ifstream file(name, std::ios::binary);
            std::ostringstream bytes;
            bytes << file.rdbuf();
            found = found || bytes.str().find(marker) != std::string::npos;
        }
        return found;
    }
    void set_relay_version(const std::string& version) {
        SqliteDb db = SqliteDb::open({.path = path}).value();
        const std::string sql =
            "UPDATE meta SET value = '" + version + "' WHERE key = 'relay_version'";
        ASSERT_TRUE(db.execute(sql.c_str()).has_value());
        ASSERT_EQ(db.rows_changed(), 1);
    }
};

}  // namespace

TEST_F(SqliteRelayStoreTest, ABatchIsOnTheDiskBeforeTheStoreIsClosed) {
    const auto store = open();
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    ASSERT_TRUE(store->commit(batch(2)).has_value());
    const auto found = SqliteRelayStore::open({.path = copy_files("copy.db")}).value();
    expect_at(*found, 2);
    ASSERT_TRUE(found->commit(batch(3)).has_value());
    expect_at(*found, 3);
}

TEST_F(SqliteRelayStoreTest, ATornBatchAtTheEndOfTheLogIsDroppedWhole) {
    const auto store = open({.checkpoint_thread = false});
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    const auto before = std::filesystem::file_size(path + "-wal");
    ASSERT_TRUE(store->commit(batch(2, 20'000)).has_value());
    const auto after = std::filesystem::file_size(path + "-wal");
    ASSERT_GT(after, before + 10'000);
    for (const auto size : {before, before + 100, (before + after) / 2, after - 1}) {
        const std::string copy = copy_files("torn" + std::to_string(size) + ".db");
        std::filesystem::resize_file(copy + "-wal", size);
        const auto found = SqliteRelayStore::open({.path = copy}).value();
        SCOPED_TRACE("cut at " + std::to_string(size));
        expect_at(*found, 1);
    }
}

TEST_F(SqliteRelayStoreTest, AFailedSyncClosesTheStoreForWriting) {
    FailingVfs vfs("relay_failing_sync");
    auto store = open({.vfs_name = vfs.name()});
    ASSERT_TRUE(store->commit(batch(1)).has_value());

    vfs.faults.on_sync = SQLITE_IOERR_FSYNC;
    const auto failed = store->commit(batch(2));
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error(), errors::io_failed);
    EXPECT_TRUE(store->has_failed());

    // A disk that works again does not reopen it: what the failed batch left is still unknown.
    vfs.faults.on_sync = SQLITE_OK;
    EXPECT_EQ(store->commit(batch(2)).error(), errors::io_failed);
    EXPECT_EQ(store->purge(kNoon, 1).error(), errors::io_failed);
    expect_at(*store, 1);

    store.reset();
    store = open({.vfs_name = vfs.name()});
    const std::int64_t kept = store->load_heads().value().at(kAlice).seq;
    EXPECT_TRUE(kept == 1 || kept == 2) << kept;
    expect_at(*store, kept);
    ASSERT_TRUE(store->commit(batch(kept + 1)).has_value());
    expect_at(*store, kept + 1);
}

TEST_F(SqliteRelayStoreTest, AFullDiskKeepsNothingOfTheBatch) {
    FailingVfs vfs("relay_failing_write");
    auto store = open({.vfs_name = vfs.name()});
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    vfs.faults.on_write = SQLITE_FULL;
    EXPECT_EQ(store->commit(batch(2)).error(), errors::io_failed);
    vfs.faults.on_write = SQLITE_OK;
    EXPECT_EQ(store->commit(batch(2)).error(), errors::io_failed);
    store.reset();
    store = open({.vfs_name = vfs.name()});
    expect_at(*store, 1);
    EXPECT_TRUE(store->commit(batch(2)).has_value());
}

TEST_F(SqliteRelayStoreTest, ReadsReportAFailingDisk) {
    FailingVfs vfs("relay_failing_reads");
    ASSERT_TRUE(open({.vfs_name = vfs.name()})->commit(batch(1)).has_value());
    const auto store = open({.vfs_name = vfs.name()});
    vfs.faults.on_read = SQLITE_IOERR_READ;
    EXPECT_EQ(store->find_event("e1").error(), errors::io_failed);
    EXPECT_EQ(store->known_events({"e1", "e2"}).error(), errors::io_failed);
    EXPECT_EQ(store->load_dead_letters().error(), errors::io_failed);
    vfs.faults.on_read = SQLITE_OK;
    // A question that failed leaves nothing open.
    EXPECT_EQ(store->known_events({"e1", "e2"}).value().size(), 1u);
    EXPECT_TRUE(store->commit(batch(2)).has_value());
}

TEST_F(SqliteRelayStoreTest, ARefusedBatchDoesNotCloseTheStore) {
    const auto store = open();
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    EXPECT_EQ(store->commit(batch(1)).error(), errors::conflict);
    EXPECT_FALSE(store->has_failed());
    ASSERT_TRUE(store->commit(batch(2)).has_value());
    expect_at(*store, 2);
    EXPECT_EQ(store->counters().commits, 2);
}

TEST_F(SqliteRelayStoreTest, TablesOfANewerVersionAreRefused) {
    open().reset();
    set_relay_version("2");
    EXPECT_EQ(SqliteRelayStore::open({.path = path}).error(), errors::invalid_config);
    set_relay_version("1");
    EXPECT_TRUE(SqliteRelayStore::open({.path = path}).has_value());
}

TEST_F(SqliteRelayStoreTest, AVersionThatIsNoNumberIsDamage) {
    open().reset();
    for (const char* const version : {"one", "1x", "-1"}) {
        set_relay_version(version);
        EXPECT_EQ(SqliteRelayStore::open({.path = path}).error(), errors::corrupt_data) << version;
    }
}

TEST_F(SqliteRelayStoreTest, AnEntryThatIsThereTwiceIsDamage) {
    ASSERT_TRUE(open()->commit(batch(1)).has_value());
    {
        SqliteDb db = SqliteDb::open({.path = path}).value();
        ASSERT_TRUE(db.execute("INSERT INTO relay_buffer SELECT place + 1, instance_id, seq, kind, "
                               "event_key, at, attempts, text FROM relay_buffer")
                        .has_value());
    }
    EXPECT_EQ(SqliteRelayStore::open({.path = path}).error(), errors::corrupt_data);
}

TEST_F(SqliteRelayStoreTest, TheChainsAreReadWhileTheRelayWrites) {
    const auto store = open();
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    const auto reading = SqliteLedgerStore::open({.path = path, .read_only = true}).value();
    EXPECT_EQ(reading->read_head(kAlice).value().seq, 1);
    ASSERT_TRUE(store->commit(batch(2)).has_value());
    EXPECT_EQ(reading->read_head(kAlice).value().seq, 2);
    EXPECT_EQ(reading->read_ledger(kAlice, 0, 10).value().size(), 2u);
}

TEST_F(SqliteRelayStoreTest, TheLogStaysWithinItsHardBound) {
    const std::int64_t bound = 256 * 1024;
    const auto store = open({.checkpoint_thread = false, .wal_restart_bytes = bound});
    for (std::int64_t n = 1; n <= 100; ++n) {
        ASSERT_TRUE(store->commit(batch(n, 3000)).has_value());
    }
    EXPECT_GE(store->counters().wal.restarts, 2);
    EXPECT_LE(static_cast<std::int64_t>(std::filesystem::file_size(path + "-wal")), bound + 131072);
    expect_at(*store, 100);
}

TEST_F(SqliteRelayStoreTest, TheTextOfAnAcknowledgedEntryIsNowhereOnceTheStoreIsClosed) {
    const std::string marker = "the-marker-nobody-else-writes";
    auto store = open();
    RelayCommit append;
    RelayCommit acknowledge;
    // Alone on their pages, beside one that stays, and longer than a page.
    for (std::int64_t seq = 1; seq <= 40; ++seq) {
        const bool stays = seq % 10 == 0;
        const std::string text(seq == 5 ? 20'000 : 600, 'x');
        append.appended.push_back(entry(seq, stays ? text : text + marker));
        if (!stays) {
            acknowledge.acknowledged.push_back({"i", seq});
        }
    }
    ASSERT_TRUE(store->commit(append).has_value());
    ASSERT_TRUE(is_on_disk(marker));
    store.reset();
    ASSERT_TRUE(is_on_disk(marker)) << "it must be in the database, or its going proves nothing";
    store = open();
    ASSERT_TRUE(store->commit(acknowledge).has_value());
    store.reset();
    EXPECT_FALSE(is_on_disk(marker));
    EXPECT_EQ(open()->load_buffer_heads().value().size(), 4u);
}

TEST_F(SqliteRelayStoreTest, InQuietTimesAPurgeTakesTextsOutOfTheLogToo) {
    const std::string marker = "the-marker-nobody-else-writes";
    const auto store = open();
    RelayCommit append;
    append.appended = {entry(1, marker), entry(2, std::string(9000, 'x') + marker)};
    append.dead = {
        {.entry = entry(3, marker), .tenant_id = kAlice, .reason = "overflow", .dead_at = kNoon}};
    ASSERT_TRUE(store->commit(append).has_value());
    RelayCommit acknowledge;
    acknowledge.acknowledged = {{"i", 1}, {"i", 2}};
    acknowledge.dead_removed = {{"i", 3}};
    ASSERT_TRUE(store->commit(acknowledge).has_value());
    ASSERT_TRUE(is_on_disk(marker));
    EXPECT_EQ(store->purge(kNoon, 10).value(), 0);
    EXPECT_FALSE(is_on_disk(marker));
}

TEST_F(SqliteRelayStoreTest, APurgeWithNothingToDoLeavesAnEmptyLogAlone) {
    const auto store = open();
    ASSERT_TRUE(store->commit(batch(1)).has_value());
    ASSERT_EQ(store->purge(kNoon, 10).value(), 0);
    const std::int64_t restarts = store->counters().wal.restarts;
    ASSERT_EQ(store->purge(kNoon, 10).value(), 0);
    EXPECT_EQ(store->counters().wal.restarts, restarts);
}

}  // namespace interlock
