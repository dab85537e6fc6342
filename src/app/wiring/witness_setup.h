// [audit.witness]: the keys of the configuration, the witnesses they make, and what `doctor` says
// of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/command/doctor_checks.h"
#include "app/wiring/config_keys.h"
#include "engine/ports/witness.h"

namespace interlock {

std::vector<ConfigKey> witness_config_keys();
// What must be set together, and that nothing travels in clear beyond this machine.
Result<void> check_witness_config(const WitnessConfig& config);

// The configured witnesses, not asked anything yet. A credential that cannot be read is refused.
struct WitnessSetup {
    const WitnessConfig& config;
    std::string data_folder;
    std::string first_public_key;  // Raw.
};
Result<std::vector<std::unique_ptr<Witness>>> make_witnesses(const WitnessSetup& setup);

std::vector<DoctorFinding> judge_witnesses(const Json& status);  // What witness_status answers.
// Asks the running server; without one, says what is configured.
std::vector<DoctorFinding> check_witnesses(const Config& config);

}  // namespace interlock
