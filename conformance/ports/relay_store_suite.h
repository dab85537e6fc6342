// The promises of relay/ports/relay_store.h as tests. Every implementation instantiates this suite;
// one that passes can stand in for any other. Include it in one source file of a test binary.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "relay_store_harness.h"

namespace interlock {

TEST_P(RelayStoreSuite, AnEmptyStoreHasNothing) {
    EXPECT_FALSE(store().find_row("route", "r").value().has_value());
    EXPECT_TRUE(store().read_rows("route", "", "", 10).value().empty());
    EXPECT_TRUE(store().known_events({"e"}).value().empty());
    EXPECT_TRUE(store().known_events({}).value().empty());
    EXPECT_FALSE(store().find_event("e").value().has_value());
    EXPECT_TRUE(store().read_events(10).value().empty());
    EXPECT_TRUE(store().load_buffer_heads().value().empty());
    EXPECT_TRUE(store().read_entries("i", 0, 10, 1000).value().empty());
    EXPECT_TRUE(store().read_dead_letters("", {}, 10).value().empty());
    EXPECT_TRUE(store().load_dead_letters().value().empty());
    EXPECT_TRUE(store().load_heads().value().empty());
    EXPECT_EQ(store().purge(relay_store_suite::kNoon, 10).value(), 0);
}

TEST_P(RelayStoreSuite, AnEmptyBatchIsTaken) {
    commit({});
}

// Rows.

TEST_P(RelayStoreSuite, ARowIsFoundUnderItsKindAndKey) {
    using namespace relay_store_suite;
    write_rows({row("route", "a", "1"), row("scope", "a", "2")});
    EXPECT_EQ(store().find_row("route", "a").value()->json, "1");
    EXPECT_EQ(store().find_row("route", "a").value()->key, "a");
    EXPECT_EQ(store().find_row("scope", "a").value()->json, "2");
    EXPECT_FALSE(store().find_row("route", "b").value().has_value());
}

TEST_P(RelayStoreSuite, ARowKeepsItsExpiry) {
    using namespace relay_store_suite;
    RelayRowWrite expiring = row("code", "a", "1");
    expiring.expires_at = kNoon;
    write_rows({expiring, row("code", "b", "2")});
    EXPECT_EQ(store().find_row("code", "a").value()->expires_at, kNoon);
    EXPECT_EQ(store().find_row("code", "b").value()->expires_at, std::nullopt);
    write_rows({row("code", "a", "3")});
    EXPECT_EQ(store().find_row("code", "a").value()->expires_at, std::nullopt);
}

TEST_P(RelayStoreSuite, ALaterRowOfTheSameKeyWins) {
    using namespace relay_store_suite;
    write_rows({row("route", "a", "1")});
    write_rows({row("route", "a", "2"), row("route", "a", std::nullopt), row("route", "a", "3")});
    EXPECT_EQ(store().find_row("route", "a").value()->json, "3");
    write_rows({row("route", "a", "4"), row("route", "a", std::nullopt)});
    EXPECT_FALSE(store().find_row("route", "a").value().has_value());
}

TEST_P(RelayStoreSuite, AnAbsentRowMayBeRemoved) {
    using namespace relay_store_suite;
    write_rows({row("route", "a", std::nullopt), row("route", "b", "1")});
    EXPECT_TRUE(store().find_row("route", "b").value().has_value());
}

TEST_P(RelayStoreSuite, ARowThatMustBeNewRefusesTheWholeBatchWhenItsKeyIsTaken) {
    using namespace relay_store_suite;
    write_rows({new_row("gateway", "g", "1")});
    RelayCommit batch;
    batch.rows = {row("route", "r", "1"), new_row("gateway", "g", "2")};
    expect_conflict(batch);
    EXPECT_EQ(store().find_row("gateway", "g").value()->json, "1");
    EXPECT_FALSE(store().find_row("route", "r").value().has_value());
}

TEST_P(RelayStoreSuite, ARowThatMustBeNewLooksAtItsOwnBatchToo) {
    using namespace relay_store_suite;
    RelayCommit batch;
    batch.rows = {row("gateway", "g", "1"), new_row("gateway", "g", "2")};
    expect_conflict(batch);
    write_rows({row("gateway", "g", "1")});
    write_rows({row("gateway", "g", std::nullopt), new_row("gateway", "g", "2")});
    EXPECT_EQ(store().find_row("gateway", "g").value()->json, "2");
}

TEST_P(RelayStoreSuite, RowsAreReadByPrefixInKeyOrder) {
    using namespace relay_store_suite;
    write_rows(
        {row("route", "b/2", "4"),
         row("route", "a", "1"),
         row("route", "b", "2"),
         row("route", "b/1", "3"),
         row("route", "b0", "5"),
         row("route", "\xff\xff", "6"),
         row("s", "b/0", "7")});
    EXPECT_EQ(keys_of(store().read_rows("route", "b/", "", 10).value()), (Names{"b/1", "b/2"}));
    EXPECT_EQ(keys_of(store().read_rows("route", "\xff", "", 10).value()), (Names{"\xff\xff"}));
    EXPECT_EQ(store().read_rows("route", "", "", 10).value().size(), 6u);
    EXPECT_TRUE(store().read_rows("route", "c", "", 10).value().empty());
    EXPECT_EQ(store().read_rows("route", "b/", "", 10).value()[0].json, "3");
}

TEST_P(RelayStoreSuite, RowsAreReadPageByPage) {
    using namespace relay_store_suite;
    write_rows({row("k", "p/1", ""), row("k", "p/2", ""), row("k", "p/3", ""), row("k", "q", "")});
    EXPECT_EQ(keys_of(store().read_rows("k", "p/", "", 2).value()), (Names{"p/1", "p/2"}));
    EXPECT_EQ(keys_of(store().read_rows("k", "p/", "p/2", 2).value()), (Names{"p/3"}));
    EXPECT_EQ(keys_of(store().read_rows("k", "p/", "a", 1).value()), (Names{"p/1"}));
    EXPECT_EQ(keys_of(store().read_rows("k", "p/", "p/1x", 9).value()), (Names{"p/2", "p/3"}));
    EXPECT_TRUE(store().read_rows("k", "p/", "q", 9).value().empty());
    EXPECT_TRUE(store().read_rows("k", "p/", "", 0).value().empty());
}

// Events.

TEST_P(RelayStoreSuite, AnEventIsFoundAsItWasWritten) {
    using namespace relay_store_suite;
    RelayEventRow unrouted = event("discord/1/2");
    unrouted.tenant_id = {};
    take_events({event("discord/1/1"), unrouted});
    const auto found = store().find_event("discord/1/1").value();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->event_key, "discord/1/1");
    EXPECT_EQ(found->tenant_id, kAlice);
    EXPECT_EQ(found->at, kNoon);
    EXPECT_EQ(found->digest, std::string(64, 'd'));
    EXPECT_EQ(found->why, R"({"instance":"Grüße"})");
    EXPECT_EQ(found->expires_at, kNoon + kHour);
    EXPECT_EQ(store().find_event("discord/1/2").value()->tenant_id, TenantId());
    EXPECT_FALSE(store().find_event("discord/1/3").value().has_value());
}

TEST_P(RelayStoreSuite, OnlyStoredEventsAreKnown) {
    using namespace relay_store_suite;
    take_events({event("a"), event("b"), event("c")});
    Names known = store().known_events({"c", "x", "a", "aa"}).value();
    std::sort(known.begin(), known.end());
    EXPECT_EQ(known, (Names{"a", "c"}));
}

TEST_P(RelayStoreSuite, AnEventThatExistsIsAConflict) {
    using namespace relay_store_suite;
    take_events({event("a")});
    RelayCommit batch;
    batch.events = {event("b"), event("a")};
    expect_conflict(batch);
    EXPECT_EQ(store().known_events({"a", "b"}).value(), (Names{"a"}));
    batch.events = {event("b"), event("b")};
    expect_conflict(batch);
    EXPECT_FALSE(store().find_event("b").value().has_value());
}

TEST_P(RelayStoreSuite, TheLastCommittedEventIsReadFirst) {
    using namespace relay_store_suite;
    take_events({event("m"), event("z")});
    take_events({event("a")});
    EXPECT_EQ(keys_of(store().read_events(10).value()), (Names{"a", "z", "m"}));
    EXPECT_EQ(keys_of(store().read_events(2).value()), (Names{"a", "z"}));
    EXPECT_TRUE(store().read_events(0).value().empty());
}

// The buffer.

TEST_P(RelayStoreSuite, AnEntryIsReadAsItWasAppended) {
    using namespace relay_store_suite;
    BufferEntry forward = entry("i", 2, "f");
    forward.kind = EntryKind::passthrough;
    forward.attempts = 2;
    append({entry("i", 1), forward});
    const auto entries = store().read_entries("i", 0, 10, 1000).value();
    ASSERT_EQ(entries.size(), 2u);
    expect_same(entries[0], entry("i", 1));
    expect_same(entries[1], forward);
}

TEST_P(RelayStoreSuite, ATextMayHoldAnyBytes) {
    using namespace relay_store_suite;
    const std::string large(300'000, 'x');
    append({entry("i", 1, std::string("a\0b\xff", 4)), entry("i", 2, large)});
    const auto entries = store().read_entries("i", 0, 10, 1'000'000).value();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].text, std::string("a\0b\xff", 4));
    EXPECT_EQ(entries[1].text, large);
    const auto heads = store().load_buffer_heads().value();
    ASSERT_EQ(heads.size(), 2u);
    EXPECT_EQ(heads[0].bytes, 4);
    EXPECT_EQ(heads[1].bytes, 300'000);
}

TEST_P(RelayStoreSuite, HeadsComeByInstanceAndNumberWithTheBytesOfTheirTexts) {
    using namespace relay_store_suite;
    BufferEntry forward = entry("b", 5, "äö");
    forward.kind = EntryKind::passthrough;
    forward.attempts = 1;
    forward.at = kNoon + kHour;
    append({entry("b", 9), forward});
    append({entry("a", 7)});
    const auto heads = store().load_buffer_heads().value();
    ASSERT_EQ(names_of(heads), (Names{"a#7", "b#5", "b#9"}));
    EXPECT_EQ(heads[1].kind, EntryKind::passthrough);
    EXPECT_EQ(heads[1].attempts, 1);
    EXPECT_EQ(heads[1].at, kNoon + kHour);
    EXPECT_EQ(heads[1].bytes, 4);
    EXPECT_EQ(heads[0].kind, EntryKind::inbound);
}

TEST_P(RelayStoreSuite, EntriesAreReadInOrderAfterANumber) {
    using namespace relay_store_suite;
    append({entry("i", 30), entry("j", 15), entry("i", 10), entry("i", 20)});
    const auto read = [&](std::int64_t after, std::int64_t count) {
        return names_of(value_of(store().read_entries("i", after, count, 1000)));
    };
    EXPECT_EQ(read(0, 10), (Names{"i#10", "i#20", "i#30"}));
    EXPECT_EQ(read(10, 10), (Names{"i#20", "i#30"}));
    EXPECT_EQ(read(15, 1), (Names{"i#20"}));
    EXPECT_EQ(read(30, 10), Names{});
    EXPECT_EQ(read(0, 0), Names{});
}

TEST_P(RelayStoreSuite, EntriesAreReadUpToABoundOfBytesButAlwaysOne) {
    using namespace relay_store_suite;
    append({entry("i", 1, "12345"), entry("i", 2, "12345"), entry("i", 3, "1")});
    EXPECT_EQ(store().read_entries("i", 0, 10, 11).value().size(), 3u);
    EXPECT_EQ(store().read_entries("i", 0, 10, 10).value().size(), 2u);
    EXPECT_EQ(store().read_entries("i", 0, 10, 9).value().size(), 1u);
    EXPECT_EQ(store().read_entries("i", 0, 10, 0).value().size(), 1u);
}

TEST_P(RelayStoreSuite, ANumberIsTakenOnceInAnInstance) {
    using namespace relay_store_suite;
    append({entry("i", 1, "first"), entry("j", 1)});
    RelayCommit batch;
    batch.appended = {entry("i", 2), entry("i", 1, "second")};
    expect_conflict(batch);
    EXPECT_EQ(waiting(), (Names{"i#1", "j#1"}));
    EXPECT_EQ(store().read_entries("i", 0, 10, 1000).value()[0].text, "first");
}

TEST_P(RelayStoreSuite, AnAcknowledgedEntryIsGone) {
    using namespace relay_store_suite;
    append({entry("i", 1), entry("i", 2), entry("i", 3), entry("j", 2)});
    acknowledge({{"i", 2}});
    EXPECT_EQ(waiting(), (Names{"i#1", "i#3", "j#2"}));
    EXPECT_EQ(names_of(value_of(store().read_entries("i", 1, 9, 1000))), (Names{"i#3"}));
}

TEST_P(RelayStoreSuite, AnAbsentEntryMayBeAcknowledged) {
    using namespace relay_store_suite;
    append({entry("i", 1)});
    acknowledge({{"i", 9}, {"nobody", 1}, {"i", 1}, {"i", 1}});
    EXPECT_EQ(waiting(), Names{});
}

TEST_P(RelayStoreSuite, WhatABatchAppendsItMayAcknowledge) {
    using namespace relay_store_suite;
    RelayCommit batch;
    batch.appended = {entry("i", 1), entry("i", 2)};
    batch.acknowledged = {{"i", 1}};
    commit(batch);
    EXPECT_EQ(waiting(), (Names{"i#2"}));
}

TEST_P(RelayStoreSuite, AttemptsAreWrittenAndAbsentEntriesAreFine) {
    using namespace relay_store_suite;
    append({entry("i", 1), entry("i", 2)});
    RelayCommit batch;
    batch.attempts = {{{"i", 2}, 1}, {{"i", 9}, 1}, {{"nobody", 1}, 1}, {{"i", 2}, 2}};
    commit(batch);
    const auto heads = store().load_buffer_heads().value();
    ASSERT_EQ(heads.size(), 2u);
    EXPECT_EQ(heads[0].attempts, 0);
    EXPECT_EQ(heads[1].attempts, 2);
    EXPECT_EQ(store().read_entries("i", 1, 1, 1000).value()[0].attempts, 2);
}

// Dead letters.

TEST_P(RelayStoreSuite, ADeadLetterTakesItsEntryOutOfTheBufferWithItsText) {
    using namespace relay_store_suite;
    append({entry("i", 1, "the text"), entry("i", 2)});
    DeadLetter moved = letter(entry("i", 1, ""));
    moved.entry.event_key = "";
    moved.entry.attempts = 3;
    lay_aside({moved});
    EXPECT_EQ(waiting(), (Names{"i#2"}));
    const auto letters = store().read_dead_letters("i", {}, 10).value();
    ASSERT_EQ(letters.size(), 1u);
    BufferEntry expected = entry("i", 1, "the text");
    expected.attempts = 3;
    expect_same(letters[0].entry, expected);
    EXPECT_EQ(letters[0].tenant_id, kBob);
    EXPECT_EQ(letters[0].reason, "not_acknowledged");
    EXPECT_EQ(letters[0].dead_at, kNoon);
}

TEST_P(RelayStoreSuite, ADeadLetterWithItsOwnTextNeedsNoEntry) {
    using namespace relay_store_suite;
    append({entry("i", 1, "old")});
    lay_aside({letter(entry("i", 1, "new")), letter(entry("i", 2, "overflow"))});
    EXPECT_EQ(waiting(), Names{});
    const auto letters = store().read_dead_letters("i", {}, 10).value();
    ASSERT_EQ(letters.size(), 2u);
    expect_same(letters[0].entry, entry("i", 1, "new"));
    expect_same(letters[1].entry, entry("i", 2, "overflow"));
}

TEST_P(RelayStoreSuite, AnEntryAcknowledgedMeanwhileIsNoDeadLetter) {
    using namespace relay_store_suite;
    append({entry("i", 1)});
    RelayCommit batch;
    batch.acknowledged = {{"i", 1}};
    batch.dead = {letter(entry("i", 1, ""))};
    commit(batch);
    EXPECT_EQ(waiting(), Names{});
    EXPECT_EQ(dead(), Names{});
}

TEST_P(RelayStoreSuite, ADeadLetterThatExistsIsAConflict) {
    using namespace relay_store_suite;
    lay_aside({letter(entry("i", 1, "first"))});
    append({entry("i", 1), entry("i", 2)});
    RelayCommit batch;
    batch.dead = {letter(entry("i", 2, "")), letter(entry("i", 1, ""))};
    expect_conflict(batch);
    EXPECT_EQ(waiting(), (Names{"i#1", "i#2"}));
    EXPECT_EQ(dead(), (Names{"i#1"}));
    batch.dead = {letter(entry("i", 1, "again"))};
    expect_conflict(batch);
    EXPECT_EQ(store().read_dead_letters("i", {}, 9).value()[0].entry.text, "first");
}

TEST_P(RelayStoreSuite, DeadLettersAreReadInOrderOfAllOrOfOneInstance) {
    using namespace relay_store_suite;
    lay_aside(
        {letter(entry("b", 2, "t")),
         letter(entry("b", 1, "t")),
         letter(entry("c", 1, "t")),
         letter(entry("a", 9, "t"))});
    const auto read = [&](const std::string& instance, BufferKey after, std::int64_t count) {
        return names_of(value_of(store().read_dead_letters(instance, after, count)));
    };
    EXPECT_EQ(read("", {}, 10), (Names{"a#9", "b#1", "b#2", "c#1"}));
    EXPECT_EQ(read("", {"a", 9}, 2), (Names{"b#1", "b#2"}));
    EXPECT_EQ(read("", {"b", 2}, 2), (Names{"c#1"}));
    EXPECT_EQ(read("b", {}, 10), (Names{"b#1", "b#2"}));
    EXPECT_EQ(read("b", {}, 1), (Names{"b#1"}));
    EXPECT_EQ(read("b", {"b", 1}, 10), (Names{"b#2"}));
    EXPECT_EQ(read("b", {"c", 0}, 10), Names{});
    EXPECT_EQ(read("nobody", {}, 10), Names{});
    EXPECT_EQ(read("", {}, 0), Names{});
}

TEST_P(RelayStoreSuite, DeadLettersAreRemovedAndAbsentOnesAreFine) {
    using namespace relay_store_suite;
    lay_aside({letter(entry("i", 1, "t")), letter(entry("i", 2, "t"))});
    RelayCommit batch;
    batch.dead = {letter(entry("i", 3, "t"))};
    batch.dead_removed = {{"i", 1}, {"i", 3}, {"i", 9}, {"nobody", 1}};
    commit(batch);
    EXPECT_EQ(dead(), (Names{"i#2"}));
}

TEST_P(RelayStoreSuite, DeadLettersAreLoadedWithoutTheirTextsInTheOrderTheyDied) {
    using namespace relay_store_suite;
    append({entry("a", 3, "waits")});
    lay_aside({letter(entry("a", 1, "äö"), kNoon + Duration{2}), letter(entry("b", 1, "1"))});
    lay_aside({letter(entry("a", 2, "xyz"), kNoon + Duration{1})});
    const auto letters = store().load_dead_letters().value();
    ASSERT_EQ(letters.size(), 3u);
    EXPECT_EQ(letters[0].instance_id, "b");
    EXPECT_EQ(letters[1].instance_id, "a");
    EXPECT_EQ(letters[1].head.seq, 2);
    EXPECT_EQ(letters[1].head.bytes, 3);
    EXPECT_EQ(letters[1].head.dead_at, kNoon + Duration{1});
    EXPECT_EQ(letters[2].head.seq, 1);
    EXPECT_EQ(letters[2].head.bytes, 4);
}

// Time.

TEST_P(RelayStoreSuite, WhatEndedBeforeNowIsPurged) {
    using namespace relay_store_suite;
    RelayRowWrite over = row("k", "over", "1");
    over.expires_at = kNoon - Duration{1};
    RelayRowWrite ending = row("k", "ending", "1");
    ending.expires_at = kNoon;
    write_rows({over, ending, row("k", "lasting", "1")});
    take_events({event("over", kNoon - Duration{1}), event("ending", kNoon)});
    append({entry("i", 3)});
    lay_aside({letter(entry("i", 1, "t"), kNoon - Duration::of_days(400))});

    EXPECT_TRUE(store().find_row("k", "over").value().has_value());
    EXPECT_TRUE(store().find_event("over").value().has_value());
    EXPECT_EQ(store().purge(kNoon, 10).value(), 2);
    EXPECT_EQ(keys_of(store().read_rows("k", "", "", 10).value()), (Names{"ending", "lasting"}));
    EXPECT_EQ(keys_of(store().read_events(10).value()), (Names{"ending"}));
    EXPECT_EQ(store().known_events({"over", "ending"}).value(), (Names{"ending"}));
    EXPECT_EQ(dead(), (Names{"i#1"}));  // Those are the caller's to end: he keeps their list.
    EXPECT_EQ(waiting(), (Names{"i#3"}));
    EXPECT_EQ(store().purge(kNoon, 10).value(), 0);
}

TEST_P(RelayStoreSuite, APurgeTakesTheOldestFirstUpToItsBoundOfEach) {
    using namespace relay_store_suite;
    for (const auto& [name, hours] : {std::pair("b", 3), std::pair("a", 2), std::pair("c", 1)}) {
        const Timestamp ends = kNoon - Duration::of_hours(hours);
        RelayRowWrite write = row("k", name, "1");
        write.expires_at = ends;
        write_rows({write});
        take_events({event(name, ends)});
    }
    EXPECT_EQ(store().purge(kNoon, 0).value(), 0);
    EXPECT_EQ(store().purge(kNoon, 2).value(), 4);
    EXPECT_EQ(keys_of(store().read_rows("k", "", "", 10).value()), (Names{"c"}));
    EXPECT_EQ(keys_of(store().read_events(10).value()), (Names{"c"}));
    EXPECT_EQ(store().purge(kNoon, 2).value(), 2);
}

TEST_P(RelayStoreSuite, APurgedKeyIsNewAgain) {
    using namespace relay_store_suite;
    RelayRowWrite first = new_row("k", "a", "1");
    first.expires_at = kNoon - kHour;
    write_rows({first});
    RelayCommit batch;
    batch.rows = {new_row("k", "a", "2")};
    expect_conflict(batch);
    EXPECT_EQ(store().purge(kNoon, 9).value(), 1);
    commit(batch);
    EXPECT_EQ(store().find_row("k", "a").value()->json, "2");
}

// The chains.

TEST_P(RelayStoreSuite, AuditEntriesContinueTheirChains) {
    using namespace relay_store_suite;
    RelayCommit batch;
    batch.audit = {audit(kAlice, 1), audit(kBob, 1), audit(kAlice, 2)};
    commit(batch);
    batch.audit = {audit(kAlice, 3)};
    batch.checkpoints = {{kAlice, 3, "hash", kNoon, "signature"}};
    commit(batch);
    const auto heads = store().load_heads().value();
    ASSERT_EQ(heads.size(), 2u);
    EXPECT_EQ(heads.at(kAlice), (LedgerHead{3, audit(kAlice, 3).hash}));
    EXPECT_EQ(heads.at(kBob), (LedgerHead{1, audit(kBob, 1).hash}));
}

TEST_P(RelayStoreSuite, TheChainsAreReadAsALedger) {
    using namespace relay_store_suite;
    RelayCommit batch;
    batch.audit = {audit(kAlice, 1), audit(kAlice, 2)};
    batch.checkpoints = {{kAlice, 2, "hash", kNoon, "signature"}};
    commit(batch);
    LedgerStore& chains = ledger();
    EXPECT_EQ(
        chains.read_ledger(kAlice, 0, 10).value(),
        (std::vector{audit(kAlice, 1), audit(kAlice, 2)}));
    EXPECT_EQ(chains.read_head(kAlice).value().seq, 2);
    ASSERT_EQ(chains.read_checkpoints(kAlice).value().size(), 1u);
    EXPECT_EQ(chains.read_checkpoints(kAlice).value()[0].signature, "signature");
}

TEST_P(RelayStoreSuite, AnAuditEntryThatDoesNotContinueItsChainIsAConflict) {
    using namespace relay_store_suite;
    RelayCommit first;
    first.audit = {audit(kAlice, 1)};
    commit(first);
    expect_conflict(first);
    for (const std::vector<LedgerEntry>& entries :
         {std::vector{audit(kAlice, 3)},
          std::vector{audit(kAlice, 2), audit(kAlice, 4)},
          std::vector{audit(kBob, 2)}}) {
        RelayCommit batch;
        batch.audit = entries;
        batch.appended = {entry("i", 1)};
        expect_conflict(batch);
    }
    EXPECT_EQ(store().load_heads().value().at(kAlice).seq, 1);
    EXPECT_EQ(waiting(), Names{});
}

// All or nothing.

TEST_P(RelayStoreSuite, ARefusedBatchLeavesNoTrace) {
    using namespace relay_store_suite;
    RelayCommit before;
    before.rows = {row("k", "kept", "1"), row("k", "changed", "1")};
    before.appended = {entry("i", 1, "one"), entry("i", 2), entry("i", 3)};
    before.dead = {letter(entry("i", 9, "t"))};
    before.audit = {audit(kAlice, 1)};
    commit(before);

    RelayCommit refused;
    refused.rows = {row("k", "kept", std::nullopt), row("k", "changed", "2"), row("k", "new", "1")};
    refused.events = {event("e")};
    refused.appended = {entry("i", 4), entry("j", 1)};
    refused.acknowledged = {{"i", 1}};
    refused.attempts = {{{"i", 2}, 5}};
    refused.dead = {letter(entry("i", 3, "")), letter(entry("j", 2, "t"))};
    refused.dead_removed = {{"i", 9}};
    refused.checkpoints = {{kAlice, 2, "hash", kNoon, "signature"}};
    refused.audit = {audit(kAlice, 2), audit(kBob, 7)};
    for (int round = 0; round < 2; ++round) {
        expect_conflict(refused);
        EXPECT_EQ(keys_of(store().read_rows("k", "", "", 10).value()), (Names{"changed", "kept"}));
        EXPECT_EQ(store().find_row("k", "changed").value()->json, "1");
        EXPECT_FALSE(store().find_event("e").value().has_value());
        EXPECT_TRUE(store().read_events(10).value().empty());
        EXPECT_EQ(waiting(), (Names{"i#1", "i#2", "i#3"}));
        EXPECT_EQ(names_of(value_of(store().read_entries("i", 0, 9, 999))), waiting());
        EXPECT_EQ(store().read_entries("i", 0, 1, 1000).value()[0].text, "one");
        EXPECT_EQ(store().load_buffer_heads().value()[1].attempts, 0);
        EXPECT_EQ(dead(), (Names{"i#9"}));
        EXPECT_EQ(store().load_heads().value().size(), 1u);
        EXPECT_EQ(store().load_heads().value().at(kAlice).seq, 1);
        EXPECT_TRUE(ledger().read_checkpoints(kAlice).value().empty());
        reopen();  // Nor does the disk hold any.
    }
    refused.audit.pop_back();
    commit(refused);
    EXPECT_EQ(waiting(), (Names{"i#2", "i#4", "j#1"}));
    EXPECT_EQ(dead(), (Names{"i#3", "j#2"}));
}

TEST_P(RelayStoreSuite, EverythingIsThereAfterAReopen) {
    using namespace relay_store_suite;
    RelayRowWrite expiring = row("k", "a", "1");
    expiring.expires_at = kNoon + kHour;
    RelayCommit batch;
    batch.rows = {expiring};
    batch.events = {event("e1"), event("e2")};
    batch.appended = {entry("j", 4, "four"), entry("i", 1, "one"), entry("i", 2), entry("i", 3)};
    batch.acknowledged = {{"i", 2}};
    batch.attempts = {{{"i", 1}, 2}};
    batch.dead = {letter(entry("i", 3, ""))};
    batch.audit = {audit(kAlice, 1)};
    commit(batch);
    reopen();
    EXPECT_EQ(store().find_row("k", "a").value()->expires_at, kNoon + kHour);
    EXPECT_EQ(keys_of(store().read_events(10).value()), (Names{"e2", "e1"}));
    EXPECT_EQ(waiting(), (Names{"i#1", "j#4"}));
    EXPECT_EQ(store().read_entries("i", 0, 9, 1000).value()[0].attempts, 2);
    EXPECT_EQ(store().read_entries("j", 0, 9, 1000).value()[0].text, "four");
    EXPECT_EQ(dead(), (Names{"i#3"}));
    EXPECT_EQ(store().load_heads().value().at(kAlice).seq, 1);
    // And it goes on from there.
    append({entry("i", 5, "five")});
    acknowledge({{"i", 1}, {"j", 4}});
    take_events({event("e3")});
    EXPECT_EQ(waiting(), (Names{"i#5"}));
    EXPECT_EQ(store().read_entries("i", 0, 9, 1000).value()[0].text, "five");
    EXPECT_EQ(keys_of(store().read_events(1).value()), (Names{"e3"}));
}

}  // namespace interlock
