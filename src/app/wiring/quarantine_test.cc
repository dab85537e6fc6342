// Evidence of a break outlives the work that goes on behind it, and tells no secret.
#include "app/wiring/quarantine.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/wiring/data_path.h"
#include "base/crypto.h"
#include "engine/memory/memory_ledger_store.h"
#include "engine/system/durable_file.h"
#include "testing/fake_clock.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

constexpr std::size_t kReportBytesMax = 64 * 1024;

Json report_in(const std::string& data_folder) {
    const std::filesystem::directory_iterator kept(quarantine_folder(data_folder));
    const auto text = read_small_file(kept->path().string() + "/report.json", kReportBytesMax);
    EXPECT_TRUE(text) << text.error().message;
    return parse_json(*text).value();
}

TEST(Quarantine, NamesWhatRowsWereSaidToBeAndWhatTheyAre) {
    const TempFolder folder;
    const std::string stop = R"({"active":false})";
    const std::string human = R"({"password":"$argon2id$planted"})";
    MemoryLedgerContents contents;
    contents.states["kill/demo"] = {2, stop};
    contents.states["human/hum_1"] = {2, human};
    MemoryLedgerStore store(std::move(contents));
    const std::string before = sha256_hex(R"({"active":true})");
    ChainReport report;
    report.tenant_id = TenantId::trusted("demo");
    report.fault = ChainFault{9, "changed_row", "kill/demo is not what the records say"};
    report.rows = {
        {"human/hum_1", "changed_row", before, sha256_hex(human)},
        {"kill/demo", "changed_row", before, sha256_hex(stop)},
        {"vault/demo", "missing_row", before, ""},
    };
    keep_evidence(folder.path().string(), report, FakeClock::kNoon, store);

    const Json kept = report_in(folder.path().string());
    EXPECT_EQ(kept.find("problem")->as_string(), "changed_row");
    const Json::Array& rows = kept.find("rows")->items();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].find("found_sha256")->as_string(), sha256_hex(human));
    EXPECT_EQ(rows[0].find("found"), nullptr);
    EXPECT_EQ(rows[1].find("key")->as_string(), "kill/demo");
    EXPECT_EQ(rows[1].find("said_sha256")->as_string(), before);
    EXPECT_EQ(rows[1].find("found")->as_string(), stop);
    EXPECT_TRUE(rows[2].find("found_sha256")->is_null());
    EXPECT_FALSE(to_text(kept).contains("argon2id"));
}

TEST(Quarantine, TellsNoRowThatHoldsSecretsOrAddresses) {
    for (const char* key :
         {"human/h", "tenant/t", "email/e", "vault/t", "notify/t", "onboarding/t"}) {
        EXPECT_FALSE(may_be_told(key)) << key;
    }
    EXPECT_TRUE(may_be_told("account/demo/paper/main"));
}

}  // namespace
}  // namespace interlock
