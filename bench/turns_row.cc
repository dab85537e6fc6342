#include "bench/turns_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/rounded.h"

namespace interlock {
namespace {

// A share from which on a resource counts as used up; the rest goes to switching and noise.
constexpr double kUsedUp = 0.85;

}  // namespace

double TurnsRow::yardstick_per_s(double raw_per_s, double bare_http_per_s) {
    return bare_http_per_s > 0 ? std::min(bare_http_per_s, raw_per_s) : raw_per_s;
}

double TurnsRow::yardstick_per_s() const {
    return yardstick_per_s(raw_turns_per_s, bare_http_per_s);
}

double TurnsRow::ratio() const {
    if (const Spread noted = spreads.of("ratio"); noted.runs > 0) {
        return noted.median;
    }
    return yardstick_per_s() > 0 ? turns_per_s / yardstick_per_s() : 0;
}

double TurnsRow::p50_per_sync() const {
    return fdatasync_p50_us > 0
               ? static_cast<double>(p50_us) / static_cast<double>(fdatasync_p50_us)
               : 0;
}

std::string_view TurnsRow::saturated() const {
    if (engine_cpu_share >= kUsedUp) {
        return "engine thread";
    }
    if (machine_cpu_share >= kUsedUp) {
        return "all cores";
    }
    // Syncs wait without using a core, so a commit that is mostly waiting is the disk's.
    if (commit_share >= 0.5 && commit_share > engine_cpu_share) {
        return "disk";
    }
    return "callers";
}

Json encode(const TurnsRow& row) {
    Json json = Json::object({
        {"transport", row.transport},
        {"callers", row.callers},
        {"turns_per_s", rounded(row.turns_per_s, 1)},
        {"raw_turns_per_s", rounded(row.raw_turns_per_s, 1)},
        {"ratio", rounded(row.ratio(), 3)},
        {"p50_us", row.p50_us},
        {"p99_us", row.p99_us},
        {"max_us", row.max_us},
        {"mean_batch", rounded(row.mean_batch, 2)},
        {"fdatasync_p50_us", row.fdatasync_p50_us},
        {"p50_per_sync", rounded(row.p50_per_sync(), 2)},
        {"fdatasync_per_s", rounded(row.fdatasync_per_s, 1)},
        {"commit_bytes", row.commit_bytes},
        {"engine_cpu_share", rounded(row.engine_cpu_share, 3)},
        {"commit_share", rounded(row.commit_share, 3)},
        {"server_cpu_share", rounded(row.server_cpu_share, 3)},
        {"machine_cpu_share", rounded(row.machine_cpu_share, 3)},
        {"saturated", row.saturated()},
        {"rounds", row.rounds},
        {"turns", row.turns},
    });
    if (row.bare_http_per_s > 0) {
        json.set("bare_http_per_s", rounded(row.bare_http_per_s, 1));
    }
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<TurnsRow>& rows) {
    std::string text = fmt::format(
        "{:<10}{:>8}{:>9}{:>9}{:>9}{:>7}{:>8}{:>8}{:>8}{:>7}{:>9}{:>10}{:>8}{:>9}  {}\n",
        "transport",
        "callers",
        "turns/s",
        "raw/s",
        "http/s",
        "ratio",
        "p50 us",
        "p99 us",
        "max us",
        "batch",
        "sync us",
        "p50/sync",
        "engine",
        "machine",
        "saturated");
    for (const TurnsRow& row : rows) {
        text += fmt::format(
            "{:<10}{:>8}{:>9.0f}{:>9.0f}{:>9}{:>6.0f}%{:>8}{:>8}{:>8}{:>7.1f}{:>9}{:>10.1f}"
            "{:>7.0f}%{:>8.0f}%  {}\n",
            row.transport,
            row.callers,
            row.turns_per_s,
            row.raw_turns_per_s,
            row.bare_http_per_s > 0 ? fmt::format("{:.0f}", row.bare_http_per_s) : "-",
            row.ratio() * 100,
            row.p50_us,
            row.p99_us,
            row.max_us,
            row.mean_batch,
            row.fdatasync_p50_us,
            row.p50_per_sync(),
            row.engine_cpu_share * 100,
            row.machine_cpu_share * 100,
            row.saturated());
    }
    return text;
}

}  // namespace interlock
