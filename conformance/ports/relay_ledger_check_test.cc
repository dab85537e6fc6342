// The check behind `interlock audit verify` reads the relay's file like the ledger's: it passes a
// whole one and names what was tampered with.
#include <gtest/gtest.h>

#include "engine/rules/tail_proof.h"
#include "engine/service/head_proofs.h"
#include "engine/service/ledger_check.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "relay/sqlite/sqlite_relay_store.h"
#include "testing/fake_clock.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

const TenantId kAlice = TenantId::trusted("alice");
const TenantId kBob = TenantId::trusted("bob");

struct RelayLedgerCheckTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "relay.db";
    Ed25519KeyPair key = *ed25519_from_seed(std::string(32, 'k'));

    // Five records of Alice's with a checkpoint at the third, and two of Bob's.
    void SetUp() override {
        const auto store = SqliteRelayStore::open({.path = path}).value();
        ChainHead alice;
        ChainHead bob;
        for (int n = 1; n <= 5; ++n) {
            RelayCommit batch;
            batch.audit.push_back(sealed(alice, kAlice));
            if (n <= 2) {
                batch.audit.push_back(sealed(bob, kBob));
            }
            if (n == 3) {
                batch.checkpoints.push_back(sign_head(
                    [this](std::string_view text) { return ed25519_sign(key, text); },
                    kAlice,
                    alice,
                    FakeClock::kNoon));
            }
            std::vector<HeadLine> lines{{std::string(kRelayBook), kAlice, alice}};
            if (n <= 2) {
                lines.push_back({std::string(kRelayBook), kBob, bob});
            }
            const auto proofs = prove_tails(
                lines, 0, [this](std::string_view text) { return ed25519_sign(key, text); });
            for (std::size_t i = 0; i < lines.size(); ++i) {
                batch.proofs.push_back({lines[i].tenant_id, proofs[i]});
            }
            ASSERT_TRUE(store->commit(batch).has_value());
        }
    }
    static LedgerEntry sealed(ChainHead& head, const TenantId& tenant_id) {
        AuditDraft draft;
        draft.tenant_id = tenant_id;
        draft.event = "PROBE";
        draft.decision_id = DecisionId::trusted("dec_" + std::to_string(head.seq));
        draft.tick_id = TickId::trusted("-");
        draft.principal = "internal:test";
        draft.timestamp = FakeClock::kNoon;
        const SealedRecord record = *seal(head, draft);
        return {tenant_id, head.seq, record.canonical, head.hash};
    }
    void tamper(const char* sql) {
        SqliteDb db = SqliteDb::open({.path = path}).value();
        ASSERT_TRUE(db.execute(sql).has_value());
        ASSERT_GT(db.rows_changed(), 0);
    }
    std::vector<ChainReport> check() {
        const auto store =
            SqliteLedgerStore::open({.path = path, .read_only = true, .snapshot = true}).value();
        KeyLineage keys(key.public_key);
        return check_ledger(
                   {.store = *store, .mirror = {}, .keys = keys, .book = kRelayBook, .tenants = {}})
            .value();
    }
    // Alice's chain has a fault at `seq`, Bob's has none.
    void expect_fault(std::int64_t seq, std::string_view reason) {
        const std::vector<ChainReport> reports = check();
        ASSERT_EQ(reports.size(), 2u);
        ASSERT_TRUE(reports[0].fault.has_value());
        EXPECT_EQ(reports[0].fault->seq, seq);
        EXPECT_EQ(reports[0].fault->reason, reason);
        EXPECT_FALSE(reports[1].fault.has_value());
    }
};

}  // namespace

TEST_F(RelayLedgerCheckTest, AWholeFilePasses) {
    const std::vector<ChainReport> reports = check();
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_FALSE(reports[0].fault.has_value());
    EXPECT_EQ(reports[0].records, 5);
    EXPECT_EQ(reports[0].checkpoints, 1);
    EXPECT_TRUE(reports[0].complete);
    EXPECT_FALSE(reports[1].fault.has_value());
    EXPECT_EQ(reports[1].records, 2);
}

TEST_F(RelayLedgerCheckTest, AChangedRecordIsFound) {
    tamper(
        "UPDATE ledger SET json = replace(json, 'PROBE', 'PROVE') "
        "WHERE tenant_id = 'alice' AND seq = 2");
    expect_fault(2, "content_changed");
}

TEST_F(RelayLedgerCheckTest, AMissingRecordIsFound) {
    tamper("DELETE FROM ledger WHERE tenant_id = 'alice' AND seq = 4");
    expect_fault(4, "missing_record");
}

TEST_F(RelayLedgerCheckTest, ACutTailIsFound) {
    tamper("DELETE FROM ledger WHERE tenant_id = 'alice' AND seq = 5");
    expect_fault(5, "truncated_tail");
}

TEST_F(RelayLedgerCheckTest, AForgedCheckpointIsFound) {
    tamper(
        "UPDATE checkpoints SET signature = replace(signature, substr(signature, 1, 4), '0000')");
    expect_fault(3, "bad_checkpoint");
}

}  // namespace interlock
