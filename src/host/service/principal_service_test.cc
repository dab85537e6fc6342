#include "host/service/principal_service.h"

#include <gtest/gtest.h>

#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const TenantId kDemo = TenantId::trusted("demo");

class Principals : public ::testing::Test {
protected:
    Result<Answer> create_tenant(std::string id, std::string name = "A name") {
        return desk_.ask<Answer>(
            &Service::create_tenant,
            PrincipalDesk::host_operator(),
            CreateTenant{TenantId::trusted(std::move(id)), std::move(name)});
    }
    Result<Answer> create_key(std::optional<std::string> idempotency_key = {}) {
        CreateAccessKey request{"planner", {Scope::planner, Scope::read}, {}};
        if (idempotency_key) {
            request.idempotency_key = IdempotencyKey::trusted(*std::move(idempotency_key));
        }
        return desk_.ask<Answer>(&Service::create_access_key, caller(), std::move(request));
    }
    Result<Answer> revoke(const std::string& key_id) {
        return desk_.ask<Answer>(&Service::revoke_access_key, caller(), KeyId::trusted(key_id));
    }
    Service::Caller caller() const { return {PrincipalDesk::host_operator(), kDemo}; }

    static Json body_of(const Result<Answer>& answer) {
        EXPECT_TRUE(answer) << answer.error().message;
        auto json = parse_json(answer ? answer->body : "{}");
        EXPECT_TRUE(json);
        return *std::move(json);
    }
    static std::string text_of(const Result<Answer>& answer, std::string_view key) {
        const Json body = body_of(answer);
        const Json* value = body.find(key);
        return value != nullptr && value->is_string() ? value->as_string() : "";
    }
    std::vector<std::string> events_of(const TenantId& tenant_id) {
        std::vector<std::string> events;
        const auto entries = desk_.store().read_ledger(tenant_id, 0, 1000);
        for (const LedgerEntry& entry : *entries) {
            events.push_back(decode_audit_record(*parse_json(entry.canonical_json))->draft.event);
        }
        return events;
    }

    PrincipalDesk desk_;
};

TEST_F(Principals, KnowsOnlyTheHostItselfAtFirst) {
    EXPECT_TRUE(desk_.directory.tenant_exists(system_tenant()));
    EXPECT_TRUE(desk_.directory.tenants().empty());
    EXPECT_TRUE(desk_.directory.is_operator_token(PrincipalDesk::kOperatorToken));
}

TEST_F(Principals, MakesATenantThatExistsAtOnce) {
    const auto made = create_tenant("demo");

    ASSERT_TRUE(made);
    EXPECT_EQ(made->http_status, 201);
    EXPECT_TRUE(desk_.directory.tenant_exists(kDemo));
    EXPECT_EQ(events_of(system_tenant()), std::vector<std::string>{"TENANT_CREATED"});
}

TEST_F(Principals, AnswersARepeatedTenantWithoutAChange) {
    create_tenant("demo", "Demo");

    const auto again = create_tenant("demo", "Demo");

    ASSERT_TRUE(again);
    EXPECT_EQ(again->http_status, 200);
    EXPECT_EQ(events_of(system_tenant()).size(), 1u);
}

TEST_F(Principals, RefusesAKnownTenantByAnotherName) {
    create_tenant("demo", "Demo");

    const auto again = create_tenant("demo", "Other");

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), "tenant_exists");
}

TEST_F(Principals, MakesATenantOnceWhenTwoAsksShareABatch) {
    int made = 0;
    int known = 0;
    desk_.engine().hold();
    for (int i = 0; i < 2; ++i) {
        desk_.service().create_tenant(
            PrincipalDesk::host_operator(), {kDemo, "Demo"}, [&](Result<Answer> answer) {
                ASSERT_TRUE(answer);
                ++(answer->http_status == 201 ? made : known);
            });
    }
    desk_.engine().release();

    EXPECT_EQ(made, 1);
    EXPECT_EQ(known, 1);
}

TEST_F(Principals, RefusesOneTenantMoreThanTheBound) {
    // Filling up for real takes long; the count is a state of its own, so it can be set.
    create_tenant("demo");
    TurnCommit commit;
    commit.states.push_back(
        {"tenant_count", 1, R"({"count":)" + std::to_string(kTenantsMax - 1) + "}"});
    ASSERT_TRUE(desk_.store().commit({&commit, 1}));
    desk_.restart();

    EXPECT_TRUE(create_tenant("last"));
    const auto refused = create_tenant("one-more");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "limit_reached");
    EXPECT_FALSE(desk_.directory.tenant_exists(TenantId::trusted("one-more")));
}

TEST_F(Principals, ListsTenantsInPages) {
    for (const char* id : {"c", "a", "b"}) {
        create_tenant(id);
    }
    const auto first = body_of(desk_.ask<Answer>(
        &Service::list_tenants, PrincipalDesk::host_operator(), Service::Page{{}, 2}));
    ASSERT_EQ(first.find("tenants")->items().size(), 2u);
    EXPECT_EQ(first.find("next_after")->as_string(), "b");

    const auto second = body_of(desk_.ask<Answer>(
        &Service::list_tenants,
        PrincipalDesk::host_operator(),
        Service::Page{TenantId::trusted("b"), 2}));

    ASSERT_EQ(second.find("tenants")->items().size(), 1u);
    EXPECT_EQ(second.find("tenants")->items()[0].find("tenant_id")->as_string(), "c");
    EXPECT_TRUE(second.find("next_after")->is_null());
}

TEST_F(Principals, TellsOfAKeyThatEndedOnceAndAfterItIsDead) {
    std::vector<std::string> ended;
    std::string key;
    desk_.directory.on_key_ended([&](const KeyId& key_id) {
        EXPECT_FALSE(desk_.directory.by_access_key(key));
        ended.push_back(key_id.text());
    });
    create_tenant("demo");
    const auto made = create_key();
    key = text_of(made, "access_key");
    create_key();
    EXPECT_TRUE(ended.empty());

    const std::string key_id = text_of(made, "key_id");
    desk_.engine().hold();
    desk_.service().revoke_access_key(caller(), KeyId::trusted(key_id), [&](Result<Answer> answer) {
        EXPECT_TRUE(answer);
        EXPECT_EQ(ended.size(), 1u);  // Before the answer.
    });
    EXPECT_TRUE(ended.empty());  // Not before the commit.
    desk_.engine().release();
    revoke(key_id);

    EXPECT_EQ(ended, std::vector<std::string>{key_id});
}

TEST_F(Principals, ShowsANewKeyThatWorksAtOnce) {
    create_tenant("demo");

    const auto made = create_key();

    EXPECT_EQ(made->http_status, 201);
    const std::string key = text_of(made, "access_key");
    EXPECT_TRUE(key.starts_with("ilk_"));
    EXPECT_EQ(text_of(made, "hint"), key.substr(key.size() - 4));
    const auto agent = desk_.directory.by_access_key(key);
    ASSERT_TRUE(agent);
    EXPECT_EQ(agent->kind, PrincipalKind::agent);
    EXPECT_EQ(agent->id, text_of(made, "key_id"));
    EXPECT_EQ(agent->tenants, std::set<TenantId>{kDemo});
    EXPECT_EQ(agent->scopes, (std::set<Scope>{Scope::planner, Scope::read}));
    EXPECT_EQ(events_of(kDemo), std::vector<std::string>{"ACCESS_KEY_CREATED"});
}

TEST_F(Principals, MakesNoSecondKeyForARepeatedRequest) {
    create_tenant("demo");
    const auto first = create_key("once");

    const auto again = create_key("once");

    EXPECT_EQ(again->http_status, 201);
    EXPECT_EQ(text_of(again, "key_id"), text_of(first, "key_id"));
    EXPECT_TRUE(body_of(again).find("access_key")->is_null());
    EXPECT_EQ(events_of(kDemo).size(), 1u);
}

TEST_F(Principals, RefusesTheSameIdempotencyKeyForAnotherKey) {
    create_tenant("demo");
    create_key("once");

    const auto other = desk_.ask<Answer>(
        &Service::create_access_key,
        caller(),
        CreateAccessKey{"other", {Scope::read}, IdempotencyKey::trusted("once")});

    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), "idempotency_key_conflict");
}

TEST_F(Principals, KeepsNoKeyInTheStoredAnswer) {
    create_tenant("demo");
    const std::string key = text_of(create_key("once"), "access_key");
    ASSERT_FALSE(key.empty());

    const auto stored =
        desk_.store().find_answer({kDemo, "create_access_key", IdempotencyKey::trusted("once")});

    ASSERT_TRUE(stored && *stored && (*stored)->body);
    EXPECT_EQ((*stored)->body->find(key), std::string::npos);
}

TEST_F(Principals, RefusesARevokedKeyFromTheMomentOfTheAnswer) {
    create_tenant("demo");
    const auto made = create_key();
    const std::string key = text_of(made, "access_key");
    bool alive_at_reply = true;

    desk_.service().revoke_access_key(
        caller(), KeyId::trusted(text_of(made, "key_id")), [&](const Result<Answer>& answer) {
            ASSERT_TRUE(answer);
            alive_at_reply = desk_.directory.by_access_key(key).has_value();
        });

    EXPECT_FALSE(alive_at_reply);
    EXPECT_EQ(events_of(kDemo).back(), "ACCESS_KEY_REVOKED");
}

TEST_F(Principals, RevokesAKeyOnce) {
    create_tenant("demo");
    const std::string key_id = text_of(create_key(), "key_id");
    const std::string first = text_of(revoke(key_id), "revoked_at");
    desk_.clock.advance(Duration::of_hours(1));

    const auto again = revoke(key_id);

    EXPECT_EQ(text_of(again, "revoked_at"), first);
    EXPECT_EQ(events_of(kDemo).size(), 2u);
}

TEST_F(Principals, KnowsNoKeyOfAnotherTenant) {
    create_tenant("demo");
    create_tenant("other");
    const auto made = create_key();

    const auto refused = desk_.ask<Answer>(
        &Service::revoke_access_key,
        Service::Caller{PrincipalDesk::host_operator(), TenantId::trusted("other")},
        KeyId::trusted(text_of(made, "key_id")));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "not_found");
    EXPECT_TRUE(desk_.directory.by_access_key(text_of(made, "access_key")));
}

TEST_F(Principals, RefusesOneActiveKeyMoreThanTheBound) {
    create_tenant("demo");
    for (std::size_t i = 0; i < kActiveKeysMax; ++i) {
        ASSERT_TRUE(create_key());
    }

    const auto refused = create_key();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "limit_reached");
}

TEST_F(Principals, ListsKeysWithoutTheirSecrets) {
    create_tenant("demo");
    const std::string key = text_of(create_key(), "access_key");

    const auto listed = desk_.ask<Answer>(&Service::list_access_keys, caller());

    const Json body = body_of(listed);
    ASSERT_EQ(body.find("keys")->items().size(), 1u);
    EXPECT_EQ(listed->body.find(key), std::string::npos);
    EXPECT_EQ(listed->body.find(sha256_hex(key)), std::string::npos);
}

TEST_F(Principals, RefusesAKeyForAnUnknownTenant) {
    const auto refused = create_key();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "not_found");
}

TEST_F(Principals, KnowsEverythingAgainAfterARestart) {
    create_tenant("demo");
    const std::string kept = text_of(create_key(), "access_key");
    const auto gone = create_key();
    ASSERT_TRUE(revoke(text_of(gone, "key_id")));

    desk_.restart();

    EXPECT_TRUE(desk_.directory.tenant_exists(kDemo));
    EXPECT_TRUE(desk_.directory.by_access_key(kept));
    EXPECT_FALSE(desk_.directory.by_access_key(text_of(gone, "access_key")));
    EXPECT_TRUE(desk_.directory.is_operator_token(PrincipalDesk::kOperatorToken));
    EXPECT_FALSE(create_tenant("demo", "Other"));
}

TEST_F(Principals, RefusesToOpenOverARecordItCannotRead) {
    create_tenant("demo");
    TurnCommit commit;
    commit.states.push_back({"tenant/demo", 1, R"({"tenant_id":"demo"})"});
    ASSERT_TRUE(desk_.store().commit({&commit, 1}));

    EXPECT_FALSE(desk_.service().open());
}

}  // namespace
}  // namespace interlock
