// The catalog that the official MCP conformance suite calls for: fixed names with fixed behaviour,
// and not one real tool. It shows that the protocol logic and the transport, which the real catalog
// shares, keep the protocol.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "app/mcp/mcp_catalog.h"

namespace interlock {

// Runs a callback later; network threads must not wait.
using McpScheduler = std::function<void(std::chrono::milliseconds, std::function<void()>)>;

// The pause between two messages of a fixture.
inline constexpr std::chrono::milliseconds kMcpFixturePause{50};

class McpFixtures final : public McpCatalog {
public:
    explicit McpFixtures(McpScheduler run_after);

    McpFeatures features() const override {
        return {
            .resources = true,
            .subscriptions = true,
            .prompts = true,
            .logging = true,
            .completions = true,
        };
    }
    std::vector<McpTool> tools(const Principal& principal) override;
    std::vector<McpResource> resources(const Principal& principal) override;
    std::vector<McpResource> resource_templates(const Principal& principal) override;
    std::vector<McpPrompt> prompts(const Principal& principal) override;
    void call_tool(McpExchangePtr exchange, std::string name, Json arguments) override;
    void read_resource(McpExchangePtr exchange, std::string uri) override;
    void get_prompt(McpExchangePtr exchange, std::string name, Json arguments) override;
    void complete(McpExchangePtr exchange, Json params) override;

private:
    struct FixtureTool {
        McpTool shown;
        std::function<void(const McpExchangePtr&, const Json& arguments)> call;
    };
    void add(
        std::string name,
        std::string description,
        std::function<void(const McpExchangePtr&, const Json&)> call,
        Json input_schema = nullptr);
    void add_content_tools();
    void add_timed_tools();
    void add_asking_tools();

    const McpScheduler run_after_;
    std::vector<FixtureTool> tools_;
};

}  // namespace interlock
