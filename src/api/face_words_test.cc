#include "api/face_words.h"

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
