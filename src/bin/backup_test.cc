#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "adapters/sqlite/sqlite_ledger_store.h"
#include "adapters/system/data_folder.h"
#include "adapters/system/durable_file.h"
#include "adapters/system/file_head_mirror.h"
#include "adapters/system/random_id_source.h"
#include "adapters/system/system_clock.h"
#include "bin/backup_cut.h"
#include "bin/backup_restore.h"
#include "bin/data_path.h"
#include "bin/offline_seal.h"
#include "bin/server_client.h"
#include "services/metrics.h"
#include "services/turn_runner.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, const std::string& bytes) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string read_file(const std::string& path) {
    return read_small_file(path, std::size_t{1} << 30).value();
}

class BackupTest : public ::testing::Test {
protected:
    BackupTest() { write_records(20); }

    // What a server leaves behind that ran for a while and stopped.
    void write_records(int count) {
        SystemClock clock;
        RandomIdSource ids;
        DataFolder folder = DataFolder::open(data_, ids).value();
        const auto store = SqliteLedgerStore::open({.path = database_path(data_)}).value();
        FileHeadMirror mirror = FileHeadMirror::open(heads_folder(data_)).value();
        const OfflineLedger ledger{folder, *store, mirror, clock, ids};
        ASSERT_TRUE(seal_offline(ledger));
        {
            Metrics metrics;
            TurnRunner runner({*store, clock, ids, mirror, metrics});
            ASSERT_TRUE(runner.open());
            for (int i = 0; i < count; ++i) {
                TurnRequest request;
                request.tenant_id = TenantId::trusted("demo");
                request.principal = internal_principal("test");
                request.function = "test";
                request.decide = [](Turn& turn) -> Result<TurnReply> {
                    TRY(turn.audit(turn.draft("PROBE")));
                    return Answer{};
                };
                request.reply = [](const Result<Answer>&) {};
                std::vector<TurnRequest> batch;
                batch.push_back(std::move(request));
                runner.run_batch(std::move(batch));
            }
        }
        ASSERT_TRUE(seal_offline(ledger));
    }
    Result<BackupTaken> back_up(const std::string& name = "backup") {
        return take_backup(
            {.data_folder = data_,
             .out_folder = folder_ / name,
             .program = "test",
             .ask_server = [](const SealBackup&) -> Result<BackupSeal> {
                 return fail(errors::server_unreachable, "No server runs.");
             }});
    }
    Result<RestoreReport> restore(const std::string& lost = {}) {
        return restore_backup({.backup_folder = backup_, .data_folder = new_, .lost_folder = lost});
    }
    // That it was refused, why, and that it left nothing.
    void expect_refused(const std::string& sentence) {
        const auto restored = restore();
        ASSERT_FALSE(restored);
        EXPECT_TRUE(restored.error().message.contains(sentence)) << restored.error().message;
        EXPECT_FALSE(fs::exists(new_));
        EXPECT_FALSE(fs::exists(new_ + ".partial"));
    }

    testing::TempFolder folder_;
    std::string data_ = folder_ / "data";
    std::string backup_ = folder_ / "backup";
    std::string new_ = folder_ / "new";
};

TEST_F(BackupTest, BringsBackWhatItTookAndNoKey) {
    write_file(data_ + "/paper.journal", "{\"last\":true}\n");
    write_file(data_ + "/pnl/demo.log", "x\n");
    write_file(data_ + "/master.key", "secret");
    write_file(data_ + "/outbox/letter.eml", "secret");
    write_file(data_ + "/media/file", "secret");
    const auto taken = back_up();
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_FALSE(taken->is_sealed_by_server);
    struct stat found{};
    ASSERT_EQ(stat(backup_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0700U);
    ASSERT_EQ(stat((backup_ + "/interlock.db").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0077U, 0U);
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error().message;
    for (const std::string folder : {backup_, new_}) {
        for (const std::string name :
             {"ledger.key",
              "ledger.key.next",
              "operator.token",
              "master.key",
              "outbox",
              "media",
              "LOCK"}) {
            EXPECT_FALSE(fs::exists(folder + "/" + name)) << name;
        }
        for (const std::string name :
             {"paper.journal", "pnl/demo.log", "heads.log", "ledger.pub"}) {
            EXPECT_EQ(read_file(folder + "/" + name), read_file(data_ + "/" + name)) << name;
        }
    }
    const auto report = verify_folder({.data_folder = new_});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->ok()) << describe(*report);
}

TEST_F(BackupTest, RefusesABackupInWhichAFileIsAnother) {
    ASSERT_TRUE(back_up());
    const std::string path = backup_ + "/heads/demo.head";
    const std::string whole = read_file(path);
    write_file(path, whole + "x");
    expect_refused("heads/demo.head is not what was sealed");
    fs::remove(path);
    expect_refused("heads/demo.head is missing");
    fs::create_symlink(data_ + "/operator.token", path);
    expect_refused("heads/demo.head is missing");
    fs::remove(path);
    write_file(path, whole);
    EXPECT_TRUE(restore());
}

TEST_F(BackupTest, RefusesAManifestThatSomebodyFitted) {
    ASSERT_TRUE(back_up());
    const std::string path = backup_ + "/backup.json";
    const std::string whole = read_file(path);
    Json json = parse_json(whole).value();
    json.set("program", "another");
    write_file(path, to_text(json));
    expect_refused("changed after it was sealed");
    write_file(path, "{}");
    EXPECT_FALSE(restore());
    fs::remove(path);
    EXPECT_FALSE(restore());
}

TEST_F(BackupTest, PutsInNothingThatTheManifestDoesNotName) {
    ASSERT_TRUE(back_up());
    write_file(backup_ + "/ledger.key", "0 " + std::string(64, 'a') + "\n");
    write_file(backup_ + "/KILL", "");
    ASSERT_TRUE(restore());
    EXPECT_FALSE(fs::exists(new_ + "/ledger.key"));
    EXPECT_FALSE(fs::exists(new_ + "/KILL"));
}

TEST_F(BackupTest, KnowsWhoseBackupItIs) {
    ASSERT_TRUE(back_up());
    const auto restored = restore_backup(
        {.backup_folder = backup_, .data_folder = new_, .public_key = std::string(32, 'x')});
    ASSERT_FALSE(restored);
    EXPECT_TRUE(restored.error().message.contains("another server"));
    EXPECT_TRUE(restore_backup(
        {.backup_folder = backup_,
         .data_folder = new_,
         .public_key = read_ledger_public_key(data_).value()}));
}

TEST_F(BackupTest, TakesNoFolderThatHoldsSomething) {
    write_file(backup_ + "/mine", "x");
    EXPECT_FALSE(back_up());
    EXPECT_TRUE(fs::exists(backup_ + "/mine"));
    fs::remove(backup_ + "/mine");
    ASSERT_TRUE(back_up());  // Empty is as good as new.
    write_file(new_ + "/mine", "x");
    EXPECT_FALSE(restore());
    EXPECT_TRUE(fs::exists(new_ + "/mine"));
}

TEST_F(BackupTest, KeepsNothingOfAFolderThatDoesNotVerify) {
    {
        auto db = SqliteDb::open({.path = database_path(data_)}).value();
        ASSERT_TRUE(db.execute("DELETE FROM ledger WHERE tenant_id = 'demo' AND seq > 20"));
    }
    const auto taken = back_up();
    ASSERT_FALSE(taken);
    EXPECT_TRUE(taken.error().message.contains("does not verify")) << taken.error().message;
    EXPECT_FALSE(fs::exists(backup_));
    EXPECT_FALSE(fs::exists(backup_ + ".partial"));
}

TEST_F(BackupTest, TakesJournalAndHeadLogOfTheLostServer) {
    write_file(data_ + "/paper.journal", "{\"last\":true}\n");
    ASSERT_TRUE(back_up());
    write_file(data_ + "/paper.journal", "{\"last\":true}\n{\"last\":true}\n");
    write_records(5);
    const auto restored = restore(data_);
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(restored->from_lost, (std::vector<std::string>{"heads.log", "paper.journal"}));
    EXPECT_EQ(read_file(new_ + "/paper.journal"), read_file(data_ + "/paper.journal"));
    // How far the lost server had come shows.
    const auto report = verify_folder({.data_folder = new_});
    ASSERT_TRUE(report && report->first_broken() != nullptr);
    EXPECT_EQ(report->first_broken()->fault->reason, "truncated_tail");
    EXPECT_FALSE(restore_backup(
        {.backup_folder = backup_,
         .data_folder = folder_ / "third",
         .lost_folder = backup_ + "x"}));
}

TEST_F(BackupTest, ChecksWithoutRestoring) {
    ASSERT_TRUE(back_up());
    EXPECT_TRUE(restore_backup({.backup_folder = backup_, .data_folder = {}}));
    EXPECT_FALSE(fs::exists(backup_ + ".check"));
    EXPECT_FALSE(fs::exists(backup_ + ".check.partial"));
}

}  // namespace
}  // namespace interlock
