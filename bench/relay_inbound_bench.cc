// `bench relay --only inbound`: rounds that alternate between ours and the peers.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/errors.h"
#include "bench/gateway_swarm.h"
#include "bench/relay_bench.h"
#include "bench/server_process.h"
#include "bench/stream_peers.h"

namespace interlock {
namespace {

constexpr std::int64_t kEventBytes = 600;
// What a gateway is given before it acknowledges (relay-connector.md#buffers), as long as that is
// not too much in all.
constexpr std::int64_t kInFlightEach = 8;
constexpr std::int64_t kInFlightTotal = 1000;
constexpr std::int64_t kSpareFiles = 256;

struct Figures {
    double per_second = 0;
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    double cpu_us = 0;
};

struct Round {
    const RelayBenchOptions& options;
    std::int64_t instances = 0;
    std::string folder;  // Of this measurement alone.

    std::int64_t in_flight() const {
        return std::clamp<std::int64_t>(kInFlightTotal / instances, 1, kInFlightEach);
    }
};

Result<double> cpu_us_of(pid_t pid) {
    TRY_ASSIGN(const ProcessCpu cpu, read_process_cpu(pid));
    return static_cast<double>(cpu.total.microseconds);
}

Result<Figures> measure_ours(const Round& round) {
    MeasuredProcess::Options child;
    child.command = {
        round.options.program,
        "bench",
        "relay-load",
        "--folder",
        round.folder,
        "--instances",
        std::to_string(round.instances),
        "--in-flight",
        std::to_string(round.in_flight()),
        "--event-bytes",
        std::to_string(kEventBytes),
        "--tenants",
        std::to_string(round.options.tenants),
        "--seconds",
        std::to_string(round.options.seconds)};
    child.log_path = round.folder + "/load.log";
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    TRY_ASSIGN(const std::string line, process.read_line(kServerPatience));
    std::uint16_t port = 0;
    const std::size_t colon = line.rfind(':') + 1;
    std::from_chars(line.data() + colon, line.data() + line.size(), port);
    TRY_ASSIGN(GatewaySwarm swarm, GatewaySwarm::create());
    TRY(swarm.dial({.port = port, .count = round.instances}));
    TRY_ASSIGN(const double cpu_before, cpu_us_of(process.pid()));
    TRY_ASSIGN(
        const std::string answer,
        swarm.serve_while_asking(
            port, "/bench/run", std::chrono::seconds(round.options.seconds + 60)));
    TRY_ASSIGN(const double cpu_after, cpu_us_of(process.pid()));
    TRY_ASSIGN(const Json report, parse_json(answer));
    if (const Json* error = report.find("error")) {
        return fail(errors::unavailable, error->as_string());
    }
    const auto number = [&](std::string_view key) {
        const Json* found = report.find(key);
        return found == nullptr ? 0 : found->as_int64().value_or(0);
    };
    return Figures{
        .per_second = static_cast<double>(number("messages")) * 1e6 /
                      static_cast<double>(std::max<std::int64_t>(1, number("microseconds"))),
        .p50_us = number("p50_us"),
        .p99_us = number("p99_us"),
        .cpu_us = (cpu_after - cpu_before) /
                  static_cast<double>(std::max<std::int64_t>(1, swarm.acknowledged()))};
}

using StartPeer = Result<PeerServer> (*)(const std::string& program, const std::string& folder);
using LoadPeer = Result<StreamFigures> (*)(std::uint16_t port, const StreamLoad& load);

Result<Figures> measure_peer(
    const Round& round, const std::string& program, StartPeer start, LoadPeer load) {
    TRY_ASSIGN(PeerServer server, start(program, round.folder));
    TRY_ASSIGN(const double cpu_before, cpu_us_of(server.process.pid()));
    TRY_ASSIGN(
        const StreamFigures figures,
        load(
            server.port,
            {.instances = round.instances,
             .in_flight = round.in_flight(),
             .event_bytes = kEventBytes,
             .seconds = std::chrono::seconds(round.options.seconds)}));
    TRY_ASSIGN(const double cpu_after, cpu_us_of(server.process.pid()));
    return Figures{
        .per_second = static_cast<double>(figures.messages) / figures.seconds,
        .p50_us = figures.p50_us,
        .p99_us = figures.p99_us,
        .cpu_us =
            (cpu_after - cpu_before) / static_cast<double>(std::max<std::int64_t>(1, figures.all))};
}

struct Store {
    std::string name;
    std::string program = {};
    StartPeer start = nullptr;  // Null: ours.
    LoadPeer load = nullptr;
    std::vector<Figures> rounds = {};
};

std::string program_of(const std::string& chosen, const std::string& name) {
    for (const std::string folder : {"/usr/local/bin/", "/usr/bin/", "/usr/sbin/"}) {
        if (chosen.empty() && std::filesystem::exists(folder + name)) {
            return folder + name;
        }
    }
    return chosen;
}

std::vector<Store> stores_for(const RelayBenchOptions& options, std::vector<std::string>& missing) {
    std::vector<Store> stores{{.name = "interlock"}};
    if (!options.peers) {
        return stores;
    }
    if (const std::string redis = program_of(options.redis_server, "redis-server");
        !redis.empty()) {
        stores.push_back({"redis streams", redis, start_redis, load_redis});
    } else {
        missing.push_back("redis streams: install the Debian package redis-server.");
    }
    if (const std::string nats = program_of(options.nats_server, "nats-server"); !nats.empty()) {
        stores.push_back({"nats jetstream", nats, start_nats, load_nats});
    } else {
        missing.push_back(
            "nats jetstream: install nats-server 2.10 or newer (the one of Debian 12 cannot sync "
            "every write), or name it with --nats-server.");
    }
    return stores;
}

RelayInboundRow row_of(const Store& store, const Round& round) {
    std::vector<double> rates;
    std::vector<double> cpus;
    std::vector<std::int64_t> p50s;
    std::vector<std::int64_t> p99s;
    for (const Figures& figures : store.rounds) {
        rates.push_back(figures.per_second);
        cpus.push_back(figures.cpu_us);
        p50s.push_back(figures.p50_us);
        p99s.push_back(figures.p99_us);
    }
    RelayInboundRow row;
    row.store = store.name;
    row.instances = round.instances;
    row.in_flight = round.in_flight();
    row.per_second = row.spreads.note("per_second", rates);
    row.p50_us = row.spreads.note("p50_us", p50s);
    row.p99_us = row.spreads.note("p99_us", p99s);
    row.cpu_us = row.spreads.note("cpu_us", cpus, 1);
    return row;
}

// Ours to the better of the others, round by round.
std::vector<double> ratios_to_best(const std::vector<Store>& stores) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < stores.front().rounds.size(); ++round) {
        double best = 0;
        for (std::size_t i = 1; i < stores.size(); ++i) {
            if (round < stores[i].rounds.size()) {
                best = std::max(best, stores[i].rounds[round].per_second);
            }
        }
        if (best > 0) {
            ratios.push_back(stores.front().rounds[round].per_second / best);
        }
    }
    return ratios;
}

Result<void> measure_round(Round round, std::vector<Store>& stores, std::string_view suffix) {
    const std::string parent = round.folder;
    for (Store& store : stores) {
        round.folder = parent + "/" + store.name + "-" + std::string(suffix);
        std::ranges::replace(round.folder, ' ', '-');
        std::error_code error;
        std::filesystem::create_directories(round.folder, error);
        if (error) {
            return fail(errors::io_failed, "Cannot make " + round.folder + ".");
        }
        const auto figures = store.start == nullptr
                                 ? measure_ours(round)
                                 : measure_peer(round, store.program, store.start, store.load);
        if (!figures) {
            return fail(errors::unavailable, store.name + ": " + figures.error().message);
        }
        store.rounds.push_back(*figures);
        std::filesystem::remove_all(round.folder, error);
    }
    return {};
}

}  // namespace

Result<std::vector<RelayInboundRow>> run_relay_inbound(
    const RelayBenchOptions& options,
    const std::string& folder,
    std::vector<std::string>& missing) {
    std::vector<RelayInboundRow> rows;
    const std::vector<Store> chosen = stores_for(options, missing);
    for (const std::int64_t instances : options.instances) {
        TRY(raise_file_limit(instances + kSpareFiles));
        std::vector<Store> stores = chosen;
        const Round round{.options = options, .instances = instances, .folder = folder};
        for (int i = 0; i < options.rounds; ++i) {
            TRY(measure_round(round, stores, std::to_string(instances) + "-" + std::to_string(i)));
        }
        for (const Store& store : stores) {
            rows.push_back(row_of(store, round));
        }
        RelayInboundRow& ours = rows[rows.size() - stores.size()];
        ours.ratio = ours.spreads.note("ratio", ratios_to_best(stores), 3);
    }
    return rows;
}

}  // namespace interlock
