#include "app/command/doctor_checks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/command/console.h"
#include "app/wiring/data_path.h"
#include "app/wiring/exposure.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/server_client.h"
#include "app/wiring/stop_listener.h"
#include "app/wiring/witness_setup.h"
#include "engine/sink/recording_sink.h"
#include "engine/system/data_folder.h"
#include "engine/system/durable_file.h"
#include "engine/system/file_kill_flag.h"
#include "host/service/ledger_service.h"
#include "market/rules/synthetic_market.h"
#include "net/client_socket.h"
#include "net/tls_check.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kServerWait{2'000};
constexpr std::chrono::milliseconds kSinkWait{2'000};
constexpr std::size_t kSyncs = 20;
constexpr std::size_t kSyncBytes = 4096;
constexpr Duration kSlowSync = Duration::of_milliseconds(20);
constexpr std::uint64_t kMegabyte = 1024ull * 1024;
constexpr std::uint64_t kSpaceBad = 100 * kMegabyte;
constexpr std::uint64_t kSpaceLow = 1024 * kMegabyte;
constexpr Duration kExpirySoon = Duration::of_days(14);
constexpr Timestamp kClockEarliest{1'735'689'600'000'000};  // 2025-01-01.
constexpr Timestamp kClockLatest{4'102'444'800'000'000};    // 2100-01-01.
constexpr mode_t kOthersMask = 077;

DoctorFinding good(std::string name, std::string detail) {
    return {std::move(name), Health::good, std::move(detail), {}};
}
DoctorFinding note(std::string name, std::string detail, std::string next_step) {
    return {std::move(name), Health::note, std::move(detail), std::move(next_step)};
}
DoctorFinding bad(std::string name, std::string detail, std::string next_step) {
    return {std::move(name), Health::bad, std::move(detail), std::move(next_step)};
}
DoctorFinding bad(std::string name, const Error& error) {
    return bad(std::move(name), error.message, std::string(error.next()));
}

bool exists(const std::string& path) {
    struct stat found;
    return lstat(path.c_str(), &found) == 0;
}

DoctorFinding check_private(
    const std::string& name, const std::string& path, const std::string& mode) {
    struct stat found;
    if (stat(path.c_str(), &found) != 0) {
        return bad(name, path + " is missing", "Restore it from a backup.");
    }
    if (found.st_uid != geteuid()) {
        return bad(name, path + " belongs to another user", "Run as the user of the server.");
    }
    if ((found.st_mode & kOthersMask) != 0) {
        return bad(name, "other users may touch " + path, "Run: chmod " + mode + " " + path);
    }
    return good(name, path);
}

// Whether a server holds the folder: its lock cannot be shared then.
bool is_locked(const std::string& data_folder) {
    const FileDescriptor lock(open(lock_path(data_folder).c_str(), O_RDONLY | O_CLOEXEC));
    return lock.is_open() && flock(lock.get(), LOCK_SH | LOCK_NB) != 0;
}

std::string milliseconds_text(Duration span) {
    const std::int64_t hundredths = span.microseconds / 10;
    const std::string fraction = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + "." + (fraction.size() == 1 ? "0" : "") + fraction +
           " ms";
}

}  // namespace

std::vector<DoctorFinding> check_data_folder(const std::string& data_folder) {
    if (!exists(data_folder)) {
        return {note(
            "data folder",
            data_folder + " does not exist yet",
            "It is made by the first `interlock serve`.")};
    }
    std::vector<DoctorFinding> findings{check_private("data folder", data_folder, "700")};
    if (!exists(database_path(data_folder))) {
        findings.push_back(
            note("keys", "no server has used this folder yet", "Start `interlock serve` once."));
        return findings;
    }
    for (const char* name : {"ledger.key", "operator.token"}) {
        findings.push_back(check_private(name, data_folder + "/" + name, "600"));
    }
    const auto key = read_sealing_key(data_folder);
    const auto published = read_ledger_public_key(data_folder);
    if (!published) {
        findings.push_back(bad("ledger.pub", published.error()));
    } else if (!key) {
        findings.push_back(bad("sealing key", key.error()));
    } else if (key->epoch == 0 && key->pair.public_key != *published) {
        findings.push_back(
            bad("ledger.pub",
                "it is not the public half of ledger.key",
                "Restore both from one backup."));
    } else {
        findings.push_back(
            good("sealing key", "number " + std::to_string(key->epoch) + " since ledger.pub"));
    }
    return findings;
}

std::vector<DoctorFinding> check_server(const std::string& data_folder) {
    ServerClient server(data_folder, kServerWait);
    const bool locked = is_locked(data_folder);
    const auto health = server.get("/healthz");
    if (!health && locked) {
        return {
            bad("server",
                "a process holds the data folder but does not answer: " + health.error().message,
                "Look at its log; `interlock kill on --global` stops trading even so.")};
    }
    if (!health) {
        return {note("server", "none is running", "Start one with `interlock serve`.")};
    }
    const auto ready = server.get("/readyz");
    if (!ready || !ready->ok()) {
        const Json* const error = ready ? ready->body.find("error") : nullptr;
        return {
            bad("server",
                "it answers but is not ready: " +
                    (error == nullptr ? "it gives no reason" : text_at(*error, "message")),
                "Look at its log for server_trouble or a failed store.")};
    }
    return {good("server", "ready, version " + text_at(health->body, "version"))};
}

namespace {

// Breaks that are on record and that nobody has accepted: the walk goes on behind them, so it finds
// nothing.
Result<std::vector<DoctorFinding>> find_open_breaks(const std::string& data_folder) {
    TRY_ASSIGN(const auto store, open_ledger(data_folder, LedgerView::live));
    TRY_ASSIGN(const auto rows, store->load_states(std::string(kBreakPrefix)));
    std::vector<DoctorFinding> findings;
    for (const auto& [key, stored] : rows) {
        const std::string tenant = key.substr(kBreakPrefix.size());
        const auto json = parse_json(stored.json);
        const auto state =
            json ? decode_break_state(*json) : Result<BreakState>(std::unexpected(json.error()));
        if (state && !state->accepted_by.empty()) {
            continue;
        }
        const bool is_host = tenant == system_tenant().text();
        findings.push_back(
            bad("chains",
                "chain of " + tenant +
                    " broken: " + (state ? describe(*state) : "its row cannot be read") +
                    (is_host ? "; everybody is stopped" : "; its tenant is stopped"),
                "Look at `interlock audit verify`; with the server running a human accepts it "
                "(`interlock audit accept-break --tenant " +
                    tenant + "`), then asks for the release (`interlock kill off " +
                    (is_host ? "--global" : "--tenant " + tenant) + "`)."));
    }
    return findings;
}

}  // namespace

std::vector<DoctorFinding> check_ledger_files(const std::string& data_folder) {
    if (!exists(database_path(data_folder))) {
        return {};
    }
    FolderCheck check;
    check.data_folder = data_folder;
    check.from_last_seal = true;
    const auto report = verify_folder(check);
    if (!report) {
        return {bad("ledger", report.error())};
    }
    std::vector<DoctorFinding> findings;
    findings.push_back(
        report->damage.empty()
            ? good("database", "its structure is sound")
            : bad("database", report->damage, "Stop the server and restore from a backup."));
    if (const ChainReport* broken = report->first_broken(); broken != nullptr && broken->fault) {
        findings.push_back(
            bad("chains",
                broken->tenant_id.text() + " is broken at record " +
                    std::to_string(broken->fault->seq) + ": " + std::string(broken->fault->reason),
                "Keep a copy of the folder and run `interlock audit verify`."));
    }
    const auto breaks = find_open_breaks(data_folder);
    if (!breaks) {
        findings.push_back(bad("chains", breaks.error()));
    } else if (!breaks->empty()) {
        findings.insert(findings.end(), breaks->begin(), breaks->end());
    } else if (findings.back().name != "chains") {
        findings.push_back(good(
            "chains",
            count_text(static_cast<std::int64_t>(report->chains.size()), "chain") + " verified, " +
                count_text(report->records(), "record") + " since the last checkpoints"));
    }
    return findings;
}

DoctorFinding check_clock(Clock& clock) {
    const Timestamp now = clock.now();
    const Duration before = clock.monotonic();
    const Duration after = clock.monotonic();
    if (now < kClockEarliest || now > kClockLatest) {
        return bad("clock", "it says " + to_text(now), "Set the clock; expiries depend on it.");
    }
    if (after < before) {
        return bad("clock", "the monotonic clock goes backwards", "Do not run on this machine.");
    }
    return good("clock", to_text(now));
}

DoctorFinding check_sync(const std::string& data_folder, Clock& clock) {
    std::string name = data_folder + "/doctor.XXXXXX";
    const FileDescriptor file(mkostemp(name.data(), O_CLOEXEC));
    if (!file.is_open()) {
        return note("sync", "cannot be measured in " + data_folder, "Run as the server's user.");
    }
    unlink(name.c_str());
    const std::string block(kSyncBytes, 'x');
    std::array<Duration, kSyncs> times{};
    for (Duration& time : times) {
        const Duration start = clock.monotonic();
        const bool written =
            write(file.get(), block.data(), block.size()) == static_cast<ssize_t>(block.size());
        if (!written || fdatasync(file.get()) != 0) {
            return bad("sync", "the disk does not take writes", "Check the disk and its space.");
        }
        time = {clock.monotonic().microseconds - start.microseconds};
    }
    std::sort(times.begin(), times.end());
    const Duration median = times[kSyncs / 2];
    const std::string text =
        "a sync takes " + milliseconds_text(median) + " (median of " + std::to_string(kSyncs) + ")";
    return median > kSlowSync
               ? note("sync", text, "Every turn waits for one; a faster disk makes all faster.")
               : good("sync", text);
}

DoctorFinding check_space(const std::string& data_folder) {
    struct statvfs found;
    if (statvfs(data_folder.c_str(), &found) != 0) {
        return note("disk space", "cannot be told for " + data_folder, "Check the path.");
    }
    const std::uint64_t free = static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
    const std::string text = std::to_string(free / kMegabyte) + " MB free";
    if (free < kSpaceBad) {
        return bad("disk space", text, "Free some: a full disk stops all trading.");
    }
    return free < kSpaceLow ? note("disk space", text, "Free some before it runs out.")
                            : good("disk space", text);
}

DoctorFinding check_kill_file(const std::string& data_folder) {
    FileKillFlag flag(data_folder);
    if (!flag.is_raised()) {
        return good("KILL file", "not there");
    }
    const std::string reason = flag.reason();
    return {
        "KILL file",
        Health::warning,
        "it is there, so nothing trades: " + (reason.empty() ? "it gives no reason" : reason),
        "When the cause is settled: remove it, then `interlock kill off --global`."};
}

DoctorFinding check_sink(const Config& config) {
    if (config.effects_sink.empty()) {
        return good("effect sink", "none is configured");
    }
    const auto counts = RecordingSink(config.effects_sink, kSinkWait).count();
    if (!counts) {
        return bad("effect sink", counts.error().message, "Start `interlock sink` on that socket.");
    }
    return good("effect sink", std::to_string(counts->performed) + " effects on record");
}

DoctorFinding check_stop(const Config& config) {
    constexpr std::size_t kUrlBytesMax = 300;
    constexpr std::string_view kName = "stop listener";
    const std::string next = "See stop.address and stop.port in `interlock config show`.";
    if (is_locked(config.data_folder)) {
        auto url = read_small_file(stop_url_path(config.data_folder), kUrlBytesMax);
        if (!url) {
            return note(
                std::string(kName),
                "the server runs without one: a flood on its port can slow a stop over HTTP",
                next);
        }
        url->erase(url->find_last_not_of('\n') + 1);
        const std::size_t host = url->find("://") + 3;
        const std::size_t colon = url->rfind(':');
        HttpTarget target;
        target.host = url->substr(host, colon - host);
        std::erase_if(target.host, [](char c) { return c == '[' || c == ']'; });
        target.port = static_cast<std::uint16_t>(std::atoi(url->c_str() + colon + 1));
        const auto reached =
            ClientSocket::connect(target, std::chrono::steady_clock::now() + kServerWait);
        return reached ? good(std::string(kName), *url + " takes connections")
                       : bad(std::string(kName),
                             *url + " does not answer: " + reached.error().message,
                             "Restart the server; until then stop with `interlock kill on`.");
    }
    if (!has_stop_listener(config)) {
        return note(std::string(kName), "off: a flood can slow a stop over HTTP", next);
    }
    if (const auto allowed = check_stop_listener(config); !allowed) {
        return bad(std::string(kName), allowed.error());
    }
    return good(
        std::string(kName),
        "will be on " + config.stop_address + " port " + std::to_string(stop_port_of(config)));
}

DoctorFinding check_tls(const Config& config, Clock& clock) {
    if (config.http_tls_certificate.empty()) {
        return good("TLS", "off");
    }
    const auto expiry = read_tls_expiry({config.http_tls_certificate, config.http_tls_key});
    if (!expiry) {
        return bad("TLS", expiry.error());
    }
    const std::string text = "the certificate is valid until " + to_text(*expiry);
    const Timestamp now = clock.now();
    if (*expiry <= now) {
        return bad("TLS", "the certificate expired " + to_text(*expiry), "Renew it.");
    }
    return *expiry - now < kExpirySoon ? note("TLS", text, "Renew it soon.") : good("TLS", text);
}

std::vector<DoctorFinding> examine(const GlobalOptions& global, Clock& clock) {
    std::vector<DoctorFinding> findings;
    const auto loaded = load_config(global);
    findings.push_back(
        loaded ? good("configuration", std::to_string(loaded->entries.size()) + " keys")
               : bad("configuration", loaded.error()));
    const std::string folder = loaded ? loaded->config.data_folder : data_folder_of(global);
    const auto add = [&](std::vector<DoctorFinding> more) {
        findings.insert(findings.end(), more.begin(), more.end());
    };
    add(check_data_folder(folder));
    if (exists(folder)) {
        add(check_server(folder));
        add(check_trading(folder));
        add(check_approvals(folder));
        add(check_relay(folder));
        add(check_notices(folder));
        add(check_ledger_files(folder));
        findings.push_back(check_kill_file(folder));
        findings.push_back(check_sync(folder, clock));
        findings.push_back(check_space(folder));
    }
    findings.push_back(check_clock(clock));
    if (loaded) {
        findings.push_back(check_sink(loaded->config));
        findings.push_back(check_stop(loaded->config));
        add(check_exposure(loaded->config, clock));
        add(check_witnesses(loaded->config));
        findings.push_back(check_tls(loaded->config, clock));
        findings.push_back(check_limits(loaded->config, SyntheticMarket().markets()));
        findings.push_back(check_paper_venue(loaded->config, clock));
    }
    return findings;
}

std::string describe(const std::vector<DoctorFinding>& findings, bool coloured) {
    constexpr std::array<std::string_view, 4> kWords{"ok  ", "note", "WARN", "BAD "};
    constexpr std::array<std::string_view, 4> kColours{
        "\x1b[32m", "\x1b[33m", "\x1b[33m", "\x1b[31m"};
    std::size_t width = 0;
    for (const DoctorFinding& finding : findings) {
        width = std::max(width, finding.name.size());
    }
    std::string text;
    for (const DoctorFinding& finding : findings) {
        const auto health = static_cast<std::size_t>(finding.health);
        text += coloured ? std::string(kColours[health]) + std::string(kWords[health]) + "\x1b[0m"
                         : std::string(kWords[health]);
        text += "  " + finding.name + std::string(width + 2 - finding.name.size(), ' ') +
                print_safe(finding.detail) + "\n";
        if (!finding.next_step.empty()) {
            text += std::string(width + 8, ' ') + "-> " + print_safe(finding.next_step) + "\n";
        }
    }
    if (!is_healthy(findings)) {
        return text + "Not fit to run; see BAD above.\n";
    }
    return text + (has_warning(findings) ? "Runs, but does not trade; see WARN above.\n"
                                         : "Fit to run.\n");
}

Json encode(const std::vector<DoctorFinding>& findings) {
    constexpr std::array<std::string_view, 4> kWords{"ok", "note", "warning", "bad"};
    Json checks = Json::array();
    for (const DoctorFinding& finding : findings) {
        checks.push(Json::object({
            {"name", finding.name},
            {"state", kWords[static_cast<std::size_t>(finding.health)]},
            {"detail", finding.detail},
            {"next_step", finding.next_step.empty() ? Json() : Json(finding.next_step)},
        }));
    }
    return Json::object(
        {{"ok", is_healthy(findings)},
         {"warning", has_warning(findings)},
         {"checks", std::move(checks)}});
}

bool has_warning(const std::vector<DoctorFinding>& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const DoctorFinding& finding) {
        return finding.health == Health::warning;
    });
}

bool is_healthy(const std::vector<DoctorFinding>& findings) {
    return std::none_of(findings.begin(), findings.end(), [](const DoctorFinding& finding) {
        return finding.health == Health::bad;
    });
}

}  // namespace interlock
