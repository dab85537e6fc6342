// Reads chains whose old records left the database (ADR 0025): which segments there are, and one
// chain out of their files and the store.
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <string>

#include "base/errors.h"
#include "engine/ports/forwarding_store.h"
#include "engine/ports/segment_source.h"
#include "engine/rules/segment.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind archived{
    "archived",
    410,
    false,
    "The records lie in the segment file that is named: `interlock audit` reads them when it is at "
    "hand."};
}  // namespace errors

// The row of a chain; empty when there is none or it cannot be read, which a walk then finds out.
Result<ArchiveState> load_archive(LedgerStore& store, const TenantId& tenant_id);

// That a record lies in a file; what was asked for is not here.
std::unexpected<Error> archived_error(
    const TenantId& tenant_id, std::int64_t seq, const ArchivedSegment& segment);

// Where reading a chain can begin: nothing for record 1, or the seal of the last cut when segments
// before it are not at hand.
Result<std::optional<SealPoint>> readable_from(LedgerStore& store, const TenantId& tenant_id);

// Whether it has the bytes that were archived.
bool is_whole(std::istream& in, const ArchivedSegment& segment);

// The chains of a store with their archived records in front. For one thread at a time.
class JoinedLedger final : public ForwardingStore {
public:
    static constexpr std::size_t kOpenMax = 4;  // Segments whose index is held.

    using FindArchive = std::function<Result<ArchiveState>(const TenantId&)>;
    // What is given outlives this. Without `find`, the rows of the store are asked.
    JoinedLedger(LedgerStore& live, SegmentSource& files, FindArchive find = {});
    ~JoinedLedger() override;

    // `archived` when the file of the first record is not at hand, `corrupt_data` when it is not
    // the one that was archived.
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override;
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override;

private:
    class Segment;
    Result<Segment*> open(const ArchivedSegment& segment);

    SegmentSource& files_;
    FindArchive find_;
    std::map<std::string, std::unique_ptr<Segment>> open_;
};

}  // namespace interlock
