// Where `--witness` finds what a witness has: a file of lines, a folder of files and time stamps,
// an export of the chain in which another Interlock keeps them, or a URL that is asked.
#pragma once

#include <string>
#include <vector>

#include "app/command/command.h"
#include "host/service/witness_check.h"

namespace interlock {

inline constexpr std::size_t kWitnessSourcesMax = 16;
inline constexpr std::size_t kWitnessFolderFilesMax = 100'000;

struct WitnessOptions {
    std::vector<std::string> sources;
    std::string key_file;  // Of a credential for URLs.
    std::string ca_file;   // For their TLS.
    std::string tsa_ca;    // Who vouches for time stamps; empty: tokens are not checked.

    bool any() const { return !sources.empty(); }
};
void add_witness_options(CLI::App& command, WitnessOptions& options);

// Everything that the sources have, one after the other. `first_public_key` is raw: a URL is asked
// for the lines of that ledger.
Result<std::vector<WitnessEvidence>> read_witnesses(
    const WitnessOptions& options, const std::string& first_public_key);
// Empty without an authority to trust.
CheckToken token_check(const WitnessOptions& options);

// What the witnesses say of an anchor; the first that has it decides.
AnchorReport ask_witnesses(
    const std::vector<WitnessEvidence>& witnesses, const std::string& anchor_hash);
Json encode(const AnchorReport& report);
std::string describe(const AnchorReport& report);

}  // namespace interlock
