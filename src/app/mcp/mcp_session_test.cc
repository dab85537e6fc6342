#include "app/mcp/mcp_session.h"

#include <gtest/gtest.h>

#include "testing/fake_mcp.h"

namespace interlock {
namespace {

McpOutletPtr an_outlet() {
    return std::make_shared<RecordingOutlet>();
}

TEST(McpSession, ARequestEndsExactlyOnce) {
    McpSession session({"2025-11-25"});
    const McpOutletPtr outlet = an_outlet();
    ASSERT_EQ(session.begin(Json(1), outlet), McpSession::Begin::begun);
    EXPECT_TRUE(session.is_running(Json(1), outlet));

    EXPECT_TRUE(session.finish(Json(1), outlet));
    EXPECT_FALSE(session.finish(Json(1), outlet));
    EXPECT_EQ(session.cancel(Json(1)), nullptr);
    EXPECT_FALSE(session.is_running(Json(1), outlet));
}

TEST(McpSession, ATextIdIsNotTheNumberItSpells) {
    McpSession session({"2025-11-25"});
    EXPECT_EQ(session.begin(Json(1), an_outlet()), McpSession::Begin::begun);
    EXPECT_EQ(session.begin(Json("1"), an_outlet()), McpSession::Begin::begun);
    EXPECT_EQ(session.begin(Json(1), an_outlet()), McpSession::Begin::id_in_use);
}

TEST(McpSession, ALateAnswerCannotEndANewerRequestOfTheSameId) {
    McpSession session({"2025-11-25"});
    const McpOutletPtr first = an_outlet();
    const McpOutletPtr second = an_outlet();
    session.begin(Json(1), first);
    EXPECT_EQ(session.cancel(Json(1)), first);
    session.begin(Json(1), second);
    EXPECT_FALSE(session.finish(Json(1), first));
    EXPECT_TRUE(session.is_running(Json(1), second));
}

TEST(McpSession, BoundsRunningRequests) {
    McpSession session({"2025-11-25"});
    for (std::size_t i = 0; i < kMcpRunningRequestsMax; ++i) {
        ASSERT_EQ(session.begin(Json(i), an_outlet()), McpSession::Begin::begun);
    }
    EXPECT_EQ(session.begin(Json("more"), an_outlet()), McpSession::Begin::too_many);
    session.cancel(Json(0));
    EXPECT_EQ(session.begin(Json("more"), an_outlet()), McpSession::Begin::begun);
}

TEST(McpSession, HandsAnAnswerToWhoeverAsked) {
    McpSession session({"2025-11-25"});
    const McpOutletPtr outlet = an_outlet();
    session.begin(Json(1), outlet);
    std::optional<RpcOutcome> answer;
    const auto id = session.open_question(Json(1), outlet, [&](RpcOutcome got) { answer = got; });
    ASSERT_TRUE(id);

    session.settle_question(RpcResponse{Json(*id + 1), Json::object()});
    EXPECT_FALSE(answer);
    session.settle_question(RpcResponse{Json(*id), Json::object({{"a", 1}})});
    ASSERT_TRUE(answer);
    EXPECT_EQ(**answer, Json::object({{"a", 1}}));
}

TEST(McpSession, AnswersToQuestionsOfARequestThatIsOverAreIgnored) {
    McpSession session({"2025-11-25"});
    const McpOutletPtr outlet = an_outlet();
    session.begin(Json(1), outlet);
    bool was_called = false;
    const auto id = session.open_question(Json(1), outlet, [&](RpcOutcome) { was_called = true; });
    ASSERT_TRUE(id);

    session.finish(Json(1), outlet);
    session.settle_question(RpcResponse{Json(*id), Json::object()});
    EXPECT_FALSE(was_called);
    EXPECT_FALSE(session.open_question(Json(1), outlet, [](RpcOutcome) {}));
}

TEST(McpSession, BoundsOpenQuestions) {
    McpSession session({"2025-11-25"});
    const McpOutletPtr outlet = an_outlet();
    session.begin(Json(1), outlet);
    for (std::size_t i = 0; i < kMcpQuestionsMax; ++i) {
        ASSERT_TRUE(session.open_question(Json(1), outlet, [](RpcOutcome) {}));
    }
    EXPECT_FALSE(session.open_question(Json(1), outlet, [](RpcOutcome) {}));
}

TEST(McpSession, BoundsSubscriptions) {
    McpSession session({"2025-11-25"});
    for (std::size_t i = 0; i < kMcpSubscriptionsMax; ++i) {
        ASSERT_TRUE(session.subscribe("test://" + std::to_string(i)));
    }
    EXPECT_FALSE(session.subscribe("test://more"));
    EXPECT_TRUE(session.subscribe("test://0"));  // Known already.
    session.unsubscribe("test://0");
    EXPECT_FALSE(session.is_subscribed("test://0"));
    EXPECT_TRUE(session.subscribe("test://more"));
}

TEST(McpSession, FiltersLogMessagesByLevel) {
    McpSession session({"2025-11-25"});
    EXPECT_TRUE(session.wants_log(McpLogLevel::info));
    EXPECT_FALSE(session.wants_log(McpLogLevel::debug));
    session.set_log_level(McpLogLevel::error);
    EXPECT_FALSE(session.wants_log(McpLogLevel::warning));
    EXPECT_TRUE(session.wants_log(McpLogLevel::emergency));
}

TEST(McpSession, KnowsTheEightLevels) {
    for (const char* word :
         {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}) {
        const auto level = parse_mcp_log_level(word);
        ASSERT_TRUE(level) << word;
        EXPECT_EQ(to_word(*level), word);
    }
    EXPECT_FALSE(parse_mcp_log_level("loud"));
}

}  // namespace
}  // namespace interlock
