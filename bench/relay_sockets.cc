// `bench relay --only sockets`: what an idle gateway costs a server.
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/errors.h"
#include "bench/gateway_swarm.h"
#include "bench/relay_bench.h"
#include "bench/scratch_folder.h"
#include "bench/server_process.h"

namespace interlock {
namespace {

constexpr std::int64_t kSpareFiles = 256;
constexpr int kEnrollers = 4;
constexpr std::int64_t kGatewaysOfTenant = 500;  // It may have twice as many.
constexpr std::chrono::milliseconds kSettle{2000};
constexpr std::chrono::milliseconds kInstallPatience{120'000};

// Answers as a connector would: looks at the credential, reads the hello, sends a descriptor.
constexpr std::string_view kWsServer = R"(const { WebSocketServer } = require('ws');
const descriptor = JSON.stringify({ type: 'descriptor', descriptor: {
    contract_version: 1, platform: 'local', label: 'Console', max_message_length: 4096,
    supports_draft_streaming: false, supports_edit: true, supports_threads: true,
    markdown_dialect: 'markdown', len_unit: 'chars', emoji: '' } }) + '\n';
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/relay' });
server.on('connection', (socket, request) => {
    if (!(request.headers.authorization || '').startsWith('Bearer ')) {
        socket.close(4401, 'unauthorized');
        return;
    }
    const session = { identities: [] };
    socket.on('message', (data) => {
        const frame = JSON.parse(data.toString());
        if (frame.type === 'hello') {
            session.identities.push([frame.platform, frame.botId]);
            socket.send(descriptor);
        }
    });
});
server.on('listening', () => console.log('ready ' + server.address().port));
)";

struct Memory {
    std::int64_t resident = 0;
    std::int64_t proportional = 0;
};

Result<Memory> read_memory(pid_t pid) {
    Memory memory;
    std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
    std::string line;
    while (std::getline(file, line)) {
        const auto take = [&](std::string_view key, std::int64_t& into) {
            if (line.starts_with(key)) {
                into = std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
            }
        };
        take("Rss:", memory.resident);
        take("Pss:", memory.proportional);
    }
    if (memory.resident == 0) {
        return fail(errors::unavailable, "The memory of the server cannot be read.");
    }
    return memory;
}

Result<RelaySocketsRow> measure(
    const std::string& name, pid_t pid, const GatewaySwarm::Dial& dial) {
    TRY_ASSIGN(GatewaySwarm swarm, GatewaySwarm::create());
    TRY_ASSIGN(const Memory before, read_memory(pid));
    const auto begin = std::chrono::steady_clock::now();
    TRY(swarm.dial(dial));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    TRY(swarm.serve_for(kSettle));
    TRY_ASSIGN(const Memory after, read_memory(pid));
    return RelaySocketsRow{
        .server = name,
        .sockets = dial.count,
        .resident_before = before.resident,
        .resident_after = after.resident,
        .proportional_before = before.proportional,
        .proportional_after = after.proportional,
        .dial_seconds = took.count()};
}

std::string tenant_of(std::int64_t gateway) {
    return "fleet-" + std::to_string(gateway / kGatewaysOfTenant);
}

// Several at a time, or the commits' syncs would be most of the benchmark.
Result<void> add_gateways(ServerProcess& server, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kGatewaysOfTenant) {
        TRY(server.create_tenant(tenant_of(i)));
    }
    std::atomic<std::int64_t> next{0};
    std::vector<Result<void>> ends(kEnrollers);
    std::vector<std::thread> threads;
    for (Result<void>& end : ends) {
        threads.emplace_back([&server, &next, &end, count] {
            const auto client = HttpClient::create(server.operator_target());
            for (std::int64_t i = next++; i < count && end; i = next++) {
                const auto added = call_json(
                    *client,
                    {.path = "/api/relay/gateways",
                     .body = Json::object(
                         {{"tenant_id", tenant_of(i)},
                          {"gateway_id", bench_gateway_id(i)},
                          {"instance_id", bench_instance_id(i)},
                          {"secret", kBenchGatewaySecret}}),
                     .credential = {}});
                if (!added) {
                    end = std::unexpected(added.error());
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Result<void>& end : ends) {
        TRY(end);
    }
    return {};
}

Result<RelaySocketsRow> measure_ours(const RelayBenchOptions& options, const std::string& folder) {
    ServerProcess::Options server_options{.program = options.program, .folder = folder, .sink = {}};
    server_options.config +=
        // An eighth of the places is kept for newcomers.
        "connections_max = " + std::to_string(options.idle_sockets * 8 / 7 + kSpareFiles) +
        "\n[[relay.bot]]\nplatform = \"local\"\nbot_id = \"console\"\n";
    TRY_ASSIGN(ServerProcess server, ServerProcess::start(server_options));
    TRY(add_gateways(server, options.idle_sockets));
    return measure(
        "interlock", server.pid(), {.port = server.port(), .count = options.idle_sockets});
}

Result<RelaySocketsRow> measure_ws(const RelayBenchOptions& options) {
    TRY_ASSIGN(const std::string node, find_program("node", "nodejs"));
    TRY_ASSIGN(const std::string npm, find_program("npm", "npm"));
    TRY_ASSIGN(
        const ScratchFolder scratch,
        ScratchFolder::create(std::filesystem::temp_directory_path().string()));
    std::ofstream(scratch.file("server.js")) << kWsServer;
    MeasuredProcess::Options install;
    install.command = {npm, "install", "--silent", "--prefix", scratch.path(), "ws"};
    install.log_path = scratch.file("npm.log");
    TRY_ASSIGN(MeasuredProcess installing, MeasuredProcess::start(install));
    while (installing.read_line(kInstallPatience)) {
    }
    if (installing.wait() != 0) {
        return fail(errors::unavailable, "npm could not install `ws`.");
    }
    MeasuredProcess::Options child;
    child.command = {node, scratch.file("server.js")};
    child.log_path = scratch.file("node.log");
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    TRY_ASSIGN(const std::string line, process.read_line(kServerPatience));
    std::uint16_t port = 0;
    const std::size_t space = line.rfind(' ') + 1;
    std::from_chars(line.data() + space, line.data() + line.size(), port);
    return measure("node ws", process.pid(), {.port = port, .count = options.idle_sockets});
}

}  // namespace

double RelaySocketsRow::bytes_per_socket() const {
    return static_cast<double>(resident_after - resident_before) /
           static_cast<double>(std::max<std::int64_t>(1, sockets));
}

double RelaySocketsRow::proportional_per_socket() const {
    return static_cast<double>(proportional_after - proportional_before) /
           static_cast<double>(std::max<std::int64_t>(1, sockets));
}

Result<std::vector<RelaySocketsRow>> run_relay_sockets(
    const RelayBenchOptions& options,
    const std::string& folder,
    std::vector<std::string>& missing) {
    TRY(raise_file_limit(options.idle_sockets + kSpareFiles));
    std::vector<RelaySocketsRow> rows;
    TRY_ASSIGN(RelaySocketsRow ours, measure_ours(options, folder));
    rows.push_back(std::move(ours));
    if (options.peers) {
        auto peer = measure_ws(options);
        if (peer) {
            rows.push_back(*std::move(peer));
        } else {
            missing.push_back("node ws: " + peer.error().message);
        }
    }
    return rows;
}

}  // namespace interlock
