// Tampering as a fault: between two lives of the server somebody with a shell, but without the
// sealing key, edits its store. What must hold then (invariant `tamper`): verification names it;
// the start names it, unless it lies behind the last seal of its chain; the tenant it concerns does
// not trade; nothing of anybody else is lost, and nothing of the evidence; no restart heals it.
#pragma once

#include <optional>
#include <string>

#include "sim/server.h"

namespace interlock::sim {

struct Tampering {
    std::string what;  // For the trace.
    TenantId tenant_id;
    bool is_sealed = false;  // It touches only what lies before the last seal of its chain.
};
// Edits the contents, and the head files where whoever does it would; nothing when this kind of
// edit finds nothing to change.
std::optional<Tampering> tamper_with(
    SeededRandom& random, MemoryLedgerContents& contents, MirrorModel& mirror);

// Takes the world's store, tampers with it and starts servers on it. The world is of no use
// afterwards.
void check_tampering(
    World& world, ViolationLog& log, const std::function<void(const std::string&)>& tell);

}  // namespace interlock::sim
