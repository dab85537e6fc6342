// What idle bots leave on the disk: the same bots, watched for as long, in a server that counts
// equal pulses and in one that records each (`audit.fold`). Measured are the pages that the
// database uses, before, after, and once the server has stopped, which records every open fold.
#include <sys/stat.h>

#include "base/errors.h"
#include "bench/bot_tenants.h"
#include "bench/bots_bench.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {
namespace {

// First orders are placed and answered, and every bot has pulsed twice.
constexpr std::chrono::seconds kSettling{25};
constexpr double kSecondsPerDay = 86'400;
constexpr double kHoursPerDay = 24;

Result<std::int64_t> used_bytes(const std::string& database) {
    TRY_ASSIGN(
        SqliteDb db,
        SqliteDb::open({.path = database, .mode = SqliteOpenOptions::Mode::read_only}));
    TRY_ASSIGN(const std::int64_t pages, db.read_integer("PRAGMA page_count"));
    TRY_ASSIGN(const std::int64_t free, db.read_integer("PRAGMA freelist_count"));
    TRY_ASSIGN(const std::int64_t size, db.read_integer("PRAGMA page_size"));
    return (pages - free) * size;
}

Result<BotGrowthRow> watch(
    const BotsBenchOptions& options, const std::string& folder, bool is_folding) {
    ServerProcess::Options started{.program = options.program, .folder = folder, .sink = {}};
    started.config += is_folding ? "[audit]\nfold = true\n" : "[audit]\nfold = false\n";
    TRY_ASSIGN(ServerProcess server, ServerProcess::start(started));
    TRY(create_bots(server, options.bots));
    let_pass(options.pulse_seconds > kSettling.count() ? kSettling : std::chrono::seconds(0));
    const std::string database = server.data_folder() + "/interlock.db";
    BotGrowthRow row{.is_folding = is_folding, .bots = options.bots, .seconds = 0};
    row.seconds = options.pulse_seconds;
    TRY_ASSIGN(const std::int64_t before, used_bytes(database));
    let_pass(std::chrono::seconds(options.pulse_seconds));
    TRY_ASSIGN(const std::int64_t after, used_bytes(database));
    if (const int code = server.stop(); code != 0) {
        return fail(
            errors::unavailable, "The server ended with exit code " + std::to_string(code) + ".");
    }
    TRY_ASSIGN(const std::int64_t stopped, used_bytes(database));
    row.running_bytes = after - before;
    row.closing_bytes = stopped - after;
    return row;
}

}  // namespace

double BotGrowthRow::bytes_per_day() const {
    const double going_on = static_cast<double>(running_bytes) / seconds * kSecondsPerDay;
    // Each hour every fold is recorded and a whole record begins the next, which is shorter.
    const double hourly = is_folding ? 2 * static_cast<double>(closing_bytes) * kHoursPerDay : 0;
    return going_on + hourly;
}

Result<std::vector<BotGrowthRow>> run_bot_growth(
    const BotsBenchOptions& options, const std::string& folder) {
    std::vector<BotGrowthRow> rows;
    for (const bool is_folding : {true, false}) {
        const std::string name = folder + (is_folding ? "/folding" : "/whole");
        if (::mkdir(name.c_str(), 0700) != 0) {
            return fail(errors::io_failed, "Cannot make " + name + ".");
        }
        TRY_ASSIGN(BotGrowthRow row, watch(options, name, is_folding));
        rows.push_back(row);
    }
    return rows;
}

}  // namespace interlock
