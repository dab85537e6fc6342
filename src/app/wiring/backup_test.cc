// Backups and restores of a real folder without a server: what is in one, whose it is, and
// everything that somebody could have changed in it, or that could go wrong on the way.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/wiring/backup_cut.h"
#include "app/wiring/backup_restore.h"
#include "app/wiring/data_path.h"
#include "app/wiring/offline_seal.h"
#include "app/wiring/server_client.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "engine/service/turn_runner.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/durable_file.h"
#include "engine/system/file_copy.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/service/metrics.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

void put_file(const std::string& path, const std::string& bytes) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class BackupTest : public ::testing::Test {
protected:
    BackupTest() { write_records(20); }

    // What a server leaves behind that ran for a while and stopped.
    void write_records(int count) { write_records_in(data_, count); }
    static void write_records_in(const std::string& data, int count) {
        SystemClock clock;
        RandomIdSource ids;
        DataFolder folder = DataFolder::open(data, ids).value();
        const auto store = SqliteLedgerStore::open({.path = database_path(data)}).value();
        FileHeadMirror mirror = FileHeadMirror::open(heads_folder(data)).value();
        const OfflineLedger ledger{folder, *store, mirror, clock, ids};
        ASSERT_TRUE(seal_offline(ledger));
        {
            Metrics metrics;
            TurnRunner runner({*store, clock, ids, mirror, folder.seal_keys(), metrics});
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
    Result<BackupTaken> back_up(
        const std::string& name = "backup",
        std::function<void(const std::string&, std::int64_t)> on_progress = {}) {
        return take_backup(
            {.data_folder = data_,
             .out_folder = folder_ / name,
             .program = "test",
             .ask_server = [](const SealBackup&) -> Result<BackupSeal> {
                 return fail(errors::server_unreachable, "No server runs.");
             },
             .on_progress = std::move(on_progress)});
    }
    // Changes the manifest and seals it again, as whoever has the key could.
    void seal_again(const std::function<void(BackupManifest&)>& change) {
        const std::string path = backup_ + "/backup.json";
        auto sealed = decode_sealed_manifest(parse_json(bytes_of(path)).value()).value();
        change(sealed.manifest);
        const FolderSigner signer = FolderSigner::open(data_).value();
        sealed.seal.signature = to_hex(
            ed25519_sign(signer.signer().key, backup_text(digest_of(sealed.manifest).value())));
        put_file(path, to_text(encode(sealed)));
    }
    void digest_again(const std::string& name) {
        const FileDigest digest = digest_file(backup_ + "/" + name).value();
        seal_again([&](BackupManifest& manifest) {
            for (BackupFile& file : manifest.files) {
                if (file.name == name) {
                    file = {name, digest.bytes, digest.sha256};
                }
            }
        });
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

    TempFolder folder_;
    std::string data_ = folder_ / "data";
    std::string backup_ = folder_ / "backup";
    std::string new_ = folder_ / "new";
};

TEST_F(BackupTest, BringsBackWhatItTookAndNoKey) {
    put_file(data_ + "/paper.journal", "{\"last\":true}\n");
    put_file(data_ + "/pnl/demo.log", "x\n");
    put_file(data_ + "/master.key", "secret");
    put_file(data_ + "/outbox/letter.eml", "secret");
    put_file(data_ + "/media/file", "secret");
    const auto taken = back_up();
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_FALSE(taken->is_sealed_by_server);
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error().message;
    for (const std::string& folder : {backup_, new_}) {
        EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            EXPECT_EQ(
                entry.status().permissions(),
                entry.is_directory() ? fs::perms::owner_all
                                     : fs::perms::owner_read | fs::perms::owner_write)
                << entry.path();
        }
    }
    for (const std::string& folder : {backup_, new_}) {
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
            EXPECT_EQ(bytes_of(folder + "/" + name), bytes_of(data_ + "/" + name)) << name;
        }
    }
    const auto report = verify_folder({.data_folder = new_});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->ok()) << describe(*report);
}

TEST_F(BackupTest, RefusesABackupInWhichAFileIsAnother) {
    ASSERT_TRUE(back_up());
    const std::string path = backup_ + "/heads/demo.head";
    const std::string whole = bytes_of(path);
    put_file(path, whole + "x");
    expect_refused("heads/demo.head is not what was sealed");
    fs::remove(path);
    expect_refused("heads/demo.head is missing");
    fs::create_symlink(data_ + "/heads/demo.head", path);
    expect_refused("heads/demo.head is missing or no plain file");
    fs::remove(path);
    put_file(path, whole);
    EXPECT_TRUE(restore());
}

TEST_F(BackupTest, RefusesAManifestThatSomebodyFitted) {
    ASSERT_TRUE(back_up());
    const std::string path = backup_ + "/backup.json";
    const std::string whole = bytes_of(path);
    Json json = parse_json(whole).value();
    json.set("program", "another");
    put_file(path, to_text(json));
    expect_refused("changed after it was sealed");
    json = parse_json(whole).value();
    json.set("interlock_backup", 2);
    put_file(path, to_text(json));
    expect_refused("A newer interlock made this backup");
    put_file(path, "{}");
    expect_refused("is no manifest of a backup");
    put_file(path, whole.substr(0, whole.size() / 2));
    expect_refused("is not JSON");
    fs::remove(path);
    expect_refused("holds no backup.json");
}

TEST_F(BackupTest, PutsInNothingThatTheManifestDoesNotName) {
    ASSERT_TRUE(back_up());
    put_file(backup_ + "/ledger.key", "0 " + std::string(64, 'a') + "\n");
    put_file(backup_ + "/KILL", "");
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
    put_file(backup_ + "/mine", "x");
    EXPECT_FALSE(back_up());
    EXPECT_TRUE(fs::exists(backup_ + "/mine"));
    fs::remove(backup_ + "/mine");
    ASSERT_TRUE(back_up());  // Empty is as good as new.
    put_file(new_ + "/mine", "x");
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
    put_file(data_ + "/paper.journal", "{\"last\":true}\n");
    ASSERT_TRUE(back_up());
    put_file(data_ + "/paper.journal", "{\"last\":true}\n{\"last\":true}\n");
    write_records(5);
    const auto restored = restore(data_);
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(restored->from_lost, (std::vector<std::string>{"heads.log", "paper.journal"}));
    EXPECT_EQ(bytes_of(new_ + "/paper.journal"), bytes_of(data_ + "/paper.journal"));
    // How far the lost server had come shows.
    const auto report = verify_folder({.data_folder = new_});
    ASSERT_TRUE(report && report->first_broken() != nullptr);
    EXPECT_EQ(report->first_broken()->fault->reason, "truncated_tail");
    // The chain goes on above every number that the lost server used, and holds for ever after.
    const auto lost_head = read_cut_points(data_)->front().head;
    for (int starts = 0; starts < 2; ++starts) {
        write_records_in(new_, 1);
    }
    const auto after = verify_folder({.data_folder = new_});
    ASSERT_TRUE(after);
    EXPECT_TRUE(is_sound(*after)) << describe(*after);
    ASSERT_EQ(after->chains.front().tenant_id, system_tenant());
    ASSERT_EQ(after->chains.front().breaks.size(), 1U);
    EXPECT_GT(after->chains.front().breaks.front().seq, lost_head.seq);
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

TEST_F(BackupTest, IsOfOneMomentWhateverIsWrittenWhileItIsCopied) {
    const std::string journal = "{\"a\":1,\"last\":true}\n";
    put_file(data_ + "/paper.journal", journal);
    const auto cut = read_cut_points(data_).value();
    bool is_done = false;
    const auto taken = back_up("backup", [&](const std::string&, std::int64_t) {
        if (std::exchange(is_done, true)) {
            return;
        }
        write_records(10);  // The key moves on, too.
        put_file(data_ + "/new.journal", "{}\n");
        fs::rename(data_ + "/new.journal", data_ + "/paper.journal");  // Compacted.
    });
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_NE(read_cut_points(data_).value(), cut);
    EXPECT_EQ(taken->sealed.manifest.chains, cut);
    EXPECT_EQ(bytes_of(backup_ + "/paper.journal"), journal);
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error().message;
}

TEST_F(BackupTest, FollowsNoLinkAndNamesWhatItLeftOut) {
    fs::create_directories(data_ + "/pnl");
    fs::create_symlink(data_ + "/ledger.key", data_ + "/pnl/demo.log");
    fs::create_symlink(data_ + "/ledger.key", data_ + "/heads/x.head");
    put_file(data_ + "/heads/.demo.head.swp", "x");
    put_file(data_ + "/receipts/ledger.key", "x");
    const auto taken = back_up();
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_EQ(
        taken->left_out, (std::vector<std::string>{"heads/.demo.head.swp", "receipts/ledger.key"}));
    EXPECT_FALSE(fs::exists(backup_ + "/pnl/demo.log"));
    EXPECT_FALSE(fs::exists(backup_ + "/heads/x.head"));
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error().message;
}

TEST_F(BackupTest, NamesAPlaceWhereNoBackupCanBePut) {
    const auto inside = back_up("data/backup");
    ASSERT_FALSE(inside);
    EXPECT_TRUE(inside.error().message.contains("inside its own data folder"));
    put_file(folder_ / "file", "");
    EXPECT_TRUE(back_up("file").error().message.contains("no folder"));
    fs::create_directories(folder_ / "empty");
    fs::create_directory_symlink(folder_ / "empty", folder_ / "link");
    EXPECT_TRUE(back_up("link").error().message.contains("no folder"));
    fs::create_directories(folder_ / "cut.partial");  // What a killed run leaves.
    const auto again = back_up("cut");
    ASSERT_FALSE(again);
    EXPECT_TRUE(again.error().message.contains("cut.partial is there")) << again.error().message;
    const auto none = take_backup(
        {.data_folder = folder_ / "empty", .out_folder = backup_, .program = {}, .ask_server = {}});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error(), errors::not_found);
}

// A whole backup's manifest and the files of another moment, both sealed by the server.
TEST_F(BackupTest, RefusesFilesOfAnotherBackup) {
    ASSERT_TRUE(back_up());
    write_records(5);
    ASSERT_TRUE(back_up("later"));
    fs::rename(backup_ + "/backup.json", folder_ / "older.json");
    fs::copy_file(folder_ / "later/backup.json", backup_ + "/backup.json");
    expect_refused("is not what was sealed");
    fs::remove_all(backup_);
    fs::rename(folder_ / "later", backup_);
    fs::rename(folder_ / "older.json", backup_ + "/backup.json");
    expect_refused("is not what was sealed");
}

TEST_F(BackupTest, RefusesAManifestThatNamesAKeyOrAWayOutThoughItIsSealed) {
    ASSERT_TRUE(back_up());
    for (const std::string name : {"ledger.key", "operator.token", "../escaped", "heads/../x"}) {
        put_file(backup_ + "/" + name, "x");
        const FileDigest digest = digest_file(backup_ + "/" + name).value();
        seal_again([&](BackupManifest& manifest) {
            manifest.files.push_back({name, digest.bytes, digest.sha256});
            std::ranges::sort(manifest.files, {}, &BackupFile::name);
        });
        expect_refused("is no file of a backup");
        fs::remove_all(backup_);
        ASSERT_TRUE(back_up());
    }
    EXPECT_FALSE(fs::exists(new_ + "/../escaped.partial"));
}

TEST_F(BackupTest, RefusesTheDatabaseOfANewerProgram) {
    ASSERT_TRUE(back_up());
    {
        auto db = SqliteDb::open({.path = backup_ + "/interlock.db"}).value();
        ASSERT_TRUE(db.execute("PRAGMA user_version = 99"));
    }
    digest_again("interlock.db");
    expect_refused("schema version 99");
}

// Behind a break anybody can go on with a key of his own, so the operator has to say that he knows.
TEST_F(BackupTest, TakesABackupWithABreakOnlyFromOneWhoKnowsOfIt) {
    fs::remove(data_ + "/ledger.key");
    fs::remove(data_ + "/ledger.key.next");
    write_records(3);
    ASSERT_TRUE(back_up());
    expect_refused("have breaks on record");
    const auto checked = restore_backup({.backup_folder = backup_, .data_folder = {}});
    ASSERT_FALSE(checked);
    EXPECT_TRUE(checked.error().next_step.contains("--accept-known-breaks"));
    EXPECT_TRUE(
        restore_backup({.backup_folder = backup_, .data_folder = new_, .knows_breaks = true}));
}

TEST_F(BackupTest, TakesNothingFromALostFolderThatIsNotTheServersOwnOrIsInUse) {
    ASSERT_TRUE(back_up("older"));
    write_records(5);
    ASSERT_TRUE(back_up());
    const auto refused_for = [&](const std::string& lost) {
        const auto restored = restore(lost);
        EXPECT_FALSE(fs::exists(new_) || fs::exists(new_ + ".partial"));
        return restored ? std::string("taken") : restored.error().message;
    };
    {
        RandomIdSource ids;
        const DataFolder held = DataFolder::open(data_, ids).value();
        EXPECT_TRUE(refused_for(data_).contains("still runs")) << refused_for(data_);
    }
    EXPECT_TRUE(refused_for(folder_ / "older").contains("older than the backup"));
    write_records_in(folder_ / "other", 3);
    EXPECT_TRUE(refused_for(folder_ / "other").contains("of another server"));
    EXPECT_TRUE(restore(data_));
}

TEST_F(BackupTest, GivesTheSameFolderTwice) {
    ASSERT_TRUE(back_up());
    ASSERT_TRUE(restore());
    const auto second =
        restore_backup({.backup_folder = backup_, .data_folder = folder_ / "second"});
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(bytes_of(new_ + "/interlock.db"), bytes_of(folder_ / "second/interlock.db"));
}

// What a full disk does: a write that fails in the middle.
class SmallFiles {
public:
    explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallFiles() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

private:
    void (*handler_)(int);
    rlimit before_{};
};

TEST_F(BackupTest, LeavesNothingWhenTheDiskIsFull) {
    constexpr rlim_t kSmall = 64 * 1024;  // Room for what SQLite needs to read.
    {
        const SmallFiles full(kSmall);
        const auto taken = back_up();
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error(), errors::io_failed);
        EXPECT_TRUE(taken.error().message.contains("interlock.db")) << taken.error().message;
    }
    EXPECT_FALSE(fs::exists(backup_) || fs::exists(backup_ + ".partial"));
    ASSERT_TRUE(back_up());
    const SmallFiles full(kSmall);
    expect_refused("cannot write");
}

}  // namespace
}  // namespace interlock
