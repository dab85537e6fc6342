// How the server can be reached from outside: what `serve` refuses to do, what the running server
// tells about itself, and what `doctor` makes of either.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command/doctor_checks.h"
#include "app/wiring/config.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace interlock {

struct Exposure {
    std::string address;     // "http://127.0.0.1:8420"
    std::string public_url;  // Empty: none.
    std::vector<std::string> trusted_proxies;
    std::string metrics_listen;  // Empty: none.
    std::optional<Timestamp> certificate_until;
    std::string reload_problem;  // Of the last SIGHUP; empty: none.
};
Json encode(const Exposure& exposure);
Result<Exposure> decode_exposure(const Json& json);

// As the configuration would have it; the certificate is not looked at.
Exposure exposure_of(const Config& config);

// Plaintext beyond this machine has to be said explicitly.
Result<void> check_plaintext(const Config& config);

// Findings about reach, proxy, numbers and the certificate that is served.
std::vector<DoctorFinding> judge_exposure(const Exposure& exposure, Timestamp now);
// Asks the running server; without one, goes by the configuration.
std::vector<DoctorFinding> check_exposure(const Config& config, Clock& clock);

}  // namespace interlock
