// The vault's rules: what is taken, what is refused, who may open it, and what a changed store or a
// wrong master key comes to.
#include "host/service/vault_service.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/log.h"
#include "codec/error_json.h"
#include "testing/vault_desk.h"

namespace interlock {
namespace {

using Service = VaultService;

KeyPermissions withdrawing() {
    KeyPermissions permissions = good_spot_permissions();
    permissions.can_withdraw = true;
    return permissions;
}

TEST(Vault, GivesBackTheKeysThatWerePut) {
    VaultDesk desk;
    ExchangeKeys keys = VaultDesk::keys("key-0123456789");
    keys.api_password.emplace("pass phrase");
    ASSERT_TRUE(desk.put(VaultDesk::human(), std::move(keys)));
    const auto opened = desk.open("demo");
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->exchange, "paper");
    EXPECT_EQ(opened->api_key.reveal(), "key-0123456789");
    EXPECT_EQ(opened->api_secret.reveal(), "secret of key-0123456789");
    EXPECT_EQ(opened->api_password->reveal(), "pass phrase");
}

TEST(Vault, KeysSurviveARestart) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    ASSERT_TRUE(desk.restart());
    EXPECT_EQ(desk.opened("demo"), "key-0123456789");
}

TEST(Vault, TellsWhetherKeysAreThereByTheirLastFourCharacters) {
    VaultDesk desk;
    EXPECT_EQ(to_text(encode(desk.has())), R"({"keys_loaded":false,"exchange":null,"entries":[]})");
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    const VaultPresence presence = desk.has();
    EXPECT_TRUE(presence.keys_loaded());
    EXPECT_EQ(presence.exchange(), "paper");
    ASSERT_EQ(presence.entries.size(), 1u);
    EXPECT_EQ(presence.entries[0].api_key_hint, "6789");
    EXPECT_EQ(presence.entries[0].permissions, good_spot_permissions());
    EXPECT_FALSE(desk.has("other").keys_loaded());
}

TEST(Vault, NewKeysTakeThePlaceOfThoseOfTheSameExchange) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "first-0123456"));
    ASSERT_TRUE(desk.put("demo", "live-01234567", "live"));
    ASSERT_TRUE(desk.put("demo", "second-012345"));
    EXPECT_EQ(desk.opened("demo"), "second-012345");
    EXPECT_EQ(desk.opened("demo", "live"), "live-01234567");
    EXPECT_EQ(desk.has().exchange(), "paper");
    EXPECT_EQ(desk.has().entries.size(), 2u);
}

TEST(Vault, RefusesEveryFaultAndKeepsNothingOfTheKey) {
    ASSERT_EQ(all_key_faults().size(), 10u);
    for (const KeyFault fault : all_key_faults()) {
        VaultDesk desk;
        const auto refused = desk.put("demo", "paper_key_" + std::string(to_word(fault)));
        ASSERT_FALSE(refused) << to_word(fault);
        EXPECT_EQ(refused.error(), errors::key_rejected);
        ASSERT_EQ(refused.error().problems.size(), 1u);
        EXPECT_EQ(refused.error().problems[0].problem, sentence_of(fault));
        EXPECT_TRUE(desk.store().load_states("vault/")->empty());
        EXPECT_EQ(desk.states_text().find("paper_key_"), std::string::npos);
        EXPECT_EQ(desk.count_in_ledger("demo", "VAULT_KEYS_REFUSED"), 1) << to_word(fault);
    }
}

TEST(Vault, ARefusedKeyLeavesTheOneBeforeInPlace) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "good-01234567"));
    ASSERT_FALSE(desk.put("demo", "paper_key_can_withdraw"));
    EXPECT_EQ(desk.opened("demo"), "good-01234567");
}

TEST(Vault, WarnsAndTakes) {
    VaultDesk desk;
    const auto report = desk.put("demo", "paper_key_no_ip_restriction");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict.warnings, std::vector{KeyWarning::no_ip_restriction});
    EXPECT_NE(to_text(encode(*report)).find("no_ip_restriction"), std::string::npos);
}

// What cannot be verified: paper allowed, live refused.
TEST(Vault, TakesUnverifiedKeysOnPaperOnly) {
    VaultDesk desk;
    desk.paper.set_reachable(false);
    desk.live.answer.reset();
    const auto paper = desk.put("demo", "key-0123456789");
    ASSERT_TRUE(paper);
    EXPECT_EQ(paper->verdict.standing, KeyStanding::unverified);
    EXPECT_FALSE(desk.has().entries[0].checked_at);
    const auto live = desk.put("demo", "key-0123456789", "live");
    ASSERT_FALSE(live);
    EXPECT_EQ(live.error(), errors::permissions_unverified);
    EXPECT_EQ(desk.has().entries.size(), 1u);
}

TEST(Vault, RefusesAnExchangeItDoesNotReach) {
    VaultDesk desk;
    EXPECT_EQ(desk.put("demo", "key-0123456789", "elsewhere").error(), errors::unknown_exchange);
}

TEST(Vault, RefusesWhenNoWorkerIsFree) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    desk.workers().stop();
    EXPECT_EQ(desk.put("demo", "key-0123456789").error(), errors::overloaded);
    EXPECT_EQ(desk.check("demo").error(), errors::overloaded);
}

TEST(Vault, KeepsKeysOfNoMoreExchangesThanItsBound) {
    VaultDesk desk;
    for (std::size_t i = 0; i < kVaultEntriesMax; ++i) {
        ASSERT_TRUE(desk.put("demo", "key-0123456789", "live" + std::to_string(i)));
    }
    EXPECT_EQ(desk.put("demo", "key-0123456789").error(), errors::out_of_range);
    EXPECT_TRUE(desk.put("demo", "key-9876543210", "live0"));
}

TEST(Vault, WipesOneExchangeOrAll) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "paper-0123456"));
    ASSERT_TRUE(desk.put("demo", "live-01234567", "live"));
    ASSERT_TRUE(desk.ask<VaultPresence>(&Service::wipe, VaultDesk::human(), std::string("live")));
    EXPECT_EQ(desk.opened("demo"), "paper-0123456");
    EXPECT_EQ(desk.opened("demo", "live"), "keys_not_loaded");
    ASSERT_TRUE(desk.put("demo", "live-01234567", "live"));
    ASSERT_TRUE(desk.ask<VaultPresence>(&Service::wipe, VaultDesk::human(), std::string()));
    EXPECT_FALSE(desk.has().keys_loaded());
    EXPECT_EQ(desk.count_in_ledger("demo", "VAULT_KEYS_WIPED"), 3);
}

TEST(Vault, TheDataKeyGoesWithTheLastSecretAndItsVersionNeverComesBack) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    EXPECT_EQ(desk.row().data_key->version, 1);
    ASSERT_TRUE(desk.ask<VaultPresence>(&Service::wipe, VaultDesk::human(), std::string()));
    EXPECT_FALSE(desk.row().data_key);
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    EXPECT_EQ(desk.row().data_key->version, 2);
}

TEST(Vault, WipingWhatIsNotThereWritesNothing) {
    VaultDesk desk;
    ASSERT_TRUE(desk.ask<VaultPresence>(&Service::wipe, VaultDesk::human(), std::string("paper")));
    EXPECT_EQ(desk.states_text() + desk.ledger_text("demo"), "");
}

TEST(Vault, OpensForTheProgramItselfOnly) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    for (const PrincipalKind kind :
         {PrincipalKind::human, PrincipalKind::agent, PrincipalKind::host_operator}) {
        Service::Caller caller = VaultDesk::program();
        caller.principal.kind = kind;
        const auto refused = desk.ask<ExchangeKeys>(
            &Service::open_keys, caller, Service::Opening{"paper", "curiosity"});
        ASSERT_FALSE(refused) << to_word(kind);
        EXPECT_EQ(refused.error(), errors::forbidden);
    }
    EXPECT_EQ(desk.count_in_ledger("demo", "VAULT_KEYS_OPENED"), 0);
    EXPECT_EQ(desk.opened("demo"), "key-0123456789");
    EXPECT_EQ(desk.count_in_ledger("demo", "VAULT_KEYS_OPENED"), 1);
}

TEST(Vault, AGoodCheckRemembersWhatTheVenueSaid) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789", "live"));
    desk.clock.advance(Duration::of_days(1));
    desk.live.answer->is_ip_restricted = false;
    const auto report = desk.check("demo", "live");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict.warnings, std::vector{KeyWarning::no_ip_restriction});
    EXPECT_EQ(desk.has().entries[0].permissions, desk.live.answer);
    EXPECT_EQ(desk.has().entries[0].checked_at, desk.clock.now());
}

TEST(Vault, AKeyThatTurnedDangerousIsWipedAndAnAlert) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789", "live"));
    desk.live.answer = withdrawing();
    EXPECT_EQ(desk.check("demo", "live").error(), errors::key_rejected);
    EXPECT_FALSE(desk.has().keys_loaded());
    EXPECT_EQ(desk.count_in_ledger("demo", "VAULT_KEYS_WIPED"), 1);
    EXPECT_EQ(desk.count_in_ledger("demo", "\"critical\""), 1);
}

// A venue that is away for a while is no reason to lose a key, and no reason to trade with it.
TEST(Vault, AnUnverifiedLiveKeyIsKeptButMustNotBeginToTrade) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789", "live"));
    desk.live.answer.reset();
    EXPECT_EQ(desk.check("demo", "live").error(), errors::permissions_unverified);
    EXPECT_EQ(desk.opened("demo", "live"), "key-0123456789");
    EXPECT_EQ(desk.has().entries[0].permissions, good_spot_permissions());
}

TEST(Vault, AnUnverifiedPaperKeyGoesOn) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    desk.paper.set_reachable(false);
    EXPECT_TRUE(desk.check("demo"));
}

TEST(Vault, NothingToCheckNamesTheMissingStep) {
    VaultDesk desk;
    EXPECT_EQ(desk.check("demo").error(), errors::keys_not_loaded);
}

TEST(Vault, AVerdictOnKeysThatWereReplacedMeanwhileCountsForNothing) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789", "live"));
    desk.live.answer = withdrawing();
    desk.live.while_asked = [&] {
        desk.live.answer = good_spot_permissions();
        desk.vault().put(
            VaultDesk::human(), VaultDesk::keys("new-0123456789", "live"), [&](const auto&) {
                desk.live.answer = withdrawing();
            });
    };
    std::optional<Result<KeyReport>> answer;
    desk.vault().check(
        VaultDesk::human(), Service::StoredCheck{"live"}, [&](Result<KeyReport> report) {
            answer = std::move(report);
        });
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error(), errors::conflict);
    EXPECT_EQ(desk.opened("demo", "live"), "new-0123456789");
}

TEST(Vault, ANewDataKeyOpensTheSameSecrets) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "paper-0123456"));
    ASSERT_TRUE(desk.put("demo", "live-01234567", "live"));
    const VaultRow before = desk.row();
    EXPECT_EQ(*desk.ask<std::int64_t>(&Service::rotate_data_key, VaultDesk::human()), 2);
    const VaultRow after = desk.row();
    EXPECT_NE(after.data_key->sealed, before.data_key->sealed);
    EXPECT_NE(after.entries[0].sealed, before.entries[0].sealed);
    EXPECT_EQ(desk.opened("demo"), "paper-0123456");
    EXPECT_EQ(desk.opened("demo", "live"), "live-01234567");
}

TEST(Vault, TheMasterKeyIsMadeWithTheFirstSecret) {
    VaultDesk desk;
    desk.has();
    ASSERT_FALSE(desk.put("demo", "paper_key_can_withdraw"));
    EXPECT_EQ(desk.masters.made, 0);
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    ASSERT_TRUE(desk.put("other", "key-0123456789"));
    EXPECT_EQ(desk.masters.made, 1);
}

// Without the right master key every call that needs it says so, and nothing is written.
void expect_shut(VaultDesk& desk, const ErrorKind& kind) {
    const Result<void> opened = desk.restart();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), kind);
    const int made = desk.masters.made;
    const std::string before = desk.states_text();
    EXPECT_EQ(desk.open("demo").error(), kind);
    EXPECT_EQ(desk.put("demo", "new-0123456789").error(), kind);
    EXPECT_EQ(desk.put("third", "new-0123456789").error(), kind);
    EXPECT_EQ(desk.check("demo").error(), kind);
    EXPECT_EQ(desk.rotate().error(), kind);
    EXPECT_EQ(desk.ask<std::int64_t>(&Service::rotate_data_key, VaultDesk::human()).error(), kind);
    EXPECT_EQ(desk.states_text(), before);
    EXPECT_EQ(desk.masters.made, made);
    EXPECT_TRUE(desk.has().keys_loaded());
}

TEST(Vault, AMissingMasterKeyShutsItAndGivingItBackOpensIt) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    const std::string right = std::exchange(desk.masters.current, "");
    expect_shut(desk, errors::master_key_missing);
    desk.masters.current = right;
    ASSERT_TRUE(desk.restart());
    EXPECT_EQ(desk.opened("demo"), "key-0123456789");
}

TEST(Vault, AWrongMasterKeyShutsItAndTheRightOneOpensIt) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    const std::string right = std::exchange(desk.masters.current, std::string(32, 'z'));
    expect_shut(desk, errors::master_key_wrong);
    desk.masters.current = right;
    ASSERT_TRUE(desk.restart());
    EXPECT_EQ(desk.opened("demo"), "key-0123456789");
}

// The way out when a master key is lost for good.
TEST(Vault, AShutVaultCanBeWipedAndUsedAnew) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    desk.masters.current.clear();
    ASSERT_FALSE(desk.restart());
    ASSERT_TRUE(desk.ask<VaultPresence>(&Service::wipe, VaultDesk::human(), std::string()));
    ASSERT_TRUE(desk.restart());
    ASSERT_TRUE(desk.put("demo", "new-0123456789"));
    EXPECT_EQ(desk.opened("demo"), "new-0123456789");
}

TEST(Vault, ForeignRowsShutTheirTenantsOnly) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    ASSERT_TRUE(desk.put("other", "key-9876543210"));
    ASSERT_TRUE(desk.restart(
        [](MemoryLedgerContents& contents) { contents.states["vault/other"].json = "{}"; }));
    EXPECT_EQ(desk.opened("demo"), "key-0123456789");
    EXPECT_EQ(desk.opened("other"), "corrupt_data");
}

TEST(Vault, RowsOfTwoTenantsSwappedOpenForNeitherAndRaiseAnAlert) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    ASSERT_TRUE(desk.put("other", "key-9876543210"));
    ASSERT_TRUE(desk.restart([](MemoryLedgerContents& contents) {
        std::swap(contents.states["vault/demo"].json, contents.states["vault/other"].json);
    }));
    const std::string before = desk.states_text();
    for (const std::string tenant : {"demo", "other"}) {
        EXPECT_EQ(desk.opened(tenant), "corrupt_data");
        EXPECT_EQ(desk.put(tenant, "new-0123456789").error(), errors::corrupt_data);
        EXPECT_EQ(desk.check(tenant).error(), errors::corrupt_data);
        EXPECT_EQ(desk.count_in_ledger(tenant, "VAULT_UNREADABLE"), 3) << tenant;
    }
    EXPECT_EQ(desk.states_text(), before);
}

// Parts of rows moved, not only whole ones: a sealed secret beside another tenant's data key.
TEST(Vault, AnEntryMovedToAnotherTenantOrExchangeStaysShut) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "paper-0123456"));
    ASSERT_TRUE(desk.put("demo", "live-01234567", "live"));
    ASSERT_TRUE(desk.put("other", "key-9876543210"));
    VaultRow mine = desk.row("demo");
    VaultRow other = desk.row("other");
    other.entries[0].sealed = mine.entries[0].sealed;
    std::swap(mine.entries[0].sealed, mine.entries[1].sealed);
    ASSERT_TRUE(desk.restart([&](MemoryLedgerContents& contents) {
        contents.states["vault/demo"].json = to_text(encode(mine));
        contents.states["vault/other"].json = to_text(encode(other));
    }));
    EXPECT_EQ(desk.opened("demo"), "corrupt_data");
    EXPECT_EQ(desk.opened("demo", "live"), "corrupt_data");
    EXPECT_EQ(desk.opened("other"), "corrupt_data");
}

// Whatever single character of a stored row is changed, it opens to the same keys or not at all.
TEST(Vault, NoChangedCharacterOfARowGivesOtherKeys) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    const std::string whole = desk.store().load_state("vault/demo")->value().json;
    int shut = 0;
    EXPECT_TRUE(rc::check("changed rows", [&] {
        std::string changed = whole;
        changed[*rc::gen::inRange<std::size_t>(0, whole.size())] =
            *rc::gen::inRange<char>(' ', '~');
        (void)desk.restart(
            [&](MemoryLedgerContents& contents) { contents.states["vault/demo"].json = changed; });
        const auto opened = desk.open("demo");
        shut += opened ? 0 : 1;
        RC_ASSERT((!opened || opened->api_key.reveal() == "key-0123456789"));
        RC_ASSERT((!opened || opened->api_secret.reveal() == "secret of key-0123456789"));
    }));
    EXPECT_GT(shut, 0);
}

TEST(Vault, StatusNamesWhatDoesNotOpen) {
    VaultDesk desk;
    ASSERT_TRUE(desk.put("demo", "key-0123456789"));
    ASSERT_TRUE(desk.put("other", "key-9876543210"));
    const auto good = inspect_vault(desk.store(), **desk.masters.load());
    ASSERT_TRUE(good);
    EXPECT_TRUE(good->ok());
    ASSERT_EQ(good->rows.size(), 2u);
    EXPECT_EQ(good->rows[0].entries[0].api_key_hint, "6789");
    const auto missing = inspect_vault(desk.store(), std::nullopt);
    EXPECT_FALSE(missing->ok());
    ASSERT_TRUE(desk.restart([](MemoryLedgerContents& contents) {
        contents.states["vault/other"].json = contents.states["vault/demo"].json;
    }));
    const auto moved = inspect_vault(desk.store(), **desk.masters.load());
    EXPECT_TRUE(moved->rows[0].problem.empty());
    EXPECT_FALSE(moved->rows[1].problem.empty());
}

}  // namespace
}  // namespace interlock
