#include "host/face/face_words.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

void add(OperationTable& table, std::string id, std::string path, std::optional<ToolHints> tool) {
    Operation operation;
    operation.id = std::move(id);
    operation.method = operation.id.starts_with("list") ? "GET" : "POST";
    operation.path = "/api/{tenant_id}/" + std::move(path);
    operation.tool = std::move(tool);
    table.add(std::move(operation));
}

OperationTable table() {
    OperationTable table;
    add(table, "start", "start", ToolHints{.name = "bot_start"});
    add(table, "initialize_bot", "initialize_bot", ToolHints{.name = "bot_initialize"});
    add(table, "list_strategies", "instances", ToolHints{});
    add(table, "py_validate_plan", "tools/py_validate_plan", ToolHints{});
    add(table, "resume_recovery", "recovery/resume", std::nullopt);
    return table;
}

TEST(FaceWords, AnMcpCallerHearsTools) {
    EXPECT_EQ(
        in_tool_words(table(), "POST /initialize_bot comes before /start."),
        "bot_initialize comes before bot_start.");
    // What is no tool keeps its name, and no path is found inside another word.
    EXPECT_EQ(
        in_tool_words(table(), "A human calls POST /recovery/resume; 1/start, /startle."),
        "A human calls POST /recovery/resume; 1/start, /startle.");
}

TEST(FaceWords, AnHttpCallerHearsRoutes) {
    EXPECT_EQ(
        in_route_words(table(), "Name an instance that list_strategies shows; bot_start it."),
        "Name an instance that GET /instances shows; POST /start it.");
    EXPECT_EQ(
        in_route_words(table(), "A human has to resume_recovery."),
        "A human has to POST /recovery/resume.");
    EXPECT_EQ(
        in_route_words(table(), "Call py_validate_plan; start over, POST /initialize_bot."),
        "Call py_validate_plan; start over, POST /initialize_bot.");
}

// An owner far from the host has no shell there; what only the host can do stays its command.
TEST(FaceWords, WhoIsNotAtTheHostHearsCallsForCommands) {
    EXPECT_EQ(
        in_remote_words(table(), "It ends by itself; `interlock account` shows it."),
        "It ends by itself; GET /account shows it.");
    EXPECT_EQ(
        in_remote_words(table(), "A human enables it (`interlock trading on --account two`)."),
        "A human enables it (POST /trading with enabled true and account_id two).");
    EXPECT_EQ(
        in_remote_words(
            table(),
            "Ask (`interlock kill off`), then (`interlock trading on`, `interlock trading "
            "resume`)."),
        "Ask (POST /kill with active false), then (POST /trading with enabled true, POST "
        "/recovery/resume).");
    const std::string of_host = "A human of the host asks (`interlock kill off --global`).";
    EXPECT_EQ(in_remote_words(table(), of_host), of_host);
    EXPECT_EQ(
        in_remote_words(table(), "`interlock trading on --account "),
        "`interlock trading on --account ");
    EXPECT_EQ(in_route_words(table(), "`interlock account`"), "`interlock account`");
}

// Two calls of one path are two tools, and one that is no tool keeps its route.
TEST(FaceWords, AnMcpCallerHearsTheToolOfTheMethod) {
    OperationTable both = table();
    add(both, "list_account", "account", ToolHints{.name = "get_account"});
    add(both, "list_kill", "kill", ToolHints{.name = "get_kill_switch"});
    EXPECT_EQ(in_tool_words(both, "`interlock account` shows it."), "get_account shows it.");
    EXPECT_EQ(
        in_tool_words(both, "GET /kill tells; ask by `interlock kill off`."),
        "get_kill_switch tells; ask by POST /kill with active false.");
}

// In every place where an answer says it: a block of its own, of each strategy, of a report.
TEST(FaceWords, AnAnswerIsSpokenWhereverItSaysWhatToDo) {
    const Json blocked = Json::object(
        {{"blocked", Json::object({{"code", "x"}, {"next", "See `interlock account`."}})}});
    Json answer = blocked;
    answer.set("strategies", Json::array({blocked}));
    answer.set("report", Json::object({{"state", blocked}}));
    answer.set("reason", "quoted: `interlock account`");
    const std::string heard = spoken_answer(to_text(answer), table(), in_remote_words);
    EXPECT_EQ(
        heard,
        R"({"blocked":{"code":"x","next":"See GET /account."},)"
        R"("strategies":[{"blocked":{"code":"x","next":"See GET /account."}}],)"
        R"("report":{"state":{"blocked":{"code":"x","next":"See GET /account."}}},)"
        R"("reason":"quoted: `interlock account`"})");
}

TEST(FaceWords, AnErrorIsSpokenWithItsNextStep) {
    constexpr ErrorKind kKind{"no", 409, false, "Read list_strategies."};
    Error error = fail(kKind, "list_strategies does not know it.").error();
    error.problems = {{"list_strategies", "Ask list_strategies."}};
    const Error heard = spoken(error, table(), in_route_words);
    EXPECT_EQ(heard.message, "GET /instances does not know it.");
    EXPECT_EQ(heard.next(), "Read GET /instances.");
    EXPECT_EQ(heard.code(), "no");
    EXPECT_EQ(heard.problems.at(0).path, "list_strategies");
    EXPECT_EQ(heard.problems.at(0).problem, "Ask GET /instances.");
}

}  // namespace
}  // namespace interlock
