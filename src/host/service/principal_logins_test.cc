// Logging in through the service: who gets in, and that a refusal tells nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "codec/error_json.h"
#include "engine/service/turn_engine.h"
#include "host/rules/login_policy.h"
#include "host/rules/session_policy.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

using Service = PrincipalService;

const TenantId kDemo = TenantId::trusted("demo");
const std::string kOwner = "owner@example.com";

LoginRequest login_request(
    std::string email, std::string_view password, std::optional<std::string> totp = {}) {
    return {std::move(email), SecretString(std::string(password)), std::move(totp), false};
}

class Logins : public ::testing::Test {
protected:
    Logins() { desk_.add_tenant_with_human("demo", kOwner); }

    Result<LoggedIn> login(std::string email, std::string_view password) {
        return desk_.ask<LoggedIn>(&Service::login, login_request(std::move(email), password));
    }
    Result<LoggedIn> login_right() { return login(kOwner, PrincipalDesk::kPassword); }
    void fail_times(const std::string& email, int times) {
        for (int i = 0; i < times; ++i) {
            ASSERT_FALSE(login(email, "wrong password"));
        }
    }
    std::int64_t failures_recorded() {
        std::int64_t count = 0;
        const auto entries = desk_.store().read_ledger(system_tenant(), 0, 1000);
        for (const LedgerEntry& entry : *entries) {
            count += entry.canonical_json.find("HUMAN_LOGIN_FAILED") != std::string::npos ? 1 : 0;
        }
        return count;
    }

    PrincipalDesk desk_;
};

TEST_F(Logins, OpenASessionForTheRightPassword) {
    const auto logged_in = login_right();

    ASSERT_TRUE(logged_in);
    EXPECT_TRUE(logged_in->token.reveal().starts_with("ils_"));
    EXPECT_EQ(logged_in->info.expires_at, desk_.clock.now() + kSessionLife);
    const auto human = desk_.holder_of(logged_in->token.reveal());
    ASSERT_TRUE(human);
    EXPECT_EQ(human->kind, PrincipalKind::human);
    EXPECT_EQ(human->authenticated_at, desk_.clock.now());
    EXPECT_EQ(human->session_id, logged_in->info.session_id);
}

TEST_F(Logins, AreRefusedAlikeWhateverIsWrong) {
    const auto invited = desk_.ask<Invitation>(
        &Service::invite_human,
        Service::Caller{*desk_.holder_of(login_right()->token.reveal()), kDemo},
        InviteHuman{"invited@example.com", false});
    ASSERT_TRUE(invited);

    const auto wrong_password = login(kOwner, "wrong password");
    const auto unknown = login("nobody@example.com", PrincipalDesk::kPassword);
    const auto not_activated = login("invited@example.com", PrincipalDesk::kPassword);

    ASSERT_FALSE(wrong_password || unknown || not_activated);
    const Json body = encode_error_body(wrong_password.error());
    EXPECT_EQ(wrong_password.error().http_status(), 401);
    EXPECT_EQ(encode_error_body(unknown.error()), body);
    EXPECT_EQ(encode_error_body(not_activated.error()), body);
}

TEST_F(Logins, CheckAnUnknownAddressAgainstAHashOfTheSameCost) {
    for (const PasswordCost cost :
         {PrincipalDesk::kCheap, PasswordCost{.passes = 2, .memory_bytes = 65536}}) {
        const auto real = hash_password(SecretString("whatever"), cost);
        ASSERT_TRUE(real);
        const std::string dummy = dummy_password_hash(cost);

        // Algorithm, version, memory, passes and lengths are what decides the work.
        EXPECT_EQ(dummy.size(), real->size());
        EXPECT_EQ(dummy.substr(0, dummy.find(",p=1$")), real->substr(0, real->find(",p=1$")));
        EXPECT_FALSE(verify_password(SecretString("whatever"), dummy));
    }
}

TEST_F(Logins, ShutTheAccountAfterFiveFailures) {
    fail_times(kOwner, 5);

    const auto refused = login_right();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().http_status(), 429);
    EXPECT_EQ(refused.error().retry_after_seconds, 60);
}

TEST_F(Logins, OpenTheAccountAgainWhenTheLockEnds) {
    fail_times(kOwner, 5);
    desk_.clock.advance(Duration::of_minutes(1));

    EXPECT_TRUE(login_right());
}

TEST_F(Logins, LockLongerWithEachFurtherFailure) {
    fail_times(kOwner, 5);
    desk_.clock.advance(Duration::of_minutes(1));
    fail_times(kOwner, 1);

    const auto refused = login_right();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().retry_after_seconds, 120);
}

TEST_F(Logins, ForgetFailuresAfterASuccess) {
    fail_times(kOwner, 4);
    ASSERT_TRUE(login_right());
    fail_times(kOwner, 4);

    EXPECT_TRUE(login_right());
}

TEST_F(Logins, LockAnUnknownAddressLikeAKnownOne) {
    fail_times(kOwner, 5);
    fail_times("nobody@example.com", 5);

    const auto known = login(kOwner, "wrong password");
    const auto unknown = login("nobody@example.com", "wrong password");

    ASSERT_FALSE(known || unknown);
    EXPECT_EQ(encode_error_body(known.error()), encode_error_body(unknown.error()));
    EXPECT_EQ(known.error().retry_after_seconds, unknown.error().retry_after_seconds);
}

TEST_F(Logins, KeepALockOverARestart) {
    fail_times(kOwner, 5);

    desk_.restart();

    EXPECT_EQ(login_right().error().http_status(), 429);
}

TEST_F(Logins, RecordFailuresOfKnownPeopleOnly) {
    fail_times(kOwner, 3);
    fail_times("nobody@example.com", 3);

    EXPECT_EQ(failures_recorded(), 3);
}

TEST_F(Logins, ForgetTheStrangerWhoIsOpenSoonestAtTheBound) {
    fail_times("locked@example.com", 5);
    ::testing::internal::CaptureStderr();  // Each of them is a line of the log.
    for (std::size_t i = 0; i < Service::kStrangersMax + 10; ++i) {
        EXPECT_FALSE(login("s" + std::to_string(i) + "@example.com", "wrong password"));
    }
    ::testing::internal::GetCapturedStderr();

    // Still locked: those without a lock gave way first.
    EXPECT_EQ(login("locked@example.com", "wrong password").error().http_status(), 429);
}

// In the browser that `device` is the cookie of.
LoginRequest from_device(LoginRequest request, const SecretString& device) {
    request.device.emplace(std::string(device.reveal()));
    return request;
}

TEST_F(Logins, LetAKnownDeviceInWhileStrangersKeepTheAccountShut) {
    const auto first = login_right();
    ASSERT_TRUE(first && first->device);
    fail_times(kOwner, 5);
    ASSERT_EQ(login_right().error().http_status(), 429);

    const auto known = desk_.ask<LoggedIn>(
        &Service::login,
        from_device(login_request(kOwner, PrincipalDesk::kPassword), *first->device));

    ASSERT_TRUE(known);
    EXPECT_FALSE(known->device);                          // It has one.
    EXPECT_EQ(login_right().error().http_status(), 429);  // Strangers stay where they were.
}

TEST_F(Logins, LockAKnownDeviceThatGuessesLikeAStranger) {
    const auto first = login_right();
    ASSERT_TRUE(first && first->device);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(desk_.ask<LoggedIn>(
            &Service::login, from_device(login_request(kOwner, "wrong password"), *first->device)));
    }

    const auto locked = desk_.ask<LoggedIn>(
        &Service::login,
        from_device(login_request(kOwner, PrincipalDesk::kPassword), *first->device));
    ASSERT_FALSE(locked);
    EXPECT_EQ(locked.error().http_status(), 429);
    EXPECT_TRUE(login_right());  // And nobody else is.
}

TEST_F(Logins, TakeADeviceOfSomebodyElseForAStranger) {
    const auto first = login_right();
    ASSERT_TRUE(first && first->device);
    fail_times("nobody@example.com", 5);

    const auto refused = desk_.ask<LoggedIn>(
        &Service::login,
        from_device(login_request("nobody@example.com", "wrong password"), *first->device));
    EXPECT_EQ(refused.error().http_status(), 429);
}

TEST_F(Logins, RememberNoDeviceForAProgram) {
    LoginRequest request = login_request(kOwner, PrincipalDesk::kPassword);
    request.want_token = true;

    const auto logged_in = desk_.ask<LoggedIn>(&Service::login, std::move(request));

    ASSERT_TRUE(logged_in);
    EXPECT_FALSE(logged_in->device);
}

TEST_F(Logins, AreRefusedWhenTheWorkersHaveEnoughToDo) {
    desk_.workers().stop();

    const auto refused = login_right();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "rate_limited");
    EXPECT_EQ(refused.error().retry_after_seconds, 1);
}

TEST_F(Logins, DropTheOldestSessionAtTheBound) {
    const auto first = login_right();
    for (std::size_t i = 0; i < kSessionsMax; ++i) {
        ASSERT_TRUE(login_right());
    }

    EXPECT_FALSE(desk_.holder_of(first->token.reveal()));
}

TEST_F(Logins, EndAfterTwelveHours) {
    const auto logged_in = login_right();
    desk_.clock.advance(Duration{kSessionLife.microseconds - 1000});
    EXPECT_TRUE(desk_.holder_of(logged_in->token.reveal()));
    desk_.clock.advance(Duration{1000});

    EXPECT_FALSE(desk_.holder_of(logged_in->token.reveal()));
}

TEST_F(Logins, OutliveARestart) {
    const auto logged_in = login_right();

    desk_.restart();

    const auto human = desk_.holder_of(logged_in->token.reveal());
    ASSERT_TRUE(human);
    EXPECT_EQ(human->tenants, std::set<TenantId>{kDemo});
}

// Guesses that arrive together all pass the first look at the lock. What a right one among them
// gets must depend on the failures that were counted before it.
TEST(LoginBurst, RefusesARightPasswordBehindFiveWrongOnes) {
    PrincipalDesk desk;
    desk.add_tenant_with_human("demo", kOwner);
    std::vector<Result<LoggedIn>> answers;
    const auto keep = [&](Result<LoggedIn> answer) { answers.push_back(std::move(answer)); };
    desk.engine().hold();
    for (int i = 0; i < 5; ++i) {
        desk.service().login(login_request(kOwner, "wrong password"), keep);
    }
    desk.service().login(login_request(kOwner, PrincipalDesk::kPassword), keep);

    desk.engine().release();

    ASSERT_EQ(answers.size(), 6u);
    for (const auto& answer : answers) {
        ASSERT_FALSE(answer);
        EXPECT_EQ(encode_error_body(answer.error()), encode_error_body(answers.front().error()));
    }
}

TEST(LoginBurst, IsNoFreeGuessWhenTheEngineTakesNoTurn) {
    // The second turn of each login meets a full engine: wrong and right must look alike.
    PrincipalDesk desk;
    desk.add_tenant_with_human("demo", kOwner);
    std::vector<Result<LoggedIn>> answers;
    for (const std::string_view password : {"wrong password", "correct horse battery"}) {
        desk.engine().refuse_after = 1;
        desk.service().login(login_request(kOwner, password), [&](Result<LoggedIn> answer) {
            answers.push_back(std::move(answer));
        });
        desk.engine().refuse_after.reset();
    }

    ASSERT_EQ(answers.size(), 2u);
    ASSERT_FALSE(answers[0] || answers[1]);
    EXPECT_EQ(answers[0].error().code(), "overloaded");
    EXPECT_EQ(answers[1].error().code(), "overloaded");
}

// The real threads: an engine, two workers, callers of their own.
class LoginThreads : public ::testing::Test {
protected:
    LoginThreads()
        : runner_({store_, clock_, ids_, mirror_, keys_, observer_}),
          engine_(runner_, TurnEngine::Bounds{}),
          service_(
              {.runner = runner_,
               .submit = [this](TurnRequest turn) { engine_.submit(std::move(turn)); },
               .directory = directory_,
               .workers = workers_,
               .clock = clock_,
               .ids = ids_,
               .operator_token_hash = "",
               .password_cost = PrincipalDesk::kCheap}) {
        EXPECT_TRUE(service_.open());
        EXPECT_TRUE(runner_.open());
        engine_.start();
    }
    ~LoginThreads() override {
        workers_.stop();
        engine_.stop();
    }

    template <class T, class... Arguments, class... Given>
    Result<T> ask(void (Service::*call)(Arguments...), Given... given) {
        std::promise<Result<T>> answer;
        (service_.*call)(
            std::move(given)..., [&](Result<T> result) { answer.set_value(std::move(result)); });
        return answer.get_future().get();
    }

    MemoryLedgerStore store_;
    FakeClock clock_;
    FakeIdSource ids_;
    NullHeadMirror mirror_;
    HeldSealKeys keys_{std::string(32, 's')};
    NullTurnObserver observer_;
    PrincipalDirectory directory_;
    TurnRunner runner_;
    PasswordPool workers_{{.threads = 2}};
    TurnEngine engine_;
    Service service_;
};

TEST_F(LoginThreads, GiveEveryOneOfManyCallersOneAnswer) {
    const Principal boss = PrincipalDesk::host_operator();
    ASSERT_TRUE(ask<Answer>(&Service::create_tenant, boss, CreateTenant{kDemo, "Demo"}));
    auto invitation = ask<Invitation>(
        &Service::invite_human, Service::Caller{boss, kDemo}, InviteHuman{kOwner, false});
    ASSERT_TRUE(invitation);
    ASSERT_TRUE(ask<LoggedIn>(
        &Service::activate,
        ActivateRequest{
            std::move(*invitation->code),
            SecretString(std::string(PrincipalDesk::kPassword)),
            false}));
    constexpr int kCallers = 4;
    constexpr int kLoginsEach = 25;
    std::atomic<int> entered = 0;
    std::atomic<int> busy = 0;
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) {
        callers.emplace_back([&] {
            for (int n = 0; n < kLoginsEach; ++n) {
                const auto answer =
                    ask<LoggedIn>(&Service::login, login_request(kOwner, PrincipalDesk::kPassword));
                if (answer) {
                    ++entered;
                } else {
                    EXPECT_EQ(answer.error().code(), "rate_limited");
                    ++busy;
                }
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }

    EXPECT_EQ(entered + busy, kCallers * kLoginsEach);
    EXPECT_GT(entered, 0);
}

}  // namespace
}  // namespace interlock
