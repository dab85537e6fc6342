// Random batches against both relay stores: whatever one answers, refuses or keeps, the other does
// too, across reopens.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>
#include <string>

#include "base/errors.h"
#include "relay_store_harness.h"

namespace interlock {

namespace {

using relay_store_suite::audit;
using relay_store_suite::entry;
using relay_store_suite::event;
using relay_store_suite::kAlice;
using relay_store_suite::kBob;
using relay_store_suite::kNoon;
using relay_store_suite::letter;
using relay_store_suite::name_of;
using relay_store_suite::row;
using relay_store_suite::value_of;

// Few keys and numbers, so that batches meet each other's rows.
std::int64_t small() {
    return *rc::gen::inRange<std::int64_t>(1, 8);
}
std::string instance() {
    return *rc::gen::element<std::string>("a", "b", "ba");
}
BufferKey any_key() {
    return {instance(), small()};
}
Timestamp near_noon() {
    return kNoon + Duration::of_hours(*rc::gen::inRange<std::int64_t>(-3, 3));
}
template <class Add>
void some_of(Add add) {
    const int count = *rc::gen::inRange(0, 4);
    for (int n = 0; n < count; ++n) {
        add();
    }
}

RelayCommit any_batch(std::map<TenantId, std::int64_t>& chains) {
    RelayCommit batch;
    some_of([&] {
        RelayRowWrite write = row("k", std::to_string(small()), std::to_string(small()));
        write.must_be_new = small() == 1;
        if (small() > 4) {
            write.expires_at = near_noon();
        }
        if (small() < 3) {
            write.json.reset();
        }
        batch.rows.push_back(std::move(write));
    });
    some_of([&] {
        batch.events.push_back(
            event(std::to_string(small()) + "/" + std::to_string(small()), near_noon()));
    });
    some_of(
        [&] { batch.appended.push_back(entry(instance(), small(), std::string(small(), 't'))); });
    some_of([&] { batch.acknowledged.push_back(any_key()); });
    some_of([&] { batch.attempts.push_back({any_key(), static_cast<int>(small())}); });
    some_of([&] {
        batch.dead.push_back(
            letter(entry(instance(), small(), small() < 5 ? "" : "own"), near_noon()));
    });
    some_of([&] { batch.dead_removed.push_back(any_key()); });
    some_of([&] {
        const TenantId& tenant_id = small() < 5 ? kAlice : kBob;
        const std::int64_t next = ++chains[tenant_id];
        batch.audit.push_back(audit(tenant_id, small() == 1 ? next + 1 : next));
    });
    return batch;
}

std::string text_of(const BufferEntry& entry) {
    return name_of(entry.instance_id, entry.seq) + " " + entry.event_key + " " + entry.text + " " +
           std::to_string(entry.attempts) + " ";
}

// Everything that a store can be asked, as text.
std::string all_of(RelayStore& store) {
    std::string all;
    for (const RelayRow& found : value_of(store.read_rows("k", "", "", 100))) {
        all += found.key + "=" + found.json + "@" +
               std::to_string(found.expires_at.value_or(Timestamp{}).microseconds) + " ";
    }
    for (const RelayEventRow& found : value_of(store.read_events(100))) {
        all += found.event_key + "@" + std::to_string(found.expires_at.microseconds) + " ";
    }
    for (const BufferEntryHead& head : value_of(store.load_buffer_heads())) {
        all += name_of(head.instance_id, head.seq) + ":" + std::to_string(head.bytes) + " ";
    }
    for (const char* instance_id : {"a", "b", "ba"}) {
        for (const BufferEntry& found : value_of(store.read_entries(instance_id, 2, 4, 12))) {
            all += text_of(found);
        }
    }
    for (const DeadLetter& found : value_of(store.read_dead_letters("", {}, 100))) {
        all += text_of(found.entry) + std::to_string(found.dead_at.microseconds) + " ";
    }
    std::set<std::string> heads;  // Those of one moment come in any order.
    for (const auto& [instance_id, head] : value_of(store.load_dead_letters())) {
        heads.insert(
            name_of(instance_id, head.seq) + ":" + std::to_string(head.bytes) + "@" +
            std::to_string(head.dead_at.microseconds));
    }
    for (const std::string& head : heads) {
        all += head + " ";
    }
    for (const auto& [tenant_id, head] : value_of(store.load_heads())) {
        all += tenant_id.text() + ":" + std::to_string(head.seq) + " ";
    }
    return all;
}

}  // namespace

TEST(RelayStoreModel, BothStoresAgreeOnEveryRunOfBatches) {
    int taken = 0;
    int refused = 0;
    EXPECT_TRUE(rc::check([&] {
        MemoryRelayHarness memory;
        SqliteRelayHarness sqlite;
        std::map<TenantId, std::int64_t> chains;
        const int rounds = *rc::gen::inRange(1, 12);
        for (int round = 0; round < rounds; ++round) {
            std::map<TenantId, std::int64_t> next = chains;
            const RelayCommit batch = any_batch(next);
            const Result<void> a = memory.store().commit(batch);
            const Result<void> b = sqlite.store().commit(batch);
            RC_ASSERT(a.has_value() == b.has_value());
            if (a) {
                chains = next;
                ++taken;
            } else {
                RC_ASSERT((a.error() == errors::conflict && b.error() == errors::conflict));
                ++refused;
            }
            if (small() == 1) {
                memory.reopen();
                sqlite.reopen();
            }
            if (small() == 1) {
                RC_ASSERT(
                    memory.store().purge(kNoon, 100).value() ==
                    sqlite.store().purge(kNoon, 100).value());
            }
            RC_ASSERT(all_of(memory.store()) == all_of(sqlite.store()));
        }
    }));
    EXPECT_GT(taken, 0);
    EXPECT_GT(refused, 0);
}

}  // namespace interlock
