// The real SQLite store on the crash disk: it must keep what it acknowledged, whatever is lost.
#include "sim/crash_vfs.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "engine/sqlite/sqlite_ledger_store.h"

namespace interlock::sim {
namespace {

TurnCommit turn_with(const std::string& machine_key, std::int64_t loaded_version) {
    TurnCommit turn;
    turn.states.push_back({machine_key, loaded_version, std::string(300, 'x')});
    return turn;
}

Result<std::unique_ptr<SqliteLedgerStore>> open_on(const CrashVfs& vfs) {
    return SqliteLedgerStore::open(
        {.path = "ledger.db",
         .vfs_name = vfs.name(),
         .exclusive_locking = true,
         .checkpoint_thread = false,
         .wal_restart_bytes = 64 * 1024});
}

TEST(CrashVfs, CarriesTheStoreThroughACleanRestart) {
    Power power;
    CrashDisk disk(power);
    const CrashVfs vfs(disk);
    {
        auto store = open_on(vfs);
        ASSERT_TRUE(store) << store.error().message;
        const std::vector<TurnCommit> turns{turn_with("m", 0)};
        ASSERT_TRUE((*store)->commit(turns));
    }
    auto store = open_on(vfs);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->load_state("m")->has_value());
}

// Commits until the power goes at a seeded call, then looks at what came back: every acknowledged
// version, and at most the one that was under way.
TEST(CrashVfs, LosesNoAcknowledgedCommitWhereverThePowerGoes) {
    std::int64_t crashes = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        Power power;
        CrashDisk disk(power);
        std::int64_t acknowledged = 0;
        bool created = false;
        SeededRandom random(seed);
        for (int life = 0; life < 4; ++life) {
            CrashVfs::seed_sqlite(seed + 1);
            const CrashVfs vfs(disk);
            disk.arm(
                {.fault = DiskFault::power_loss,
                 .calls_until = random.below(created ? 120 : 400),
                 .seed = seed});
            if (auto store = open_on(vfs); store) {
                created = true;
                const auto found = (*store)->load_state("m");
                const std::int64_t version = found && *found ? (*found)->version : 0;
                if (power.on) {
                    ASSERT_GE(version, acknowledged) << "seed " << seed;
                    ASSERT_LE(version, acknowledged + 1) << "seed " << seed;
                }
                acknowledged = std::max(acknowledged, version);
                for (int i = 0; i < 40 && power.on; ++i) {
                    const std::vector<TurnCommit> turns{turn_with("m", acknowledged)};
                    acknowledged += (*store)->commit(turns) ? 1 : 0;
                }
            } else {
                ASSERT_FALSE(power.on) << "seed " << seed << ": " << store.error().message;
            }
            crashes += power.on ? 0 : 1;
            power.on = true;
            disk.disarm();
            disk.settle_after_crash(random.next());
        }
    }
    EXPECT_GT(crashes, 100);
}

TEST(CrashVfs, ReportsAFullDiskAndGoesOnAfterwards) {
    Power power;
    CrashDisk disk(power);
    const CrashVfs vfs(disk);
    auto store = open_on(vfs);
    ASSERT_TRUE(store) << store.error().message;
    disk.arm({.fault = DiskFault::disk_full, .seed = 1});
    const std::vector<TurnCommit> turns{turn_with("m", 0)};
    const auto refused = (*store)->commit(turns);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "io_failed");
    store->reset();
    store = open_on(vfs);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->commit(turns));
}

// A commit whose sync failed may still be seen by a server that is started again on the same
// machine. What it then shows must not go away with the power.
TEST(CrashVfs, KeepsWhatAStoreShowedThatWasOpenedAfterAFailedSync) {
    int shown = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Power power;
        CrashDisk disk(power);
        std::int64_t version = 0;
        {
            const CrashVfs vfs(disk);
            auto store = open_on(vfs);
            ASSERT_TRUE(store) << store.error().message;
            // The two writes of one frame, then the sync.
            disk.arm({.fault = DiskFault::io_error, .calls_until = 2 * (seed % 4), .seed = seed});
            const std::vector<TurnCommit> turns{turn_with("m", 0)};
            (void)(*store)->commit(turns);
        }
        for (int life = 0; life < 2; ++life) {
            const CrashVfs vfs(disk);
            auto store = open_on(vfs);
            ASSERT_TRUE(store) << store.error().message;
            const auto found = (*store)->load_state("m");
            ASSERT_TRUE(found) << found.error().message;
            const std::int64_t now = *found ? (*found)->version : 0;
            ASSERT_GE(now, version) << "seed " << seed;
            version = now;
            power.on = false;
            store->reset();
            power.on = true;
            disk.settle_after_crash(seed);
        }
        shown += version > 0 ? 1 : 0;
    }
    EXPECT_GT(shown, 0);
    EXPECT_LT(shown, 60);
}

}  // namespace
}  // namespace interlock::sim
