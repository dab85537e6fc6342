// Which machine states hang on a hash chain: the rows that say who exists, who may do what, and
// what is stopped. Whoever edits one of them in the database is found out, because a record names
// its hash (ADR 0015).
//
// Who exists hangs on `_system`, everything else on the chain of its tenant. Of an account only
// its limits and whether it trades are protected: its money moves with every fill and is checked
// against the venue.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/wire/ids.h"

namespace interlock {

// The keys of these states begin so; "tenant_count" is a whole key.
inline constexpr std::array<std::string_view, 14> kProtectedPrefixes{
    "account/",
    "approval/",
    "archive/",
    "break/",
    "email/",
    "human/",
    "kill/",
    "loop/",
    "notify/",
    "onboarding/",
    "restore/",
    "tenant/",
    "tenant_count",
    "vault/"};

struct ProtectedRow {
    TenantId chain;         // On which it hangs.
    std::string_view text;  // The bytes that count; part of the state's text.
};
// Nothing when the state is not protected.
std::optional<ProtectedRow> protected_row(std::string_view machine_key, std::string_view json);

// Whose trading a row concerns: the tenant in its key, or everybody's ("_system") when it names
// none or its tenant cannot be told from the key.
TenantId tenant_of_row(std::string_view machine_key);

}  // namespace interlock
