#include "app/command/serve_command.h"

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>

#include "app/mcp/mcp_fixture_server.h"
#include "app/wiring/version.h"
#include "base/log.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/process_guard.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

sigset_t stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return signals;
}

int wait_for(const sigset_t& signals) {
    int received = 0;
    sigwait(&signals, &received);
    return received;
}

// How many tenants a data folder holds, without opening it for writing; none when there is no
// database yet.
Result<std::int64_t> tenants_in(const std::string& data_folder) {
    SqliteLedgerOptions options;
    options.path = data_folder + "/interlock.db";
    options.read_only = true;
    std::error_code problem;
    if (!std::filesystem::exists(options.path, problem) && !problem) {
        return 0;
    }
    TRY_ASSIGN(const auto store, SqliteLedgerStore::open(options));
    TRY_ASSIGN(const auto tenants, store->load_states("tenant/"));
    return static_cast<std::int64_t>(tenants.size());
}

// The listener of the official MCP suite: fixtures only, no authentication, loopback only.
ExitCode serve_fixtures(const GlobalOptions& global, const Config& config) {
    const auto tenants = tenants_in(config.data_folder);
    if (!tenants) {
        return report(global, tenants.error());
    }
    block_stop_signals();
    SystemClock clock;
    RandomIdSource ids;
    auto server = start_conformance_fixtures(
        {.address = config.http_address,
         .port = config.http_port,
         .server_version = std::string(interlock_version()),
         .facts = {.live_mode = config.mode == "live", .tenants = *tenants}},
        clock,
        ids);
    if (!server) {
        return report(global, server.error());
    }
    std::cout << "ready http://" << config.http_address << ":" << (*server)->port() << std::endl;
    wait_for_stop_signal();
    return ExitCode::ok;
}

// From the first moment on: a SIGHUP while starting must not end us either, it only waits.
void block_reload_signal() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ExitCode serve(const GlobalOptions& global, const ServeOptions& options) {
    const auto loaded = load_config(global, config_flags(options));
    if (!loaded) {
        return report(global, loaded.error());
    }
    configure_log(loaded->config.log);
    if (options.conformance_fixtures) {
        return serve_fixtures(global, loaded->config);
    }
    if (loaded->config.debug_core_dumps) {
        log_warn("core_dumps_allowed", {{"means", "a core file will hold tokens and keys"}});
    } else if (const auto guarded = forbid_core_dumps(); !guarded) {
        return report(global, guarded.error());
    }
    block_stop_signals();
    block_reload_signal();
    auto server = Server::open(loaded->config);
    if (!server) {
        return report(global, server.error());
    }
    run_until_stopped(**server, [&] {
        // Scripts wait for this line; everything else goes to the log on standard error.
        std::cout << "ready " << (*server)->address() << std::endl;
        const std::string stop = (*server)->stop_address();
        if (!stop.empty()) {
            std::cout << "stop " << stop << std::endl;
        }
        log_info(
            "server_ready",
            {{"address", (*server)->address()},
             {"stop", stop.empty() ? "off" : stop},
             {"data", loaded->config.data_folder},
             {"version", interlock_version()}});
    });
    return ExitCode::ok;
}

}  // namespace

void block_stop_signals() {
    const sigset_t signals = stop_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void wait_for_stop_signal() {
    log_info("server_stopping", {{"signal", wait_for(stop_signals())}});
}

void run_until_stopped(Server& server, const std::function<void()>& on_ready) {
    server.start();
    on_ready();
    sigset_t signals = stop_signals();
    sigaddset(&signals, SIGHUP);
    int received = wait_for(signals);
    while (received == SIGHUP) {
        server.reload();
        received = wait_for(signals);
    }
    log_info("server_stopping", {{"signal", received}});
    server.stop();
    log_info("server_stopped");
}

void add_serve_options(CLI::App& command, ServeOptions& options) {
    command.add_option(
        "--port", options.port, "Port to listen on (default 8420; 0: any free one).");
    command.add_option("--address", options.address, "Address to listen on (default 127.0.0.1).");
    command.add_flag(
        "--allow-plaintext",
        options.allow_plaintext,
        "Listen beyond this machine without TLS all the same.");
    command.add_option("--sink", options.sink, "Unix socket of a running `interlock sink`.");
}

std::vector<ConfigFlag> config_flags(const ServeOptions& options) {
    std::vector<ConfigFlag> flags;
    if (!options.port.empty()) {
        flags.push_back({"http.port", options.port, "--port"});
    }
    if (!options.address.empty()) {
        flags.push_back({"http.address", options.address, "--address"});
    }
    if (options.allow_plaintext) {
        flags.push_back({"http.allow_plaintext", "true", "--allow-plaintext"});
    }
    if (!options.sink.empty()) {
        flags.push_back({"effects.sink", options.sink, "--sink"});
    }
    return flags;
}

void add_serve_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand("serve", "Run the server.");
    const auto options = std::make_shared<ServeOptions>();
    add_serve_options(*command, *options);
    command->add_flag(
        "--conformance-fixtures",
        options->conformance_fixtures,
        "Serve only what the MCP conformance suite needs, without authentication, on loopback.");
    command->callback(
        [&line, options] { line.run = [&line, options] { return serve(line.global, *options); }; });
}

}  // namespace interlock
