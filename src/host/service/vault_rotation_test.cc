// Replacing the master key: with everything in use, in several turns, cut short at each of them.
#include <gtest/gtest.h>

#include "testing/vault_desk.h"

namespace interlock {
namespace {

std::string tenant_of(int i) {
    return "tenant" + std::to_string(i);
}

std::string key_of(int i) {
    return "key-number-" + std::to_string(1000 + i);
}

void fill(VaultDesk& desk, int tenants) {
    for (int i = 0; i < tenants; ++i) {
        ASSERT_TRUE(desk.put(tenant_of(i), key_of(i)));
    }
}

void expect_all_open(VaultDesk& desk, int tenants) {
    for (int i = 0; i < tenants; ++i) {
        ASSERT_EQ(desk.opened(tenant_of(i)), key_of(i));
    }
}

// More than two turns' worth.
constexpr int kMany = 2 * static_cast<int>(VaultService::kResealPerTurn) + 3;

TEST(VaultRotation, SealsEveryDataKeyAnewAndDropsTheOldMasterKey) {
    VaultDesk desk;
    fill(desk, kMany);
    const std::string old_key = desk.masters.current;
    const std::string sealed = desk.row(tenant_of(7)).entries[0].sealed;
    const auto report = desk.rotate();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resealed, kMany);
    EXPECT_FALSE(report->resumed);
    EXPECT_NE(report->from_id, report->to_id);
    EXPECT_NE(desk.masters.current, old_key);
    EXPECT_EQ(desk.masters.next, "");
    EXPECT_EQ(desk.row(tenant_of(7)).data_key->master_key_id, report->to_id);
    EXPECT_EQ(desk.row(tenant_of(7)).entries[0].sealed, sealed);  // The secrets stay as they are.
    expect_all_open(desk, kMany);
    ASSERT_TRUE(desk.restart());
    expect_all_open(desk, kMany);
}

TEST(VaultRotation, TheOldMasterKeyOpensNothingAfterwards) {
    VaultDesk desk;
    fill(desk, 3);
    const std::string old_key = desk.masters.current;
    ASSERT_TRUE(desk.rotate());
    desk.masters.current = old_key;
    EXPECT_EQ(desk.restart().error(), errors::master_key_wrong);
}

TEST(VaultRotation, StandsInTheRecordOfTheHostAndOfEachTenant) {
    VaultDesk desk;
    fill(desk, 2);
    ASSERT_TRUE(desk.rotate());
    EXPECT_EQ(desk.count_in_ledger("_system", "VAULT_ROTATION_STARTED"), 1);
    EXPECT_EQ(desk.count_in_ledger("_system", "VAULT_ROTATION_FINISHED"), 1);
    EXPECT_EQ(desk.count_in_ledger(tenant_of(0), "VAULT_DATA_KEY_RESEALED"), 1);
    EXPECT_EQ(desk.count_in_ledger(tenant_of(1), "VAULT_DATA_KEY_RESEALED"), 1);
}

// One turn to begin, three to seal anew, one to end: the server dies before each of them.
TEST(VaultRotation, ACrashBeforeAnyTurnLosesNothingAndTheNextRotationGoesOn) {
    int cut_short = 0;
    for (int turns = 0; turns < 5; ++turns) {
        VaultDesk desk;
        fill(desk, kMany);
        desk.engine().refuse_after = turns;
        ASSERT_FALSE(desk.rotate()) << turns;
        ++cut_short;
        ASSERT_TRUE(desk.restart()) << turns;
        expect_all_open(desk, kMany);
        const std::string next = desk.masters.next;
        EXPECT_EQ(next.empty(), turns == 0);
        const auto report = desk.rotate();
        ASSERT_TRUE(report) << turns;
        EXPECT_EQ(report->resumed, turns > 1) << turns;
        EXPECT_TRUE(next.empty() || desk.masters.current == next) << turns;
        EXPECT_EQ(desk.masters.next, "");
        EXPECT_EQ(desk.masters.made, 2);
        ASSERT_TRUE(desk.restart());
        expect_all_open(desk, kMany);
    }
    EXPECT_EQ(cut_short, 5);
}

TEST(VaultRotation, KeysPutWhileItIsCutShortAreSealedWithTheNewKey) {
    VaultDesk desk;
    fill(desk, 2);
    desk.engine().refuse_after = 1;
    ASSERT_FALSE(desk.rotate());
    ASSERT_TRUE(desk.restart());
    ASSERT_TRUE(desk.put(tenant_of(2), key_of(2)));
    const auto report = desk.rotate();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resealed, 2);
    EXPECT_EQ(desk.row(tenant_of(2)).data_key->master_key_id, report->to_id);
    expect_all_open(desk, 3);
}

// The files could not be exchanged: all rows ask for the new key, and both are still there.
TEST(VaultRotation, AMasterKeyThatCannotBeReplacedIsReplacedByTheNextRotation) {
    VaultDesk desk;
    fill(desk, 3);
    desk.masters.broken = true;
    EXPECT_EQ(desk.rotate().error(), errors::io_failed);
    expect_all_open(desk, 3);
    ASSERT_TRUE(desk.restart());
    expect_all_open(desk, 3);
    desk.masters.broken = false;
    const auto report = desk.rotate();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resealed, 0);
    EXPECT_EQ(desk.masters.next, "");
    expect_all_open(desk, 3);
}

// In one batch the put is decided with the old key and is not committed when the rotation looks.
TEST(VaultRotation, APutInTheSameBatchIsNotLeftBehind) {
    VaultDesk desk;
    fill(desk, 1);
    desk.engine().hold();
    std::optional<Result<RotationReport>> report;
    bool stored = false;
    desk.vault().put(
        VaultDesk::human(tenant_of(1)), VaultDesk::keys(key_of(1)), [&](const auto& result) {
            stored = result.has_value();
        });
    desk.vault().rotate_master_key(
        VaultDesk::host_operator(), [&](auto result) { report = std::move(result); });
    desk.engine().release();
    ASSERT_TRUE(stored);
    ASSERT_TRUE(report && *report);
    EXPECT_EQ((*report)->resealed, 2);
    ASSERT_TRUE(desk.restart());
    expect_all_open(desk, 2);
}

TEST(VaultRotation, TwoAtOnceAreOne) {
    VaultDesk desk;
    fill(desk, 2);
    desk.engine().hold();
    std::vector<Result<RotationReport>> reports;
    for (int i = 0; i < 2; ++i) {
        desk.vault().rotate_master_key(
            VaultDesk::host_operator(), [&](auto result) { reports.push_back(std::move(result)); });
    }
    desk.engine().release();
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0].error(), errors::conflict);
    EXPECT_TRUE(reports[1]);
    EXPECT_EQ(desk.masters.made, 2);
    expect_all_open(desk, 2);
}

TEST(VaultRotation, DoesNotBeginWhileARowDoesNotOpen) {
    VaultDesk desk;
    fill(desk, 2);
    ASSERT_TRUE(desk.restart([](MemoryLedgerContents& contents) {
        contents.states["vault/tenant1"].json = contents.states["vault/tenant0"].json;
    }));
    const std::string before = desk.states_text();
    EXPECT_EQ(desk.rotate().error(), errors::corrupt_data);
    EXPECT_EQ(desk.masters.next, "");
    EXPECT_EQ(desk.states_text(), before);
}

TEST(VaultRotation, AnEmptyVaultHasNothingToRotate) {
    VaultDesk desk;
    EXPECT_EQ(desk.rotate().error(), errors::not_found);
    EXPECT_EQ(desk.masters.made, 0);
}

TEST(VaultRotation, CanBeRepeated) {
    VaultDesk desk;
    fill(desk, 2);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(desk.rotate());
    }
    EXPECT_EQ(desk.masters.made, 4);
    expect_all_open(desk, 2);
}

}  // namespace
}  // namespace interlock
