// Where a chain is cut for the archive, and whether the file that came of it is good enough to
// remove records for (ADR 0025).
#pragma once

#include <istream>
#include <optional>
#include <string>

#include "engine/service/chain_check.h"
#include "host/service/archive_service.h"

namespace interlock {

// The next segment of a chain: up to the last seal that is not newer than `not_after`, not the
// chain's last one, and not too far away. Nothing when there is none. The file's size and digest,
// and what is found in it, are still to come.
Result<std::optional<ArchivedSegment>> choose_segment(
    LedgerStore& store, const TenantId& tenant_id, Timestamp not_after);

struct SegmentCheck {
    std::string first_public_key;  // Raw.
    const KeyLineage& keys;
    TenantId tenant_id;
};
// Reads the whole file: it must hold exactly this segment. Adds the breaks in it.
Result<void> confirm_segment(std::istream& in, const SegmentCheck& check, ArchivedSegment& segment);

// The chain does not hold, so it is not taken apart.
std::unexpected<Error> not_archived(const TenantId& tenant_id, const ChainFault& fault);

}  // namespace interlock
