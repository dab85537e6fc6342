// The single checks of `interlock doctor`. Each looks, changes nothing that stays, and says in one
// line what it found and what to do about it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/wiring/config.h"
#include "engine/ports/clock.h"
#include "market/wire/market_rules.h"

namespace interlock {

enum class Health {
    good,
    note,     // Worth knowing; runs nevertheless.
    warning,  // Runs, and does not do what it is there for.
    bad,
};

struct DoctorFinding {
    std::string name;
    Health health = Health::good;
    std::string detail;
    std::string next_step;  // Empty when there is nothing to do.
};

std::vector<DoctorFinding> check_data_folder(const std::string& data_folder);
std::vector<DoctorFinding> check_server(const std::string& data_folder);
// Whether the host and each tenant may trade, as the running server says.
std::vector<DoctorFinding> check_trading(const std::string& data_folder);
// What waits for a human's word.
std::vector<DoctorFinding> check_approvals(const std::string& data_folder);
// Bots that do not hear their platform and instances that shed, as the running server knows them.
std::vector<DoctorFinding> check_relay(const std::string& data_folder);
std::vector<DoctorFinding> judge_relay(const Json& status);  // What relay_status answers.
// Whether people are told what waits for them, as the running server knows it.
std::vector<DoctorFinding> check_notices(const std::string& data_folder);
std::vector<DoctorFinding> judge_notices(const Json& status);  // What notice_status answers.
// The database's structure, and every chain since its last checkpoint.
std::vector<DoctorFinding> check_ledger_files(const std::string& data_folder);
DoctorFinding check_clock(Clock& clock);
// The median of some syncs: what one durable turn costs at least.
DoctorFinding check_sync(const std::string& data_folder, Clock& clock);
DoctorFinding check_space(const std::string& data_folder);
DoctorFinding check_kill_file(const std::string& data_folder);
DoctorFinding check_sink(const Config& config);
// Where the stop listener is, and whether it takes connections when a server runs.
DoctorFinding check_stop(const Config& config);
DoctorFinding check_tls(const Config& config, Clock& clock);
// Shows for each configured limit that it can say no.
DoctorFinding check_limits(const Config& config, std::span<const MarketRules> markets);
// The paper venue as the configuration makes it, without its journal: markets and clock.
DoctorFinding check_paper_venue(const Config& config, Clock& clock);

// All of them, as far as the configuration lets them run.
std::vector<DoctorFinding> examine(const GlobalOptions& global, Clock& clock);

std::string describe(const std::vector<DoctorFinding>& findings, bool coloured);
Json encode(const std::vector<DoctorFinding>& findings);
bool is_healthy(const std::vector<DoctorFinding>& findings);
bool has_warning(const std::vector<DoctorFinding>& findings);

}  // namespace interlock
