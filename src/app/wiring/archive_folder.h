// The files of archived segments: found beside the database or where somebody put them, written and
// read back before anything is removed (ADR 0025).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/wiring/ledger_folder.h"
#include "engine/service/archive_read.h"
#include "host/service/archive_service.h"

namespace interlock {

// Segments in any of these folders; a file of another size counts as there, and as changed.
class FolderSegments final : public SegmentSource {
public:
    explicit FolderSegments(std::vector<std::string> folders) : folders_(std::move(folders)) {}
    Result<std::unique_ptr<std::istream>> open(const ArchivedSegment& segment) override;

private:
    std::vector<std::string> folders_;
};

// archive/ of the data folder, and `other` in front when it is given.
FolderSegments segments_of(const std::string& data_folder, const std::string& other);
// The size of a file in `folder`, or in archive/ of the data folder when that is "".
std::optional<std::int64_t> segment_bytes(
    const std::string& data_folder, const std::string& folder, const std::string& file);

// The ledger of a data folder with what was archived in front.
class WholeLedger {
public:
    static Result<std::unique_ptr<WholeLedger>> open(
        const std::string& data_folder, LedgerView view, const std::string& archive = {});
    LedgerStore& store() { return joined_; }

private:
    WholeLedger(std::unique_ptr<SqliteLedgerStore> live, FolderSegments files)
        : live_(std::move(live)), files_(std::move(files)), joined_(*live_, files_) {}

    std::unique_ptr<SqliteLedgerStore> live_;
    FolderSegments files_;
    JoinedLedger joined_;
};

struct ArchiveWish {
    std::string data_folder;
    std::string out_folder;  // "": archive/ of the data folder.
    Duration keep;           // What is younger stays.
    Timestamp now;
    std::function<void(const std::string& what)> on_progress = {};
};
// Writes the next segment of the chain and verifies the file; nothing when no seal is old enough.
Result<std::optional<ArchiveRequest>> write_segment(
    const ArchiveWish& wish, const TenantId& tenant_id);

// Does what a server would, on a folder that none holds.
class OfflineArchive {
public:
    // Takes the folder's lock: `conflict` while a server runs.
    static Result<std::unique_ptr<OfflineArchive>> open(const std::string& data_folder);
    ~OfflineArchive();
    // On record, and removed.
    Result<void> archive(const ArchiveRequest& request);
    // Goes on with what a crash cut off, gives the room back, and seals the chains.
    Result<void> finish();

private:
    struct Body;
    explicit OfflineArchive(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace interlock
