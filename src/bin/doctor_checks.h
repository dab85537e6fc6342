// The single checks of `interlock doctor`. Each looks, changes nothing that stays, and says in one
// line what it found and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "bin/config.h"
#include "ports/clock.h"

namespace interlock {

enum class Health {
    good,
    note,  // Worth knowing; runs nevertheless.
    bad,
};

struct Finding {
    std::string name;
    Health health = Health::good;
    std::string detail;
    std::string next_step;  // Empty when there is nothing to do.
};

std::vector<Finding> check_data_folder(const std::string& data_folder);
std::vector<Finding> check_server(const std::string& data_folder);
// The database's structure, and every chain since its last checkpoint.
std::vector<Finding> check_ledger_files(const std::string& data_folder);
Finding check_clock(Clock& clock);
// The median of some syncs: what one durable turn costs at least.
Finding check_sync(const std::string& data_folder, Clock& clock);
Finding check_space(const std::string& data_folder);
Finding check_kill_file(const std::string& data_folder);
Finding check_sink(const Config& config);
Finding check_tls(const Config& config, Clock& clock);

// All of them, as far as the configuration lets them run.
std::vector<Finding> examine(const GlobalOptions& global, Clock& clock);

std::string describe(const std::vector<Finding>& findings, bool coloured);
Json encode(const std::vector<Finding>& findings);
bool is_healthy(const std::vector<Finding>& findings);

}  // namespace interlock
