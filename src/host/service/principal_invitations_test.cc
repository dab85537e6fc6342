// Inviting humans through the service: the bootstrap by the operator, and what an agent that runs
// as the operator must not be able to gain.
#include <gtest/gtest.h>

#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
constexpr std::string_view kPassword = "a long enough password";

class Invitations : public ::testing::Test {
protected:
    Invitations() {
        for (const TenantId& tenant_id : {kDemo, kOther}) {
            EXPECT_TRUE(desk_.ask<Answer>(
                &Service::create_tenant,
                PrincipalDesk::host_operator(),
                CreateTenant{tenant_id, "A name"}));
        }
    }

    Result<Invitation> invite(
        const Principal& principal,
        const TenantId& tenant_id,
        std::string email,
        bool system_member = false) {
        return desk_.ask<Invitation>(
            &Service::invite_human,
            Service::Caller{principal, tenant_id},
            InviteHuman{std::move(email), system_member});
    }
    Result<Invitation> bootstrap(std::string email, const TenantId& tenant_id = kDemo) {
        return invite(PrincipalDesk::host_operator(), tenant_id, std::move(email));
    }
    Result<LoggedIn> activate(const Invitation& invitation) {
        return desk_.ask<LoggedIn>(
            &Service::activate,
            ActivateRequest{
                invitation.code ? invitation.code->clone() : SecretString("ilc_none"),
                SecretString(std::string(kPassword)),
                false});
    }
    // Invites, activates, and gives the human's principal.
    Principal member(std::string email, const TenantId& tenant_id = kDemo) {
        const auto invitation = bootstrap(std::move(email), tenant_id);
        EXPECT_TRUE(invitation);
        const auto logged_in = activate(*invitation);
        EXPECT_TRUE(logged_in);
        return *desk_.holder_of(logged_in->token.reveal());
    }

    PrincipalDesk desk_;
};

TEST_F(Invitations, GiveTheFirstHumanACodeThatLogsInOnce) {
    const auto invitation = bootstrap("owner@example.com");
    ASSERT_TRUE(invitation);
    ASSERT_TRUE(invitation->code->reveal().starts_with("ilc_"));
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 0);

    const auto logged_in = activate(*invitation);

    ASSERT_TRUE(logged_in);
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 1);
    const auto human = desk_.holder_of(logged_in->token.reveal());
    ASSERT_TRUE(human);
    EXPECT_EQ(human->tenants, std::set<TenantId>{kDemo});
    const auto again = activate(*invitation);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), "unauthenticated");
}

TEST_F(Invitations, AreClosedToTheOperatorOnceAHumanIsThere) {
    member("owner@example.com");

    const auto refused = bootstrap("agent@example.com");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "bootstrap_closed");
}

TEST_F(Invitations, OfTheOperatorReplaceOneAnother) {
    const auto typo = bootstrap("ovner@example.com");
    const auto right = bootstrap("owner@example.com");
    ASSERT_TRUE(typo && right);

    EXPECT_FALSE(activate(*typo));
    EXPECT_TRUE(activate(*right));
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 1);
}

TEST_F(Invitations, OfTheOperatorDoNotOutliveTheBootstrap) {
    // An agent with the operator's rights keeps an invitation of its own in store. It must be void
    // once the real owner was invited and came in.
    const auto planted = bootstrap("agent@example.com");
    member("owner@example.com");

    EXPECT_FALSE(activate(*planted));
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 1);
}

TEST_F(Invitations, CanBeIssuedAnewForTheSamePerson) {
    const auto lost = bootstrap("owner@example.com");
    ASSERT_TRUE(lost);
    const auto same = bootstrap("owner@example.com");
    ASSERT_TRUE(same);

    EXPECT_EQ(lost->human.human_id, same->human.human_id);
    EXPECT_FALSE(activate(*lost));
    EXPECT_TRUE(activate(*same));
}

TEST_F(Invitations, ExpireAfterADay) {
    const auto invitation = bootstrap("owner@example.com");
    desk_.clock.advance(Duration::of_hours(24));

    EXPECT_FALSE(activate(*invitation));
}

TEST_F(Invitations, ByAHumanBringInAnother) {
    const Principal owner = member("owner@example.com");

    const auto invitation = invite(owner, kDemo, "second@example.com");

    ASSERT_TRUE(invitation);
    EXPECT_TRUE(activate(*invitation));
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 2);
}

TEST_F(Invitations, ByAHumanStayInTheirTenant) {
    const Principal owner = member("owner@example.com");

    const auto refused = invite(owner, kOther, "friend@example.com");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "human_required");
}

TEST_F(Invitations, MakeAKnownHumanAMemberWithoutACode) {
    const Principal owner = member("owner@example.com");

    const auto invitation = bootstrap("owner@example.com", kOther);

    ASSERT_TRUE(invitation);
    EXPECT_FALSE(invitation->code);
    EXPECT_EQ(invitation->human.human_id.text(), owner.id);
    EXPECT_EQ(desk_.directory.humans_of(kOther), 1);
}

TEST_F(Invitations, NeverHandOutACodeForAPersonAnotherTenantInvited) {
    // The operator makes a tenant of its own, "invites" there somebody whom another tenant expects,
    // and would get a code that opens that tenant too.
    const Principal owner = member("owner@example.com");
    const auto expected = invite(owner, kDemo, "second@example.com");
    ASSERT_TRUE(expected);

    const auto stolen = bootstrap("second@example.com", kOther);

    ASSERT_FALSE(stolen);
    EXPECT_EQ(stolen.error().code(), "invitation_pending");
    EXPECT_TRUE(activate(*expected));
}

TEST_F(Invitations, IntoTheHostNeedTheSameRightThere) {
    const auto first = invite(PrincipalDesk::host_operator(), kDemo, "owner@example.com", true);
    ASSERT_TRUE(first);
    const auto logged_in = activate(*first);
    ASSERT_TRUE(logged_in);
    EXPECT_EQ(desk_.directory.humans_of(system_tenant()), 1);

    // The host has its human now; the operator cannot add one by way of a new tenant.
    const auto refused = invite(PrincipalDesk::host_operator(), kOther, "agent@example.com", true);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "bootstrap_closed");
    EXPECT_EQ(desk_.directory.humans_of(kOther), 0);
}

TEST_F(Invitations, AreNotForAgents) {
    Principal agent;
    agent.kind = PrincipalKind::agent;
    agent.id = "key_1";
    agent.tenants = {kDemo};

    EXPECT_FALSE(invite(agent, kDemo, "agent@example.com"));
}

TEST_F(Invitations, MakeOneHumanWhenTwoForOneAddressShareABatch) {
    const Principal owner = member("owner@example.com");
    std::vector<HumanId> invited;
    desk_.engine().hold();
    for (int i = 0; i < 2; ++i) {
        desk_.service().invite_human(
            {owner, kDemo}, {"second@example.com", false}, [&](Result<Invitation> invitation) {
                ASSERT_TRUE(invitation);
                invited.push_back(invitation->human.human_id);
            });
    }
    desk_.engine().release();

    ASSERT_EQ(invited.size(), 2u);
    EXPECT_EQ(invited[0], invited[1]);
}

TEST_F(Invitations, SurviveARestart) {
    const auto invitation = bootstrap("owner@example.com");

    desk_.restart();

    EXPECT_TRUE(activate(*invitation));
    desk_.restart();
    EXPECT_EQ(desk_.directory.humans_of(kDemo), 1);
    EXPECT_FALSE(bootstrap("agent@example.com"));
}

TEST_F(Invitations, StopAtTheBoundOfHumans) {
    const Principal owner = member("owner@example.com");
    for (std::size_t i = 1; i < kHumansMax; ++i) {
        ASSERT_TRUE(invite(owner, kDemo, "human" + std::to_string(i) + "@example.com")) << i;
    }

    const auto refused = invite(owner, kDemo, "one-more@example.com");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "limit_reached");
}

TEST_F(Invitations, AreListedWithoutSecrets) {
    const auto invitation = bootstrap("owner@example.com");

    const auto listed = desk_.ask<Answer>(
        &Service::list_humans, Service::Caller{PrincipalDesk::host_operator(), kDemo});

    ASSERT_TRUE(listed);
    EXPECT_NE(listed->body.find("owner@example.com"), std::string::npos);
    EXPECT_NE(listed->body.find("\"invited\""), std::string::npos);
    EXPECT_EQ(listed->body.find(invitation->code->reveal()), std::string::npos);
}

TEST_F(Invitations, AreRecordedInTheTenantsChain) {
    member("owner@example.com");

    const auto entries = desk_.store().read_ledger(kDemo, 0, 10);

    ASSERT_EQ(entries->size(), 2u);
    EXPECT_NE((*entries)[0].canonical_json.find("HUMAN_INVITED"), std::string::npos);
    EXPECT_NE((*entries)[1].canonical_json.find("HUMAN_ACTIVATED"), std::string::npos);
}

TEST_F(Invitations, RefuseAWeakPasswordBeforeTheyAreUsed) {
    const auto invitation = bootstrap("owner@example.com");
    ASSERT_TRUE(invitation);

    const auto refused = desk_.ask<LoggedIn>(
        &Service::activate,
        ActivateRequest{invitation->code->clone(), SecretString("short"), false});

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "invalid_request");
    EXPECT_TRUE(activate(*invitation));
}

}  // namespace
}  // namespace interlock
