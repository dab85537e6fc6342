#include "app/mcp/operation_catalog.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/fake_mcp.h"

namespace interlock {
namespace {

Json object_schema(std::string_view text) {
    return parse_json(text).value();
}

Principal agent(std::set<Scope> scopes, std::set<std::string> tenants = {"acme"}) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = "key_1";
    principal.scopes = std::move(scopes);
    for (const std::string& tenant : tenants) {
        principal.tenants.insert(TenantId::trusted(tenant));
    }
    return principal;
}

std::vector<std::string> names_of(const std::vector<McpTool>& tools) {
    std::vector<std::string> names;
    for (const McpTool& tool : tools) {
        names.push_back(tool.name);
    }
    return names;
}

// Operations whose handlers remember their call and answer with what the test has put down.
class OperationCatalogTest : public ::testing::Test {
protected:
    OperationCatalogTest() {
        add_tenant_operations();
        add_host_operations();
    }

    void add_tenant_operations() {
        add({
            .id = "py_set_kill_switch",
            .method = "POST",
            .path = "/api/{tenant_id}/kill",
            .summary = "Stop everything.",
            .description = "Reuse the key.",
            .access = {.agent_with_any_scope = true},
            .query = {},
            .request_schema = object_schema(
                R"({"type":"object","required":["reason"],"additionalProperties":false,
                    "properties":{"reason":{"type":"string"},"key":{"type":"string"}}})"),
            .answer_schema = object_schema(R"({"type":"object"})"),
            .tool = ToolHints{.destructive = true, .idempotent = true},
            .handle = {},
        });
        add({
            .id = "list_audit",
            .method = "GET",
            .path = "/api/{tenant_id}/audit",
            .summary = "Read.",
            .description = "",
            .access = {.agent = Scope::read},
            .query =
                {{"after", "Only later ones.", object_schema(R"({"type":"integer","minimum":0})")},
                 {"limit", "How many.", object_schema(R"({"type":"integer","maximum":100})")}},
            .request_schema = {},
            .answer_schema = object_schema(R"({"type":"object"})"),
            .tool = ToolHints{.read_only = true},
            .handle = {},
        });
        add({
            .id = "get_audit_record",
            .method = "GET",
            .path = "/api/{tenant_id}/audit/{seq}",
            .summary = "Read one.",
            .description = "",
            .access = {.agent = Scope::read},
            .query = {},
            .request_schema = {},
            .answer_schema = object_schema(R"({"type":"array"})"),
            .tool = ToolHints{.read_only = true},
            .handle = {},
        });
    }

    void add_host_operations() {
        add({
            .id = "create_tenant",
            .method = "POST",
            .path = "/api/tenants",
            .summary = "Not for agents.",
            .description = "",
            .access = {.place = Access::Place::host, .host_operator = true},
            .query = {},
            .request_schema = {},
            .answer_schema = {},
            .tool = ToolHints{},
            .handle = {},
        });
        add({
            .id = "login",
            .method = "POST",
            .path = "/login",
            .summary = "No tool.",
            .description = "",
            .access = {.place = Access::Place::host, .anyone = true},
            .query = {},
            .request_schema = {},
            .answer_schema = {},
            .handle = {},
        });
    }

    void add(Operation operation) {
        operation.handle = [this](ApiCall call, ApiReplyTo reply) {
            last_call_ = std::move(call);
            reply(next_reply_);
        };
        table_.add(std::move(operation));
    }

    std::shared_ptr<RecordingOutlet> ask(
        const Principal& principal, std::string method, Json params) {
        auto outlet = std::make_shared<RecordingOutlet>();
        server_.handle(McpServer::Incoming{
            .session = session_,
            .principal = principal,
            .request = {1, std::move(method), std::move(params)},
            .outlet = outlet,
        });
        return outlet;
    }
    std::shared_ptr<RecordingOutlet> call(
        const Principal& principal, const char* tool, Json arguments = Json::object()) {
        return ask(
            principal,
            "tools/call",
            Json::object({{"name", tool}, {"arguments", std::move(arguments)}}));
    }
    Json error_in(const RecordingOutlet& outlet) {
        EXPECT_EQ(*outlet.result().find("isError"), Json(true));
        EXPECT_EQ(outlet.result().find("structuredContent"), nullptr);
        const auto body =
            parse_json(outlet.result().find("content")->items().at(0).find("text")->as_string());
        return body && body->find("error") != nullptr ? *body->find("error") : Json();
    }

    OperationTable table_;
    std::optional<ApiCall> last_call_;
    Result<ApiReply> next_reply_ = json_reply(200, Json::object({{"ok", true}}));
    std::function<Result<void>(const Operation&, const ApiCall&)> admit_;
    std::vector<int> statuses_;
    OperationCatalog catalog_{{
        .table = table_,
        .tenant_exists = [](const TenantId& id) { return id.text() != "gone"; },
        .admit =
            [this](const Operation& operation, const ApiCall& call) {
                return admit_ ? admit_(operation, call) : Result<void>();
            },
        .on_answer = [this](const Operation&, int status) { statuses_.push_back(status); },
    }};
    McpServer server_{catalog_, "1"};
    McpSessionPtr session_ = std::make_shared<McpSession>(McpSession::Terms{"2025-11-25"});
};

TEST_F(OperationCatalogTest, AKeySeesOnlyWhatItsScopesAllow) {
    EXPECT_EQ(
        names_of(catalog_.tools(agent({Scope::planner}))),
        (std::vector<std::string>{"py_set_kill_switch"}));
    EXPECT_EQ(
        names_of(catalog_.tools(agent({Scope::read}))),
        (std::vector<std::string>{"py_set_kill_switch", "list_audit", "get_audit_record"}));
}

TEST_F(OperationCatalogTest, AKeyOfNoTenantSeveralOrAVanishedOneSeesNothing) {
    EXPECT_TRUE(catalog_.tools(agent({Scope::read}, {})).empty());
    EXPECT_TRUE(catalog_.tools(agent({Scope::read}, {"acme", "other"})).empty());
    EXPECT_TRUE(catalog_.tools(agent({Scope::read}, {"gone"})).empty());
}

TEST_F(OperationCatalogTest, InputSchemaHoldsPathQueryAndBody) {
    const auto tools = catalog_.tools(agent({Scope::read}));
    EXPECT_EQ(tools[0].input_schema, table_.find("py_set_kill_switch")->request_schema);
    EXPECT_EQ(
        tools[1].input_schema,
        object_schema(
            R"({"type":"object","additionalProperties":false,"properties":{
                "after":{"type":"integer","minimum":0,"description":"Only later ones."},
                "limit":{"type":"integer","maximum":100,"description":"How many."}}})"));
    EXPECT_EQ(
        tools[2].input_schema,
        object_schema(
            R"({"type":"object","additionalProperties":false,"properties":{
                "seq":{"type":"string","description":"The seq to act on."}},
                "required":["seq"]})"));
}

// They are in /openapi.json and /ai/tools.json; every conversation would pay for them here.
TEST_F(OperationCatalogTest, OutputSchemasAreNotListed) {
    for (const McpTool& tool : catalog_.tools(agent({Scope::read}))) {
        EXPECT_TRUE(tool.output_schema.is_null()) << tool.name;
    }
}

TEST_F(OperationCatalogTest, AToolHasAShortTitleAndSaysNothingTwice) {
    const auto tools = catalog_.tools(agent({Scope::read}));
    EXPECT_EQ(tools[0].title, "Set kill switch");
    EXPECT_EQ(tools[0].description, "Stop everything. Reuse the key.");
    EXPECT_EQ(tools[2].description, "Read one.");
}

TEST_F(OperationCatalogTest, AToolIsListedUnderItsOwnNameAndAnswersToItsIdToo) {
    add({
        .id = "start",
        .method = "POST",
        .path = "/api/{tenant_id}/start",
        .summary = "Begin.",
        .description = "",
        .access = {.agent = Scope::bot},
        .query = {},
        .request_schema = {},
        .answer_schema = object_schema(R"({"type":"object"})"),
        .tool = ToolHints{.name = "bot_start"},
        .handle = {},
    });
    const Principal bot = agent({Scope::bot});
    EXPECT_EQ(
        names_of(catalog_.tools(bot)),
        (std::vector<std::string>{"py_set_kill_switch", "bot_start"}));
    for (const char* name : {"bot_start", "start"}) {
        last_call_.reset();
        call(bot, name);
        EXPECT_TRUE(last_call_) << name;
    }
}

TEST_F(OperationCatalogTest, ARefusalNamesToolsAndNoRoutes) {
    next_reply_ = fail(errors::conflict, "GET /api/{tenant_id}/audit, then /audit again.");
    const Json error = error_in(*call(agent({Scope::read}), "list_audit"));
    EXPECT_EQ(
        error.find("message")->as_string(), "GET /api/{tenant_id}/audit, then list_audit again.");
}

// Also where it is no error: advice is for the caller, and what is quoted stays as it is.
TEST_F(OperationCatalogTest, AdviceInAnAnswerNamesToolsAndAQuotationStays) {
    next_reply_ = json_reply(
        200, object_schema(R"({"next":"GET /audit tells.","blocked":{"next":"Look at /audit."},
            "strategies":[{"blocked":{"next":"See /audit."}}],"detail":{"next":"GET /audit"},
            "errors":[{"message":"/audit first.","next_step":"GET /audit",
                       "problems":[{"path":"/audit","problem":"not before /audit"}]}]})"));
    const auto outlet = call(agent({Scope::read}), "list_audit");
    EXPECT_EQ(
        *outlet->result().find("structuredContent"),
        object_schema(R"({"next":"list_audit tells.","blocked":{"next":"Look at list_audit."},
            "strategies":[{"blocked":{"next":"See list_audit."}}],"detail":{"next":"GET /audit"},
            "errors":[{"message":"list_audit first.","next_step":"list_audit",
                       "problems":[{"path":"/audit","problem":"not before list_audit"}]}]})"));
}

TEST_F(OperationCatalogTest, AStoredRefusalNamesToolsToo) {
    next_reply_ = json_reply(
        409, object_schema(R"({"error":{"code":"no","message":"/audit comes before."}})"));
    const Json error = error_in(*call(agent({Scope::read}), "list_audit"));
    EXPECT_EQ(error.find("message")->as_string(), "list_audit comes before.");
}

TEST_F(OperationCatalogTest, AnnotationsRepeatTheHints) {
    const auto tools = catalog_.tools(agent({Scope::read}));
    EXPECT_EQ(
        tools[0].annotations,
        object_schema(
            R"({"readOnlyHint":false,"destructiveHint":true,
                "idempotentHint":true,"openWorldHint":true})"));
    EXPECT_EQ(*tools[1].annotations.find("readOnlyHint"), Json(true));
    EXPECT_EQ(*tools[1].annotations.find("openWorldHint"), Json(false));
}

TEST_F(OperationCatalogTest, ACallReachesItsOperationForTheKeysOwnTenant) {
    const auto outlet =
        call(agent({Scope::planner}), "py_set_kill_switch", Json::object({{"reason", "fire"}}));
    ASSERT_TRUE(last_call_);
    EXPECT_EQ(last_call_->tenant_id.text(), "acme");
    EXPECT_EQ(last_call_->principal.id, "key_1");
    EXPECT_EQ(last_call_->body, Json::object({{"reason", "fire"}}));
    EXPECT_EQ(last_call_->http, nullptr);
    EXPECT_EQ(
        outlet->result(),
        object_schema(
            R"({"content":[{"type":"text","text":"{\"ok\":true}"}],"isError":false,
                "structuredContent":{"ok":true}})"));
}

TEST_F(OperationCatalogTest, ArgumentsAreSplitIntoPathAndQuery) {
    call(agent({Scope::read}), "get_audit_record", Json::object({{"seq", 7}}));
    EXPECT_EQ(last_call_->path, (std::map<std::string, std::string>{{"seq", "7"}}));
    EXPECT_TRUE(last_call_->body.is_null());
    call(agent({Scope::read}), "list_audit", Json::object({{"limit", 5}, {"after", nullptr}}));
    EXPECT_EQ(last_call_->query, (std::map<std::string, std::string>{{"limit", "5"}}));
}

TEST_F(OperationCatalogTest, EveryProblemWithTheArgumentsIsNamedAtOnce) {
    const auto outlet = call(
        agent({Scope::read}),
        "list_audit",
        Json::object({{"after", -1}, {"limit", "many"}, {"order", "asc"}}));
    EXPECT_FALSE(last_call_);
    const Json error = error_in(*outlet);
    EXPECT_EQ(*error.find("code"), Json("invalid_request"));
    EXPECT_EQ(error.find("problems")->items().size(), 3U);
}

TEST_F(OperationCatalogTest, AMissingOrMisshapenPathArgumentIsAProblem) {
    const Principal reader = agent({Scope::read});
    EXPECT_EQ(error_in(*call(reader, "get_audit_record")).find("problems")->items().size(), 1U);
    EXPECT_EQ(
        error_in(*call(reader, "get_audit_record", Json::object({{"seq", Json::array({1})}})))
            .find("problems")
            ->items()
            .size(),
        1U);
    EXPECT_FALSE(last_call_);
}

TEST_F(OperationCatalogTest, UnknownHiddenAndForeignToolsLookAlike) {
    const Principal planner = agent({Scope::planner});
    for (const char* tool : {"no_such_tool", "list_audit", "create_tenant", "login"}) {
        const auto outlet = call(planner, tool);
        EXPECT_EQ(outlet->error_code(), kRpcInvalidParams) << tool;
        EXPECT_EQ(
            *outlet->answer->find("error")->find("message"),
            Json("There is no tool " + std::string(tool) + "."));
    }
    EXPECT_FALSE(last_call_);
}

TEST_F(OperationCatalogTest, AFailureIsAResultThatTheModelCanRead) {
    next_reply_ = fail(errors::unavailable, "Not now.");
    const Json error = error_in(
        *call(agent({Scope::planner}), "py_set_kill_switch", Json::object({{"reason", "x"}})));
    EXPECT_EQ(*error.find("code"), Json("unavailable"));
    EXPECT_EQ(*error.find("message"), Json("Not now."));
    EXPECT_EQ(*error.find("retryable"), Json(true));
    EXPECT_NE(error.find("next_step"), nullptr);
    EXPECT_EQ(statuses_, (std::vector<int>{503}));
}

TEST_F(OperationCatalogTest, AnErrorStatusInAReplyIsAFailureToo) {
    next_reply_ =
        json_reply(409, object_schema(R"({"error":{"code":"in_progress","message":"Wait."}})"));
    const Json error = error_in(*call(agent({Scope::planner}), "py_set_kill_switch"));
    EXPECT_EQ(*error.find("code"), Json("in_progress"));
}

TEST_F(OperationCatalogTest, AnAnswerThatBreaksItsSchemaIsNotPassedOff) {
    next_reply_ = ApiReply{200, "not json", "text/plain", {}};
    const Json error = error_in(*call(agent({Scope::planner}), "py_set_kill_switch"));
    EXPECT_EQ(*error.find("code"), Json("internal"));
}

TEST_F(OperationCatalogTest, AnAnswerThatIsNoObjectIsTextOnly) {
    next_reply_ = json_reply(200, Json::array({1}));
    const Json result =
        call(agent({Scope::read}), "get_audit_record", Json::object({{"seq", "1"}}))->result();
    EXPECT_EQ(*result.find("isError"), Json(false));
    EXPECT_EQ(result.find("structuredContent"), nullptr);
}

TEST_F(OperationCatalogTest, ProgressBeginsAtAcceptAndEndsWithTheAnswer) {
    const Json params =
        object_schema(R"({"name":"list_audit","arguments":{},"_meta":{"progressToken":5}})");
    const auto outlet = ask(agent({Scope::read}), "tools/call", params);
    ASSERT_EQ(outlet->sent.size(), 2U);
    EXPECT_EQ(*outlet->sent[0].find("params")->find("progress"), Json(0));
    EXPECT_EQ(*outlet->sent[1].find("params")->find("progress"), Json(1));
    EXPECT_EQ(*outlet->sent[1].find("params")->find("total"), Json(1));
}

TEST_F(OperationCatalogTest, WhoStandsBeforeTheOperationsMayRefuse) {
    admit_ = [](const Operation&, const ApiCall&) -> Result<void> {
        return fail(errors::rate_limited, "Too fast.");
    };
    const Json error = error_in(*call(agent({Scope::planner}), "py_set_kill_switch"));
    EXPECT_EQ(*error.find("code"), Json("rate_limited"));
    EXPECT_FALSE(last_call_);
    EXPECT_EQ(statuses_, (std::vector<int>{429}));
}

TEST_F(OperationCatalogTest, ResourcesAreThoseWhoseOperationsExistAndAreAllowed) {
    const auto seen = catalog_.resources(agent({Scope::read}));
    ASSERT_EQ(seen.size(), 1U);  // The table of this test has no audit_head.
    EXPECT_EQ(seen[0].uri, "interlock://audit/recent");
    EXPECT_EQ(catalog_.resource_templates(agent({Scope::read})).size(), 1U);
    EXPECT_TRUE(catalog_.resources(agent({Scope::planner})).empty());
    EXPECT_TRUE(catalog_.resource_templates(agent({Scope::planner})).empty());
}

TEST_F(OperationCatalogTest, ResourcesAreReadThroughTheirOperations) {
    const Json result =
        ask(agent({Scope::read}), "resources/read", Json::object({{"uri", "interlock://audit/12"}}))
            ->result();
    EXPECT_EQ(last_call_->path.at("seq"), "12");
    EXPECT_EQ(
        result,
        object_schema(
            R"({"contents":[{"uri":"interlock://audit/12","mimeType":"application/json",
                "text":"{\"ok\":true}"}]})"));
    ask(agent({Scope::read}),
        "resources/read",
        Json::object({{"uri", "interlock://audit/recent"}}));
    EXPECT_EQ(last_call_->query.at("limit"), "50");
}

TEST_F(OperationCatalogTest, UnreadableResourcesLookLikeNone) {
    const auto read = [&](const Principal& who, const char* uri) {
        return ask(who, "resources/read", Json::object({{"uri", uri}}))->error_code();
    };
    for (const char* uri :
         {"interlock://audit/head",
          "interlock://audit/",
          "interlock://audit/-1",
          "interlock://audit/1x",
          "interlock://audit/12345678901234567890",
          "http://audit/1",
          ""}) {
        EXPECT_EQ(read(agent({Scope::read}), uri), kRpcResourceNotFound) << uri;
    }
    EXPECT_EQ(read(agent({Scope::planner}), "interlock://audit/1"), kRpcResourceNotFound);
    EXPECT_FALSE(last_call_);
    next_reply_ = fail(errors::not_found, "No such record.");
    EXPECT_EQ(read(agent({Scope::read}), "interlock://audit/9"), kRpcResourceNotFound);
    next_reply_ = fail(errors::io_failed, "The disk is gone.");
    EXPECT_EQ(read(agent({Scope::read}), "interlock://audit/9"), kRpcInternalError);
}

TEST_F(OperationCatalogTest, InstructionsTellModelsHowToRetryAndThatTheyApproveNothing) {
    const std::string text = catalog_.instructions();
    EXPECT_NE(text.find("same key"), std::string::npos);
    EXPECT_NE(text.find("refusal is a normal answer"), std::string::npos);
    EXPECT_NE(text.find("No agent can approve"), std::string::npos);
}

}  // namespace
}  // namespace interlock
