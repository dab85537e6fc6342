// `audit verify` and the relay's file: its chains have head files and signatures of their own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/wiring/ledger_folder.h"
#include "app/wiring/test_ledger.h"
#include "relay/service/relay_chains.h"
#include "relay/sqlite/sqlite_relay_store.h"

namespace interlock {
namespace {

class RelayFolderTest : public ::testing::Test {
protected:
    RelayFolderTest() {
        ledger_.append("demo", 3);
        ledger_.close_store();
    }
    std::string path() const { return relay_database_path(ledger_.path()); }
    // What a server writes between its start and its end.
    void append(const std::string& tenant, int count, bool signs = false) {
        auto store = SqliteRelayStore::open({.path = path()});
        ASSERT_TRUE(store.has_value()) << store.error().message;
        auto heads = FileHeadMirror::open(relay_heads_folder(ledger_.path()));
        ASSERT_TRUE(heads.has_value());
        RelayLane lane(**store, clock_);
        const RelayChains chains({.lane = lane, .mirror = *heads, .keys = ledger_.keys()});
        ASSERT_TRUE(lane.open().has_value());
        ASSERT_TRUE(lane.submit([&](RelayTurn& turn) {
            for (int i = 0; i < count; ++i) {
                turn.audit(relay_draft(TenantId::trusted(tenant), "RELAY_TEST", "internal:relay"));
            }
        }));
        if (signs) {
            lane.start();
            lane.stop();
        } else {
            lane.run_round(std::chrono::microseconds(0));
        }
    }
    FolderReport verify(std::vector<TenantId> tenants = {}) {
        auto report = verify_folder({.data_folder = ledger_.path(), .tenants = std::move(tenants)});
        EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
        return report ? *std::move(report) : FolderReport{};
    }

    FakeClock clock_;
    TestLedger ledger_;
};

TEST_F(RelayFolderTest, AnUntouchedRelayIsWhole) {
    append("demo", 5, true);
    append("demo", 2);
    const FolderReport report = verify();
    EXPECT_TRUE(report.ok()) << describe(report);
    ASSERT_EQ(report.relay_chains.size(), 1u);
    EXPECT_EQ(report.relay_chains[0].records, 8);  // With the seal.
    EXPECT_EQ(report.relay_chains[0].checkpoints, 1);
    EXPECT_TRUE(report.warnings.empty());
}

TEST_F(RelayFolderTest, AnOlderCopyOfTheFileIsToldAsCutOff) {
    append("demo", 5, true);
    const std::string kept = ledger_.path() + "/kept.db";
    std::filesystem::copy_file(path(), kept);
    append("demo", 2);
    for (const char* suffix : {"", "-wal", "-shm"}) {
        std::filesystem::remove(path() + suffix);
    }
    std::filesystem::rename(kept, path());
    const FolderReport report = verify();
    EXPECT_FALSE(report.ok());
    ASSERT_EQ(report.relay_chains.size(), 1u);
    ASSERT_TRUE(report.relay_chains[0].fault.has_value());
    EXPECT_EQ(report.relay_chains[0].fault->seq, 7);
    EXPECT_NE(describe(report).find("BROKEN"), std::string::npos);
}

TEST_F(RelayFolderTest, AHeadThatNoChainCanHaveIsAFaultOfItsChain) {
    append("demo", 5, true);
    append("other", 2, true);
    const auto run = [&](const std::string& sql) {
        auto db = SqliteDb::open({.path = path()});
        ASSERT_TRUE(db.has_value());
        ASSERT_TRUE(db->execute(sql.c_str()));
    };
    const std::string where = " WHERE tenant_id = 'demo'";
    for (const std::string number : {"9223372036854775807", "9223372036854775806", "-5"}) {
        run("CREATE TABLE kept AS SELECT * FROM heads");
        run("UPDATE heads SET seq = " + number + where);
        const FolderReport report = verify();
        ASSERT_EQ(report.relay_chains.size(), 2u);
        ASSERT_TRUE(report.relay_chains[0].fault) << number;
        EXPECT_EQ(report.relay_chains[0].fault->reason, "head_mismatch");
        EXPECT_LT(report.relay_chains[0].known_seq, 100);
        EXPECT_FALSE(report.relay_chains[1].fault);
        run("REPLACE INTO heads SELECT * FROM kept");
        run("DROP TABLE kept");
    }
    std::ofstream(relay_heads_folder(ledger_.path()) + "/demo.head")
        << "9999999999999999999 " << std::string(64, 'a') << "\n";
    const FolderReport report = verify();
    ASSERT_TRUE(report.relay_chains[0].fault);
    EXPECT_TRUE(report.relay_chains[0].fault->detail.contains("the head file holds no head"));
    EXPECT_FALSE(report.relay_chains[1].fault);
}

TEST_F(RelayFolderTest, AFileThatIsGoneIsTold) {
    append("demo", 5);
    for (const char* suffix : {"", "-wal", "-shm"}) {
        std::filesystem::remove(path() + suffix);
    }
    const FolderReport report = verify();
    EXPECT_FALSE(report.ok());
    ASSERT_EQ(report.relay_chains.size(), 1u);
    EXPECT_EQ(report.relay_chains[0].fault->seq, 1);
}

TEST_F(RelayFolderTest, ChainsWithoutHeadFilesAreNoted) {
    append("demo", 5);
    std::filesystem::remove_all(relay_heads_folder(ledger_.path()));
    const FolderReport report = verify();
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(report.warnings.size(), 1u);
}

TEST_F(RelayFolderTest, ATenantWithoutARelayChainIsNoFault) {
    append("somebody", 1);
    const FolderReport report = verify({TenantId::trusted("demo")});
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_TRUE(report.relay_chains.empty());
}

}  // namespace
}  // namespace interlock
