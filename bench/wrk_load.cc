#include "bench/wrk_load.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "bench/server_process.h"

namespace interlock {
namespace {

constexpr std::string_view kMark = "interlock";
constexpr std::chrono::milliseconds kPatience{20'000};  // Beyond the time it was given.

// wrk's own table is for people; this is the same in one line.
constexpr std::string_view kDone = R"(
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("interlock %d %d %d %d %d %d\n", summary.duration, summary.requests,
    e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
)";

// Threads of wrk have an interpreter each; the address of a table tells them apart.
constexpr std::string_view kPost = R"(
local sent = 0
local mine = tostring({{}}):gsub("[^0-9a-f]", "")
request = function()
  sent = sent + 1
  local body = string.gsub([[{}]], "{{n}}", mine .. "_" .. sent)
  return wrk.format("POST", nil, nil, body)
end
)";

Result<void> write_script(const std::string& path, const WrkLoad& load) {
    std::ofstream file(path);
    if (!load.body.empty()) {
        file << fmt::format(kPost, load.body);
    }
    file << kDone;
    file.close();
    if (!file) {
        return fail(errors::io_failed, "Cannot write " + path + ".");
    }
    return {};
}

}  // namespace

Result<WrkRun> WrkRun::start(const WrkLoad& load, const std::string& folder) {
    TRY_ASSIGN(const std::string wrk, find_program("wrk", "wrk"));
    const std::string script = folder + "/load.lua";
    TRY(write_script(script, load));
    MeasuredProcess::Options child;
    child.command = {
        wrk,
        fmt::format("-t{}", load.threads),
        fmt::format("-c{}", load.connections),
        fmt::format("-d{}s", load.seconds),
        "-s",
        script};
    if (!load.access_key.empty()) {
        child.command.insert(child.command.end(), {"-H", "X-Access-Key: " + load.access_key});
    }
    if (!load.body.empty()) {
        child.command.insert(child.command.end(), {"-H", "Content-Type: application/json"});
    }
    child.command.push_back(fmt::format("http://127.0.0.1:{}{}", load.port, load.path));
    child.log_path = folder + "/wrk.log";
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    return WrkRun(std::move(process), load.seconds);
}

Result<WrkReport> WrkRun::finish() {
    const auto patience = std::chrono::seconds(seconds_) + kPatience;
    while (true) {
        TRY_ASSIGN(const std::string line, process_.read_line(patience));
        if (line.starts_with(kMark)) {
            process_.wait();
            return parse_wrk_line(line);
        }
    }
}

Result<WrkReport> run_wrk(const WrkLoad& load, const std::string& folder) {
    TRY_ASSIGN(WrkRun run, WrkRun::start(load, folder));
    return run.finish();
}

Result<WrkReport> parse_wrk_line(const std::string& line) {
    std::istringstream in(line);
    std::string mark;
    std::int64_t took_us = 0;
    WrkReport report;
    in >> mark >> took_us >> report.answers >> report.refused >> report.broken >> report.p50_us >>
        report.p99_us;
    if (!in || mark != kMark || took_us <= 0) {
        return fail(errors::unavailable, "wrk said \"" + line + "\", which is not a result.");
    }
    report.per_second = static_cast<double>(report.answers) * 1e6 / static_cast<double>(took_us);
    return report;
}

}  // namespace interlock
