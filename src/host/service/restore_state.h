// The row that says that a data folder came from a backup and how far its start has got with it
// (ADR 0023). Written in the turn that records the lost sealing key, so that no crash separates the
// two.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace interlock {

inline constexpr std::string_view kRestoreKey = "restore/_system";

struct RestoreState {
    std::int64_t break_seq = 0;  // Of the CHAIN_BROKEN record in `_system`.
    std::optional<Timestamp> voided_at =
        {};  // Nothing: the rights of before are still to be voided.
    friend bool operator==(const RestoreState&, const RestoreState&) = default;
};
Json encode(const RestoreState& state);
Result<RestoreState> decode_restore_state(const Json& json);

}  // namespace interlock
