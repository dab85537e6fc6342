// What an owner allows an agent, as pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bots/wire/onboarding_row.h"
#include "engine/wire/principal.h"

namespace interlock {

// Whether this caller's changes of a bot wait for a human of its owner. Agents do, and so does the
// operator's socket: it asks for no credential, so whatever runs as its user may speak there.
bool must_propose(const Principal& principal);
// Does this caller need the owner's grant for keys of this exchange? People do not, and for the
// paper exchange nobody does.
bool needs_grant(const Principal& principal, std::string_view exchange);
bool covers(const KeyGrant& grant, std::string_view exchange, Timestamp now);

// The ones of `wanted` that are not on the key's list; empty when it has none.
std::vector<Symbol> refused_assets(
    const OnboardingRow& row, const Principal& principal, std::span<const Symbol> wanted);

}  // namespace interlock
