#include "engine/sqlite/raw_turn_writer.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

const TenantId kAlice = TenantId::trusted("alice");

struct StandingClock final : Clock {
    Timestamp now() override { return {}; }
    Duration monotonic() override { return {}; }
};

// Every kind of row, in as many turns as asked.
std::vector<TurnCommit> all_kinds(std::int64_t count) {
    std::vector<TurnCommit> turns;
    for (std::int64_t n = 1; n <= count; ++n) {
        const std::string number = std::to_string(n);
        TurnCommit turn;
        turn.states = {
            {"m", n - 1, number},
            {"concern/c", n - 1, number},
            {"control/repeated", n - 1, number},
            {"control/" + number, 0, number}};
        turn.audit = {{kAlice, n, "{}", std::string(64, 'a')}};
        const AnswerKey key{kAlice, "f", IdempotencyKey::trusted("k" + number)};
        turn.answers = {
            {key, {"hash", {}, std::nullopt, 0, std::nullopt}, false},
            {key, {"hash", {}, "body", 200, Timestamp{n}}, true}};
        turn.outbox = {
            {EffectId::trusted("a" + number), kAlice, "probe", "{}", {}, {}, Timestamp{n}},
            {EffectId::trusted("b" + number), kAlice, "probe", "{}", {}, {}, Timestamp{n}}};
        turn.outbox_unknown = {EffectId::trusted("a" + number)};
        turn.outbox_finished = {EffectId::trusted("b" + number)};
        turn.timers = {
            {TimerId::trusted("t" + number), kAlice, "kind", "{}", Timestamp{n}},
            {TimerId::trusted("gone"), kAlice, "kind", "{}", Timestamp{n}}};
        turn.timers_finished = {TimerId::trusted("gone")};
        turn.artifacts = {{kAlice, number, "bytes"}};
        turn.checkpoints = {{kAlice, n, "hash", Timestamp{n}, "signature"}};
        turns.push_back(turn);
    }
    return turns;
}

}  // namespace

TEST(RawTurnWriter, WritesTheRowsTheStoreWouldWrite) {
    const TempFolder folder;
    StandingClock clock;
    const auto turns = all_kinds(7);
    const auto report =
        write_turns_raw({.path = folder / "raw.db", .turns_per_batch = 3}, turns, clock);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->batches, 3);

    const auto dump = [](const std::string& path) {
        SqliteDb db = SqliteDb::open({.path = path}).value();
        std::string all;
        for (const char* table :
             {"machine_state",
              "ledger",
              "heads",
              "answers",
              "outbox",
              "timers",
              "artifacts",
              "checkpoints"}) {
            SqliteStatement select = db.prepare(std::string("SELECT * FROM ") + table).value();
            SqliteRows rows = select.query();
            while (rows.next().value()) {
                all += table;
                for (int column = 0; column < 8; ++column) {
                    all += '|' + rows.text(column);
                }
                all += '\n';
            }
        }
        return all;
    };
    ASSERT_TRUE(
        SqliteLedgerStore::open({.path = folder / "store.db"}).value()->commit(turns).has_value());
    const std::string raw = dump(folder / "raw.db");
    EXPECT_EQ(raw, dump(folder / "store.db"));
    EXPECT_NE(raw.find("artifacts|alice|7|bytes"), std::string::npos) << raw;
}

TEST(RawTurnWriter, RefusesTurnsThatDoNotStartAtAnEmptyStore) {
    const TempFolder folder;
    StandingClock clock;
    TurnCommit turn;
    turn.states = {{"m", 4, "{}"}};
    const auto report = write_turns_raw({.path = folder / "raw.db"}, std::vector{turn}, clock);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error(), errors::invalid_request);
}

// As benchmarks on grown data do: what came before is copied, what comes then is written bare.
TEST(RawTurnWriter, GoesOnWhereACopyOfTheStoreStands) {
    const TempFolder folder;
    StandingClock clock;
    const auto turns = all_kinds(7);
    const std::span<const TurnCommit> all(turns);
    ASSERT_TRUE(write_turns_raw({.path = folder / "raw.db"}, all.first(4), clock).has_value());
    const auto rest =
        write_turns_raw({.path = folder / "raw.db", .turns_per_batch = 2}, all.subspan(4), clock);
    ASSERT_TRUE(rest.has_value()) << rest.error().message;
    EXPECT_EQ(rest->batches, 2);

    SqliteLedgerOptions options;
    options.path = folder / "raw.db";
    const auto store = SqliteLedgerStore::open(options);
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ((*store)->read_ledger(kAlice, 0, 100).value().size(), 7u);
    EXPECT_EQ((*store)->load_state("m").value()->version, 7);
}

}  // namespace interlock
