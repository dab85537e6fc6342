// Where the data folder is, and what the files in it are called. The server, the commands that talk
// to it and those that read its files beside it all ask here.
#pragma once

#include <string>
#include <string_view>

#include "app/command/command.h"
#include "base/result.h"

namespace interlock {

// --data, else INTERLOCK_DATA, else $XDG_DATA_HOME/interlock, else ~/.local/share/interlock. The
// configuration file may name another one: commands ask load_config(), which asks here first.
std::string data_folder_of(const GlobalOptions& global);
// The last two of these.
std::string default_data_folder();

// Refuses a file that somebody named and that is not there or not readable, before a parser makes a
// riddle of it. `what` begins the sentence: "The configuration file".
Result<void> require_readable(
    const ErrorKind& kind, const std::string& what, const std::string& path);

inline std::string database_path(const std::string& data_folder) {
    return data_folder + "/interlock.db";
}
inline std::string heads_folder(const std::string& data_folder) {
    return data_folder + "/heads";
}
inline std::string relay_database_path(const std::string& data_folder) {
    return data_folder + "/relay.db";
}
inline std::string relay_heads_folder(const std::string& data_folder) {
    return data_folder + "/relay_heads";
}
inline std::string head_log_path(const std::string& data_folder) {
    return data_folder + "/heads.log";
}
// Segments of the ledger that left the database.
inline std::string archive_folder(const std::string& data_folder) {
    return data_folder + "/archive";
}
inline std::string quarantine_folder(const std::string& data_folder) {
    return data_folder + "/quarantine";
}
inline std::string operator_socket_path(const std::string& data_folder) {
    return data_folder + "/operator.sock";
}
// Where the stop listener of the running server is, in one line.
inline std::string stop_url_path(const std::string& data_folder) {
    return data_folder + "/stop.url";
}
// There while the folder is the demo's, whose own tenant this is.
inline constexpr std::string_view kDemoTenant = "demo";
inline std::string demo_mark_path(const std::string& data_folder) {
    return data_folder + "/DEMO";
}
bool is_demo_folder(const std::string& data_folder);
inline std::string lock_path(const std::string& data_folder) {
    return data_folder + "/LOCK";
}

}  // namespace interlock
