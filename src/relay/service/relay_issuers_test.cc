#include "relay/service/relay_issuers.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/fake_clock.h"
#include "testing/relay_tokens.h"

namespace interlock {
namespace {

struct IssuerDesk {
    FakeClock clock;
    WorkerPool workers{{.threads = 0, .waiting_max = 0}};
    Result<Json> key_set = first_key_set();
    int fetches = 0;
    std::function<void()> while_fetching;
    RelayIssuers issuers{
        {.issuers = {{"https://id.example", "relay", "tenant", "https://id.example/k"}},
         .fetch =
             [this](const RelayIssuer&) {
                 ++fetches;
                 if (while_fetching) {
                     std::exchange(while_fetching, nullptr)();
                 }
                 return key_set;
             },
         .workers = workers,
         .clock = clock}};

    IssuerVerdict judge(std::string_view token, const std::string& audience = "") {
        return issuers.judge(token, audience).verdict;
    }
};

TEST(RelayIssuers, AcceptsAGoodTokenAndTellsItsTenant) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    const IssuerJudgement judged = desk.issuers.judge(kAcmeBearer, "");
    EXPECT_EQ(judged.verdict, IssuerVerdict::accepted) << judged.why;
    EXPECT_EQ(judged.tenant_id.text(), "acme");
}

TEST(RelayIssuers, AsksForExactlyTheAudienceItIsGiven) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    EXPECT_EQ(desk.judge(kAgentToken, "agent:inst-1"), IssuerVerdict::accepted);
    EXPECT_EQ(desk.judge(kAgentToken, "agent:inst-2"), IssuerVerdict::rejected);
    EXPECT_EQ(desk.judge(kAgentToken), IssuerVerdict::rejected);
    EXPECT_EQ(desk.judge(kOtherAudienceBearer), IssuerVerdict::rejected);
}

TEST(RelayIssuers, RefusesOtherIssuersAndTextThatIsNoToken) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    EXPECT_EQ(desk.judge(kOtherIssuerBearer), IssuerVerdict::rejected);
    EXPECT_EQ(desk.judge("a.b.c"), IssuerVerdict::rejected);
    EXPECT_EQ(desk.judge(""), IssuerVerdict::rejected);
}

TEST(RelayIssuers, RefusesATokenWithoutATenant) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    EXPECT_EQ(desk.judge(kNoTenantBearer), IssuerVerdict::rejected);
}

TEST(RelayIssuers, TellsAnExpiredTokenFromAWrongOne) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    EXPECT_EQ(desk.judge(kExpiredBearer), IssuerVerdict::expired);
    std::string changed(kExpiredBearer);
    changed.back() = changed.back() == 'A' ? 'Q' : 'A';
    EXPECT_EQ(desk.judge(changed), IssuerVerdict::rejected);
}

TEST(RelayIssuers, RefusesEverybodyWithoutIssuers) {
    IssuerDesk desk;
    RelayIssuers none({.issuers = {}, .fetch = {}, .workers = desk.workers, .clock = desk.clock});
    EXPECT_EQ(none.judge(kAcmeBearer, "").verdict, IssuerVerdict::rejected);
}

TEST(RelayIssuers, FetchesAgainWhenAKeyIsNewAndThenKnowsIt) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    desk.clock.advance(kKeySetRefreshGap);
    desk.key_set = second_key_set();
    EXPECT_EQ(desk.judge(kSecondKeyBearer), IssuerVerdict::unavailable);
    EXPECT_EQ(desk.fetches, 2);
    EXPECT_EQ(desk.judge(kSecondKeyBearer), IssuerVerdict::accepted);
}

TEST(RelayIssuers, FetchesNoMoreOftenThanTheGapHoweverManyKeysAreUnknown) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    desk.clock.advance(kKeySetRefreshGap);
    for (int i = 0; i < 50; ++i) {
        desk.judge(kSecondKeyBearer);
    }
    EXPECT_EQ(desk.fetches, 2);
    EXPECT_EQ(desk.judge(kSecondKeyBearer), IssuerVerdict::rejected);
}

TEST(RelayIssuers, CallsNobodyWrongWhileTheKeysAreMissing) {
    IssuerDesk desk;
    desk.key_set = fail(errors::unavailable, "The issuer does not answer.");
    desk.issuers.prefetch();
    EXPECT_EQ(desk.judge(kAcmeBearer), IssuerVerdict::unavailable);
    desk.key_set = first_key_set();
    desk.clock.advance(kKeySetRefreshGap);
    desk.judge(kAcmeBearer);
    EXPECT_EQ(desk.judge(kAcmeBearer), IssuerVerdict::accepted);
}

TEST(RelayIssuers, KeepsItsKeysForADayWhenTheIssuerIsAway) {
    IssuerDesk desk;
    desk.issuers.prefetch();
    desk.key_set = fail(errors::unavailable, "The issuer does not answer.");
    desk.clock.advance(Duration::of_minutes(59));
    EXPECT_EQ(desk.judge(kAcmeBearer), IssuerVerdict::accepted);
    desk.clock.advance(Duration::of_hours(24));
    EXPECT_EQ(desk.judge(kAcmeBearer), IssuerVerdict::unavailable);
}

TEST(RelayIssuers, LetsSomebodyWaitForTheKeys) {
    IssuerDesk desk;
    std::optional<IssuerVerdict> told;
    // The first judge() fetches; whoever comes meanwhile waits for that fetch.
    desk.while_fetching = [&] {
        desk.issuers.judge_later(
            std::string(kAcmeBearer), [&](IssuerJudgement judged) { told = judged.verdict; });
        EXPECT_FALSE(told.has_value());
    };
    desk.issuers.prefetch();
    EXPECT_EQ(told, IssuerVerdict::accepted);
    EXPECT_EQ(desk.fetches, 1);
}

TEST(RelayIssuers, BoundsHowManyWait) {
    IssuerDesk desk;
    std::size_t at_once = 0;
    std::size_t told = 0;
    desk.while_fetching = [&] {
        for (std::size_t i = 0; i < kKeySetWaitersMax + 3; ++i) {
            desk.issuers.judge_later(std::string(kAcmeBearer), [&](IssuerJudgement judged) {
                ++told;
                at_once += judged.verdict == IssuerVerdict::unavailable ? 1 : 0;
            });
        }
    };
    desk.issuers.prefetch();
    EXPECT_EQ(told, kKeySetWaitersMax + 3);
    EXPECT_EQ(at_once, 3u);
}

}  // namespace
}  // namespace interlock
