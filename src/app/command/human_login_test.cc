#include "app/command/human_login.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "app/wiring/test_server.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

// Standard input that holds a text, as behind a pipe.
class StdinText {
public:
    explicit StdinText(std::string_view text) : before_(dup(STDIN_FILENO)) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
    }
    ~StdinText() {
        dup2(before_, STDIN_FILENO);
        close(before_);
    }
    StdinText(const StdinText&) = delete;
    StdinText& operator=(const StdinText&) = delete;

private:
    int before_;
};

// Notes every call as "path|authorization|body" and answers from a script.
class Recorded {
public:
    TestServer::Answer answer() {
        return [this](const HttpRequest& request) {
            calls.push_back(
                request.target + "|" +
                std::string(request.header("Authorization").value_or("none")) + "|" + request.body);
            if (request.target == "/account/login") {
                return json_answer(login_status, R"({"token":"ils_1","email":"a@b.c"})");
            }
            if (request.target == "/decide" && refusals > 0) {
                --refusals;
                return json_answer(403, R"({"error":{"code":"reauthentication_required"}})");
            }
            return json_answer(200, "{}");
        };
    }

    int login_status = 200;
    int refusals = 0;
    std::vector<std::string> calls;
};

class HumanLoginTest : public ::testing::Test {
protected:
    std::expected<HumanLogin, ExitCode> log_in(LoginOptions options = {}) {
        options.email = "a@b.c";
        options.password_stdin = true;
        return HumanLogin::start({}, folder.path().string(), options);
    }

    TempFolder folder;
    Recorded recorded;
    TestServer server{folder.path().string(), recorded.answer()};
};

TEST_F(HumanLoginTest, LogsInActsAndLogsOut) {
    const StdinText input("secret\nrest");
    {
        auto login = log_in();
        ASSERT_TRUE(login.has_value());
        ASSERT_TRUE(login->post("/decide", Json::object()).has_value());
    }
    const std::vector<std::string> expected{
        R"(/account/login|none|{"email":"a@b.c","password":"secret","want_token":true})",
        "/decide|Bearer ils_1|{}",
        "/account/logout|Bearer ils_1|{}"};
    EXPECT_EQ(recorded.calls, expected);
}

TEST_F(HumanLoginTest, SendsTheOneTimeCode) {
    const StdinText input("secret\n");
    LoginOptions options;
    options.totp = "123456";
    ASSERT_TRUE(log_in(options).has_value());
    EXPECT_TRUE(recorded.calls.front().contains(R"("totp":"123456")"));
}

TEST_F(HumanLoginTest, GivesThePasswordAgainWhenTheServerWantsIt) {
    const StdinText input("secret\n");
    recorded.refusals = 1;
    auto login = log_in();
    ASSERT_TRUE(login.has_value());
    const auto answer = login->post("/decide", Json::object());
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->ok());
    ASSERT_EQ(recorded.calls.size(), 4u);
    EXPECT_EQ(recorded.calls[2], R"(/account/reauthenticate|Bearer ils_1|{"password":"secret"})");
}

TEST_F(HumanLoginTest, AsksForThePasswordAgainOnlyOnce) {
    const StdinText input("secret\n");
    recorded.refusals = 2;
    auto login = log_in();
    ASSERT_TRUE(login.has_value());
    const auto answer = login->post("/decide", Json::object());
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->error_code(), "reauthentication_required");
}

TEST_F(HumanLoginTest, EndsNothingWhenTheLoginWasRefused) {
    const StdinText input("wrong\n");
    recorded.login_status = 401;
    const auto login = log_in();
    ASSERT_FALSE(login.has_value());
    EXPECT_EQ(login.error(), ExitCode::refused);
    EXPECT_EQ(recorded.calls.size(), 1u);
}

TEST_F(HumanLoginTest, NeedsAPasswordOnStandardInput) {
    const StdinText input("");
    EXPECT_FALSE(log_in().has_value());
    EXPECT_TRUE(recorded.calls.empty());
}

TEST_F(HumanLoginTest, RefusesAPasswordBeyondTheBound) {
    const StdinText input(std::string(3000, 'x') + "\n");
    EXPECT_FALSE(log_in().has_value());
    EXPECT_TRUE(recorded.calls.empty());
}

}  // namespace
}  // namespace interlock
