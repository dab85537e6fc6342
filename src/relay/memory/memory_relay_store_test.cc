// The faults that only the store in memory can be told to have. The port's own promises are tested
// in conformance/ports.
#include "relay/memory/memory_relay_store.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace interlock {

namespace {

RelayCommit batch(const std::string& key) {
    RelayCommit made;
    made.rows.push_back({.kind = "k", .key = key, .json = "{}", .must_be_new = true});
    return made;
}

bool has(MemoryRelayStore& store, const std::string& key) {
    return store.find_row("k", key).value().has_value();
}

}  // namespace

TEST(MemoryRelayStore, AFailedCommitIsLostAndNoLaterOneIsTaken) {
    MemoryRelayStore store;
    ASSERT_TRUE(store.commit(batch("a")).has_value());
    store.fail_next_commit();
    EXPECT_EQ(store.commit(batch("b")).error(), errors::io_failed);
    EXPECT_EQ(store.commit(batch("c")).error(), errors::io_failed);
    EXPECT_EQ(store.purge(Timestamp{0}, 1).error(), errors::io_failed);

    MemoryRelayStore reopened(store.take_contents());
    EXPECT_TRUE(has(reopened, "a"));
    EXPECT_FALSE(has(reopened, "b"));
    EXPECT_FALSE(has(reopened, "c"));
    EXPECT_TRUE(reopened.commit(batch("b")).has_value());
}

TEST(MemoryRelayStore, AFailedCommitMayHaveReachedTheDisk) {
    MemoryRelayStore store;
    store.fail_next_commit(MemoryRelayStore::FailedBatch::kept);
    EXPECT_EQ(store.commit(batch("a")).error(), errors::io_failed);
    EXPECT_EQ(store.commit(batch("b")).error(), errors::io_failed);
    MemoryRelayStore reopened(store.take_contents());
    EXPECT_TRUE(has(reopened, "a"));
    EXPECT_FALSE(has(reopened, "b"));
}

TEST(MemoryRelayStore, ContentsAreTakenWithTheChainsAndLeaveNothing) {
    const TenantId alice = TenantId::trusted("alice");
    MemoryRelayStore store;
    RelayCommit made = batch("a");
    made.audit.push_back({alice, 1, "{}", std::string(64, 'a')});
    ASSERT_TRUE(store.commit(made).has_value());
    MemoryRelayStore reopened(store.take_contents());
    EXPECT_FALSE(has(store, "a"));
    EXPECT_TRUE(store.load_heads().value().empty());
    EXPECT_EQ(reopened.load_heads().value().at(alice).seq, 1);
    EXPECT_EQ(reopened.ledger().read_ledger(alice, 0, 10).value().size(), 1u);
}

}  // namespace interlock
