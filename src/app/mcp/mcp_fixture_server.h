// A listener of its own for the official MCP conformance suite: no authentication (the suite cannot
// send any), fixtures only, and therefore never beside anything real.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind fixtures_refused{
    "fixtures_refused",
    403,
    false,
    "Run the fixtures on a loopback address, not in live mode, with a data folder of their own."};
}  // namespace errors

// What the caller knows about the process that is to serve fixtures.
struct FixtureRefusalFacts {
    bool live_mode = false;
    std::int64_t tenants = 0;  // In the data folder.
};
Result<void> check_fixtures_allowed(const FixtureRefusalFacts& facts);

class McpFixtureServer {
public:
    virtual ~McpFixtureServer() = default;  // Stops serving.
    virtual std::uint16_t port() const = 0;
};

struct McpFixtureConfig {
    std::string address = "127.0.0.1";  // Must be a loopback address.
    std::uint16_t port = 0;             // 0: any free one.
    std::string server_version = "0";
    FixtureRefusalFacts facts = {};
};

// Serves POST, GET and DELETE on /mcp from now on. Clock and ids outlive the server.
Result<std::unique_ptr<McpFixtureServer>> start_conformance_fixtures(
    const McpFixtureConfig& config, Clock& clock, IdSource& ids);

}  // namespace interlock
