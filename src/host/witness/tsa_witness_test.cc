// RFC 3161 as a witness: requests that a real responder answers, tokens that hold or do not, and
// what is kept of them.
#include "host/witness/tsa_witness.h"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "engine/system/durable_file.h"
#include "host/witness/test_seals.h"
#include "host/witness/test_tsa.h"
#include "host/witness/time_stamp.h"
#include "net/test_peer.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

class TsaWitnessTest : public ::testing::Test {
protected:
    TsaWitness witness() {
        server_ = start_server([this](HttpRequest request, const HttpResponderPtr& responder) {
            EXPECT_EQ(request.header("Content-Type"), kTimeStampQueryType);
            requests.push_back(request.body);
            const std::string answered = replay.empty() ? tsa.answer(request.body, grants) : replay;
            answers.push_back(answered);
            responder->send(text_response(200, "application/timestamp-reply", answered));
        });
        std::filesystem::create_directories(stamps());
        return TsaWitness(
            {.server =
                 {.url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/",
                  .token = SecretString(""),
                  .ca_file = ""},
             .folder = stamps(),
             .ca_file = tsa.ca_file()});
    }
    std::string stamps() const { return folder / "stamps"; }
    std::size_t kept() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(stamps())) {
            count += entry.path().extension() == ".tsr" ? 1 : 0;
        }
        return count;
    }

    TempFolder folder;
    TestTsa tsa{folder.path().string()};
    TestSeals seals;
    std::vector<std::string> requests;
    std::vector<std::string> answers;
    std::string replay;
    bool grants = true;

private:
    std::unique_ptr<HttpServer> server_;
};

TEST_F(TsaWitnessTest, KeepsTheLineAndATokenThatAnybodyCanCheck) {
    TsaWitness one = witness();
    EXPECT_FALSE(one.newest()->has_value());
    const WitnessedHead first = seals.next();
    const WitnessedHead second = seals.next();
    ASSERT_TRUE(one.push(first).has_value());
    ASSERT_TRUE(one.push(second).has_value());
    ASSERT_TRUE(one.push(second).has_value()) << "once more is harmless";
    EXPECT_EQ(kept(), 2u);
    EXPECT_EQ((*one.newest())->head, second.head);
    const auto at = verify_time_stamp(answers[0], first.line, tsa.ca_file());
    ASSERT_TRUE(at.has_value()) << at.error().message;
    EXPECT_LT(std::abs(at->microseconds / 1'000'000 - time(nullptr)), 60);
    EXPECT_TRUE(read_time_stamp(answers[0], first.line).has_value());
}

TEST_F(TsaWitnessTest, ATokenOverOtherBytesOrByOthersDoesNotHold) {
    const auto request = make_time_stamp_request("a line");
    ASSERT_TRUE(request.has_value());
    const std::string good = tsa.answer(request->der);
    ASSERT_TRUE(verify_time_stamp(good, "a line", tsa.ca_file(), &*request).has_value());
    EXPECT_FALSE(verify_time_stamp(good, "another line", tsa.ca_file()).has_value());
    EXPECT_FALSE(read_time_stamp(good, "another line").has_value());
    TestTsa stranger(folder.path().string(), "stranger");
    EXPECT_FALSE(verify_time_stamp(good, "a line", stranger.ca_file()).has_value());
    EXPECT_TRUE(read_time_stamp(good, "a line").has_value());
    EXPECT_FALSE(verify_time_stamp(good, "a line", folder / "no such file").has_value());
    // Another request of the same line has another nonce.
    const auto again = make_time_stamp_request("a line");
    EXPECT_FALSE(verify_time_stamp(good, "a line", tsa.ca_file(), &*again).has_value());
    for (std::size_t at = 0; at < good.size(); at += 7) {
        std::string changed = good;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        const auto read = verify_time_stamp(changed, "a line", tsa.ca_file());
        // Bits outside of what is signed exist (the status text's tags); none may change the time.
        if (read) {
            EXPECT_EQ(*read, *verify_time_stamp(good, "a line", tsa.ca_file())) << at;
        }
    }
    EXPECT_FALSE(verify_time_stamp(good + "x", "a line", tsa.ca_file()).has_value());
    EXPECT_FALSE(verify_time_stamp("", "a line", tsa.ca_file()).has_value());
}

TEST_F(TsaWitnessTest, NothingIsKeptOfARefusalOrAnOldAnswer) {
    TsaWitness one = witness();
    grants = false;
    EXPECT_FALSE(one.push(seals.next()).has_value());
    grants = true;
    const WitnessedHead head = seals.next();
    ASSERT_TRUE(one.push(head).has_value());
    EXPECT_EQ(kept(), 1u);
    replay = answers.back();
    EXPECT_FALSE(one.push(seals.next()).has_value());
    replay = "not a token";
    EXPECT_FALSE(one.push(seals.next()).has_value());
    EXPECT_EQ(kept(), 1u);
    EXPECT_EQ((*one.newest())->head, head.head);
    std::filesystem::remove_all(stamps());
    EXPECT_FALSE(one.newest().has_value()) << "a folder that is gone is a failure, not a beginning";
}

}  // namespace
}  // namespace interlock
