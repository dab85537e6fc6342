// The vault on a real disk: a data folder with SQLite and a master key file, a process killed in
// the middle of a rotation, and a search of every byte that is left for marked secrets.
#include "app/wiring/vault_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/wiring/data_path.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "codec/error_json.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "testing/fake_clock.h"
#include "testing/inline_engine.h"
#include "testing/null_turn_observer.h"
#include "testing/temp_folder.h"
#include "venues/paper/paper_keys.h"

namespace interlock {
namespace {

const std::string kMark = "CANARY7b3e";
// More than two turns of a rotation.
constexpr int kTenants = 2 * static_cast<int>(VaultService::kResealPerTurn) + 2;

std::string tenant_of(int i) {
    return "tenant" + std::to_string(i);
}

// Everything a server has of the vault, holding its folder while it lives.
class OpenVault {
public:
    OpenVault(const std::string& path, const MasterKeyChoice& choice)
        : folder_(*DataFolder::open(path, ids_)),
          store_(*SqliteLedgerStore::open({.path = database_path(path)})),
          mirror_(*FileHeadMirror::open(heads_folder(path))),
          masters_(*open_master_keys(choice)),
          runner_({*store_, clock_, ids_, mirror_, folder_.seal_keys(), observer_}),
          engine_(runner_),
          vault_(
              {.runner = runner_,
               .submit =
                   [this](TurnRequest request) {
                       if (die_after && (*die_after)-- == 0) {
                           kill(getpid(), SIGKILL);
                       }
                       engine_.submit_turn()(std::move(request));
                   },
               .workers = workers_,
               .masters = *masters_,
               .ids = ids_,
               .checks = {{"paper", &paper}}}) {
        EXPECT_TRUE(runner_.open().has_value());
        EXPECT_TRUE(vault_.open().has_value());
    }

    bool put(const std::string& tenant, const std::string& api_key) {
        ExchangeKeys keys;
        keys.exchange = "paper";
        keys.api_key = SecretString(api_key);
        keys.api_secret = SecretString("secret-" + kMark + "-of-" + api_key);
        keys.api_password.emplace("password-" + kMark);
        bool stored = false;
        vault_.put(
            {internal_principal("test"), TenantId::trusted(tenant)},
            std::move(keys),
            [&](const Result<KeyReport>& report) {
                stored = report.has_value();
                told += report ? to_text(encode(*report)) : to_text(encode(report.error()));
            });
        return stored;
    }
    std::string opened(const std::string& tenant) {
        std::string text;
        vault_.open_keys(
            {internal_principal("test"), TenantId::trusted(tenant)},
            {"paper", "test"},
            [&](const Result<ExchangeKeys>& keys) {
                text = keys ? keys->api_key.reveal() : keys.error().code();
            });
        return text;
    }
    void rotate() {
        vault_.rotate_master_key(internal_principal("test"), [](const auto&) {});
    }

    std::optional<int> die_after;  // So many turns are submitted, then the process is killed.
    std::string told;

private:
    FakeClock clock_;
    RandomIdSource ids_;
    DataFolder folder_;
    std::unique_ptr<SqliteLedgerStore> store_;
    FileHeadMirror mirror_;
    NullTurnObserver observer_;
    std::unique_ptr<MasterKeys> masters_;
    TurnRunner runner_;
    InlineEngine engine_;
    WorkerPool workers_{{.threads = 0, .waiting_max = 0}};

public:
    PaperKeys paper{clock_};

private:
    VaultService vault_;
};

class VaultFolder : public ::testing::Test {
protected:
    std::string key_of(int i) { return "key-" + kMark + "-" + std::to_string(1000 + i); }
    void fill(int tenants) {
        OpenVault vault(path, choice());
        for (int i = 0; i < tenants; ++i) {
            ASSERT_TRUE(vault.put(tenant_of(i), key_of(i)));
        }
    }
    void expect_all_open(int tenants) {
        OpenVault vault(path, choice());
        for (int i = 0; i < tenants; ++i) {
            ASSERT_EQ(vault.opened(tenant_of(i)), key_of(i));
        }
    }
    // Begins a rotation in a process that is killed before the given turn of it.
    void kill_rotation(int turns) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            OpenVault vault(path, choice());
            vault.die_after = turns;
            vault.rotate();
            _exit(0);  // It should not have come so far.
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    MasterKeyChoice choice() const { return {.key = {}, .old_key = {}, .file = key_file}; }
    std::string key_bytes() const {
        std::ifstream in(key_file);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    bool has_next() const { return std::filesystem::exists(key_file + ".next"); }

    TempFolder folder;
    std::string path = folder / "data";
    std::string key_file = path + "/master.key";
};

TEST_F(VaultFolder, StatusTellsWhoseKeysAreThere) {
    fill(2);
    const auto status = read_vault(path, choice());
    ASSERT_TRUE(status);
    EXPECT_TRUE(status->ok());
    ASSERT_EQ(status->rows.size(), 2u);
    const std::string text = describe(*status);
    EXPECT_NE(text.find("tenant1"), std::string::npos);
    EXPECT_NE(text.find("...1001"), std::string::npos);
    EXPECT_EQ(text.find(kMark), std::string::npos);
}

TEST_F(VaultFolder, StatusWorksWhileAServerHoldsTheFolder) {
    OpenVault vault(path, choice());
    ASSERT_TRUE(vault.put("demo", "key-0123456789"));
    EXPECT_TRUE(read_vault(path, choice())->ok());
}

TEST_F(VaultFolder, StatusOfAMissingMasterKeyMakesNone) {
    fill(1);
    std::filesystem::remove(key_file);
    const auto status = read_vault(path, choice());
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->ok());
    EXPECT_NE(describe(*status).find("SHUT"), std::string::npos);
    EXPECT_EQ(rotate_vault(path, choice()).error(), errors::master_key_missing);
    EXPECT_FALSE(std::filesystem::exists(key_file));
}

TEST_F(VaultFolder, NeedsALedger) {
    EXPECT_EQ(read_vault(path, choice()).error(), errors::not_found);
    EXPECT_EQ(rotate_vault(path, choice()).error(), errors::not_found);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(VaultFolder, RotationReplacesTheFileAndKeepsTheSecrets) {
    fill(3);
    const std::string before = key_bytes();
    const auto report = rotate_vault(path, choice());
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->resealed, 3);
    EXPECT_NE(key_bytes(), before);
    EXPECT_FALSE(has_next());
    EXPECT_EQ(read_vault(path, choice())->master_key_id, report->to_id);
    expect_all_open(3);
}

TEST_F(VaultFolder, RotationIsRefusedWhileAServerHoldsTheFolder) {
    OpenVault vault(path, choice());
    ASSERT_TRUE(vault.put("demo", "key-0123456789"));
    const std::string before = key_bytes();
    EXPECT_EQ(rotate_vault(path, choice()).error(), errors::conflict);
    EXPECT_EQ(key_bytes(), before);
    EXPECT_FALSE(has_next());
}

// One turn to begin, three to seal anew, one to end; killed before the second to the fifth.
TEST_F(VaultFolder, AKilledRotationLosesNothingAndIsFinishedByTheNext) {
    fill(kTenants);
    for (int turns = 1; turns < 5; ++turns) {
        kill_rotation(turns);
        EXPECT_TRUE(has_next()) << turns;
        expect_all_open(kTenants);
        EXPECT_NE(describe(*read_vault(path, choice())).find("being replaced"), std::string::npos);
        const auto report = rotate_vault(path, choice());
        ASSERT_TRUE(report) << turns << ": " << report.error().message;
        EXPECT_EQ(report->resumed, turns > 1) << turns;
        EXPECT_FALSE(has_next());
        expect_all_open(kTenants);
    }
}

TEST_F(VaultFolder, AWrongMasterKeyChangesNothing) {
    fill(2);
    const std::string right = key_bytes();
    std::ofstream(key_file) << std::string(64, 'a');
    EXPECT_EQ(rotate_vault(path, choice()).error(), errors::master_key_wrong);
    EXPECT_FALSE(read_vault(path, choice())->ok());
    EXPECT_FALSE(has_next());
    std::ofstream(key_file) << right;
    expect_all_open(2);
}

MasterKeyChoice given(const std::string& key, const std::optional<std::string>& old_key) {
    MasterKeyChoice choice{.key = SecretString(key), .old_key = {}, .file = "unused"};
    if (old_key) {
        choice.old_key.emplace(*old_key);
    }
    return choice;
}

TEST_F(VaultFolder, KeysGivenByTheEnvironmentAreReplacedByGivingBoth) {
    const std::string first(64, '1');
    const std::string second(64, '2');
    {
        OpenVault vault(path, given(first, std::nullopt));
        ASSERT_TRUE(vault.put("demo", "key-0123456789"));
    }
    EXPECT_FALSE(std::filesystem::exists(key_file));
    EXPECT_EQ(rotate_vault(path, given(first, std::nullopt)).error(), errors::invalid_config);
    ASSERT_TRUE(rotate_vault(path, given(second, first)));
    OpenVault vault(path, given(second, std::nullopt));
    EXPECT_EQ(vault.opened("demo"), "key-0123456789");
    EXPECT_FALSE(read_vault(path, given(first, std::nullopt))->ok());
}

TEST_F(VaultFolder, ABadKeyInTheEnvironmentIsRefusedWithoutBeingShown) {
    const auto bad = open_master_keys(given(kMark, std::nullopt));
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error(), errors::crypto_failed);
    EXPECT_EQ(to_text(encode(bad.error())).find(kMark), std::string::npos);
    MasterKeyChoice only_old{.key = {}, .old_key = SecretString(std::string(64, '1')), .file = {}};
    EXPECT_EQ(open_master_keys(only_old).error(), errors::invalid_config);
}

// Where a mark stands in a folder; "" when nowhere.
std::string found_in(const std::string& folder_path, const std::string& form) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_path)) {
        if (!file.is_regular_file()) {
            continue;
        }
        std::ifstream in(file.path(), std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(in), {});
        if (bytes.find(form) != std::string::npos) {
            return file.path().filename();
        }
    }
    return "";
}

TEST_F(VaultFolder, NoMarkedSecretIsOnTheDiskInTheLogOrInAnAnswer) {
    ::testing::internal::CaptureStderr();
    fill(kTenants);
    std::string told;
    {
        OpenVault vault(path, choice());
        KeyPermissions bad = good_spot_permissions();
        bad.can_withdraw = true;
        const std::string refused = "refused-" + kMark + "-9999";
        ASSERT_TRUE(vault.paper.set(SecretString(refused), bad));
        EXPECT_FALSE(vault.put("demo", refused));
        EXPECT_TRUE(vault.put("demo", "taken-" + kMark + "-8888"));
        told = vault.told;
    }
    kill_rotation(2);
    expect_all_open(kTenants);
    const auto report = rotate_vault(path, choice());
    ASSERT_TRUE(report);
    told += to_text(encode(*report)) + to_text(encode(*read_vault(path, choice())));
    const std::string log = ::testing::internal::GetCapturedStderr();

    // What is searched is really there: the hint of the refused key stands in the ledger.
    EXPECT_NE(found_in(path, "VAULT_KEYS_REFUSED"), "");
    EXPECT_NE(found_in(path, "9999"), "");
    EXPECT_NE(told.find("8888"), std::string::npos);
    for (const std::string& form :
         {kMark, to_hex(kMark), to_base64(kMark).substr(0, 12), to_base32_lower(kMark)}) {
        EXPECT_EQ(found_in(path, form), "") << form;
        EXPECT_EQ(told.find(form), std::string::npos) << form;
        EXPECT_EQ(log.find(form), std::string::npos) << form;
    }
}

TEST_F(VaultFolder, TheSearchFindsAMarkThatIsThere) {
    fill(1);
    std::ofstream(path + "/note") << "some text, then " << kMark;
    EXPECT_EQ(found_in(path, kMark), "note");
}

}  // namespace
}  // namespace interlock
