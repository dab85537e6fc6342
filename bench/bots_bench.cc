#include "bench/bots_bench.h"

#include <fmt/format.h>

#include "bench/rounded.h"
#include "bench/scratch_folder.h"

namespace interlock {
namespace {

Json encode_read(const BotReadRow& row) {
    Json json = Json::object({
        {"endpoint", row.endpoint},
        {"answer_bytes", row.answer_bytes},
        {"bare_per_s", rounded(row.bare_per_s, 0)},
        {"header_per_s", rounded(row.header_per_s, 0)},
        {"path_per_s", rounded(row.path_per_s, 0)},
        {"header_ratio", rounded(row.header_ratio, 3)},
        {"path_ratio", rounded(row.path_ratio, 3)},
        {"header_cpu_ratio", rounded(row.header_cpu_ratio, 3)},
        {"path_cpu_ratio", rounded(row.path_cpu_ratio, 3)},
    });
    row.spreads.write(json);
    return json;
}

Json encode_pulses(const BotPulseReport& report) {
    Json json = Json::object({
        {"bots", report.bots},
        {"acting_bots", report.acting_bots},
        {"made_in_seconds", rounded(report.made_in_seconds, 1)},
        {"seconds", rounded(report.seconds, 1)},
        {"pulses", report.pulses},
        {"acting", report.acting},
        {"late", report.late},
        {"missed", report.missed},
        {"stalled", report.stalled},
        {"delay_p50_us", report.delay_p50_us},
        {"delay_p99_us", report.delay_p99_us},
        {"delay_max_us", report.delay_max_us},
        {"acting_delay_p50_us", report.acting_delay_p50_us},
        {"acting_delay_p99_us", report.acting_delay_p99_us},
        {"acting_delay_max_us", report.acting_delay_max_us},
        {"core_share", rounded(report.core_share, 4)},
        {"resident_empty_bytes", report.resident_empty},
        {"resident_full_bytes", report.resident_full},
        {"bytes_per_bot", rounded(report.bytes_per_bot(), 0)},
    });
    report.spreads.write(json);
    return json;
}

Json encode_isolation(const IsolationRow& row) {
    Json json = Json::object({
        {"flood", row.flood},
        {"flood_per_s", rounded(row.flood_per_s, 0)},
        {"flood_refused", rounded(row.flood_refused, 3)},
        {"call", row.call},
        {"calls", row.calls},
        {"alone_p50_us", row.alone_p50_us},
        {"alone_p99_us", row.alone_p99_us},
        {"flooded_p50_us", row.flooded_p50_us},
        {"flooded_p99_us", row.flooded_p99_us},
        {"p99_ratio", rounded(row.p99_ratio(), 2)},
    });
    row.spreads.write(json);
    return json;
}

std::string reads_text(const std::vector<BotReadRow>& rows) {
    std::string text =
        "Reads of a running bot by wrk, 2 threads and 64 connections, beside the bare HTTP server\n"
        "answering a constant of the same size; medians of rounds that alternate. In brackets the\n"
        "ratio by the servers' time on a core per request.\n\n"
        "read                 bytes    bare/s  header/s   of bare       path/s   of bare\n";
    for (const BotReadRow& row : rows) {
        text += fmt::format(
            "{:<19} {:>6} {:>9.0f} {:>9.0f}  {:>3.0f}% ({:>3.0f}%) {:>9.0f}  {:>3.0f}% ({:>3.0f}%)"
            "\n",
            row.endpoint,
            row.answer_bytes,
            row.bare_per_s,
            row.header_per_s,
            row.header_ratio * 100,
            row.header_cpu_ratio * 100,
            row.path_per_s,
            row.path_ratio * 100,
            row.path_cpu_ratio * 100);
    }
    return text;
}

std::string pulses_text(const BotPulseReport& report) {
    const auto ms = [](std::int64_t us) { return static_cast<double>(us) / 1e3; };
    return fmt::format(
        "{} bots with three symbols each in one server on one core, watched for {:.0f} s; made in "
        "{:.0f} s\n"
        "pulses           {} done, {} late, {} missed; {} changed orders; {} bots stalled\n"
        "delay            p50 {:.0f} ms, p99 {:.0f} ms, max {:.0f} ms after they were due\n"
        "of those acting  p50 {:.0f} ms, p99 {:.0f} ms, max {:.0f} ms; {} bots with new settings "
        "in every period\n"
        "core             {:.1f} % of one\n"
        "memory           {:.0f} kB for each bot: {:.1f} MB resident, {:.1f} MB without any\n",
        report.bots,
        report.seconds,
        report.made_in_seconds,
        report.pulses,
        report.late,
        report.missed,
        report.acting,
        report.stalled,
        ms(report.delay_p50_us),
        ms(report.delay_p99_us),
        ms(report.delay_max_us),
        ms(report.acting_delay_p50_us),
        ms(report.acting_delay_p99_us),
        ms(report.acting_delay_max_us),
        report.acting_bots,
        report.core_share * 100,
        report.bytes_per_bot() / 1e3,
        static_cast<double>(report.resident_full) / 1e6,
        static_cast<double>(report.resident_empty) / 1e6);
}

Json encode_growth(const BotGrowthRow& row) {
    return Json::object({
        {"folding", row.is_folding},
        {"bots", row.bots},
        {"seconds", rounded(row.seconds, 0)},
        {"running_bytes", row.running_bytes},
        {"closing_bytes", row.closing_bytes},
        {"bytes_per_bot_day", rounded(row.bytes_per_day() / static_cast<double>(row.bots), 0)},
        {"mb_per_day", rounded(row.bytes_per_day() / 1e6, 1)},
    });
}

std::string growth_text(const std::vector<BotGrowthRow>& rows) {
    std::string text =
        "What idle bots leave in the database: measured while watched and at the stop, which\n"
        "records open folds; by the day with a fold and a whole record for each bot and hour.\n\n"
        "idle pulses      bots  watched   running   at stop   bot and day    all, a day\n";
    for (const BotGrowthRow& row : rows) {
        text += fmt::format(
            "{:<15} {:>5} {:>6.0f} s {:>6.2f} MB {:>6.2f} MB {:>10.1f} kB {:>10.1f} MB\n",
            row.is_folding ? "counted" : "each recorded",
            row.bots,
            row.seconds,
            static_cast<double>(row.running_bytes) / 1e6,
            static_cast<double>(row.closing_bytes) / 1e6,
            row.bytes_per_day() / static_cast<double>(row.bots) / 1e3,
            row.bytes_per_day() / 1e6);
    }
    return text;
}

std::string isolation_text(const std::vector<IsolationRow>& rows) {
    std::string text =
        "How long tenant A waits alone and while 64 connections of another one flood the server\n"
        "with its usual limits; stretches alternate, times in microseconds.\n\n"
        "flood                       answers/s  refused  call of A              alone p50/p99  "
        "flooded p50/p99   p99\n";
    for (const IsolationRow& row : rows) {
        text += fmt::format(
            "{:<27} {:>9.0f} {:>7.0f}%  {:<21} {:>6} {:>7} {:>8} {:>8} {:>5.2f}x\n",
            row.flood,
            row.flood_per_s,
            row.flood_refused * 100,
            row.call,
            row.alone_p50_us,
            row.alone_p99_us,
            row.flooded_p50_us,
            row.flooded_p99_us,
            row.p99_ratio());
    }
    return text;
}

}  // namespace

Result<BotsBenchReport> run_bots_bench(const BotsBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(options.folder));
    BotsBenchReport report;
    if (options.reads) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("reads"));
        TRY_ASSIGN(report.reads, run_bot_reads(options, folder));
    }
    if (options.pulses) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("pulses"));
        TRY_ASSIGN(report.pulses, run_bot_pulses(options, folder));
    }
    if (options.growth) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("growth"));
        TRY_ASSIGN(report.growth, run_bot_growth(options, folder));
    }
    if (options.isolation) {
        TRY_ASSIGN(const std::string folder, scratch.make_folder("isolation"));
        TRY_ASSIGN(report.isolation, run_isolation(options, folder));
    }
    return report;
}

Json encode(const BotsBenchReport& report) {
    Json reads = Json::array();
    for (const BotReadRow& row : report.reads) {
        reads.push(encode_read(row));
    }
    Json growth = Json::array();
    for (const BotGrowthRow& row : report.growth) {
        growth.push(encode_growth(row));
    }
    Json isolation = Json::array();
    for (const IsolationRow& row : report.isolation) {
        isolation.push(encode_isolation(row));
    }
    return Json::object({
        {"reads", std::move(reads)},
        {"pulses", report.pulses ? encode_pulses(*report.pulses) : Json()},
        {"growth", std::move(growth)},
        {"isolation", std::move(isolation)},
    });
}

std::string to_text(const BotsBenchReport& report) {
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += (text.empty() ? "" : "\n") + part;
    };
    if (!report.reads.empty()) {
        add(reads_text(report.reads));
    }
    if (report.pulses) {
        add(pulses_text(*report.pulses));
    }
    if (!report.growth.empty()) {
        add(growth_text(report.growth));
    }
    if (!report.isolation.empty()) {
        add(isolation_text(report.isolation));
    }
    return text;
}

}  // namespace interlock
