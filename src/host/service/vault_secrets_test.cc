// One life of marked exchange keys: provisioned, refused, checked, rotated, wiped, met by a changed
// store and a lost master key. Then a search for the marks in everything that stays or is told.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/log.h"
#include "codec/error_json.h"
#include "testing/vault_desk.h"

namespace interlock {
namespace {

// Only its last four characters may be seen of a key, so the mark stands before them.
const std::string kMark = "CANARY4f1d";

ExchangeKeys marked(const std::string& api_key, const std::string& exchange) {
    ExchangeKeys keys;
    keys.exchange = exchange;
    keys.api_key = SecretString(api_key);
    keys.api_secret = SecretString("secret-" + kMark + "-abcd");
    keys.api_password.emplace("password-" + kMark + "-efgh");
    return keys;
}

class Onlooker {
public:
    template <class T>
    bool hear(const Result<T>& answer) {
        text += answer ? to_text(encode(*answer)) : to_text(encode(answer.error()));
        return answer.has_value();
    }
    std::string text;
};

bool put(VaultDesk& desk, Onlooker& onlooker, const std::string& tenant, ExchangeKeys keys) {
    return onlooker.hear(desk.put(VaultDesk::human(tenant), std::move(keys)));
}

void be_refused(VaultDesk& desk, Onlooker& onlooker) {
    KeyPermissions bad = good_spot_permissions();
    bad.can_withdraw = true;
    const std::string key = "bad-" + kMark + "-0003";
    ASSERT_TRUE(desk.paper.set(SecretString(key), bad));
    EXPECT_FALSE(put(desk, onlooker, "demo", marked(key, "paper")));
    desk.live.answer.reset();
    EXPECT_FALSE(put(desk, onlooker, "demo", marked("dark-" + kMark + "-0004", "live")));
    desk.live.answer = good_spot_permissions();
    EXPECT_FALSE(put(desk, onlooker, "demo", marked("lost-" + kMark + "-0005", "nowhere")));
    desk.workers().stop();
    EXPECT_FALSE(put(desk, onlooker, "demo", marked("busy-" + kMark + "-0006", "paper")));
    ASSERT_TRUE(desk.restart());
}

void be_tampered_with(VaultDesk& desk, Onlooker& onlooker) {
    ASSERT_TRUE(desk.restart([](MemoryLedgerContents& contents) {
        contents.states["vault/moved"].version = 1;
        contents.states["vault/moved"].json = contents.states["vault/other"].json;
    }));
    const auto moved = desk.open("moved");
    ASSERT_FALSE(moved);
    onlooker.text += to_text(encode(moved.error()));
    EXPECT_FALSE(put(desk, onlooker, "moved", marked("new-" + kMark + "-0007", "paper")));
    const std::string key = std::exchange(desk.masters.current, std::string(32, 'z'));
    EXPECT_FALSE(desk.restart());
    EXPECT_FALSE(put(desk, onlooker, "demo", marked("shut-" + kMark + "-0008", "paper")));
    desk.masters.current = key;
    EXPECT_TRUE(
        desk.restart([](MemoryLedgerContents& contents) { contents.states.erase("vault/moved"); }));
}

void live(VaultDesk& desk, Onlooker& onlooker) {
    EXPECT_TRUE(put(desk, onlooker, "demo", marked("key-" + kMark + "-0001", "paper")));
    EXPECT_TRUE(put(desk, onlooker, "other", marked("key-" + kMark + "-0002", "live")));
    be_refused(desk, onlooker);
    EXPECT_TRUE(onlooker.hear(desk.check("demo")));
    EXPECT_TRUE(desk.open("demo"));
    EXPECT_TRUE(desk.ask<std::int64_t>(&VaultService::rotate_data_key, VaultDesk::human()));
    desk.engine().refuse_after = 2;
    EXPECT_FALSE(onlooker.hear(desk.rotate()));
    EXPECT_TRUE(desk.restart());
    EXPECT_TRUE(onlooker.hear(desk.rotate()));
    be_tampered_with(desk, onlooker);
    desk.live.answer->can_futures = true;
    EXPECT_FALSE(onlooker.hear(desk.check("other", "live")));
    onlooker.text += to_text(encode(desk.has()));
}

TEST(VaultSecrets, StandNowhereInWhatStaysOrIsTold) {
    VaultDesk desk;
    Onlooker onlooker;
    ::testing::internal::CaptureStderr();
    live(desk, onlooker);
    const std::string log = ::testing::internal::GetCapturedStderr();
    const std::string ledger = desk.ledger_text("demo") + desk.ledger_text("other") +
                               desk.ledger_text("moved") + desk.ledger_text("_system");
    const std::string states = desk.states_text();
    const MemoryLedgerContents contents = desk.store().take_contents();

    // What is searched is really there.
    for (const char* event :
         {"VAULT_KEYS_STORED",
          "VAULT_KEYS_REFUSED",
          "VAULT_KEYS_CHECKED",
          "VAULT_KEYS_OPENED",
          "VAULT_KEYS_WIPED",
          "VAULT_DATA_KEY_ROTATED",
          "VAULT_DATA_KEY_RESEALED",
          "VAULT_ROTATION_FINISHED",
          "VAULT_UNREADABLE"}) {
        EXPECT_NE(ledger.find(event), std::string::npos) << event;
    }
    EXPECT_NE(states.find("vault/demo"), std::string::npos);
    EXPECT_NE(ledger.find("0001"), std::string::npos);
    EXPECT_NE(onlooker.text.find("key_rejected"), std::string::npos);
    EXPECT_TRUE(contents.answers.empty());

    for (const std::string& form :
         {kMark, to_hex(kMark), to_base64(kMark).substr(0, 12), to_base32_lower(kMark)}) {
        EXPECT_EQ(ledger.find(form), std::string::npos) << form;
        EXPECT_EQ(states.find(form), std::string::npos) << form;
        EXPECT_EQ(log.find(form), std::string::npos) << form;
        EXPECT_EQ(onlooker.text.find(form), std::string::npos) << form;
    }
}

// The search above would find a mark: here is one in clear.
TEST(VaultSecrets, AMarkThatStandsInClearIsFound) {
    VaultDesk desk;
    ASSERT_TRUE(desk.restart(
        [](MemoryLedgerContents& contents) { contents.states["note/demo"] = {1, kMark}; }));
    EXPECT_NE(desk.states_text().find(kMark), std::string::npos);
}

}  // namespace
}  // namespace interlock
