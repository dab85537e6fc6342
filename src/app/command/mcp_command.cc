#include "app/command/mcp_command.h"

#include <cstdlib>
#include <iostream>

#include "app/mcp/mcp_stdio_bridge.h"
#include "app/wiring/config.h"
#include "base/errors.h"

namespace interlock {
namespace {

ExitCode bridge(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (!loaded) {
        return report(global, loaded.error());
    }
    const char* key = std::getenv("INTERLOCK_ACCESS_KEY");
    if (key == nullptr || *key == '\0') {
        return report(
            global,
            fail(
                errors::invalid_config,
                "INTERLOCK_ACCESS_KEY is not set; `interlock mcp` acts with an agent's access key.",
                "Make a key with `interlock key create` and put it into the agent's MCP settings.")
                .error());
    }
    const HttpTarget target{
        .unix_socket_path = loaded->config.data_folder + "/operator.sock",
        .host = "localhost",
        .port = 0};
    return run_mcp_stdio_bridge(std::cin, std::cout, target, SecretString(key)) == 0
               ? ExitCode::ok
               : ExitCode::refused;
}

}  // namespace

void add_mcp_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "mcp", "Speak MCP on standard input and output, acting with INTERLOCK_ACCESS_KEY.");
    command->callback([&line] { line.run = [&line] { return bridge(line.global); }; });
}

}  // namespace interlock
