#include "app/wiring/ledger_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/wiring/test_ledger.h"
#include "base/bytes.h"

namespace interlock {
namespace {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The first broken chain's fault; a record of zeros when nothing is broken.
ChainFault fault_of(const TestLedger& ledger) {
    const auto report = verify_folder({.data_folder = ledger.path()});
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    if (!report || report->first_broken() == nullptr || !report->first_broken()->fault) {
        return {0, "none", ""};
    }
    EXPECT_FALSE(report->ok());
    EXPECT_TRUE(describe(*report).contains("BROKEN"));
    EXPECT_EQ(
        encode(*report).find("first_bad_seq")->as_int64(), report->first_broken()->fault->seq);
    return *report->first_broken()->fault;
}

TEST(LedgerFolder, FindsAnUntouchedFolderWhole) {
    TestLedger ledger;
    ledger.append("demo", 30, true);
    ledger.append("demo", 12);
    ledger.append("_system", 3);
    ledger.close_store();
    const auto report = verify_folder({.data_folder = ledger.path()});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->records(), 45);
    EXPECT_TRUE(report->warnings.empty());
    EXPECT_TRUE(describe(*report).ends_with("OK: 2 chains, 45 records.\n"));
}

TEST(LedgerFolder, FindsAFlippedByteInTheDatabaseFile) {
    TestLedger ledger;
    ledger.append("demo", 40);
    ledger.close_store();
    std::string bytes = read_file(database_path(ledger.path()));
    const std::size_t at = bytes.find("note number 23");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(database_path(ledger.path()), bytes);
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 23);
    EXPECT_EQ(fault.reason, "content_changed");
}

TEST(LedgerFolder, FindsADeletedRow) {
    TestLedger ledger;
    ledger.append("demo", 40);
    ledger.close_store();
    ledger.run_sql("DELETE FROM ledger WHERE tenant_id = 'demo' AND seq = 17");
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 17);
    EXPECT_EQ(fault.reason, "missing_record");
}

TEST(LedgerFolder, FindsTwoRowsThatChangedPlaces) {
    TestLedger ledger;
    ledger.append("demo", 40);
    ledger.close_store();
    ledger.run_sql(
        "UPDATE ledger SET seq = -1 WHERE tenant_id = 'demo' AND seq = 20;"
        "UPDATE ledger SET seq = 20 WHERE tenant_id = 'demo' AND seq = 21;"
        "UPDATE ledger SET seq = 21 WHERE tenant_id = 'demo' AND seq = -1;");
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 20);
    EXPECT_EQ(fault.reason, "misplaced_record");
}

TEST(LedgerFolder, FindsACutOffTail) {
    TestLedger ledger;
    ledger.append("demo", 40);
    ledger.close_store();
    ledger.run_sql("DELETE FROM ledger WHERE tenant_id = 'demo' AND seq > 35");
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 36);
    EXPECT_EQ(fault.reason, "truncated_tail");
}

TEST(LedgerFolder, FindsACutOffTailWhoseStoredHeadWasSetBack) {
    TestLedger ledger;
    ledger.append("demo", 40);
    ledger.close_store();
    ledger.run_sql(
        "DELETE FROM ledger WHERE tenant_id = 'demo' AND seq > 35;"
        "UPDATE heads SET seq = 35, hash = (SELECT hash FROM ledger WHERE tenant_id = 'demo' "
        "AND seq = 35) WHERE tenant_id = 'demo'");
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 36);
    EXPECT_EQ(fault.reason, "truncated_tail");
}

TEST(LedgerFolder, FindsACutOffTailBehindACheckpointWhenEveryHeadWasSetBack) {
    TestLedger ledger;
    ledger.append("demo", 35);
    const LedgerHead back = ledger.head("demo");
    ledger.append("demo", 5, true);
    ledger.close_store();
    ledger.run_sql(
        "DELETE FROM ledger WHERE tenant_id = 'demo' AND seq > 35;"
        "UPDATE heads SET seq = 35, hash = '" +
        back.hash + "' WHERE tenant_id = 'demo'");
    ledger.publish_head("demo", back);
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 36);
    EXPECT_EQ(fault.reason, "truncated_tail");
}

TEST(LedgerFolder, FindsAChangedRecordWhoseHashesWereAllMadeAnew) {
    TestLedger ledger;
    ledger.append("demo", 10, true);
    ledger.close_store();
    // As an attacker with a hash function but without the signing key would do it.
    ChainHead head;
    for (int i = 1; i <= 10; ++i) {
        AuditDraft draft;
        draft.tenant_id = TenantId::trusted("demo");
        draft.event = i == 4 ? "NOTHING_HAPPENED" : "PROBE";
        draft.decision_id = DecisionId::trusted("dec_" + std::to_string(i));
        draft.tick_id = TickId::trusted("-");
        draft.principal = "agent:key_1";
        draft.timestamp = FakeClock::kNoon;
        const SealedRecord sealed = *seal(head, draft);
        ledger.run_sql(
            "UPDATE ledger SET json = '" + sealed.canonical + "', hash = '" + head.hash +
            "' WHERE tenant_id = 'demo' AND seq = " + std::to_string(i));
    }
    ledger.run_sql("UPDATE heads SET hash = '" + head.hash + "' WHERE tenant_id = 'demo'");
    ledger.publish_head("demo", {head.seq, head.hash});
    const ChainFault fault = fault_of(ledger);
    EXPECT_EQ(fault.seq, 10);
    EXPECT_EQ(fault.reason, "bad_checkpoint");
}

TEST(LedgerFolder, FindsAChainOfWhichOnlyTheHeadFileIsLeft) {
    TestLedger ledger;
    ledger.append("demo", 4);
    ledger.append("gone", 4);
    ledger.close_store();
    ledger.run_sql(
        "DELETE FROM ledger WHERE tenant_id = 'gone'; DELETE FROM heads WHERE tenant_id = 'gone'");
    const auto report = verify_folder({.data_folder = ledger.path()});
    ASSERT_TRUE(report.has_value());
    ASSERT_NE(report->first_broken(), nullptr);
    EXPECT_EQ(report->first_broken()->tenant_id.text(), "gone");
    EXPECT_EQ(report->first_broken()->fault->seq, 1);
}

TEST(LedgerFolder, NamesTheFirstRecordOnADamagedPage) {
    TestLedger ledger;
    ledger.append("demo", 200);
    ledger.close_store();
    const std::string path = database_path(ledger.path());
    std::string bytes = read_file(path);
    // The type byte at the start of the page on which record 150 lies.
    const std::size_t page = bytes.find("note number 150") / 4096 * 4096;
    bytes[page] = '\x7f';
    write_file(path, bytes);
    const auto report = verify_folder({.data_folder = ledger.path()});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_FALSE(report->ok());
    ASSERT_NE(report->first_broken(), nullptr);
    const ChainFault& fault = *report->first_broken()->fault;
    EXPECT_EQ(fault.reason, "unreadable_record");
    EXPECT_GT(fault.seq, 100);
    EXPECT_LE(fault.seq, 150);
    // The record before the named one is still there to be read.
    EXPECT_EQ(report->first_broken()->records, fault.seq - 1);
}

TEST(LedgerFolder, ReportsAFileThatIsNoDatabaseAnyMore) {
    TestLedger ledger;
    ledger.append("demo", 5);
    ledger.close_store();
    const std::string path = database_path(ledger.path());
    std::string bytes = read_file(path);
    bytes.replace(0, 16, "not a database!!");
    write_file(path, bytes);
    const auto report = verify_folder({.data_folder = ledger.path()});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_FALSE(report->ok());
    EXPECT_NE(report->damage, "");
    ASSERT_EQ(report->chains.size(), 1u);
    EXPECT_EQ(report->chains.front().fault->seq, 1);
}

TEST(LedgerFolder, NotesAMissingHeadFile) {
    TestLedger ledger;
    ledger.append("demo", 5);
    ledger.close_store();
    std::filesystem::remove_all(heads_folder(ledger.path()));
    const auto report = verify_folder({.data_folder = ledger.path()});
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->warnings.size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(heads_folder(ledger.path())));
}

// What a server commits after the snapshot was taken must not look like a cut-off tail.
TEST(LedgerFolder, SeesOneMomentOfABusyServer) {
    TestLedger ledger;
    ledger.append("demo", 1500);
    bool appended = false;
    FolderCheck check;
    check.data_folder = ledger.path();
    check.on_progress = [&](const TenantId&, std::int64_t) {
        if (!appended) {
            appended = true;
            ledger.append("demo", 10);
        }
    };
    const auto report = verify_folder(check);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(appended);
    EXPECT_TRUE(report->ok()) << describe(*report);
    EXPECT_EQ(report->records(), 1500);
}

TEST(LedgerFolder, RefusesAFolderWithoutALedger) {
    const TempFolder folder;
    const auto store = open_ledger(folder.path().string(), LedgerView::live);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code(), "not_found");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LedgerFolder, TakesAPublicKeyAsDigitsOrAsAFile) {
    TestLedger ledger;
    const std::string key = ledger.keys().first_public_key();
    EXPECT_EQ(parse_public_key(to_hex(key)).value(), key);
    EXPECT_EQ(parse_public_key(ledger.path() + "/ledger.pub").value(), key);
    EXPECT_FALSE(parse_public_key("abc").has_value());
}

}  // namespace
}  // namespace interlock
