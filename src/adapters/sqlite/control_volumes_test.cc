// Rows of control decisions in the store, across the borders of volumes, restarts and the bound.
#include "adapters/sqlite/control_volumes.h"

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite_ledger_store.h"
#include "adapters/sqlite/turn_sql.h"
#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

std::string key_of(std::int64_t number) {
    return "control/demo/dec_" + std::to_string(number * 7919 % 100'003);
}

struct ControlVolumesTest : ::testing::Test {
    TempFolder folder;
    std::unique_ptr<SqliteLedgerStore> store;

    ControlVolumesTest() { open(); }
    void open(std::int64_t rows_max = ControlVolumes::kRowsMax) {
        store.reset();
        auto opened =
            SqliteLedgerStore::open({.path = folder / "ledger.db", .control_rows_max = rows_max});
        EXPECT_TRUE(opened.has_value()) << opened.error().message;
        store = std::move(opened).value();
    }
    // Rows `from` to `to`, a hundred in a batch.
    void add(std::int64_t from, std::int64_t to) {
        while (from < to) {
            TurnCommit turn;
            for (std::int64_t i = 0; i < 100 && from < to; ++i, ++from) {
                turn.states.push_back({key_of(from), 0, std::to_string(from)});
            }
            ASSERT_TRUE(store->commit({&turn, 1}).has_value());
        }
    }
    Result<void> write(std::int64_t number, std::int64_t loaded_version, std::string json) {
        TurnCommit turn;
        turn.states.push_back({key_of(number), loaded_version, std::move(json)});
        return store->commit({&turn, 1});
    }
    void expect_rows(std::int64_t to) {
        for (std::int64_t i = 0; i < to; ++i) {
            const auto found = store->load_state(key_of(i)).value();
            ASSERT_TRUE(found.has_value()) << i;
            ASSERT_EQ(found->json, std::to_string(i));
            ASSERT_FALSE(store->load_state(key_of(to + i)).value().has_value()) << to + i;
        }
        EXPECT_EQ(std::ssize(store->load_states("control/").value()), to);
    }
    std::int64_t count(const std::string& what) {
        return SqliteDb::open({.path = folder / "ledger.db"}).value().read_integer(what).value();
    }
};

constexpr std::int64_t kRows = 2 * turn_sql::kVolumeRows + 100;

TEST_F(ControlVolumesTest, EveryRowIsFoundInWhicheverVolumeAndAfterARestart) {
    add(0, kRows);
    expect_rows(kRows);
    EXPECT_EQ(count("SELECT max(volume) FROM control_state"), 2);
    open();
    expect_rows(kRows);
    add(kRows, kRows + 10);
    EXPECT_EQ(count("SELECT count(*) FROM control_state WHERE volume = 2"), 110);
}

TEST_F(ControlVolumesTest, AKeyThatComesTwiceIsAConflictInEveryVolume) {
    add(0, kRows);
    for (const bool is_reopened : {false, true}) {
        for (const std::int64_t number : {std::int64_t{0}, turn_sql::kVolumeRows, kRows - 1}) {
            EXPECT_EQ(write(number, 0, "again").error(), errors::conflict) << number;
        }
        if (!is_reopened) {
            open();
        }
    }
    expect_rows(kRows);
}

TEST_F(ControlVolumesTest, AKeyThatComesTwiceInOneBatchIsAConflictThatLeavesNothing) {
    TurnCommit turn;
    turn.states = {{key_of(1), 0, "1"}, {key_of(1), 0, "2"}};
    EXPECT_EQ(store->commit({&turn, 1}).error(), errors::conflict);
    EXPECT_FALSE(store->load_state(key_of(1)).value().has_value());
    ASSERT_TRUE(write(1, 0, "1").has_value()) << "the key is still free";
    EXPECT_EQ(store->load_state(key_of(1)).value()->json, "1");
}

TEST_F(ControlVolumesTest, ARowIsChangedOnlyFromTheVersionThatWasLoaded) {
    add(0, kRows);
    ASSERT_TRUE(write(3, 1, "changed").has_value());
    EXPECT_EQ(store->load_state(key_of(3)).value()->version, 2);
    EXPECT_EQ(store->load_state(key_of(3)).value()->json, "changed");
    EXPECT_EQ(write(3, 1, "late").error(), errors::conflict);
    EXPECT_EQ(write(kRows, 1, "absent").error(), errors::conflict);
    open();
    EXPECT_EQ(store->load_state(key_of(3)).value()->json, "changed");
}

TEST_F(ControlVolumesTest, PastTheBoundRowsGoWhereOthersGo) {
    constexpr std::int64_t kMax = 50;
    open(kMax);
    add(0, 2 * kMax);
    EXPECT_EQ(count("SELECT count(*) FROM control_state"), kMax);
    EXPECT_EQ(count("SELECT count(*) FROM machine_state"), kMax);
    expect_rows(2 * kMax);
    for (const std::int64_t number : {std::int64_t{0}, 2 * kMax - 1}) {
        EXPECT_EQ(write(number, 0, "again").error(), errors::conflict) << number;
        EXPECT_TRUE(write(number, 1, std::to_string(number)).has_value()) << number;
    }
    // A server with a larger bound finds them, and keeps to the place where they went.
    open();
    expect_rows(2 * kMax);
    EXPECT_EQ(write(2 * kMax - 1, 0, "again").error(), errors::conflict);
    add(2 * kMax, 2 * kMax + 1);
    EXPECT_EQ(count("SELECT count(*) FROM machine_state"), kMax + 1);
}

TEST_F(ControlVolumesTest, AStoreThatCannotReadThemAllIsNotOpened) {
    add(0, kRows);
    store.reset();
    {
        SqliteDb db = SqliteDb::open({.path = folder / "ledger.db"}).value();
        ASSERT_TRUE(
            db.execute("ALTER TABLE control_state RENAME COLUMN volume TO shelf").has_value());
    }
    const auto opened = SqliteLedgerStore::open({.path = folder / "ledger.db"});
    ASSERT_FALSE(opened.has_value()) << "it could take a decision twice";
}

TEST_F(ControlVolumesTest, OtherMachinesAreReadWithoutLookingAtThem) {
    add(0, 10);
    TurnCommit turn;
    turn.states = {{"control", 0, "a"}, {"controlled/x", 0, "b"}};
    ASSERT_TRUE(store->commit({&turn, 1}).has_value());
    EXPECT_EQ(store->load_states("controlled").value().size(), 1u);
    EXPECT_EQ(store->load_states("control").value().size(), 12u);
    EXPECT_EQ(store->load_states("control/demo/").value().size(), 10u);
    EXPECT_EQ(store->load_states("").value().size(), 12u);
    EXPECT_EQ(store->load_states("concern/").value().size(), 0u);
    const auto reading =
        SqliteLedgerStore::open({.path = folder / "ledger.db", .read_only = true}).value();
    EXPECT_EQ(reading->load_states("control/").value().size(), 10u);
    EXPECT_EQ(reading->load_state(key_of(7)).value()->json, "7");
    EXPECT_FALSE(reading->load_state(key_of(10)).value().has_value());
}

}  // namespace
}  // namespace interlock
