#include "app/command/version_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/wiring/version.h"
#include "engine/sqlite/sqlite_db.h"
#include "net/tls_check.h"

namespace interlock {
namespace {

std::string sqlite_version() {
    auto db = SqliteDb::open({.path = ":memory:"});
    return db ? db->read_text("SELECT sqlite_version()").value_or("unknown") : "unknown";
}

ExitCode show(const GlobalOptions& global) {
    const std::string version(interlock_version());
    const std::string commit(interlock_commit());
    if (global.json) {
        print_json(Json::object({
            {"version", version},
            {"commit", commit},
            {"sqlite", sqlite_version()},
            {"openssl", tls_library_version()},
            {"boost", network_library_version()},
            {"compiler", __VERSION__},
        }));
        return ExitCode::ok;
    }
    std::cout << "interlock " << version << " (" << commit << ")\n"
              << render_fields(
                     {{"sqlite", sqlite_version()},
                      {"openssl", tls_library_version()},
                      {"boost", network_library_version()},
                      {"compiler", __VERSION__}});
    return ExitCode::ok;
}

}  // namespace

void add_version_command(CommandLine& line) {
    CLI::App* command =
        line.app.add_subcommand("version", "Which build this is, and of which libraries.");
    command->callback([&line] { line.run = [&line] { return show(line.global); }; });
}

}  // namespace interlock
