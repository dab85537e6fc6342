// This server as a witness for others (ADR 0024): it keeps the seals that another Interlock sends
// in the ledger of the tenant whose key brought them, and says which it has. It judges no more than
// a witness can: that a line is a seal of one piece, and that it does not go back behind one it
// has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/ports/ledger_store.h"
#include "engine/rules/witnessed_head.h"
#include "engine/service/turn_gate.h"

namespace interlock {

inline constexpr std::string_view kWitnessedEvent = "WITNESSED_HEAD";
// Ledgers that one tenant may have witnessed.
inline constexpr std::size_t kWitnessedChainsMax = 64;
// Lines of one ledger that a later one went back behind; the first ones are kept.
inline constexpr std::size_t kWitnessedOrphansMax = 16;

namespace errors {
inline constexpr ErrorKind too_many_chains{
    "too_many_chains", 409, false, "Use a tenant of its own for more servers to be witnessed."};
}  // namespace errors

// What is kept of one foreign ledger: `witnessed/<tenant>/<chain>`.
struct WitnessedChain {
    std::string newest;  // A line.
    std::string audit_ref;
    std::int64_t count = 0;
    std::vector<std::string> orphans = {};
};
Json encode(const WitnessedChain& chain);
Result<WitnessedChain> decode_witnessed_chain(const Json& json);

struct WitnessHead {
    std::string chain;  // The foreign ledger's first public key, 64 hex digits.
    WitnessedHead head;
};
Result<WitnessHead> decode_witness_head(const Json& json);

class WitnessedHeads {
public:
    WitnessedHeads(SubmitTurn submit, LedgerStore& store)
        : submit_(std::move(submit)), store_(store) {}

    // Any thread.
    using Reply = std::function<void(Result<Answer>)>;
    void record(Principal principal, TenantId tenant_id, WitnessHead request, Reply reply);
    // The lines that are kept of a ledger, oldest first, the newest last; none when it is unknown.
    Result<std::vector<std::string>> lines(const TenantId& tenant_id, const std::string& chain);

private:
    const SubmitTurn submit_;
    LedgerStore& store_;
};

}  // namespace interlock
