#include "host/rules/why_stopped.h"

namespace interlock {

std::optional<Blocked> why_stopped(const StopFacts& facts) {
    // A stop that is on record says more than the failure that came before it.
    if (facts.is_latched_globally && !facts.global.active && !facts.store_failure.empty()) {
        return Blocked{
            "store_failed",
            because("A record could not be written, so everything stopped", facts.store_failure),
            "See `interlock doctor` and the disk; then a human removes the file KILL, asks for the "
            "release (`interlock kill off --global`) and approves it."};
    }
    // A release is refused until a human has accepted the break, so that comes first.
    if (!facts.global_break.empty()) {
        return Blocked{
            "chain_broken",
            because("The audit chain of the server does not hold", facts.global_break),
            "A human of the host looks at `interlock audit verify` and accepts the break "
            "(`interlock audit accept-break --tenant _system`), then asks for the release "
            "(`interlock kill off --global`) and approves it."};
    }
    if (facts.global.active || facts.is_latched_globally) {
        return Blocked{
            "stopped_for_all",
            because("The kill switch of all tenants is on", facts.global.reason),
            "A human of the host asks for the release (`interlock kill off --global`) and "
            "approves it."};
    }
    if (!facts.own_break.empty()) {
        return Blocked{
            "chain_broken",
            because("The audit chain does not hold", facts.own_break),
            "A human looks at `interlock audit verify` and accepts the break (`interlock audit "
            "accept-break`), then asks for the release (`interlock kill off`) and approves it."};
    }
    if (facts.own.active || facts.is_latched) {
        return Blocked{
            "stopped",
            because("The kill switch is on", facts.own.reason),
            "Ask for the release (`interlock kill off`); a human approves it."};
    }
    if (!facts.global.trading_enabled) {
        return Blocked{
            "disabled_for_all",
            "Trading is off for all tenants.",
            "A human of the host enables it (`interlock trading on --tenant _system`)."};
    }
    if (!facts.own.trading_enabled) {
        return Blocked{
            "disabled",
            "Trading is off since the kill switch was released.",
            "A human enables it (`interlock trading on`)."};
    }
    return std::nullopt;
}

}  // namespace interlock
