#include "bench/http_turns.h"

#include <signal.h>
#include <sys/resource.h>

#include <cstdio>

#include "base/errors.h"
#include "engine/system/random_id_source.h"
#include "net/http_server.h"

namespace interlock {
namespace {

Duration cpu_of_this_process() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
    return {of(used.ru_utime) + of(used.ru_stime)};
}

// The bytes of one request. Keys are as unordered as real ones.
class RequestText {
public:
    RequestText(TurnKind kind, std::uint16_t port, const std::string& access_key)
        : head_(
              "POST /api/" + std::string(kBenchTenant) + std::string(path_of(kind)) +
              " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nX-Access-Key: " +
              access_key + "\r\nContent-Type: application/json\r\nContent-Length: "),
          requests_(kind, ids_) {}

    std::string next() {
        const std::string body = requests_.next();
        return head_ + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

private:
    std::string head_;
    RandomIdSource ids_;
    BenchRequests requests_;
};

struct LoadedServer {
    std::uint16_t port = 0;
    std::string access_key;
    bool is_ours = true;  // Else the bare one, which answers a constant.
};

Result<LoadReport> load(
    const HttpTurnsOptions& options, const LoadedServer& server, std::int64_t& answer_bytes) {
    RequestText text(options.kind, server.port, server.access_key);
    std::int64_t strange = 0;
    LoadConfig config;
    config.target.port = server.port;
    config.connections = static_cast<std::size_t>(options.callers);
    config.duration = options.duration_max;
    config.requests_max = options.turns;
    config.request = [&text](std::size_t, std::uint64_t) { return text.next(); };
    config.on_response = [&](const LoadResponse& response) {
        strange += server.is_ours && !is_as_meant(options.kind, response.body) ? 1 : 0;
        answer_bytes = std::ssize(response.body);
    };
    TRY_ASSIGN(LoadReport report, run_load(config));
    for (const auto& [status, count] : report.statuses) {
        if (status != 200) {
            return fail(
                errors::unavailable,
                std::to_string(count) + " requests were answered " + std::to_string(status) + ".");
        }
    }
    if (strange > 0) {
        return fail(
            errors::unavailable, std::to_string(strange) + " answers were not as expected.");
    }
    if (report.lost > 0) {
        return fail(errors::unavailable, std::to_string(report.lost) + " requests were lost.");
    }
    return report;
}

}  // namespace

Result<HttpTurnsReport> run_http_turns(const HttpTurnsOptions& options) {
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start({.program = options.program, .folder = options.folder, .sink = {}}));
    std::string access_key = options.access_key;
    if (access_key.empty()) {
        TRY(server.create_tenant(std::string(kBenchTenant)));
        TRY_ASSIGN(access_key, server.create_access_key(std::string(kBenchTenant)));
    }
    if (options.beforehand) {
        TRY(options.beforehand(server, access_key));
    }
    const auto metrics = [&server]() -> Result<std::array<double, 3>> {
        TRY_ASSIGN(const double turns, server.read_metric("interlock_commit_batch_turns_sum"));
        TRY_ASSIGN(const double commits, server.read_metric("interlock_commit_batch_turns_count"));
        TRY_ASSIGN(const double seconds, server.read_metric("interlock_commit_seconds_sum"));
        return std::array{turns, commits, seconds};
    };
    TRY_ASSIGN(const auto before, metrics());
    TRY_ASSIGN(const ProcessCpu cpu_before, read_process_cpu(server.pid()));
    const Duration own_before = cpu_of_this_process();
    HttpTurnsReport report;
    TRY_ASSIGN(report.load, load(options, {server.port(), access_key, true}, report.answer_bytes));
    report.load_cpu = {cpu_of_this_process().microseconds - own_before.microseconds};
    TRY_ASSIGN(const ProcessCpu cpu_after, read_process_cpu(server.pid()));
    TRY_ASSIGN(const auto after, metrics());
    report.server_cpu = {cpu_after.total.microseconds - cpu_before.total.microseconds};
    report.engine_cpu = busiest_thread(cpu_before, cpu_after);
    report.mean_batch = (after[0] - before[0]) / std::max(1.0, after[1] - before[1]);
    report.access_key = access_key;
    report.in_commit = {static_cast<std::int64_t>((after[2] - before[2]) * 1e6)};
    if (options.afterwards) {
        TRY(options.afterwards(server, access_key));
    }
    if (options.is_killed) {
        server.process().send_signal(SIGKILL);
        (void)server.process().wait();
        return report;
    }
    if (const int code = server.stop(); code != 0) {
        return fail(
            errors::unavailable, "The server ended with exit code " + std::to_string(code) + ".");
    }
    return report;
}

Result<LoadReport> run_bare_http(const HttpTurnsOptions& options, std::int64_t answer_bytes) {
    MeasuredProcess::Options child;
    child.command = {
        options.program, "bench", "bare-http", "--answer-bytes", std::to_string(answer_bytes)};
    child.log_path = options.folder + "/bare.log";
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    TRY_ASSIGN(const std::string line, process.read_line(kServerPatience));
    const auto port = static_cast<std::uint16_t>(
        std::strtoul(line.substr(line.rfind(':') + 1).c_str(), nullptr, 10));
    // A key of the usual length, so that both servers read requests of the same size.
    const std::string access_key = "ilk_" + std::string(52, 'a');
    TRY_ASSIGN(LoadReport report, load(options, {port, access_key, false}, answer_bytes));
    process.send_signal(SIGTERM);
    process.wait();
    return report;
}

Result<void> serve_bare_http(std::int64_t answer_bytes) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const std::string body(static_cast<std::size_t>(answer_bytes), 'x');
    TRY_ASSIGN(
        const auto server,
        HttpServer::open({}, [&body](const HttpRequest&, const HttpResponderPtr& responder) {
            responder->send(text_response(200, "application/json", body));
        }));
    server->start();
    std::printf("ready http://127.0.0.1:%d\n", int{server->port()});
    std::fflush(stdout);
    int received = 0;
    ::sigwait(&signals, &received);
    server->stop(std::chrono::seconds(1));
    return {};
}

}  // namespace interlock
