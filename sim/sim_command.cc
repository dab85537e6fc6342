#include "sim/sim_command.h"

#include <charconv>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "codec/json_list.h"
#include "sim/shrink.h"

namespace interlock {
namespace {

constexpr int kClean = 0;
constexpr int kViolated = 1;
constexpr int kUsage = 2;

using sim::RunConfig;
using sim::RunResult;
using sim::Step;

// What of the server is run, with its mistake if any.
struct Worlds {
    bool trading = true;
    bool relay = true;
    sim::Plant plant = sim::Plant::none;
    sim::RelayPlant relay_plant = sim::RelayPlant::none;
};

struct SeedRange {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

// "A..B"; nothing when it is not that, or runs backwards.
std::optional<SeedRange> parse_range(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        return std::nullopt;
    }
    const auto first = parse_number(text.substr(0, dots));
    const auto last = parse_number(text.substr(dots + 2));
    if (!first || !last || *first > *last) {
        return std::nullopt;
    }
    return SeedRange{*first, *last};
}

int refuse(const std::string& sentence) {
    std::fprintf(stderr, "interlock sim: %s\n", sentence.c_str());
    return kUsage;
}

void print(const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

class SimRunner {
public:
    SimRunner(const SimOptions& options, SeedRange range, Worlds worlds)
        : options_(options),
          range_(range),
          worlds_(worlds),
          shows_progress_(range.first != range.last && options.shows_progress) {}

    int run() {
        for (std::uint64_t seed = range_.first;; ++seed) {
            if (options_.trace) {
                print("seed " + std::to_string(seed));
            }
            ++seeds_;
            if (worlds_.trading) {
                run_trading(seed);
            }
            if (worlds_.relay) {
                run_relay(seed);
            }
            show_progress(seed);
            if (seed == range_.last || violations_ >= (options_.quick ? 1 : kSimViolationsMax)) {
                break;
            }
        }
        if (shows_progress_) {
            std::fputs("\r\033[K", stderr);
        }
        print_summary();
        return violations_ == 0 ? kClean : kViolated;
    }

private:
    void run_trading(std::uint64_t seed) {
        const std::vector<Step> steps = sim::make_steps(seed, options_.turns);
        RunConfig config;
        config.seed = seed;
        config.plant = worlds_.plant;
        if (options_.trace) {
            config.trace = print;
        }
        const RunResult result = sim::run_simulation(config, steps);
        deliveries_ += result.counts.deliveries;
        records_ += result.counts.records;
        effects_ += result.counts.effects;
        crashes_ += result.counts.crashes;
        orders_ += result.counts.loop.orders;
        fills_ += result.counts.loop.fills;
        decisions_ += result.counts.trader.attempts;
        switches_ += result.counts.trader.hand_overs + result.counts.trader.roll_backs;
        edges_.add(result.counts.edges);
        if (result.violation && options_.quick) {
            report_quick(seed, *result.violation);
        } else if (result.violation) {
            report(seed, steps.size(), [&](std::vector<std::string>& lines) {
                const sim::Shrunk shrunk = sim::shrink(config, steps, result);
                config.trace = [&lines](std::string line) { lines.push_back(std::move(line)); };
                (void)sim::run_simulation(config, shrunk.steps);
                return Found{"trading", shrunk.violation, shrunk.steps.size(), {}};
            });
        }
    }

    void run_relay(std::uint64_t seed) {
        const std::vector<sim::RelayStep> steps = sim::make_relay_steps(seed, options_.turns);
        sim::RelayRunConfig config;
        config.seed = seed;
        config.plant = worlds_.relay_plant;
        if (options_.trace) {
            config.trace = print;
        }
        const sim::RelayRunResult result = sim::run_relay_simulation(config, steps);
        relay_.stored += result.counts.stored;
        relay_.written += result.counts.written;
        relay_.duplicates += result.counts.duplicates;
        relay_.acknowledged += result.counts.acknowledged;
        relay_.dead += result.counts.dead;
        relay_.requests += result.counts.requests;
        relay_.declined += result.counts.declined;
        relay_.calls += result.counts.calls;
        relay_.pokes += result.counts.pokes;
        relay_crashes_ += result.crashes;
        if (result.violation && options_.quick) {
            report_quick(seed, *result.violation);
        } else if (result.violation) {
            report(seed, steps.size(), [&](std::vector<std::string>& lines) {
                const sim::RelayShrunk shrunk = sim::shrink(config, steps, result);
                config.trace = [&lines](std::string line) { lines.push_back(std::move(line)); };
                (void)sim::run_relay_simulation(config, shrunk.steps);
                return Found{"relay", shrunk.violation, shrunk.steps.size(), {}};
            });
        }
    }

    void report_quick(std::uint64_t seed, const sim::Violation& violation) {
        ++violations_;
        if (options_.json) {
            print(to_text(Json::object({
                {"seed", seed},
                {"commit", commit()},
                {"invariant", violation.invariant},
                {"what", violation.what},
            })));
            return;
        }
        print(
            "seed " + std::to_string(seed) + " violates " + violation.invariant + ": " +
            violation.what);
    }

    struct Found {
        std::string world;
        sim::Violation violation;
        std::size_t steps = 0;  // Of the shortest trace.
        std::vector<std::string> lines;
    };

    // Finds a short version of the failure, runs it once more for its trace, prints both.
    template <class Shorten>
    void report(std::uint64_t seed, std::size_t steps, Shorten shorten) {
        ++violations_;
        if (shows_progress_) {
            std::fprintf(
                stderr,
                "\r\033[Kseed %llu failed, looking for a short trace",
                static_cast<unsigned long long>(seed));
        }
        std::vector<std::string> lines;
        Found found = shorten(lines);
        found.lines = std::move(lines);
        if (shows_progress_) {
            std::fputs("\r\033[K", stderr);
        }
        options_.json ? report_json(seed, steps, found) : report_text(seed, steps, found);
    }

    void report_text(std::uint64_t seed, std::size_t steps, const Found& found) const {
        const sim::Violation& violation = found.violation;
        print(
            "seed " + std::to_string(seed) + " at commit " + commit() + " violates " +
            violation.invariant + ": " + violation.what);
        print(
            "the shortest trace found, " + std::to_string(found.steps) + " of " +
            std::to_string(steps) + " steps:");
        for (const std::string& line : found.lines) {
            print("    " + line);
        }
        print("again: " + again(seed, found));
    }

    void report_json(std::uint64_t seed, std::size_t steps, const Found& found) const {
        print(to_text(Json::object({
            {"seed", seed},
            {"commit", commit()},
            {"turns", options_.turns},
            {"plant", options_.plant},
            {"world", found.world},
            {"invariant", found.violation.invariant},
            {"what", found.violation.what},
            {"steps", steps},
            {"shortest_steps", found.steps},
            {"trace", json_list(found.lines)},
            {"again", again(seed, found)},
        })));
    }

    void print_summary() const {
        if (options_.json) {
            print_summary_json();
            return;
        }
        std::string text = std::to_string(seeds_) + (seeds_ == 1 ? " seed" : " seeds") +
                           " at commit " + commit() + ": ";
        if (worlds_.trading) {
            text += std::to_string(deliveries_) + " deliveries, " + std::to_string(records_) +
                    " records, " + std::to_string(effects_) + " effects, " +
                    std::to_string(orders_) + " orders, " + std::to_string(fills_) + " fills, " +
                    std::to_string(decisions_) + " control decisions, " +
                    std::to_string(switches_) + " switches, " + std::to_string(crashes_) +
                    " crashes; ";
        }
        if (worlds_.relay) {
            text +=
                "relay: " + std::to_string(relay_.stored) + " messages, " +
                std::to_string(relay_.written) + " written (" + std::to_string(relay_.duplicates) +
                " of them again, unacknowledged), " + std::to_string(relay_.acknowledged) +
                " acknowledged, " + std::to_string(relay_.dead) + " dead letters, " +
                std::to_string(relay_.requests) + " requests (" + std::to_string(relay_.declined) +
                " declined), " + std::to_string(relay_.calls) + " platform calls, " +
                std::to_string(relay_.pokes) + " pokes, " + std::to_string(relay_crashes_) +
                " crashes; ";
        }
        print(
            text + std::to_string(violations_) + (violations_ == 1 ? " violation" : " violations"));
        if (worlds_.trading) {
            print("met at the edge per 100 seeds, inside and outside:" + edges_text());
        }
    }

    // A limit that nobody came near was not tested by these seeds.
    std::string edges_text() const {
        std::string text;
        for (std::size_t i = 0; i < sim::kEdges; ++i) {
            text += (i == 0 ? " " : ", ") + std::string(to_word(static_cast<sim::Edge>(i))) + " " +
                    std::to_string(edges_.inside[i] * 100 / seeds_) + "/" +
                    std::to_string(edges_.outside[i] * 100 / seeds_);
        }
        return text;
    }

    Json edges_json() const {
        Json json = Json::object();
        for (std::size_t i = 0; i < sim::kEdges; ++i) {
            json.set(
                std::string(to_word(static_cast<sim::Edge>(i))),
                Json::array({edges_.inside[i], edges_.outside[i]}));
        }
        return json;
    }

    void print_summary_json() const {
        print(to_text(Json::object({
            {"seeds", seeds_},
            {"first_seed", range_.first},
            {"last_seed", range_.last},
            {"turns", options_.turns},
            {"commit", commit()},
            {"violations", violations_},
            {"deliveries", deliveries_},
            {"records", records_},
            {"effects", effects_},
            {"orders", orders_},
            {"fills", fills_},
            {"control_decisions", decisions_},
            {"switches", switches_},
            {"crashes", crashes_},
            {"edges", edges_json()},
            {"relay",
             Json::object({
                 {"messages", relay_.stored},
                 {"written", relay_.written},
                 {"duplicates", relay_.duplicates},
                 {"acknowledged", relay_.acknowledged},
                 {"dead_letters", relay_.dead},
                 {"requests", relay_.requests},
                 {"declined", relay_.declined},
                 {"platform_calls", relay_.calls},
                 {"pokes", relay_.pokes},
                 {"crashes", relay_crashes_},
             })},
        })));
    }

    void show_progress(std::uint64_t seed) const {
        if (shows_progress_) {
            std::fprintf(
                stderr,
                "\r\033[K%llu of %llu seeds, %llu violations",
                static_cast<unsigned long long>(seed - range_.first + 1),
                static_cast<unsigned long long>(range_.last - range_.first + 1),
                static_cast<unsigned long long>(violations_));
        }
    }

    std::string again(std::uint64_t seed, const Found& found) const {
        return "interlock sim --seed " + std::to_string(seed) + " --turns " +
               std::to_string(options_.turns) +
               (options_.plant.empty() ? " --world " + found.world : " --plant " + options_.plant);
    }

    std::string commit() const {
        return options_.commit.empty() ? std::string(INTERLOCK_COMMIT) : options_.commit;
    }

    const SimOptions& options_;
    const SeedRange range_;
    const Worlds worlds_;
    const bool shows_progress_;
    std::uint64_t seeds_ = 0;
    std::uint64_t violations_ = 0;
    std::uint64_t deliveries_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t effects_ = 0;
    std::uint64_t orders_ = 0;
    std::uint64_t fills_ = 0;
    std::uint64_t decisions_ = 0;
    std::uint64_t switches_ = 0;  // That had to wait for cancels, done or rolled back.
    std::uint64_t crashes_ = 0;
    sim::EdgeCounts edges_;
    sim::RelayWatch::Counts relay_;
    std::uint64_t relay_crashes_ = 0;
};

// Nothing when there is no such world or plant; `problem` then says why.
std::optional<Worlds> choose_worlds(const SimOptions& options, std::string& problem) {
    Worlds worlds;
    if (options.world != "all" && options.world != "trading" && options.world != "relay") {
        problem = "--world wants trading, relay or all";
        return std::nullopt;
    }
    worlds.trading = options.world != "relay";
    worlds.relay = options.world != "trading";
    if (options.plant.empty()) {
        return worlds;
    }
    const auto plant = sim::find_plant(options.plant);
    const auto relay_plant = sim::find_relay_plant(options.plant);
    worlds.plant = plant.value_or(sim::Plant::none);
    worlds.relay_plant = relay_plant.value_or(sim::RelayPlant::none);
    worlds.trading = worlds.trading && plant;
    worlds.relay = worlds.relay && relay_plant;
    if (!worlds.trading && !worlds.relay) {
        problem =
            "there is no plant \"" + options.plant + "\" in this world; --list-plants names them";
        return std::nullopt;
    }
    return worlds;
}

}  // namespace

int run_sim_command(const SimOptions& options) {
    if (options.list_plants) {
        for (const sim::PlantInfo& info : sim::all_plants()) {
            print(std::string(info.name));
        }
        for (const sim::RelayPlantInfo& info : sim::all_relay_plants()) {
            print(std::string(info.name));
        }
        return kClean;
    }
    if (options.seed && !options.seeds.empty()) {
        return refuse("give either --seed or --seeds");
    }
    SeedRange range{options.seed.value_or(1), options.seed.value_or(1)};
    if (!options.seeds.empty()) {
        const auto parsed = parse_range(options.seeds);
        if (!parsed) {
            return refuse("--seeds wants FIRST..LAST, for instance 1..50");
        }
        range = *parsed;
    }
    if (options.turns == 0 || options.turns > kSimTurnsMax) {
        return refuse("--turns wants a number from 1 to " + std::to_string(kSimTurnsMax));
    }
    std::string problem;
    const std::optional<Worlds> worlds = choose_worlds(options, problem);
    if (!worlds) {
        return refuse(problem);
    }
    // The services log what fails, and here things fail on purpose.
    configure_log({.level = LogLevel::off});
    return SimRunner(options, range, *worlds).run();
}

}  // namespace interlock
