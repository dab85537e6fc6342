#include "sim/sim_command.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "sim/shrink.h"

namespace interlock {
namespace {

constexpr int kClean = 0;
constexpr int kViolated = 1;
constexpr int kUsage = 2;

using sim::RunConfig;
using sim::RunResult;
using sim::Step;

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
    SimRunner(const SimOptions& options, SeedRange range, sim::Plant plant)
        : options_(options),
          range_(range),
          plant_(plant),
          shows_progress_(range.first != range.last && isatty(STDERR_FILENO) == 1) {}

    int run() {
        for (std::uint64_t seed = range_.first;; ++seed) {
            run_seed(seed);
            show_progress(seed);
            if (seed == range_.last || violations_ >= kSimViolationsMax) {
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
    RunConfig config_of(std::uint64_t seed) const {
        RunConfig config;
        config.seed = seed;
        config.plant = plant_;
        return config;
    }

    void run_seed(std::uint64_t seed) {
        const std::vector<Step> steps = sim::make_steps(seed, options_.turns);
        RunConfig config = config_of(seed);
        if (options_.trace) {
            print("seed " + std::to_string(seed));
            config.trace = print;
        }
        const RunResult result = sim::run_simulation(config, steps);
        ++seeds_;
        deliveries_ += result.counts.deliveries;
        records_ += result.counts.records;
        effects_ += result.counts.effects;
        crashes_ += result.counts.crashes;
        orders_ += result.counts.loop.orders;
        fills_ += result.counts.loop.fills;
        decisions_ += result.counts.trader.attempts;
        switches_ += result.counts.trader.hand_overs + result.counts.trader.roll_backs;
        if (result.violation) {
            ++violations_;
            report(seed, steps, result);
        }
    }

    // Finds a short version of the failure, runs it once more for its trace, prints both.
    void report(std::uint64_t seed, const std::vector<Step>& steps, const RunResult& result) {
        if (shows_progress_) {
            std::fprintf(
                stderr,
                "\r\033[Kseed %llu failed, looking for a short trace",
                static_cast<unsigned long long>(seed));
        }
        RunConfig config = config_of(seed);
        const sim::Shrunk shrunk = sim::shrink(config, steps, result);
        std::vector<std::string> lines;
        config.trace = [&lines](std::string line) { lines.push_back(std::move(line)); };
        (void)sim::run_simulation(config, shrunk.steps);
        if (shows_progress_) {
            std::fputs("\r\033[K", stderr);
        }
        options_.json ? report_json(seed, steps.size(), {shrunk, lines})
                      : report_text(seed, steps.size(), {shrunk, lines});
    }

    struct Found {
        const sim::Shrunk& shrunk;
        const std::vector<std::string>& lines;
    };

    void report_text(std::uint64_t seed, std::size_t steps, const Found& found) const {
        const sim::Violation& violation = found.shrunk.violation;
        print(
            "seed " + std::to_string(seed) + " at commit " + commit() + " violates " +
            violation.invariant + ": " + violation.what);
        print(
            "the shortest trace found, " + std::to_string(found.shrunk.steps.size()) + " of " +
            std::to_string(steps) + " steps:");
        for (const std::string& line : found.lines) {
            print("    " + line);
        }
        print("again: " + again(seed));
    }

    void report_json(std::uint64_t seed, std::size_t steps, const Found& found) const {
        Json trace = Json::array();
        for (const std::string& line : found.lines) {
            trace.push(line);
        }
        print(to_text(Json::object({
            {"seed", seed},
            {"commit", commit()},
            {"turns", options_.turns},
            {"plant", options_.plant},
            {"invariant", found.shrunk.violation.invariant},
            {"what", found.shrunk.violation.what},
            {"steps", steps},
            {"shortest_steps", found.shrunk.steps.size()},
            {"trace", std::move(trace)},
            {"again", again(seed)},
        })));
    }

    void print_summary() const {
        if (options_.json) {
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
            })));
            return;
        }
        print(
            std::to_string(seeds_) + (seeds_ == 1 ? " seed" : " seeds") + " at commit " + commit() +
            ": " + std::to_string(deliveries_) + " deliveries, " + std::to_string(records_) +
            " records, " + std::to_string(effects_) + " effects, " + std::to_string(orders_) +
            " orders, " + std::to_string(fills_) + " fills, " + std::to_string(decisions_) +
            " control decisions, " + std::to_string(switches_) + " switches, " +
            std::to_string(crashes_) + " crashes; " + std::to_string(violations_) +
            (violations_ == 1 ? " violation" : " violations"));
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

    std::string again(std::uint64_t seed) const {
        return "interlock sim --seed " + std::to_string(seed) + " --turns " +
               std::to_string(options_.turns) +
               (options_.plant.empty() ? "" : " --plant " + options_.plant);
    }

    std::string commit() const {
        return options_.commit.empty() ? std::string(INTERLOCK_COMMIT) : options_.commit;
    }

    const SimOptions& options_;
    const SeedRange range_;
    const sim::Plant plant_;
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
};

}  // namespace

int run_sim_command(const SimOptions& options) {
    if (options.list_plants) {
        for (const sim::PlantInfo& info : sim::all_plants()) {
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
    sim::Plant plant = sim::Plant::none;
    if (!options.plant.empty()) {
        const auto found = sim::find_plant(options.plant);
        if (!found) {
            return refuse("there is no plant \"" + options.plant + "\"; --list-plants names them");
        }
        plant = *found;
    }
    // The services log what fails, and here things fail on purpose.
    configure_log({.level = LogLevel::off});
    return SimRunner(options, range, plant).run();
}

}  // namespace interlock
