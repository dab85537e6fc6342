// The requests that a load sends: probes, or plans for py_validate_plan that pass all five gates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/ports/id_source.h"

namespace interlock {

enum class TurnKind {
    probe,     // The smallest durable turn.
    decision,  // A tool call: facts gathered, five gates, plan and inputs on the record.
};

// Behind /api/<tenant>.
std::string_view path_of(TurnKind kind);

class BenchRequests {
public:
    // `ids` outlives this.
    BenchRequests(TurnKind kind, IdSource& ids) : kind_(kind), ids_(ids) {}

    // The next body as JSON text; no two are alike.
    std::string next();

private:
    TurnKind kind_;
    IdSource& ids_;
    std::uint64_t count_ = 0;
};

// Whether the answer's body says that it came out as meant: a plan that did not pass the gates is
// another measurement.
bool is_as_meant(TurnKind kind, std::string_view answer);

}  // namespace interlock
