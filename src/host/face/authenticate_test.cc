#include "host/face/authenticate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/crypto.h"

namespace interlock {
namespace {

const std::string kKey = "ilk_" + std::string(52, 'k');
const std::string kOtherKey = "ilk_" + std::string(52, 'o');
const std::string kSession = "ils_" + std::string(52, 's');
const std::string kToken = "ilo_" + std::string(52, 't');
constexpr Timestamp kNow{1'000'000'000'000'000};

class Authenticate : public ::testing::Test {
protected:
    Authenticate() {
        directory_.update([](PrincipalDirectory::Snapshot& all) {
            Principal agent;
            agent.kind = PrincipalKind::agent;
            agent.id = "key_1";
            agent.tenants = {TenantId::trusted("demo")};
            all.access_keys[sha256_hex(kKey)] = agent;
            agent.id = "key_2";
            all.access_keys[sha256_hex(kOtherKey)] = agent;
            Principal human;
            human.kind = PrincipalKind::human;
            human.id = "hum_1";
            all.sessions[sha256_hex(kSession)] = {human, kNow + Duration::of_hours(1)};
            all.operator_token_hash = sha256_hex(kToken);
        });
    }

    Authenticated ask(std::vector<HttpHeader> headers, Listener listener = Listener::tcp) const {
        HttpRequest request;
        request.headers = std::move(headers);
        request.listener = listener;
        return authenticate(request, directory_, kNow);
    }
    // "agent:key_1", or "" for nobody.
    std::string who(std::vector<HttpHeader> headers, Listener listener = Listener::tcp) const {
        const Authenticated caller = ask(std::move(headers), listener);
        return caller.principal ? to_text(*caller.principal) : "";
    }

    PrincipalDirectory directory_;
};

TEST_F(Authenticate, FindsAnAgentByTheAccessKeyHeader) {
    EXPECT_EQ(who({{"X-Access-Key", kKey}}), "agent:key_1");
}

TEST_F(Authenticate, FindsEachKindOfCredentialInABearerHeader) {
    EXPECT_EQ(who({{"Authorization", "Bearer " + kKey}}), "agent:key_1");
    EXPECT_EQ(who({{"authorization", "bearer  " + kSession}}), "human:hum_1");
    EXPECT_EQ(who({{"Authorization", "Bearer " + kToken}}), "operator:local");
}

TEST_F(Authenticate, FindsAHumanByTheCookieAmongOthers) {
    const auto caller = ask({{"Cookie", "theme=dark; interlock_session=" + kSession + "; a=b"}});

    ASSERT_TRUE(caller.principal);
    EXPECT_EQ(to_text(*caller.principal), "human:hum_1");
    EXPECT_TRUE(caller.by_cookie);
}

TEST_F(Authenticate, IsNobodyWithoutACredentialOnTcp) {
    const auto caller = ask({{"Cookie", "theme=dark"}});

    EXPECT_FALSE(caller.principal);
    EXPECT_FALSE(caller.credential_given);
}

TEST_F(Authenticate, IsTheOperatorWithoutACredentialOnTheOperatorSocket) {
    EXPECT_EQ(who({}, Listener::operator_socket), "operator:local");
}

TEST_F(Authenticate, PrefersTheCredentialOnTheOperatorSocket) {
    EXPECT_EQ(who({{"X-Access-Key", kKey}}, Listener::operator_socket), "agent:key_1");
}

TEST_F(Authenticate, IsNobodyWithABadCredentialEvenOnTheOperatorSocket) {
    for (const HttpHeader& header : std::vector<HttpHeader>{
             {"X-Access-Key", "ilk_wrong"},
             {"X-Access-Key", ""},
             {"Authorization", "Bearer ils_wrong"},
             {"Authorization", "Bearer"},
             {"Authorization", "Basic dXNlcjpwYXNz"},
             {"Authorization", ""},
             {"Cookie", "interlock_session="},
             {"Cookie", "interlock_session=ils_wrong"}}) {
        const auto caller = ask({header}, Listener::operator_socket);
        EXPECT_FALSE(caller.principal) << header.first << ": " << header.second;
        EXPECT_TRUE(caller.credential_given) << header.first << ": " << header.second;
    }
}

TEST_F(Authenticate, IsNobodyWithTwoDifferentValidCredentials) {
    EXPECT_EQ(who({{"X-Access-Key", kKey}, {"X-Access-Key", kOtherKey}}), "");
    EXPECT_EQ(who({{"X-Access-Key", kKey}, {"Authorization", "Bearer " + kSession}}), "");
    EXPECT_EQ(who({{"X-Access-Key", kKey}, {"Cookie", "interlock_session=" + kSession}}), "");
    EXPECT_EQ(who({{"Cookie", "interlock_session=" + kSession + "; interlock_session=ils_x"}}), "");
}

TEST_F(Authenticate, TakesTheSameCredentialInTwoPlacesAsOne) {
    const auto caller =
        ask({{"Authorization", "Bearer " + kSession}, {"Cookie", "interlock_session=" + kSession}});

    ASSERT_TRUE(caller.principal);
    EXPECT_FALSE(caller.by_cookie);  // No foreign page can make a browser send the header.
}

TEST_F(Authenticate, RefusesACredentialInAPlaceOfAnotherKind) {
    EXPECT_EQ(who({{"X-Access-Key", kSession}}), "");
    EXPECT_EQ(who({{"X-Access-Key", kToken}}), "");
    EXPECT_EQ(who({{"Cookie", "interlock_session=" + kKey}}), "");
    EXPECT_EQ(who({{"Cookie", "interlock_session=" + kToken}}), "");
}

TEST_F(Authenticate, RefusesACredentialLongerThanTheBound) {
    const std::string longest = "ilk_" + std::string(kCredentialLengthMax - 4, 'x');
    const std::string too_long = longest + "x";
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        Principal agent;
        agent.kind = PrincipalKind::agent;
        agent.id = "long";
        agent.tenants = {TenantId::trusted("demo")};
        all.access_keys[sha256_hex(longest)] = agent;
        all.access_keys[sha256_hex(too_long)] = agent;
    });

    EXPECT_EQ(who({{"X-Access-Key", longest}}), "agent:long");
    EXPECT_EQ(who({{"X-Access-Key", too_long}}), "");
}

TEST_F(Authenticate, RefusesASessionFromTheMomentItExpires) {
    directory_.update([](PrincipalDirectory::Snapshot& all) {
        all.sessions[sha256_hex(kSession)].expires_at = kNow;
    });

    EXPECT_EQ(who({{"Authorization", "Bearer " + kSession}}), "");
}

TEST_F(Authenticate, KnowsNoOperatorTokenWhenNoneIsSet) {
    directory_.update([](PrincipalDirectory::Snapshot& all) { all.operator_token_hash.clear(); });

    EXPECT_EQ(who({{"Authorization", "Bearer " + kToken}}), "");
}

HttpRequest write_from(std::vector<HttpHeader> headers, bool tls = false) {
    HttpRequest request;
    request.method = "POST";
    request.headers = std::move(headers);
    request.tls = tls;
    return request;
}

TEST(CheckOrigin, RefusesACookieWriteFromElsewhere) {
    Authenticated caller;
    caller.by_cookie = true;

    const auto checked = check_origin(
        write_from({{"Host", "a:1"}, {"Origin", "http://evil.example"}}), caller, OwnOrigin());

    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), "cross_origin");
    EXPECT_EQ(checked.error().http_status(), 403);
}

TEST(CheckOrigin, LetsReadsAndHeaderCredentialsPass) {
    HttpRequest read = write_from({{"Host", "a:1"}});
    read.method = "GET";
    Authenticated by_cookie;
    by_cookie.by_cookie = true;

    EXPECT_TRUE(check_origin(read, by_cookie, OwnOrigin()));
    EXPECT_TRUE(check_origin(write_from({{"Host", "a:1"}}), Authenticated{}, OwnOrigin()));
}

HttpRequest request_to(std::string target) {
    HttpRequest request;
    request.target = std::move(target);
    return request;
}

TEST_F(Authenticate, APathThatBeginsWithNoKeyIsLeftAlone) {
    for (const char* target :
         {"",
          "*",
          "/",
          "//",
          "/?ilk_a",
          "/api/ilk_a/x",
          "/ilk",
          "/ILK_a/x",
          "/il%6b",
          "x/ilk_a",
          "http://host/ilk_a/x",
          "/%",
          "/%zz",
          "/i?ilk_"}) {
        HttpRequest request = request_to(target);
        EXPECT_FALSE(unfold_path_key(request, directory_)) << target;
        EXPECT_EQ(request.target, target);
        EXPECT_TRUE(request.headers.empty());
    }
}

TEST_F(Authenticate, WhateverFollowsAKeyInThePathNothingOfItStaysInTheTarget) {
    EXPECT_TRUE(rc::check([&] {
        // Without the marks that end the segment, and long enough not to be found by chance.
        std::string key = "ilk_" + *rc::gen::arbitrary<std::string>();
        std::erase(key, '/');
        std::erase(key, '?');
        key += "canary";
        const auto rest = *rc::gen::element<std::string>("", "/", "/a", "?q=1", "/a/b?q=%41");
        HttpRequest request = request_to("/" + key + rest);
        RC_ASSERT(unfold_path_key(request, directory_));
        RC_ASSERT(request.target == "/api/_" + rest);
        RC_ASSERT(request.headers.size() == 1U);
        RC_ASSERT(!authenticate(request, directory_, kNow).principal);
    }));
}

TEST_F(Authenticate, WhatWasFoundInThePathCountsForThatKeyOnly) {
    HttpRequest request = request_to("/" + kKey + "/status");
    const auto found = unfold_path_key(request, directory_);
    ASSERT_TRUE(found && found->holder);
    EXPECT_EQ(found->key, kKey);
    EXPECT_EQ(to_text(*found->holder), "agent:key_1");
    const auto who = authenticate(request, directory_, kNow, &*found);
    ASSERT_TRUE(who.principal);
    EXPECT_EQ(to_text(*who.principal), "agent:key_1");
    HttpRequest other;
    other.headers = {{"X-Access-Key", kOtherKey}};
    const auto another = authenticate(other, directory_, kNow, &*found);
    ASSERT_TRUE(another.principal);
    EXPECT_EQ(to_text(*another.principal), "agent:key_2");
    request.headers.emplace_back("Authorization", "Bearer " + kOtherKey);
    EXPECT_FALSE(authenticate(request, directory_, kNow, &*found).principal);
}

}  // namespace
}  // namespace interlock
