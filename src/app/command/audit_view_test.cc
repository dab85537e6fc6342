#include "app/command/audit_view.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "app/wiring/data_path.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/server_client.h"
#include "app/wiring/test_ledger.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");

TEST(AuditView, TakesTheOnlyTenantWhenNoneIsNamed) {
    TestLedger ledger;
    ledger.append("_system", 1);
    ledger.append("demo", 1);
    EXPECT_EQ(choose_chain(ledger.store(), "").value(), kDemo);
}

TEST(AuditView, AsksWhichOfSeveralTenantsIsMeant) {
    TestLedger ledger;
    ledger.append("demo", 1);
    ledger.append("other", 1);
    const auto chosen = choose_chain(ledger.store(), "");
    ASSERT_FALSE(chosen.has_value());
    EXPECT_EQ(chosen.error(), errors::bad_usage);
    EXPECT_TRUE(chosen.error().message.contains("demo, other"));
}

TEST(AuditView, TakesTheDemosOwnTenantThoughSomebodySignedUpBesideIt) {
    TestLedger ledger;
    ledger.append("_system", 1);
    ledger.append("demo", 1);
    ledger.append("tn_1", 1);
    EXPECT_EQ(choose_chain(ledger.store(), "", ledger.path()).error(), errors::bad_usage);
    std::ofstream(demo_mark_path(ledger.path())) << "\n";
    EXPECT_EQ(choose_chain(ledger.store(), "", ledger.path()).value(), kDemo);
    EXPECT_EQ(choose_chain(ledger.store(), "tn_1", ledger.path())->text(), "tn_1");
}

TEST(AuditView, RefusesATenantWithoutAChain) {
    TestLedger ledger;
    ledger.append("demo", 1);
    EXPECT_EQ(choose_chain(ledger.store(), "nobody").error(), errors::not_found);
}

TEST(AuditView, TakesEveryTenantForACommandThatReadsThemAll) {
    TestLedger ledger;
    ledger.append("_system", 1);
    ledger.append("demo", 1);
    ledger.append("other", 1);
    const std::vector<TenantId> all{kDemo, TenantId::trusted("other")};
    EXPECT_EQ(choose_chains(ledger.store(), "").value(), all);
    EXPECT_EQ(choose_chains(ledger.store(), "demo").value(), std::vector{kDemo});
    EXPECT_EQ(choose_chains(ledger.store(), "nobody").error(), errors::not_found);
}

TEST(AuditView, SaysWhereAChainIsBrokenAndNothingOtherwise) {
    EXPECT_EQ(describe_fault(kDemo, std::nullopt), "");
    EXPECT_EQ(
        describe_fault(kDemo, ChainFault{3, "content_changed", {}}),
        "The chain of demo is broken at record 3 (content_changed); run `interlock audit "
        "verify`.\n");
}

TEST(AuditView, PrintsTheNewestRecordsOldestFirst) {
    TestLedger ledger;
    ledger.append("demo", 12);
    std::ostringstream out;
    const TailOptions options{.data_folder = ledger.path(), .tenant_id = kDemo, .count = 3};
    ASSERT_TRUE(print_tail(ledger.store(), options, out).has_value());
    const std::string text = out.str();
    EXPECT_FALSE(text.contains("note number 9\n"));
    EXPECT_LT(text.find("note number 10"), text.find("note number 12"));
}

TEST(AuditView, PrintsOneJsonDocumentPerLine) {
    TestLedger ledger;
    ledger.append("demo", 2);
    std::ostringstream out;
    const TailOptions options{
        .data_folder = ledger.path(), .tenant_id = kDemo, .count = 20, .json = true};
    ASSERT_TRUE(print_tail(ledger.store(), options, out).has_value());
    const std::string text = out.str();
    const auto lines = split(text, '\n');
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(parse_json(lines[1])->find("seq")->as_int64(), 2);
}

// A stream that breaks after the first records, as a closed pipe does, ends the following.
TEST(AuditView, FollowsUntilNobodyReads) {
    TestLedger ledger;
    ledger.append("demo", 2);
    class FullBuffer : public std::stringbuf {
        int sync() override { return -1; }
    } buffer;
    std::ostream out(&buffer);
    const TailOptions options{
        .data_folder = ledger.path(), .tenant_id = kDemo, .count = 20, .follow = true};
    EXPECT_TRUE(print_tail(ledger.store(), options, out).has_value());
    EXPECT_TRUE(buffer.str().contains("note number 2"));
}

TEST(AuditView, FindsARecordByNumberAndByReference) {
    TestLedger ledger;
    ledger.append("demo", 5);
    const auto by_number = find_record(ledger.store(), kDemo, "4");
    ASSERT_TRUE(by_number.has_value());
    const auto by_reference = find_record(ledger.store(), kDemo, audit_ref(*by_number));
    ASSERT_TRUE(by_reference.has_value());
    EXPECT_EQ(by_reference->hash, by_number->hash);
    EXPECT_TRUE(describe_record(*by_number).contains("demo.4"));
}

TEST(AuditView, SaysWhenAReferenceIsNotThisRecords) {
    TestLedger ledger;
    ledger.append("demo", 5);
    const auto found = find_record(ledger.store(), kDemo, "4:0000000000000000");
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error(), errors::corrupt_data);
}

TEST(AuditView, FindsNoRecordThatIsNotThere) {
    TestLedger ledger;
    ledger.append("demo", 5);
    for (const char* text : {"6", "0", "-1", "x", "", "3x", "99999999999999999999"}) {
        EXPECT_EQ(find_record(ledger.store(), kDemo, text).error(), errors::not_found) << text;
    }
}

// The names in the first column of the document's table number `index`.
std::set<std::string> documented_names(int index) {
    std::ifstream document(INTERLOCK_SOURCE_DIR "/docs/contracts/audit-ledger.md");
    std::set<std::string> names;
    int table = -1;
    for (std::string line; std::getline(document, line);) {
        table += line.starts_with("|---") ? 1 : 0;
        if (table == index && line.starts_with("| `")) {
            names.insert(line.substr(3, line.find('`', 3) - 3));
        }
    }
    return names;
}

std::set<std::string> names_of(const Json& json) {
    std::set<std::string> names;
    for (const auto& [name, value] : json.members()) {
        names.insert(name);
    }
    return names;
}

TEST(AuditView, TheDocumentNamesTheFieldsOfARecord) {
    TestLedger ledger;
    ledger.append("demo", 1);
    auto record = find_record(ledger.store(), kDemo, "1");
    ASSERT_TRUE(record.has_value());
    record->draft.rows.push_back({"kill/demo", "", ""});  // There only when there are any.
    EXPECT_EQ(documented_names(0), names_of(encode(*record)));
}

TEST(AuditView, TheDocumentNamesTheFieldsOfASeal) {
    Seal seal;
    seal.heads.emplace();
    seal.next_key.emplace();
    seal.broken.emplace();
    seal.adopted = 1;
    seal.signature = "00";
    EXPECT_EQ(documented_names(1), names_of(encode(seal)));
}

TEST(AuditView, ExportsWhatVerifies) {
    TestLedger ledger;
    ledger.append("demo", 30, true);
    ledger.append("demo", 7);
    std::stringstream file;
    const FolderSigner signer = FolderSigner::open(ledger.path()).value();
    const auto written = write_export(
        {.store = ledger.store(), .signer = signer.signer(), .created_at = FakeClock::kNoon},
        kDemo,
        file);
    ASSERT_TRUE(written.has_value());
    const auto report = verify_export(file, {.public_key = signer.first_public_key()});
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok());
    EXPECT_EQ(report->chain.records, 37);
    EXPECT_TRUE(describe_export(*report).ends_with("OK: whole and unchanged.\n"));
}

}  // namespace
}  // namespace interlock
