#include "app/mcp/mcp_stdio_bridge.h"

#include <gtest/gtest.h>

#include <istream>
#include <ostream>
#include <sstream>
#include <thread>

#include "app/mcp/mcp_fixture_server.h"
#include "app/mcp/mcp_http.h"
#include "base/bounded_queue.h"
#include "net/http_server.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/fake_mcp.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

constexpr std::chrono::seconds kPatience{30};

const std::string kHello =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})";

std::string call_of(const std::string& id, const std::string& tool) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" +
           tool + R"("}})";
}

// The client's end of two pipes: what it writes is the bridge's input, line by line.
class LineSource final : public std::streambuf {
public:
    void give(std::string line) { EXPECT_TRUE(lines_.push(line + "\n")); }
    void end() { lines_.close(); }

private:
    int_type underflow() override {
        while (true) {
            std::vector<std::string> taken = lines_.pop(1, std::chrono::seconds(1));
            if (!taken.empty()) {
                line_ = std::move(taken[0]);
                setg(line_.data(), line_.data(), line_.data() + line_.size());
                return traits_type::to_int_type(line_[0]);
            }
            if (lines_.is_closed()) {
                return traits_type::eof();
            }
        }
    }
    BoundedQueue<std::string> lines_{1024, 0};
    std::string line_;
};

class LineSink final : public std::streambuf {
public:
    // Null when nothing comes for a long while.
    Json next() {
        const std::vector<std::string> taken = lines_.pop(1, kPatience);
        return taken.empty() ? Json() : parse_json(taken[0]).value_or(Json("not JSON"));
    }
    // The answer with this id; other messages before it are collected.
    Json answer_to(const Json& id) {
        for (Json message = next(); !message.is_null(); message = next()) {
            const Json* found = message.find("id");
            if (found != nullptr && *found == id && message.find("method") == nullptr) {
                return message;
            }
            others.push_back(std::move(message));
        }
        return {};
    }
    std::vector<Json> others;

private:
    int_type overflow(int_type c) override {
        if (c == '\n') {
            EXPECT_TRUE(lines_.push(std::move(line_)));
            line_.clear();
        } else {
            line_ += static_cast<char>(c);
        }
        return c;
    }
    BoundedQueue<std::string> lines_{1024, 0};
    std::string line_;
};

class RunningBridge {
public:
    explicit RunningBridge(HttpTarget target)
        : thread_([this, target] {
              std::istream in(&source);
              std::ostream out(&sink);
              exit_code = run_mcp_stdio_bridge(in, out, target, SecretString("ilk_test"));
          }) {}
    ~RunningBridge() { end(); }
    void end() {
        if (thread_.joinable()) {
            source.end();
            thread_.join();
        }
    }

    LineSource source;
    LineSink sink;
    int exit_code = -1;

private:
    std::thread thread_;
};

class McpStdioBridgeTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = start_conformance_fixtures({}, clock_, ids_);
        ASSERT_TRUE(started) << started.error().message;
        fixtures_ = *std::move(started);
    }
    HttpTarget target() const { return {.unix_socket_path = "", .port = fixtures_->port()}; }

    FakeClock clock_;
    FakeIdSource ids_;
    std::unique_ptr<McpFixtureServer> fixtures_;
};

TEST_F(McpStdioBridgeTest, AnswersEveryRequestBeforeItEnds) {
    std::istringstream in(
        kHello + "\n" + R"({"jsonrpc":"2.0","method":"notifications/initialized"})" + "\n\n" +
        call_of("1", "test_simple_text") + "\n" + call_of("2", "test_tool_with_logging") + "\n");
    std::ostringstream out;
    EXPECT_EQ(run_mcp_stdio_bridge(in, out, target(), SecretString("ilk_test")), 0);
    std::istringstream lines(out.str());
    std::map<std::string, int> seen;
    for (std::string line; std::getline(lines, line);) {
        const auto message = parse_json(line);
        ASSERT_TRUE(message) << line;
        const Json* id = message->find("id");
        ++seen[id != nullptr ? to_text(*id) : "log"];
    }
    EXPECT_EQ(seen, (std::map<std::string, int>{{"0", 1}, {"1", 1}, {"2", 1}, {"log", 3}}));
}

TEST_F(McpStdioBridgeTest, AQuestionOfTheServerIsAnsweredWhileTheCallRuns) {
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    EXPECT_NE(bridge.sink.answer_to(0).find("result"), nullptr);
    bridge.source.give(call_of("\"ask\"", "test_elicitation"));
    const Json question = bridge.sink.next();
    ASSERT_EQ(*question.find("method"), Json("elicitation/create"));
    bridge.source.give(
        to_text(encode(RpcResponse{*question.find("id"), Json::object({{"action", "decline"}})})));
    EXPECT_NE(to_text(bridge.sink.answer_to("ask")).find("action=decline"), std::string::npos);
    bridge.end();
    EXPECT_EQ(bridge.exit_code, 0);
}

TEST_F(McpStdioBridgeTest, FetchesTheRestOfAStreamThatWasClosed) {
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    bridge.source.give(call_of("7", "test_reconnection"));
    EXPECT_NE(bridge.sink.answer_to(7).find("result"), nullptr);
}

TEST_F(McpStdioBridgeTest, LinesThatAreNoMessagesAreRefusedOnTheSpot) {
    std::istringstream in(
        "{\n[]\n" + std::string(kBridgeLineBytesMax + 1, 'x') + "\n" +
        R"({"jsonrpc":"2.0","id":5,"method":"ping","params":[]})");
    std::ostringstream out;
    EXPECT_EQ(run_mcp_stdio_bridge(in, out, target(), SecretString("ilk_test")), 0);
    std::istringstream lines(out.str());
    std::vector<std::int64_t> codes;
    for (std::string line; std::getline(lines, line);) {
        codes.push_back(parse_json(line)->find("error")->find("code")->as_int64().value());
    }
    EXPECT_EQ(
        codes,
        (std::vector<std::int64_t>{
            kRpcParseError, kRpcInvalidRequest, kRpcInvalidRequest, kRpcInvalidParams}));
}

TEST_F(McpStdioBridgeTest, WithoutAServerEveryRequestGetsAnError) {
    const HttpTarget gone = target();
    fixtures_.reset();
    std::istringstream in(kHello + "\n" + call_of("1", "test_simple_text") + "\n");
    std::ostringstream out;
    EXPECT_EQ(run_mcp_stdio_bridge(in, out, gone, SecretString("ilk_test")), 0);
    std::istringstream lines(out.str());
    int errors = 0;
    for (std::string line; std::getline(lines, line); ++errors) {
        const Json message = parse_json(line).value();
        EXPECT_EQ(*message.find("error")->find("code"), Json(kRpcServerError));
    }
    EXPECT_EQ(errors, 2);
}

// A server whose tools are answered by the test and whose sessions it can end, on a Unix socket as
// the real bridge uses it.
class McpBridgeHeldTest : public ::testing::Test {
protected:
    void SetUp() override {
        HttpServerConfig config;
        config.unix_socket_path = folder_ / "socket";
        auto opened = HttpServer::open(
            std::move(config), [this](HttpRequest request, HttpResponderPtr responder) {
                const auto bearer = request.header("Authorization");
                if (bearer != "Bearer ilk_test") {
                    responder->send(text_response(
                        401, "application/json", R"({"error":{"message":"Who are you?"}})"));
                    return;
                }
                endpoint_.handle(
                    std::move(request), internal_principal("test"), std::move(responder));
            });
        ASSERT_TRUE(opened) << opened.error().message;
        http_ = *std::move(opened);
        http_->start();
    }
    void TearDown() override {
        endpoint_.end_all();
        http_->stop(std::chrono::seconds(1));
    }
    HttpTarget target() const { return {.unix_socket_path = folder_ / "socket"}; }

    TempFolder folder_;
    HeldCatalog catalog_;
    McpServer server_{catalog_, "1"};
    FakeClock clock_;
    FakeIdSource ids_;
    McpHttp endpoint_{{server_, clock_, ids_}};
    std::unique_ptr<HttpServer> http_;
};

TEST_F(McpBridgeHeldTest, ALostSessionIsOpenedAnewWithoutTheClientNoticing) {
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    EXPECT_NE(bridge.sink.answer_to(0).find("result"), nullptr);
    endpoint_.end_all();
    bridge.source.give(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    EXPECT_NE(bridge.sink.answer_to(1).find("result"), nullptr);
    EXPECT_EQ(endpoint_.session_count(), 1U);
}

TEST_F(McpBridgeHeldTest, TheSessionEndsWithTheInput) {
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    EXPECT_NE(bridge.sink.answer_to(0).find("result"), nullptr);
    EXPECT_EQ(endpoint_.session_count(), 1U);
    bridge.end();
    EXPECT_EQ(endpoint_.session_count(), 0U);
}

TEST_F(McpBridgeHeldTest, ARunningCallHoldsUpNoOther) {
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    EXPECT_NE(bridge.sink.answer_to(0).find("result"), nullptr);
    bridge.source.give(call_of("1", "tool_0"));
    bridge.source.give(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    EXPECT_NE(bridge.sink.answer_to(2).find("result"), nullptr);
    EXPECT_TRUE(bridge.sink.others.empty());
    bridge.source.give(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    bridge.end();  // Returns because the cancelled call has ended.
    EXPECT_EQ(bridge.exit_code, 0);
}

TEST_F(McpBridgeHeldTest, UpdatesOfTheServerReachTheClient) {
    catalog_.offered = {.resources = true, .subscriptions = true};
    RunningBridge bridge(target());
    bridge.source.give(kHello);
    EXPECT_NE(bridge.sink.answer_to(0).find("result"), nullptr);
    bridge.source.give(
        R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://one"}})");
    EXPECT_NE(bridge.sink.answer_to(1).find("result"), nullptr);
    endpoint_.announce_update("test://one", [](const Principal&) { return true; });
    const Json update = bridge.sink.next();
    ASSERT_TRUE(update.is_object());
    EXPECT_EQ(*update.find("method"), Json("notifications/resources/updated"));
}

TEST_F(McpBridgeHeldTest, ABadKeyIsToldInTheServersWords) {
    std::istringstream in(kHello + "\n");
    std::ostringstream out;
    EXPECT_EQ(run_mcp_stdio_bridge(in, out, target(), SecretString("ilk_wrong")), 0);
    const Json error = *parse_json(out.str())->find("error");
    EXPECT_EQ(*error.find("code"), Json(kRpcServerError));
    EXPECT_EQ(*error.find("message"), Json("Who are you? (HTTP 401)"));
}

}  // namespace
}  // namespace interlock
