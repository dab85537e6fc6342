#include "app/command/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "bench/http_turns.h"
#include "bench/relay_load.h"
#include "bench/turn_load.h"

namespace interlock {
namespace {

constexpr std::string_view kHowMeasured =
    "Callers are closed-loop: one turn under way each. In process, all of them live on one driver\n"
    "thread beside the engine thread; over HTTP the server is a child process and the load comes\n"
    "from this one. Medians of rounds that alternate between the plane and the baselines.\n"
    "  raw/s    bare prepared statements, same rows, same batch size, same folder\n"
    "  http/s   the same HTTP server answering a constant of the same size\n"
    "  ratio    turns/s against raw/s; over HTTP against the lower of raw/s and http/s\n"
    "  sync us  p50 of one fdatasync after appending one commit's bytes\n"
    "  p50/sync a turn's p50 against that\n"
    "  engine   share of one core used by the engine thread (HTTP: by the busiest thread)\n"
    "  machine  share of all cores used by server and load together\n\n";

constexpr std::string_view kHowGrownIsMeasured =
    "On a database that holds so many turns already, as `bench turns` otherwise. In process, what\n"
    "commits took, how often the log started over on the committing thread, how long that thread\n"
    "waited for the other one's checkpoint then, and how long it worked; longest/all, in us.\n\n";

constexpr std::string_view kHowExecuteIsMeasured =
    "Each caller is a planner with a tenant of its own and one call under way: validate, dry run,\n"
    "execute (answered when filled) and verify, again and again. Microseconds, of a step p50/p99.\n"
    "  bare/s   bare prepared statements writing the rows of such paths, same batch size\n"
    "  ratio    paths/s against bare/s\n\n";

constexpr std::string_view kHowMatchingIsMeasured =
    "One thread, one symbol, a seeded stream of new orders, cancels, amends and takers with\n"
    "self-trade prevention on; events are counted and thrown away. calls/s and ns/call are\n"
    "medians over whole passes; calls of an order that is gone are refused and\n"
    "counted as well. The percentiles are of single calls and contain two readings of the clock\n"
    "({} ns here). Equal fingerprints mean equal events.\n\n";

struct TurnsFlags {
    std::vector<std::int64_t> callers{1, 8, 64, 256};
    std::vector<std::string> transports{"inprocess", "http"};
    double seconds = 1;
    int rounds = 3;
    std::int64_t grown = 0;
    std::string keys = "random";
    std::int64_t wal_restart_mib = kWalRestartBytes >> 20;
};

GrownBenchOptions grown_options_of(const TurnsFlags& flags, TurnKind kind) {
    GrownBenchOptions options;
    options.kind = kind;
    options.grown = flags.grown;
    options.callers = flags.callers;
    options.ordered_keys = flags.keys == "ordered";
    options.wal_restart_bytes = flags.wal_restart_mib << 20;
    options.seconds = flags.seconds;
    options.rounds = flags.rounds;
    return options;
}

bool is_chosen(const std::vector<std::string>& chosen, std::string_view word) {
    return std::find(chosen.begin(), chosen.end(), word) != chosen.end();
}

void add_load(CommandLine& line, CLI::App& command, TurnKind kind, TurnsFlags defaults) {
    const auto flags = std::make_shared<TurnsFlags>(std::move(defaults));
    command.add_option("--seconds", flags->seconds, "Length of each measurement.")
        ->check(CLI::Range(0.05, 600.0));
    command.add_option("--rounds", flags->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command.add_option("--callers", flags->callers, "Numbers of concurrent callers.")
        ->delimiter(',')
        ->check(CLI::Range(std::size_t{1}, kTurnCallersMax));
    command.add_option("--transport", flags->transports, "inprocess, http or both.")
        ->delimiter(',')
        ->check(CLI::IsMember({"inprocess", "http"}));
    command.add_option("--grown", flags->grown, "On a database with so many of them already.")
        ->check(CLI::Range(0, 10'000'000));
    command.add_option("--keys", flags->keys, "With --grown in process: random or ordered.")
        ->check(CLI::IsMember({"random", "ordered"}));
    command
        .add_option(
            "--wal-restart-mib",
            flags->wal_restart_mib,
            "With --grown in process: where the write-ahead log starts over.")
        ->check(CLI::Range(1, 1024));
    command.callback([&line, flags, kind] {
        line.run = [&line, flags, kind] {
            if (flags->grown > 0) {
                GrownBenchOptions grown = grown_options_of(*flags, kind);
                grown.inprocess = is_chosen(flags->transports, "inprocess");
                grown.http = is_chosen(flags->transports, "http");
                return run_bench_grown_command(line.global, std::move(grown));
            }
            TurnsBenchOptions options;
            options.callers = flags->callers;
            options.kind = kind;
            options.inprocess = is_chosen(flags->transports, "inprocess");
            options.http = is_chosen(flags->transports, "http");
            options.seconds = flags->seconds;
            options.rounds = flags->rounds;
            return run_bench_turns_command(line.global, std::move(options));
        };
    });
}

void add_turns(CommandLine& line, CLI::App& bench) {
    CLI::App* turns =
        bench.add_subcommand("turns", "Durable turns per second, and what the machine gives bare.");
    add_load(line, *turns, TurnKind::probe, {});
    CLI::App* decisions = bench.add_subcommand(
        "decisions", "Durable gated decisions per second: plans through all gates, on the record.");
    TurnsFlags defaults;
    defaults.callers = {64};
    add_load(line, *decisions, TurnKind::decision, std::move(defaults));
}

void add_execute(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "execute", "Whole orders per second: validate, dry run, execute, filled, verified.");
    const auto flags = std::make_shared<TurnsFlags>();
    flags->callers = {1, 8, 32};
    command->add_option("--seconds", flags->seconds, "Length of each measurement.")
        ->check(CLI::Range(0.05, 600.0));
    command->add_option("--rounds", flags->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->add_option("--callers", flags->callers, "Numbers of planners, a tenant each.")
        ->delimiter(',')
        ->check(CLI::Range(1, 256));
    command->add_option("--transport", flags->transports, "inprocess, http or both.")
        ->delimiter(',')
        ->check(CLI::IsMember({"inprocess", "http"}));
    command->callback([&line, flags] {
        line.run = [&line, flags] {
            ExecuteBenchOptions options;
            options.callers = flags->callers;
            options.inprocess = is_chosen(flags->transports, "inprocess");
            options.http = is_chosen(flags->transports, "http");
            options.seconds = flags->seconds;
            options.rounds = flags->rounds;
            return run_bench_execute_command(line.global, std::move(options));
        };
    });
}

void add_control(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "control", "Durable control decisions per second beside plain durable turns.");
    const auto options = std::make_shared<ControlBenchOptions>();
    command->add_option("--callers", options->callers, "Concurrent supervisors.")
        ->check(CLI::Range(std::int64_t{1}, static_cast<std::int64_t>(kTurnCallersMax)));
    command->add_option("--seconds", options->seconds, "Length of each measurement.")
        ->check(CLI::Range(0.05, 600.0));
    command->add_option("--rounds", options->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_control_command(line.global, *options); };
    });
}

void add_strategies(CommandLine& line, CLI::App& bench) {
    CLI::App* command =
        bench.add_subcommand("strategies", "CPU of one round of ticks with many live strategies.");
    const auto options = std::make_shared<StrategiesBenchOptions>();
    command->add_option("--instances", options->instances, "Live strategies.")
        ->check(CLI::Range(1, 10'000));
    command->add_option("--accounts", options->accounts, "Accounts that they are spread over.")
        ->check(CLI::Range(1, 2000));
    command->add_flag("--acting", options->acting, "All of them active grids with narrow steps.");
    command->add_option("--rounds", options->rounds, "Rounds; the median is reported.")
        ->check(CLI::Range(1, 10'000));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_strategies_command(line.global, *options); };
    });
}

void add_tick(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "tick", "Time of one tick of the loop without IO: facts, gates, dry run.");
    const auto options = std::make_shared<TickBenchOptions>();
    command->add_option("--symbols", options->symbols, "Markets with open orders.")
        ->check(CLI::Range(1, 9));
    command->add_option("--open-orders", options->open_orders, "Open orders in each of them.")
        ->check(CLI::Range(0, 40));
    command->add_option("--samples", options->samples, "Ticks per round.")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--rounds", options->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_tick_command(line.global, *options); };
    });
}

void add_replay(CommandLine& line, CLI::App& bench) {
    CLI::App* command =
        bench.add_subcommand("replay", "Recorded decisions re-run per minute with equal hashes.");
    const auto options = std::make_shared<ReplayBenchOptions>();
    command->add_option("--decisions", options->decisions, "How many are made and replayed.")
        ->check(CLI::Range(1, 100'000));
    command->add_option("--rounds", options->rounds, "Repetitions; the median is reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_replay_command(line.global, *options); };
    });
}

void add_verify(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "verify", "Records a second that verify walks, and megabytes of artifacts that it hashes.");
    const auto options = std::make_shared<VerifyBenchOptions>();
    command->add_option("--records", options->records, "How many are made and verified.")
        ->check(CLI::Range(1, 10'000'000));
    command->add_option("--artifacts", options->artifacts, "How many, of 64 KiB each.")
        ->check(CLI::Range(1, 100'000));
    command->add_option("--rounds", options->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_verify_command(line.global, *options); };
    });
}

void add_start(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "start", "Time from start to ready and to trading on an existing folder, and idle memory.");
    const auto options = std::make_shared<StartBenchOptions>();
    command->add_option("--rounds", options->rounds, "Starts.")->check(CLI::Range(1, 1000));
    command->add_option("--turns", options->turns, "Turns that the data folder holds.")
        ->check(CLI::Range(1, 10'000'000));
    command->add_flag("--kill", options->is_killed, "End the servers by kill -9.");
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_start_command(line.global, *options); };
    });
}

struct MatchingFlags {
    std::vector<std::string> mixes;
    MatchingBenchOptions options;
};

void add_matching(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "matching", "Calls per second of the matching engine alone, on seeded streams.");
    const auto flags = std::make_shared<MatchingFlags>();
    for (const MatchingMix& mix : kMatchingMixes) {
        flags->mixes.emplace_back(mix.name);
    }
    command->add_option("--mix", flags->mixes, "Which streams to play.")
        ->delimiter(',')
        ->check(CLI::IsMember(flags->mixes));
    command->add_option("--orders", flags->options.calls, "Length of each stream.")
        ->check(CLI::Range(1, 20'000'000));
    command->add_option("--rounds", flags->options.rounds, "Passes; the median is reported.")
        ->check(CLI::Range(1, 100));
    command->add_option("--seed", flags->options.seed, "Seed of the streams.");
    command->callback([&line, flags] {
        line.run = [&line, flags] {
            flags->options.mixes.clear();
            for (const std::string& name : flags->mixes) {
                flags->options.mixes.push_back(*matching_mix(name));
            }
            return run_bench_matching_command(line.global, flags->options);
        };
    });
}

void add_paper(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "paper", "Orders per second of the whole paper venue in process, without its journal.");
    const auto options = std::make_shared<PaperBenchOptions>();
    command->add_option("--seconds", options->seconds, "Length of each round.")
        ->check(CLI::Range(0.05, 600.0));
    command->add_option("--rounds", options->rounds, "Repetitions; the median is reported.")
        ->check(CLI::Range(1, 100));
    command->add_option("--accounts", options->accounts, "Accounts that send in turn.")
        ->check(CLI::Range(1, 1000));
    command->add_option("--open-orders", options->open_orders, "Open orders of each account.")
        ->check(CLI::Range(1, 190));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_paper_command(line.global, *options); };
    });
}

void add_gates(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "gates", "Time of all five gates with their report, and how it grows with the plan.");
    const auto options = std::make_shared<GatesBenchOptions>();
    command->add_option("--samples", options->samples, "Batches of calls per row and round.")
        ->check(CLI::Range(1, 10'000'000));
    command->add_option("--rounds", options->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_gates_command(line.global, *options); };
    });
}

void add_backtest(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "backtest", "Events per second of a backtest, and how it grows with the data.");
    const auto options = std::make_shared<BacktestBenchOptions>();
    command->add_option("--rows", options->rows, "Trades of the shortest data.")
        ->check(CLI::Range(1000, 10'000'000));
    command->add_option("--lengths", options->lengths, "Multiples of it, each measured.")
        ->delimiter(',')
        ->check(CLI::Range(1, 1000));
    command->add_option("--rounds", options->rounds, "Repetitions; medians are reported.")
        ->check(CLI::Range(1, 100));
    command->callback([&line, options] {
        line.run = [&line, options] { return run_bench_backtest_command(line.global, *options); };
    });
}

struct BotsFlags {
    std::vector<std::string> parts{"reads", "pulses", "growth", "isolation"};
    BotsBenchOptions options;
};

void add_bots(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "bots",
        "The bot platform: reads beside the bare HTTP server, pulses of many, growth, isolation.");
    const auto flags = std::make_shared<BotsFlags>();
    BotsBenchOptions& options = flags->options;
    command->add_option("--part", flags->parts, "Which parts to measure.")
        ->delimiter(',')
        ->check(CLI::IsMember(flags->parts));
    command->add_option("--seconds", options.seconds, "Length of each measurement but pulses.")
        ->check(CLI::Range(1, 600));
    command->add_option("--rounds", options.rounds, "Repetitions of reads and isolation.")
        ->check(CLI::Range(1, 100));
    command->add_option("--endpoints", options.endpoints, "Reads to measure, such as /status.")
        ->delimiter(',');
    command->add_option("--bots", options.bots, "Bots that pulse.")->check(CLI::Range(1, 10'000));
    command->add_option("--acting-bots", options.acting_bots, "Of them, whose orders change.")
        ->check(CLI::Range(0, 1000));
    command->add_option("--pulse-seconds", options.pulse_seconds, "How long they are watched.")
        ->check(CLI::Range(1, 86'400));
    command->callback([&line, flags] {
        line.run = [&line, flags] {
            flags->options.reads = is_chosen(flags->parts, "reads");
            flags->options.pulses = is_chosen(flags->parts, "pulses");
            flags->options.growth = is_chosen(flags->parts, "growth");
            flags->options.isolation = is_chosen(flags->parts, "isolation");
            return run_bench_bots_command(line.global, flags->options);
        };
    });
}

struct RelayFlags {
    std::vector<std::string> parts{"keys", "sockets", "inbound"};
    bool alone = false;
    RelayBenchOptions options;
};

void add_relay(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand(
        "relay", "The relay: an event's cost, idle gateways, durable messages beside peers.");
    const auto flags = std::make_shared<RelayFlags>();
    RelayBenchOptions& options = flags->options;
    command->add_option("--only", flags->parts, "Which parts to measure.")
        ->delimiter(',')
        ->check(CLI::IsMember(flags->parts));
    command->add_option("--rounds", options.rounds, "Repetitions of keys and inbound.")
        ->check(CLI::Range(1, 100));
    command->add_option("--seconds", options.seconds, "Length of each measurement of inbound.")
        ->check(CLI::Range(1, 600));
    command->add_option("--instances", options.instances, "Numbers of gateways of inbound.")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{1}, kLoadInstancesMax));
    command->add_option("--tenants", options.tenants, "Tenants that these are spread over.")
        ->check(CLI::Range(1, 1000));
    command->add_option("--sockets", options.idle_sockets, "Idle gateways.")
        ->check(CLI::Range(1, 100'000));
    command->add_flag("--alone", flags->alone, "Leave the peers out.");
    command->add_option("--redis-server", options.redis_server, "Another one than Debian's.");
    command->add_option("--nats-server", options.nats_server, "Another one than Debian's.");
    command->callback([&line, flags] {
        line.run = [&line, flags] {
            flags->options.keys = is_chosen(flags->parts, "keys");
            flags->options.sockets = is_chosen(flags->parts, "sockets");
            flags->options.inbound = is_chosen(flags->parts, "inbound");
            flags->options.peers = !flags->alone;
            return run_bench_relay_command(line.global, flags->options);
        };
    });
}

// The child of `bench relay`; not for people.
void add_relay_load(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand("relay-load", "");
    const auto options = std::make_shared<RelayLoadOptions>();
    command->add_option("--folder", options->folder)->required();
    command->add_option("--instances", options->instances);
    command->add_option("--in-flight", options->in_flight);
    command->add_option("--event-bytes", options->event_bytes);
    command->add_option("--tenants", options->tenants);
    command->add_option("--seconds", options->seconds);
    command->group("");
    command->callback([&line, options] {
        line.run = [&line, options] {
            const auto served = serve_relay_load(*options);
            return served ? ExitCode::ok : report(line.global, served.error());
        };
    });
}

// The child of `bench turns` and `bench bots`; not for people.
void add_bare_http(CommandLine& line, CLI::App& bench) {
    CLI::App* command = bench.add_subcommand("bare-http", "");
    const auto answer_bytes = std::make_shared<std::int64_t>(200);
    command->add_option("--answer-bytes", *answer_bytes)->check(CLI::Range(1, 1'000'000));
    command->group("");
    command->callback([&line, answer_bytes] {
        line.run = [&line, answer_bytes] {
            const auto served = serve_bare_http(*answer_bytes);
            return served ? ExitCode::ok : report(line.global, served.error());
        };
    });
}

template <class Report>
ExitCode print_report(const GlobalOptions& global, const Result<Report>& ran) {
    if (!ran) {
        return report(global, ran.error());
    }
    std::cout << (global.json ? to_text(encode(*ran)) + "\n" : to_text(*ran)) << std::flush;
    return ExitCode::ok;
}

// Each row as a line of JSON when it is there, or all of them as one table.
template <class Row, class Run>
ExitCode print_rows(const GlobalOptions& global, std::string_view how, const Run& run) {
    std::vector<Row> rows;
    const auto ran = run([&](const Row& row) {
        rows.push_back(row);
        if (global.json) {
            std::cout << to_text(encode(row)) << std::endl;
        } else {
            std::cerr << "measured " << row.transport << " with " << row.callers << " callers\n";
        }
    });
    if (!ran) {
        return report(global, ran.error());
    }
    if (!global.json) {
        std::cout << how << to_table(rows);
    }
    return ExitCode::ok;
}

}  // namespace

ExitCode run_bench_turns_command(const GlobalOptions& global, TurnsBenchOptions options) {
    options.folder = global.data;
    return print_rows<TurnsRow>(
        global, kHowMeasured, [&](const auto& on_row) { return run_turns_bench(options, on_row); });
}

ExitCode run_bench_grown_command(const GlobalOptions& global, GrownBenchOptions options) {
    options.folder = global.data;
    return print_rows<GrownRow>(global, kHowGrownIsMeasured, [&](const auto& on_row) {
        return run_grown_bench(options, on_row);
    });
}

ExitCode run_bench_execute_command(const GlobalOptions& global, ExecuteBenchOptions options) {
    options.folder = global.data;
    return print_rows<ExecuteRow>(global, kHowExecuteIsMeasured, [&](const auto& on_row) {
        return run_execute_bench(options, on_row);
    });
}

ExitCode run_bench_start_command(const GlobalOptions& global, StartBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_start_bench(options));
}

ExitCode run_bench_verify_command(const GlobalOptions& global, VerifyBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_verify_bench(options));
}

ExitCode run_bench_replay_command(const GlobalOptions& global, ReplayBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_replay_bench(options));
}

ExitCode run_bench_control_command(const GlobalOptions& global, ControlBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_control_bench(options));
}

ExitCode run_bench_strategies_command(const GlobalOptions& global, StrategiesBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_strategies_bench(options));
}

ExitCode run_bench_tick_command(const GlobalOptions& global, const TickBenchOptions& options) {
    return print_report(global, run_tick_bench(options));
}

ExitCode run_bench_matching_command(
    const GlobalOptions& global, const MatchingBenchOptions& options) {
    std::vector<MatchingRow> rows;
    run_matching_bench(options, [&](const MatchingRow& row) {
        rows.push_back(row);
        if (global.json) {
            std::cout << to_text(encode(row)) << std::endl;
        }
    });
    if (!global.json && !rows.empty()) {
        std::cout << fmt::format(kHowMatchingIsMeasured, rows[0].clock_ns) << to_table(rows);
    }
    return ExitCode::ok;
}

ExitCode run_bench_paper_command(const GlobalOptions& global, const PaperBenchOptions& options) {
    return print_report(global, run_paper_bench(options));
}

ExitCode run_bench_gates_command(const GlobalOptions& global, const GatesBenchOptions& options) {
    const auto rows = run_gates_bench(options);
    if (!global.json) {
        std::cout << to_table(rows);
        return ExitCode::ok;
    }
    for (const GatesRow& row : rows) {
        std::cout << to_text(encode(row)) << "\n";
    }
    return ExitCode::ok;
}

ExitCode run_bench_backtest_command(const GlobalOptions& global, BacktestBenchOptions options) {
    options.folder = global.data;
    const auto rows = run_backtest_bench(options);
    if (!rows) {
        return report(global, rows.error());
    }
    if (!global.json) {
        std::cout << to_table(*rows);
        return ExitCode::ok;
    }
    for (const BacktestBenchRow& row : *rows) {
        std::cout << to_text(encode(row)) << "\n";
    }
    return ExitCode::ok;
}

ExitCode run_bench_bots_command(const GlobalOptions& global, BotsBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_bots_bench(options));
}

ExitCode run_bench_relay_command(const GlobalOptions& global, RelayBenchOptions options) {
    options.folder = global.data;
    return print_report(global, run_relay_bench(options));
}

void add_bench_command(CommandLine& line) {
    CLI::App* bench = line.app.add_subcommand("bench", "Measure this machine with and without us.");
    bench->require_subcommand(1);
    add_turns(line, *bench);
    add_execute(line, *bench);
    add_control(line, *bench);
    add_strategies(line, *bench);
    add_tick(line, *bench);
    add_replay(line, *bench);
    add_verify(line, *bench);
    add_start(line, *bench);
    add_matching(line, *bench);
    add_paper(line, *bench);
    add_gates(line, *bench);
    add_backtest(line, *bench);
    add_bots(line, *bench);
    add_relay(line, *bench);
    add_bare_http(line, *bench);
    add_relay_load(line, *bench);
}

}  // namespace interlock
