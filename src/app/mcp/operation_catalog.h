// The real catalog: tools and ledger resources made from the operation table, each seen and called
// only by those whom the access table lets. A key acts for the one tenant it belongs to.
#pragma once

#include <functional>

#include "app/mcp/operation_tool.h"

namespace interlock {

class OperationCatalog final : public McpCatalog {
public:
    struct Parts {
        const OperationTable& table;  // Outlives the catalog and no longer changes.
        // The rest is called from network threads, on_answer also from where answers come from.
        std::function<bool(const TenantId&)> tenant_exists;
        // May refuse a call before it reaches its operation (rate limit); empty: never.
        std::function<Result<void>(const Operation&, const ApiCall&)> admit = {};
        // Who reads much of a ledger pays for it; null: nobody counts.
        const RecordCharge* charge = nullptr;
        // Told of every answered call with its HTTP status (metrics); may be empty.
        std::function<void(const Operation&, int status)> on_answer = {};
    };
    explicit OperationCatalog(Parts parts) : parts_(std::move(parts)) {}

    McpFeatures features() const override { return {.resources = true}; }
    std::string instructions() const override;
    std::vector<McpTool> tools(const Principal& principal) override;
    std::vector<McpResource> resources(const Principal& principal) override;
    std::vector<McpResource> resource_templates(const Principal& principal) override;
    void call_tool(McpExchangePtr exchange, std::string name, Json arguments) override;
    void read_resource(McpExchangePtr exchange, std::string uri) override;

private:
    // The tenant to act for, when this caller may use the operation.
    std::optional<TenantId> may_use(const Operation& operation, const Principal& principal) const;
    bool may_use(std::string_view operation_id, const Principal& principal) const;

    void run(const Operation& operation, ApiCall call, ApiReplyTo reply) const;

    const Parts parts_;
};

}  // namespace interlock
