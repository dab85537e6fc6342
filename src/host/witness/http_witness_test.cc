// Webhooks and other servers as witnesses: what they are sent, and what counts as taken.
#include "host/witness/http_witness.h"

#include <gtest/gtest.h>

#include "host/witness/file_witness.h"
#include "host/witness/test_seals.h"
#include "net/test_peer.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class HttpWitnessTest : public ::testing::Test {
protected:
    HttpWitnessOptions options() {
        server_ = start_server([this](HttpRequest request, const HttpResponderPtr& responder) {
            HttpResponse response = text_response(status, "application/json", answer);
            if (status == 302) {
                response.set("Location", "http://127.0.0.1:1/");
            }
            seen.push_back(std::move(request));
            responder->send(std::move(response));
        });
        return {
            .url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/hook",
            .token = SecretString("tok"),
            .ca_file = ""};
    }

    int status = 200;
    std::string answer = "{}";
    std::vector<HttpRequest> seen;
    TestSeals seals;
    TempFolder folder;

private:
    std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpWitnessTest, AWebhookGetsTheLineAndIsRememberedByAFile) {
    WebhookWitness witness(options(), std::make_unique<FileWitness>(folder / "webhook.log"));
    const WitnessedHead head = seals.next();
    ASSERT_TRUE(witness.push(head).has_value());
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].method, "POST");
    EXPECT_EQ(seen[0].body, head.line);
    EXPECT_EQ(seen[0].header("Authorization"), "Bearer tok");
    EXPECT_EQ((*witness.newest())->head, head.head);
    EXPECT_FALSE(witness.name().contains("tok"));
}

TEST_F(HttpWitnessTest, OnlyATwoHundredCountsAndNoRedirectIsFollowed) {
    WebhookWitness witness(options(), std::make_unique<FileWitness>(folder / "webhook.log"));
    for (const int bad : {302, 400, 404, 409, 500, 503}) {
        status = bad;
        const auto pushed = witness.push(seals.next());
        ASSERT_FALSE(pushed.has_value()) << bad;
        EXPECT_EQ(pushed.error().message, "it answered " + std::to_string(bad));
    }
    EXPECT_EQ(seen.size(), 6u);
    EXPECT_FALSE(witness.newest()->has_value());
    status = 204;
    answer = "";
    EXPECT_TRUE(witness.push(seals.next()).has_value());
}

TEST_F(HttpWitnessTest, AnAnswerBeyondTheBoundIsAFailureOfOneCall) {
    WebhookWitness witness(options(), std::make_unique<FileWitness>(folder / "webhook.log"));
    answer = std::string(kWitnessAnswerBytesMax + 1, 'x');
    EXPECT_FALSE(witness.push(seals.next()).has_value());
    EXPECT_FALSE(witness.newest()->has_value());
    answer = "{}";
    EXPECT_TRUE(witness.push(seals.next()).has_value());
}

TEST_F(HttpWitnessTest, NobodyThereAndCancelledAreFailures) {
    WebhookWitness nobody(
        {.url = "http://127.0.0.1:1/", .token = SecretString(""), .ca_file = ""},
        std::make_unique<FileWitness>(folder / "webhook.log"));
    EXPECT_FALSE(nobody.push(seals.next()).has_value());
    WebhookWitness cancelled(options(), std::make_unique<FileWitness>(folder / "webhook.log"));
    cancelled.cancel();
    EXPECT_FALSE(cancelled.push(seals.next()).has_value());
}

TEST_F(HttpWitnessTest, AnotherInterlockIsToldTheChainAndAskedForIt) {
    InterlockWitness witness(options(), "c0ffee");
    const WitnessedHead head = seals.next();
    ASSERT_TRUE(witness.push(head).has_value());
    const auto body = parse_json(seen.at(0).body);
    ASSERT_TRUE(body.has_value());
    EXPECT_EQ(body->find("chain")->as_string(), "c0ffee");
    EXPECT_EQ(body->find("line")->as_string(), head.line);
    answer = to_text(Json::object({{"lines", Json::array()}}));
    EXPECT_FALSE(witness.newest()->has_value());
    Json lines = Json::array();
    lines.push("an orphan");
    lines.push(head.line);
    answer = to_text(Json::object({{"lines", std::move(lines)}}));
    EXPECT_EQ((*witness.newest())->head, head.head);
    EXPECT_EQ(seen.back().target, "/hook?chain=c0ffee");
    answer = "<html>";
    EXPECT_FALSE(witness.newest().has_value());
}

}  // namespace
}  // namespace interlock
