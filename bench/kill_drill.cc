#include "bench/kill_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/errors.h"
#include "bench/kill_paths.h"
#include "bench/scratch_folder.h"
#include "bench/sink_process.h"
#include "net/load_client.h"

namespace interlock {
namespace {

// Effects that must have arrived before the switch is pulled: the server is busy then.
constexpr std::int64_t kBusyEffects = 50;
// Probes that are tried after the record; each takes a whole turn.
constexpr int kProbesAfter = 30;
constexpr std::chrono::seconds kLoadMax{120};

Json probe_of(const std::string& key) {
    return Json::object(
        {{"decision_id", "dec_" + key},
         {"tick_id", "tick_" + key},
         {"idempotency_key", "idem_" + key},
         {"effect", true},
         {"wait", true}});
}

// Agents that keep one tenant busy from construction to finish().
class BusyAgents {
public:
    BusyAgents(const ServerProcess& server, const KillTarget& target, int agents) {
        config_.target = server.target();
        config_.connections = static_cast<std::size_t>(agents);
        config_.duration = kLoadMax;
        config_.stop = stop_.get_token();
        config_.request = [head = "POST /api/" + target.tenant_id +
                                  "/probes HTTP/1.1\r\nHost: localhost\r\nX-Access-Key: " +
                                  target.access_key +
                                  "\r\nContent-Type: application/json\r\nContent-Length: "](
                              std::size_t connection, std::uint64_t sequence) {
            const std::string no = std::to_string(connection) + "_" + std::to_string(sequence);
            const std::string body = "{\"decision_id\":\"dec_" + no + "\",\"tick_id\":\"t_" + no +
                                     "\",\"idempotency_key\":\"load_" + no + "\",\"effect\":true}";
            return head + std::to_string(body.size()) + "\r\n\r\n" + body;
        };
        thread_ = std::thread([this] { report_ = run_load(config_); });
    }
    ~BusyAgents() { (void)finish(); }
    BusyAgents(const BusyAgents&) = delete;
    BusyAgents& operator=(const BusyAgents&) = delete;

    Result<void> finish() {
        if (thread_.joinable()) {
            stop_.request_stop();
            thread_.join();
        }
        if (!report_) {
            return std::unexpected(report_.error());
        }
        return {};
    }

private:
    LoadConfig config_;
    std::stop_source stop_;
    Result<LoadReport> report_ = LoadReport{};
    std::thread thread_;
};

class Drill {
public:
    Drill(const KillDrillOptions& options, ServerProcess& server, std::string journal_path)
        : options_(options), server_(server), journal_(std::move(journal_path)) {}

    Result<KillPathReport> run(KillPath& path) {
        KillPathReport report;
        report.path = path.name();
        report.rounds = options_.rounds;
        std::vector<std::int64_t> stopped_us;
        std::vector<std::int64_t> recorded_us;
        for (int round = 1; round <= options_.rounds; ++round) {
            TRY_ASSIGN(const Round one, run_round(path, round));
            stopped_us.push_back(
                std::max<std::int64_t>(0, one.last_arrival_us - one.times.called_us));
            recorded_us.push_back(one.times.recorded_us - one.times.called_us);
            report.effects_before += one.effects_before;
        }
        report.stopped = summarize(std::move(stopped_us));
        report.recorded = summarize(std::move(recorded_us));
        return report;
    }

    // After everything: whatever arrived for a tenant after its record.
    Result<void> count_late(std::vector<KillPathReport>& reports) {
        TRY(look());
        for (const auto& [tenant_id, pulled] : pulled_) {
            for (const std::int64_t at : arrivals_[tenant_id]) {
                if (at <= pulled.recorded_us) {
                    continue;
                }
                for (KillPathReport& report : reports) {
                    if (report.path == pulled.path) {
                        ++report.effects_after;
                        report.latest_after_us =
                            std::max(report.latest_after_us, at - pulled.recorded_us);
                    }
                }
            }
        }
        return {};
    }

private:
    struct Round {
        KillTimes times;
        std::int64_t last_arrival_us = 0;
        std::int64_t effects_before = 0;
    };
    struct Pulled {
        std::string path;
        std::int64_t recorded_us = 0;
    };

    Result<Round> run_round(KillPath& path, int number) {
        KillTarget target;
        target.tenant_id = "drill-" + path.name() + "-" + std::to_string(number);
        target.reason = "drill " + path.name() + " " + std::to_string(number);
        TRY(server_.create_tenant(target.tenant_id));
        TRY_ASSIGN(target.access_key, server_.create_access_key(target.tenant_id));
        TRY(path.prepare(target));
        BusyAgents agents(server_, target, options_.agents);
        const auto client = HttpClient::create(server_.target());
        Round round;
        TRY(wait_until_busy(*client, target));
        TRY_ASSIGN(round.times, path.pull(target));
        TRY(probe(*client, target, "after", kProbesAfter));
        TRY(agents.finish());
        TRY(look());
        pulled_[target.tenant_id] = {path.name(), round.times.recorded_us};
        const std::vector<std::int64_t>& arrivals = arrivals_[target.tenant_id];
        round.last_arrival_us = *std::max_element(arrivals.begin(), arrivals.end());
        round.effects_before = std::count_if(
            arrivals.begin(), arrivals.end(), [&](auto at) { return at <= round.times.called_us; });
        TRY(path.undo());
        return round;
    }

    Result<void> wait_until_busy(HttpClient& client, const KillTarget& target) {
        const auto deadline = std::chrono::steady_clock::now() + kServerPatience;
        for (int turn = 0; std::ssize(arrivals_[target.tenant_id]) < kBusyEffects; ++turn) {
            if (std::chrono::steady_clock::now() > deadline) {
                return fail(errors::timed_out, "Effects do not arrive at the sink.");
            }
            TRY(probe(client, target, "before" + std::to_string(turn), 1));
            TRY(look());
        }
        return {};
    }

    // Each waits for its effect, and so for the outbox behind the others.
    Result<void> probe(
        HttpClient& client, const KillTarget& target, const std::string& word, int count) {
        for (int i = 0; i < count; ++i) {
            TRY(call_json(
                client,
                {.path = "/api/" + target.tenant_id + "/probes",
                 .body = probe_of(word + "_" + std::to_string(i)),
                 .credential = target.access_key}));
        }
        return {};
    }

    // Takes in what has arrived since.
    Result<void> look() {
        TRY_ASSIGN(const auto news, journal_.read_new());
        for (const SinkArrival& arrival : news) {
            // Cancels are what the switch sends by itself.
            if (arrival.event == "performed" && arrival.kind == "probe") {
                arrivals_[arrival.tenant_id].push_back(arrival.monotonic_us);
            }
        }
        return {};
    }

    const KillDrillOptions& options_;
    ServerProcess& server_;
    SinkJournalReader journal_;
    std::map<std::string, std::vector<std::int64_t>> arrivals_;  // By tenant.
    std::map<std::string, Pulled> pulled_;
};

Result<std::unique_ptr<KillPath>> make_path(
    const std::string& name, ServerProcess& server, const KillDrillOptions& options) {
    if (name == "http") {
        return make_http_path(server);
    }
    if (name == "mcp") {
        return make_mcp_path(server);
    }
    if (name == "cli") {
        return make_cli_path(server, options.program);
    }
    if (name == "file") {
        return make_file_path(server);
    }
    return fail(errors::invalid_request, "There is no path called " + name + ".");
}

}  // namespace

Result<std::vector<KillPathReport>> run_kill_drill(
    const KillDrillOptions& options, const std::function<void(const std::string&)>& on_progress) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    TRY_ASSIGN(const SinkProcess sink, SinkProcess::start(options.program, folder.path()));
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start(
            {.program = options.program, .folder = folder.path(), .sink = sink.socket_path}));
    Drill drill(options, server, sink.journal_path);
    std::vector<KillPathReport> reports;
    for (const std::string& name : options.paths) {
        on_progress("pulling the switch by " + name);
        TRY_ASSIGN(const auto path, make_path(name, server, options));
        TRY_ASSIGN(KillPathReport report, drill.run(*path));
        reports.push_back(std::move(report));
    }
    server.stop();
    TRY(drill.count_late(reports));
    return reports;
}

Json encode(const KillPathReport& report) {
    return Json::object({
        {"path", report.path},
        {"rounds", report.rounds},
        {"stopped_p50_us", report.stopped.p50_us},
        {"stopped_p99_us", report.stopped.p99_us},
        {"stopped_max_us", report.stopped.max_us},
        {"recorded_p50_us", report.recorded.p50_us},
        {"recorded_p99_us", report.recorded.p99_us},
        {"recorded_max_us", report.recorded.max_us},
        {"effects_before", report.effects_before},
        {"effects_after", report.effects_after},
        {"latest_after_us", report.latest_after_us},
    });
}

std::string to_table(const std::vector<KillPathReport>& reports) {
    std::string text = fmt::format(
        "{:<6}{:>8}{:>34}{:>34}{:>16}\n{:<14}{:>12}{:>11}{:>11}{:>12}{:>11}{:>11}{:>16}\n",
        "path",
        "rounds",
        "last effect arrived (us)",
        "record durable (us)",
        "effects after",
        "",
        "p50",
        "p99",
        "max",
        "p50",
        "p99",
        "max",
        "the record");
    for (const KillPathReport& report : reports) {
        text += fmt::format(
            "{:<6}{:>8}{:>12}{:>11}{:>11}{:>12}{:>11}{:>11}{:>16}\n",
            report.path,
            report.rounds,
            report.stopped.p50_us,
            report.stopped.p99_us,
            report.stopped.max_us,
            report.recorded.p50_us,
            report.recorded.p99_us,
            report.recorded.max_us,
            report.effects_after);
    }
    return text;
}

}  // namespace interlock
