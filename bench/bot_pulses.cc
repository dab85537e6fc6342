// A thousand bots in one server on one core. What they did is read from the ledger when the server
// has gone: one BOT_PULSE record for each pulse, with the time it was due and the time of its turn.
// For that the server records each pulse, equal ones too.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "base/errors.h"
#include "bench/bot_tenants.h"
#include "bench/bots_bench.h"
#include "bench/latency.h"
#include "bots/service/bot_board.h"
#include "engine/sqlite/sqlite_ledger_store.h"

namespace interlock {
namespace {

constexpr int kCore = 0;
// Tenants are made at once, and many first orders with them; then every bot pulses by itself.
constexpr std::chrono::seconds kSettling{10};
constexpr std::int64_t kEntriesPerRead = 500;

Timestamp wall_clock() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return {now.tv_sec * 1'000'000 + now.tv_nsec / 1000};
}

struct Window {
    Timestamp from;
    Timestamp to;
};

struct Pulse {
    Timestamp due_at;
    Timestamp at;
    bool acting = false;
};

Result<Timestamp> time_in(const Json* json, std::string_view key) {
    const Json* value = json == nullptr ? nullptr : json->find(key);
    if (value == nullptr || !value->is_string()) {
        return fail(errors::corrupt_data, "A pulse has no " + std::string(key) + ".");
    }
    return parse_timestamp(value->as_string());
}

Result<std::vector<Pulse>> pulses_of(
    LedgerStore& store, const TenantId& tenant_id, const Window& window) {
    std::vector<Pulse> pulses;
    std::int64_t after = 0;
    while (true) {
        TRY_ASSIGN(const auto entries, store.read_ledger(tenant_id, after, kEntriesPerRead));
        for (const LedgerEntry& entry : entries) {
            after = entry.seq;
            TRY_ASSIGN(const Json record, parse_json(entry.canonical_json));
            const Json* event = record.find("event");
            if (event == nullptr || !event->is_string() || event->as_string() != "BOT_PULSE") {
                continue;
            }
            Pulse pulse;
            TRY_ASSIGN(pulse.at, time_in(&record, "timestamp"));
            TRY_ASSIGN(pulse.due_at, time_in(record.find("detail"), "due_at"));
            const Json* acting = record.find("detail")->find("acting");
            pulse.acting = acting != nullptr && acting->is_array() && !acting->items().empty();
            if (window.from <= pulse.at && pulse.at < window.to) {
                pulses.push_back(pulse);
            }
        }
        if (std::ssize(entries) < kEntriesPerRead) {
            return pulses;
        }
    }
}

// Whole periods of the window in which a bot did not pulse: what is longer than a period between
// two pulses, or between one and an end of the window, by at least another period.
std::int64_t missed_of(const std::vector<Pulse>& pulses, const Window& window) {
    std::int64_t missed = 0;
    Timestamp last = window.from;
    const auto note = [&](Timestamp at) {
        missed +=
            std::max<std::int64_t>(0, (at - last).microseconds / kPulseEvery.microseconds - 1);
        last = at;
    };
    for (const Pulse& pulse : pulses) {
        note(pulse.at);
    }
    note(window.to);
    return missed;
}

// How long pulses came after they were due, by stretches as long as a period.
class Delays {
public:
    explicit Delays(const Window& window)
        : window_(window),
          stretches_(static_cast<std::size_t>(std::max<std::int64_t>(
              1, (window.to - window.from).microseconds / kPulseEvery.microseconds))) {}

    void add(const Pulse& pulse) {
        const auto stretch = static_cast<std::size_t>(
            (pulse.at - window_.from).microseconds / kPulseEvery.microseconds);
        stretches_[std::min(stretch, stretches_.size() - 1)].push_back(
            (pulse.at - pulse.due_at).microseconds);
    }
    // What each stretch with pulses gave.
    std::vector<std::int64_t> by_stretch(double share) const {
        std::vector<std::int64_t> values;
        for (std::vector<std::int64_t> delays_us : stretches_) {
            std::ranges::sort(delays_us);
            if (!delays_us.empty()) {
                values.push_back(percentile_of(delays_us, share));
            }
        }
        return values;
    }
    std::int64_t longest_us() const {
        const std::vector<std::int64_t> longest = by_stretch(1);
        return longest.empty() ? 0 : *std::ranges::max_element(longest);
    }

private:
    Window window_;
    std::vector<std::vector<std::int64_t>> stretches_;
};

Result<void> count_by_ledger(
    const std::string& database,
    const std::vector<BotTenant>& bots,
    const Window& window,
    BotPulseReport& report) {
    SqliteLedgerOptions options;
    options.path = database;
    TRY_ASSIGN(const auto store, SqliteLedgerStore::open(options));
    Delays all(window);
    Delays acting(window);
    for (const BotTenant& bot : bots) {
        TRY_ASSIGN(
            const std::vector<Pulse> pulses,
            pulses_of(*store, TenantId::trusted(bot.tenant_id), window));
        report.missed += missed_of(pulses, window);
        for (const Pulse& pulse : pulses) {
            ++report.pulses;
            all.add(pulse);
            if (pulse.acting) {
                ++report.acting;
                acting.add(pulse);
            }
        }
    }
    report.delay_p50_us = report.spreads.note("delay_p50_us", all.by_stretch(0.50));
    report.delay_p99_us = report.spreads.note("delay_p99_us", all.by_stretch(0.99));
    report.delay_max_us = all.longest_us();
    report.acting_delay_p50_us =
        report.spreads.note("acting_delay_p50_us", acting.by_stretch(0.50));
    report.acting_delay_p99_us =
        report.spreads.note("acting_delay_p99_us", acting.by_stretch(0.99));
    report.acting_delay_max_us = acting.longest_us();
    return {};
}

Result<void> count_by_status(
    const ServerProcess& server, const std::vector<BotTenant>& bots, BotPulseReport& report) {
    const auto client = HttpClient::create(server.target());
    for (const BotTenant& bot : bots) {
        TRY_ASSIGN(const std::string body, read_bot(*client, bot, "/status"));
        TRY_ASSIGN(const Json status, parse_json(body));
        const Json* late = status.find("pulses_late");
        const Json* stalled = status.find("stalled");
        const Json* state = status.find("bot_state");
        if (late == nullptr || stalled == nullptr || state == nullptr) {
            return fail(errors::unavailable, "A bot's status was " + body + ".");
        }
        report.late += late->as_int64().value_or(0);
        report.stalled += stalled->as_bool() || state->as_string() != "running" ? 1 : 0;
    }
    return {};
}

// Gives some bots other settings once in every period, as their people would, until it goes.
class Changer {
public:
    static Result<std::unique_ptr<Changer>> create(
        ServerProcess& server, std::span<const BotTenant> bots) {
        std::unique_ptr<Changer> made(new Changer(server.target()));
        for (const BotTenant& bot : bots) {
            TRY_ASSIGN(
                std::string token,
                server.create_human(bot.tenant_id, bot.tenant_id + "@example.org"));
            made->people_.push_back({bot.tenant_id, std::move(token)});
        }
        made->thread_ =
            std::jthread([self = made.get()](const std::stop_token& stop) { self->run(stop); });
        return made;
    }
    // Whether every change was taken; ends the thread.
    Result<void> finish() {
        thread_.request_stop();
        thread_.join();
        return problem_ ? Result<void>(std::unexpected(*problem_)) : Result<void>();
    }

private:
    struct Person {
        std::string tenant_id;
        std::string token;
    };

    explicit Changer(const HttpTarget& target) : client_(HttpClient::create(target)) {}

    // Spread over the period, so that changes do not come in one burst.
    void run(const std::stop_token& stop) {
        const std::chrono::microseconds pause(
            kPulseEvery.microseconds / std::max<std::int64_t>(1, std::ssize(people_)));
        for (std::int64_t levels = 1; !stop.stop_requested() && !people_.empty();
             levels = 3 - levels) {
            for (const Person& person : people_) {
                if (stop.stop_requested()) {
                    return;
                }
                const auto changed = call_json(
                    *client_,
                    {.path = "/api/" + person.tenant_id + "/update_bot_settings",
                     .body = Json::object({{"num_bids_ask", levels}}),
                     .credential = person.token});
                if (!changed && !problem_) {
                    problem_ = changed.error();
                }
                let_pass(std::chrono::duration_cast<std::chrono::milliseconds>(pause));
            }
        }
    }

    std::unique_ptr<HttpClient> client_;
    std::vector<Person> people_;
    std::optional<Error> problem_;  // Of the thread, until it has ended.
    std::jthread thread_;
};

// Every second stretch of a change may lie outside of the window, but not all of them.
Result<void> require_acting(const BotsBenchOptions& options, const BotPulseReport& report) {
    if (report.acting_bots > 0 && report.acting == 0 &&
        options.pulse_seconds >= 2 * kPulseEvery.microseconds / 1'000'000) {
        return fail(errors::unavailable, "No pulse changed an order, though settings changed.");
    }
    return {};
}

}  // namespace

double BotPulseReport::bytes_per_bot() const {
    return static_cast<double>(resident_full - resident_empty) /
           static_cast<double>(std::max<std::int64_t>(1, bots));
}

Result<BotPulseReport> run_bot_pulses(const BotsBenchOptions& options, const std::string& folder) {
    ServerProcess::Options started{
        .program = options.program, .folder = folder, .sink = {}, .core = kCore};
    started.config += "[audit]\nfold = false\n";
    TRY_ASSIGN(ServerProcess server, ServerProcess::start(started));
    BotPulseReport report;
    report.bots = options.bots;
    TRY(server.read_metric("interlock_turns_total"));  // What the first call needs is not a bot's.
    TRY_ASSIGN(report.resident_empty, read_resident_bytes(server.pid()));
    const Timestamp begin = wall_clock();
    TRY_ASSIGN(const std::vector<BotTenant> bots, create_bots(server, options.bots));
    report.made_in_seconds = static_cast<double>((wall_clock() - begin).microseconds) / 1e6;
    report.acting_bots = std::min(options.acting_bots, options.bots / 2);
    TRY_ASSIGN(
        const auto changer,
        Changer::create(
            server, std::span(bots).first(static_cast<std::size_t>(report.acting_bots))));
    let_pass(options.pulse_seconds > kSettling.count() ? kSettling : std::chrono::seconds(0));
    Window window{.from = wall_clock(), .to = {}};
    TRY_ASSIGN(const ProcessCpu cpu_before, read_process_cpu(server.pid()));
    let_pass(std::chrono::seconds(options.pulse_seconds));
    TRY_ASSIGN(const ProcessCpu cpu_after, read_process_cpu(server.pid()));
    window.to = wall_clock();
    TRY_ASSIGN(report.resident_full, read_resident_bytes(server.pid()));
    report.seconds = static_cast<double>((window.to - window.from).microseconds) / 1e6;
    report.core_share =
        static_cast<double>(cpu_after.total.microseconds - cpu_before.total.microseconds) / 1e6 /
        report.seconds;
    TRY(changer->finish());
    TRY(count_by_status(server, bots, report));
    const std::string database = server.data_folder() + "/interlock.db";
    if (const int code = server.stop(); code != 0) {
        return fail(
            errors::unavailable, "The server ended with exit code " + std::to_string(code) + ".");
    }
    TRY(count_by_ledger(database, bots, window, report));
    TRY(require_acting(options, report));
    return report;
}

}  // namespace interlock
