// Is it up, is it ready, how is it doing, what can it do.
#pragma once

#include <functional>
#include <string>

#include "host/face/operation.h"
#include "host/service/metrics.h"

namespace interlock {

struct HealthParts {
    Metrics& metrics;
    std::string version;
    // What keeps the server from being ready, or "" when nothing does. Any thread.
    std::function<std::string()> not_ready_because;
    // How the server can be reached, for the operator. Any thread.
    std::function<Json()> exposure;
};

void register_health_operations(OperationTable& table, HealthParts parts);
// After all others: serves the document of the finished table.
void register_openapi_operation(OperationTable& table, std::string version);

}  // namespace interlock
