#include "bench/dos_drill.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include "base/errors.h"
#include "bench/disk_sync.h"
#include "bench/scratch_folder.h"
#include "bench/server_process.h"

namespace interlock {
namespace {

constexpr std::int64_t kHttpLimitUs = 50'000;
constexpr std::int64_t kStopLimitUs = 10'000;
// Enough that the store's log has started over once, as that of a server in service has: from then
// on a commit overwrites its log in place and waits for the disk alone, not for the file system.
constexpr int kCalmRounds = 225;
constexpr std::size_t kStopRecordBytes = std::size_t{20} * 1024;
constexpr std::chrono::milliseconds kDiskLook{2'000};
constexpr std::chrono::milliseconds kBetweenStops{10};
constexpr std::chrono::milliseconds kStopPatience{10'000};
constexpr std::chrono::seconds kCrowdPatience{60};
constexpr std::chrono::seconds kSettle{2};
constexpr std::int64_t kOtherFiles = 200;
constexpr std::string_view kTenant = "drill-dos";
constexpr std::string_view kNoise = "drill-noise";

std::string post(const std::string& path, const std::string& headers, std::size_t length) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(length) +
           "\r\n\r\n";
}

// Half of them have a key of another tenant and write; the others are nobody and read.
std::string busy_request(const std::string& key, std::size_t caller, std::uint64_t sequence) {
    if (caller % 2 == 0) {
        return "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    }
    const std::string no = std::to_string(caller) + "_" + std::to_string(sequence);
    const std::string body = R"({"decision_id":"d)" + no + R"(","tick_id":"t)" + no +
                             R"(","idempotency_key":"busy_)" + no + "\"}";
    return post("/api/drill-noise/probes", "X-Access-Key: " + key + "\r\n", body.size()) + body;
}

std::string login_request(std::size_t caller, std::uint64_t sequence) {
    const std::string who = caller % 2 == 0 ? "drill@example.org"
                                            : "nobody" + std::to_string(sequence) + "@example.org";
    const std::string body = R"({"email":")" + who + R"(","password":"wrong password of mine"})";
    return post("/account/login", "", body.size()) + body;
}

// Junk for the place of an upload, a login that is a megabyte long, a good key with a long body.
std::string upload_request(const std::string& key, std::size_t caller) {
    constexpr std::size_t kUpload = 25 * 1024 * 1024;
    constexpr std::size_t kLong = 1024 * 1024;
    switch (caller % 3) {
        case 0:
            return post("/relay/media", "Authorization: Bearer junk\r\n", kUpload) +
                   std::string(kLong, 'x');
        case 1:
            return post("/account/login", "", kLong) + std::string(kLong, 'x');
        default:
            return post("/api/drill-noise/probes", "X-Access-Key: " + key + "\r\n", kLong) +
                   std::string(kLong, 'x');
    }
}

// As many files as it takes; what there are not is taken off the crowds.
std::string fit_to_files(DosDrillOptions& options) {
    const auto wanted = [&] {
        return static_cast<std::int64_t>(options.silent) + options.busy + options.logins +
               options.uploads + kOtherFiles;
    };
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return {};
    }
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const std::int64_t files =
        limit.rlim_cur == RLIM_INFINITY ? wanted() : static_cast<std::int64_t>(limit.rlim_cur);
    if (wanted() <= files) {
        return {};
    }
    const int silent_wanted = options.silent;
    options.silent =
        static_cast<int>(std::max<std::int64_t>(0, options.silent - (wanted() - files)));
    return fmt::format(
        "Only {} of {} silent connections: this process may open {} files (ulimit -Hn).",
        options.silent,
        silent_wanted,
        files);
}

// One way to stop, with a connection of its own if it is kept.
struct StopPath {
    std::string name;
    HttpTarget target;
    bool is_kept = false;
    std::int64_t limit_us = 0;
    std::unique_ptr<HttpClient> client = nullptr;

    // Microseconds; nothing when it failed.
    std::optional<std::int64_t> pull(const std::string& key) {
        const auto begin = std::chrono::steady_clock::now();
        if (!is_kept || !client) {
            client = HttpClient::create(target);
        }
        const auto answer = call_json(
            *client,
            {.path = "/api/" + std::string(kTenant) + "/kill",
             .body = Json::object({{"active", true}, {"reason", "a drill"}}),
             .credential = key});
        const auto took = std::chrono::steady_clock::now() - begin;
        const Json* active = answer ? answer->find("active") : nullptr;
        if (active == nullptr || *active != Json(true) || took > kStopPatience) {
            client.reset();
            return std::nullopt;
        }
        return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    }
};

struct Sample {
    std::vector<std::int64_t> took_us;
    int failed = 0;
};

// The paths take turns, so that each sees the same attack.
std::vector<Sample> pull_all(std::vector<StopPath>& paths, const std::string& key, int rounds) {
    std::vector<Sample> samples(paths.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < paths.size(); ++i) {
            if (const auto took = paths[i].pull(key)) {
                samples[i].took_us.push_back(*took);
            } else {
                ++samples[i].failed;
            }
            std::this_thread::sleep_for(kBetweenStops);
        }
    }
    return samples;
}

Result<LatencySummary> sync_disk(const ScratchFolder& folder) {
    TRY_ASSIGN(
        const DiskSyncReport report,
        measure_disk_sync(
            {.path = folder.path() + "/sync",
             .append_bytes = kStopRecordBytes,
             .duration = kDiskLook}));
    return report.latency;
}

Result<std::vector<std::unique_ptr<Crowd>>> gather(
    const DosDrillOptions& options, std::uint16_t port, const std::string& key) {
    const auto count = [](int n) { return static_cast<std::size_t>(n); };
    std::vector<CrowdPlan> plans{
        {.name = "silent", .port = port, .connections = count(options.silent), .network = 1},
        {.name = "busy",
         .port = port,
         .connections = count(options.busy),
         .network = 2,
         .request =
             [key](auto caller, auto sequence) { return busy_request(key, caller, sequence); }},
        {.name = "logins",
         .port = port,
         .connections = count(options.logins),
         .network = 3,
         .request = login_request},
        {.name = "uploads",
         .port = port,
         .connections = count(options.uploads),
         .network = 4,
         .request = [key](auto caller, auto) { return upload_request(key, caller); },
         .drip_bytes = 16 * 1024}};
    std::vector<std::unique_ptr<Crowd>> crowds;
    for (CrowdPlan& plan : plans) {
        if (plan.connections > 0) {
            TRY_ASSIGN(auto crowd, Crowd::start(std::move(plan)));
            crowds.push_back(std::move(crowd));
        }
    }
    return crowds;
}

// Until all of the silent have knocked; the server keeps only some of them.
void wait_for_crowd(const DosDrillOptions& options) {
    const auto knocking =
        std::chrono::milliseconds(1000 * options.silent / 2'000) + std::chrono::seconds(1);
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(knocking, kCrowdPatience));
    std::this_thread::sleep_for(kSettle);
}

Json encode_latency(const LatencySummary& latency) {
    return Json::object(
        {{"p50_us", latency.p50_us}, {"p99_us", latency.p99_us}, {"max_us", latency.max_us}});
}

}  // namespace

bool DosDrillReport::is_good() const {
    return std::ranges::all_of(paths, &DosPathReport::is_good);
}

Result<DosDrillReport> run_dos_drill(
    DosDrillOptions options, const std::function<void(const std::string&)>& on_progress) {
    DosDrillReport report;
    report.scaled_down = fit_to_files(options);
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    TRY_ASSIGN(
        ServerProcess server,
        ServerProcess::start(
            {.program = options.program, .folder = folder.path(), .sink = {}, .config = ""}));
    TRY_ASSIGN(const HttpTarget stop_target, server.stop_target());
    for (const std::string_view tenant : {kTenant, kNoise}) {
        TRY(server.create_tenant(std::string(tenant)));
    }
    TRY_ASSIGN(const std::string key, server.create_access_key(std::string(kTenant)));
    TRY_ASSIGN(const std::string noise_key, server.create_access_key(std::string(kNoise)));
    TRY(server.create_human(std::string(kTenant), "drill@example.org"));

    std::vector<StopPath> paths;
    paths.push_back({"http, new", server.target(), false, kHttpLimitUs});
    paths.push_back({"http, kept", server.target(), true, kHttpLimitUs});
    paths.push_back({"stop, new", stop_target, false, kStopLimitUs});
    paths.push_back({"stop, kept", stop_target, true, kStopLimitUs});
    on_progress("stopping a server that nobody disturbs");
    const std::vector<Sample> calm = pull_all(paths, key, kCalmRounds);
    TRY_ASSIGN(report.disk_calm, sync_disk(folder));
    on_progress("gathering the crowds");
    TRY_ASSIGN(auto crowds, gather(options, server.port(), noise_key));
    wait_for_crowd(options);
    on_progress("stopping it again and again");
    const std::vector<Sample> attacked = pull_all(paths, key, options.rounds);
    TRY_ASSIGN(report.disk_attacked, sync_disk(folder));
    TRY_ASSIGN(report.resident_bytes, read_resident_bytes(server.pid()));
    for (const auto& crowd : crowds) {
        report.crowds.push_back(crowd->finish());
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        report.paths.push_back({
            .path = paths[i].name,
            .limit_us = paths[i].limit_us,
            .stops = options.rounds,
            .failed = attacked[i].failed + calm[i].failed,
            .calm = summarize(calm[i].took_us),
            .attacked = summarize(attacked[i].took_us),
        });
    }
    paths.clear();
    server.stop();
    return report;
}

Json encode(const DosDrillReport& report) {
    Json paths = Json::array();
    for (const DosPathReport& one : report.paths) {
        paths.push(Json::object(
            {{"path", one.path},
             {"limit_us", one.limit_us},
             {"stops", one.stops},
             {"failed", one.failed},
             {"calm", encode_latency(one.calm)},
             {"attacked", encode_latency(one.attacked)},
             {"good", one.is_good()}}));
    }
    Json crowds = Json::array();
    for (const CrowdReport& one : report.crowds) {
        crowds.push(Json::object(
            {{"crowd", one.name},
             {"opened", static_cast<std::int64_t>(one.opened)},
             {"connected_most", static_cast<std::int64_t>(one.connected_most)},
             {"closed_on", static_cast<std::int64_t>(one.closed_on)},
             {"served", static_cast<std::int64_t>(one.served)},
             {"refused", static_cast<std::int64_t>(one.refused)}}));
    }
    return Json::object(
        {{"paths", std::move(paths)},
         {"disk",
          Json::object(
              {{"calm", encode_latency(report.disk_calm)},
               {"attacked", encode_latency(report.disk_attacked)}})},
         {"crowds", std::move(crowds)},
         {"resident_bytes", report.resident_bytes},
         {"scaled_down", report.scaled_down},
         {"good", report.is_good()}});
}

std::string to_table(const DosDrillReport& report) {
    std::string text = fmt::format(
        "{:<12}{:>8}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n",
        "stop (us)",
        "stops",
        "failed",
        "calm p50",
        "calm p99",
        "p50",
        "p99",
        "max",
        "p99 below");
    for (const DosPathReport& one : report.paths) {
        text += fmt::format(
            "{:<12}{:>8}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{}\n",
            one.path,
            one.stops,
            one.failed,
            one.calm.p50_us,
            one.calm.p99_us,
            one.attacked.p50_us,
            one.attacked.p99_us,
            one.attacked.max_us,
            one.limit_us,
            one.is_good() ? "" : "  NOT REACHED");
    }
    text += fmt::format(
        "{:<12}{:>8}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}\n",
        "disk alone",
        "",
        "",
        report.disk_calm.p50_us,
        report.disk_calm.p99_us,
        report.disk_attacked.p50_us,
        report.disk_attacked.p99_us,
        report.disk_attacked.max_us);
    text += fmt::format(
        "\n{:<12}{:>12}{:>16}{:>16}{:>12}{:>12}\n",
        "crowd",
        "opened",
        "most at once",
        "closed on them",
        "served",
        "refused");
    for (const CrowdReport& one : report.crowds) {
        text += fmt::format(
            "{:<12}{:>12}{:>16}{:>16}{:>12}{:>12}\n",
            one.name,
            one.opened,
            one.connected_most,
            one.closed_on,
            one.served,
            one.refused);
    }
    text += fmt::format("\nThe server held {} MiB.\n", report.resident_bytes / (1024 * 1024));
    text += report.scaled_down.empty() ? "" : report.scaled_down + "\n";
    text += report.is_good() ? "The stop was not crowded out.\n"
                             : "The stop took longer than it may.\n";
    return text;
}

}  // namespace interlock
