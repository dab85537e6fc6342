// The two ends of the MCP protocol logic for tests: an outlet that remembers what a client would
// get, and a catalog whose one tool is answered when the test says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/mcp/mcp_server.h"

namespace interlock {

class RecordingOutlet final : public McpOutlet {
public:
    void send(const Json& message) override {
        if (!finished) {
            sent.push_back(message);
        }
    }
    void finish(const std::optional<Json>& response) override {
        if (!finished) {
            finished = true;
            answer = response;
        }
    }
    void pause() override { ++pauses; }

    // The result of the answer; null when there is none.
    Json result() const {
        const Json* found = answer ? answer->find("result") : nullptr;
        return found != nullptr ? *found : Json();
    }
    std::optional<std::int64_t> error_code() const {
        const Json* error = answer ? answer->find("error") : nullptr;
        return error != nullptr ? error->find("code")->as_int64() : std::nullopt;
    }

    std::vector<Json> sent;
    bool finished = false;
    std::optional<Json> answer;
    int pauses = 0;
};

class HeldCatalog final : public McpCatalog {
public:
    McpFeatures features() const override { return offered; }
    std::string instructions() const override { return "Be careful."; }
    std::vector<McpTool> tools(const Principal&) override {
        std::vector<McpTool> tools;
        for (std::size_t i = 0; i < tool_count; ++i) {
            tools.push_back(
                {.name = "tool_" + std::to_string(i),
                 .title = "",
                 .description = "",
                 .input_schema = Json::object({{"type", "object"}})});
        }
        return tools;
    }
    std::vector<McpResource> resources(const Principal&) override {
        return {{"test://one", "one", "The only one.", "text/plain"}};
    }
    void call_tool(McpExchangePtr exchange, std::string, Json arguments) override {
        last_arguments = std::move(arguments);
        held.push_back(std::move(exchange));
    }

    McpFeatures offered;
    std::size_t tool_count = 1;
    Json last_arguments;
    std::vector<McpExchangePtr> held;  // Calls in the order in which they came.
};

}  // namespace interlock
