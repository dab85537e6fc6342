// What an owner allows: the access key, the grant to provision exchange keys, the lists of markets.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/onboarding_desk.h"

namespace interlock {
namespace {

using Service = OnboardingService;

std::string code_of(const auto& result) {
    return result ? std::string("ok") : std::string(result.error().code());
}

Principal agent_of(const KeyId& key_id, const TenantId& tenant_id) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = key_id.text();
    principal.tenants = {tenant_id};
    principal.scopes = {Scope::bot};
    return principal;
}

class OwnedAccount : public ::testing::Test {
protected:
    Service::Caller owner() { return {owner_.human, owner_.tenant_id}; }
    Service::Caller agent() {
        return {agent_of(owner_.key_id, owner_.tenant_id), owner_.tenant_id};
    }
    Result<RegeneratedKey> regenerate(Service::Caller caller) {
        return desk_.ask<RegeneratedKey>(
            desk_.service(), &Service::regenerate_key, std::move(caller));
    }
    Result<BotAccountView> grant(Service::Caller caller, GrantKeys request = {}) {
        return desk_.ask<BotAccountView>(
            desk_.service(),
            &Service::grant_key_provisioning,
            std::move(caller),
            std::move(request));
    }
    std::string take(const std::string& exchange, const Principal& principal) {
        return code_of(desk_.in_turn(owner_.tenant_id, principal, [&](Turn& turn) {
            return desk_.service().take_grant(turn, exchange);
        }));
    }
    std::string take(const std::string& exchange) { return take(exchange, agent().principal); }
    Result<Json> set_list(Service::Caller caller, const KeyId& key_id, std::string assets) {
        const Json json =
            *parse_json("{\"key_id\":\"" + key_id.text() + "\",\"assets\":" + assets + "}");
        return desk_.ask<Json>(
            desk_.service(),
            &Service::set_asset_list,
            std::move(caller),
            *decode_set_asset_list(json));
    }
    Result<void> check(const Principal& principal, std::vector<std::string> names) {
        std::vector<Symbol> symbols;
        for (const std::string& name : names) {
            symbols.push_back(*Symbol::parse(name));
        }
        return desk_.in_turn(owner_.tenant_id, principal, [&](Turn& turn) {
            return desk_.service().check_assets(turn, principal, symbols);
        });
    }

    OnboardingDesk desk_;
    OnboardingDesk::Owner owner_ = desk_.add_owner();
};

TEST_F(OwnedAccount, ARegeneratedKeyTakesThePlaceOfTheOldOneAtOnce) {
    const auto made = regenerate(owner());
    ASSERT_TRUE(made);
    EXPECT_FALSE(desk_.directory.by_access_key(owner_.access_key));
    const auto holder = desk_.directory.by_access_key(made->access_key.reveal());
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->id, made->key_id.text());
    EXPECT_EQ(holder->scopes, (std::set<Scope>{Scope::bot}));
    EXPECT_EQ(made->replaced_key_id, owner_.key_id);
    desk_.restart();
    EXPECT_FALSE(desk_.directory.by_access_key(owner_.access_key));
    EXPECT_TRUE(desk_.directory.by_access_key(made->access_key.reveal()));
}

TEST_F(OwnedAccount, AfterTheNewKeyStandsOthersAreTold) {
    std::vector<std::pair<TenantId, std::optional<KeyId>>> told;
    bool was_dead = false;
    desk_.service().set_hooks(
        {.on_signup = {},
         .on_inactive = {},
         .on_key_replaced = [&](const TenantId& tenant_id, const std::optional<KeyId>& key_id) {
             told.emplace_back(tenant_id, key_id);
             was_dead = !desk_.directory.by_access_key(owner_.access_key);
         }});
    ASSERT_TRUE(regenerate(owner()));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].first, owner_.tenant_id);
    EXPECT_EQ(told[0].second, owner_.key_id);
    EXPECT_TRUE(was_dead);
}

TEST_F(OwnedAccount, OnlyAHumanRegeneratesTheKey) {
    EXPECT_EQ(code_of(regenerate(agent())), "human_required");
    EXPECT_EQ(
        code_of(regenerate({OnboardingDesk::host_operator(), owner_.tenant_id})), "human_required");
    EXPECT_TRUE(desk_.directory.by_access_key(owner_.access_key));
}

TEST_F(OwnedAccount, AKeyThatWasRevokedBeforeIsReplacedByANewOne) {
    ASSERT_TRUE(desk_.ask<Answer>(
        desk_.principals(),
        &PrincipalService::revoke_access_key,
        PrincipalService::Caller{owner_.human, owner_.tenant_id},
        owner_.key_id));
    const auto made = regenerate(owner());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->replaced_key_id, std::nullopt);
}

TEST_F(OwnedAccount, KeysMadeOtherwiseOutliveARegeneration) {
    const auto other = desk_.ask<Answer>(
        desk_.principals(),
        &PrincipalService::create_access_key,
        PrincipalService::Caller{owner_.human, owner_.tenant_id},
        CreateAccessKey{"reader", {Scope::read}, std::nullopt});
    const std::string key = parse_json(other->body)->find("access_key")->as_string();
    ASSERT_TRUE(regenerate(owner()));
    EXPECT_TRUE(desk_.directory.by_access_key(key));
}

TEST_F(OwnedAccount, ANewKeyIsHeldToTheOldOnesMarkets) {
    ASSERT_TRUE(set_list(owner(), owner_.key_id, R"(["BTCUSDT"])"));
    const auto made = regenerate(owner());
    const Principal agent = agent_of(made->key_id, owner_.tenant_id);
    EXPECT_EQ(code_of(check(agent, {"BTCUSDT"})), "ok");
    EXPECT_EQ(code_of(check(agent, {"ETHUSDT"})), "asset_not_allowed");
    EXPECT_EQ(desk_.row(owner_.tenant_id).asset_lists.size(), 1u);
}

TEST_F(OwnedAccount, WithoutAGrantAnAgentProvisionsPaperKeysOnly) {
    EXPECT_EQ(take("paper"), "ok");
    EXPECT_EQ(take("binance"), "grant_required");
    EXPECT_EQ(take("binance", owner_.human), "ok");
}

TEST_F(OwnedAccount, AGrantIsGoodOnce) {
    ASSERT_TRUE(grant(owner()));
    EXPECT_EQ(take("paper"), "ok");
    EXPECT_EQ(take("binance"), "ok");
    EXPECT_EQ(take("binance"), "grant_required");
    EXPECT_EQ(desk_.count_in_ledger(owner_.tenant_id, "KEY_GRANT_USED"), 1);
}

TEST_F(OwnedAccount, AGrantOfATurnThatFailsIsKept) {
    ASSERT_TRUE(grant(owner()));
    const auto failed =
        desk_.in_turn(owner_.tenant_id, agent().principal, [&](Turn& turn) -> Result<void> {
            TRY(desk_.service().take_grant(turn, "binance"));
            return fail(errors::unavailable, "The vault is shut.");
        });
    EXPECT_EQ(code_of(failed), "unavailable");
    EXPECT_EQ(take("binance"), "ok");
}

TEST_F(OwnedAccount, AGrantIsForTheExchangeItNames) {
    ASSERT_TRUE(grant(owner(), {.exchange = "kraken"}));
    EXPECT_EQ(take("binance"), "grant_required");
    EXPECT_EQ(take("kraken"), "ok");
}

TEST_F(OwnedAccount, AGrantRunsOutAfterItsTime) {
    const auto view = grant(owner());
    EXPECT_EQ(view->key_grant->expires_at, desk_.clock.now() + Duration::of_hours(24));
    desk_.clock.advance(Duration::of_hours(24));
    EXPECT_EQ(take("binance"), "grant_required");
    EXPECT_EQ(desk_.service().view(owner_.tenant_id).key_grant, std::nullopt);
    EXPECT_NE(
        desk_.service().status_text(owner_.tenant_id).find("\"key_grant\":null"),
        std::string::npos);
}

TEST_F(OwnedAccount, AGrantSurvivesARestartAndCanBeTakenBack) {
    ASSERT_TRUE(grant(owner()));
    desk_.restart();
    EXPECT_TRUE(desk_.service().view(owner_.tenant_id).key_grant);
    const auto view =
        desk_.ask<BotAccountView>(desk_.service(), &Service::revoke_key_provisioning, owner());
    EXPECT_EQ(view->key_grant, std::nullopt);
    EXPECT_EQ(take("binance"), "grant_required");
}

TEST_F(OwnedAccount, NeitherAgentNorOperatorGrantsAnything) {
    EXPECT_EQ(code_of(grant(agent())), "human_required");
    EXPECT_EQ(
        code_of(grant({OnboardingDesk::host_operator(), owner_.tenant_id})), "human_required");
    EXPECT_EQ(take("binance"), "grant_required");
}

TEST_F(OwnedAccount, AListNamesTheMarketsThatAKeyMayName) {
    ASSERT_TRUE(set_list(owner(), owner_.key_id, R"(["ETHUSDT", "btc/usdt", "BTCUSDT"])"));
    EXPECT_EQ(code_of(check(agent().principal, {"BTCUSDT", "ETHUSDT"})), "ok");
    const auto refused = check(agent().principal, {"BTCUSDT", "SOLUSDT", "XRPUSDT"});
    ASSERT_EQ(code_of(refused), "asset_not_allowed");
    ASSERT_EQ(refused.error().problems.size(), 2u);
    EXPECT_EQ(refused.error().problems[0].path, "SOLUSDT");
    EXPECT_EQ(code_of(check(owner_.human, {"SOLUSDT"})), "ok");
    EXPECT_EQ(
        code_of(check(agent_of(KeyId::trusted("key_other"), owner_.tenant_id), {"SOLUSDT"})), "ok");
}

TEST_F(OwnedAccount, AnEmptyListAllowsNothingAndNullEverything) {
    ASSERT_TRUE(set_list(owner(), owner_.key_id, "[]"));
    EXPECT_EQ(code_of(check(agent().principal, {"BTCUSDT"})), "asset_not_allowed");
    const auto lists = set_list(owner(), owner_.key_id, "null");
    EXPECT_EQ(to_text(*lists), R"({"asset_lists":[]})");
    EXPECT_EQ(code_of(check(agent().principal, {"BTCUSDT"})), "ok");
}

TEST_F(OwnedAccount, ListsAreForActiveKeysOfThisTenantAndForPeople) {
    EXPECT_EQ(code_of(set_list(agent(), owner_.key_id, "null")), "human_required");
    EXPECT_EQ(code_of(set_list(owner(), KeyId::trusted("key_none"), "[]")), "not_found");
    const auto other = desk_.add_owner("other@example.com");
    EXPECT_EQ(code_of(set_list(owner(), other.key_id, "[]")), "not_found");
}

TEST_F(OwnedAccount, ListsOfDeadKeysAreNotListed) {
    ASSERT_TRUE(set_list(owner(), owner_.key_id, "[]"));
    ASSERT_TRUE(desk_.ask<Answer>(
        desk_.principals(),
        &PrincipalService::revoke_access_key,
        PrincipalService::Caller{owner_.human, owner_.tenant_id},
        owner_.key_id));
    const auto lists = desk_.ask<Json>(desk_.service(), &Service::list_asset_lists, owner());
    EXPECT_EQ(to_text(*lists), R"({"asset_lists":[]})");
}

TEST(ActivationGrant, TickedAtActivationIsTheOwnersGrant) {
    OnboardingDesk desk;
    const auto account = desk.signup();
    desk.fire();
    ASSERT_TRUE(desk.activate(desk.mailed_code(), true));
    const auto view = desk.service().view(account->tenant_id);
    ASSERT_TRUE(view.key_grant);
    EXPECT_EQ(view.key_grant->exchange, std::nullopt);
    EXPECT_EQ(view.key_grant->expires_at, desk.clock.now() + Duration::of_hours(24));
    EXPECT_TRUE(view.key_grant->granted_by.starts_with("human:"));
}

TEST(ActivationGrant, NotTickedIsNone) {
    OnboardingDesk desk;
    const auto owner = desk.add_owner();
    EXPECT_FALSE(desk.service().view(owner.tenant_id).key_grant);
}

}  // namespace
}  // namespace interlock
