#include "app/mcp/mcp_fixtures.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/bytes.h"
#include "testing/fake_mcp.h"

namespace interlock {
namespace {

class McpFixturesTest : public ::testing::Test {
protected:
    std::shared_ptr<RecordingOutlet> ask(std::string method, Json params = Json::object()) {
        auto outlet = std::make_shared<RecordingOutlet>();
        server_.handle(McpServer::Incoming{
            .session = session_,
            .principal = internal_principal("conformance"),
            .request = {++last_id_, std::move(method), std::move(params)},
            .outlet = outlet,
        });
        return outlet;
    }
    std::shared_ptr<RecordingOutlet> call(const char* tool, Json arguments = Json::object()) {
        return ask(
            "tools/call",
            Json::object(
                {{"name", tool},
                 {"arguments", std::move(arguments)},
                 {"_meta", Json::object({{"progressToken", "t"}})}}));
    }
    bool run_next() {
        if (later_.empty()) {
            return false;
        }
        const auto next = std::move(later_.front());
        later_.pop_front();
        next();
        return true;
    }
    std::string text_in(const RecordingOutlet& outlet) {
        return outlet.result().find("content")->items().at(0).find("text")->as_string();
    }
    void reply(const Json& question, RpcOutcome outcome) {
        McpServer::handle(*session_, RpcResponse{*question.find("id"), std::move(outcome)});
    }

    std::deque<std::function<void()>> later_;
    McpFixtures fixtures_{[this](std::chrono::milliseconds, std::function<void()> next) {
        later_.push_back(std::move(next));
    }};
    McpServer server_{fixtures_, "1"};
    McpSessionPtr session_ = std::make_shared<McpSession>(McpSession::Terms{
        "2025-11-25",
        Json::object({{"sampling", Json::object()}, {"elicitation", Json::object()}})});
    std::int64_t last_id_ = 0;
};

TEST_F(McpFixturesTest, EveryToolTheSuiteCallsIsThereAndNoReal) {
    std::vector<std::string> names;
    for (const McpTool& tool : fixtures_.tools(internal_principal("conformance"))) {
        EXPECT_FALSE(tool.description.empty()) << tool.name;
        EXPECT_EQ(*tool.input_schema.find("type"), Json("object")) << tool.name;
        EXPECT_TRUE(tool.name.starts_with("test_") || tool.name == "json_schema_2020_12_tool");
        names.push_back(tool.name);
    }
    EXPECT_EQ(names.size(), 14U);
}

TEST_F(McpFixturesTest, ContentToolsAnswerTheirKind) {
    const auto types = [&](const char* tool) {
        std::string found;
        const Json result = call(tool)->result();
        for (const Json& item : result.find("content")->items()) {
            found += item.find("type")->as_string() + " ";
        }
        return found;
    };
    EXPECT_EQ(types("test_simple_text"), "text ");
    EXPECT_EQ(types("test_image_content"), "image ");
    EXPECT_EQ(types("test_audio_content"), "audio ");
    EXPECT_EQ(types("test_embedded_resource"), "resource ");
    EXPECT_EQ(types("test_multiple_content_types"), "text image resource ");
}

TEST_F(McpFixturesTest, TheImageIsAPngAndTheSoundAWav) {
    const auto bytes = [&](const char* tool) {
        const Json result = call(tool)->result();
        return from_base64(result.find("content")->items().at(0).find("data")->as_string()).value();
    };
    EXPECT_TRUE(bytes("test_image_content").starts_with("\x89PNG\r\n"));
    EXPECT_TRUE(bytes("test_audio_content").starts_with("RIFF"));
}

TEST_F(McpFixturesTest, TheFailingToolFailsAsAResult) {
    EXPECT_EQ(*call("test_error_handling")->result().find("isError"), Json(true));
    EXPECT_EQ(call("no_such_tool")->error_code(), kRpcInvalidParams);
}

TEST_F(McpFixturesTest, LoggingComesInThreeSteps) {
    const auto outlet = call("test_tool_with_logging");
    EXPECT_EQ(outlet->sent.size(), 1U);
    ASSERT_TRUE(run_next());
    EXPECT_EQ(outlet->sent.size(), 2U);
    EXPECT_FALSE(outlet->finished);
    ASSERT_TRUE(run_next());
    EXPECT_EQ(outlet->sent.size(), 3U);
    EXPECT_TRUE(outlet->answer);
}

TEST_F(McpFixturesTest, ProgressGrowsInThreeSteps) {
    const auto outlet = call("test_tool_with_progress");
    while (run_next()) {
    }
    ASSERT_EQ(outlet->sent.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(*outlet->sent[i].find("params")->find("progress"), Json(50 * i));
    }
    EXPECT_TRUE(outlet->answer);
}

TEST_F(McpFixturesTest, ReconnectionClosesTheStreamBeforeItAnswers) {
    const auto outlet = call("test_reconnection");
    EXPECT_EQ(outlet->pauses, 1);
    EXPECT_FALSE(outlet->finished);
    ASSERT_TRUE(run_next());
    EXPECT_TRUE(outlet->answer);
}

TEST_F(McpFixturesTest, SamplingRepeatsWhatTheModelSaid) {
    const auto outlet = call("test_sampling", Json::object({{"prompt", "hi"}}));
    ASSERT_EQ(outlet->sent.size(), 1U);
    EXPECT_EQ(*outlet->sent[0].find("method"), Json("sampling/createMessage"));
    EXPECT_EQ(*outlet->sent[0].find("params")->find("maxTokens"), Json(100));
    reply(outlet->sent[0], Json::object({{"content", text_content("hello")}}));
    EXPECT_EQ(text_in(*outlet), "LLM response: hello");
}

TEST_F(McpFixturesTest, ElicitationRepeatsWhatTheUserSaid) {
    for (const char* tool :
         {"test_elicitation",
          "test_elicitation_sep1034_defaults",
          "test_elicitation_sep1330_enums"}) {
        const auto outlet = call(tool, Json::object({{"message", "who?"}}));
        ASSERT_EQ(outlet->sent.size(), 1U) << tool;
        EXPECT_EQ(*outlet->sent[0].find("method"), Json("elicitation/create"));
        reply(
            outlet->sent[0],
            Json::object({{"action", "accept"}, {"content", Json::object({{"a", 1}})}}));
        EXPECT_NE(text_in(*outlet).find("action=accept, content={\"a\":1}"), std::string::npos);
    }
}

TEST_F(McpFixturesTest, ARefusalOfTheClientIsAnErrorResult) {
    const auto outlet = call("test_elicitation");
    reply(outlet->sent.at(0), rpc_fail(-1, "no user here"));
    EXPECT_EQ(*outlet->result().find("isError"), Json(true));
}

TEST_F(McpFixturesTest, AClientThatCannotIsNotAsked) {
    session_ = std::make_shared<McpSession>(McpSession::Terms{"2025-11-25"});
    for (const char* tool : {"test_sampling", "test_elicitation"}) {
        const auto outlet = call(tool);
        EXPECT_TRUE(outlet->sent.empty()) << tool;
        EXPECT_EQ(*outlet->result().find("isError"), Json(true)) << tool;
    }
}

TEST_F(McpFixturesTest, TheSchemaToolKeepsEveryKeyword) {
    for (const McpTool& tool : fixtures_.tools(internal_principal("conformance"))) {
        if (tool.name == "json_schema_2020_12_tool") {
            for (const char* word :
                 {"$schema", "$defs", "allOf", "if", "then", "else", "additionalProperties"}) {
                EXPECT_NE(tool.input_schema.find(word), nullptr) << word;
            }
            return;
        }
    }
    FAIL() << "the tool is missing";
}

TEST_F(McpFixturesTest, ResourcesAreRead) {
    const auto read = [&](const char* uri) {
        return ask("resources/read", Json::object({{"uri", uri}}));
    };
    const auto item = [&](const char* uri) {
        return read(uri)->result().find("contents")->items().at(0);
    };
    EXPECT_NE(item("test://static-text").find("text"), nullptr);
    EXPECT_NE(item("test://static-binary").find("blob"), nullptr);
    EXPECT_NE(item("test://watched-resource").find("text"), nullptr);
    EXPECT_EQ(
        *item("test://template/42/data").find("text"),
        Json(R"({"id":"42","templateTest":true,"data":"Data for ID: 42"})"));
    EXPECT_EQ(read("test://template//data")->error_code(), kRpcResourceNotFound);
    EXPECT_EQ(read("test://nothing")->error_code(), kRpcResourceNotFound);
    EXPECT_EQ(ask("resources/list")->result().find("resources")->items().size(), 3U);
    EXPECT_EQ(
        ask("resources/templates/list")->result().find("resourceTemplates")->items().size(), 1U);
}

TEST_F(McpFixturesTest, PromptsRepeatTheirArguments) {
    const auto get = [&](const char* name, Json arguments) {
        return ask(
            "prompts/get", Json::object({{"name", name}, {"arguments", std::move(arguments)}}));
    };
    EXPECT_EQ(ask("prompts/list")->result().find("prompts")->items().size(), 4U);
    EXPECT_NE(
        to_text(get("test_prompt_with_arguments", Json::object({{"arg1", "x"}, {"arg2", "y"}}))
                    ->result())
            .find("arg1='x', arg2='y'"),
        std::string::npos);
    EXPECT_NE(
        to_text(get("test_prompt_with_embedded_resource", Json::object({{"resourceUri", "u://r"}}))
                    ->result())
            .find("\"uri\":\"u://r\""),
        std::string::npos);
    for (const char* name : {"test_simple_prompt", "test_prompt_with_image"}) {
        EXPECT_FALSE(get(name, Json::object())->result().find("messages")->items().empty());
    }
    EXPECT_EQ(get("no_such_prompt", Json::object())->error_code(), kRpcInvalidParams);
}

TEST_F(McpFixturesTest, CompletionOffersWhatBeginsAlike) {
    const Json params = parse_json(
                            R"({"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},
                                "argument":{"name":"arg1","value":"par"}})")
                            .value();
    const Json completion = *ask("completion/complete", params)->result().find("completion");
    EXPECT_EQ(completion.find("values")->items().size(), 3U);
    EXPECT_EQ(*completion.find("hasMore"), Json(false));
    EXPECT_EQ(ask("completion/complete")->error_code(), kRpcInvalidParams);
}

}  // namespace
}  // namespace interlock
