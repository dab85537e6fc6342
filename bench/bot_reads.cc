// The read endpoints beside the bare HTTP server: one endpoint after the other, and for each of
// them rounds of bare, key in the header, key in the path, so that a slow second hits all three.
#include <signal.h>

#include <array>
#include <cstdlib>

#include "base/errors.h"
#include "bench/bot_tenants.h"
#include "bench/bots_bench.h"
#include "bench/wrk_load.h"

namespace interlock {
namespace {

// As in the agent schema; what reads files or the ledger stands at the end.
constexpr std::array<std::string_view, 11> kReads{
    "/status",
    "/config",
    "/exchange_status",
    "/balances",
    "/positions",
    "/health",
    "/pnl_status",
    "/pnl_last_update",
    "/account/status",
    "/logs?lines=20",
    "/pnl_snapshot"};

// High enough never to refuse, so that the limits are asked as in a real server.
constexpr std::string_view kConfig =
    "[http]\nrequests_per_second = 1000000\ntenant_requests_per_second = 1000000\n";

Result<MeasuredProcess> start_bare(
    const BotsBenchOptions& options, const std::string& folder, std::int64_t answer_bytes) {
    MeasuredProcess::Options child;
    child.command = {
        options.program, "bench", "bare-http", "--answer-bytes", std::to_string(answer_bytes)};
    child.log_path = folder + "/bare.log";
    return MeasuredProcess::start(child);
}

struct Measured {
    double per_s = 0;
    double cpu_us = 0;  // Of the server, per request.
};

Result<Measured> measure(const WrkLoad& load, pid_t server, const std::string& folder) {
    TRY_ASSIGN(const ProcessCpu before, read_process_cpu(server));
    TRY_ASSIGN(const WrkReport report, run_wrk(load, folder));
    TRY_ASSIGN(const ProcessCpu after, read_process_cpu(server));
    if (report.refused > 0 || report.broken > 0 || report.answers == 0) {
        return fail(
            errors::unavailable,
            load.path.substr(0, load.path.find("ilk_")) + ": " + std::to_string(report.answers) +
                " answers, " + std::to_string(report.refused) + " of them refusals, " +
                std::to_string(report.broken) + " broken connections.");
    }
    return Measured{
        report.per_second,
        static_cast<double>(after.total.microseconds - before.total.microseconds) /
            static_cast<double>(report.answers)};
}

struct Samples {
    std::vector<double> bare;
    std::vector<double> header;
    std::vector<double> path;
    std::vector<double> header_ratio;
    std::vector<double> path_ratio;
    std::vector<double> header_cpu;
    std::vector<double> path_cpu;
};

struct Place {
    const BotsBenchOptions& options;
    const std::string& folder;
    const ServerProcess& server;
    const BotTenant& bot;
};

Result<BotReadRow> measure_endpoint(const Place& place, const std::string& endpoint) {
    const auto& [options, folder, server, bot] = place;
    const auto client = HttpClient::create(server.target());
    BotReadRow row;
    row.endpoint = endpoint;
    TRY_ASSIGN(const std::string body, read_bot(*client, bot, endpoint));
    row.answer_bytes = std::ssize(body);
    TRY_ASSIGN(MeasuredProcess bare, start_bare(options, folder, row.answer_bytes));
    TRY_ASSIGN(const std::string line, bare.read_line(kServerPatience));
    const auto bare_port = static_cast<std::uint16_t>(
        std::strtoul(line.substr(line.rfind(':') + 1).c_str(), nullptr, 10));
    WrkLoad load;
    load.seconds = options.seconds;
    Samples samples;
    for (int round = 0; round < options.rounds; ++round) {
        load.access_key = bot.access_key;
        load.path = "/api/" + bot.tenant_id + endpoint;
        load.port = bare_port;
        TRY_ASSIGN(const Measured alone, measure(load, bare.pid(), folder));
        load.port = server.port();
        TRY_ASSIGN(const Measured by_header, measure(load, server.pid(), folder));
        load.access_key = {};
        load.path = "/" + bot.access_key + endpoint;
        TRY_ASSIGN(const Measured by_path, measure(load, server.pid(), folder));
        samples.bare.push_back(alone.per_s);
        samples.header.push_back(by_header.per_s);
        samples.path.push_back(by_path.per_s);
        samples.header_ratio.push_back(by_header.per_s / alone.per_s);
        samples.path_ratio.push_back(by_path.per_s / alone.per_s);
        samples.header_cpu.push_back(alone.cpu_us / by_header.cpu_us);
        samples.path_cpu.push_back(alone.cpu_us / by_path.cpu_us);
    }
    bare.send_signal(SIGTERM);
    bare.wait();
    row.bare_per_s = row.spreads.note("bare_per_s", samples.bare);
    row.header_per_s = row.spreads.note("header_per_s", samples.header);
    row.path_per_s = row.spreads.note("path_per_s", samples.path);
    row.header_ratio = row.spreads.note("header_ratio", samples.header_ratio, 3);
    row.path_ratio = row.spreads.note("path_ratio", samples.path_ratio, 3);
    row.header_cpu_ratio = row.spreads.note("header_cpu_ratio", samples.header_cpu, 3);
    row.path_cpu_ratio = row.spreads.note("path_cpu_ratio", samples.path_cpu, 3);
    return row;
}

}  // namespace

Result<std::vector<BotReadRow>> run_bot_reads(
    const BotsBenchOptions& options, const std::string& folder) {
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start(
            {.program = options.program,
             .folder = folder,
             .sink = {},
             .config = std::string(kConfig)}));
    TRY_ASSIGN(const BotTenant bot, sign_up_bot(server, "reads@example.com"));
    let_pass(std::chrono::seconds(1));  // Its first pulse has placed its orders.
    std::vector<BotReadRow> rows;
    std::vector<std::string> endpoints = options.endpoints;
    if (endpoints.empty()) {
        endpoints.assign(kReads.begin(), kReads.end());
    }
    for (const std::string& endpoint : endpoints) {
        TRY_ASSIGN(BotReadRow row, measure_endpoint({options, folder, server, bot}, endpoint));
        rows.push_back(std::move(row));
    }
    server.stop();
    return rows;
}

}  // namespace interlock
