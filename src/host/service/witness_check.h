// A ledger compared with what witnesses outside its folder were told (ADR 0024): what plain
// verification cannot see, because whoever wrote the folder wrote all of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/witnessed_head.h"

namespace interlock {

// Missing heads that a report names; more are counted.
inline constexpr std::size_t kMissingHeadsMax = 100;

struct WitnessLine {
    std::string text;
    std::string token = {};  // A time-stamp response (DER) over the text; "" when there is none.
};
struct WitnessEvidence {
    std::string name;
    std::vector<WitnessLine> lines;
};
// The time that a token proves. Without one, tokens are counted as unchecked.
using CheckToken = std::function<Result<Timestamp>(const WitnessLine& line)>;

struct WitnessReport {
    std::string name;
    std::int64_t seals = 0;      // That the witness has.
    std::int64_t confirmed = 0;  // Of them, in the chain.
    std::int64_t missing = 0;
    std::int64_t known = 0;      // Missing behind a break that a human accepted.
    std::int64_t malformed = 0;  // Lines that are no seals, perhaps of a crash.
    std::int64_t time_stamps = 0;
    std::int64_t unchecked_tokens = 0;
    std::int64_t newer_records = 0;  // In the chain behind the newest that the witness has.
    std::optional<WitnessedHead> newest = {};  // Of those confirmed.
    std::optional<Timestamp> proven_at = {};   // The newest time that a token proves.
    std::vector<std::string> missing_heads = {};
    std::optional<ChainFault> fault = {};

    bool ok() const { return !fault; }
};
Json encode(const WitnessReport& report);
std::string describe(const WitnessReport& report);

struct WitnessCheck {
    LedgerStore& store;
    const KeyLineage& keys;
    const WitnessEvidence& evidence;
    CheckToken check_token = {};
    // The last break of `_system` that was accepted: heads below it, and those that were sealed
    // before its moment, are known to be lost. A restored chain uses numbers again, so that a lost
    // head may have a higher number than the break; later ones are another history.
    std::int64_t known_break = 0;
    Timestamp known_before{};
};
// Every seal that the witness has must be in the chain of `_system`.
Result<WitnessReport> check_witness(const WitnessCheck& check);

// For what has an anchor and no chain of `_system`, exports and receipts: whether the witness has
// the seal with this hash.
struct AnchorReport {
    std::optional<WitnessedHead> seal;
    std::string problem;  // "" when the witness has it.
};
AnchorReport check_anchor(const WitnessEvidence& evidence, const std::string& anchor_hash);

}  // namespace interlock
