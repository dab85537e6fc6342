// Takes archived segments out of the database (ADR 0025): puts on record which file holds them,
// then removes their records piece by piece, and gives the pages back to the disk.
//
//     archive() ──► row `archive/<tenant>` and SEGMENT_ARCHIVED ──► pieces ──► pages ──► done
//
// Removal never passes what the protected row says. How far it got is in the row
// `archiving/<tenant>`, written with each piece, so that a start goes on where a crash was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "engine/rules/segment.h"
#include "engine/service/archive_read.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind cannot_archive{
    "cannot_archive", 409, false, "Nothing was removed; `interlock audit verify` tells the state."};
}  // namespace errors

struct ArchiveRequest {
    TenantId tenant_id;
    std::string folder;  // Where the file is; "": archive/ of the data folder.
    ArchivedSegment segment;
};
Json encode(const ArchiveRequest& request);
Result<ArchiveRequest> decode_archive_request(const Json& json);

// How far a chain's archive is.
struct ArchiveProgress {
    std::int64_t archived_to = 0;
    std::int64_t removed_to = 0;  // Records below it are gone.
    bool is_done = true;          // And the pages are given back.
};

class ArchiveService {
public:
    // In one turn.
    static constexpr std::int64_t kPieceRecords = 256;
    static constexpr std::int64_t kPiecePages = 256;
    static constexpr std::int64_t kScanRecords = 1000;
    // References of live records held while a chain is cut; with more of them artifacts stay.
    static constexpr std::size_t kReferencesMax = 4'000'000;

    struct Parts {
        TurnRunner& runner;
        LedgerStore& store;
        SubmitTurn submit;
        // The size of a segment's file; nothing when it is not there.
        std::function<std::optional<std::int64_t>(const std::string& folder, const std::string&)>
            file_bytes;
    };
    explicit ArchiveService(Parts parts) : parts_(std::move(parts)) {}

    // Before the first turn: reads the rows; what a crash cut off goes on.
    Result<void> open();
    // Engine thread, once a round: asks for the next piece.
    void duty();
    bool has_work() const;  // Any thread.

    // Any thread. The file was written, synced and verified by whoever asks.
    using Reply = std::function<void(Result<Answer>)>;
    void archive(Principal principal, ArchiveRequest request, Reply reply);

    // Any thread.
    ArchiveState archive_of(const TenantId& tenant_id) const;
    std::map<TenantId, ArchiveProgress> progress() const;
    // `archived` when the record is in a segment.
    Result<void> require_live(const TenantId& tenant_id, std::int64_t seq) const;

private:
    // The removal under way; one at a time. Engine thread.
    struct Job {
        TenantId tenant_id;
        std::int64_t to = 0;
        std::int64_t next = 1;
        std::int64_t scanned = 0;                      // Live records whose references are known.
        std::unordered_set<std::uint64_t> references;  // First digits of hashes.
        std::set<std::int64_t> kept;                   // Seals of `_system`.
    };

    Result<TurnReply> run_archive(Turn& turn, const ArchiveRequest& request);
    static Result<void> require_no_break(Turn& turn);
    Result<void> require_cut(Turn& turn, const ArchivedSegment& segment, const ArchiveState& state);
    Result<TurnReply> run_piece(Turn& turn);
    Result<bool> scan(Job& job);
    Result<void> remove(Turn& turn, Job& job);
    void give_back();
    Result<void> begin_next();
    void stop(const Error& error);
    // Without `removed_to` that stays as it was.
    void publish(
        const TenantId& tenant_id, ArchiveState state, std::optional<std::int64_t> removed_to);

    Parts parts_;
    std::optional<Job> job_;
    bool is_asked_ = false;  // A piece is in the engine's queue.

    struct Known {
        std::shared_ptr<const ArchiveState> state;
        std::int64_t removed_to = 1;
    };
    mutable std::mutex mutex_;
    std::map<TenantId, Known> known_;  // As committed.
    bool has_work_ = false;
};

}  // namespace interlock
